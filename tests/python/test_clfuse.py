# SPDX-License-Identifier: Apache-2.0
"""The Python binding: values in and out, without copies where it says so, against NumPy; errors as exceptions; nothing leaks."""
import gc
import os
import subprocess
import sys
import tempfile
import threading
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import numpy as np
from scipy import sparse

import clfuse


def numbers(*shape):
    return np.random.default_rng(7).random(shape)


class Values(unittest.TestCase):
    def test_types(self):
        for t in ("f4", "f8", "i4", "i8", "u1"):
            x = (numbers(5, 3) * 100).astype(t)
            y = clfuse.eval("X + X", X=x)
            self.assertEqual(y.dtype, np.dtype("i4") if t == "u1" else x.dtype)
            np.testing.assert_array_equal(y, x.astype(y.dtype) * 2)
        b = numbers(4, 4) > 0.5
        self.assertEqual(clfuse.eval("sum(X)", X=b), b.sum())

    def test_numbers_come_as_python_numbers(self):
        self.assertIs(type(clfuse.eval("sum(X)", X=numbers(3, 3))), float)
        self.assertIs(type(clfuse.eval("sum(X)", X=np.ones((3, 3), "i4"))), int)

    def test_vectors_are_columns(self):
        v = numbers(7)
        np.testing.assert_array_equal(clfuse.eval("t(v)", v=v), v.reshape(1, 7))

    def test_any_layout(self):
        x = numbers(6, 8)
        for y in (np.asfortranarray(x), x[::2, 1:5], x.T, x[::-1], np.lib.stride_tricks.as_strided(x, (4, 4), (8, 8))):
            np.testing.assert_array_equal(clfuse.eval("Y * 2", Y=y), y * 2)

    def test_empty(self):
        self.assertEqual(clfuse.eval("X + 1", X=np.empty((0, 4))).shape, (0, 4))
        self.assertEqual(clfuse.eval("sum(X)", X=np.empty((0, 4))), 0)

    def test_ints_are_constants_and_floats_are_not(self):
        x = numbers(9, 2)
        c = clfuse.Context()
        for k in (1, 4, 9):
            np.testing.assert_array_equal(c.eval("X[1:k,]", X=x, k=k), x[:k])
        before = len(c._functions)
        for a in (0.5, 2.5):
            np.testing.assert_array_equal(c.eval("X * a", X=x, a=a), x * a)
        self.assertEqual(len(c._functions), before + 1)

    def test_arrays_are_used_in_place(self):
        x = numbers(1000, 1000)
        c = clfuse.Context(device="host", mem_limit=1 << 20)  # a copy of x would not fit
        self.assertAlmostEqual(c.eval("sum(X)", X=x), x.sum(), delta=1e-6)
        x[0, 0] += 1000  # and are looked at again
        self.assertAlmostEqual(c.eval("sum(X)", X=x), x.sum(), delta=1e-6)

    def test_results_are_not_the_callers_memory(self):
        x = numbers(4, 4)
        y = clfuse.eval("X", X=x)
        x[:] = 0
        self.assertGreater(y.min(), 0)
        with self.assertRaises(ValueError):
            y[0, 0] = 1

    def test_results_outlive_everything(self):
        c = clfuse.Context()
        y = c.eval("X + 1", X=np.zeros((300, 300)))
        del c
        gc.collect()
        self.assertEqual(y.sum(), 90000)

    def test_several_results(self):
        x = numbers(5, 5)
        s, m = clfuse.eval("A = X * 2; sum(A); A", X=x)
        self.assertAlmostEqual(s, 2 * x.sum())
        np.testing.assert_array_equal(m, 2 * x)
        np.testing.assert_array_equal(clfuse.eval("A = X * 2; B = A + 1", X=x), 2 * x + 1)


class Sparse(unittest.TestCase):
    def setUp(self):
        self.s = sparse.random(200, 90, 0.05, "csr", random_state=3)

    def test_formats(self):
        for f in ("csr", "csc", "coo"):
            self.assertAlmostEqual(clfuse.eval("sum(S^2)", S=self.s.asformat(f)), (self.s.data**2).sum())

    def test_results(self):
        r = clfuse.eval("S * 3", S=self.s)
        self.assertTrue(sparse.issparse(r))
        self.assertEqual((r != self.s * 3).nnz, 0)
        np.testing.assert_allclose(clfuse.eval("S %*% v", S=self.s, v=np.ones(90)), self.s @ np.ones((90, 1)))

    def test_unsorted_and_doubled_entries(self):
        s = sparse.csr_matrix((np.array([1.0, 2, 4]), np.array([2, 0, 2]), np.array([0, 3])), shape=(1, 3))
        np.testing.assert_array_equal(clfuse.eval("S + 0 * t(v)", S=s, v=np.ones(3)), [[2, 0, 5]])
        self.assertEqual(s.nnz, 3)  # the caller's is left alone

    def test_wide_offsets(self):
        s = self.s.copy()
        s.indptr, s.indices = s.indptr.astype("i8"), s.indices.astype("i8")
        self.assertAlmostEqual(clfuse.eval("sum(S)", S=s), self.s.sum())

    def test_damaged(self):
        s = self.s.copy()
        s.indices[3] = 1 << 20
        s.has_canonical_format = True
        with self.assertRaises(clfuse.Error):
            clfuse.eval("sum(S)", S=s)


class Placed(unittest.TestCase):
    """Arrays put into a context for many calls."""

    def test_used_in_place_until_told(self):
        x = numbers(1000, 1000)
        c = clfuse.Context(device="host", mem_limit=1 << 20)  # a copy of x would not fit
        f, p = c.function("sum(X)", X=x), c.put(x)
        self.assertAlmostEqual(f(p), x.sum(), delta=1e-6)
        x[0, 0] += 1000
        p.changed()
        self.assertAlmostEqual(f(p), x.sum(), delta=1e-6)
        self.assertAlmostEqual(c.eval("sum(X)", X=p), f(x), delta=1e-6)
        self.assertEqual(len(c._functions), 1)  # what it holds decides, not how it came
        self.assertIs(c.put(p), p)

    def test_sparse(self):
        s, v = sparse.random(200, 90, 0.05, "csr", random_state=3), numbers(200, 1)
        c = clfuse.Context(device="host")
        f, p = c.function("t(S) %*% v", S=s, v=v), c.put(s)
        for _ in range(3):
            np.testing.assert_allclose(f(p, v), s.T @ v, rtol=1e-12)
            s.data *= 2
            p.changed()
        s.indices[5] = 1 << 20
        with self.assertRaises(clfuse.Error):
            p.changed()
        with self.assertRaises(clfuse.Error):
            c.put(s)

    def test_results_are_not_its_memory(self):
        x = numbers(4, 4)
        c = clfuse.Context()
        y = c.eval("X", X=c.put(x))
        x[:] = 0
        self.assertGreater(y.min(), 0)

    def test_of_another_context(self):
        x = numbers(3, 3)
        with self.assertRaises(ValueError):
            clfuse.Context(device="host").eval("sum(X)", X=clfuse.Context(device="host").put(x))

    def test_explained_and_freed(self):
        c = clfuse.Context(device="host")
        x = numbers(300, 300)
        p = c.put(x)
        self.assertIn("X", str(c.explain("sum(X)", X=p)))
        self.assertAlmostEqual(c.eval("sum(X)", X=p), x.sum())
        self.assertEqual(c.memory().borrowed, x.nbytes)
        del p
        gc.collect()
        self.assertEqual(c.memory().borrowed, 0)


class Errors(unittest.TestCase):
    def check(self, status, also, text, **variables):
        with self.assertRaises(also) as e:
            clfuse.eval(text, **variables)
        self.assertIsInstance(e.exception, clfuse.Error)
        self.assertEqual(e.exception.status, status)
        return str(e.exception)

    def test_each(self):
        x = numbers(3, 4)
        self.assertIn("3x4", self.check("CLF_E_SHAPE", ValueError, "X %*% X", X=x))
        self.assertIn("'Y'", self.check("CLF_E_NAME", NameError, "X + Y", X=x))
        self.check("CLF_E_SYNTAX", ValueError, "X +* 2", X=x)
        self.check("CLF_E_SYNTAX", ValueError, "", X=x)
        self.check("CLF_E_TYPE", TypeError, "X", X=np.array(["a"]))
        self.check("CLF_E_TYPE", TypeError, "X", X=np.zeros((2, 2, 2)))
        self.check("CLF_E_TYPE", TypeError, "X", X=np.zeros((2, 2), complex))

    def test_budget(self):
        with self.assertRaises(MemoryError):
            clfuse.Context(device="host", mem_limit=1 << 16).eval("X + 1", X=np.zeros((1000, 1000)))

    def test_settings(self):
        with self.assertRaises(clfuse.Error):
            clfuse.Context(fuse="no such selector")
        with self.assertRaises(clfuse.Error):
            clfuse.Context().set("no such setting", 1)

    def test_calls(self):
        x = numbers(3, 4)
        f = clfuse.function("X * a + n", X=x, a=1.0, n=2)
        np.testing.assert_array_equal(f(x, 3.0, 2), x * 3 + 2)
        np.testing.assert_array_equal(f(x, 3), x * 3 + 2)
        np.testing.assert_array_equal(f(a=3.0, X=x, n=2), x * 3 + 2)
        for wrong in ((x,), (x, 1.0, 2, 3), (x, 1.0, 5), (x.T, 1.0, 2), (x.astype("f4"), 1.0, 2)):
            with self.assertRaises(ValueError):
                f(*wrong)
        with self.assertRaises(NameError):
            f(x, b=1.0)


class Life(unittest.TestCase):
    def test_nothing_leaks(self):
        c = clfuse.Context(device="host")
        x, s = numbers(200, 200), sparse.random(200, 200, 0.1, "csr", random_state=1)

        def some():
            c.eval("X + S", X=x, S=s)
            c.eval("sum(X)", X=x)
            c.explain("X * 2", X=x)
            with self.assertRaises(clfuse.Error):
                c.eval("X %*% v", X=x, v=x[:3])

        some()
        first = c.memory().now
        for _ in range(50):
            some()
        self.assertLess(c.memory().now, first + 65536)

    def test_numbers_of_threads_keep_apart(self):
        x = numbers(20, 20)
        f, wrong = clfuse.function("sum(X * a); sum(X) + a", X=x, a=1.0), []
        want = [f(x, float(k)) for k in range(4)]

        def work(k):
            wrong.extend(k for _ in range(300) if f(x, float(k)) != want[k])

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_closed(self):
        c = clfuse.Context(device="host")
        f, p = c.function("sum(X)", X=numbers(2, 2)), c.put(numbers(2, 2))
        c.close()
        with self.assertRaises(clfuse.Error):
            f(p)

    def test_functions_are_forgotten(self):
        c = clfuse.Context(device="host")
        c.FUNCTIONS = 4
        for i in range(20):
            self.assertEqual(c.eval("a + %d" % i, a=1.0), 1 + i)
        self.assertEqual(len(c._functions), 4)

    def test_threads(self):
        x, wrong = numbers(100, 100), []

        def work(k):
            for i in range(30):
                if not np.array_equal(clfuse.eval("X * a", X=x, a=float(k)), x * k):
                    wrong.append((k, i))

        threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(wrong, [])

    def test_fork(self):
        clfuse.eval("1 + 1")
        child = os.fork()
        if not child:
            os._exit(0 if clfuse.eval("a + 2", a=1.0) == 3 else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)


class Seeing(unittest.TestCase):
    def test_explain(self):
        x = numbers(100, 10)
        plan = clfuse.explain("sum(X * X)", X=x)
        self.assertIn("FUSED", str(plan))
        self.assertIn("X", str(plan))
        self.assertTrue(plan._repr_svg_().lstrip().startswith("<"))
        self.assertIn("measured", str(clfuse.explain("sum(X * X)", analyze=True, X=x)))

    def test_explain_for_other_machines(self):
        c, x = clfuse.Context(device="host"), numbers(100, 10)
        with tempfile.TemporaryDirectory() as folder:
            here, there = os.path.join(folder, "here.txt"), os.path.join(folder, "there.txt")
            for path in (here, there):
                with open(path, "w") as f:
                    f.write(c.profile())
            plan = c.explain("sum(X * X)", profiles=[here, there], X=x)
            self.assertRegex(str(plan), "on (here|there)")
            self.assertTrue(plan.svg.lstrip().startswith("<"))
            with self.assertRaises(OSError):
                c.explain("sum(X * X)", profiles=[os.path.join(folder, "none.txt")], X=x)
        self.assertIn("read_bytes_per_s", c.profile())
        with self.assertRaises(clfuse.Error):
            c.profile(1000)

    def test_calibrate(self):
        text = """import clfuse
for told in ("assumed 1", "assumed 0"):
    c = clfuse.Context(device="host")
    assert "\\n%s\\n" % told in c.profile(), told
    c.calibrate()
"""
        with tempfile.TemporaryDirectory() as folder:
            env = dict(os.environ, CLF_CACHE="on", CLF_CACHE_DIR=os.path.join(folder, "cache"), PYTHONPATH=os.path.dirname(clfuse.__file__))
            subprocess.run([sys.executable, "-c", text], env=env, check=True)

    def test_progress(self):
        c, told, x = clfuse.Context(device="host"), [], numbers(100, 10)
        c.progress(lambda *what: told.append(what))
        want = c.eval("sum(exp(X) - mean(X))", X=x)
        self.assertEqual({t[0] for t in told}, {"plan", "run"})
        self.assertTrue(all(done <= all or not all for _, _, done, all in told))
        c.progress(lambda *what: True)
        with self.assertRaises(clfuse.Error) as e:
            c.eval("sum(exp(X) - mean(X))", X=x)
        self.assertEqual(e.exception.status, "CLF_E_CANCELLED")

        def interrupted(*what):
            raise KeyboardInterrupt
        c.progress(interrupted)
        with self.assertRaises(KeyboardInterrupt):
            c.eval("sum(exp(X) - mean(X))", X=x)
        c.progress(None)
        del told[:]
        self.assertEqual(c.eval("sum(exp(X) - mean(X))", X=x), want)
        self.assertEqual(told, [])

    def test_version(self):
        self.assertRegex(clfuse.version(), r"^\d+\.\d+\.\d+$")


class Gradients(unittest.TestCase):
    def test_least_squares(self):
        x, y, w = numbers(50, 4), numbers(50, 1), numbers(4, 1)
        loss, g = clfuse.value_and_grad("sum((X %*% w - y)^2)", "w", X=x, y=y, w=w)
        self.assertAlmostEqual(loss, ((x @ w - y) ** 2).sum())
        np.testing.assert_allclose(g, 2 * x.T @ (x @ w - y), rtol=1e-12)

    def test_several(self):
        u, v = numbers(6, 2), numbers(5, 2)
        s = sparse.random(6, 5, 0.5, "csr", random_state=2)
        gu, gv = clfuse.grad("sum((S != 0) * (S - U %*% t(V))^2)", ["U", "V"], S=s, U=u, V=v)
        e = 2 * (s.toarray() != 0) * (u @ v.T - s.toarray())
        np.testing.assert_allclose(gu, e @ v, rtol=1e-12)
        np.testing.assert_allclose(gv, e.T @ u, rtol=1e-12)


if __name__ == "__main__":
    unittest.main()
