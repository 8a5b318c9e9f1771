# SPDX-License-Identifier: Apache-2.0
"""The forms that Python's peers have of each case, as somebody who knows the peer would write them for speed. Where two ways compete both
are here and the faster one counts.

np_* (NumPy, data)   ne_* (numexpr's evaluate, data)   sp_* (NumPy, data, entries of the sparse X)   jax_* (jax.numpy, jax, variables by
name; of a sparse X its entries: data, rows, cols, sorted by rows, and t_data, t_rows, t_cols, sorted by columns).
What can be made once from X alone (entries, their order by columns) is made outside the timing. None: not at this size."""
import numpy as np
from scipy import sparse, special

CHAIN = "t(X) %*% (W * (X %*% V))"
OPTIONS = ("spread = 0.3*sqrt(Z); d1 = (log(X/Y) + 0.065*Z)/spread; strike = Y*exp(-0.02*Z)\n"
           "call = X*pnorm(d1) - strike*pnorm(d1 - spread); put = call - X + strike; call; put")
FACTOR = "L = sum((X != 0) * (X - U %*% t(V))^2) + 0.02 * (sum(U^2) + sum(V^2)); L; grad(L, U); grad(L, V)"
DML_FACTOR = ("E = (X != 0) * (U %*% t(V) - X); L = sum(E^2) + 0.02 * (sum(U^2) + sum(V^2)); if (L == 0.1234) print(L); "
              "R = rbind(2 * (E %*% V) + 0.04 * U, 2 * (t(E) %*% U) + 0.04 * V)")


def dml_factor_want(results):
    """The script's result holds the gradients alone."""
    return results[1:]


# ---- cells

BLOCK = 1 << 14  # cells: what stays in the cache


def blocks(np_, d, work):
    """Work through the flattened arrays block by block."""
    flat = [x.ravel() for x in d.values()]
    return [work(i, *(x[i:i + BLOCK] for x in flat)) for i in range(0, flat[0].size, BLOCK)]


def np_sum_xyz(np_, d):
    return np_.einsum("ij,ij,ij->", d["X"], d["Y"], d["Z"])


def np_sum_xyz_dot(np_, d):
    return sum(blocks(np_, d, lambda i, x, y, z: np_.dot(x * y, z)))


def np_three_aggs(np_, d):
    return np_.vdot(d["X"], d["Y"]), np_.vdot(d["X"], d["Z"]), np_.vdot(d["X"], d["X"])


def np_no_agg(np_, d):
    out = np_.empty_like(d["X"])
    flat = out.ravel()

    def work(i, x, y, z):
        at = flat[i:i + BLOCK]
        np_.multiply(x, y, out=at)
        np_.add(at, z, out=at)
    blocks(np_, d, work)
    return out


def np_tap(np_, d):
    out = np_.empty_like(d["X"])
    flat = out.ravel()

    def work(i, x, y, z):
        at = flat[i:i + BLOCK]
        np_.multiply(x, y, out=at)
        np_.add(at, z, out=at)
        return at.sum()
    return sum(blocks(np_, d, work)), out


def np_sigmoid(np_, d):
    return sum(blocks(np_, d, lambda i, x, y, z: np_.dot(z, np_.log(1 + np_.exp(-x * y)))))


def sp_options(np_, d, e):
    call, put = np_.empty_like(d["X"]), np_.empty_like(d["X"])
    flat = call.ravel(), put.ravel()

    def work(i, x, y, z):
        spread = 0.3 * np_.sqrt(z)
        d1, strike = (np_.log(x / y) + 0.065 * z) / spread, y * np_.exp(-0.02 * z)
        flat[0][i:i + BLOCK] = c = x * special.ndtr(d1) - strike * special.ndtr(d1 - spread)
        flat[1][i:i + BLOCK] = c - x + strike
    blocks(np_, d, work)
    return call, put


def np_row_agg(np_, d):
    return np_.einsum("ij,ij->i", d["X"], d["Y"])[:, None]


def np_col_agg(np_, d):
    return np_.einsum("ij,ij->j", d["X"], d["Y"])[None, :]


def np_twenty(np_, d):
    a = d["X"]
    for _ in range(10):
        a = a * d["Y"] + d["Z"]
    return a


def ne_text(text):
    return lambda ne, d: ne(text, d)


ne_no_agg = ne_text("X*Y + Z")
ne_row_agg = lambda ne, d: ne("sum(X*Y, 1)", d)[:, None]
ne_col_agg = lambda ne, d: ne("sum(X*Y, 0)", d)[None, :]
ne_sum_xyz = (lambda ne, d: float(ne("sum(X*Y*Z)", d)), lambda ne, d: ne("X*Y*Z", d).sum())
ne_sigmoid = (lambda ne, d: float(ne("sum(Z*log(1 + exp(-X*Y)))", d)), lambda ne, d: ne("Z*log1p(exp(-X*Y))", d).sum())


def ne_tap(ne, d):
    a = ne("X*Y + Z", d)
    return a.sum(), a


def jax_sum_xyz(jnp, jax, X, Y, Z):
    return jnp.sum(X * Y * Z)


def jax_sum_xyz_dot(jnp, jax, X, Y, Z):
    return jnp.vdot(X * Y, Z)


def jax_three_aggs(jnp, jax, X, Y, Z):
    return jnp.sum(X * Y), jnp.sum(X * Z), jnp.sum(X * X)


def jax_three_dots(jnp, jax, X, Y, Z):
    return jnp.vdot(X, Y), jnp.vdot(X, Z), jnp.vdot(X, X)


def jax_no_agg(jnp, jax, X, Y, Z):
    return X * Y + Z


def jax_tap(jnp, jax, X, Y, Z):
    a = X * Y + Z
    return jnp.sum(a), a


def jax_sigmoid(jnp, jax, X, Y, Z):
    return jnp.sum(Z * jnp.log(1 + jnp.exp(-X * Y)))


def jax_sigmoid_log1p(jnp, jax, X, Y, Z):
    return jnp.sum(Z * jax.nn.softplus(-X * Y))


def jax_prices(jnp, normal, X, Y, Z):
    spread = 0.3 * jnp.sqrt(Z)
    d1, strike = (jnp.log(X / Y) + 0.065 * Z) / spread, Y * jnp.exp(-0.02 * Z)
    call = X * normal(d1) - strike * normal(d1 - spread)
    return call, call - X + strike


def jax_options(jnp, jax, X, Y, Z):
    return jax_prices(jnp, jax.scipy.stats.norm.cdf, X, Y, Z)


def jax_options_erf(jnp, jax, X, Y, Z):
    return jax_prices(jnp, lambda x: 0.5 + 0.5 * jax.scipy.special.erf(x * 0.70710678118654752440), X, Y, Z)


def jax_row_agg(jnp, jax, X, Y):
    return jnp.sum(X * Y, axis=1, keepdims=True)


def jax_col_agg(jnp, jax, X, Y):
    return jnp.sum(X * Y, axis=0, keepdims=True)


jax_twenty = lambda jnp, jax, X, Y, Z: np_twenty(jnp, {"X": X, "Y": Y, "Z": Z})


# ---- chains over a dense X

np_chain = (lambda np_, d: d["X"].T @ (d["W"] * (d["X"] @ d["V"])), lambda np_, d: ((d["W"] * (d["X"] @ d["V"])).T @ d["X"]).T)


def np_mlogreg(np_, d):
    p = d["W"] * (d["X"] @ d["V"])
    return d["X"].T @ (p - d["W"] * p.sum(1, keepdims=True))


def jax_chain(jnp, jax, X, V, W):
    return X.T @ (W * (X @ V))


def jax_chain_rows(jnp, jax, X, V, W):
    return ((W * (X @ V)).T @ X).T


def jax_mlogreg(jnp, jax, X, V, W):
    p = W * (X @ V)
    return X.T @ (p - W * jnp.sum(p, 1, keepdims=True))


# ---- a sparse X with vectors

def sp_spmv(np_, d, e):
    return d["X"] @ d["V"]


def sp_chain(np_, d, e):
    return d["X"].T @ (d["W"] * (d["X"] @ d["V"]))


def sp_chain_twin(np_, d, e):
    return e["twin"] @ (d["W"] * (d["X"] @ d["V"]))


def sp_three(np_, d, e):
    return d["X"].multiply(d["Y"]).multiply(d["Z"]).sum()


def jax_rows(jax, values, rows, n):
    return jax.ops.segment_sum(values, rows, num_segments=n, indices_are_sorted=True)


def jax_spmv_segments(jnp, jax, V, data, rows, cols, **_):
    return jax_rows(jax, data * V[cols, 0], rows, V.shape[0])[:, None]  # X is square


def jax_spmv_bcoo(jnp, jax, V, data, rows, cols, **_):
    from jax.experimental import sparse as js
    indices = jnp.stack([rows, cols], 1)
    return js.BCOO((data, indices), shape=(V.shape[0],) * 2, indices_sorted=True, unique_indices=True) @ V


jax_spmv = (jax_spmv_segments, jax_spmv_bcoo)


def jax_sp_chain(jnp, jax, V, W, data, rows, cols, t_data, t_rows, t_cols):
    w = W[:, 0] * jax_rows(jax, data * V[cols, 0], rows, W.shape[0])
    return jax_rows(jax, t_data * w[t_rows], t_cols, V.shape[0])[:, None]


# ---- products of U and V at the entries of X

def dots_chunks(np_, u, v, e):
    """sum_k u[row, k] * v[col, k] per entry, in blocks that stay in the cache."""
    rows, cols, step = e["rows"], e["cols"], max(1, (1 << 17) // u.shape[1])
    out = np_.empty(len(rows))
    for i in range(0, len(rows), step):
        np_.einsum("ij,ij->i", u.take(rows[i:i + step], 0), v.take(cols[i:i + step], 0), out=out[i:i + step])
    return out


def dots_columns(np_, u, v, e):
    """The same, one column of U and V after the other, a block of entries at a time."""
    rows, cols, step = e["rows"], e["cols"], 1 << 14
    u, v = np_.ascontiguousarray(u.T), np_.ascontiguousarray(v.T)
    out = np_.zeros(len(rows))
    for i in range(0, len(rows), step):
        r, c, at = rows[i:i + step], cols[i:i + step], out[i:i + step]
        for x, y in zip(u, v):
            at += x[r] * y[c]
    return out


DENSE_CELLS = 5e8  # beyond this, products of all rows with all columns are left out


def dots_dense(np_, u, v, e):
    """Blocks of rows against all columns, and the entries out of these: for a dense X."""
    indptr, cols, n = e["indptr"], e["cols"], u.shape[0]
    if n * v.shape[0] > DENSE_CELLS:
        return None
    out, step, vt = np_.empty(len(cols)), max(1, (1 << 18) // v.shape[0]), np_.ascontiguousarray(v.T)
    for i in range(0, n, step):
        j = min(n, i + step)
        lo, hi = indptr[i], indptr[j]
        out[lo:hi] = (u[i:j] @ vt)[e["rows"][lo:hi] - i, cols[lo:hi]]
    return out


def with_dots(form):
    """The form with each way of making the products; None where that is not for this size."""
    def one(dots):
        def call(np_, d, e):
            w = dots(np_, d["U"], d["V"], e)
            return None if w is None else form(np_, d, e, w)
        return call
    return tuple(one(dots) for dots in (dots_chunks, dots_columns, dots_dense))


def weighted(d, w):
    x = d["X"]
    return sparse.csr_matrix((w, x.indices, x.indptr), shape=x.shape)


def transposed(e, w):
    """The same of the transpose, whose order of entries is known."""
    twin = e["twin"]
    return sparse.csr_matrix((w[e["order"]], twin.indices, twin.indptr), shape=twin.shape)


sp_loss = with_dots(lambda np_, d, e, w: d["X"].data @ np_.log(w + 1e-15))
sp_right = with_dots(lambda np_, d, e, w: weighted(d, d["X"].data * w) @ d["V"])
sp_left = with_dots(lambda np_, d, e, w: weighted(d, d["X"].data * w).T @ d["U"])
sp_left_twin = with_dots(lambda np_, d, e, w: transposed(e, d["X"].data * w) @ d["U"])


def sp_epoch(flip):
    def form(np_, d, e, w):
        x, u, v = d["X"], d["U"], d["V"]
        r = w - x.data
        g = weighted(d, 2 * r)
        back = transposed(e, 2 * r) if flip else g.T
        return r @ r + 0.02 * (np_.vdot(u, u) + np_.vdot(v, v)), g @ v + 0.04 * u, back @ u + 0.04 * v
    return form


SP_FACTOR = with_dots(sp_epoch(False)) + with_dots(sp_epoch(True))


def jax_dots(jnp, U, V, rows, cols):
    return jnp.sum(U[rows] * V[cols], axis=1)


def jax_loss(jnp, jax, U, V, data, rows, cols, **_):
    return jnp.sum(data * jnp.log(jax_dots(jnp, U, V, rows, cols) + 1e-15))


def jax_right(jnp, jax, U, V, data, rows, cols, **_):
    w = data * jax_dots(jnp, U, V, rows, cols)
    return jax_rows(jax, w[:, None] * V[cols], rows, U.shape[0])


def jax_left_by_rows(jnp, jax, U, V, data, rows, cols, **_):
    w = data * jax_dots(jnp, U, V, rows, cols)
    return jax.ops.segment_sum(w[:, None] * U[rows], cols, num_segments=V.shape[0])


def jax_left_by_columns(jnp, jax, U, V, t_data, t_rows, t_cols, **_):
    w = t_data * jax_dots(jnp, U, V, t_rows, t_cols)
    return jax_rows(jax, w[:, None] * U[t_rows], t_cols, V.shape[0])


jax_left = (jax_left_by_rows, jax_left_by_columns)


def jax_penalty(jnp, U, V):
    return 0.02 * (jnp.sum(U * U) + jnp.sum(V * V))


def jax_grad(jnp, jax, U, V, data, rows, cols, **_):
    """By its own gradients."""
    def loss(U, V):
        r = jax_dots(jnp, U, V, rows, cols) - data
        return jnp.sum(r * r) + jax_penalty(jnp, U, V)
    value, (gu, gv) = jax.value_and_grad(loss, (0, 1))(U, V)
    return value, gu, gv


def jax_by_hand(jnp, jax, U, V, data, rows, cols, t_data, t_rows, t_cols):
    """By gradients written out, each in the order that suits it."""
    r = jax_dots(jnp, U, V, rows, cols) - data
    back = jax_dots(jnp, U, V, t_rows, t_cols) - t_data
    gu = jax_rows(jax, 2 * r[:, None] * V[cols], rows, U.shape[0]) + 0.04 * U
    gv = jax_rows(jax, 2 * back[:, None] * U[t_rows], t_cols, V.shape[0]) + 0.04 * V
    return jnp.sum(r * r) + jax_penalty(jnp, U, V), gu, gv


def jax_columns(jnp, jax, U, V, data, rows, cols, **_):
    """By its own gradients, a column of U and V at a time."""
    def loss(U, V):
        add = lambda total, uv: (total + uv[0][rows] * uv[1][cols], None)
        w, _ = jax.lax.scan(add, jnp.zeros_like(data), (U.T, V.T))
        r = w - data
        return jnp.sum(r * r) + jax_penalty(jnp, U, V)
    value, (gu, gv) = jax.value_and_grad(loss, (0, 1))(U, V)
    return value, gu, gv


JAX_FACTOR = (jax_grad, jax_by_hand, jax_columns)


# ---- the formula over all cells

def np_literal(np_, d):
    x, u, v = d["X"], d["U"], d["V"]
    r = (x != 0) * (x - u @ v.T)
    return (r * r).sum() + 0.02 * ((u * u).sum() + (v * v).sum()), -2 * r @ v + 0.04 * u, -2 * r.T @ u + 0.04 * v


def jax_literal(jnp, jax, X, U, V):
    loss = lambda U, V: jnp.sum(((X != 0) * (X - U @ V.T)) ** 2) + jax_penalty(jnp, U, V)
    value, (gu, gv) = jax.value_and_grad(loss, (0, 1))(U, V)
    return value, gu, gv
