#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# consume.sh BUILD: install into an empty folder, then build and run the README's program as a stranger would, through pkg-config, in
# C; clfuse.h and clfuse.hpp in C++, the latter without runtime type information and exceptions; the installed tool runs from there.
build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }
cmake --install "$build" --prefix "$work/usr" >"$work/log" 2>&1 || { cat "$work/log"; fail "cmake --install failed"; }
pc=$(find "$work/usr" -name clfuse.pc) && [ -n "$pc" ] || fail "no clfuse.pc was installed"
flags=$(PKG_CONFIG_PATH=$(dirname "$pc") pkg-config --define-prefix --cflags --libs clfuse) || fail "pkg-config does not find clfuse"
awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$here/../../README.md" >"$work/ten.c"
[ -s "$work/ten.c" ] || fail "README.md holds no C program"
lib=$(dirname "$(find "$work/usr" -name libclfuse.so)")
# shellcheck disable=SC2086
cc -std=c11 "$work/ten.c" -o "$work/ten" $flags -Wl,-rpath,"$lib" || fail "the consumer does not build"
[ "$(CLF_DEVICE=host "$work/ten")" = 611 ] || fail "the consumer does not print 611"
readelf -d "$work/ten" | grep -q 'libclfuse\.so\.0' || fail "the consumer does not ask for libclfuse.so.0"
if command -v c++ >/dev/null 2>&1; then
    # shellcheck disable=SC2086
    printf '#include <clfuse/clfuse.h>\nint main() { return clf_version()[0] != 48; }\n' | c++ -std=c++17 -x c++ - -o "$work/cxx" \
        $flags -Wl,-rpath,"$lib" || fail "C++ does not build"
    "$work/cxx" || fail "the C++ consumer fails"
    for bare in -fno-rtti '-fno-rtti -fno-exceptions'; do
        # shellcheck disable=SC2086
        c++ -std=c++17 -Wall -Wextra -Werror $bare "$here/bare.cpp" -o "$work/bare" $flags -Wl,-rpath,"$lib" || fail "C++ with $bare does not build"
        [ "$("$work/bare")" = 0 ] || fail "C++ with $bare fails"
    done
    "$work/bare" wrong >/dev/null 2>"$work/log" && fail "without exceptions, an error is passed over"
    grep -q '^clfuse: error .*the cells are f64' "$work/log" || fail "without exceptions, an error is not told: $(cat "$work/log")"
fi
[ "$("$work/usr/bin/clfuse" run -e '1 + 1' --device host)" = 2 ] || fail "the installed tool does not work"
