#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run --bundle writes the plan's ingredients and no data; run BUNDLE --synthetic plans the same program the same way on made-up data of
# the same shapes, formats and density, here with settings from the bundle; damaged bundles are refused.
. "$(dirname "$0")/support/check.sh"
cd "$work" || exit 1
# clfuse OUT ARGUMENTS...: the tool, whose stdout goes to OUT and stderr to err; what it says when it fails is a fault.
clfuse() {
    into=$1; shift
    "$CLFUSE" "$@" >"$into" 2>err || fault "$*: $(cat err)"
}
{ echo "u,v"; for i in 1 2 3 4 5 6 7 8 9 10; do echo "31337.25$i,0"; done; } >secret.csv
{ echo '%%MatrixMarket matrix coordinate real general'; echo '400 50 600'
  i=0; while [ $i -lt 600 ]; do echo "$((i % 400 + 1)) $((i * 7 % 49 + 1)) 31337.5"; i=$((i + 1)); done; } >secret.mtx
program='p = S[1:n,] * a; sum(p); rowSums(X) + a'
clfuse out run -e "$program" --fuse all --in X=secret.csv --in S=secret.mtx --in a=31337.75 --in n=20 --out p=p.npy --bundle b.clb
true_that 'the run itself goes on' [ "$(wc -l <out)" -eq 11 ]
true_that 'no value of a matrix or number is in the bundle' [ "$(grep -c 31337 b.clb)" -eq 0 ]
true_that 'a number the plan depends on is, and is named' grep -q '^number n 20$' b.clb
true_that 'on stderr' grep -q "note: --bundle: the value of 'n' is in the file" err
true_that 'others are not' grep -q '^number a$' b.clb
true_that 'shape and number of entries of dense data' grep -q '^in X f64 10 2 dense 10 0$' b.clb
true_that 'of sparse data also the fullest row' grep -Eq '^in S f64 400 50 csr [0-9]+ 2$' b.clb
for line in 'knob fuse all' 'out p' 'knob device host'; do true_that "$line" grep -qx "$line" b.clb; done
for section in program 'profile host' explain; do true_that "section $section" grep -q "^$section [0-9]*$" b.clb; done
true_that 'the profile is whole' grep -q '^read_bytes_per_s' b.clb

here=$CLF_DEVICE; unset CLF_DEVICE
clfuse replay.out run b.clb --synthetic --explain
export CLF_DEVICE="$here"; mv err replay.err
printf '1x1 f64\n10x1 f64\n' | cmp -s - replay.out || fault "--synthetic printed $(cat replay.out)"
true_that 'nothing is saved' [ "$(find . -name '*.npy' -newer b.clb | wc -l)" -le 1 ]
# Steps by template and operators: predictions follow numbers of entries, which are about the same.
steps() { grep -E '^ [0-9]+ |covers' "$1" | sed 's/predicted.*//; s/ on .*//'; }
sed -n '/^explain /,$p' b.clb >explain.txt
steps explain.txt >a.txt; steps replay.err >b.txt
true_that 'the plan has steps' [ -s b.txt ]
true_that 'the plan is the one in the bundle' cmp -s a.txt b.txt
clfuse plan.out explain b.clb --synthetic
steps plan.out >c.txt
true_that 'explain needs no data for it' cmp -s a.txt c.txt
clfuse plan.json explain b.clb --synthetic --analyze --format json
json plan.json "all(s['measured_ns'] is not None for s in d['steps'])"
true_that 'no profile stays behind' [ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'clfuse-profile-*' -newer b.clb 2>/dev/null)" ]
clfuse head.out run b.clb --synthetic --head 1
true_that '--head prints made-up values' [ "$(grep -c x head.out)" -eq 0 ]
clfuse w.out run -e 'nrow(W); sum(W != 0)' --in W=powerlaw:3000x300:0.01 --bundle w.clb
clfuse w2.out run w.clb --synthetic --head 5
tail -1 w.out | { read -r n; read -r m <<END
$(tail -1 w2.out)
END
    [ "$m" -gt $((n * 9 / 10)) ] && [ "$m" -lt $((n * 11 / 10)) ]; } || fault "entries of uneven data: $(cat w.out w2.out)"
command -v python3 >/dev/null 2>&1 && python3 - <<'END'
import struct
head = "{'descr': '<i8', 'fortran_order': False, 'shape': (3, 2), }"
head += " " * ((64 - (10 + len(head) + 1) % 64) % 64) + "\n"
open("int.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<6q", 1, 2, 3, 4, 5, 6))
END
if [ -s int.npy ]; then
    clfuse i0.out run -e 'sum(I * 2)' --in I=int.npy --bundle i.clb
    clfuse i.out run i.clb --synthetic
    true_that 'integers stay integers' grep -q '1x1 i64' i.out
fi

# Two devices have a profile each, in the order in which they are named: told apart by figures that are not theirs.
export POCL_DEVICES='pthread pthread'
"$CLFUSE" info --json >two.json
if grep -q '"index": 2' two.json; then
    # run and explain, whose --synthetic is planned by three profiles; the steps are the bundle's own.
    profile() { sed "s/^name .*/name $1/; s/^launch_sync_ns .*/launch_sync_ns $2/" "$golden/pocl.txt"; }
    golden=$(dirname "$0")/../golden/profiles
    profile one 11111 >p1.txt; profile two 22222 >p2.txt
    clfuse two.out run -e 'sum(exp(X))' --in X=secret.csv --device '2, 1' --bundle two.clb
    true_that 'three profiles' [ "$(grep -c '^profile ' two.clb)" -eq 3 ]
    CLF_PROFILE_FILE=p1.txt,p2.txt clfuse two.out run -e 'sum(exp(X))' --in X=secret.csv --device '2, 1' --bundle two.clb
    true_that 'in their order' [ "$(sed -n '/^profile device/,$s/^launch_sync_ns *//p' two.clb | tr '\n' ' ')" = '11111 22222 ' ]
    unset CLF_DEVICE
    clfuse two.txt explain two.clb --synthetic
    true_that 'the plan is the one for both' [ "$(steps two.txt | head -1)" = "$(sed -n '/^explain /,$p' two.clb | steps /dev/stdin | head -1)" ]
    clfuse two.out run two.clb --synthetic
    clfuse two.out run two.clb --synthetic --device 1
    export CLF_DEVICE="$here"
    true_that 'no profile stays behind' [ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'clfuse-profile-*' -newer two.clb 2>/dev/null)" ]
fi
unset POCL_DEVICES

ends 2 'no bundle is named' "$CLFUSE" run --synthetic
ends 2 'do not go with it' "$CLFUSE" run b.clb --synthetic --in X=1
ends 4 'cannot open the bundle' "$CLFUSE" run none.clb --synthetic
ends 4 'cannot write' "$CLFUSE" run -e 1 --bundle none/b.clb
# refused CODE TEXT BUNDLE: printf's form of a bundle that is not one.
refused() {
    # shellcheck disable=SC2059
    printf "$3\n" >no.clb
    ends "$1" "$2" "$CLFUSE" run no.clb --synthetic
}
head='clfuse bundle 1\nprogram'
refused 4 'does not begin with' 'sum(1)'
refused 4 'no program in it' 'clfuse bundle 1'
refused 4 'longer than the file' "$head 99\nsum(X)"
refused 4 'longer than the file' "$head 18446744073709551615\nsum(X)"
refused 4 'without type, shape and entries' "$head 6\nsum(X)\nin X f64 3 -3 dense 1 1"
refused 4 'a setting without a value' "$head 6\nsum(X)\nknob fuse"
refused 2 "no variable 'X'" "$head 6\nsum(X)"
finish
