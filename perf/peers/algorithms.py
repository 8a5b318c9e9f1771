# SPDX-License-Identifier: Apache-2.0
"""Whole trainings beside peers: time per iteration.

    ./run bench --peers --suite algorithms [--case PREFIX] [--rounds N] [--quick] [--json FILE] [--list]

clfuse-bench trains under the selector cost and writes a case's inputs; peers do as many iterations on them (trainings.py, systemds_train.py)
and must reach the same objective. The first iteration of a training, in which plans are made and code is compiled, is left out. In each
round clfuse is trained again, in a process of its own, and every peer once; ratios are medians over rounds of the peer's time over ours.
exit: 0, 1 an objective differs."""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
import numpy as np
from scipy import sparse

import systemds_train
import ways
from trainings import TRAININGS

SHAPES = "_1e6x10", "_1e5x100", "_1e4x1000", "_sparse"
CASES = [a + s for a in ("l2svm", "mlogreg", "glm_probit", "glm_poisson", "kmeans") for s in SHAPES] + [
    "mlogreg_5classes", "als_cg_ratings", "als_cg_some", "autoencoder_20k", "gnmf_ratings", "pagerank_1e5"]
# Promised at least, of a peer's time over ours: tall or sparse data; where dense products take most of the time.
AT_LEAST = {True: {"numpy": 4, "jax": 1.5, "systemds": 2}, False: {"numpy": 1.2, "jax": 1, "systemds": 2}}
NARROW = "_1e6x10", "_sparse", "_ratings", "_some", "pagerank_1e5"
TOLERANCE = 1e-6
SLOW_S = 30  # whoever takes longer for an iteration is not asked again
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


class Data:
    """The inputs of a case as the bench wrote them."""

    def __init__(self, folder):
        self.folder = folder
        with open(os.path.join(folder, "case.json")) as f:
            self.p = json.load(f)
        self.n, self.m, self.k = self.p["n"], self.p["m"], self.p["k"]
        self.y = self._array("y.f64", np.float64)
        self.y = None if self.y is None else self.y.reshape(-1, 1)
        self.start = [s for s in (self._array("start%d.f64" % i, np.float64) for i in range(4)) if s is not None]
        if self.p["sparse"]:
            parts = self._array("values.f64", np.float64), self._array("columns.i32", np.int32), self._array("offsets.i64", np.int64)
            self.X = sparse.csr_matrix(parts, shape=(self.n, self.m))
            values = self.X.data
            self.row_counts = np.diff(self.X.indptr).astype(float)[:, None]
            self.col_counts = np.bincount(self.X.indices, minlength=self.m).astype(float)[:, None]
            self.longest_row = float(np.sqrt(np.max(self.X.multiply(self.X).sum(1))))
        else:
            self.X = values = self._array("X.f64", np.float64).reshape(self.n, self.m)
            self.longest_row = float(np.sqrt(np.max(np.einsum("ij,ij->i", self.X, self.X))))
        self.squares = float(np.vdot(values, values))

    def _array(self, name, dtype):
        path = os.path.join(self.folder, name)
        return np.fromfile(path, dtype) if os.path.exists(path) else None


class Placed:
    """The inputs as one way of working has them."""

    def __init__(self, data, way):
        self.__dict__.update(data.__dict__)
        self.X, self.y = way.matrix(data.X), None if data.y is None else way.put(data.y)
        if sparse.issparse(data.X) and data.p["algorithm"] in ("als_cg", "gnmf"):
            self.XT = way.matrix(data.X.T.tocsr())


def train(way, placed):
    """(milliseconds per iteration but the first, the last objective, iterations)."""
    times, objective = [], float("nan")
    for objective in TRAININGS[placed.p["algorithm"]](way, placed):
        times.append(time.perf_counter())
        if len(times) >= placed.p["iterations"] or (len(times) > 1 and times[-1] - times[-2] > SLOW_S):
            break
    return (times[-1] - times[0]) / (len(times) - 1) * 1e3 if len(times) > 1 else float("nan"), objective, len(times)


def ours(bench, case, folder, quick):
    """The row of a training by clfuse; its inputs are in the folder."""
    path = os.path.join(folder, "row.json")
    command = [bench, "--suite", "algorithms", "--case", case, "--fuse", "cost", "--rounds", "3", "--inputs", folder, "--json", path]
    done = subprocess.run(command + (["--quick"] if quick else []), capture_output=True, text=True)
    if done.returncode > 1 or not os.path.exists(path):
        return None  # an algorithm that this build does not have
    with open(path) as f:
        rows = [json.loads(line) for line in f]
    return rows[0] if rows and rows[0]["case"] == case else None


def judge(row, name, objective, iterations, data, tolerance=TOLERANCE):
    want = data.p["objective"]
    error = abs(objective - want) / max(abs(want), 1e-300) if iterations == data.p["iterations"] else float("nan")
    row["peers"].setdefault(name, {"error": error})
    row["ok"] &= not error > tolerance  # whoever was too slow to finish is not judged


def run_case(case, args, found, folder):
    first = ours(args.bench, case, folder, args.quick)
    if not first or not first["ok"]:
        return None if not first else {"case": case, "ok": False, "peers": {}, "ours_ms": float("nan"), "note": first["note"]}
    data = Data(folder)
    players = [(way, Placed(data, way)) for way in found]
    row = {"case": case, "rows": data.n, "cols": data.m, "ours_ms": float("nan"), "iterations": data.p["iterations"], "peers": {}, "ok": True}
    times = {way.name: [] for way in found}
    mine = []
    for i in range(args.rounds):
        mine.append(first["ours_ms"] if i == 0 else ours(args.bench, case, folder, args.quick)["ours_ms"])
        for way, placed in players:
            slow = times[way.name] and times[way.name][-1] > SLOW_S * 1e3
            ms, objective, iterations = (times[way.name][-1], 0, 0) if slow else train(way, placed)
            times[way.name].append(ms)
            if iterations:
                judge(row, way.name, objective, iterations, data)
    row["ours_ms"] = statistics.median(mine)
    for name, all_ms in times.items():
        row["peers"][name].update(ms=statistics.median(all_ms), ratio=statistics.median(t / m for t, m in zip(all_ms, mine)))
    if args.systemds:
        result = systemds_train.run(data)
        if result:
            judge(row, "systemds", result["objective"], result["iterations"], data, result["tolerance"])
            row["peers"]["systemds"].update(ms=result["ms"], ratio=result["ms"] / row["ours_ms"])
    row["at_least"] = AT_LEAST[case.endswith(NARROW)]
    row["below"] = sorted(n for n, p in row["peers"].items() if p["ratio"] < row["at_least"].get(n, 0))
    return row


def show(row):
    text = "  ".join("%s %.2f" % (n, p["ratio"]) for n, p in row["peers"].items())
    wrong = "" if row["ok"] else "  DIFFERS: %s %s" % ({n: p["error"] for n, p in row["peers"].items()}, row.get("note", ""))
    less = "  below: " + ", ".join(row["below"]) if row.get("below") else ""
    print("%-22s %10.3f ms  %s%s%s" % (row["case"], row["ours_ms"], text, less, wrong), flush=True)


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--suite", choices=["algorithms"])
    a.add_argument("--case", default="", help="cases whose names begin so")
    a.add_argument("--rounds", type=int, default=3)
    a.add_argument("--quick", action="store_true", help="small inputs")
    a.add_argument("--no-systemds", action="store_true")
    a.add_argument("--bench", default=os.path.join(ROOT, "build", "perf", "clfuse-bench"))
    a.add_argument("--json", help="write the rows to this file")
    a.add_argument("--list", action="store_true", help="show peers and cases only")
    args = a.parse_args()
    found, missing = ways.all_ways()
    args.systemds, why = systemds_train.version()
    if not args.systemds:
        missing.append(("systemds", why))
    versions = {w.name: w.version for w in found}
    if args.systemds:
        versions["systemds"] = args.systemds
    print("; ".join("%s %s" % v for v in versions.items()))
    for name, reason in missing:
        print("missing: %s (%s)" % (name, reason))
    args.systemds = args.systemds and not args.no_systemds
    cases = [c for c in CASES if c.startswith(args.case)]
    if args.list:
        print("\n".join(cases))
        return 0
    print("ms per iteration; ratios: a peer's time over ours")
    rows = []
    for case in cases:
        folder = tempfile.mkdtemp()
        try:
            row = run_case(case, args, found, folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if not row:
            continue
        rows.append(row)
        show(row)
        if args.json:  # after each case: who is stopped half-way has what was measured
            with open(args.json, "w") as f:
                json.dump({"schema": 1, "versions": versions, "rows": rows}, f, indent=1)
    return 0 if all(r["ok"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
