#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# package.sh BUILD: find_package on an installed copy that was moved elsewhere, consumers in C and C++17, shared and static; every public
# header alone in C11 and C++17 without a warning; the sources as a part of another project (configured). --deb: a Debian package, built, installed and removed
# again (root only, and only where no such package is installed).
build=$1
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() { [ -f "$work/log" ] && tail -n 20 "$work/log"; echo "$*"; exit 1; }

deb() {
    [ "$(id -u)" -eq 0 ] && command -v dpkg-deb >/dev/null && command -v cpack >/dev/null || { echo "not root, or no Debian: skipped"; exit 77; }
    dpkg-query -W clfuse >/dev/null 2>&1 && { echo "a package clfuse is installed: skipped"; exit 77; }
    (cd "$build" && cpack -G DEB -B "$work") >"$work/log" 2>&1 || fail "cpack failed"
    package=$(echo "$work"/*.deb)
    [ -s "$package" ] || fail "cpack made no package"
    dpkg-deb --contents "$package" | grep -q '/usr/include/clfuse/clfuse.hpp' || fail "the package lacks clfuse.hpp"
    dpkg -i "$package" >"$work/log" 2>&1 || fail "dpkg -i failed"
    said=$(/usr/bin/clfuse run -e '1 + 1' --device host); rc=$?
    dpkg -r clfuse >"$work/log" 2>&1 || fail "dpkg -r failed"
    [ "$rc:$said" = 0:2 ] || fail "the packaged tool says '$said' ($rc)"
    [ ! -e /usr/bin/clfuse ] && [ ! -e /usr/include/clfuse ] || fail "dpkg -r left files"
}
[ "${2:-}" = --deb ] && { deb; exit 0; }

cmake --install "$build" --prefix "$work/first" >"$work/log" 2>&1 || fail "cmake --install failed"
mv "$work/first" "$work/usr"
cmake -S "$here/consumer" -B "$work/b" -DCMAKE_PREFIX_PATH="$work/usr" >"$work/log" 2>&1 && cmake --build "$work/b" >"$work/log" 2>&1 ||
    fail "a project with find_package does not build"
for name in consume_c consume_static; do
    [ "$("$work/b/$name")" = 36 ] || fail "$name does not print 36"
done
"$work/b/consume_cxx" >"$work/log" || fail "consume_cxx fails"
readelf -d "$work/b/consume_static" | grep -q 'libclfuse' && fail "the static consumer asks for the shared library"
include=$(dirname "$(dirname "$(find "$work/usr" -name clfuse.hpp)")")
for header in "$include"/clfuse/*; do
    echo "#include <clfuse/${header##*/}>" >"$work/one.c"
    cp "$work/one.c" "$work/one.cpp"
    c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$include" "$work/one.cpp" 2>"$work/log" || fail "${header##*/} alone, C++17"
    case $header in
        *.h) cc -std=c11 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$include" "$work/one.c" 2>"$work/log" || fail "${header##*/} alone, C11" ;;
    esac
done
cmake -S "$here/consumer" -B "$work/sub" -DCLFUSE_TREE="$here/../.." >"$work/log" 2>&1 || fail "as a part of another project it does not configure"
grep -q 'CLF_TESTS:BOOL=OFF' "$work/sub/CMakeCache.txt" || fail "a part of another project builds tests"
