#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# ./run: its command line, and that missing packages are named in one apt-get line with exit code 3, by a copy that lacks one.
here=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
fail() { echo "$*"; exit 1; }
"$here/run" help | grep -q '^usage: ./run' || fail "help prints no usage"
"$here/run" >/dev/null 2>&1; [ $? -eq 2 ] || fail "no command: exit code is not 2"
"$here/run" nonsense >/dev/null 2>&1; [ $? -eq 2 ] || fail "unknown command: exit code is not 2"
"$here/run" build nonsense >/dev/null 2>&1; [ $? -eq 2 ] || fail "unexpected argument: exit code is not 2"
command -v dpkg-query >/dev/null 2>&1 || exit 0
sed 's/^PACKAGES="gcc/PACKAGES="gcc no-such-package/' "$here/run" >"$work/run"
printed=$(sh "$work/run" build --no-install); rc=$?
[ $rc -eq 3 ] || fail "a package is missing: exit code is $rc, not 3"
echo "$printed" | grep -q '^apt-get install --no-install-recommends .*no-such-package' || fail "no apt-get line: $printed"
