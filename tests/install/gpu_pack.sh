#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_pack.sh BUILD: the folder for a machine with a GPU, moved elsewhere, runs with nothing but itself, this machine's drivers and C library.
build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() { [ -f "$work/log" ] && tail -n 20 "$work/log"; echo "$*"; exit 1; }

sh "$here/../support/gpu_pack.sh" "$build" "$work/first" >"$work/log" 2>&1 || fail "gpu_pack.sh failed"
mv "$work/first" "$work/pack"
cd /
said=$(env -i PATH=/usr/bin:/bin HOME="$work" LD_LIBRARY_PATH="$work/pack/lib" "$work/pack/bin/clfuse" run -e 's = sum(X * X)' --in X=seq:3x4 2>"$work/log")
[ "$said" = 650 ] || fail "the packed tool says '$said'"
for program in "$work/pack/bin/clfuse" "$work"/pack/libexec/clfuse/* "$work"/pack/tests/*; do
    LD_LIBRARY_PATH="$work/pack/lib" ldd "$program" >"$work/log"
    grep -q 'not found' "$work/log" && fail "${program##*/} lacks a library"
    grep 'clfuse\|OpenCL\|cunit' "$work/log" | grep -vq "$work/pack/" && fail "${program##*/} takes a library from elsewhere"
done
# Without a GPU the tests on it are skipped; one that is there decides.
env -i PATH=/usr/bin:/bin HOME="$work" LD_LIBRARY_PATH="$work/pack/lib" CLF_TEST_SANITIZED=1 "$work/pack/tests/test_prop_device_net" gpu >"$work/log" 2>&1
rc=$?
[ $rc -eq 0 ] || [ $rc -eq 77 ] || fail "the packed tests fail ($rc)"
