#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every .cl of kernels-cl and perf is legal OpenCL C 1.2 by itself: its holes have defaults (which leave some names unused).
cd "$(dirname "$0")/../.." || exit 1
command -v clang >/dev/null 2>&1 || { echo "clang is missing"; exit 1; }
faults=0 seen=0
for file in $(find kernels-cl perf -name '*.cl' | LC_ALL=C sort); do
    seen=$((seen + 1))
    clang -x cl -cl-std=CL1.2 -target spir64 -Xclang -finclude-default-header -fsyntax-only -Wall -Wextra -Werror \
        -Wno-unused -Wno-unused-parameter -I kernels-cl/prelude -I kernels-cl "$file" || { echo "$file: does not compile alone"; faults=$((faults + 1)); }
done
echo "$seen kernel files, $faults at fault"
[ $faults -eq 0 ] && [ $seen -gt 0 ]
