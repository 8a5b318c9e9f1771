# SPDX-License-Identifier: Apache-2.0
"""clfuse beside its peers: one process, the same data, results compared, samples interleaved, medians.

    ./run bench --peers [--case PREFIX] [--rounds N] [--size F] [--device D] [--json FILE] [--list]

Each round takes one sample of everybody, in turn; a sample repeats calls for 20 ms at least. A ratio is the median over rounds of the peer's
time over ours in the same round. SystemDS runs its cases in a process of its own, in between, timed inside (systemds.py).
exit: 0, 1 a result differs."""
import argparse
import json
import os
import statistics
import sys
import time

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python")]
import numpy as np
from scipy import sparse

import peers
import systemds
from cases import CASES

SAMPLE_S, TOLERANCE = 0.02, 1e-9


def sample(call):
    n, begin = 0, time.perf_counter()
    while True:
        call()
        n += 1
        elapsed = time.perf_counter() - begin
        if elapsed >= SAMPLE_S:
            return elapsed / n


def plain(result):
    """A list of dense arrays."""
    if not isinstance(result, (tuple, list)):
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


def run_case(case, args, ours, others):
    data = case["data"](args.size)
    players = [(p.name, p.prepare(case, data)) for p in [ours] + others]
    players = [(name, call) for name, call in players if call]
    results = {name: call() for name, call in players}
    row = {"case": case["name"], "peers": {}, "ok": True}
    for name, _ in players[1:]:
        e = error(results[ours.name], results[name])
        row["peers"][name] = {"error": e}
        row["ok"] &= e <= TOLERANCE
    first = plain(results[ours.name])
    del results
    times = {name: [] for name, _ in players}
    for _ in range(args.rounds):
        for name, call in players:
            times[name].append(sample(call))
    mine = times[ours.name]
    row["ours_ms"] = statistics.median(mine) * 1e3
    for name, _ in players[1:]:
        row["peers"][name]["ms"] = statistics.median(times[name]) * 1e3
        row["peers"][name]["ratio"] = statistics.median(t / m for t, m in zip(times[name], mine))
    if args.systemds and case.get("systemds"):
        found = systemds.run(case, data, first)
        if found:
            row["peers"]["systemds"] = dict(found, ratio=found["ms"] / row["ours_ms"])
            row["ok"] &= found["error"] <= TOLERANCE
    return row


def show(row):
    ratios = {n: p["ratio"] for n, p in row["peers"].items()}
    best = min(ratios, key=ratios.get) if ratios else "-"
    text = "  ".join("%s %.2f" % (n, r) for n, r in ratios.items())
    wrong = "" if row["ok"] else "  DIFFERS: %s" % {n: p["error"] for n, p in row["peers"].items()}
    print("%-22s %10.3f ms  best peer %-12s %7.2f   %s%s" % (row["case"], row["ours_ms"], best, ratios.get(best, float("nan")), text, wrong), flush=True)


def overhead(ours):
    """Microseconds of a cached call on next to nothing, by a function and by its text."""
    x = np.ones((10, 10))
    f = ours.ctx.function("sum(X)", X=x)
    calls = (lambda: f(x)), (lambda: ours.ctx.eval("sum(X)", X=x))
    for call in calls:
        call()
    return [statistics.median(sample(call) for _ in range(7)) * 1e6 for call in calls]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--case", default="", help="cases whose names begin so")
    a.add_argument("--rounds", type=int, default=7)
    a.add_argument("--size", type=float, default=1.0, help="share of the full sizes")
    a.add_argument("--device", help="clfuse's device")
    a.add_argument("--json", help="write the rows to this file")
    a.add_argument("--list", action="store_true", help="show peers and cases only")
    args = a.parse_args()
    ours = peers.Ours(args.device)
    found, missing = peers.others()
    args.systemds, why = systemds.version()
    if not args.systemds:
        missing.append(("systemds", why))
    print("clfuse %s on %d cores; %s" % (ours.version, peers.THREADS, ", ".join("%s %s" % (p.name, p.version) for p in found)
                                          + (", systemds %s" % args.systemds if args.systemds else "")))
    for name, reason in missing:
        print("missing: %s (%s)" % (name, reason))
    cases = [c for c in CASES if c["name"].startswith(args.case)]
    if args.list:
        print("\n".join(c["name"] for c in cases))
        return 0
    print("a cached call from Python: %.1f us, by its text %.1f us" % tuple(overhead(ours)))
    print("ratios: a peer's time over ours")
    rows = []
    for c in cases:
        rows.append(run_case(c, args, ours, found))
        show(rows[-1])
    best = [min(p["ratio"] for p in r["peers"].values()) for r in rows if r["peers"]]
    if best:
        print("\n%d cases; against the best peer: median %.2f, least %.2f; %d below 1.00" % (
            len(best), statistics.median(best), min(best), sum(b < 1 for b in best)))
    if args.json:
        with open(args.json, "w") as f:
            json.dump({"schema": 1, "versions": {p.name: p.version for p in found}, "rows": rows}, f, indent=1)
    return 0 if all(r["ok"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
