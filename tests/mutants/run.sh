#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Is the net fine enough? Every patch here plants one bug of one line in a copy of the tree; tests linked with what is compiled of it must
# fail then.
# usage: run.sh SOURCE WORK BUILD [EVERY [PATTERN]]     WORK: the copy and the log; BUILD: a finished build by Ninja, which lends its
# objects and commands and stays as it is; EVERY: 2 takes every second patch; PATTERN: only patches whose names match it
# A patch has a line that says what goes wrong, a line "tests: GROUP", a line "first: TEST [CASE]", which is known to catch it, and the
# change.
# The others of the group run when that test no longer does. What caught a bug must pass without any patch.
# What a patch changes is compiled and linked in front of the library's archive, so that its members with the same symbols stay out: of
# a header or a table that are the sources which read it, for a table without the loops of instruction sets (they take a minute to compile).
# Of loops the first instruction set's alone are compiled, AVX2's; so that is the one that tests run, where they do not ask for another.
# Fails when a patch no longer applies or does not build, when a test fails without any patch, or when more than one planted bug in fifty
# stays unnoticed.
set -u
source=$1 work=$2 build=$3 every=${4:-1} pattern=${5:-}
here=$source/tests/mutants
log=$work/log
survivors=0 caught=0 total=0 catchers= changed=
mkdir -p "$work/src" "$work/out" "$work/cache" && : >"$log" || exit 1
[ -f "$build/build.ninja" ] || { echo "mutants: $build is no build by Ninja"; exit 1; }

fail() {
    echo "mutants: $*"
    tail -n 20 "$log"
    exit 1
}

# Programs end with their first case that fails (tests/unit/stop_testing.h); figures and the cache are those of tests without bugs.
CLF_TEST_STOP=1 CLF_TEST_CASE= CLF_ISA=avx2
figures=${CLF_FIGURES:-}
CLF_FIGURES= CLF_CACHE_DIR=$work/cache
export CLF_TEST_STOP CLF_TEST_CASE CLF_ISA CLF_FIGURES CLF_CACHE_DIR

# Tests that look at a part of the library, the quickest to fail first; tenth: at the size they have under sanitizers.
group() {
    case $1 in
        kernels) echo 'tenth:shim.test_shim unit.test_emit shim.test_shim tenth:prop.test_prop_device_net tenth:prop.test_prop_bounds' ;;
        planner) echo 'unit.test_planner unit.test_search tenth:prop.test_prop_random prop.test_prop_random prop.test_prop_random_real' ;;
        rules) echo 'unit.test_rules tenth:prop.test_prop_random prop.test_prop_random prop.test_prop_random_real' ;;
        folds) echo 'unit.test_folds unit.test_tile_folds tenth:prop.test_prop_random prop.test_prop_random prop.test_prop_random_real
            unit.test_tile' ;;
        readers) echo 'unit.test_formats_number unit.test_formats_text unit.test_formats_csv unit.test_formats_npy unit.test_formats_file' ;;
        sparse) echo 'unit.test_sparse_convert unit.test_sparse_values unit.test_sparse_rest unit.test_sparse_gaps unit.test_product_entries
            unit.test_rows_exec' ;;
        cache) echo 'unit.test_disk unit.test_device_cache shim.test_shim_cache' ;;
        mirrors) echo 'unit.test_mirror unit.test_residency shim.test_shim_mirrors' ;;
        clblast) echo 'unit.test_clblast_states unit.test_clblast' ;;
        messages) echo 'unit.test_message' ;;
        steps) echo 'unit.test_callouts unit.test_order unit.test_moves' ;;
        found) echo 'prop.test_prop_found' ;;
        measure) echo 'unit.test_meter unit.test_progress unit.test_trial' ;;
        *) return 1 ;;
    esac
}

copy() {
    for part in core formats device planner kernels-cl host; do
        cp -a "$source/$part" "$work/src/" || fail "cannot copy $part"
    done
}

# command OUTPUT: how the build makes it.
command_of() {
    ninja -C "$build" -t commands "$1" 2>>"$log" | tail -n 1
}

# object_of SOURCE: its object in the build; of sources compiled several times the first.
object_of() {
    folder=${1%%/*}
    rest=${1#*/}
    (cd "$build" && ls "$folder"/CMakeFiles/*.dir/"$rest.o" 2>/dev/null | head -n 1)
}

# compile SOURCE [OBJECT]: the copy's, as the build compiles it; with the copy's headers and tables.
compile() {
    object=$(object_of "$1")
    [ -n "$object" ] || fail "the build has no object of $1"
    out=$work/out/$(echo "$1" | tr '/' '_').o
    how=$(command_of "$object" | sed "s| -I| -I$work/src -I|; s| -MD .*||; s| -Werror||")
    (cd "$build" && eval "$how -O1 -g0 -w -o '$out' -c '${2:-$work/src/$1}'") >>"$log" 2>&1 || return 1
    objects="$objects $out"
}

# Kernel texts are one generated source.
embed() {
    how=$(command_of kernels-cl/embedded.c | sed "s|-DROOT=[^ ]*|-DROOT=$work/src/kernels-cl|; s|-DOUT=[^ ]*|-DOUT=$work/out/embedded.c|")
    eval "$how" >>"$log" 2>&1 && compile kernels-cl/embedded.c "$work/out/embedded.c"
}

# naming FILES...: what includes one of them by name.
naming() {
    for file in "$@"; do
        (cd "$work/src" && grep -rl --include='*.[ch]' "\"$file\"" .) | sed 's|^\./||'
    done | sort -u
}

# readers FILE: the sources that read it, themselves or by a header; of a table's names alone everybody does, by two headers.
readers() {
    case $1 in
        *.h) left='/gen_/d' ;;
        *) left='/gen_/d; /run.tile_loops[.]c$/d; /run.tile_folds_/d; /run.tile_pairs[.]c$/d' ;;
    esac
    # shellcheck disable=SC2046
    { naming "$1"; naming $(naming "$1" | grep '[.]h$' | grep -v -x -e core/fold.h -e core/op.h); } | sort -u | sed "/[.]h\$/d; $left"
}

# planted FILE: compiled into `objects`.
planted() {
    case $1 in
        *.c) compile "$1" ;;
        *.cl | *.clh) embed ;;
        *)
            for reader in $(readers "$1"); do
                compile "$reader" || return 1
            done ;;
    esac
}

# program TEST: the path of its program; with `objects` linked for the bug in hand.
program() {
    name=${1#tenth:} name=${name#*.}
    [ -f "$build/tests/$name" ] || fail "there is no test $1"
    if [ -z "$objects" ]; then echo "$build/tests/$name"; return; fi
    how=$(command_of "tests/$name" | sed "s| -o tests/$name | $objects -o $work/out/$name -Wl,--strip-debug |")
    (cd "$build" && eval "$how") >>"$log" 2>&1 && echo "$work/out/$name"
}

# run_tests WHAT TESTS...: (with CLF_TEST_CASE, that case of theirs) one after the other, each linked when its turn comes, until one
# fails: its name is then in `failed`.
run_tests() {
    what=$1; shift
    for failed in "$@"; do
        runs=$(program "$failed") && [ -n "$runs" ] || fail "$what does not build"
        # what fails they write where they are
        length=$([ "${failed#tenth:}" = "$failed" ] && echo 0 || echo 1)
        (cd "$work/out" && CLF_TEST_SANITIZED=$length timeout 300 "$runs") >>"$log" 2>&1
        rc=$?
        [ $rc -eq 77 ] && fail "$failed was skipped"
        [ $rc -eq 124 ] && echo "$what: $failed did not end" >>"$log"
        [ $rc -eq 0 ] || break
        failed=
    done
    [ -z "$failed" ]
}

# run_case WHAT TEST CASE: that case alone; nothing when there is no case.
run_case() {
    [ -z "$3" ] && return 0
    CLF_TEST_CASE=$3
    run_tests "$1" "$2"; unnoticed=$?
    CLF_TEST_CASE=
    [ $unnoticed -ne 0 ] && failed="$failed $3"
    return $unnoticed
}

# once TESTS...: each of them the first time it is named.
once() {
    echo "$@" | tr -s ' \n' '\n' | awk '!seen[$0]++'
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
    objects=
    file=$(sed -n 's|^+++ b/||p' "$1")
    changed="$changed $file"
    planted "$file" && [ -n "$objects" ] || fail "$name does not build"
    # shellcheck disable=SC2086
    if run_case "$name" "${first%% *}" "$case" && run_tests "$name" $tests; then
        survivors=$((survivors + 1))
        echo "  NOT CAUGHT  $name: $(head -n 1 "$1")"
    else
        caught=$((caught + 1))
        catchers="$catchers
$failed"
        echo "  caught      $name by $failed"
    fi
    patch -s -R -p1 -d "$work/src" <"$1" >>"$log" 2>&1 || fail "$name cannot be taken back"
}

# What has caught a bug must pass without any, linked in the same way with all that bugs were in.
verify() {
    objects=
    for file in $(once $changed); do planted "$file" || fail "$file does not build without a bug"; done
    # shellcheck disable=SC2086
    objects=$(once $objects | tr '\n' ' ')
    echo "$catchers" | sed '/^$/d' | sort -u >"$work/catchers"
    while read -r test case <&3; do
        CLF_TEST_CASE=$case
        run_tests "the library" "$test" || fail "$test $case fails without any planted bug"
    done 3<"$work/catchers"
}

rm -rf "$work/src" "$work/out" && mkdir -p "$work/src" "$work/out" && copy
for patch in "$here"/*.patch; do # those that this run leaves out, too
    patch -s -p1 --dry-run -d "$work/src" <"$patch" >>"$log" 2>&1 || fail "$(basename "$patch" .patch) does not apply"
done
for name in $(cd "$here" && ls *"$pattern"*.patch | awk -v every="$every" 'NR % every == 1 % every'); do
    try_one "$here/$name"
done
verify
echo "$caught of $total planted bugs caught"
[ -n "$figures" ] && printf 'planted bugs caught\t%d of %d\n' "$caught" "$total" >"$figures/mutants.tsv"
[ $((survivors * 50)) -le "$total" ]
