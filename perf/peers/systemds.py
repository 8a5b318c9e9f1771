# SPDX-License-Identifier: Apache-2.0
"""Apache SystemDS with its code generator, as installed from its Python package, in a Java process of its own: a script reads (or, dense,
makes by the same formula) the data, computes the result often enough to be compiled, and times further computations inside."""
import glob
import os
import re
import shutil
import site
import subprocess
import tempfile

import numpy as np
from scipy import io, sparse

from cases import dense

WARM, TIMED = 5, 7
CONFIG = """<root><sysds.codegen.enabled>%s</sysds.codegen.enabled><sysds.codegen.optimizer>fuse_cost_based_v2</sysds.codegen.optimizer>
<sysds.cp.parallel.ops>true</sysds.cp.parallel.ops></root>"""


def _home():
    for folder in site.getsitepackages():
        if os.path.exists(os.path.join(folder, "systemds", "SystemDS.jar")):
            return os.path.join(folder, "systemds")
    return None


def version():
    """(version or None, why not)."""
    home = _home()
    if not home:
        return None, "no such package"
    if not shutil.which("java"):
        return None, "no java"
    found = glob.glob(os.path.join(os.path.dirname(home), "systemds-*.dist-info"))
    return (re.search(r"systemds-(.*)\.dist-info", found[0]).group(1) if found else "?"), ""


def _input(name, x, folder):
    if sparse.issparse(x):
        path = os.path.join(folder, name + ".mtx")
        io.mmwrite(path, x)
        return '%s = read("%s", format="mm")' % (name, path)
    rows, cols = x.shape
    return ('I_ = matrix(seq(0, %d), rows=%d, cols=%d)\n%s = ((I_ * %d) %%%% 10007) / 10007 + 0.5'
            % (rows * cols - 1, rows, cols, name, 7919 + 2 * _which(x)))


def _which(x):
    """Which of the formula's matrices this is."""
    return next(w for w in range(3) if np.array_equal(dense(1, 2, w).ravel(), x.ravel()[:2]))


def script(case, data, folder):
    lines = [_input(n, x, folder) for n, x in data.items()]
    step = "  %s\n  if (sum(R) == 0.1234) print(\"\")\n" % case["systemds"].replace("; ", "\n  ")
    lines.append("for (i in 1:%d) {\n%s}" % (WARM, step))
    lines.append("for (i in 1:%d) {\n  begin = time()\n%s  print(\"ns \" + (time() - begin))\n}" % (TIMED, step))
    lines.append('write(R, "%s", format="csv")' % os.path.join(folder, "R.csv"))
    return "\n".join(lines) + "\n"


def run(case, data, want):
    """{"ms", "error"}, or None when it does not run. Its code generator fails on some programs: then without."""
    found = attempt(case, data, want, "true")
    return found or attempt(case, data, want, "false")


def result(path):
    """What was written: one file, or, of a large matrix, a folder with a file for each run of rows, numbered."""
    parts = [path]
    if os.path.isdir(path):
        parts = sorted(glob.glob(os.path.join(path, "[0-9]*")), key=lambda p: [int(n) for n in re.findall(r"\d+", os.path.basename(p))])
    return np.concatenate([np.loadtxt(p, delimiter=",", ndmin=2) for p in parts])


def attempt(case, data, want, codegen):
    home, folder = _home(), tempfile.mkdtemp()
    try:
        with open(os.path.join(folder, "case.dml"), "w") as f:
            f.write(script(case, data, folder))
        with open(os.path.join(folder, "config.xml"), "w") as f:
            f.write(CONFIG % codegen)
        classes = os.path.join(home, "SystemDS.jar") + ":" + os.path.join(home, "lib", "*")
        done = subprocess.run(["java", "-Xmx10g", "--add-modules=jdk.incubator.vector", "-cp", classes, "org.apache.sysds.api.DMLScript",
                               "-f", os.path.join(folder, "case.dml"),
                               "-config", os.path.join(folder, "config.xml"), "-exec", "singlenode"],
                              capture_output=True, text=True, cwd=folder, timeout=600)
        times = [float(t) / 1e6 for t in re.findall(r"^ns (\d+)", done.stdout, re.M)]
        if done.returncode or len(times) != TIMED:
            why = re.findall(r"ERROR.*", done.stderr + done.stdout) or ["?"]
            print("systemds: %s did not run with its code generator %s: %s" % (case["name"], codegen, why[0][:160]))
            return None
        got = result(os.path.join(folder, "R.csv"))
        flat = np.concatenate([x.ravel() for x in case.get("systemds_want", list)(want)])
        error = float(np.max(np.abs(got.ravel() - flat)) / np.max(np.abs(flat))) if got.size == flat.size else float("inf")
        return {"ms": float(np.median(times)), "error": error}
    except subprocess.TimeoutExpired:
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
