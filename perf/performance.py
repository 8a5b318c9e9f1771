# SPDX-License-Identifier: Apache-2.0
"""docs/performance.md and its charts from what the bench wrote.

    performance.py [--bench FILE]... [--peers FILE] [--trainings FILE] [--document FILE] [--pictures FOLDER]

FILEs are those of `clfuse bench --json`, `bench --peers --json` and `bench --peers --suite algorithms --json`; `./run performance` makes
them all. Of several runs of the bench every figure is the median, and the ratios of each run stand beneath. Between <!-- NAME begin -->
and <!-- NAME end --> the document is replaced, everything else, written by hand, is kept; a part that the files say nothing of stays as
it was. exit: 0, 1 a mark is missing or there is nothing to write."""
import argparse
import glob
import json
import os
import platform
import re
import statistics
import subprocess
import sys

sys.path[:0] = [os.path.dirname(os.path.abspath(__file__))]
import charts

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
PLAYERS = "cost", "none", "all", "nored", "hand", "calls"


# ---- words

def num(v, digits=2):
    return "" if v is None else "%.*f" % (digits, v)


def ms(v):
    return "" if v is None else "%.3g" % v if v < 1000 else "%.0f" % v


def mega(v):
    return "" if v is None else "%.4g" % (v * 1e-6)


def size(r):
    return "" if r.get("rows") is None else "%d x %d" % (r["rows"], r["cols"]) + (
        ", %.2g" % r["sparsity"] if (r.get("sparsity") or 1) < 1 else "")


def promised(v, least):
    """A ratio beside what is promised of it; bold where it is less."""
    if v is None or not least:
        return num(v)
    text = "%.2f (%.3g)" % (v, least)
    return "**%s**" % text if v < least else text


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(str(c) for c in r) + " |" for r in rows])


PROMISES = [("ratio_hand", "ratio_at_least"), ("ratio_unfused", "ratio_unfused_at_least"), ("ratio_others", "ratio_others_at_least"),
            ("ratio_calls", "ratio_calls_at_least")]


def less(r, promises, noise):
    return any(r.get(v) is not None and r.get(least) is not None and r[v] < r[least] - (noise if v == "ratio_hand" else 0) for v, least in promises)


def below(r):
    """Is something less than promised, noise left aside? Of several runs the medians count, and elsewhere what most of them say."""
    noise, runs = r.get("noise") or 0, r.get("runs")
    if not runs:
        return bool(r.get("below")) or less(r, PROMISES[:2], noise)
    if r["suite"] == "algorithms":
        return less(r, PROMISES, 0) or (r.get("plan_share") or 0) > (r.get("plan_share_at_most") or 1)
    return less(r, PROMISES, noise) or 2 * sum(bool(run.get("below")) for run in runs) > len(runs)


def together(runs):
    """Rows of several runs as rows of one: of figures the median; a result holds if it does in every run. `runs` keeps each run's row."""
    found = {}
    for run in runs:
        seen = {}
        for row in run:
            name = tuple(row[k] for k in ("suite", "case", "dtype", "rows", "cols", "device"))
            seen[name] = seen.get(name, 0) + 1
            found.setdefault((name, seen[name]), []).append(row)
    return [one_row(rows) for rows in found.values()]


def one_row(rows):
    one = dict(rows[0], runs=rows, ok=all(r["ok"] for r in rows))
    for key in rows[0]:
        if key.startswith("same_plans_"):
            one[key] = all(r.get(key) for r in rows)
        values = [r[key] for r in rows if isinstance(r.get(key), (int, float)) and not isinstance(r[key], bool)]
        if values:
            one[key] = statistics.median(values)
    return one


def each_run(rows, names):
    """The ratios of every run, where there are several. names: of the ratios."""
    several = [r for r in rows if len(r.get("runs") or []) > 1 and any(r.get(key) is not None for key in names)]
    if not several:
        return []
    lines = [["`%s`" % r["case"]] + [", ".join(num(run[key]) for run in r["runs"] if run.get(key) is not None) for key in names] for r in several]
    return ["Above are medians of %d runs. Run by run:" % max(len(r["runs"]) for r in several), table(["case"] + list(names.values()), lines)]


def summary(rows):
    bad = [r["case"] for r in rows if not r["ok"]]
    less = [r["case"] for r in rows if r["ok"] and below(r)]
    text = "%d cases; %s." % (len(rows), "every result holds" if not bad else "results that do not hold: " + ", ".join(bad))
    return text + (" Below what is promised: %s." % ", ".join(less) if less else "")


# ---- parts: each a function of the rows, giving text and {picture: svg}

def algorithms(rows):
    lines, groups = [], []
    for r in rows:
        t = {p: r["iteration_ms_" + p] for p in PLAYERS}
        same = {p: " =" if r.get("same_plans_" + p) and p in ("all", "nored") else "" for p in PLAYERS}
        lines.append(["`%s`" % r["case"], size(r)] + [ms(t[p]) + same[p] for p in PLAYERS] + [
            promised(r["ratio_unfused"], r["ratio_unfused_at_least"]), promised(r["ratio_others"], r["ratio_others_at_least"]),
            num(r.get("ratio_to_cost_twin")),
            promised(r["ratio_hand"], r["ratio_at_least"]), promised(r["ratio_calls"], r["ratio_calls_at_least"])])
        groups.append((r["case"], [r["ratio_unfused"], r["ratio_others"], r["ratio_hand"]],
                       [r["ratio_unfused_at_least"], r["ratio_others_at_least"], r["ratio_at_least"]]))
    head = ["case", "size", "cost", "none", "all", "nored", "hand", "calls", "none / cost", "better of all, nored / cost", "twin / cost", "hand / cost", "calls / none"]
    names = {"ratio_unfused": head[8], "ratio_others": head[9], "ratio_to_cost_twin": head[10], "ratio_hand": head[11]}
    picture = charts.bars("Time per iteration over that of cost", ["none", "better of all and nored", "hand-written OpenMP C"], groups)
    text = [summary(rows), "![times over those of cost](performance/algorithms.svg)", "Milliseconds per iteration, and ratios (promised at least):",
            table(head, lines)] + each_run(rows, names) + [
                "What an iteration moves and keeps, and what comes before the first:", algorithms_besides(rows)]
    return "\n\n".join(text), {"algorithms": picture}


def algorithms_besides(rows):
    head = ["case", "MB cost", "MB none", "MB all", "MB nored", "products none", "launches", "waits", "planning ms", "share of 20 iterations",
            "kernels loaded ms", "compiled ms", "first ms cost", "first ms none", "first ms hand", "peak MB cost", "peak MB none"]
    lines = []
    for r in rows:
        share = r["plan_share"]
        text = "" if share is None else "%.2f %%" % (100 * share)
        lines.append(["`%s`" % r["case"]] + [mega(r["iteration_bytes_" + p]) for p in PLAYERS[:4]] + [
            num(r["iteration_products_none"], 1), num(r["iteration_launches"], 1), num(r["iteration_waits"], 1), ms(r["plan_ms"]),
            "**%s**" % text if share is not None and share > r["plan_share_at_most"] else text, ms(r["load_ms"]), ms(r["build_ms"]),
            ms(r.get("first_ms_cost")), ms(r.get("first_ms_none")), ms(r.get("first_ms_hand")), mega(r["peak_bytes_cost"]), mega(r["peak_bytes_none"])])
    return table(head, lines)


def cases(name):
    def part(rows):
        lines = [["`%s`" % r["case"], r["dtype"], size(r), ms(r["ours_ms"]), ms(r["hand_ms"]), ms(r["unfused_ms"]), ms(r["host_ms"]),
                  promised(r["ratio_hand"], r["ratio_at_least"]), promised(r["ratio_unfused"], r["ratio_unfused_at_least"]),
                  num(r["gbs"], 1), "" if r["roof_share"] is None else "%.0f %%" % (100 * r["roof_share"]),
                  "" if r["noise"] is None else "%.1f %%" % (100 * r["noise"])] for r in rows]
        groups = [(r["case"], [r["ratio_hand"], r["ratio_unfused"]], [r["ratio_at_least"], r["ratio_unfused_at_least"]])
                  for r in rows if r["ratio_hand"]]
        head = ["case", "type", "size", "ours ms", "hand ms", "unfused ms", "device 0 ms", "hand / ours", "unfused / ours", "GB/s", "of the roof", "noise"]
        text = [summary(rows), "![times over ours](performance/%s.svg)" % name, table(head, lines)]
        text += each_run(rows, {"ratio_hand": head[7], "ratio_unfused": head[8]})
        return "\n\n".join(text), {name: charts.bars("Time over ours", ["hand-written OpenMP C", "our plan without fusion"], groups)}
    return part


def plan(rows):
    text = [summary(rows)]
    chosen, fused, predicted, loops, rest = [], [], [], [], []
    for r in rows:
        name = "`%s`" % r["case"]
        if r["choices"] is not None:
            loops.append([name, num(r["choices"], 0), num(r["components"], 0), "" if r["covers"] is None else "%.3g" % r["covers"],
                          num(r["costed_unpruned"], 0), num(r["costed"], 0), "" if r["saved"] is None else "%.2f %%" % (100 * r["saved"])])
        elif r["ratio_best"] is not None:
            chosen.append([name, size(r), num(r["plans"], 0), ms(r["ours_ms"]), ms(r["best_ms"]), num(r["ratio_best"])])
        elif r["ratio_fused"] is not None:
            fused.append([name, size(r), ms(r["ours_ms"]), ms(r["unfused_ms"]), num(r["ratio_fused"])])
        elif r["ratio_predicted"] is not None:
            predicted.append(r["ratio_predicted"])
        elif r["ours_ms"] is not None:
            rest.append([name, ms(r["ours_ms"]), ms(r["limit_ms"])])
    if predicted:
        near = sum(0.5 <= p <= 2 for p in predicted)
        text.append("Predicted over measured time: median %.2f of %d steps, %d of them within a factor of 2." % (
            statistics.median(predicted), len(predicted), near))
    for head, lines in ((["case", "size", "plans", "chosen ms", "best ms", "chosen / best"], chosen),
                        (["case", "size", "fused ms", "unfused ms", "fused / unfused"], fused),
                        (["program", "choices", "components", "legal covers", "costed without pruning", "costed", "saved"], loops),
                        (["planning of", "ms", "at most"], rest)):
        if lines:
            text.append(table(head, lines))
    return "\n\n".join(text), {}


def beside(name, title):
    """Peers: of the suites micro and ml, or of whole trainings."""
    def part(found):
        rows = found["rows"]
        names = sorted({n for r in rows for n in r["peers"]})
        lines, groups = [], []
        for r in rows:
            ratios = [r["peers"].get(n, {}).get("ratio") for n in names]
            least = r.get("at_least", {})
            lines.append(["`%s`" % r["case"], ms(r.get("ours_ms"))] + [promised(v, least.get(n)) for n, v in zip(names, ratios)])
            groups.append((r["case"], ratios[:len(charts.COLOURS)], [least.get(n) for n in names][:len(charts.COLOURS)]))
        versions = ", ".join("%s %s" % v for v in found["versions"].items())
        text = ["Beside %s. Ratios are the peer's time over ours." % versions, summary(rows), "![times over ours](performance/%s.svg)" % name,
                table(["case", "ours ms"] + names, lines)]
        return "\n\n".join(text), {name: charts.bars(title, names[:len(charts.COLOURS)], groups)}
    return part


# ---- the machine

def _first(path, pattern):
    try:
        with open(path) as f:
            found = re.search(pattern, f.read(), re.M)
        return found.group(1).strip() if found else None
    except OSError:
        return None


def _output(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True).stdout.strip()
    except OSError:
        return ""


def machine(rows):
    caches = []
    for folder in sorted(glob.glob("/sys/devices/system/cpu/cpu0/cache/index*")):
        parts = [_first(os.path.join(folder, n), r"(.*)") for n in ("level", "type", "size")]
        if all(parts) and parts[1] != "Instruction":
            caches.append("L%s %s" % (parts[0], parts[2]))
    memory = _first("/proc/meminfo", r"MemTotal:\s*(\d+)")
    roof = [r["roof_gbs"] for r in rows if r.get("roof_gbs")]
    devices = sorted({r["device"] for r in rows if r.get("device") and r["device"] != "by cost"})
    facts = [("processor", "%s, %d threads" % (_first("/proc/cpuinfo", r"model name\s*:(.*)") or platform.machine(), os.cpu_count())),
             ("caches", ", ".join(caches)), ("memory", "%.0f GiB" % (int(memory) / 2**20) if memory else ""),
             ("reading from memory", "%.1f GB/s" % statistics.median(roof) if roof else ""),
             ("devices", "; ".join(devices)), ("system", "%s %s" % (platform.system(), platform.release().split("-")[0])),
             ("compiler", _output("cc", "--version").split("\n")[0]), ("program", _output("git", "-C", ROOT, "rev-parse", "--short", "HEAD"))]
    return table(["", ""], [f for f in facts if f[1]]), {}


# ---- the document

def replace(document, name, text):
    begin, end = "<!-- %s begin -->" % name, "<!-- %s end -->" % name
    if document.count(begin) != 1 or document.count(end) != 1:
        sys.exit("performance.py: the document has no marks %s ... %s" % (begin, end))
    head, rest = document.split(begin)
    return head + begin + "\n\n" + text + "\n\n" + end + rest.split(end)[1]


def load(path, lines=False):
    if not path or not os.path.exists(path):
        return None
    with open(path) as f:
        return [json.loads(line) for line in f] if lines else json.load(f)


def parts_of(args):
    """(name of the part, what it is made of, how)."""
    runs = [r for r in (load(path, lines=True) for path in args.bench or []) if r]
    rows = together(runs) if len(runs) > 1 else runs[0] if runs else []
    suites = {s: [r for r in rows if r["suite"] == s] for s in ("algorithms", "micro", "ml", "plan")}
    how = {"algorithms": algorithms, "micro": cases("micro"), "ml": cases("ml"), "plan": plan}
    return [("machine", rows, machine)] + [(s, suites[s], how[s]) for s in suites] + [
        ("trainings", load(args.trainings), beside("trainings", "Whole trainings: time per iteration over ours")),
        ("peers", load(args.peers), beside("peers", "Suites micro and ml: time over ours"))]


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("--bench", action="append", help="of clfuse bench --json; several: of several runs")
    a.add_argument("--peers", help="of bench --peers --json")
    a.add_argument("--trainings", help="of bench --peers --suite algorithms --json")
    a.add_argument("--document", default=os.path.join(ROOT, "docs", "performance.md"))
    a.add_argument("--pictures", default=os.path.join(ROOT, "docs", "performance"))
    args = a.parse_args()
    with open(args.document) as f:
        document = f.read()
    written = []
    for name, what, how in parts_of(args):
        if not what:
            continue
        text, pictures = how(what)
        document = replace(document, name, text)
        written.append(name)
        os.makedirs(args.pictures, exist_ok=True)
        for picture, svg in pictures.items():
            with open(os.path.join(args.pictures, picture + ".svg"), "w") as f:
                f.write(svg)
    if not written:
        sys.exit("performance.py: nothing to write: no file has rows")
    with open(args.document, "w") as f:
        f.write(document)
    print("written: " + ", ".join(written))


if __name__ == "__main__":
    main()
