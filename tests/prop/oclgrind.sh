#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Random programs under Oclgrind, which watches every access of a kernel: any report of a race, of an uninitialised value or of an access
# out of bounds fails. First planted faults, to see that it does report them. usage: oclgrind.sh TEST_PROGRAM (test_prop_device_net)
# Its optimiser passes are off, as they make vectors of comparisons wrong (a widened truth value is -1 there); CLF_LANES: see elem.clh.
program=$1
command -v oclgrind >/dev/null 2>&1 || { echo "the program oclgrind is missing (package oclgrind): skipped"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# under LOG ARGUMENTS...: the program's exit code
under() {
    log=$work/$1; shift
    : >"$log"
    oclgrind --data-races --uninitialized --log "$log" --build-options "-cl-opt-disable -DCLF_LANES" "$program" "$@"
}

# planted KIND WORDS: the log names WORDS
planted() {
    under planted planted "$1" || { echo "planted fault $1 did not run"; exit 1; }
    grep -q "$2" "$work/planted" || { echo "Oclgrind does not report the planted fault '$1'"; exit 1; }
}
planted race 'data race'
planted bounds 'Invalid read'
planted bounds 'Invalid write'
planted uninitialised 'ninitialized value'
under planted planted none || exit 1
[ ! -s "$work/planted" ] || { echo "reports about a kernel without fault:"; cat "$work/planted"; exit 1; }

part=0
while :; do
    under log oclgrind $part; rc=$?
    [ $rc -eq 3 ] && break
    [ $rc -eq 0 ] || exit $rc
    [ ! -s "$work/log" ] || { echo "Oclgrind reports:"; head -n 60 "$work/log"; exit 1; }
    part=$((part + 1))
done
echo "$part parts, no report"
