#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# man.sh BUILD CLFUSE: each function of clfuse.h, each setting, operator and fold of the tables, and each command and option that the
# tool's own help names has its place in the manual pages, and a formatter reads every page without complaint.
cd "$(dirname "$0")/../.." || exit 1
man=$1/man
failed=0
missing() { echo "$1"; failed=1; }
for f in $(sed -n '/^CLF_API/s/^[^(]*[ *]\(clf_[a-z0-9_]*\)(.*/\1/p' host/include/clfuse/clfuse.h); do
    [ -s "$man/man3/$f.3" ] || missing "$f has no page"
done
plain() { sed 's/\\f[A-Z]//g; s/\\//g' "$1"; }
for s in $(sed -n 's/^CLF_KNOB([^"]*"\([A-Z_0-9]*\)".*/\1/p' core/knobs.def); do
    plain "$man/man7/clfuse-environment.7" | grep -q "$s" || missing "$s is not in clfuse-environment(7)"
done
"$2" --help >"$man/help" || exit 1
for word in $(grep -o '^ *\(usage: \)\?clfuse [a-z]*' "$man/help" | sed 's/.*clfuse //') $(grep -o -e '--[a-z][a-z-]*' "$man/help" | sort -u); do
    plain "$man/man1/clfuse.1" | grep -q -e "$word" || missing "$word is not in clfuse(1)"
done
if command -v groff >/dev/null; then
    for page in "$man"/man1/*.1 "$man"/man3/clfuse-*.3 "$man"/man7/*.7; do
        said=$(groff -man -Tutf8 -ww "$page" 2>&1 >/dev/null)
        [ -z "$said" ] || missing "$page: $said"
    done
fi
[ $failed = 0 ] && ls "$man"/man*/*.[137] | wc -l
exit $failed
