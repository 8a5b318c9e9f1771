#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# leaks_again.sh PROGRAM: run a suite; again when the leak checker itself crashed, as it does over thread-local memory of libraries that drivers
# load: three times, then without it. What the suite or the checker found stands at once.
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
for more in '' '' '' :detect_leaks=0; do
    ASAN_OPTIONS=${ASAN_OPTIONS:-}$more "$1" >"$log" 2>&1; rc=$?
    [ $rc -ne 0 ] && grep -q 'LeakSanitizer has encountered a fatal error' "$log" && ! grep -q 'had failures' "$log" || break
done
[ -z "$more" ] || echo "the leak checker crashed three times: leaks of this suite were not looked for"
cat "$log"
exit $rc
