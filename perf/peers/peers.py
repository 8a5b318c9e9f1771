# SPDX-License-Identifier: Apache-2.0
"""The peers, each with its best settings: all cores, results in place where it can, compiled where it compiles, data where it wants them.

A peer has a name, a version and prepare(case, data), which gives the ways it has of the case: functions without arguments that return NumPy
arrays or numbers, the compute being finished; None from a call: not at this size. A peer that is not there raises Missing when made."""
import os

import numpy as np
from scipy import sparse

import native
from native import Missing

THREADS = len(os.sched_getaffinity(0))


def entries_of(x):
    """What hand-written sparse forms of array libraries gather by, made from X once: rows and columns of entries, the transpose in rows,
    and the order of its entries."""
    rows = np.repeat(np.arange(x.shape[0], dtype=np.int32), np.diff(x.indptr))
    twin = sparse.csr_matrix((np.arange(x.nnz), x.indices, x.indptr), shape=x.shape).T.tocsr()
    order = twin.data
    twin = sparse.csr_matrix((x.data[order], twin.indices, twin.indptr), shape=twin.shape)
    return {"rows": rows, "cols": x.indices, "indptr": x.indptr, "twin": twin, "order": order}


def ways(case, key):
    form = case.get(key, ())
    return form if isinstance(form, (tuple, list)) else (form,)


def full(data):
    return {k: v.toarray() if sparse.issparse(v) else v for k, v in data.items()}


class Ours:
    """Called through Python, like the others; arrays are put into the context before, as others put theirs, and the first call waits for
    compiled kernels, as JAX's does."""
    name = "clfuse"

    def __init__(self, device=None):
        import clfuse
        self.clfuse, self.ctx, self.version = clfuse, clfuse.Context(device=device, compile="wait"), clfuse.version()
        if "\nassumed 1" in self.ctx.profile():  # as `clfuse doctor --calibrate` does after installing
            self.ctx.calibrate()

    def prepare(self, case, data):
        f, values = self.ctx.function(case["ours"], **data), [self.ctx.put(v) for v in data.values()]
        return [lambda: f(*values)]


class NumPy:
    name, key, version = "numpy", "numpy", np.__version__

    def prepare(self, case, data):
        return [lambda form=form: form(np, data) for form in ways(case, self.key)]


class DenseNumPy:
    """The literal formula over all cells."""
    name, key, version = "numpy dense", "dense_numpy", np.__version__

    def prepare(self, case, data):
        cells = full(data) if self.key in case else None
        return [lambda form=form: form(np, cells) for form in ways(case, self.key)]


class SciPy:
    name, key = "scipy", "scipy"

    def __init__(self):
        import scipy
        self.version = scipy.__version__

    def prepare(self, case, data):
        entries = entries_of(data["X"]) if self.key in case and sparse.issparse(data["X"]) else None
        return [lambda form=form: form(np, data, entries) for form in ways(case, self.key)]


class NumExpr:
    name, key = "numexpr", "numexpr"

    def __init__(self):
        import numexpr
        numexpr.set_num_threads(THREADS)
        self.ne, self.version = numexpr, numexpr.__version__

    def prepare(self, case, data):
        evaluate = lambda text, d: self.ne.evaluate(text, local_dict=d)
        return [lambda form=form: form(evaluate, data) for form in ways(case, self.key)]


class Jax:
    """On the CPU, in the arrays' own precision, compiled; a sparse matrix as its entries by rows and by columns."""
    name, key = "jax", "jax"

    def __init__(self):
        import jax
        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_enable_x64", True)
        self.jax, self.version = jax, jax.__version__

    def place(self, data):
        cells = {k: v for k, v in data.items() if not sparse.issparse(v)}
        if "X" not in cells:
            e = entries_of(data["X"])
            by_rows = {"data": data["X"].data, "rows": e["rows"], "cols": e["cols"]}
            cells.update(by_rows, **{"t_" + k: v[e["order"]] for k, v in by_rows.items()})
        return self.jax.device_put(cells)

    def prepare(self, case, data):
        forms = ways(case, self.key)
        placed = self.place(data) if forms else None
        return [self.compiled(form, placed) for form in forms]

    def compiled(self, form, placed):
        f = self.jax.jit(lambda args: form(self.jax.numpy, self.jax, **args))
        flat = self.jax.tree_util.tree_leaves
        return lambda: [np.asarray(x) for x in flat(self.jax.block_until_ready(f(placed)))]


class DenseJax(Jax):
    name, key = "jax dense", "dense_jax"

    def place(self, data):
        return self.jax.device_put(full(data))


class Torch:
    """The NumPy forms that torch takes as they are, for dense data."""
    name, key = "torch", "numpy"

    def __init__(self):
        import torch
        torch.set_num_threads(THREADS)
        self.torch, self.version = torch, torch.__version__

    def prepare(self, case, data):
        if any(sparse.issparse(v) for v in data.values()):
            return []
        placed = {k: self.torch.from_numpy(v) for k, v in data.items()}
        return [call for call in (lambda form=form: form(self.torch, placed) for form in ways(case, "numpy")) if self.takes(call)]

    def takes(self, call):
        try:
            call()
            return True
        except (TypeError, AttributeError, RuntimeError):
            return False


KINDS = (NumPy, DenseNumPy, SciPy, NumExpr, Jax, DenseJax, Torch, native.Blas, native.DenseBlas, native.ViennaCL, native.BoostCompute)


def others(names, cases):
    """([installed], [(name, why)] missing) of those with these names (None: all) that have a form of any case."""
    found, missing = [], []
    for kind in KINDS:
        if names and kind.name not in names or not any(kind.key in c for c in cases):
            continue
        try:
            found.append(kind())
        except (ImportError, Missing) as e:
            missing.append((kind.name, str(e)))
    return found, missing
