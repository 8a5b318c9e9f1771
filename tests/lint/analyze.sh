#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# analyze.sh GENERATED_INCLUDE GENERATED_PRIVATE: gcc -fanalyzer over the library and the tool, one file at a time. Left out are the
# files that the tables of operators and folds expand into thousands of branches (the sanitizers run every one of them), and those
# that define what analyze.h explains.
cd "$(dirname "$0")/../.." || exit 1
command -v gcc >/dev/null 2>&1 || { echo "gcc is missing"; exit 1; }
include=$1 private=$2 work=$(mktemp -d) || exit 1   # not the null device: a compiler that fails removes its output
trap 'rm -rf "$work"' EXIT
export include private work
files=$(find core formats device planner kernels-cl host -name '*.c' | LC_ALL=C sort |
    grep -vE '/(tile_loops|tile_folds_[a-z0-9]+|tile_pairs|rows_(f32|f64|i32|i64|u8)|ref_ops|ref_sink|gen_ops)\.c$|^core/err\.c$|^host/tool/fail\.c$')
[ -n "$files" ] || { echo "no sources found: the check is broken"; exit 1; }
# Switched off: possible-null-*, which takes every allocation for NULL that is tested in a function of another file; and in files that
# get their device from clf_dev_enter, or their item from a stack that was just pushed to, null-dereference: it does not see that the
# output of a successful call to another file is set. In options.c malloc-leak: names go into an array behind a pointer, which it loses.
# shellcheck disable=SC2016
echo "$files" | xargs -P 2 -n 4 sh -c 'rc=0; for f in "$@"; do
    case $f in device/launch.c | host/lang/expr.c) more=-Wno-analyzer-null-dereference ;;
        host/tool/options.c) more=-Wno-analyzer-malloc-leak ;; *) more= ;; esac
    gcc -fanalyzer -Wno-analyzer-possible-null-dereference -Wno-analyzer-possible-null-argument $more -Werror -O1 -std=c11 -D_GNU_SOURCE \
        -ffp-contract=off -fwrapv -I . -I core/include -I host/include -I "$include" -I "$private" -include tests/lint/analyze.h \
        -c "$f" -o "$work/$$.o" || rc=1; done; exit $rc' sh || exit 1
echo "$(echo "$files" | wc -l) files"
