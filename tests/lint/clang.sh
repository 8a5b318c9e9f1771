#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang.sh BUILD: clang's warnings over all that the build compiles, by the build's own commands: nothing is translated, only read.
# Flags of gcc's optimiser mean nothing to clang.
command -v clang >/dev/null 2>&1 || { echo "clang is missing"; exit 1; }
build=$1
cd "$build" && [ -f build.ninja ] || { echo "not looked at: commands are taken from builds by Ninja"; exit 77; }
gcc='s/ -fvect-cost-model=[^ ]*//; s/ -fno-tree-loop-distribute-patterns//'
commands=$(ninja -t commands | grep -E '^[^ ]*cc .* -c ' | sed "s/ -M[DTF] [^ ]*//g; s/ -MD//; s/ -o [^ ]*//; $gcc")
count=$(echo "$commands" | grep -c -e ' -c ')
[ "$count" -gt 100 ] || { echo "$count commands found: the check is broken"; exit 1; }
export CLANG="clang -fsyntax-only -Wno-unknown-warning-option -Wno-ignored-optimization-argument -Wno-unused-command-line-argument"
# shellcheck disable=SC2016
echo "$commands" | tr '\n' '\0' | xargs -0 -P 2 -n 16 sh -c 'rc=0
    for how in "$@"; do eval "$CLANG ${how#* }" || rc=1; done; exit $rc' sh || exit 1
echo "$count files"
