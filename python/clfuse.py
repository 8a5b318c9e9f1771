# SPDX-License-Identifier: Apache-2.0
"""clfuse from Python: formulas over NumPy and SciPy arrays, run as few fused kernels.

    import clfuse, numpy as np
    X, Y = np.random.rand(1000, 10), np.random.rand(1000, 10)
    clfuse.eval("sum(X * Y)", X=X, Y=Y)                      # a float
    f = clfuse.function("A = X * Y; rowSums(A)", X=X, Y=Y)    # planned once for these shapes
    f(X, Y)                                                   # a 1000 x 1 array
    loss, g = clfuse.value_and_grad("sum((X %*% w - Y)^2)", "w", X=X, Y=Y, w=np.zeros((10, 10)))
    clfuse.explain("sum(X * Y)", X=X, Y=Y)                    # text; a picture in a notebook

What goes in: arrays of f4 f8 i4 i8 u1 and bool of one dimension (a column) or two, used in place when they are C-contiguous, else copied;
SciPy CSR matrices, used in place, too (CSC and COO are converted); what was put() into the context; floats, which are parameters; ints,
which are constants (so that they may be sizes). What comes out: numbers, read-only arrays over the library's memory, CSR matrices where
the library has them so. Errors are exceptions of type clfuse.Error, and also of the built-in type that fits.

Functions and plans are kept by program text and by types and shapes of the variables. A Context may be used by several threads.
ctypes only: nothing is compiled. The library is found by CLFUSE_LIBRARY, beside this file, in ../build, or by the system's loader.
"""
import contextlib
import ctypes as C
import ctypes.util
import os
import threading

import numpy as np

__all__ = "Context Error Function Placed Plan context eval explain function grad put value_and_grad version".split()

_P, _I, _L, _Z, _S, _B = C.c_void_p, C.c_int, C.c_int64, C.c_size_t, C.c_char_p, C.c_bool
_TYPES = {"P": _P, "I": _I, "L": _L, "Z": _Z, "S": _S, "B": _B, "D": C.c_double, "U": C.c_uint, "V": None,
          "W": C.CFUNCTYPE(None, _P, _P, _Z), "T": C.CFUNCTYPE(_I, _P, _P)}


def _struct(**fields):
    return type("Struct", (C.Structure,), {"_fields_": list(fields.items())})


_Options = _struct(struct_size=_Z, device=_S, fuse=_S, alloc=_P, alloc_user=_P, log=_P, log_user=_P, mem_limit=_Z)
_SparseOptions = _struct(struct_size=_Z, offset_bytes=_I, index_bytes=_I, trusted=_B, add=_B, borrow=_B, release=_P, user=_P)
_Binding, _Result = _struct(name=_S, value=_P), _struct(name=_S, value=_P, bare=_B, used=_B)
_Storage = _struct(struct_size=_Z, format=_S, nnz=_L, structural=_B, borrowed=_B, bytes=C.c_uint64)
_MemStats = _struct(struct_size=_Z, **{f: C.c_uint64 for f in ("now", "peak", "data", "pooled", "borrowed", "limit")})
_Progress = _struct(struct_size=_Z, stage=_I, what=_S, done=C.c_uint64, all=C.c_uint64)
_SIGNATURES = """version S, open I PP, open_error S, close V P, last_error S P, set I PSS, status_name S I, borrow P PILLPPP, num P PD,
int P PL, sparse_csr P PILLLPPPP, param P PILLB, param_sparse P PILLL, label I PS, free V P, changed I P, info I PPPPP, storage_of I PP,
data I PP, data_csr I PPPPP, read I PPZ, fn_new I PZPZPP, call I PZPZP, fn_free V P, parse I PSPZPP, explain I ZPIUWP, get_mem_stats I PP,
explain_for I ZPZPIUWP, device_profile I PIWP, calibrate I P, set_progress I PTP"""


def _load():
    here = os.path.dirname(os.path.abspath(__file__))
    tries = [os.environ.get("CLFUSE_LIBRARY"), os.path.join(here, "libclfuse.so.0"),
             os.path.join(here, "..", "build", "libclfuse.so.0"), ctypes.util.find_library("clfuse")]
    for path in tries:
        if path and (os.path.exists(path) or not os.path.isabs(path)):
            lib = C.CDLL(path)
            for name, result, *arguments in map(str.split, _SIGNATURES.split(",")):
                f = getattr(lib, "clf_" + name)
                f.restype, f.argtypes = _TYPES[result], [_TYPES[t] for t in "".join(arguments)]
            return lib
    raise ImportError("libclfuse.so.0 was not found: install clfuse, or name the library by CLFUSE_LIBRARY")


_lib = _load()
_DTYPES = [np.dtype(t) for t in ("f4", "f8", "i4", "i8", "u1")]  # by clf_dtype
_CODES = {**{d: i for i, d in enumerate(_DTYPES)}, np.dtype(bool): 4}


def version():
    """The library's version, such as "0.1.0"."""
    return _lib.clf_version().decode()


class Error(Exception):
    """What the library says went wrong; `status` is its code's name, such as "CLF_E_SHAPE"."""


_CLASSES = {"CLF_E_" + name: type("Error", (Error, also), {"__module__": __name__}) for also, names in (
    (ValueError, "ARG SHAPE SYNTAX FORMAT"), (TypeError, "TYPE"), (NameError, "NAME"), (MemoryError, "NOMEM"), (OSError, "IO"))
    for name in names.split()}


def _error(status, text):
    name = _lib.clf_status_name(status).decode()
    e = _CLASSES.get(name, Error)((text.decode(errors="replace") if isinstance(text, bytes) else text) or name)
    e.status = name
    return e


def _is_sparse(v):
    return hasattr(v, "tocsr") and hasattr(v, "nnz")


def _normal(name, v):
    """A variable in a form that the library takes: a float, an int, a 2-d C-contiguous array, a CSR matrix of 32-bit columns, Placed."""
    if type(v) is Placed or type(v) is np.ndarray and v.ndim == 2 and v.flags.c_contiguous and v.dtype in _CODES:
        return v
    if isinstance(v, (int, np.integer, np.bool_, float, np.floating)):
        return float(v) if isinstance(v, (float, np.floating)) else int(v)
    if _is_sparse(v):
        a = v.tocsr()
        if not a.has_canonical_format:
            a = a.copy()
            a.sum_duplicates()
        if a.indices.dtype != np.int32:
            a = type(a)((a.data, a.indices.astype(np.int32), a.indptr), shape=a.shape)
    else:
        a = np.asarray(v)
        a = np.ascontiguousarray(a.reshape(-1, 1) if a.ndim < 2 else a)
    if a.dtype not in _CODES or a.ndim > 2:
        raise _error(3, "%s: no matrix of type %s and %d dimensions" % (name, a.dtype, a.ndim))
    return a


def _signature(v):
    """What a function depends on."""
    if type(v) is np.ndarray or _is_sparse(v):
        return (v.dtype.char, v.shape) if type(v) is np.ndarray else (v.dtype.char, v.shape, "csr", v.indptr.dtype.char)
    return v.signature if type(v) is Placed else ("float",) if isinstance(v, float) else v


class _Owner:
    """A handle that goes with this object, unless the context went first or this is a forked child."""
    __slots__ = ("ctx", "handle", "__array_interface__", "__weakref__")

    def __init__(self, ctx, handle):
        self.ctx, self.handle = ctx, handle

    def show(self, address, dtype, shape):
        """An array of the handle's cells; it keeps the owner, which keeps the context."""
        self.__array_interface__ = {"data": (address, True), "typestr": dtype.str, "shape": shape, "version": 3}
        return np.asarray(self)

    def __del__(self):
        if self.ctx._c and os is not None and os.getpid() == self.ctx._pid:
            self._drop()

    def _drop(self):
        _lib.clf_free(self.handle)


class Placed(_Owner):
    """An array or a CSR matrix put into a context for many calls: it is checked once, and what the library makes of it (its transpose, a
    copy on a device) is kept. To be passed where the array could. Whoever writes to the array calls changed()."""
    def __init__(self, ctx, v):
        super().__init__(ctx, ctx._leaf(v))
        self.value, self.signature = v, _signature(v)
        ctx._check(_lib.clf_info(self.handle, None, None, None, None))

    def changed(self):
        self.ctx._check(_lib.clf_changed(self.handle))


class Plan(str):
    """What explain says: text; notebooks show the picture, .svg."""
    __repr__, _repr_svg_ = str.__str__, lambda self: self.svg


class Function(_Owner):
    """A program for variables of given types and shapes. Call it with values in the order of its variables, or by name."""
    def __init__(self, ctx, text, example):
        super().__init__(ctx, None)
        example = {n: v.value if type(v) is Placed else v for n, v in example.items()}
        self._spare = []  # arrays of arguments and results not in use; handles of numbers stay in them
        self.names, self.constants = list(example), {n: v for n, v in example.items() if isinstance(v, int)}
        self.params = [n for n in example if n not in self.constants]
        self.signature = [_signature(example[n]) for n in self.params]
        with ctx._recorded(text, example, ctx._param) as (bound, outs):  # the function keeps what was recorded
            self._kinds = [ctx._kind(h) for h in outs]
            self._args, self._outs = _P * len(self.params), _P * len(outs)
            params, results, fn = self._args(*map(bound.get, self.params)), self._outs(*outs), _P()
            ctx._check(_lib.clf_fn_new(ctx._c, len(params), params, len(results), results, C.byref(fn)))
        self.handle = fn.value

    def __call__(self, *values, **named):
        """The value of the program's bare result; a tuple when there are several."""
        return self._run(values if len(values) == len(self.params) and not named else self._by_name(values, named))

    def _by_name(self, values, named):
        given = {**self.constants, **dict(zip(self.names, values)), **named}
        if set(given) - set(self.names):
            raise _error(4, "no variable " + ", ".join(sorted(set(given) - set(self.names))))
        if len(values) > len(self.names) or len(given) < len(self.names):
            raise _error(1, "%d values are given for %d variables" % (len(values) + len(named), len(self.names)))
        for n, c in self.constants.items():
            if given[n] != c:
                raise _error(1, "%s is a constant of this function: %d" % (n, c))
        return [given[n] for n in self.params]

    def _run(self, values):
        ctx, lib, made, held = self.ctx, _lib, [], []
        if not ctx._c:
            raise _error(14, "the context is closed")
        try:
            args, outs = self._spare.pop()
        except IndexError:
            args, outs = self._args(), self._outs()
        try:
            for i, v in enumerate(values):
                if type(v) is Placed and v.ctx is ctx and v.signature == self.signature[i]:
                    args[i] = v.handle
                    continue
                if type(v) is not np.ndarray or not v.flags.c_contiguous or (v.dtype.char, v.shape) != self.signature[i]:
                    v = self._argument(i, v)
                    held.append(v)
                args[i] = h = ctx._leaf(v)
                if type(v) is not Placed:
                    made.append(h)
            ctx._check(lib.clf_call(self.handle, len(args), args, len(outs), outs))
            found = [ctx._value(outs, i, kind) for i, kind in enumerate(self._kinds)]
        finally:
            for h in made:  # results never refer to the caller's memory
                lib.clf_free(h)
            self._spare.append((args, outs))
        return found[0] if len(found) == 1 else tuple(found)

    def _argument(self, i, v):
        v, want = _normal(self.params[i], v), self.signature[i]
        v = float(v) if want == ("float",) and isinstance(v, int) else v
        if _signature(v) != want:
            raise _error(2, "%s is %s, the function is for %s" % (self.params[i], _signature(v), want))
        return v

    def _drop(self):
        for h in [h for _, outs in self._spare for h in outs]:
            _lib.clf_free(h)
        _lib.clf_fn_free(self.handle)


class Context:
    """Devices, memory and prepared plans. device: "host", "cpu", "gpu", a number, part of a name. mem_limit: bytes of matrix data.
    Settings go by the names of `clfuse info --env`: Context(fuse="cost", math="strict")."""
    FUNCTIONS, _c, _tell, _raised = 256, None, None, None  # how many functions are kept; the library's context

    def __init__(self, device=None, fuse=None, mem_limit=0, **settings):
        self._c, self._pid, self._functions, self._lock = None, os.getpid(), {}, threading.Lock()
        c, o = _P(), _Options(C.sizeof(_Options), device and str(device).encode(), fuse and fuse.encode(), mem_limit=mem_limit)
        status = _lib.clf_open(C.byref(c), C.byref(o))
        if status:
            raise _error(status, _lib.clf_open_error())
        self._c = c.value
        for name, value in settings.items():
            self.set(name, value)

    def close(self):
        """Free everything; arrays that show the library's memory must be gone."""
        c, self._c = self._c, None
        if c and os.getpid() == self._pid:
            _lib.clf_close(c)

    __del__ = close

    def set(self, name, value):
        """Change a setting."""
        self._check(_lib.clf_set(self._c, name.encode(), str(value).encode()))

    def progress(self, f):
        """Have f(stage, what, done, all) called while something takes long; stage: "read", "plan", "build", "run" or "write". A true
        result, or an exception, ends the call; f must not use the context. None: no more."""
        def tell(_, address):
            try:
                p = _Progress.from_address(address)
                return bool(f("read plan build run write".split()[p.stage], p.what.decode(errors="replace"), p.done, p.all))
            except BaseException as e:
                self._raised = e
                return 1
        was, self._tell = self._tell, _TYPES["T"](tell) if f else _TYPES["T"]()  # kept as long as it may be called
        self._check(_lib.clf_set_progress(self._c, self._tell, None))

    def profile(self, device=0):
        """The figures that plans for a device are made with, as a profile file has them: see explain."""
        return self._written(lambda write: _lib.clf_device_profile(self._c, device, write, None))

    def calibrate(self):
        """Measure every device, once on a machine: seconds. Figures are kept on disk for all who come later."""
        self._check(_lib.clf_calibrate(self._c))

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
        return f._run(map(values.get, f.params))

    def value_and_grad(self, loss, wrt, **variables):
        """A loss (one expression) and its gradients with respect to variables: one name, or several, then a tuple of gradients."""
        wanted = ["grad(loss_, %s)" % n for n in ([wrt] if isinstance(wrt, str) else wrt)]
        value, *gradients = self.eval("\n".join(["loss_ = " + loss, "loss_"] + wanted), **variables)
        return value, gradients[0] if isinstance(wrt, str) else tuple(gradients)

    def grad(self, loss, wrt, **variables):
        """The gradients alone."""
        return self.value_and_grad(loss, wrt, **variables)[1]

    def put(self, value):
        """An array or CSR matrix for many calls: see Placed."""
        return value if type(value) is Placed else Placed(self, _normal("value", value))

    def explain(self, text, analyze=False, profiles=(), **variables):
        """The plan: steps, bytes, predicted and (analyze: it is run) measured times; for the devices of profile files, the host's first."""
        values, files = {n: _normal(n, v) for n, v in variables.items()}, (_S * len(profiles))(*map(os.fsencode, profiles))
        with self._recorded(text, values, self._leaf) as (_, outs):
            handles = (_P * len(outs))(*outs)
            call = (lambda *a: _lib.clf_explain_for(len(files), files, *a)) if files else _lib.clf_explain
            text, svg = (self._written(lambda write: call(len(outs), handles, form, bool(analyze), write, None)) for form in (0, 2))
        plan = Plan(text)
        plan.svg = svg
        return plan

    def _written(self, call):
        pieces = []
        self._check(call(_TYPES["W"](lambda user, text, n: pieces.append(C.string_at(text, n)))))
        return b"".join(pieces).decode()

    def _check(self, status):
        if status:
            raised, self._raised = self._raised, None
            raise raised or _error(status, _lib.clf_last_error(self._c))

    def _leaf(self, v):
        """A handle over the caller's memory, which must stay until the handle and what was recorded with it are gone."""
        if type(v) is np.ndarray:
            return _lib.clf_borrow(self._c, _CODES[v.dtype], v.shape[0], v.shape[1], v.ctypes.data, None, None)
        if type(v) is Placed:
            if v.ctx is not self:
                raise _error(1, "what was put into another context is given")
            return v.handle
        if isinstance(v, (float, int)):
            return (_lib.clf_num if isinstance(v, float) else _lib.clf_int)(self._c, v)
        o = _SparseOptions(C.sizeof(_SparseOptions), v.indptr.dtype.itemsize, 4, False, False, True, None, None)
        arrays = [a.ctypes.data for a in (v.indptr, v.indices, v.data)]
        return _lib.clf_sparse_csr(self._c, _CODES[v.dtype], *v.shape, v.nnz, *arrays, C.byref(o))

    def _param(self, v):
        if isinstance(v, int):
            return _lib.clf_int(self._c, v)
        if _is_sparse(v):
            return _lib.clf_param_sparse(self._c, _CODES[v.dtype], v.shape[0], v.shape[1], v.nnz)
        return _lib.clf_param(self._c, 1, 0, 0, True) if isinstance(v, float) else _lib.clf_param(self._c, _CODES[v.dtype], *v.shape, False)

    @contextlib.contextmanager
    def _recorded(self, text, values, make):
        """{name: handle} of the variables, made so, and the handles of the bare results, or of the name bound last; for a while."""
        bound, made, n = {}, set(), _Z(text.count("\n") + text.count(";") + text.count("}") + 1)
        try:
            for name, v in values.items():
                bound[name] = make(v)
                if type(v) is not Placed:
                    made.add(bound[name])
                _lib.clf_label(bound[name], name.encode())
            results, names = (_Result * n.value)(), (_Binding * len(bound))(*[_Binding(k.encode(), h) for k, h in bound.items()])
            self._check(_lib.clf_parse(self._c, text.encode(), names, len(bound), results, C.byref(n)))
            found = [(r.value, r.bare) for r in results[:n.value]]
            made.update(h for h, _ in found)
            if not found:
                raise _error(5, "the program has no result")
            yield bound, [h for h, bare in found if bare] or [found[-1][0]]
        finally:
            for h in made - {v.handle for v in values.values() if type(v) is Placed}:
                _lib.clf_free(h)

    def _function(self, text, values):
        key = (text, tuple((n, _signature(v)) for n, v in values.items()))
        with self._lock:
            f = self._functions[key] = self._functions.pop(key, None) or Function(self, text, values)
            if len(self._functions) > self.FUNCTIONS:
                del self._functions[next(iter(self._functions))]  # the one not asked for longest
        return f

    def _kind(self, handle):  # of a result: element type, shape, and for a number its ctypes type
        rows, cols, code, scalar = _L(), _L(), _I(), _B()
        self._check(_lib.clf_info(handle, C.byref(rows), C.byref(cols), C.byref(code), C.byref(scalar)))
        return (d := _DTYPES[code.value]), (rows.value, cols.value), np.ctypeslib.as_ctypes_type(d) if scalar.value else None

    def _value(self, outs, i, kind):
        """Result i. Handles of numbers stay in outs, for the next call's."""
        dtype, shape, number = kind
        if number:
            cell = number()
            self._check(_lib.clf_read(outs[i], C.byref(cell), dtype.itemsize))
            return cell.value
        owner, outs[i] = _Owner(self, outs[i]), None
        storage, address = _Storage(C.sizeof(_Storage)), _P()
        self._check(_lib.clf_storage_of(owner.handle, C.byref(storage)))
        if storage.format == b"csr":
            return self._entries(owner, shape, dtype)
        self._check(_lib.clf_data(owner.handle, C.byref(address)))
        return owner.show(address.value, dtype, shape) if address.value else np.empty(shape, dtype)

    def _entries(self, owner, shape, dtype):
        from scipy import sparse
        nnz, at = _L(), [_P(), _P(), _P()]
        self._check(_lib.clf_data_csr(owner.handle, C.byref(nnz), *map(C.byref, at)))
        kinds = [("i8", shape[0] + 1), ("i4", nnz.value), (dtype, nnz.value)]
        parts = [np.array(owner.show(p.value, np.dtype(d), (n,))) if n else np.empty(0, d) for p, (d, n) in zip(at, kinds)]
        return sparse.csr_matrix(tuple(parts[::-1]), shape=shape)


_default = None


def context():
    """The context of the functions below; a forked child gets its own."""
    global _default
    if _default is None or _default._c is None or _default._pid != os.getpid():
        _default = Context()
    return _default


def _common(name):
    def call(*args, **variables):
        return getattr(context(), name)(*args, **variables)
    call.__name__, call.__doc__ = name, "Of the common context: " + getattr(Context, name).__doc__
    return call


eval, explain, function, grad, put, value_and_grad = map(_common, ("eval", "explain", "function", "grad", "put", "value_and_grad"))
