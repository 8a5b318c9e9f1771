#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Is the net fine enough? Every patch here plants one bug of one line in a copy of the tree; its own tests must fail then.
# usage: run.sh SOURCE WORK [PATTERN]     WORK: the copy, its build and the log; PATTERN: only patches whose names match it
# A patch has a line that says what goes wrong, a line "tests: GROUP", and the change. Fails when a patch no longer applies or does not
# build, when a test fails without any patch, or when more than two planted bugs stay unnoticed.
set -u
source=$1 work=$2 pattern=${3:-}
here=$source/tests/mutants
log=$work/log
survivors=0 caught=0 total=0
mkdir -p "$work/src" && : >"$log" || exit 1

fail() {
    echo "mutants: $*"
    tail -n 20 "$log"
    exit 1
}

# Tests that look at a part of the library, as ctest names; the quickest to fail come first.
group() {
    case $1 in
        kernels) echo 'test_emit|test_oracle_executors|test_prop_device_net|test_prop_laws|test_prop_bounds' ;;
        planner) echo 'test_planner|test_prop_alternatives|test_prop_random|test_prop_laws' ;;
        folds) echo 'test_folds|test_tile[a-z_]*|test_oracle_executors|test_prop_random|test_prop_laws' ;;
        readers) echo 'test_formats_[a-z]*|test_number' ;;
        *) fail "no group '$1'" ;;
    esac
}

copy() {
    for part in core formats device planner kernels-cl host tests cmake CMakeLists.txt; do
        cp -a "$source/$part" "$work/src/" || fail "cannot copy $part"
    done
}

build() { cmake --build "$work/build" --parallel --target net_programs >>"$log" 2>&1; }

run_tests() {
    CLF_TEST_SANITIZED=1 ctest --test-dir "$work/build" -R "\\.($(group "$1"))\$" --stop-on-failure --output-on-failure --parallel 2 \
        >"$work/tests.log" 2>&1
    result=$?
    cat "$work/tests.log" >>"$log"
    grep -q 'No tests were found' "$work/tests.log" && fail "group '$1' names no test"
    return $result
}

try_one() {
    name=$(basename "$1" .patch)
    tests=$(sed -n 's/^tests: //p' "$1")
    echo "== $name" >>"$log"
    patch -s -p1 -d "$work/src" <"$1" >>"$log" 2>&1 || fail "$name does not apply"
    build || fail "$name does not build"
    total=$((total + 1))
    if run_tests "$tests"; then
        survivors=$((survivors + 1))
        echo "  NOT CAUGHT  $name: $(head -n 1 "$1")"
    else
        caught=$((caught + 1))
        echo "  caught      $name by $(sed -n 's/^ *[0-9]* - \([a-z._0-9]*\) (.*/\1/p' "$work/tests.log" | head -n 1)"
    fi
    patch -s -R -p1 -d "$work/src" <"$1" >>"$log" 2>&1 || fail "$name cannot be taken back"
}

rm -rf "$work/src" && mkdir -p "$work/src" && copy
if [ ! -f "$work/build/build.ninja" ]; then
    cmake -G Ninja -S "$work/src" -B "$work/build" -DCLF_TOOLS=OFF -DCMAKE_BUILD_TYPE=None "-DCMAKE_C_FLAGS=-O1" >>"$log" 2>&1 ||
        fail "the copy does not configure"
fi
build || fail "the copy does not build"
for name in kernels planner folds readers; do
    run_tests $name || fail "tests fail without any planted bug"
done
for patch in "$here"/*"$pattern"*.patch; do
    try_one "$patch"
done
echo "$caught of $total planted bugs caught"
[ -n "${CLF_FIGURES:-}" ] && printf 'planted bugs caught\t%d of %d\n' "$caught" "$total" >"$CLF_FIGURES/mutants.tsv"
[ "$survivors" -le 2 ]
