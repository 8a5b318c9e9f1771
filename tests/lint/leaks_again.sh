#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# leaks_again.sh PROGRAM: run a suite; once more when the leak checker itself crashed, as it may while threads of a driver end. What the
# suite or the checker found stands at once.
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
"$1" >"$log" 2>&1; rc=$?
if [ $rc -ne 0 ] && grep -q 'LeakSanitizer has encountered a fatal error' "$log" && ! grep -q 'had failures' "$log"; then
    "$1" >"$log" 2>&1; rc=$?
fi
cat "$log"
exit $rc
