# SPDX-License-Identifier: Apache-2.0
"""How array libraries work on arrays (trainings.py): NumPy with SciPy's sparse matrices, and JAX on the CPU in double precision."""
import numpy as np
from scipy import sparse, special


def at_entries(x):
    """Rows and columns of the entries."""
    return np.repeat(np.arange(x.shape[0], dtype=np.int32), np.diff(x.indptr)), x.indices


def dots(u, v, rows, cols):
    """sum_k u[row, k] * v[col, k] per entry, in blocks that stay in cache."""
    out, step = np.empty(len(rows)), 1 << 14
    for i in range(0, len(rows), step):
        out[i:i + step] = np.einsum("ij,ij->i", u[rows[i:i + step]], v[cols[i:i + step]])
    return out


class Entries:
    """A sparse matrix with what products with it need: its transpose in rows, and where its entries are."""

    def __init__(self, csr):
        self.csr, self.t, (self.rows, self.cols) = csr, csr.T.tocsr(), at_entries(csr)


class NumPy:
    name, xp, log_ndtr = "numpy", np, staticmethod(special.log_ndtr)

    def __init__(self):
        import scipy
        self.version = "%s, scipy %s" % (np.__version__, scipy.__version__)

    def put(self, x):
        return x

    def number(self, v):
        return v

    def jit(self, f):
        return f

    def matrix(self, x):
        return Entries(x) if sparse.issparse(x) else x

    def mm(self, X, v):
        return X.csr @ v if isinstance(X, Entries) else X @ v

    def tmm(self, X, v):
        return X.t @ v if isinstance(X, Entries) else X.T @ v

    def dots(self, X, F, G):
        return dots(F, G, X.rows, X.cols)

    def values(self, X):
        return X.csr.data

    def weighted(self, X, e, G):
        return sparse.csr_matrix((e, X.csr.indices, X.csr.indptr), shape=X.csr.shape) @ G

    def network(self):
        def sigmoid(x):
            return special.expit(x, out=x)

        def learn(X, state, momentum, step):
            W, b, H = state[0::2], state[1::2], [X]
            for i in range(4):
                H.append(sigmoid(H[-1] @ W[i] + b[i]))
            D, grads = (H[4] - X) * H[4] * (1 - H[4]), [None] * 8
            loss = 0.5 * np.sum((H[4] - X) ** 2)
            for i in (3, 2, 1, 0):
                grads[2 * i], grads[2 * i + 1] = H[i].T @ D, D.sum(0, keepdims=True)
                if i:
                    D = (D @ W[i].T) * H[i] * (1 - H[i])
            momentum = [0.9 * u - step * g for u, g in zip(momentum, grads)]
            return [w + u for w, u in zip(state, momentum)], momentum, loss
        return learn


class JaxEntries:
    """Entries by rows and by columns; the shape is known when a function is compiled."""

    def __init__(self, arrays, shape):
        self.arrays, self.shape = arrays, shape


class Jax:
    name = "jax"

    def __init__(self):
        import jax
        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_enable_x64", True)
        jax.tree_util.register_pytree_node(JaxEntries, lambda x: (x.arrays, x.shape), lambda shape, arrays: JaxEntries(arrays, shape))
        self.jax, self.xp, self.version, self.log_ndtr = jax, jax.numpy, jax.__version__, jax.scipy.special.log_ndtr

    def put(self, x):
        return self.jax.device_put(x)

    def number(self, v):
        """Of the same kind as what a compiled function returns, so that it is compiled once."""
        return self.xp.asarray(v, dtype="float64")

    def jit(self, f):
        return self.jax.jit(f)

    def matrix(self, x):
        if not sparse.issparse(x):
            return self.put(x)
        rows, cols = at_entries(x)
        turned = x.T.tocsr()
        trows, tcols = at_entries(turned)
        return JaxEntries([self.put(v) for v in (x.data, rows, cols, turned.data, trows, tcols)], x.shape)

    def _sum(self, data, rows, cols, V, n):
        return self.jax.ops.segment_sum(data[:, None] * V[cols], rows, num_segments=n, indices_are_sorted=True)

    def mm(self, X, V):
        return self._sum(*X.arrays[:3], V, X.shape[0]) if isinstance(X, JaxEntries) else X @ V

    def tmm(self, X, V):
        return self._sum(*X.arrays[3:], V, X.shape[1]) if isinstance(X, JaxEntries) else X.T @ V

    def dots(self, X, F, G):
        return self.xp.sum(F[X.arrays[1]] * G[X.arrays[2]], axis=1)

    def values(self, X):
        return X.arrays[0]

    def weighted(self, X, e, G):
        return self._sum(e, X.arrays[1], X.arrays[2], G, X.shape[0])

    def network(self):
        jax, xp = self.jax, self.xp

        def loss(state, X):
            H = X
            for i in range(4):
                H = jax.nn.sigmoid(H @ state[2 * i] + state[2 * i + 1])
            return 0.5 * xp.sum((H - X) ** 2)

        @jax.jit
        def learn(X, state, momentum, step):
            value, grads = jax.value_and_grad(loss)(state, X)
            momentum = [0.9 * u - step * g for u, g in zip(momentum, grads)]
            return [w + u for w, u in zip(state, momentum)], momentum, value
        return learn


def all_ways():
    """([installed], [(name, why)] missing)."""
    found, missing = [], []
    for kind in (NumPy, Jax):
        try:
            found.append(kind())
        except ImportError as e:
            missing.append((kind.name, str(e)))
    return found, missing
