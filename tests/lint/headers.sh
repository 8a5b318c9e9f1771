#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# headers.sh GENERATED_INCLUDE: every public header compiles alone, as C11 and as C++17, without a warning.
cd "$(dirname "$0")/../.." || exit 1
faults=0 seen=0
for header in core/include/clfuse/*.h host/include/clfuse/*.h "$1"/clfuse/*.h; do
    [ -f "$header" ] || continue
    name=clfuse/$(basename "$header")
    for language in "c -std=c11" "c++ -std=c++17"; do
        seen=$((seen + 1))
        # shellcheck disable=SC2086
        printf '#include "%s"\n#include "%s"\n' "$name" "$name" | clang -x $language -fsyntax-only -Wall -Wextra -Wpedantic -Werror \
            -I core/include -I host/include -I "$1" - || { echo "$name: fails as $language"; faults=$((faults + 1)); }
    done
done
echo "$seen compilations, $faults at fault"
[ $faults -eq 0 ] && [ $seen -gt 0 ]
