#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# readme.sh BUILD: the C program in the README is compiled as it stands there, against the built library, and run; what it prints
# must be what the README says it prints.
cd "$(dirname "$0")/../.." || exit 1
build=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' README.md >"$work/ten.c"
[ -s "$work/ten.c" ] || { echo "README.md holds no C program"; exit 1; }
said=$(sed -n 's/.*prints `\([^`]*\)`.*/\1/p' README.md | head -n 1)
cc -std=c11 -Wall -Wextra -Werror -I core/include -I host/include -I "$build/include" "$work/ten.c" -o "$work/ten" \
    -L "$build" -lclfuse -Wl,-rpath,"$build" || exit 1
printed=$(CLF_DEVICE=host "$work/ten") || { echo "the program failed"; exit 1; }
[ "$printed" = "$said" ] || { echo "README says '$said', the program printed '$printed'"; exit 1; }
