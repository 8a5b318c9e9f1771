# SPDX-License-Identifier: Apache-2.0
"""The peers, each with its best settings: all cores, results in place where it can, compiled where it compiles, data where it wants them.

A peer has a name, a version (None: not installed) and prepare(case, data), which gives a function without arguments, or None where the case
has no form for it. What the function returns are NumPy arrays or numbers; the compute is finished when it returns."""
import os

import numpy as np
from scipy import sparse

from cases import at_entries

THREADS = len(os.sched_getaffinity(0))


class Ours:
    name = "clfuse"

    def __init__(self, device=None):
        import clfuse
        self.clfuse, self.ctx, self.version = clfuse, clfuse.Context(device=device), clfuse.version()

    def prepare(self, case, data):
        f = self.ctx.function(case["ours"], **data)
        values = list(data.values())
        return lambda: f(*values)


class NumPy:
    name, version = "numpy", np.__version__

    def prepare(self, case, data):
        form = case.get("numpy")
        return form and (lambda: form(np, data))


class DenseNumPy:
    """The literal formula over all cells."""
    name, version = "numpy dense", np.__version__

    def prepare(self, case, data):
        form = case.get("dense_numpy")
        if not form:
            return None
        full = {k: v.toarray() if sparse.issparse(v) else v for k, v in data.items()}
        return lambda: form(np, full)


class SciPy:
    name = "scipy"

    def __init__(self):
        import scipy
        self.version = scipy.__version__

    def prepare(self, case, data):
        form = case.get("scipy")
        entries = at_entries(data["X"]) if form and sparse.issparse(data.get("X")) else None
        return form and (lambda: form(np, data, entries))


class NumExpr:
    name = "numexpr"

    def __init__(self):
        import numexpr
        numexpr.set_num_threads(THREADS)
        self.ne, self.version = numexpr, numexpr.__version__

    def prepare(self, case, data):
        form = case.get("numexpr")
        evaluate = lambda text, d: self.ne.evaluate(text, local_dict=d)
        return form and (lambda: form(evaluate, data))


class Jax:
    """On the CPU, double precision, compiled; sparse matrices as entries with their rows and columns, gathered and summed by segment."""
    name, key = "jax", "jax"

    def __init__(self):
        import jax
        jax.config.update("jax_platforms", "cpu")
        jax.config.update("jax_enable_x64", True)
        self.jax, self.version = jax, jax.__version__

    def place(self, k, v):
        if not sparse.issparse(v):
            return {k: self.jax.device_put(v)}
        rows, cols = at_entries(v)
        return {"data": self.jax.device_put(v.data), "rows": self.jax.device_put(rows), "cols": self.jax.device_put(cols)}

    def prepare(self, case, data):
        form = case.get(self.key)
        if not form:
            return None
        placed = {}
        for k, v in data.items():
            placed.update(self.place(k, v))
        f = self.jax.jit(lambda **args: form(self.jax.numpy, self.jax, **args))
        flat = self.jax.tree_util.tree_leaves
        return lambda: [np.asarray(x) for x in flat(self.jax.block_until_ready(f(**placed)))]


class DenseJax(Jax):
    name, key = "jax dense", "dense_jax"

    def place(self, k, v):
        return {k: self.jax.device_put(v.toarray() if sparse.issparse(v) else v)}


class Torch:
    """Compiled where its compiler works; only the forms that JAX has, for dense data."""
    name = "torch"

    def __init__(self):
        import torch
        torch.set_num_threads(THREADS)
        self.torch, self.version = torch, torch.__version__

    def prepare(self, case, data):
        form = case.get("numpy")
        if not form or any(sparse.issparse(v) for v in data.values()):
            return None
        placed = {k: self.torch.from_numpy(v) for k, v in data.items()}
        try:
            f = lambda: form(self.torch, placed)
            f()
        except (TypeError, AttributeError, RuntimeError):
            return None  # a NumPy form that torch does not take
        return f


def others():
    """([installed], [(name, why)] missing)."""
    found, missing = [], []
    for kind in (NumPy, DenseNumPy, SciPy, NumExpr, Jax, DenseJax, Torch):
        try:
            found.append(kind())
        except ImportError as e:
            missing.append((kind.name, str(e)))
    return found, missing
