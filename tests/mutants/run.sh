#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Is the net fine enough? Every patch here plants one bug of one line in a copy of the tree; its own tests must fail then.
# usage: run.sh SOURCE WORK [EVERY [PATTERN]]     WORK: the copy, its build and the log; EVERY: 3 takes every third patch; PATTERN: only
# patches whose names match it
# A patch has a line that says what goes wrong, a line "tests: GROUP", a line "first: TEST [CASE]", which is known to catch it, and the
# change.
# The others of the group run when that test no longer does. What caught a bug must pass without any patch.
# Fails when a patch no longer applies or does not build, when a test fails without any patch, or when more than two planted bugs stay
# unnoticed.
set -u
source=$1 work=$2 every=${3:-1} pattern=${4:-}
here=$source/tests/mutants
log=$work/log
survivors=0 caught=0 total=0 catchers= verified=
mkdir -p "$work/src" && : >"$log" || exit 1

fail() {
    echo "mutants: $*"
    tail -n 20 "$log"
    exit 1
}

# Programs end with their first case that fails (tests/unit/stop_testing.h).
CLF_TEST_STOP=1 CLF_TEST_CASE=
export CLF_TEST_STOP CLF_TEST_CASE

# Tests that look at a part of the library, the quickest to fail first; tenth: at the size they have under sanitizers.
group() {
    case $1 in
        kernels) echo 'tenth:shim.test_shim unit.test_emit shim.test_shim tenth:prop.test_prop_device_net tenth:prop.test_prop_bounds' ;;
        planner) echo 'unit.test_planner unit.test_search prop.test_prop_random prop.test_prop_random_real' ;;
        rules) echo 'unit.test_rules prop.test_prop_random prop.test_prop_random_real' ;;
        folds) echo 'unit.test_folds unit.test_tile_folds prop.test_prop_random prop.test_prop_random_real unit.test_tile' ;;
        readers) echo 'unit.test_formats_number unit.test_formats_text unit.test_formats_csv unit.test_formats_npy unit.test_formats_file' ;;
        sparse) echo 'unit.test_sparse_convert unit.test_sparse_values unit.test_sparse_rest unit.test_rows_exec' ;;
        cache) echo 'unit.test_disk shim.test_shim_cache' ;;
        mirrors) echo 'unit.test_mirror unit.test_residency' ;;
        messages) echo 'unit.test_message' ;;
        found) echo 'prop.test_prop_found' ;;
        measure) echo 'unit.test_meter unit.test_progress' ;;
        *) return 1 ;;
    esac
}

copy() {
    for part in core formats device planner kernels-cl host tests cmake CMakeLists.txt; do
        cp -a "$source/$part" "$work/src/" || fail "cannot copy $part"
    done
}

# build TEST: the test's program and no other: linking is most of the time.
build() {
    program=${1#tenth:}
    cmake --build "$work/build" --target "${program#*.}" >>"$log" 2>&1
}

# run_tests WHAT TESTS...: (with CLF_TEST_CASE, that case of theirs) one after the other, each built when its turn comes, until one
# fails: its name is then in `failed`.
run_tests() {
    what=$1; shift
    for failed in "$@"; do
        short=${failed#tenth:}
        build "$failed" || fail "$what does not build"
        CLF_TEST_SANITIZED=$([ "$short" = "$failed" ] && echo 0 || echo 1) \
            ctest --test-dir "$work/build" -R "^$short\$" --output-on-failure >"$work/tests.log" 2>&1 || break
        grep -q 'No tests were found' "$work/tests.log" && fail "there is no test $failed"
        failed=
    done
    cat "$work/tests.log" >>"$log"
    [ -z "$failed" ]
}

# run_case WHAT TEST CASE: that case alone; nothing when there is no case.
run_case() {
    [ -z "$3" ] && return 0
    CLF_TEST_CASE=$3
    run_tests "$1" "$2"; unnoticed=$?
    CLF_TEST_CASE=
    return $unnoticed
}

# once TESTS...: each of them the first time it is named.
once() {
    echo "$@" | tr ' ' '\n' | awk '!seen[$0]++'
}

try_one() {
    name=$(basename "$1" .patch)
    tests=$(group "$(sed -n 's/^tests: //p' "$1")") || fail "$name is of no group"
    first=$(sed -n 's/^first: //p' "$1")
    case=${first#* }
    [ "$case" = "$first" ] && case=
    tests=$(once "${first%% *}" "$tests")
    echo "== $name" >>"$log"
    patch -s -p1 -d "$work/src" <"$1" >>"$log" 2>&1 || fail "$name does not apply"
    total=$((total + 1))
    # shellcheck disable=SC2086
    if run_case "$name" "${first%% *}" "$case" && run_tests "$name" $tests; then
        survivors=$((survivors + 1))
        echo "  NOT CAUGHT  $name: $(head -n 1 "$1")"
    else
        caught=$((caught + 1))
        catchers="$catchers $failed"
        echo "  caught      $name by $failed"
    fi
    patch -s -R -p1 -d "$work/src" <"$1" >>"$log" 2>&1 || fail "$name cannot be taken back"
}

# names TABLES: of the patches that change tables (1) or none (0).
names() {
    (cd "$here" && grep -H '^+++ b/' *"$pattern"*.patch) | sed 's|^\([^:]*\):+++ b/|\1 |' |
        awk -v tables="$1" '!seen[$1]++ && ($2 ~ /\.def$/) == tables { print $2, $1 }' | sort | awk -v every="$every" 'NR % every == 1 % every { print $2 }'
}

# What has caught a bug since the last time must pass without any.
verify() {
    fresh=
    for test in $(echo "$catchers" | tr ' ' '\n' | sort -u); do
        case " $verified " in *" $test "*) ;; *) fresh="$fresh $test" ;; esac
    done
    [ -z "$fresh" ] && return
    verified="$verified$fresh"
    # shellcheck disable=SC2086
    run_tests "the copy" $fresh || fail "$failed fails without any planted bug"
}

rm -rf "$work/src" && mkdir -p "$work/src" && copy
# The last run may have left a planted bug in the objects: what patches change is compiled again.
sed -n 's|^+++ b/||p' "$here"/*.patch | sort -u | while read -r file; do touch "$work/src/$file"; done
if [ ! -f "$work/build/build.ninja" ]; then
    cmake -G Ninja -S "$work/src" -B "$work/build" -DCLF_TOOLS=OFF -DCMAKE_BUILD_TYPE=None "-DCMAKE_C_FLAGS=-O1" \
        -DCLF_FAST_LOOPS=OFF ${POCL_CACHE_DIR:+"-DCLF_TEST_KERNELS=$POCL_CACHE_DIR"} >>"$log" 2>&1 ||
        fail "the copy does not configure"
fi
# Those of one file side by side, and the tables, which everything is compiled with, at the end, after the look at the copy without a
# bug: the fewest compilations.
for tables in 0 1; do
    for name in $(names $tables); do
        try_one "$here/$name"
    done
    verify
done
echo "$caught of $total planted bugs caught"
[ -n "${CLF_FIGURES:-}" ] && printf 'planted bugs caught\t%d of %d\n' "$caught" "$total" >"$CLF_FIGURES/mutants.tsv"
[ "$survivors" -le 2 ]
