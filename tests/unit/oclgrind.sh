#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A suite under Oclgrind, which watches every access of a kernel: any report of a race between work-items, of an uninitialised value or of
# an access out of bounds fails. That it does report them, tests/prop/oclgrind.sh shows. usage: oclgrind.sh TEST_PROGRAM ARGUMENTS...
command -v oclgrind >/dev/null 2>&1 || { echo "the program oclgrind is missing (package oclgrind): skipped"; exit 77; }
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
oclgrind --data-races --uninitialized --log "$log" --build-options "-cl-opt-disable -DCLF_LANES" "$@" || exit 1
[ ! -s "$log" ] || { echo "Oclgrind reports:"; head -n 60 "$log"; exit 1; }
