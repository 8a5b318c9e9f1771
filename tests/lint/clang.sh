#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clang.sh BUILD: clang's warnings over all that the build compiles, by the build's own commands: nothing is translated, only read.
# Flags of gcc's optimiser mean nothing to clang. What a build by clang beside it, that of the sanitizers, has compiled with these
# warnings as errors after the last change of any file is not read again.
command -v clang >/dev/null 2>&1 || { echo "clang is missing"; exit 1; }
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$1

# checked: the oldest object of a build by clang with warnings as errors beside this one; fails without such a build, or when one of its
# objects is missing.
checked() {
    cd "$build-asan" 2>/dev/null && grep -q '^CLF_WERROR:[^=]*=ON' CMakeCache.txt || return 1
    grep -q '^CMAKE_C_COMPILER:[^=]*=.*clang' CMakeCache.txt || return 1
    objects=$(ninja -t commands | sed -n 's/.* -o \([^ ]*\) -c .*/\1/p')
    # shellcheck disable=SC2086
    times=$(ls -t $objects 2>/dev/null) && echo "$PWD/$(echo "$times" | tail -n 1)"
}

cd "$build" && [ -f build.ninja ] || { echo "not looked at: commands are taken from builds by Ninja"; exit 77; }
gcc='s/ -fvect-cost-model=[^ ]*//; s/ -fno-tree-loop-distribute-patterns//'
commands=$(ninja -t commands | grep -E '^[^ ]*cc .* -c ' | sed "s/ -M[DTF] [^ ]*//g; s/ -MD//; s/ -o [^ ]*//; $gcc")
count=$(echo "$commands" | grep -c -e ' -c ')
[ "$count" -gt 100 ] || { echo "$count commands found: the check is broken"; exit 1; }
changed=
oldest=$(checked) && changed=$(find "$root" \( -path "$root/build*" -o -path "$root/.git" \) -prune -o -type f -newer "$oldest" -print -quit)
if [ -n "$oldest" ] && [ -z "$changed" ]; then
    ninja -C "$build-asan" -t commands | sed -n 's/.* -c \([^ ]*\)$/ \1/p' >read.sources
    commands=$(echo "$commands" | grep -vFf read.sources)
fi
export CLANG="clang -fsyntax-only -Wno-unknown-warning-option -Wno-ignored-optimization-argument -Wno-unused-command-line-argument"
# shellcheck disable=SC2016
echo "$commands" | sed '/^$/d' | tr '\n' '\0' | xargs -0 -r -P 2 -n 16 sh -c 'rc=0
    for how in "$@"; do eval "$CLANG ${how#* }" || rc=1; done; exit $rc' sh || exit 1
echo "$count files, $(echo "$commands" | grep -c -e ' -c ') of them read here"
