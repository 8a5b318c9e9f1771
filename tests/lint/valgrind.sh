#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# valgrind.sh BUILD: a few suites under valgrind's memcheck: uninitialised bytes, which the address sanitizer does not see. Suites that
# stay on the host: drivers leak, and valgrind knows no AVX-512, which CLF_ISA keeps out.
set -u
build=$1
here=$(dirname "$0")
command -v valgrind >/dev/null 2>&1 || { echo "valgrind is missing"; exit 1; }
CLF_TEST_SANITIZED=1 CLF_ISA=avx2 CLF_DEVICE=host CLF_CACHE_DIR=$build/cache/clfuse
export CLF_TEST_SANITIZED CLF_ISA CLF_DEVICE CLF_CACHE_DIR
unset CLF_FIGURES
faults=0
for suite in test_core_mem test_cplan test_formats_csv test_formats_npy test_formats_text test_graph test_contexts; do
    begin=$(date +%s)
    valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite --errors-for-leak-kinds=definite \
        --suppressions="$here/valgrind.supp" "$build/tests/$suite"
    rc=$?
    echo "$suite: $rc after $(($(date +%s) - begin)) s"
    [ $rc -eq 0 ] || faults=$((faults + 1))
done
for target in csv mtx npy svm lang knobs profile cplan; do
    valgrind --quiet --error-exitcode=9 "$build/tests/fuzz_replay_$target" "$here/../corpus/$target" || faults=$((faults + 1))
done
echo "$faults at fault"
[ $faults -eq 0 ]
