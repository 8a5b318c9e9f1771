#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# symbols.sh LIBRARY HEADERS...: the symbols the shared library exports are exactly the CLF_API declarations of the public headers,
# and it leaves no clf_ symbol undefined.
library=$1; shift
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
sed -e 's|//.*||' "$@" | tr '\n' ' ' | sed -e 's|/\*|\n/*|g' -e 's|\*/|*/\n|g' | grep -v '^/\*' | tr '\n' ' ' | tr ';{}' '\n\n\n' |
    sed -n 's/.*CLF_API[^(]*[ *]\(clf_[a-z0-9_]*\) *(.*/\1/p' | LC_ALL=C sort -u >"$work/declared"
nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | LC_ALL=C sort -u >"$work/exported"
nm -D --undefined-only "$library" | awk '$2 ~ /^clf_/ { print $2 }' >"$work/undefined"
[ -s "$work/declared" ] || { echo "no CLF_API declaration found: the check is broken"; exit 1; }
LC_ALL=C comm -23 "$work/declared" "$work/exported" | sed 's/$/: declared in a public header, not exported/' >"$work/faults"
LC_ALL=C comm -13 "$work/declared" "$work/exported" | sed 's/$/: exported, but no public header declares it/' >>"$work/faults"
sed 's/$/: used by the library, defined nowhere/' "$work/undefined" >>"$work/faults"
cat "$work/faults"
echo "$(wc -l <"$work/declared") declared, $(wc -l <"$work/exported") exported"
[ ! -s "$work/faults" ]
