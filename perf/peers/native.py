# SPDX-License-Identifier: Apache-2.0
"""Peers without an interface for Python: a small program each (blas_peer.c, viennacl_peer.cpp, boost_peer.cpp), compiled for this machine
and called in this process. Its interface (native_peer.h): put matrices, run a sequence by its name, read
what came out."""
import ctypes as C
import hashlib
import os
import subprocess
import sys

import numpy as np
from scipy import sparse

HERE = os.path.dirname(os.path.abspath(__file__))


class Missing(Exception):
    """Why a peer is not there."""


def build(source, compiler, *flags):
    """The shared object of a source beside this file, kept in the environment of the interpreter by all that it depends on."""
    texts = [open(os.path.join(HERE, name)).read() for name in (source, "native_peer.h")]
    key = hashlib.sha256("\0".join([*texts, compiler, *flags]).encode()).hexdigest()[:16]
    folder = os.path.join(sys.prefix, "native")
    target = os.path.join(folder, "%s-%s.so" % (source.split(".")[0], key))
    if not os.path.exists(target):
        os.makedirs(folder, exist_ok=True)
        compile_into(target, [compiler, "-O3", "-march=native", "-fPIC", "-shared", os.path.join(HERE, source), *flags])
    return C.CDLL(target)


def compile_into(target, command):
    """Under a name of its own first, so that there is never half a file."""
    half = "%s.%d" % (target, os.getpid())
    try:
        done = subprocess.run([*command, "-o", half], capture_output=True, text=True)
    except FileNotFoundError:
        raise Missing("no compiler " + command[0])
    if done.returncode:
        wrong = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        raise Missing("does not compile: " + (wrong or ["?"])[0].strip())
    os.rename(half, target)


class Native:
    """A peer by such a program; `key` names a case's sequence."""
    source, compiler, flags = "", "", ()

    def __init__(self):
        lib = self.lib = build(self.source, self.compiler, *self.flags)
        lib.peer_version.restype, lib.peer_version.argtypes = C.c_char_p, []
        lib.peer_put.argtypes = [C.c_int, C.c_int64, C.c_int64, C.c_int64, C.c_void_p, C.c_void_p, C.c_void_p]
        lib.peer_run.argtypes = [C.c_char_p]
        lib.peer_result.argtypes = [C.c_int, C.c_void_p, C.c_void_p, C.c_void_p]
        found = lib.peer_version()
        if not found:
            raise Missing("its library is not installed, or has no device with f64")
        self.version = found.decode()

    def put(self, name, v):
        """A matrix, dense or CSR of 32-bit indices, into the place of that name."""
        if sparse.issparse(v):
            parts = (v.data, v.indptr.astype(np.int32), v.indices.astype(np.int32))
        else:
            parts = (np.ascontiguousarray(v), None, None)
        self.held[name] = parts
        at = [p.ctypes.data if p is not None else None for p in parts]
        return self.lib.peer_put(ord(name), v.shape[0], v.shape[1], getattr(v, "nnz", v.size), *at)

    def results(self):
        """Those of the last run."""
        found = []
        while True:
            rows, cols, data = C.c_int64(), C.c_int64(), C.c_void_p()
            if not self.lib.peer_result(len(found), C.byref(rows), C.byref(cols), C.byref(data)):
                return found
            count = rows.value * cols.value
            found.append(np.frombuffer((C.c_double * count).from_address(data.value)).reshape(rows.value, cols.value))

    def wanted(self, case, data):
        return data if isinstance(case.get(self.key), str) else None

    def prepare(self, case, data):
        data, sequence = self.wanted(case, data), str(case.get(self.key, "")).encode()
        if data is None:  # the two of OpenBLAS are one library: the other one's matrices stay
            return []
        self.held = {}
        self.lib.peer_clear()
        if not all([self.put(n, v) for n, v in data.items()]):
            return []
        return [lambda: self.call(sequence)]

    def call(self, sequence):
        return Results(self) if self.lib.peer_run(sequence) else None


class Results:
    """What a run left in the peer's memory; only looked at when asked, so that calls are not charged for it."""

    def __init__(self, peer):
        self.peer = peer

    def __iter__(self):
        return iter([x.copy() for x in self.peer.results()])


class Blas(Native):
    """Sequences of OpenBLAS and plain loops on all cores: what a C program without fusion does."""
    name, key, source, compiler = "openblas", "blas", "blas_peer.c", "cc"
    flags = ("-fopenmp", "-ffast-math", "-ldl")


class DenseBlas(Blas):
    name, key = "openblas dense", "dense_blas"

    def wanted(self, case, data):
        return {k: v.toarray() if sparse.issparse(v) else v for k, v in data.items()} if self.key in case else None


class ViennaCL(Native):
    """A C++ library of linear algebra on OpenCL."""
    name, key, source, compiler = "viennacl", "viennacl", "viennacl_peer.cpp", "c++"
    flags = ("-w", "-lOpenCL")


class BoostCompute(Native):
    """A C++ library that compiles lambda expressions to OpenCL kernels."""
    name, key, source, compiler = "boost.compute", "boost", "boost_peer.cpp", "c++"
    flags = ("-w", "-lOpenCL")
