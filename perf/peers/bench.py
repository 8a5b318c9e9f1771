# SPDX-License-Identifier: Apache-2.0
"""clfuse beside its peers: one process, the same data, results compared, samples interleaved, medians.

    ./run bench --peers [--suite micro,ml] [--case PREFIX] [--peer NAME,...] [--rounds N] [--size F] [--device D] [--json FILE] [--list]

Each round takes one sample of everybody, in turn; a sample repeats calls for 20 ms at least, and a rest follows a
long one. Who is far behind the fastest peer takes part in three rounds only. Where a peer has several forms of a case, the one that is
fastest in a first run takes part. A ratio is the median over rounds of the peer's time over ours in the same round. SystemDS
runs its cases in a process of its own, in between, timed inside (systemds.py).
exit: 0, 1 a result differs, 2 command line."""
import os
import sys

# Libraries read these when they are loaded: all cores for everybody, no pinning, the newest kernels of BLAS.
for unfair in ("OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "OPENBLAS_CORETYPE"):
    os.environ.pop(unfair, None)
for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_MAX_THREADS"):
    os.environ[threads] = str(len(os.sched_getaffinity(0)))

import argparse
import gc
import json
import statistics
import time

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")]
import numpy as np
from scipy import sparse

import peers
import systemds
from cases import CASES
from native import Results

SAMPLE_S = 0.02
LONG_S, REST_S = 0.1, 0.5  # whoever takes so long had gigabytes of intermediates, perhaps: the system takes them back during a rest
TOLERANCE = {8: 1e-9, 4: 1e-2}  # of a result's largest number, by bytes of its type: peers add up f32 as it comes
LEAST = 1.0  # promised against the best peer
FAR, FAR_ROUNDS = 4, 3  # who takes FAR times as long as the fastest peer takes part in the first rounds only
CALL_US = 20  # what a call from Python may cost: promised instead where there is next to nothing to compute
FLOORS = {("factorize", "scipy"): 3, ("factorize", "jax"): 3, ("factorize_literal", None): 20}  # None: every peer with the literal formula
LITERAL = ("numpy dense", "jax dense", "openblas dense")


def sample(call):
    """Seconds of a call. One is not counted: it takes caches and cores back from whoever came before, whose threads may still spin."""
    call()
    n, begin = 0, time.perf_counter()
    while True:
        call()
        n += 1
        elapsed = time.perf_counter() - begin
        if elapsed >= SAMPLE_S:
            return elapsed / n


def plain(result):
    """A list of dense arrays."""
    if not isinstance(result, (tuple, list, Results)):
        result = [result]
    return [np.atleast_1d(x.toarray() if sparse.issparse(x) else np.asarray(x, dtype=float)) for x in result]


def error(a, b):
    """The largest difference, relative to each result's largest number."""
    a, b = plain(a), plain(b)
    if len(a) != len(b):
        return float("inf")
    worst = 0.0
    for x, y in zip(a, b):
        if x.size != y.size:
            return float("inf")
        worst = max(worst, float(np.max(np.abs(x.ravel() - y.ravel()), initial=0) / max(np.max(np.abs(x), initial=0), 1e-300)))
    return worst


def fastest(ways, want, tolerance):
    """(call, error) of the way that is fastest in its second run. One with a wrong result takes part only when all are wrong."""
    found = []
    for call in ways:
        result = call()
        if result is not None:
            e, begin = error(want, result), time.perf_counter()
            call()
            found.append((not e <= tolerance, time.perf_counter() - begin, e, call))
    wrong, _, e, call = min(found, key=lambda way: way[:2], default=(False, 0, 0, None))
    return call, e


def run_case(case, args, ours, others):
    data = case["data"](args.size)
    tolerance = TOLERANCE[min(v.dtype.itemsize for v in data.values())]
    mine, = ours.prepare(case, data)
    want = plain(mine())
    row = {"case": case["name"], "suite": case["suite"], "tiny": case.get("tiny", False), "peers": {}, "ok": True}
    players = [(ours.name, mine)]
    for p in others:
        call, e = fastest(p.prepare(case, data), want, tolerance)
        if call:
            players.append((p.name, call))
            row["peers"][p.name] = {"error": e}
            row["ok"] &= e <= tolerance
    times = {name: [] for name, _ in players}
    for r in range(args.rounds):
        near = FAR * min((min(t) for n, t in times.items() if n != ours.name and t), default=0)
        for name, call in players:
            if r < FAR_ROUNDS or name == ours.name or min(times[name]) <= near:
                times[name].append(sample(call))
                time.sleep(REST_S if times[name][-1] >= LONG_S else 0)
    row["ours_ms"] = statistics.median(times[ours.name]) * 1e3
    for name, found in row["peers"].items():
        found["ms"] = statistics.median(times[name]) * 1e3
        found["ratio"] = statistics.median(t / m for t, m in zip(times[name], times[ours.name]))
    del players, mine, call
    if args.systemds and case.get("systemds"):
        found = systemds.run(case, data, want)
        if found:
            row["peers"]["systemds"] = dict(found, ratio=found["ms"] / row["ours_ms"])
            row["ok"] &= found["error"] <= tolerance
    judge(row)
    return row


def judge(row):
    """Best peer, and whom we are not as far ahead of as promised."""
    ratios = {n: p["ratio"] for n, p in row["peers"].items()}
    row["best"] = min(ratios, key=ratios.get) if ratios else None
    row["ratio"] = ratios.get(row["best"])
    row["below"] = ["%s %g" % (n, at) for (name, peer), at in FLOORS.items() if name == row["case"]
                    for n, r in ratios.items() if r < at and (n == peer or peer is None and n in LITERAL)]
    if row["tiny"] and row["ours_ms"] > CALL_US * 1e-3:
        row["below"].append("%d us" % CALL_US)
    if ratios and row["ratio"] < LEAST and not row["tiny"]:
        row["below"].append("%s %g" % (row["best"], LEAST))


def show(row):
    text = "   " + "  ".join("%s %.2f" % (n, p["ratio"]) for n, p in row["peers"].items())
    marks = "  BELOW: %s" % ", ".join(row["below"]) if row["below"] else ""
    if not row["ok"]:
        marks += "  DIFFERS: %s" % {n: "%.1e" % p["error"] for n, p in row["peers"].items()}
    best = row["best"] or "no peer", row["ratio"] or float("nan")
    print("%-22s %11.3f ms  %-14s %7.2f" % (row["case"], row["ours_ms"], *best) + text + marks, flush=True)


def overhead(ours):
    """Microseconds of a cached call on next to nothing: by a function, by its text, by a function of an array that was put."""
    x = np.ones((10, 10))
    f, p = ours.ctx.function("sum(X)", X=x), ours.ctx.put(x)
    calls = (lambda: f(x)), (lambda: ours.ctx.eval("sum(X)", X=x)), (lambda: f(p))
    for call in calls:
        call()
    return [statistics.median(sample(call) for _ in range(7)) * 1e6 for call in calls]


def arguments():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--suite", help="micro, ml (both)")
    a.add_argument("--case", default="", help="cases whose names begin so")
    a.add_argument("--peer", help="only these peers, by name, with commas between")
    a.add_argument("--rounds", type=int, default=7)
    a.add_argument("--size", type=float, default=1.0, help="share of the full sizes")
    a.add_argument("--device", help="clfuse's device")
    a.add_argument("--json", help="write the rows to this file")
    a.add_argument("--list", action="store_true", help="show peers and cases only")
    args = a.parse_args()
    suites = args.suite.split(",") if args.suite else ["micro", "ml"]
    if set(suites) - {"micro", "ml"}:
        a.error("there are the suites micro and ml")
    args.cases = [c for c in CASES if c["name"].startswith(args.case) and c["suite"] in suites]
    if not args.cases:
        a.error("no case of that name")
    return args


def table_of_peers(args):
    """Those that take part; says who does and who is missing."""
    found, missing = peers.others(args.peer and args.peer.split(","), args.cases)
    args.systemds, why = systemds.version()
    if not args.systemds:
        missing.append(("systemds", why))
    if args.peer and "systemds" not in args.peer.split(","):
        args.systemds = None
    versions = {p.name: p.version for p in found}
    if args.systemds:
        versions["systemds"] = args.systemds
    for name, version in versions.items():
        print("  %-15s %s" % (name, version))
    for name, reason in missing:
        print("  %-15s missing: %s" % (name, reason))
    return found, versions, dict(missing)


def main():
    args = arguments()
    ours = peers.Ours(args.device)
    print("clfuse %s on %d cores, Python %s, beside" % (ours.version, peers.THREADS, sys.version.split()[0]))
    found, versions, missing = table_of_peers(args)
    if args.list:
        print("\n".join(c["name"] for c in args.cases))
        return 0
    cached = overhead(ours)
    print("a cached call from Python: %.1f us, by its text %.1f us, on an array that was put %.1f us (at most 20)" % tuple(cached))
    print("%-22s %14s  %-14s %7s   every peer's time over ours" % ("case", "ours", "best peer", "ratio"))
    rows = []
    for c in args.cases:
        rows.append(run_case(c, args, ours, found))
        show(rows[-1])
        gc.collect()
    ratios = [r["ratio"] for r in rows if r["ratio"] and not r["tiny"]]
    if ratios:
        print("\n%d cases; against the best peer, tiny cases apart: median %.2f, least %.2f; %d below what is promised" % (
            len(rows), statistics.median(ratios), min(ratios), sum(bool(r["below"]) for r in rows)))
    if args.json:
        with open(args.json, "w") as f:
            json.dump({"schema": 2, "clfuse": ours.version, "versions": versions, "missing": missing, "call_us": cached, "rows": rows}, f,
                      indent=1)
    return 0 if all(r["ok"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
