#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# format.sh check | fix: the layout of .c files is what clang-format makes of them. Headers and tables are laid out by hand, to be
# read as pages; tests/lint/tree.sh checks their line length.
cd "$(dirname "$0")/../.." || exit 1
files=$(find core formats device planner kernels-cl host tests perf examples -name '*.c' | LC_ALL=C sort)
case ${1:-check} in
    # shellcheck disable=SC2086
    fix) clang-format -i $files ;;
    check)
        command -v clang-format >/dev/null 2>&1 || { echo "clang-format is missing"; exit 1; }
        # shellcheck disable=SC2086
        found=$(clang-format --dry-run --Werror --ferror-limit=1 $files 2>&1) # one process: to start it takes longer than a file
        rc=$?
        [ $rc -eq 0 ] || printf '%s\n./run format would change these\n' "$found"
        echo "$(echo "$files" | wc -l) files"
        exit $rc ;;
    *) echo "usage: format.sh check|fix" >&2; exit 2 ;;
esac
