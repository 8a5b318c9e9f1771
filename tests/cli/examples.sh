#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The examples as programs: l2svm's command line, its messages and exit codes, its result on a real data set where there is one; the
# tour at tiny sizes, where every workload is still checked.
here=$(cd "$(dirname "$0")/../.." && pwd)
examples=$(cd "$(dirname "$CLFUSE")/examples" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
fail() { echo "$*"; cat out.txt err.txt 2>/dev/null; exit 1; }
# expect CODE WORDS ARGUMENTS...: l2svm exits with the code and its stderr says the words, in one line.
expect() {
    code=$1; words=$2; shift 2
    "$examples/l2svm" "$@" >out.txt 2>err.txt; rc=$?
    [ $rc -eq "$code" ] || fail "l2svm $*: exit code $rc, not $code"
    [ -z "$words" ] || grep -q "$words" err.txt || fail "l2svm $*: no '$words' in the message"
    [ $rc -ne 4 ] || [ "$(wc -l <err.txt)" -eq 1 ] || fail "l2svm $*: the message has more than one line"
}
"$examples/l2svm" --help >out.txt 2>err.txt && grep -q '^usage: l2svm' out.txt || fail "help prints no usage"
printf 'a,b,class,same\n1,2,no,3\n2,1,yes,3\n3,4,no,3\n4,2,yes,3\n' >four.csv
expect 2 'unrecognized option' --nonsense
expect 2 'label' four.csv
expect 2 'positive number' four.csv --label class --lambda -1
expect 4 'no-such-file.csv' no-such-file.csv --label class
expect 4 'Eye' four.csv --label Eye
expect 4 'column 3 (of 3, the label not counted) is constant' four.csv --label class
expect 4 "'no' is not a number" four.csv --label same
printf 'a,b,class\n1,2,5\n2,1,5\n3,4,5\n' >three.csv
expect 4 'single class' three.csv --label class
expect 4 'more than two classes' three.csv --label a
expect 4 'device' four.csv --label class --device no-such-device
expect 0 '' four.csv --label class --no-standardise --device host
grep -q '4 rows, 3 features' out.txt || fail "the report does not tell the size"
expect 1 '' four.csv --label class --no-standardise --max-iterations 1 --device host
grep -q 'STOPPED' out.txt || fail "a training that did not converge does not say so"

data=${CLF_TEST_DATA:-$here/../shared/data}/eeg.csv
if [ -f "$data" ]; then
    "$examples/tour" "$data" --label Eye --device host >out.txt 2>err.txt || fail "tour FILE: exit code $?"
    grep -q 'objective 6712.1[78].*accuracy 0.644' out.txt || fail "eeg: another result"
fi

"$examples/tour" --nonsense >out.txt 2>err.txt; [ $? -eq 2 ] || fail "tour --nonsense: exit code is not 2"
"$examples/tour" --quick --device host >out.txt 2>err.txt || fail "the tour fails"
[ "$(grep -c ' -> .* MB' out.txt)" -eq 6 ] || fail "the tour's table does not have six rows"
grep -q '</svg>' out/plan.svg || fail "the tour drew no plan"
