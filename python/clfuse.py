# SPDX-License-Identifier: Apache-2.0
"""clfuse from Python: formulas over NumPy and SciPy arrays, run as few fused kernels.

    import clfuse, numpy as np
    X, Y = np.random.rand(1000, 10), np.random.rand(1000, 10)
    clfuse.eval("sum(X * Y)", X=X, Y=Y)                      # a float
    f = clfuse.function("A = X * Y; rowSums(A)", X=X, Y=Y)    # planned once for these shapes
    f(X, Y)                                                   # a 1000 x 1 array
    loss, g = clfuse.value_and_grad("sum((X %*% w - Y)^2)", "w", X=X, Y=Y, w=np.zeros((10, 10)))
    clfuse.explain("sum(X * Y)", X=X, Y=Y)                    # text; a picture in a notebook

What goes in: arrays of f4 f8 i4 i8 u1 and bool of one dimension (a column) or two, used in place when they are C-contiguous, else
copied; SciPy CSR matrices, used in place, too (CSC and COO are converted); floats, which are parameters; ints, which are constants
(so that they may be sizes). What comes out: numbers, read-only arrays over the library's memory, CSR matrices where the library has them
so. Errors are exceptions of type clfuse.Error, and also of the built-in type that fits.

Functions and plans are kept by program text and by types and shapes of the variables. A Context may be used by several threads.
ctypes only: nothing is compiled. The library is found by CLFUSE_LIBRARY, beside this file, in ../build, or by the system's loader.
"""
import collections
import ctypes as C
import ctypes.util
import os
import threading

import numpy as np

__all__ = ["Context", "Error", "Function", "Plan", "context", "eval", "explain", "function", "grad", "value_and_grad", "version"]


# ---- the library ----

class _Options(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("device", C.c_char_p), ("fuse", C.c_char_p)] + [
        (f, C.c_void_p) for f in ("alloc", "alloc_user", "log", "log_user")] + [("mem_limit", C.c_size_t)]


class _SparseOptions(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("offset_bytes", C.c_int), ("index_bytes", C.c_int), ("trusted", C.c_bool), ("add", C.c_bool),
                ("borrow", C.c_bool), ("release", C.c_void_p), ("user", C.c_void_p)]


class _Binding(C.Structure):
    _fields_ = [("name", C.c_char_p), ("value", C.c_void_p)]


class _Result(C.Structure):
    _fields_ = [("name", C.c_char_p), ("value", C.c_void_p), ("bare", C.c_bool), ("used", C.c_bool)]


class _Storage(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("format", C.c_char_p), ("nnz", C.c_int64), ("structural", C.c_bool), ("borrowed", C.c_bool),
                ("bytes", C.c_uint64)]


class _MemStats(C.Structure):
    _fields_ = [("struct_size", C.c_size_t)] + [(f, C.c_uint64) for f in ("now", "peak", "data", "pooled", "borrowed", "limit")]


_WRITE = C.CFUNCTYPE(None, C.c_void_p, C.c_void_p, C.c_size_t)
_P, _I, _L, _Z, _S = C.c_void_p, C.c_int, C.c_int64, C.c_size_t, C.c_char_p
_SIGNATURES = {  # name: (result, arguments)
    "clf_version": (_S, ()), "clf_open": (_I, (_P, _P)), "clf_open_error": (_S, ()), "clf_close": (None, (_P,)),
    "clf_last_error": (_S, (_P,)), "clf_set": (_I, (_P, _S, _S)), "clf_status_name": (_S, (_I,)),
    "clf_borrow": (_P, (_P, _I, _L, _L, _P, _P, _P)), "clf_num": (_P, (_P, C.c_double)), "clf_int": (_P, (_P, _L)),
    "clf_sparse_csr": (_P, (_P, _I, _L, _L, _L, _P, _P, _P, _P)), "clf_param": (_P, (_P, _I, _L, _L, C.c_bool)),
    "clf_param_sparse": (_P, (_P, _I, _L, _L, _L)), "clf_label": (_I, (_P, _S)), "clf_free": (None, (_P,)),
    "clf_status_of": (_I, (_P, _P)), "clf_info": (_I, (_P, _P, _P, _P, _P)), "clf_storage_of": (_I, (_P, _P)),
    "clf_data": (_I, (_P, _P)), "clf_data_csr": (_I, (_P, _P, _P, _P, _P)), "clf_read": (_I, (_P, _P, _Z)),
    "clf_fn_new": (_I, (_P, _Z, _P, _Z, _P, _P)), "clf_call": (_I, (_P, _Z, _P, _Z, _P)), "clf_fn_free": (None, (_P,)),
    "clf_parse": (_I, (_P, _S, _P, _Z, _P, _P)), "clf_explain": (_I, (_Z, _P, _I, C.c_uint, _P, _P)),
    "clf_get_mem_stats": (_I, (_P, _P)),
}


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    tries = [os.environ.get("CLFUSE_LIBRARY"), os.path.join(here, "libclfuse.so.0"),
             os.path.join(here, "..", "build", "libclfuse.so.0"), ctypes.util.find_library("clfuse")]
    for path in tries:
        if path and (os.path.exists(path) or not os.path.isabs(path)):
            lib = C.CDLL(path)
            for name, (result, arguments) in _SIGNATURES.items():
                f = getattr(lib, name)
                f.restype, f.argtypes = result, arguments
            return lib
    raise ImportError("libclfuse.so.0 was not found: install clfuse, or name the library by CLFUSE_LIBRARY")


_lib = _load()
_DTYPES = [np.dtype(t) for t in ("f4", "f8", "i4", "i8", "u1")]  # by clf_dtype
_CODES = {d: i for i, d in enumerate(_DTYPES)}
_CODES[np.dtype(bool)] = 4


def version():
    """The library's version, such as "0.1.0"."""
    return _lib.clf_version().decode()


# ---- errors ----

class Error(Exception):
    """What the library says went wrong; `status` is its code's name, such as "CLF_E_SHAPE"."""
    status = ""


_ALSO = {"CLF_E_ARG": ValueError, "CLF_E_SHAPE": ValueError, "CLF_E_TYPE": TypeError, "CLF_E_NAME": NameError, "CLF_E_NOMEM": MemoryError,
         "CLF_E_SYNTAX": ValueError, "CLF_E_FORMAT": ValueError, "CLF_E_IO": OSError}
_CLASSES = {name: type("Error", (Error, also), {"status": name, "__module__": __name__}) for name, also in _ALSO.items()}


def _error(status, text):
    name = _lib.clf_status_name(status).decode()
    known = _CLASSES.get(name)
    e = (known or Error)((text or b"").decode(errors="replace") or name)
    e.status = name
    return e


# ---- values ----

def _is_sparse(v):
    return hasattr(v, "tocsr") and hasattr(v, "nnz")


def _normal(name, v):
    """A variable in a form that the library takes: a float, an int, a 2-d C-contiguous array, a CSR matrix of 32-bit columns."""
    if isinstance(v, (bool, int, np.integer, np.bool_)):
        return int(v)
    if isinstance(v, (float, np.floating)):
        return float(v)
    if _is_sparse(v):
        v = v.tocsr()
        if not v.has_canonical_format:
            v = v.copy()
            v.sum_duplicates()
        if v.dtype not in _CODES:
            raise _error(3, ("%s: no sparse matrix of type %s" % (name, v.dtype)).encode())
        if v.indices.dtype != np.int32:
            v = type(v)((v.data, v.indices.astype(np.int32), v.indptr), shape=v.shape)
        return v
    a = np.asarray(v)
    if a.dtype not in _CODES or a.ndim > 2:
        raise _error(3, ("%s: no matrix of type %s and %d dimensions" % (name, a.dtype, a.ndim)).encode())
    return np.ascontiguousarray(a.reshape(-1, 1) if a.ndim < 2 else a)


def _signature(v):
    """What a function depends on."""
    if isinstance(v, np.ndarray):
        return (v.dtype.char, v.shape)
    return (v.dtype.char, v.shape, "csr", v.indptr.dtype.char) if _is_sparse(v) else ("float",) if isinstance(v, float) else v


class _Owner:
    """A handle whose cells an array shows; the array keeps it, it keeps the context."""
    __slots__ = ("ctx", "handle", "__array_interface__")

    def __init__(self, ctx, handle):
        self.ctx, self.handle = ctx, handle

    def show(self, address, dtype, shape):
        self.__array_interface__ = {"data": (address, True), "typestr": dtype.str, "shape": shape, "version": 3}
        return np.asarray(self)

    def __del__(self):
        if self.ctx._c and os is not None and os.getpid() == self.ctx._pid:
            _lib.clf_free(self.handle)


class Plan:
    """What explain says: str() is text; notebooks show the picture."""

    def __init__(self, text, svg):
        self.text, self.svg = text, svg

    def __str__(self):
        return self.text

    __repr__ = __str__

    def _repr_svg_(self):
        return self.svg


# ---- functions ----

class Function:
    """A program for variables of given types and shapes. Call it with values in the order of its variables, or by name."""

    def __init__(self, ctx, text, example):
        self.ctx, self.names, self._fn = ctx, list(example), None
        self.constants = {n: v for n, v in example.items() if isinstance(v, int)}
        self.params = [n for n in example if n not in self.constants]
        self.signature = [_signature(example[n]) for n in self.params]
        bound, handles = {}, set()
        try:
            for n, v in example.items():
                bound[n] = ctx._param(n, v)
                handles.add(bound[n])
            outs = ctx._parse(text, bound, handles)
            params, results = (_P * len(self.params))(*[bound[n] for n in self.params]), (_P * len(outs))(*[h for _, h in outs])
            fn = _P()
            ctx._check(_lib.clf_fn_new(ctx._c, len(params), params, len(results), results, C.byref(fn)))
        finally:
            ctx._free(handles)  # the function keeps what was recorded
        self._fn, self.results = fn.value, [name for name, _ in outs]
        self._args, self._outs = _P * len(self.params), _P * len(outs)

    def __call__(self, *values, **named):
        """The value of the program's bare result; a tuple when there are several."""
        if named:
            given = dict(zip(self.names, values), **named)
            if set(named) - set(self.names):
                raise _error(4, ("no variable " + ", ".join(sorted(set(named) - set(self.names)))).encode())
            values = [given.get(n, self.constants.get(n)) for n in self.names]
        elif len(values) == len(self.params) < len(self.names):
            return self._run(values)
        if len(values) != len(self.names):
            raise _error(1, b"%d values are given for %d variables" % (len(values), len(self.names)))
        for n, v in zip(self.names, values):
            if n in self.constants and v != self.constants[n]:
                raise _error(1, ("%s is a constant of this function: %d" % (n, self.constants[n])).encode())
        return self._run([v for n, v in zip(self.names, values) if n not in self.constants])

    def _run(self, values):
        ctx, lib = self.ctx, _lib
        args, outs, held = self._args(), self._outs(), []
        try:
            for i, v in enumerate(values):
                if type(v) is not np.ndarray or v.ndim != 2 or not v.flags.c_contiguous:
                    v = _normal(self.params[i], v)
                    v = float(v) if self.signature[i] == ("float",) and isinstance(v, int) else v
                if _signature(v) != self.signature[i]:
                    raise _error(2, ("%s is %s, the function is for %s" % (self.params[i], _signature(v), self.signature[i])).encode())
                held.append(v)
                args[i] = ctx._leaf(v)
            ctx._check(lib.clf_call(self._fn, len(held), args, len(outs), outs))
        finally:
            for i in range(len(held)):  # results never refer to the caller's memory
                if args[i]:
                    lib.clf_free(args[i])
        found = [ctx._value(h) for h in outs]
        return found[0] if len(found) == 1 else tuple(found)

    def __del__(self):
        if self._fn and self.ctx._c and os is not None and os.getpid() == self.ctx._pid:
            _lib.clf_fn_free(self._fn)


# ---- contexts ----

class Context:
    """Devices, memory and prepared plans. device: "host", "cpu", "gpu", a number, part of a name. mem_limit: bytes of matrix data.
    Settings go by the names of `clfuse info --env`: Context(fuse="cost", math="strict")."""
    FUNCTIONS = 256  # kept

    def __init__(self, device=None, fuse=None, mem_limit=0, **settings):
        self._c, self._pid, self._functions, self._lock = None, os.getpid(), collections.OrderedDict(), threading.Lock()
        c, o = _P(), _Options(C.sizeof(_Options), device and str(device).encode(), fuse and fuse.encode(), mem_limit=mem_limit)
        status = _lib.clf_open(C.byref(c), C.byref(o))
        if status:
            raise _error(status, _lib.clf_open_error())
        self._c = c.value
        for name, value in settings.items():
            self.set(name, value)

    def __del__(self):
        self.close()

    def close(self):
        """Free everything; arrays that show the library's memory must be gone."""
        c, self._c = getattr(self, "_c", None), None
        if c and os.getpid() == self._pid:
            _lib.clf_close(c)

    def set(self, name, value):
        """Change a setting."""
        self._check(_lib.clf_set(self._c, name.encode(), str(value).encode()))

    def memory(self):
        """Bytes of the library's memory for this context: .now, .peak, .data, .pooled, .borrowed (the caller's), .limit."""
        m = _MemStats(C.sizeof(_MemStats))
        self._check(_lib.clf_get_mem_stats(self._c, C.byref(m)))
        return m

    def function(self, text, **variables):
        """A program prepared for the types and shapes of these variables. Kept: asking again is cheap."""
        return self._function(text, {n: _normal(n, v) for n, v in variables.items()})

    def eval(self, text, **variables):
        """Run a program: the value of its bare expression (a tuple of several), else of the name bound last."""
        values = {n: _normal(n, v) for n, v in variables.items()}
        f = self._function(text, values)
        return f._run([values[n] for n in f.params])

    def value_and_grad(self, loss, wrt, **variables):
        """A loss (one expression) and its gradients with respect to variables: one name, or several, then a tuple of gradients."""
        names = [wrt] if isinstance(wrt, str) else list(wrt)
        text = "loss_ = %s\nloss_\n%s" % (loss, "\n".join("grad(loss_, %s)" % n for n in names))
        found = self.eval(text, **variables)
        return (found[0], found[1]) if isinstance(wrt, str) else (found[0], tuple(found[1:]))

    def grad(self, loss, wrt, **variables):
        """The gradients alone."""
        return self.value_and_grad(loss, wrt, **variables)[1]

    def explain(self, text, analyze=False, **variables):
        """The plan: steps, devices, bytes, predicted and (analyze: it is run) measured times, what else was possible."""
        values, leaves, made = {n: _normal(n, v) for n, v in variables.items()}, {}, set()
        try:
            for n, v in values.items():
                leaves[n] = self._leaf(v)
                made.add(leaves[n])
                if isinstance(v, np.ndarray) or _is_sparse(v):
                    self._check(_lib.clf_label(leaves[n], n.encode()))
            outs = self._parse(text, leaves, made)
            handles = (_P * len(outs))(*[h for _, h in outs])
            return Plan(*[self._explain(handles, form, 1 if analyze else 0) for form in (0, 2)])
        finally:
            self._free(made)

    # -- inside

    def _check(self, status):
        if status:
            raise _error(status, _lib.clf_last_error(self._c))

    def _good(self, handle):
        text = _S()
        status = _lib.clf_status_of(handle, C.byref(text))
        if status:
            message = text.value
            _lib.clf_free(handle)
            raise _error(status, message)
        return handle

    def _leaf(self, v):
        """A handle over the caller's memory, which must stay until the handle and what was recorded with it are gone."""
        if type(v) is np.ndarray:
            return _lib.clf_borrow(self._c, _CODES[v.dtype], v.shape[0], v.shape[1], v.__array_interface__["data"][0], None, None)
        if isinstance(v, float):
            return _lib.clf_num(self._c, v)
        if isinstance(v, int):
            return _lib.clf_int(self._c, v)
        if _is_sparse(v):
            o = _SparseOptions(C.sizeof(_SparseOptions), v.indptr.dtype.itemsize, 4, False, False, True, None, None)
            return self._good(_lib.clf_sparse_csr(self._c, _CODES[v.dtype], v.shape[0], v.shape[1], v.nnz, v.indptr.ctypes.data,
                                                  v.indices.ctypes.data, v.data.ctypes.data, C.byref(o)))
        return self._leaf(np.asarray(v))  # a subclass of ndarray

    def _param(self, name, v):
        if isinstance(v, int):
            return _lib.clf_int(self._c, v)
        if isinstance(v, float):
            p = _lib.clf_param(self._c, 1, 0, 0, True)
        elif _is_sparse(v):
            p = _lib.clf_param_sparse(self._c, _CODES[v.dtype], v.shape[0], v.shape[1], v.nnz)
        else:
            p = _lib.clf_param(self._c, _CODES[v.dtype], v.shape[0], v.shape[1], False)
        _lib.clf_label(self._good(p), name.encode())
        return p

    def _free(self, handles):
        for h in handles:
            _lib.clf_free(h)

    def _parse(self, text, bound, handles):
        """[(name, handle)] of the bare results, or of the name bound last. All handles that it makes are added to `handles`."""
        n = C.c_size_t(text.count("\n") + text.count(";") + text.count("}") + 1)
        results = (_Result * n.value)()
        names = (_Binding * max(1, len(bound)))(*[_Binding(k.encode(), h) for k, h in bound.items()])
        self._check(_lib.clf_parse(self._c, text.encode(), names, len(bound), results, C.byref(n)))
        found = [(r.name.decode(), r.value, r.bare) for r in results[:n.value]]
        handles.update(r.value for r in results[:n.value])
        if not found:
            raise _error(5, b"the program has no result")
        bare = [(name, h) for name, h, b in found if b]
        return bare or [found[-1][:2]]

    def _function(self, text, values):
        key = (text, tuple((n, _signature(v)) for n, v in values.items()))
        with self._lock:
            f = self._functions.get(key)
            if f:
                self._functions.move_to_end(key)
                return f
        f = Function(self, text, values)
        with self._lock:
            self._functions[key] = f
            if len(self._functions) > self.FUNCTIONS:
                self._functions.popitem(last=False)
        return f

    def _value(self, handle):
        rows, cols, code, scalar = _L(), _L(), _I(), C.c_bool()
        owner = _Owner(self, handle)
        self._check(_lib.clf_info(handle, C.byref(rows), C.byref(cols), C.byref(code), C.byref(scalar)))
        dtype = _DTYPES[code.value]
        if scalar.value:
            cell = np.empty(1, dtype)
            self._check(_lib.clf_read(handle, cell.ctypes.data, dtype.itemsize))
            return cell[0].item()
        storage = _Storage(C.sizeof(_Storage))
        self._check(_lib.clf_storage_of(handle, C.byref(storage)))
        if storage.format == b"csr":
            return self._entries(owner, handle, (rows.value, cols.value), dtype)
        address = _P()
        self._check(_lib.clf_data(handle, C.byref(address)))
        return owner.show(address.value, dtype, (rows.value, cols.value)) if address.value else np.empty((rows.value, cols.value), dtype)

    def _entries(self, owner, handle, shape, dtype):
        from scipy import sparse
        nnz, at = _L(), [_P(), _P(), _P()]
        self._check(_lib.clf_data_csr(handle, C.byref(nnz), *[C.byref(p) for p in at]))
        kinds = [(np.dtype("i8"), shape[0] + 1), (np.dtype("i4"), nnz.value), (dtype, nnz.value)]
        offsets, indices, values = [np.array(owner.show(p.value, d, (n,))) if n else np.empty(0, d) for p, (d, n) in zip(at, kinds)]
        return sparse.csr_matrix((values, indices, offsets), shape=shape)

    def _explain(self, handles, form, flags):
        pieces = []
        write = _WRITE(lambda user, text, n: pieces.append(C.string_at(text, n)))
        self._check(_lib.clf_explain(len(handles), handles, form, flags, C.cast(write, _P), None))
        return b"".join(pieces).decode()


_default = None


def context():
    """The context of the functions below; a forked child gets its own."""
    global _default
    if _default is None or _default._c is None or _default._pid != os.getpid():
        _default = Context()
    return _default


def _common(method):
    def call(*args, **variables):
        return getattr(context(), method.__name__)(*args, **variables)
    call.__name__, call.__doc__ = method.__name__, "Of the common context: " + method.__doc__
    return call


eval, function, explain = _common(Context.eval), _common(Context.function), _common(Context.explain)
value_and_grad, grad = _common(Context.value_and_grad), _common(Context.grad)
