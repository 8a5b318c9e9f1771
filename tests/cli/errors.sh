#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every class of bad input: its exit code, and one line that names what and where.
. "$(dirname "$0")/support/check.sh"
cd "$work" || exit 1
run="$CLFUSE run"

# 2: command line
ends 2 'no subcommand' "$CLFUSE"
ends 2 "unknown subcommand 'rnu'" "$CLFUSE" rnu
commands=$("$CLFUSE" --help | sed -n 's/^[a-z: ]* clfuse \([a-z]*\) .*/\1/p' | sort -u)
true_that 'help names subcommands' [ "$(echo $commands | wc -w)" -ge 3 ]
for command in $commands; do ends 2 "$command" "$CLFUSE"; done
ends 2 'no program' $run
ends 2 'both given' $run -e 1 file.clf
ends 2 "unexpected 'b'" $run a b
ends 2 "unknown option '--frobnicate'" $run -e 1 --frobnicate
ends 2 "unknown option '--out'" "$CLFUSE" explain -e 1 --out a=b.npy
ends 2 'needs a value' $run -e
ends 2 'takes no value' $run -e 1 --json=yes
ends 2 'is given twice' $run -e 1 -e 2
ends 2 "'X' is given twice" $run -e 1 --in X=1 --in X=2
ends 2 'expected NAME=SOURCE' $run -e 1 --in X
ends 2 'expected NAME=SOURCE' $run -e 1 --in 2X=1
ends 2 'expected seq:ROWSxCOLS' $run -e 1 --in X=seq:3
ends 2 'expected seq:ROWSxCOLS' $run -e 1 --in X=seq:3x4x5
ends 2 'expected rand:' $run -e 1 --in X=rand:3x4:2
ends 2 'expected rand:' $run -e 1 --in X=rand:3x4:1:abc
ends 2 'only files have labels' $run -e 1 --in X,y=seq:2x2
ends 2 'labels need' $run -e 1 --in X,y=a.csv
ends 2 'no file was named before it' $run -e 1 --type csv
ends 2 'expected npy, mtx, csv or svm' $run -e 1 --in X=a --type txt
ends 2 'expected one of error, drop, nan' $run -e 1 --na ignore
ends 2 'expected a number of rows' $run -e 1 --head many
ends 2 'no variable of that name' $run -e 'a = 1' --out b=b.npy
ends 2 'expected one of f64, f32' $run -e 1 --dtype f16
ends 2 'expected one of auto, 0, 1, 2' $run -e 1 --tier 3
ends 2 'expected one of auto, chunk' $run -e 1 --strategy zigzag
ends 2 'expected one of none, all, nored, cost' $run -e 1 --fuse some
ends 2 'expected one of text, dot, svg, json' "$CLFUSE" explain -e 1 --format pdf
ends 2 'expected ROWSxCOLS' "$CLFUSE" explain -e X --dims X=3
ends 2 'expected ROWSxCOLS' "$CLFUSE" explain -e X --dims X=3x3:0.5:blocked
ends 2 'needs data' "$CLFUSE" explain -e 'sum(X)' --dims X=3x3 --analyze
ends 2 'both --in and --dims' "$CLFUSE" explain -e 'sum(X)' --dims X=3x3 --in X=seq:3x3
ends 2 'CLF_FUSE' env CLF_FUSE=sideways "$CLFUSE" run -e 1

# 2: program text
ends 2 'line 1, column 4: expected a value' $run -e '1 +'
ends 2 "line 2, column 3: no variable 'y'" $run -e 'x = 1
x+y'
ends 2 "no function 'smu' (did you mean 'sum'?)" $run -e 'smu(1)'
ends 2 "no variable 'weigth' (did you mean 'weight'?)" $run -e 'weigth' --in weight=1
ends 2 "'pi' is a constant" $run -e 'pi = 3'
ends 2 "'pi' is a constant" $run -e 'pi' --in pi=3
ends 2 'the program is empty' $run -e ' # nothing'
ends 2 'takes 1 argument' $run -e 'exp(1, 2)'
printf '1 + 1\0garbage' >nul.clf
ends 2 'NUL byte' $run nul.clf
printf 'x = 1\n(x' >open.clf
ends 2 'open.clf: line 2, column 3' $run open.clf
{ head -c 100000 /dev/zero | tr '\0' '('; } >deep.clf
ends 2 'expected a value' $run deep.clf

# 3: no device
ends 3 'nosuchdevice' $run -e 'sum(X)' --in X=seq:2x2 --device nosuchdevice

# 4: files
ends 4 'nothere.npy' $run -e X --in X=nothere.npy
ends 4 'nothere.clf' $run nothere.clf
ends 4 '' $run .
printf 'garbage' >bad.npy
ends 4 'bad.npy' $run -e X --in X=bad.npy
printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 3), }" >huge.npy
ends 4 'huge.npy' $run -e X --in X=huge.npy
printf '\223NUMPY\001\000v\000%-117s\n12345' "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }" >cut.npy
ends 4 'cut.npy' $run -e X --in X=cut.npy
printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<c16', 'fortran_order': False, 'shape': (0, 3), }" >complex.npy
ends 4 'complex.npy' $run -e X --in X=complex.npy
printf '1,2\n3,x\n' >text.csv
ends 4 'text.csv' $run -e X --in X=text.csv
printf '1,2\n3\n' >ragged.csv
ends 4 'ragged.csv' $run -e X --in X=ragged.csv
printf '1,2\n3,\0\n' >nul.csv
ends 4 'nul.csv' $run -e X --in X=nul.csv
printf '%%%%MatrixMarket matrix array real general\n3 3\n1\n2\n' >short.mtx
ends 4 'short.mtx' $run -e X --in X=short.mtx
printf '%%%%MatrixMarket matrix coordinate real general\n3000000000 3000000000 1\n1 1 1\n' >vast.mtx
ends 4 'vast.mtx' $run -e X --in X=vast.mtx
printf 'abc' >what.ever
ends 4 'what.ever' $run -e X --in X=what.ever
ends 4 'nofolder' $run -e 'a = 1' --out a=nofolder/a.npy
ends 4 'cannot write' "$CLFUSE" explain -e 1 -o nofolder/plan.svg

# 4: shapes, types, memory, limits
ends 4 '%*%: 2x3 and 2x3' $run -e 'X %*% X' --in X=seq:2x3
ends 4 'line 1, column 3: +: ' $run -e 'X + t(X)' --in X=seq:2x3
ends 4 'rows 3:3 of a matrix with 2' $run -e 'X[3, ]' --in X=seq:2x3
ends 4 'must be known' $run -e 'X[sum(X), ]' --in X=seq:2x3
ends 4 '' $run -e 'rowSums(rand(rows=3000000000, cols=3000000000))'
ends 4 '' env CLF_MEM_LIMIT=1G "$CLFUSE" run -e 'seq(1, 2000000) %*% t(seq(1, 2000000))'
ends 4 '' env CLF_MEM_LIMIT=1M "$CLFUSE" run -e 'X + 1' --in X=rand:1000x1000
ends 4 'too many cells' $run -e X --in X=seq:9000000000x9000000000
finish
