# SPDX-License-Identifier: Apache-2.0
"""What is compared: a row per case of the suites micro and ml and of the factorisation, under the names of `clfuse bench`.

A row: name, suite, data (a function of the size factor giving the variables), ours (our language), and per peer its form (forms.py): a
function, or several of which the fastest is taken; a name, where the peer is a program of its own. Missing keys: the peer has no such
form, or none that is better than another listed peer's. record_*, plan_* and loop_* are about our own steps only and have no row. Dense
data are in [0.5, 1.5), so that every difference is relative."""
import numpy as np
from scipy import sparse

import forms as f


def dense(rows, cols, which=0, dtype=np.float64):
    """The same numbers anywhere: also SystemDS makes them, by this formula."""
    i = np.arange(rows * cols, dtype=np.float64)
    return (np.mod(i * (7919 + 2 * which), 10007) / 10007 + 0.5).reshape(rows, cols).astype(dtype, copy=False)


def random_csr(rows, cols, share, seed=1, power=0.0):
    """Entries at random; with a power the rows' shares fall by it, over shuffled rows."""
    rng = np.random.default_rng(seed)
    weight = np.power(np.arange(rows) * 7919 % rows + 1.0, -power)
    count = rng.binomial(cols, np.minimum(0.5, share * weight * (rows / weight.sum())))
    indptr = np.concatenate([[0], np.cumsum(count)])
    columns = rng.integers(0, cols, indptr[-1], dtype=np.int32)
    x = sparse.csr_matrix((rng.random(indptr[-1]) + 0.5, columns, indptr), shape=(rows, cols))
    x.sum_duplicates()
    x.sort_indices()
    return x


CELLS = 2e7  # of a dense X


def arrays(names, cols, dtype, rows=None):
    return lambda size: {k: dense(rows or int(CELLS * size) // cols, cols, i, dtype) for i, k in enumerate(names)}


def xvw(cols, k):
    def make(size):
        rows = int(CELLS * size) // cols // (2 if k > 2 else 1)
        return {"X": dense(rows, cols, 0), "V": dense(cols, k, 1), "W": dense(rows, k, 2)}
    return make


def sparse_x(n, m, share, k, names, power=0.0):
    """X beside U or W (n x k) and V (m x k)."""
    def make(size):
        rows, cols = int(n * size**0.5), int(m * size**0.5)
        sides = {"U": (rows, k, 1), "V": (cols, k, 1 if k == 1 else 2), "W": (rows, k, 2)}
        return {"X": random_csr(rows, cols, share, power=power), **{s: dense(*sides[s]) for s in names}}
    return make


def three_sparse(n, m, share):
    return lambda size: {k: random_csr(int(n * size**0.5), int(m * size**0.5), share, i) for i, k in enumerate("XYZ")}


def case(suite, name, data, ours, **peers):
    return dict(peers, name=name, suite=suite, data=data, ours=ours)


# ---- the cases

def cells(dtype):
    """The suite micro beyond the caches, in one type. SystemDS and the peers in C have f64 only."""
    wide, end = dtype == np.float64, "" if dtype == np.float64 else "_f32"

    def micro(name, names, ours, systemds=None, cols=1000, **peers):
        peers = {k: v for k, v in dict(peers, systemds=systemds).items() if v and (wide or k in ("numpy", "numexpr", "scipy", "jax"))}
        return case("micro", name + end, arrays(names, cols, dtype), ours, **peers)

    rows = [
        micro("sum_xyz", "XYZ", "sum(X*Y*Z)", "R = as.matrix(sum(X*Y*Z))", numpy=(f.np_sum_xyz, f.np_sum_xyz_dot), numexpr=f.ne_sum_xyz,
              jax=(f.jax_sum_xyz, f.jax_sum_xyz_dot), blas="sum_xyz", viennacl="sum_xyz", boost="sum_xyz"),
        micro("three_aggs", "XYZ", "sum(X*Y); sum(X*Z); sum(X^2)",
              "R = cbind(as.matrix(sum(X*Y)), as.matrix(sum(X*Z)), as.matrix(sum(X^2)))",
              numpy=f.np_three_aggs, jax=(f.jax_three_aggs, f.jax_three_dots), blas="three_aggs", viennacl="three_aggs",
              boost="three_aggs"),
        micro("tap", "XYZ", "A = X*Y + Z; sum(A); A", numpy=f.np_tap, numexpr=f.ne_tap, jax=f.jax_tap, blas="tap", viennacl="tap",
              boost="tap"),
        micro("no_agg", "XYZ", "X*Y + Z", "R = X*Y + Z", numpy=f.np_no_agg, numexpr=f.ne_no_agg, jax=f.jax_no_agg, blas="no_agg",
              viennacl="no_agg", boost="no_agg"),
        micro("sigmoid_loss", "XYZ", "sum(Z*log(1 + exp(-X*Y)))", "R = as.matrix(sum(Z*log(1 + exp(-X*Y))))", numpy=f.np_sigmoid,
              numexpr=f.ne_sigmoid, jax=(f.jax_sigmoid, f.jax_sigmoid_log1p), viennacl="sigmoid_loss", boost="sigmoid_loss"),
        micro("black_scholes", "XYZ", f.OPTIONS, scipy=f.sp_options, jax=(f.jax_options, f.jax_options_erf), boost="black_scholes"),
    ]
    for kind in ("row", "col"):
        for cols in (10, 100, 1000, 10000):
            rows.append(micro("%s_agg_%d" % (kind, cols), "XY", "%sSums(X*Y)" % kind, "R = %sSums(X*Y)" % kind, cols=cols,
                              numpy=getattr(f, "np_%s_agg" % kind), numexpr=getattr(f, "ne_%s_agg" % kind),
                              jax=getattr(f, "jax_%s_agg" % kind), **({"blas": "row_agg"} if kind == "row" else {})))
    return rows


def tiny():
    """One call on next to nothing: what a call costs, in Python."""
    rows = [case("micro", "tiny_%d" % n, arrays("XYZ", 1, np.float64, n), "sum(X*Y*Z)", tiny=True, numpy=(f.np_sum_xyz, f.np_sum_xyz_dot),
                 numexpr=f.ne_sum_xyz, jax=f.jax_sum_xyz) for n in (1000, 4000, 16000)]
    twenty = "(((((((((X*Y+Z)*Y+Z)*Y+Z)*Y+Z)*Y+Z)*Y+Z)*Y+Z)*Y+Z)*Y+Z)*Y+Z"
    return rows + [case("micro", "call20", arrays("XYZ", 8, np.float64, 1), twenty, tiny=True, numpy=f.np_twenty, numexpr=f.ne_text(twenty),
                        jax=f.jax_twenty)]


def chains():
    def chain(name, cols, k):
        return case("ml", name, xvw(cols, k), f.CHAIN, numpy=f.np_chain, jax=(f.jax_chain, f.jax_chain_rows), blas="chain",
                    viennacl="chain", systemds="R = " + f.CHAIN)
    return [chain("mvchain_%d" % m, m, 1) for m in (10, 100, 1000, 10000)] + [chain("mmchain_k%d" % k, 100, k) for k in (2, 8, 32)] + [
        case("ml", "mlogreg_k8", xvw(100, 8), "P = W * (X %*% V); t(X) %*% (P - W * rowSums(P))", numpy=f.np_mlogreg, jax=f.jax_mlogreg,
             blas="mlogreg", systemds="P = W * (X %*% V); R = t(X) %*% (P - W * rowSums(P))")]


def vectors():
    spmv = dict(scipy=f.sp_spmv, jax=f.jax_spmv, viennacl="spmv", systemds="R = X %*% V")
    return [case("ml", "spmv", sparse_x(100000, 100000, 1e-3, 1, "V"), "X %*% V", **spmv),
            case("ml", "sp_mvchain", sparse_x(100000, 100000, 1e-3, 1, "VW"), f.CHAIN, scipy=(f.sp_chain, f.sp_chain_twin),
                 jax=f.jax_sp_chain, systemds="R = " + f.CHAIN),
            case("ml", "spmv_powerlaw", sparse_x(100000, 100000, 1e-3, 1, "V", 0.7), "X %*% V", **spmv)]


OUTERS = {"loss": ("sum(X * log(U %*% t(V) + 1e-15))", f.sp_loss, f.jax_loss),
          "right": ("(X * (U %*% t(V))) %*% V", f.sp_right, f.jax_right),
          "left": ("t(X * (U %*% t(V))) %*% U", f.sp_left + f.sp_left_twin, f.jax_left)}


def outer(name, what, n, share, rank):
    ours, scipy, jax = OUTERS[what]
    return case("ml", name, sparse_x(n, n, share, rank, "UV"), ours, scipy=scipy, jax=jax,
                systemds="R = as.matrix(%s)" % ours if what == "loss" else "R = " + ours)


def outers():
    rows = [outer("outer_%s_r%d_d%s" % (what, rank, share), what, n, float(share), rank)
            for share, n in (("0.1", 4000), ("0.01", 20000), ("0.001", 50000), ("0.0001", 100000)) for what in OUTERS for rank in (10, 100)]
    rows.append(outer("outer_loss_unfused", "loss", 10000, 1e-4, 10))
    rows += [case("ml", "sp3_sum_d%s" % share, three_sparse(n, 10000, float(share)), "sum(X*Y*Z)", scipy=f.sp_three,
                  systemds="R = as.matrix(sum(X*Y*Z))") for share, n in (("0.1", 4000), ("0.01", 40000))]
    return rows + [outer("outer_memory_" + what, what, 100000, 1e-5, 10) for what in OUTERS]


def factorisation():
    """An epoch: the loss and both gradients, which we are not told. Literal: the formula over all cells."""
    return [case("ml", "factorize", sparse_x(100000, 50000, 1e-3, 20, "UV", 0.7), f.FACTOR, scipy=f.SP_FACTOR, jax=f.JAX_FACTOR,
                 systemds=f.DML_FACTOR, systemds_want=f.dml_factor_want),
            case("ml", "factorize_literal", sparse_x(5000, 5000, 0.01, 20, "UV"), f.FACTOR, dense_numpy=f.np_literal,
                 dense_jax=f.jax_literal, dense_blas="factor", systemds=f.DML_FACTOR, systemds_want=f.dml_factor_want)]


CASES = cells(np.float64) + cells(np.float32) + tiny() + chains() + vectors() + outers() + factorisation()
