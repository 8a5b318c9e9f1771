# SPDX-License-Identifier: Apache-2.0
"""Everyday expressions beside NumPy and SciPy: not what the library promises to be fast at, but what stands out.

    ./run bench --peers --suite survey [--shape tall] [--only WORD]

Every result is compared. A row says our median, the floor (bytes of operands and results over what sum(X) reads a second), ours over it, and
the peer's median over ours; what takes more than three times its floor, or longer than the peer, is marked."""
import argparse
import statistics
import sys
import time

import numpy as np
import scipy.sparse as sp
import scipy.special

sys.path.insert(0, "python")
import clfuse  # noqa: E402

ROUNDS, ENOUGH_S = 7, 3
SHAPES = {"tall": (1_000_000, 10), "mid": (100_000, 100), "wide": (10_000, 1_000), "flat": (100, 100_000)}
SPARSE = (100_000, 1_000, 0.05)

# Of dense X and Y, n x m, a column w, a column v of m and a row r; the text may name n and m, and half of them.
DENSE = [
    ("E = exp(X - rowMaxs(X)); E / rowSums(E)", lambda X: scipy.special.softmax(X, axis=1)),
    ("(X - colMeans(X)) / sqrt(colVars(X))", lambda X: (X - X.mean(0)) / X.std(0, ddof=1)),
    ("(X - rowMeans(X)) / sqrt(rowVars(X) + 1e-5)",
     lambda X: (X - X.mean(1, keepdims=True)) / np.sqrt(X.var(1, ddof=1, keepdims=True) + 1e-5)),
    ("t(X)", lambda X: np.ascontiguousarray(X.T)),
    ("X + t(t(X) * 2)", lambda X: X + (X.T * 2).T),
    ("cumsum(X)", lambda X: X.cumsum(0)),
    ("t(cumsum(t(X)))", lambda X: X.cumsum(1)),
    ("rowIndexMax(X)", lambda X: X.argmax(1) + 1.0),
    ("colMaxs(X); colMins(X); colMeans(X); colVars(X)", lambda X: (X.max(0), X.min(0), X.mean(0), X.var(0, ddof=1))),
    ("max(X); min(X); mean(X); var(X)", lambda X: (X.max(), X.min(), X.mean(), X.var(ddof=1))),
    ("sum(abs(X - Y)); sum((X - Y)^2); max(abs(X - Y))",
     lambda X, Y: (np.abs(X - Y).sum(), ((X - Y) ** 2).sum(), np.abs(X - Y).max())),
    ("rowSums(X * Y) / sqrt(rowSums(X^2) * rowSums(Y^2))",
     lambda X, Y: (X * Y).sum(1) / np.sqrt((X ** 2).sum(1) * (Y ** 2).sum(1))),
    ("X %*% v", lambda X, v: X @ v),
    ("t(X) %*% w", lambda X, w: X.T @ w),
    ("t(X) %*% (X %*% v - w)", lambda X, v, w: X.T @ (X @ v - w)),
    ("P = sigmoid(X %*% v); t(X) %*% (P - w); sum(log(P))",
     lambda X, v, w: (lambda P: (X.T @ (P - w), np.log(P).sum()))(scipy.special.expit(X @ v))),
    ("max(X, 0) + 0.01 * min(X, 0)", lambda X: np.maximum(X, 0) + 0.01 * np.minimum(X, 0)),
    ("ifelse(X > 0.5, X, Y)", lambda X, Y: np.where(X > 0.5, X, Y)),
    ("X[, 1:HM]", lambda X: X[:, :X.shape[1] // 2].copy()),
    ("X[1:HN, ]", lambda X: X[:X.shape[0] // 2].copy()),
    ("cbind(X, w)", lambda X, w: np.hstack([X, w])),
    ("rbind(X, Y)", lambda X, Y: np.vstack([X, Y])),
    ("rev(X)", lambda X: X[::-1].copy()),
    ("X * w + r", lambda X, w, r: X * w + r),
    ("colSums(X * w)", lambda X, w: (X * w).sum(0)),
    ("sum((X[2:N, ] - X[1:N1, ])^2)", lambda X: ((X[1:] - X[:-1]) ** 2).sum()),
    ("sum((X[, 2:M] - X[, 1:M1])^2)", lambda X: ((X[:, 1:] - X[:, :-1]) ** 2).sum()),
    ("matrix(X, rows=HN, cols=2M) * 2", lambda X: X.reshape(X.shape[0] // 2, -1) * 2),
    ("order(target=w)", lambda w: np.sort(w, axis=0)),
    ("diag(X %*% t(Y))", lambda X, Y: (X * Y).sum(1)),
    ("sum(diag(t(X) %*% Y))", lambda X, Y: (X * Y).sum()),
    ("X / colSums(X); X / rowSums(X)", lambda X: (X / X.sum(0), X / X.sum(1, keepdims=True))),
    ("sum(exp(X))", lambda X: np.exp(X).sum()),
    ("log(rowSums(exp(X)))", lambda X: np.log(np.exp(X).sum(1))),
    ("sin(X)^2 + cos(Y)^2", lambda X, Y: np.sin(X) ** 2 + np.cos(Y) ** 2),
    ("X ^ 1.7", lambda X: X ** 1.7),
]
# Where a product of n x m by m x n would be too much.
SQUARE = [
    ("t(X) %*% (w * X)", lambda X, w: X.T @ (w * X)),
    ("sum(t(X) %*% Y); rowSums(t(X) %*% Y)", lambda X, Y: (lambda P: (P.sum(), P.sum(1)))(X.T @ Y)),
]
# Of sparse S and T, n x m, and dense columns w, v, matrices U (n x 8) and W (m x 8), a row r.
ENTRIES = [
    ("S %*% v", lambda S, v: S @ v),
    ("t(S) %*% w", lambda S, w: S.T @ w),
    ("S %*% W", lambda S, W: S @ W),
    ("t(S) %*% U", lambda S, U: S.T @ U),
    ("t(S) %*% (S %*% v)", lambda S, v: S.T @ (S @ v)),
    ("t(S) %*% (S %*% W)", lambda S, W: S.T @ (S @ W)),
    ("P = sigmoid(S %*% v); t(S) %*% (P - w)", lambda S, v, w: S.T @ (scipy.special.expit(S @ v) - w)),
    ("rowSums(S); colSums(S); sum(S)", lambda S: (S.sum(1), S.sum(0), S.sum())),
    ("sum(S^2); max(S); min(S)", lambda S: (S.multiply(S).sum(), S.max(), S.min())),
    ("rowMaxs(S)", lambda S: S.max(1).toarray()),
    ("colMaxs(S)", lambda S: S.max(0).toarray()),
    ("sum(S * T)", lambda S, T: S.multiply(T).sum()),
    ("rowSums(S * r)", lambda S, r: S.multiply(r).sum(1)),
    ("colSums(S * w)", lambda S, w: S.multiply(w).sum(0)),
    ("sum(abs(S)); sum(S > 0.5)", lambda S: (abs(S).sum(), (S > 0.5).sum())),
    ("sum(S[, 1:100])", lambda S: S[:, :100].sum()),
    ("t(S[1:1000, ]) %*% (S[1:1000, ] %*% v)", lambda S, v: S[:1000].T @ (S[:1000] @ v)),
    ("diag(S %*% t(T))", lambda S, T: S.multiply(T).sum(1)),
    ("t(S) %*% S", lambda S: (S.T @ S).toarray()),
    ("t(S) %*% (w * S)", lambda S, w: (S.T @ S.multiply(w).tocsr()).toarray()),
    ("S * 2", lambda S: S * 2),
]


def size(x):
    return x.data.nbytes + x.indices.nbytes + x.indptr.nbytes if sp.issparse(x) else np.asarray(x).nbytes


def median(call):
    """Milliseconds; of fewer rounds where these are enough."""
    took = []
    while len(took) < ROUNDS and sum(took) < ENOUGH_S:
        start = time.perf_counter()
        call()
        took.append(time.perf_counter() - start)
    return statistics.median(took) * 1e3


def same(ours, theirs):
    if not isinstance(ours, (tuple, list)):
        ours, theirs = (ours,), (theirs,)
    for a, b in zip(ours, theirs):
        a, b = (x.toarray() if sp.issparse(x) else np.asarray(x, dtype=float) for x in (a, b))
        if a.size != b.size or not np.allclose(a.ravel(), b.ravel(), rtol=1e-9, atol=1e-9 * max(1.0, np.abs(b).max(initial=0))):
            return False
    return True


class Survey:
    def __init__(self, only):
        self.ctx = clfuse.Context(compile="wait")
        self.only, self.different = only, 0
        x = self.ctx.put(np.ones((1 << 14, 1 << 9)))
        total = self.ctx.function("sum(X)", X=x)
        total(X=x)
        self.ms_a_byte = median(lambda: total(X=x)) / (8 << 23)

    def row(self, text, peer, given):
        if self.only not in text:
            return
        names = peer.__code__.co_varnames[:peer.__code__.co_argcount]
        arrays = {name: given[name] for name in names}
        placed = {name: self.ctx.put(a) for name, a in arrays.items()}
        f = self.ctx.function(text, **placed)
        result, theirs = f(**placed), peer(**arrays)
        good = same(result, theirs)
        self.different += not good
        f(**placed)
        moved = sum(size(a) for a in arrays.values()) + sum(size(r) for r in (result if isinstance(result, (tuple, list)) else [result]))
        ours, peers, floor = median(lambda: f(**placed)), median(lambda: peer(**arrays)), moved * self.ms_a_byte
        mark = "  <" if ours > 0.1 and (ours > 3 * floor or ours > peers) else ""
        print(f"{text:58.58s}{ours:10.2f} ms{ours / floor:9.1f} of floor{peers / ours:9.1f} to peer{mark}{'' if good else '  DIFFERS'}",
              flush=True)

    def dense(self, shape):
        n, m = SHAPES[shape]
        rng = np.random.default_rng(1)
        given = {"X": rng.random((n, m)) + 0.1, "Y": rng.random((n, m)), "w": rng.random((n, 1)), "v": rng.random((m, 1)),
                 "r": rng.random((1, m))}
        print(f"{shape}: {n} x {m}")
        for text, peer in DENSE + (SQUARE if m <= 1000 else []):
            for name, number in (("HN", n // 2), ("HM", m // 2), ("N1", n - 1), ("M1", m - 1), ("2M", 2 * m), (":N", f":{n}"), (":M", f":{m}")):
                text = text.replace(name, str(number))
            self.row(text, peer, given)

    def sparse(self):
        n, m, density = SPARSE
        rng = np.random.default_rng(1)
        S, T = (sp.random(n, m, density=density, format="csr", random_state=k) for k in (1, 2))
        given = {"S": S, "T": T, "w": rng.random((n, 1)), "v": rng.random((m, 1)), "r": rng.random((1, m)), "U": rng.random((n, 8)),
                 "W": rng.random((m, 8))}
        print(f"sparse: {n} x {m}, {density}")
        for text, peer in ENTRIES:
            self.row(text, peer, given)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--suite", choices=["survey"])
    p.add_argument("--shape", choices=[*SHAPES, "sparse"])
    p.add_argument("--only", default="", help="expressions that contain this")
    o = p.parse_args()
    s = Survey(o.only)
    for shape in SHAPES:
        if o.shape in (None, shape):
            s.dense(shape)
    if o.shape in (None, "sparse"):
        s.sparse()
    return s.different > 0


if __name__ == "__main__":
    sys.exit(main())
