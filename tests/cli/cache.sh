#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Kernels kept on disk, seen from outside: the second process builds nothing, cache shows and removes what is there, and every place that
# cannot be used is said once while the run succeeds.
. "$(dirname "$0")/support/check.sh"
cd "$work" || exit 1
CLF_CACHE=on
CLF_CACHE_DIR=$work/cache
export CLF_CACHE CLF_CACHE_DIR

# What needs no device.
ends 2 'list, show NAME, stats' "$CLFUSE" cache
ends 2 "'nonsense' is none of" "$CLFUSE" cache nonsense
ends 2 "unexpected 'x'" "$CLFUSE" cache list x
ends 2 'the name of an entry' "$CLFUSE" cache show
ends 2 'not a size' "$CLFUSE" cache prune --max much
ends 2 'expected one of on|off|readonly' env CLF_CACHE=sometimes "$CLFUSE" run -e 1
true_that 'no folder yet: nothing is listed, none is made' [ -z "$("$CLFUSE" cache list)" ]
true_that 'looking makes no folder' [ ! -e cache ]
"$CLFUSE" cache stats --json >s.json
json s.json "d['files'] == 0 and d['folder'].endswith('/cache/kernels')"
: >file
ends 4 'cannot be used' env CLF_CACHE_DIR="$work/file/x" "$CLFUSE" cache clear
mkdir -m 755 -p open/kernels
ends 4 'not ours alone' env CLF_CACHE_DIR="$work/open" "$CLFUSE" cache clear

"$CLFUSE" info --json >devices.json
if ! grep -q '"kind": "cpu"' devices.json; then
    finish
fi

# runs WORDS [-u VARIABLE]... [VARIABLE=VALUE...]: the program gives its result on the device, and its log of building holds WORDS.
runs() {
    words=$1; shift
    checks=$((checks + 1))
    env "$@" CLF_LOG=build CLF_DEVICE=cpu CLF_TIER=2 "$CLFUSE" run -e 'sum(seq(1, 1000) * 2)' >out 2>log; rc=$?
    { [ $rc -eq 0 ] && [ "$(cat out)" = 1001000 ] && grep -qF "$words" log; } ||
        fault "run with $*: exit $rc, printed '$(cat out)', expected '$words' in: $(cat log)"
}
runs 'kept on disk'
true_that 'the first process builds' grep -q ': [0-9.]* ms$' log
runs 'from the disk'
true_that 'the second process builds nothing' [ "$(grep -v 'from the disk' log | grep -c ' ms$')" -eq 0 ]
true_that 'only we may look' [ "$(stat -c %a cache/kernels)" = 700 ]

# list, show, stats
"$CLFUSE" cache list --json >l.json
json l.json "len(d['entries']) >= 1 and all(e['sound'] and e['bytes'] > e['binary_bytes'] > 0 for e in d['entries'])"
true_that 'list has a line an entry' [ "$("$CLFUSE" cache list | wc -l)" -gt 1 ]
name=$("$CLFUSE" cache list | sed -n 's/^\([0-9a-f]\{32\}\) .*k_.*/\1/p' | head -n 1)
true_that 'show prints the text' sh -c '"$1" cache show "$2" | grep -q "__kernel void"' - "$CLFUSE" "$(printf %.8s "$name")"
ends 1 "begins with 'zz'" "$CLFUSE" cache show zz
"$CLFUSE" cache stats --json >s.json
json s.json "d['files'] >= 1 and d['why'] == '' and d['damaged'] == 0"
true_that 'doctor counts them' sh -c '"$1" doctor 2>/dev/null | grep -q "cache/*.*: [1-9][0-9]* files"' - "$CLFUSE"

# damage: not shown to a driver, found by verify, built again
printf 'x' | dd of="cache/kernels/$name" bs=1 seek=300 conv=notrunc 2>/dev/null
cp -p "cache/kernels/$name" damaged
true_that 'doctor tells of damage' sh -c '"$1" doctor 2>/dev/null | grep -q "note.* 1 damaged"' - "$CLFUSE"
runs 'is left out: a damaged entry' && runs 'from the disk'
cp -p damaged "cache/kernels/$name"
checks=$((checks + 1))
"$CLFUSE" cache verify >out; rc=$?
{ [ $rc -eq 1 ] && grep -q "damaged, removed: $name" out; } || fault "verify: exit $rc, $(cat out)"
true_that 'verify removed it' [ ! -e "cache/kernels/$name" ]
true_that 'nothing else is damaged' sh -c '"$1" cache verify >/dev/null' - "$CLFUSE"

# places that cannot be used: the run succeeds and says once why
runs 'neither XDG_CACHE_HOME nor HOME' -u CLF_CACHE_DIR -u HOME -u XDG_CACHE_HOME
true_that 'said once' [ "$(grep -c 'kernel cache:' log)" -eq 1 ]
runs 'not ours alone' CLF_CACHE_DIR="$work/open"
true_that 'said once' [ "$(grep -c 'kernel cache:' log)" -eq 1 ]
runs 'cannot be created' CLF_CACHE_DIR="$work/file/x"
true_that 'said once' [ "$(grep -c 'kernel cache:' log)" -eq 1 ]
runs ' ms' CLF_CACHE=off CLF_CACHE_DIR="$work/never"
true_that 'off keeps nothing' [ ! -e never/kernels ]
true_that 'off says nothing' sh -c '! grep -q "kernel cache:" log'

# prune and clear
"$CLFUSE" cache prune --max 1G >out
true_that 'nothing to prune' grep -q '^0 files removed' out
runs ' ms' CLF_CACHE_BYTES=1
"$CLFUSE" cache clear >out
true_that 'clear tells' grep -q 'files removed' out
true_that 'clear removes all' [ -z "$("$CLFUSE" cache list)" ]
mkdir -p cache/pocl/AA/b
: >cache/pocl/AA/b/x
: >kept
ln -s "$work" cache/pocl/AA/link
"$CLFUSE" cache clear >/dev/null
true_that "clear removes the driver's cache, too, and follows no links" [ -z "$(ls cache/pocl)" -a -e kept ]
if command -v flock >/dev/null 2>&1; then
    mkdir -p cache/pocl/AA
    flock -s cache/pocl "$CLFUSE" cache clear >out 2>log # as a process that has the driver open
    true_that 'a driver in use keeps its own' [ -d cache/pocl/AA ]
    true_that 'a note tells' grep -q 'note: what the OpenCL driver keeps in .*/cache/pocl stays' log
    "$CLFUSE" cache clear >out 2>log
    true_that 'it goes afterwards, and no note is given' [ -z "$(ls cache/pocl)" -a ! -s log ]
fi
runs ' ms' CLF_CACHE_BYTES=1
true_that 'an entry larger than the limit is not kept' [ -z "$("$CLFUSE" cache list)" ]
finish
