#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# valgrind.sh BUILD: a few suites under valgrind's memcheck: uninitialised bytes, which the address sanitizer does not see. Suites that
# stay on the host: drivers leak, and valgrind knows no AVX-512, which CLF_ISA keeps out.
set -u
build=$1
here=$(cd "$(dirname "$0")" && pwd)
command -v valgrind >/dev/null 2>&1 || { echo "valgrind is missing"; exit 1; }
CLF_TEST_SANITIZED=1 CLF_ISA=avx2 CLF_DEVICE=host CLF_CACHE_DIR=$build/cache/clfuse
export CLF_TEST_SANITIZED CLF_ISA CLF_DEVICE CLF_CACHE_DIR build here
unset CLF_FIGURES
suites='test_core_mem test_cplan test_formats_csv test_formats_npy test_formats_text test_graph test_contexts'
targets='csv mtx npy svm lang knobs profile cplan'
# shellcheck disable=SC2016,SC2086
printf '%s\n' $suites $(printf 'fuzz_replay_%s ' $targets) | xargs -P 2 -n 1 sh -c '
    name=$1
    case $name in
        fuzz_replay_*) set -- "$build/tests/$name" "$here/../corpus/${name#fuzz_replay_}" ;;
        *) set -- --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite --suppressions="$here/valgrind.supp" \
            "$build/tests/$name" ;;
    esac
    begin=$(date +%s)
    valgrind --quiet --error-exitcode=9 "$@"
    rc=$?
    echo "$name: $rc after $(($(date +%s) - begin)) s"
    [ $rc -eq 0 ]' sh || { echo "there are findings"; exit 1; }
