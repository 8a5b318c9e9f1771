#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# cppcheck.sh GENERATED_INCLUDE: cppcheck over the library and the tool, one configuration, warnings and performance hints.
cd "$(dirname "$0")/../.." || exit 1
command -v cppcheck >/dev/null 2>&1 || { echo "cppcheck is missing"; exit 1; }
find core formats device planner kernels-cl host perf -name '*.c' | LC_ALL=C sort |
    cppcheck --file-list=- --quiet --std=c11 --max-configs=1 --enable=warning,performance,portability --error-exitcode=1 \
        --inline-suppr --suppressions-list=tests/lint/cppcheck.supp -D_GNU_SOURCE -D__GNUC__ -D__x86_64__ \
        -I . -I core/include -I host/include -I "$1" -j 2
