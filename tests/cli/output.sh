#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What is printed: text, --head, --json, explain in all formats, info, help; and that a closed pipe is an error, not a crash.
. "$(dirname "$0")/support/check.sh"
cd "$work" || exit 1

is 'X / 3' '0.33333333333333331 0.66666666666666663 / 1 1.3333333333333333' --in X=seq:2x2
is 'cbind(1 / 0, -1 / 0, 0 / 0)' 'Inf -Inf NaN'
is 'X' '1 2 / 3 4' --in X=seq:5x2 --head 2
is 'sum(X); X' '55 / 1 2' --in X=seq:5x2 --head 1
is 'a = 1; b = 2' 2
is 'a = 1; b = 2; a' 1
is 'a = 1; b = 2' '' --out a=a.npy
is 'a = 1; b = 2; a + b' 3 --out a=a.npy
is 'X > 2' '0 0 / 1 1' --in X=seq:2x2
is 'sum(X > 2)' 2 --in X=seq:2x2
is 'matrix(0, rows=0, cols=3)' ''

"$CLFUSE" run --json -e 'sum(X); X / 2; NaN; b = 7' --in X=seq:2x2 >r.json
json r.json "d['schema'] == 1 and d['time_ms'] >= 0 and len(d['results']) == 3"
json r.json "d['results'][0] == {'name': None, 'rows': 1, 'cols': 1, 'dtype': 'f64', 'format': 'dense', 'value': 10}"
json r.json "d['results'][1]['value'] == [[0.5, 1], [1.5, 2]] and d['results'][1]['rows'] == 2"
json r.json "d['results'][2]['value'] == 'NaN'"
"$CLFUSE" run --json -e 'b = cbind(1/0, -1/0, 0.1)' >b.json
json b.json "d['results'][0]['name'] == 'b' and d['results'][0]['value'] == [['Inf', '-Inf', 0.1]]"

"$CLFUSE" run --explain -e 'sum(X * Y)' --in X=seq:2x2 --in Y=seq:2x2 >e.out 2>e.err
true_that 'run --explain prints the result on stdout' [ "$(cat e.out)" = 30 ]
true_that 'run --explain prints the plan on stderr' [ -s e.err ]

program='a = X * Y; b = sum(a + Z); c = X - Y'
for format in text dot svg json; do
    "$CLFUSE" explain -e "$program" --dims X=1000x100 --dims Y=1000x100 --dims Z=1000x100 --format $format >plan.$format 2>plan.err ||
        fault "explain --format $format: $(cat plan.err)"
    "$CLFUSE" explain -e "$program" --in X=seq:20x10 --in Y=seq:20x10 --in Z=rand:20x10 --format $format -o file.$format ||
        fault "explain --in --format $format"
    true_that "explain --format $format gives something" [ -s plan.$format ]
    true_that "explain -o writes the file" [ -s file.$format ]
done
true_that 'svg is svg' grep -q '<svg' plan.svg
true_that 'dot is a digraph' grep -q 'digraph' plan.dot
keys="'id kind template skeleton device driver covers inputs reads_bytes writes_bytes flops predicted_ns measured_ns tier launches'.split()"
json plan.json "d['schema'] == 1 and len(d['steps']) >= 1 and all(k in s for s in d['steps'] for k in $keys)"
json plan.json "all(k in d for k in 'roots transfers predicted_ns peak_bytes alternatives cuts'.split())"
json plan.json "all(s['measured_ns'] is None for s in d['steps'])"
"$CLFUSE" explain -e 'sum(X * s)' --dims X=10x10 --dims s=scalar --format json >s.json
json s.json "len(d['roots']) == 1"
"$CLFUSE" explain -e 'sum(X * Y)' --in X=seq:20x10 --in Y=seq:20x10 --analyze --format json >a.json
json a.json "any(s['measured_ns'] is not None for s in d['steps'])"
"$CLFUSE" explain -e 'sum(X * Y)' --in X=seq:20x10 --in Y=seq:20x10 --memo --kernel >memo.txt || fault 'explain --memo --kernel'
"$CLFUSE" explain -e 'sum(X)' --dims X=10x10:0.1 >csr.out 2>csr.err
true_that 'sparse --dims need no note' [ ! -s csr.err ]
true_that 'sparse --dims say what is stored' grep -q 'csr, 10 entries' csr.out

"$CLFUSE" info >info.txt || fault 'info'
true_that 'info names the host device' grep -q 'host' info.txt
"$CLFUSE" info --json >info.json
json info.json "d['version'] and d['devices'][0]['index'] == 0"
"$CLFUSE" info --env >env.txt || fault 'info --env'
for name in CLF_DEVICE CLF_FUSE CLF_TIER CLF_LOG CLF_DUMP; do true_that "info --env lists $name" grep -q "^$name " env.txt; done
for what in --help -h 'run --help' 'explain --help' --version; do
    # shellcheck disable=SC2086
    "$CLFUSE" $what >help.txt 2>help.err || fault "$what fails"
    true_that "$what prints on stdout only" [ -s help.txt -a ! -s help.err ]
done

{ "$CLFUSE" run -e X --in X=rand:2000x100 2>pipe.err; echo $? >pipe.rc; } | head -n 1 >/dev/null
true_that 'a closed pipe: exit 4' [ "$(cat pipe.rc)" = 4 ]
true_that 'a closed pipe: one line' [ "$(wc -l <pipe.err)" = 1 ]
if [ -w /dev/full ]; then
    "$CLFUSE" run -e 1 >/dev/full 2>full.err; rc=$?
    true_that 'a full disk: exit 4' [ $rc -eq 4 ]
fi
finish
