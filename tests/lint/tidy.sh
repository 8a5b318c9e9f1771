#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tidy.sh GENERATED_INCLUDE GENERATED_PRIVATE: clang-tidy with the checks of .clang-tidy over the library and the tool. Left out are the
# files that the tables of operators and folds expand: what they hold is written in those tables and in kernels-cl/elem_c.h.
cd "$(dirname "$0")/../.." || exit 1
command -v clang-tidy >/dev/null 2>&1 || { echo "clang-tidy is missing"; exit 1; }
include=$1 private=$2
export include private
files=$(find core formats device planner kernels-cl host -name '*.c' | LC_ALL=C sort |
    grep -vE '/(tile_loops|tile_folds_[a-z0-9]+|tile_pairs|rows_(f32|f64|i32|i64|u8)|ref_ops|ref_sink)\.c$')
[ -n "$files" ] || { echo "no sources found: the check is broken"; exit 1; }
# shellcheck disable=SC2016
echo "$files" | xargs -P 2 -n 8 sh -c 'clang-tidy --quiet "$@" -- -std=c11 -D_GNU_SOURCE -I . -I core/include -I host/include \
    -I "$include" -I "$private" 2>/dev/null' sh || exit 1
echo "$(echo "$files" | wc -l) files"
