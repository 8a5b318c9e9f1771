#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh PROGRAM WORDS FOUND [LIBFUZZER OPTIONS...] -- SEEDS...: one fuzz target over its seeds. WORDS: the program that prints
# dictionaries. FOUND: the folder of what it finds; for an input that breaks a promise the command that shows it again is printed.
# Always from the same random seed and without what was found before, so that a run says the same every time; with FUZZ_KEEP=1 it goes
# on from there instead, and by the clock.
set -u
program=$1 words=$2 found=$3; shift 3
name=$(basename "$program")
options=
while [ $# -gt 0 ] && [ "$1" != -- ]; do options="$options $1"; shift; done
[ $# -gt 0 ] && shift
if [ "${FUZZ_KEEP:-0}" != 1 ]; then rm -rf "$found"; options="-seed=1 $options"; fi
mkdir -p "$found/inputs" || exit 1
longest=512
[ "$name" = fuzz_api ] && longest=160 # some twenty calls; longer scripts are slower, not richer
"$words" "${name#fuzz_}" >"$found/words" || exit 1
[ -s "$found/words" ] && options="$options -dict=$found/words"
# shellcheck disable=SC2086
"$program" -max_len=$longest -len_control=0 -timeout=20 -rss_limit_mb=2048 -detect_leaks=0 -print_final_stats=1 -artifact_prefix="$found/" $options \
    "$found/inputs" "$@"
rc=$?
for input in "$found"/crash-* "$found"/leak-* "$found"/timeout-* "$found"/oom-*; do
    [ -f "$input" ] && echo "again: $program $input"
done
exit $rc
