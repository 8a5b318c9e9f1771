#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The tool without memory: whichever of its own allocations fails, it says so in one line, prints nothing and exits with 4. The library's
# own are in tests/fault. Needs the module of support/no_memory.c, which does not go with a sanitizer's allocator.
. "$(dirname "$0")/support/check.sh"
[ -n "${CLF_NO_MEMORY:-}" ] && [ -f "$CLF_NO_MEMORY" ] || { echo "nothing to fail allocations with"; exit 0; }
cd "$work" || exit 1
printf 'a = X + u\nsum(a)\n' >p.clf
printf '1 2:5\n-1 1:3\n' >two.svm

# each CODE COMMAND...: fails at the first allocation, at the second, ..., until the command gets all it asks for.
each() {
    n=0 rc=4
    while [ $rc -eq 4 ] && [ $n -lt 60 ]; do
        n=$((n + 1))
        checks=$((checks + 1))
        env LD_PRELOAD="$CLF_NO_MEMORY" CLF_FAIL_AT=$n "$@" >out 2>err; rc=$?
        [ $rc -eq 0 ] && continue
        [ $rc -eq 4 ] && [ ! -s out ] && [ "$(grep -c '^clfuse: [^n]' err)" -eq 1 ] && grep -q -i 'out of memory\|cannot allocate' err ||
            fault "$*: allocation $n fails: exit $rc, said: $(head -c 300 err)"
    done
    [ $rc -eq 0 ] && [ $n -gt 3 ] || fault "$*: $n allocations, exit $rc: $(head -c 300 err)"
}
each "$CLFUSE" run p.clf --in X=seq:2x2 --in u=1 --out a=a.npy
each "$CLFUSE" run -e 'sum(X); y' --in X,y=two.svm
each "$CLFUSE" explain -e 'sum(X) + s' --dims X=3x3 --dims s=scalar
finish
