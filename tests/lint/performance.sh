#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# performance.sh BENCH: docs/performance.md can be written from what the bench writes. On a copy: the table has the case that ran, the words
# written by hand are all kept, the charts are well-formed, and a document without marks is refused.
bench=$1
root=$(cd "$(dirname "$0")/../.." && pwd) || exit 1
command -v python3 >/dev/null 2>&1 || { echo "no python3"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }
by_hand() { sed '/^<!-- [a-z]* begin -->$/,/^<!-- [a-z]* end -->$/d' "$1"; }
write() {
    page=$1
    shift
    python3 -B "$root/perf/performance.py" --bench "$work/bench.json" "$@" --document "$page" --pictures "$work/pictures"
}

"$bench" --quick --rounds 1 --suite algorithms --case l2svm --json "$work/bench.json" >"$work/log" || fail "$(cat "$work/log")"
cp "$root/docs/performance.md" "$work/page.md"
write "$work/page.md" || fail "not written"
grep -q '^| `l2svm_1e6x10` | 4000 x 10 | [0-9.]* | [0-9.]* |' "$work/page.md" || fail "no row of l2svm_1e6x10"
by_hand "$root/docs/performance.md" >"$work/before"
by_hand "$work/page.md" | cmp - "$work/before" || fail "words written by hand are not what they were"
[ -s "$work/before" ] || fail "no words written by hand"
for picture in "$work"/pictures/*.svg; do
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$picture" || fail "$picture is not well-formed"
done
cp "$work/page.md" "$work/again.md"
write "$work/again.md" || fail "not written again"
cmp "$work/page.md" "$work/again.md" || fail "written again it differs"
sed -E 's/"ratio_hand": [0-9.e+-]+/"ratio_hand": 0.25/' "$work/bench.json" >"$work/slow.json"
sed -E 's/"ratio_hand": [0-9.e+-]+/"ratio_hand": 0.75/' "$work/bench.json" >"$work/middle.json"
sed -E 's/"ratio_hand": [0-9.e+-]+/"ratio_hand": 16/' "$work/bench.json" >"$work/fast.json"
mv "$work/fast.json" "$work/bench.json"
write "$work/again.md" --bench "$work/slow.json" --bench "$work/middle.json" || fail "not written of three runs"
grep -q '^| `l2svm_1e6x10` | 4000 x 10 |.* | 0.75 | ' "$work/again.md" || fail "not the median of three runs"
grep -q '^| `l2svm_1e6x10` |.*| 16.00, 0.25, 0.75 |$' "$work/again.md" || fail "not what each run had"
echo "no marks" >"$work/bare.md"
write "$work/bare.md" 2>/dev/null && fail "a document without marks was taken"
exit 0
