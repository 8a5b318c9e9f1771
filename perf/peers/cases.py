# SPDX-License-Identifier: Apache-2.0
"""What is compared: a row per case, our text beside the best form we know of it in every peer.

A row: name, data (a function of the size factor giving the variables), ours (our language), and per peer a function of its module(s) and the
variables that returns one array or number, or a tuple of them; SystemDS has text of its own. Missing keys: the peer has no such form, or none
that is better than another listed peer's. The numbers are those of the suites micro and ml: dense data are in [0.5, 1.5)."""
import numpy as np
from scipy import sparse


def dense(rows, cols, which=0):
    """The same numbers anywhere: also SystemDS makes them, by this formula."""
    i = np.arange(rows * cols, dtype=np.float64)
    return (np.mod(i * (7919 + 2 * which), 10007) / 10007 + 0.5).reshape(rows, cols)


def random_csr(rows, cols, share, seed=1):
    rng = np.random.default_rng(seed)
    count = rng.binomial(cols, share, rows)
    indptr = np.concatenate([[0], np.cumsum(count)])
    columns = rng.integers(0, cols, indptr[-1], dtype=np.int32)
    x = sparse.csr_matrix((rng.random(indptr[-1]) + 0.5, columns, indptr), shape=(rows, cols))
    x.sum_duplicates()
    x.sort_indices()
    return x


def xyz(cols):
    def make(f):
        rows = int(2e7 * f) // cols
        return {"X": dense(rows, cols, 0), "Y": dense(rows, cols, 1), "Z": dense(rows, cols, 2)}
    return make


def xy(cols):
    return lambda f: {k: v for k, v in xyz(cols)(f).items() if k != "Z"}


def xvw(cols, k):
    def make(f):
        rows = int(2e7 * f) // cols
        return {"X": dense(rows, cols, 0), "V": dense(cols, k, 1), "W": dense(rows, k, 2)}
    return make


def xuv(n, m, rank, share):
    def make(f):
        rows, cols = int(n * f**0.5), int(m * f**0.5)
        return {"X": random_csr(rows, cols, share), "U": dense(rows, rank, 1), "V": dense(cols, rank, 2)}
    return make


def sparse_vector(f):
    n = int(100000 * f**0.5)
    return {"X": random_csr(n, n, 1e-3), "V": dense(n, 1, 1), "W": dense(n, 1, 2)}


def three_sparse(f):
    n = int(10000 * f**0.5)
    return {k: random_csr(n, n, 0.01, i) for i, k in enumerate("XYZ")}


def at_entries(x):
    """Rows and columns of the entries, which hand-written sparse forms of array libraries gather by; made once, outside the timing."""
    return np.repeat(np.arange(x.shape[0], dtype=np.int32), np.diff(x.indptr)), x.indices


def dots(np_, u, v, rows, cols):
    """sum_k u[row, k] * v[col, k] per entry, in blocks that stay in cache."""
    out, step = np_.empty(len(rows)), 1 << 14
    for i in range(0, len(rows), step):
        out[i:i + step] = np_.einsum("ij,ij->i", u[rows[i:i + step]], v[cols[i:i + step]])
    return out


# ---- forms that need more than a line ----

def scipy_loss(np_, d, e):
    return (d["X"].data * np_.log(dots(np_, d["U"], d["V"], *e) + 1e-15)).sum()


def scipy_weighted(np_, d, e):
    x = d["X"]
    return sparse.csr_matrix((x.data * dots(np_, d["U"], d["V"], *e), x.indices, x.indptr), shape=x.shape)


def jax_dots(jnp, U, V, rows, cols):
    return jnp.sum(U[rows] * V[cols], axis=1)


def jax_loss(jnp, jax, U, V, data, rows, cols):
    return jnp.sum(data * jnp.log(jax_dots(jnp, U, V, rows, cols) + 1e-15))


def jax_right(jnp, jax, U, V, data, rows, cols):
    w = data * jax_dots(jnp, U, V, rows, cols)
    return jax.ops.segment_sum(w[:, None] * V[cols], rows, num_segments=U.shape[0], indices_are_sorted=True)


def jax_left(jnp, jax, U, V, data, rows, cols):
    w = data * jax_dots(jnp, U, V, rows, cols)
    return jax.ops.segment_sum(w[:, None] * U[rows], cols, num_segments=V.shape[0])


def jax_spmv(jnp, jax, V, data, rows, cols, n):
    return jax.ops.segment_sum(data[:, None] * V[cols], rows, num_segments=n, indices_are_sorted=True)


def factor_ours(grads):
    loss = "L = sum((X != 0) * (X - U %*% t(V))^2) + 0.02 * (sum(U^2) + sum(V^2)); L"
    return loss + ("; grad(L, U); grad(L, V)" if grads else "")


def factor_scipy(np_, d, e):
    x, u, v = d["X"], d["U"], d["V"]
    r = dots(np_, u, v, *e) - x.data
    g = sparse.csr_matrix((2 * r, x.indices, x.indptr), shape=x.shape)
    return r @ r + 0.02 * ((u * u).sum() + (v * v).sum()), g @ v + 0.04 * u, g.T @ u + 0.04 * v


def factor_jax(jnp, jax, U, V, data, rows, cols):
    def loss(U, V):
        r = jax_dots(jnp, U, V, rows, cols) - data
        return jnp.sum(r * r) + 0.02 * (jnp.sum(U * U) + jnp.sum(V * V))
    value, (gu, gv) = jax.value_and_grad(loss, (0, 1))(U, V)
    return value, gu, gv


def factor_literal(np_, d):
    x = d["X"].toarray() if sparse.issparse(d["X"]) else d["X"]
    u, v = d["U"], d["V"]
    r = (x != 0) * (x - u @ v.T)
    return (r * r).sum() + 0.02 * ((u * u).sum() + (v * v).sum()), -2 * r @ v + 0.04 * u, -2 * r.T @ u + 0.04 * v


CHAIN = "t(X) %*% (W * (X %*% V))"
SPREAD = "spread = 0.3*sqrt(Z); d1 = (log(X/Y) + 0.065*Z)/spread; strike = Y*exp(-0.02*Z)\n"


def case(name, data, ours, **peers):
    return dict(peers, name=name, data=data, ours=ours)


def aggregate(kind, cols):
    axis = {"row": 1, "col": 0}[kind]
    return case("%s_agg_%d" % (kind, cols), xy(cols), "%sSums(X*Y)" % kind,
                numpy=(lambda np_, d: np_.einsum("ij,ij->i", d["X"], d["Y"])[:, None]) if axis else
                      (lambda np_, d: np_.einsum("ij,ij->j", d["X"], d["Y"])[None, :]),
                numexpr=lambda ne, d: ne("sum(X*Y, %d)" % axis, d).reshape(-1 if axis else 1, 1 if axis else cols),
                jax=lambda jnp, jax, X, Y: jnp.sum(X * Y, axis=axis, keepdims=True),
                systemds="R = %sSums(X*Y)" % kind)


def outer(name, rank, ours, scipy, jax):
    return case("outer_%s_r%d_d0.01" % (name, rank), xuv(10000, 10000, rank, 0.01), ours, scipy=scipy, jax=jax,
                systemds="R = " + ours)


def chain(name, cols, k):
    return case(name, xvw(cols, k), CHAIN, numpy=lambda np_, d: d["X"].T @ (d["W"] * (d["X"] @ d["V"])),
                jax=lambda jnp, jax, X, V, W: X.T @ (W * (X @ V)), systemds="R = " + CHAIN)


CASES = [
    case("sum_xyz", xyz(1000), "sum(X*Y*Z)", numpy=lambda np_, d: np_.einsum("ij,ij,ij->", d["X"], d["Y"], d["Z"]),
         numexpr=lambda ne, d: float(ne("sum(X*Y*Z)", d)), jax=lambda jnp, jax, X, Y, Z: jnp.sum(X * Y * Z), systemds="R = as.matrix(sum(X*Y*Z))"),
    case("three_aggs", xyz(1000), "sum(X*Y); sum(X*Z); sum(X^2)",
         numpy=lambda np_, d: (np_.vdot(d["X"], d["Y"]), np_.vdot(d["X"], d["Z"]), np_.vdot(d["X"], d["X"])),
         jax=lambda jnp, jax, X, Y, Z: (jnp.sum(X * Y), jnp.sum(X * Z), jnp.sum(X * X)),
         systemds="R = cbind(as.matrix(sum(X*Y)), as.matrix(sum(X*Z)), as.matrix(sum(X^2)))"),
    case("tap", xyz(1000), "A = X*Y + Z; sum(A); A", numpy=lambda np_, d: (lambda a: (a.sum(), a))(np_.add(t := d["X"] * d["Y"], d["Z"], out=t)),
         numexpr=lambda ne, d: (lambda a: (a.sum(), a))(ne("X*Y + Z", d)),
         jax=lambda jnp, jax, X, Y, Z: (lambda a: (jnp.sum(a), a))(X * Y + Z)),
    case("no_agg", xyz(1000), "X*Y + Z", numpy=lambda np_, d: np_.add(t := d["X"] * d["Y"], d["Z"], out=t),
         numexpr=lambda ne, d: ne("X*Y + Z", d), jax=lambda jnp, jax, X, Y, Z: X * Y + Z, systemds="R = X*Y + Z"),
    aggregate("row", 10), aggregate("row", 1000), aggregate("col", 10), aggregate("col", 1000),
    case("sigmoid_loss", xyz(1000), "sum(Z*log(1 + exp(-X*Y)))", numpy=lambda np_, d: (d["Z"] * np_.log(1 + np_.exp(-d["X"] * d["Y"]))).sum(),
         numexpr=lambda ne, d: float(ne("sum(Z*log(1 + exp(-X*Y)))", d)),
         jax=lambda jnp, jax, X, Y, Z: jnp.sum(Z * jnp.log(1 + jnp.exp(-X * Y))), systemds="R = as.matrix(sum(Z*log(1 + exp(-X*Y))))"),
    case("black_scholes", xyz(1000), SPREAD + "call = X*pnorm(d1) - strike*pnorm(d1 - spread); put = call - X + strike; call; put",
         jax=lambda jnp, jax, X, Y, Z: (lambda s, k: (lambda d1: (lambda c: (c, c - X + k))(
             X * jax.scipy.stats.norm.cdf(d1) - k * jax.scipy.stats.norm.cdf(d1 - s)))((jnp.log(X / Y) + 0.065 * Z) / s))(
                 0.3 * jnp.sqrt(Z), Y * jnp.exp(-0.02 * Z))),
    chain("mvchain_10", 10, 1), chain("mvchain_100", 100, 1), chain("mvchain_1000", 1000, 1), chain("mmchain_k8", 100, 8),
    case("mlogreg_k8", xvw(100, 8), "P = W * (X %*% V); t(X) %*% (P - W * rowSums(P))",
         numpy=lambda np_, d: (lambda p: d["X"].T @ (p - d["W"] * p.sum(1, keepdims=True)))(d["W"] * (d["X"] @ d["V"])),
         jax=lambda jnp, jax, X, V, W: (lambda p: X.T @ (p - W * jnp.sum(p, 1, keepdims=True)))(W * (X @ V)),
         systemds="P = W * (X %*% V); R = t(X) %*% (P - W * rowSums(P))"),
    case("spmv", sparse_vector, "X %*% V", scipy=lambda np_, d, e: d["X"] @ d["V"],
         jax=lambda jnp, jax, V, W, data, rows, cols: jax_spmv(jnp, jax, V, data, rows, cols, V.shape[0])),
    case("sp_mvchain", sparse_vector, CHAIN, scipy=lambda np_, d, e: d["X"].T @ (d["W"] * (d["X"] @ d["V"]))),
    outer("loss", 10, "sum(X * log(U %*% t(V) + 1e-15))", scipy_loss, jax_loss),
    outer("loss", 100, "sum(X * log(U %*% t(V) + 1e-15))", scipy_loss, jax_loss),
    outer("right", 10, "(X * (U %*% t(V))) %*% V", lambda np_, d, e: scipy_weighted(np_, d, e) @ d["V"], jax_right),
    outer("left", 10, "t(X * (U %*% t(V))) %*% U", lambda np_, d, e: scipy_weighted(np_, d, e).T @ d["U"], jax_left),
    case("sp3_sum_d0.01", three_sparse, "sum(X*Y*Z)", scipy=lambda np_, d, e: d["X"].multiply(d["Y"]).multiply(d["Z"]).sum()),
    case("factorize", xuv(100000, 50000, 20, 1e-3), factor_ours(True), scipy=factor_scipy, jax=factor_jax),
    case("factorize_literal", xuv(5000, 5000, 20, 0.01), factor_ours(True), dense_numpy=factor_literal,
         dense_jax=lambda jnp, jax, X, U, V: jax.value_and_grad(
             lambda U, V: jnp.sum(((X != 0) * (X - U @ V.T)) ** 2) + 0.02 * (jnp.sum(U * U) + jnp.sum(V * V)), (0, 1))(U, V)),
]
