#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Options at their edges: names, values and sources that are almost right, several profiles, settings of the environment, places that
# cannot be written, messages with control characters, a folder without devices.
. "$(dirname "$0")/support/check.sh"
cd "$work" || exit 1
run="$CLFUSE run"

# names
is '_a.B9 + Zz_' 3 --in _a.B9=1 --in Zz_=2
is 'x' 1 --in=x=1
ends 2 'expected NAME=SOURCE' $run -e 1 --in '{=1'
ends 2 'expected NAME=SOURCE' $run -e 1 --in '[a=1'
ends 2 'expected NAME=SOURCE' $run -e 1 --in 'a{=1'
ends 2 'expected NAME=SOURCE' $run -e 1 --in 'a/b=1'
ends 2 'expected NAME=SOURCE' $run -e 1 --in 'a:b=1'
ends 2 'expected NAME=SOURCE' $run -e 1 --in '=1'
ends 2 'expected NAME=SOURCE' $run -e 1 --in 'a,=1'
ends 2 'expected NAME=SOURCE' $run -e 1 --in 'a,b,c=1'
ends 2 'expected NAME=VALUE' $run -e 'a = 1' --out a
ends 2 'one name' $run -e 'a = 1' --out a,b=c.npy
ends 2 "'x' is given twice" $run -e 1 --in x,x=a.svm
ends 2 "'y' is given twice" $run -e 1 --in y=1 --in x,y=a.svm
ends 2 "'y' is given twice" $run -e 1 --in x,y=a.svm --in y=1
ends 2 "'y' is given twice" $run -e 1 --in x,y=a.svm --in z,y=b.svm
ends 2 'needs a value' $run -e 1 --in
ends 2 "unexpected 'x'" "$CLFUSE" info x
ends 2 'expected a number of rows' $run -e 1 --head 3x
ends 2 'expected a number of rows' $run -e 1 --head -1
ends 2 'expected a number of rows' $run -e 1 --head 99999999999999999999
ends 2 'expected a number of rows' $run -e 1 --head ''
ends 4 '-: cannot open the program' $run -
is 'X' '' --in X=seq:2x2 --head 0
is 'X; s = 3; s' '1 2 / 3 4 / 3' --in X=seq:2x2 --head 7
"$CLFUSE" help >help.txt || fault 'help'
true_that 'help as a word' grep -q '^usage: clfuse run' help.txt
"$CLFUSE" info --help >help.txt || fault 'info --help'
true_that 'info --help' grep -q '^usage: clfuse run' help.txt

# sources
for bad in seq:x3 seq:3x seq:3 seq:3y3 seq:99999999999999999999x1 seq:1x99999999999999999999 seq:-1x3 seq::; do
    ends 2 'expected seq:ROWSxCOLS' $run -e 1 --in "X=$bad"
done
for bad in rand:3 rand:3x4: rand:3x4:x rand:3x4:-1 rand:3x4:1.5 rand:3x4:1: rand:3x4:1:-2 rand:3x4:1:99999999999999999999999 \
    rand:3x4:1:5x rand:3x4x5 rand:3x4:nan; do
    ends 2 'expected rand:' $run -e 1 --in "X=$bad"
done
ends 4 'too many cells' $run -e 1 --in X=seq:3000000000x3000000000000
ends 4 '' $run -e 1 --in X=rand:3000000000x3000000000000
for bad in powerlaw:3x4 powerlaw:3: powerlaw:3x4:2 powerlaw:3x4:-1 powerlaw:3x4:nan powerlaw:3x4:0.1:x powerlaw:3x4:0.1:5x; do
    ends 2 'expected powerlaw:' $run -e 1 --in "X=$bad"
done
ends 4 'too large' $run -e 1 --in X=powerlaw:3000000000x4:0.1
is 'sum(X == Y)' 12 --in X=rand:3x4:1:18446744073709551615 --in Y=rand:3x4:1:18446744073709551615
ends 4 'noending' $run -e X --in X=noending
ends 2 'the label column is empty' $run -e X --in X,y=a.csv:label=
ends 2 'labels need' $run -e X --in X,y=noending
ends 2 'only files have labels' $run -e X --in X,y=3
ends 4 '' $run -e X --in X=
printf '1 2:5\n-1 1:3\n' >a.svm
ends 4 'b.csv' $run -e X --in X,y=b.csv:label=nothere
printf '1,2\n3,4\n' >plain
is 'X' '1 2 / 3 4' --in X=plain --type csv --type csv
ends 2 'expected npy, mtx, csv or svm' $run -e 1 --in X=plain --type ''
: >empty.mtx
ends 4 'empty.mtx' $run -e X --in X=empty.mtx
printf '3\n' >5
is 'X + 1' 6 --in X=5
is 'X' 3 --in X=5 --type csv
dtype() {
    "$CLFUSE" run --json -e "$1" --in X=seq:2x3 --in I=plain.npy --dtype "$2" >type.json
    json type.json "d['results'][0]['dtype'] == '$3'"
}
is 'A = (X > 1) + (X > 2)' '' --in X=seq:1x3 --out A=plain.npy
dtype I f32 i32
dtype I f64 i32
dtype X f64 f64
dtype X f32 f32

# shapes without data
explain="$CLFUSE explain"
for bad in 3x3:2 3x3:x 3x3:-1 3x3:1:csrx 3x3:1: scalarx x3 3x 3x3:0.5:dense:csr; do
    ends 2 'expected ROWSxCOLS' $explain -e X --dims "X=$bad"
done
for good in 3x3 3x3:1 3x3:1:dense 3x3:0.5 3x3:1:csr 3x3:0.5:csc 3x3:0.5:dense scalar; do
    $explain -e 'X + 1' --dims "X=$good" >dims.out 2>dims.err || fault "--dims X=$good: $(cat dims.err)"
    true_that "--dims X=$good needs no note" [ -s dims.out -a ! -s dims.err ]
done
for later in 3x3:1:compressed 3x3:0.5:compressed; do
    $explain -e 'X + 1' --dims "X=$later" >dims.out 2>dims.err || fault "--dims X=$later"
    true_that "--dims X=$later says that it is planned dense" grep -q '^clfuse: note: X: planned as dense' dims.err
done
ends 4 'too many cells' $explain -e X --dims X=4000000000x4000000000
ends 2 "'Y' is in both" $explain -e 'X + Y' --in Z=1 --in Y=2 --dims Y=3x3
ends 2 "'X' is given twice" $explain -e X --dims X=3x3 --dims X=3x3
ends 4 '3x2 and 3x2' $explain -e 'X %*% X' --dims X=3x2

# profiles are devices, the first being device 0: one, two, too many, not there
printf 'name near\nlaunch_sync_ns 1000\n' >near.txt
printf 'name far\nkind 2\ntransfer_ns 1000\ntransfer_bytes_per_s 1e12\n' >far.txt
job='sum(log(sin(X) ^ 0.3 + exp(X ^ 2.5)))'
$explain -e "$job" --fuse cost --dims X=4000x4000 --profile near.txt >one.out || fault 'one profile'
true_that 'steps name the profile' grep -q ' on near$' one.out
printf 'launch_sync_ns 1000\n' >unnamed.txt
$explain -e "$job" --fuse cost --dims X=4000x4000 --profile ./unnamed.txt >one.out || fault 'a profile without a name'
true_that 'or its file' grep -q ' on unnamed.txt$' one.out
true_that 'nothing on a device that was not asked for' [ "$(grep -c far one.out)" = 0 ]
$explain -e "$job" --fuse cost --dims X=4000x4000 --profile near.txt --profile far.txt --format text >two.out || fault 'two profiles'
true_that 'work goes where it is cheap' grep -q ' on far$' two.out
true_that 'and is compared with the other device' grep -q '^ not   cost on near alone: ' two.out
$explain -e "$job" --fuse cost --dims X=4000x4000 --profile near.txt --profile far.txt --format json >two.json || fault 'two profiles in JSON'
true_that 'so in JSON' grep -q '"device": "far"' two.json
ends 2 'cannot be measured' $explain -e 'sum(X)' --in X=seq:9x9 --profile near.txt --profile far.txt --analyze
many=; for i in 1 2 3 4 5 6 7 8 9; do many="$many --profile near.txt"; done
ends 2 'profiles' $explain -e 'sum(X)' --dims X=9x9 $many
long=$(printf '%0300d' 1)
ends 4 'cannot open profile' $explain -e 'sum(X)' --dims X=9x9 --profile "$long"
printf 'speed 1\n' >odd.txt
ends 4 'odd.txt: ' $explain -e 'sum(X)' --dims X=9x9 --profile odd.txt

# where it goes
is 'a = X; a * 2; X' '2 4 / 1 2' --in X=seq:1x2 --out X=x.csv --out a=a.csv
true_that 'an input can be an output' cmp -s x.csv a.csv
ends 4 'a.nosuchtype' $run -e 'a = 1' --out a=a.nosuchtype
if [ -c /dev/full ] && [ -w /dev/full ]; then
    $explain -e 1 -o /dev/full 2>full.err; rc=$?
    true_that 'a plan on a full disk: exit 4' [ $rc -eq 4 ]
    true_that 'a plan on a full disk: said' grep -q '^clfuse: /dev/full: cannot write' full.err
    true_that 'the device is still one' [ -c /dev/full ]
    $run --json -e 'X' --in X=seq:2000x100 >/dev/full 2>full.err; rc=$?
    true_that 'json on a full disk: exit 4' [ $rc -eq 4 ]
    "$CLFUSE" info >/dev/full 2>full.err; rc=$?
    true_that 'info on a full disk: exit 4' [ $rc -eq 4 ]
fi
$explain -e 'X + Y' --in X=seq:2x2 --in Y=seq:3x3 -o never.txt 2>/dev/null && fault 'explain of a failing program'
true_that 'no file of a plan that failed' [ ! -e never.txt ]
mkdir -p plan
: >plan/old.txt
$explain -e 'X + Y' --in X=seq:2x2 --in Y=seq:2x2 -o plan/old.txt || fault 'explain into a file that is there'
true_that 'the file was replaced' grep -q '^ plan ' plan/old.txt

# messages stay on one line, names in JSON are escaped
name=$(printf 'a\tb\177c\nd')
ends 4 'a b c d' $run -e X --in "X=$name.npy"
"$CLFUSE" run --json -e 'x.y_1 = 2' >j.json
json j.json "d['results'][0]['name'] == 'x.y_1'"

# settings and devices of the environment
ends 2 'CLF_TIER' env CLF_TIER=nonsense "$CLFUSE" info
ends 2 'CLF_THREADS' env CLF_THREADS=many "$CLFUSE" run -e 1
ends 2 'CLF_CACHE_DIR' env CLF_CACHE_DIR="$long" "$CLFUSE" run -e 1
is 'sum(X)' 10 --in X=seq:2x2 --tier 0 --strategy chunk --fuse none --device host
is 'sum(exp(0 * X))' 4 --in X=seq:2x2 --tier auto --strategy auto --fuse all
CLF_TIER=0 "$CLFUSE" info --env >env.txt
true_that 'info --env shows what is set' grep -q '^CLF_TIER  *auto  *0 ' env.txt
OCL_ICD_VENDORS=/nonexistent-dir OCL_ICD_FILENAMES= CLF_DEVICE= "$CLFUSE" info >none.txt || fault 'info without devices'
true_that 'info says why there is no device' grep -q '^no OpenCL device: ' none.txt
OCL_ICD_VENDORS=/nonexistent-dir OCL_ICD_FILENAMES= "$CLFUSE" info --json >none.json
json none.json "len(d['devices']) == 1 and d['why_no_opencl'] and d['devices'][0]['default']"
ends 3 'no OpenCL device' env OCL_ICD_VENDORS=/nonexistent-dir OCL_ICD_FILENAMES= "$CLFUSE" run -e 'sum(X)' --in X=seq:2x2 --device gpu

printf 'launch_sync_ns 5000\nassumed 0\n' >measured.txt
if env CLF_DEVICE= "$CLFUSE" info | grep -q '^ 1 '; then
    env CLF_DEVICE=1 CLF_PROFILE_FILE=measured.txt "$CLFUSE" info >measured.out || fault 'info with a profile'
    true_that 'a measured device shows its figures' grep -q '^ 1 .* 5\.0  .*<- default' measured.out
    env CLF_DEVICE=1 CLF_PROFILE_FILE=measured.txt "$CLFUSE" info --json >measured.json
    json measured.json "d['devices'][1]['measured'] and d['devices'][1]['launch_us'] == 5 and not d['devices'][0]['default']"
    ends 4 'nothere.txt' env CLF_DEVICE=1 CLF_PROFILE_FILE=nothere.txt "$CLFUSE" run -e 'sum(X)' --in X=rand:300x300
    ends 4 'nothere.txt' env CLF_DEVICE=1 "$CLFUSE" explain -e 'sum(X)' --dims X=300x300 --profile nothere.txt
fi
finish
