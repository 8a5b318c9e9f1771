#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Where values come from and where they go: generated sources, numbers, every file type in and out, labels, element types.
. "$(dirname "$0")/support/check.sh"
cd "$work" || exit 1

is 'X' '1 2 3 / 4 5 6' --in X=seq:2x3
is 'sum(X)' 0 --in X=seq:0x3
is 'nrow(X); ncol(X); min(X) >= 0 & max(X) < 1' '50 / 4 / 1' --in X=rand:50x4
is 'sum(X == Y); sum(X == Z) < 20' '20 / 1' --in X=rand:5x4:1:7 --in Y=rand:5x4:1:7 --in Z=rand:5x4:1:8
is 'sum(X == Y)' 20 --in X=rand:5x4 --in Y=rand:5x4:1:1
"$CLFUSE" run -e 's = sum(X != 0); s > 800 & s < 1200' --in X=rand:100x100:0.1:3 >rand.out 2>rand.err
true_that 'rand with S < 1: about S non-zeros' [ "$(cat rand.out)" = 1 ]
true_that 'rand with S < 1 needs no note' [ ! -s rand.err ]
is 'n = sum(X != 0); n > 1800 & n < 2200; max(X) <= 1; max(rowSums(X != 0)) > 5 * mean(rowSums(X != 0))' '1 / 1 / 1' --in X=powerlaw:200x100:0.1:3
is 'sum(X != Y); sum(X != Z) > 0' '0 / 1' --in X=powerlaw:50x40:0.1:3 --in Y=powerlaw:50x40:0.1:3 --in Z=powerlaw:50x40:0.1:4
is 'sum(X); nrow(Y)' '0 / 0' --in X=powerlaw:5x4:0 --in Y=powerlaw:0x4:0.5
stored() {
    "$CLFUSE" run --json -e X --in "X=$1" >stored.json
    json stored.json "d['results'][0]['format'] == '$2'"
}
stored rand:20x20:0.1 csr
stored powerlaw:20x20:1 csr
stored rand:20x20:1 dense
stored seq:2x2 dense
is 'x; y; -x' '-3 / 1.5 / 3' --in x=-3 --in y=1.5
is 'x' 1000 --in x=1e3
is 'x' NaN --in x=NaN

# Every type out and in again gives the same values.
for type in npy csv mtx; do
    is 'A = X / 3' '' --in X=seq:3x2 --out "A=a.$type"
    is 'sum(A == X / 3)' 6 --in X=seq:3x2 --in "A=a.$type"
    is 'A = X / 3; max(A)' 2 --in X=seq:3x2 --out A=a.dat --type $type
    is 'sum(A == X / 3)' 6 --in X=seq:3x2 --in A=a.dat --type $type
done
is 's = sum(X); T = X * 2' '' --in X=seq:2x2 --out s=s.npy --out T=t.csv
is 's + 1' 11 --in s=s.npy
true_that 'csv out: commas, no header' [ "$(cat t.csv)" = '2,4
6,8' ]
is 'a = 1' '' --in X=seq:1x2 --out X=x.npy
is 'X' '1 2' --in X=x.npy

printf 'a;b\n1;2\n3;4\n' >semicolon.csv
is 'X' '1 2 / 3 4' --in X=semicolon.csv
printf '1,2\n3,\n5,6\n' >gap.csv
is 'X' '1 2 / 5 6' --in X=gap.csv --na drop
is 'X' '1 2 / 3 NaN / 5 6' --in X=gap.csv --na nan
ends 4 'gap.csv' "$CLFUSE" run -e X --in X=gap.csv
printf 'h,w,kind\n1,2,"red"\n3,4,blue\n5,6,red\n' >kinds.csv
is 'X; y' '1 2 / 3 4 / 5 6 / 1 / 2 / 1' --in X,y=kinds.csv:label=kind
is 'X; y' '1 2 / 3 4 / 5 6 / 1 / 2 / 1' --in X,y=kinds.csv:label=3
printf '1 2:5\n-1 1:3 3:4\n' >two.svm
"$CLFUSE" run -e 'X; y' --in X,y=two.svm >svm.out 2>svm.err
true_that 'svm: features and labels' [ "$(cat svm.out)" = '0 5 0
3 0 4
1
-1' ]
true_that 'svm needs no note' [ ! -s svm.err ]
stored two.svm csr
printf '%%%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n2 1 -1\n' >c.mtx
"$CLFUSE" run -e X --in X=c.mtx >mtx.out 2>mtx.err
true_that 'mtx: coordinates' [ "$(cat mtx.out)" = '5 0
-1 0' ]
true_that 'coordinates need no note' [ ! -s mtx.err ]
stored c.mtx csr
"$CLFUSE" run -e X --in X=c.mtx --out X=d.mtx >copy.out
true_that 'sparse results are written as coordinates' grep -q '^%%MatrixMarket matrix coordinate' d.mtx
is 'sum(abs(X - Y))' 0 --in X=c.mtx --in Y=d.mtx
# structural zeros annihilate whatever they meet, unless they are asked not to
is 'sum(X * (1 / (X != 0)))' 4 --in X=c.mtx
is 'sum(X * (0 / 0))' NaN --in X=c.mtx
CLF_SPARSE=ieee; export CLF_SPARSE
is 'sum(X * (1 / (X != 0)))' NaN --in X=c.mtx
unset CLF_SPARSE

# Element types: comparisons give u8, arithmetic on u8 i32, sums of integers i64, functions of integers f64.
dtype() {
    "$CLFUSE" run --json -e "$1" --in X=seq:2x3 --in S=rand:2x2 --dtype "$2" >type.json
    json type.json "d['results'][0]['dtype'] == '$3'"
}
dtype 'X > 3' f64 u8
dtype '(X > 3) + (X > 1)' f64 i32
dtype 'sum(X > 3)' f64 i64
dtype 'mean(X > 3)' f64 f64
dtype 'exp(X > 3)' f64 f64
dtype '(X > 3)^2' f64 f64
dtype 'X * 1.5' f32 f32
dtype 'S + 1' f32 f32
dtype 'mean(X)' f32 f32
dtype 'X + S[1, 1]' f64 f64
dtype 'nrow(X)' f64 i64
is 'A = (X > 3) + (X > 1)' '' --in X=seq:2x3 --out A=i.npy
is 'A; A %/% 0; A %% 0' '0 1 1 / 2 2 2 / 0 0 0 / 0 0 0 / 0 0 0 / 0 0 0' --in A=i.npy
is 'X / 3' '0.333333343 0.666666687' --in X=seq:1x2 --dtype f32

# Programs from files, several lines, comments.
printf '# a program\na = X * 2\n\nsum(a)   # printed\nmax(\n  a)\n' >p.clf
got=$("$CLFUSE" run p.clf --in X=seq:2x2)
true_that 'a program file' [ "$got" = '20
8' ]
finish
