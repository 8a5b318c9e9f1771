#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is checked of the text of every file: the SPDX mark, no path of somebody's machine, no tabs or blanks at line ends, lines of
# at most 160 columns (tables may be wider), no marks of unfinished work, names of functions, shell scripts that parse.
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
find . \( -path ./.git -o -path './build*' -o -path ./out -o -path ./shared \) -prune -o -type f -print | sed 's|^\./||' | LC_ALL=C sort >"$work/all"
grep -E '\.(c|h|def|cl|clh|sh|cmake|txt|map|py)$|^run$|^\.ci/run$|\.supp$|^\.clang-format$' "$work/all" |
    grep -vE '^tests/(golden|data)/.*\.txt$' >"$work/sources"
[ -s "$work/sources" ] || { echo "no sources found: the check is broken"; exit 1; }

while read -r file; do
    head -n 2 "$file" | grep -q 'SPDX-License-Identifier: Apache-2.0' || echo "$file:1: no SPDX-License-Identifier in the first lines"
done <"$work/sources" >"$work/faults"
home='/(home|root|Users|tmp|work)/[A-Za-z0-9_.]'
# shellcheck disable=SC2016
xargs grep -nIE "(^|[^A-Za-z0-9_.\$}])$home" /dev/null <"$work/all" | sed 's/$/   <- a path of one machine/' >>"$work/faults"
xargs grep -n "$(printf '\t')" /dev/null <"$work/sources" | sed 's/$/   <- tab/' >>"$work/faults"
xargs grep -nE ' $' /dev/null <"$work/sources" | sed 's/$/<- blanks at the end/' >>"$work/faults"
marks='TO''DO|FIX''ME|XX''X|HA''CK|not imple''mented|place''holder'
xargs grep -nwE "$marks" /dev/null <"$work/sources" | sed 's/$/   <- unfinished/' >>"$work/faults"
grep -E '\.(c|h|cl|sh)$' "$work/sources" | xargs awk 'length($0) > 160 { print FILENAME ":" FNR ": " length($0) " columns" }' >>"$work/faults"
grep -E '^(core|formats|device|planner|kernels-cl|host)/.*\.h$' "$work/sources" | grep -v '^host/tool/' |
    xargs awk '/^(extern )?[a-z_][a-z0-9_ ]* \**[a-z_0-9]+\(.*;/ && !/^(static|typedef|return)/ {
        s = $0; sub(/\(.*/, "", s); sub(/.*[ *]/, "", s)
        if (s !~ /^clf_/ && s !~ /^__attribute__/) print FILENAME ":" FNR ": " s " does not start with clf_" }' >>"$work/faults"
grep -E '\.sh$|^run$' "$work/sources" | while read -r file; do sh -n "$file" 2>&1 || echo "$file: does not parse"; done >>"$work/faults"
cat "$work/faults"
echo "$(wc -l <"$work/sources") files, $(wc -l <"$work/faults") faults"
[ ! -s "$work/faults" ]
