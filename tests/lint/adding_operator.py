#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""adding_operator.py WORK [CMAKE]: docs/adding-an-operator.md does what it says. Its change goes into a copy of the tree: one row of one file, and
no number of the interface moves. What stands by the table alone is then compiled and tested with the new row, and must object when the
row claims less than is true. CMAKE: the whole library is built from the copy, too, and every test that goes through all operators is run."""
import glob
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PAGE, TABLE = "docs/adding-an-operator.md", "core/ops.def"
PARTS = "core formats device planner kernels-cl host tests cmake CMakeLists.txt".split()
TABLE_TESTS = ["tests/unit/test_ops.c", "tests/oracle/ops_oracle.c", "tests/oracle/ops_cases.c", "tests/support/op_steps.c"]
ALL_OPERATORS = """unit.test_ops unit.test_ops_grad unit.test_grad_ops unit.test_ref_ops unit.test_tile_ops unit.test_lang unit.test_emit
oracle.test_oracle_executors prop.test_prop_random_tools prop.test_prop_random prop.test_prop_random_real prop.test_prop_bounds"""


def quit(why):
    sys.exit("%s: %s" % (PAGE, why))


def changes():
    """{file: [(old, new)]} of the page's diff, whose hunks are found by what stands around them."""
    with open(os.path.join(ROOT, PAGE)) as f:
        diff = re.search(r"^```diff\n(.*?)^```$", f.read(), re.M | re.S)
    found = {}
    for part in re.split(r"^--- a/.*\n", diff.group(1) if diff else quit("shows no diff"), flags=re.M)[1:]:
        name, body = part.split("\n", 1)
        found[name[len("+++ b/"):]] = [tuple("".join(line[1:] + "\n" for line in hunk.splitlines() if line[:1] != other) for other in "+-")
                                       for hunk in body.split("@@\n")[1:]]
    return found


def copy(work):
    shutil.rmtree(work, ignore_errors=True)
    for part in PARTS:
        source = os.path.join(ROOT, part)
        (shutil.copytree if os.path.isdir(source) else shutil.copy)(source, os.path.join(work, part))


def edit(path, old, new):
    with open(path) as f:
        text = f.read()
    if text.count(old) != 1:
        quit("what it changes stands %d times in %s:\n%s" % (text.count(old), path, old))
    with open(path, "w") as f:
        f.write(text.replace(old, new))


def compiled(work, name, sources):
    """A program of sources that need no more than C and CUnit."""
    program = os.path.join(work, name)
    subprocess.run(["cc", "-std=c11", "-O1", "-ffp-contract=off", "-fwrapv", "-D_GNU_SOURCE", "-I.", "-Icore/include", "-Ihost/include", *sources,
                    "-o", program, "-lcunit", "-lm", "-lpthread"], cwd=work, check=True)
    return program


def interface(tree, work):
    """The public header as it is generated from a tree's tables."""
    generator = os.path.join(work, "gen_ops")
    subprocess.run(["cc", "-std=c11", "-I.", "-Icore/include", "core/gen_ops.c", "-o", generator], cwd=tree, check=True)
    return subprocess.run([generator], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def passes(work):
    core = sorted(os.path.relpath(f, work) for f in glob.glob(os.path.join(work, "core/*.c")) if not os.path.basename(f).startswith("gen_"))
    done = subprocess.run([compiled(work, "test_ops", TABLE_TESTS + core)], stdout=subprocess.PIPE, text=True)
    return done.returncode == 0, done.stdout


def one_row(work):
    found = changes()
    old, new = found[TABLE][0] if list(found) == [TABLE] and len(found[TABLE]) == 1 else quit("touches more than %s" % TABLE)
    added = [line for line in new.splitlines() if line not in old.splitlines()]
    if len(added) != 1 or new.replace(added[0] + "\n", "") != old:
        quit("is to add one row and change none")
    edit(os.path.join(work, TABLE), old, new)
    return added[0]


def check(work, cmake):
    copy(work)
    row = one_row(work)
    name = re.match(r'CLF_OP\((\w+)', row).group(1).lower()
    before, after = interface(ROOT, work), interface(work, work)
    lost = [line for line in before if line not in after and "CLF_OP_CODES" not in line]
    if lost or not any("clf_%s(" % name in line for line in after):
        quit("the interface changes otherwise than by clf_%s: %s" % (name, lost))
    good, said = passes(work)
    if not good:
        quit("with its row the table's tests fail:\n" + said)
    if cmake:
        whole(work, cmake)
    edit(os.path.join(work, TABLE), row, row.replace("|F_ZERO", ""))
    if passes(work)[0]:
        quit("a row that claims less than is true passes")
    print("one row: clf_%s, in the interface and through the table's tests%s" % (name, ", and through all others" if cmake else ""))


def whole(work, cmake):
    build, tests = os.path.join(work, "build"), ALL_OPERATORS.split()
    for command in ([cmake, "-S", work, "-B", build, "-DCLF_TOOLS=OFF", "-DCLF_STATIC=OFF", "-DCLF_FAST_LOOPS=OFF"],
                    [cmake, "--build", build, "--parallel", "--target"] + [t.split(".")[1] for t in tests],
                    ["ctest", "--test-dir", build, "--output-on-failure", "-R", "^(%s)$" % "|".join(tests).replace(".", "[.]")]):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            quit("with its row, %s fails:\n%s" % (" ".join(command[:3]), "\n".join(done.stdout.splitlines()[-60:])))
    if len(re.findall(r"Test +#\d+", done.stdout)) != len(tests):
        quit("some of the tests are not there: " + done.stdout)


if __name__ == "__main__":
    check(os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
