#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# convert: every format into every other and back, files that NumPy and SciPy wrote, estimated sizes near the real ones.
. "$(dirname "$0")/support/check.sh"
cd "$work" || exit 1

"$CLFUSE" run -e 'round(100 * X)' --in X=rand:40x7:0.3:5 --out R=d.npy >/dev/null 2>&1
"$CLFUSE" run -e 'R = round(100 * X)' --in X=rand:40x7:0.3:5 --out R=first.mtx || fault 'the first matrix is not written'
sum=$("$CLFUSE" run -e 'sum(X * seq(1, 40)); nrow(X); ncol(X)' --in X=first.mtx)
for from in mtx npy csv svm; do
    [ $from = mtx ] || true_that "mtx to $from" "$CLFUSE" convert first.mtx "a.$from"
    [ $from = mtx ] && cp first.mtx a.mtx
    for to in mtx npy csv svm; do
        true_that "$from to $to" "$CLFUSE" convert "a.$from" "b.$to"
        [ $to = svm ] && continue # its last columns may be empty, and are then not written
        [ $from = svm ] && continue
        got=$("$CLFUSE" run -e 'sum(X * seq(1, 40)); nrow(X); ncol(X)' --in "X=b.$to")
        true_that "$from to $to keeps the matrix: '$got', not '$sum'" [ "$got" = "$sum" ]
    done
done

# The estimates are within a third of what is written.
"$CLFUSE" run -e 'R = X' --in X=rand:2000x300:0.02:9 --out R=big.mtx
"$CLFUSE" convert big.mtx >sizes || fault 'convert FILE prints no sizes'
for to in npy csv mtx svm; do
    "$CLFUSE" convert big.mtx big2.$to || fault "big.mtx to $to"
    checks=$((checks + 1))
    awk -v real="$(wc -c <big2.$to)" -v to=".$to" '$1 == to { x = $3 * ($4 == "kB" ? 1e3 : $4 == "MB" ? 1e6 : 1); exit !(x > real / 1.34 && x < real * 1.34) }
        END { if (!x) exit 1 }' sizes || fault "the estimate for $to is far off: $(wc -c <big2.$to) bytes; $(cat sizes)"
done

printf 'a,b,class\n1,2,7\n3,,8\n5,6,9\n' >l.csv
true_that 'labels' "$CLFUSE" convert l.csv x.npy --label class --na drop -o y.npy
is 'X; y' '1 2 / 5 6 / 7 / 9' --in X=x.npy --in y=y.npy
cp x.npy x.dat
true_that '--type' "$CLFUSE" convert x.dat --type npy x2.csv
is 'X' '1 2 / 5 6' --in X=x2.csv

python=python3
[ -x /usr/bin/python3 ] && python=/usr/bin/python3 # the one that packages belong to
if $python -c 'import numpy, scipy.io' 2>/dev/null; then
    $python - <<'P' || fault 'NumPy and SciPy do not write their files'
import numpy as np, scipy.io, scipy.sparse as sp
rng = np.random.default_rng(3)
x = rng.integers(-9, 9, (6, 5))
for t in ("f4", "f8", "i4", "i8", "u1"):
    np.save(f"n_{t}.npy", np.abs(x).astype(t))
np.save("n_f.npy", np.asfortranarray(x.astype("f8")))
s = sp.random(6, 5, 0.4, random_state=1)
scipy.io.mmwrite("s_coo.mtx", s)
scipy.io.mmwrite("s_dense.mtx", x.astype("f8"))
scipy.io.mmwrite("s_int.mtx", sp.coo_matrix(x))
scipy.io.mmwrite("s_sym.mtx", sp.coo_matrix(x[:5] + x[:5].T), symmetry="symmetric")
scipy.io.mmwrite("s_pat.mtx", s, field="pattern")
np.savetxt("n.csv", x, delimiter=",")
want = {f"n_{t}.npy": np.abs(x).sum() for t in ("f4", "f8", "i4", "i8", "u1")}
want |= {"n_f.npy": x.sum(), "s_coo.mtx": s.sum(), "s_dense.mtx": x.sum(), "s_int.mtx": x.sum(), "s_sym.mtx": 2 * x[:5].sum(),
         "s_pat.mtx": s.nnz, "n.csv": x.sum()}
with open("want", "w") as f:
    f.writelines(f"{k} {float(v)!r}\n" for k, v in want.items())
P
    while read -r file value; do
        true_that "$file, as NumPy or SciPy wrote it, to csv" "$CLFUSE" convert "$file" back.csv
        near 'sum(X)' "$value" --in "X=$file"
        near 'sum(X)' "$value" --in X=back.csv
    done <want
fi
ends 2 'no file' "$CLFUSE" convert
ends 2 "unexpected 'c'" "$CLFUSE" convert a.mtx b c
ends 4 'nosuch.npy' "$CLFUSE" convert nosuch.npy b.csv
finish
