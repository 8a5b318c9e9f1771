#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# make.sh SCDOC GENERATOR SOURCE OUT: all manual pages into OUT/man1, man3 and man7.
set -eu
scdoc=$1 generator=$2 source=$3 out=$4
rm -rf "$out"
mkdir -p "$out/scd" "$out/man1" "$out/man3" "$out/man7"
"$generator" environment >"$out/scd/clfuse-environment.7.scd"
"$generator" operators >"$out/scd/clfuse-operators.7.scd"
awk -v out="$out/scd" -f "$source/docs/man/api.awk" "$source/host/include/clfuse/clfuse.h"
for page in "$source"/docs/man/*.scd "$out"/scd/*.scd; do
    name=$(basename "$page" .scd)
    "$scdoc" <"$page" >"$out/man${name##*.}/$name"
done
while read -r function page; do
    printf '.so man3/%s.3\n' "$page" >"$out/man3/$function.3"
done <"$out/scd/names"
touch "$out/done"
