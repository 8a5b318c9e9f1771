#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs.py BUILD PAGE...: every snippet of a page is compiled and run as it stands there; what it prints must be what the page says.

A fenced block tells by its word what it is: c and cpp are whole programs, python and sh scripts, and `text` is what the snippet before
it prints ("..." stands for anything). `def FILE` and `text FILE` are lines that must stand in that file of the repository. Snippets
of a page share one folder, in their order. --write puts what was printed into the page instead."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

FENCE = re.compile(r"^```([a-z]*)(?: (\S+))?\n(.*?)^```$", re.M | re.S)
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def environment(build, folder):
    return dict(os.environ, PATH=build + os.pathsep + os.environ["PATH"], PYTHONPATH=os.path.join(ROOT, "python"), CLF_DEVICE="host",
                CLFUSE_LIBRARY=os.path.join(build, "libclfuse.so"), CLF_CACHE_DIR=os.path.join(folder, "cache"), NO_COLOR="1", CLFUSE=ROOT)


def compiled(kind, source, build, folder):
    """The command that runs a program, which is compiled first with every warning an error."""
    program = os.path.join(folder, "prog")
    compiler = ["cc", "-x", "c", "-std=c11"] if kind == "c" else ["c++", "-x", "c++", "-std=c++17"]
    include = [os.path.join(ROOT, "core/include"), os.path.join(ROOT, "host/include"), os.path.join(build, "include")]
    subprocess.run(compiler + ["-Wall", "-Wextra", "-Wpedantic", "-Werror"] + ["-I" + i for i in include] +
                   [source, "-o", program, "-L", build, "-lclfuse", "-lm", "-Wl,-rpath," + build], check=True)
    return [program]


def run(kind, body, build, folder):
    """What a snippet prints."""
    source = os.path.join(folder, "snippet." + kind)
    with open(source, "w") as f:
        f.write(body)
    if kind in ("c", "cpp"):
        command = compiled(kind, source, build, folder)
    else:
        command = [sys.executable, source] if kind == "python" else ["sh", "-e", source]
    return subprocess.run(command, check=True, cwd=folder, env=environment(build, folder), stdout=subprocess.PIPE, text=True,
                          timeout=120).stdout


def matches(printed, said):
    pattern = ".*?".join(re.escape(part) for part in said.strip().split("..."))
    return re.fullmatch(pattern, re.sub(r"[ \t]+$", "", printed.strip(), flags=re.M), re.S)


def quoted(file, body, where):
    """Each line of the block stands in that file, spaces apart."""
    with open(os.path.join(ROOT, file)) as f:
        have = re.sub(r"\s+", " ", f.read())
    missing = [line for line in body.splitlines() if re.sub(r"\s+", " ", line).strip() not in have]
    return ["%s: not in %s: %s" % (where, file, line) for line in missing]


def check(page, build, write):
    """Messages about a page."""
    with open(page) as f:
        text = f.read()
    folder, printed, wrong, parts, at, ran = tempfile.mkdtemp(), None, [], [], 0, 0
    try:
        for m in FENCE.finditer(text):
            kind, file, body = m.groups()
            where = "%s:%d" % (os.path.relpath(page, ROOT), text.count("\n", 0, m.start()) + 1)
            if file:
                wrong, ran = wrong + quoted(file, body, where), ran + 1
            elif kind in ("c", "cpp", "python", "sh"):
                try:
                    printed, ran = run(kind, body, build, folder), ran + 1
                except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as e:
                    wrong.append("%s: %s" % (where, e))
                    printed = None
            elif kind == "text" and printed is not None:
                if write and not matches(printed, body):
                    parts += [text[at:m.start(3)], printed.strip() + "\n"]
                    at = m.end(3)
                elif not matches(printed, body):
                    wrong.append("%s: it says\n%sand prints\n%s" % (where, body, printed))
                printed = None
        if write:
            with open(page, "w") as f:
                f.write("".join(parts) + text[at:])
    finally:
        shutil.rmtree(folder)
    if not ran and not wrong:
        wrong.append("%s: no snippet" % page)
    return wrong, ran


def main():
    args = [a for a in sys.argv[1:] if a != "--write"]
    build, total, failures = os.path.abspath(args[0]), 0, []
    for page in args[1:]:
        wrong, ran = check(os.path.abspath(page), build, "--write" in sys.argv)
        failures += wrong
        total += ran
    print("\n".join(failures) if failures else "%d snippets hold" % total)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
