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

# Tests that look at a part of the library, the quickest to fail first; tenth: at the size they have under sanitizers.
group() {
    case $1 in
        kernels) echo 'shim.test_shim tenth:prop.test_prop_device_net unit.test_emit tenth:prop.test_prop_bounds' ;;
        planner) echo 'unit.test_planner prop.test_prop_random prop.test_prop_random_real' ;;
        folds) echo 'unit.test_folds unit.test_tile_folds prop.test_prop_random prop.test_prop_random_real unit.test_tile' ;;
        readers) echo 'unit.test_formats_number unit.test_formats_text unit.test_formats_csv unit.test_formats_npy unit.test_formats_file' ;;
        sparse) echo 'unit.test_sparse_convert unit.test_sparse_api unit.test_sparse_rest unit.test_rows_exec' ;;
        *) fail "no group '$1'" ;;
    esac
}

copy() {
    for part in core formats device planner kernels-cl host tests cmake CMakeLists.txt; do
        cp -a "$source/$part" "$work/src/" || fail "cannot copy $part"
    done
}

# The programs of a group, and no others: linking is most of the time.
build() {
    # shellcheck disable=SC2046
    cmake --build "$work/build" --target $(group "$1" | sed 's/tenth://g; s/[a-z]*\.//g') >>"$log" 2>&1
}

# The tests of a group one after the other, until one fails: its name is then in `failed`.
run_tests() {
    for failed in $(group "$1"); do
        short=${failed#tenth:}
        CLF_TEST_SANITIZED=$([ "$short" = "$failed" ] && echo 0 || echo 1) \
            ctest --test-dir "$work/build" -R "^$short\$" --output-on-failure >"$work/tests.log" 2>&1 || break
        grep -q 'No tests were found' "$work/tests.log" && fail "there is no test $failed"
        failed=
    done
    cat "$work/tests.log" >>"$log"
    [ -z "$failed" ]
}

try_one() {
    name=$(basename "$1" .patch)
    tests=$(sed -n 's/^tests: //p' "$1")
    echo "== $name" >>"$log"
    patch -s -p1 -d "$work/src" <"$1" >>"$log" 2>&1 || fail "$name does not apply"
    build "$tests" || fail "$name does not build"
    total=$((total + 1))
    if run_tests "$tests"; then
        survivors=$((survivors + 1))
        echo "  NOT CAUGHT  $name: $(head -n 1 "$1")"
    else
        caught=$((caught + 1))
        echo "  caught      $name by $failed"
    fi
    patch -s -R -p1 -d "$work/src" <"$1" >>"$log" 2>&1 || fail "$name cannot be taken back"
}

rm -rf "$work/src" && mkdir -p "$work/src" && copy
# The last run may have left a planted bug in the objects: what patches change is compiled again.
sed -n 's|^+++ b/||p' "$here"/*.patch | sort -u | while read -r file; do touch "$work/src/$file"; done
if [ ! -f "$work/build/build.ninja" ]; then
    cmake -G Ninja -S "$work/src" -B "$work/build" -DCLF_TOOLS=OFF -DCMAKE_BUILD_TYPE=None "-DCMAKE_C_FLAGS=-O1" >>"$log" 2>&1 ||
        fail "the copy does not configure"
fi
for name in kernels planner folds readers sparse; do
    build $name || fail "the copy does not build"
    run_tests $name || fail "$failed fails without any planted bug"
done
for patch in "$here"/*"$pattern"*.patch; do
    try_one "$patch"
done
echo "$caught of $total planted bugs caught"
[ -n "${CLF_FIGURES:-}" ] && printf 'planted bugs caught\t%d of %d\n' "$caught" "$total" >"$CLF_FIGURES/mutants.tsv"
[ "$survivors" -le 2 ]
