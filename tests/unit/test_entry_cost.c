/* SPDX-License-Identifier: Apache-2.0
 * What products begun at stored entries cost. An inner product at each entry takes a sum of its lanes; a row of a side that is times an entry
 * goes to sums that stay from entry to entry, which has a figure of its own. Beginning made dear says how often it is billed. What is looked
 * up at entries hides behind nothing on a CPU. */
#include <stddef.h>

#include "formats/sparse.h"
#include "planner/bill.h"
#include "tests/support/plan_devices.h"
#include "tests/unit/plan_text.h"

static plan_devices devices;

enum { ENTRIES = 3000000 };
static const plan_var vars[] = {{"X", 30000, 2000, false, ENTRIES},
                                {"F", 30000, 20, false, 0},
                                {"G", 2000, 20, false, 0},
                                {"H", 20, 2000, false, 0},
                                {"w", 2000, 1, false, 0}};

static double ns_on(const planned *r, const clf_profile *dev) { return 1e-3 * (double)clf_bill_pay(r->p->step[0].bill, &r->p->g, dev); }

/* How often the only loop pays a figure at an entry, all else being cheap beside. */
static double paid(const planned *r, clf_profile dev, size_t at) {
    static const double dear_ns = 1000;
    double *figure = (double *)(void *)((char *)&dev + at);
    *figure = dear_ns;
    double once = ns_on(r, &dev);
    *figure = 2 * dear_ns;
    return (ns_on(r, &dev) - once) / (dear_ns * ENTRIES);
}

static void test_begun(void) {
    static const struct {
        const char *program;
        double dots, pairs, sides, picks;
    } of[] = {{"sum(X * (F %*% t(G)))", 0, 1, 0, 0},
              {"X %*% G", 0, 0, 1, 0},
              {"(X * (F %*% t(G))) %*% G", 0, 1, 1, 0},
              {"X %*% w", 0.01, 0, 0, 1}, /* a product begun in each row */
              {"t(X) %*% F", 0, 0, 1, 0}, /* sums are made at places, nothing is picked */
              {"sum(X * (F %*% H))", 0, 1, 0, 20}};
    clf_limits lim = {.dev = {.n = 1, .profile = {&devices.profile[0]}}, .kernel_ops = 200, .kernel_inputs = 48};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        planned r = plan_with(vars, 5, of[k].program, "all", &lim);
        CU_ASSERT_EQUAL_FATAL(r.p->nstep, 1);
        for (int d = 0; d < 2; d++) {
            CU_ASSERT_DOUBLE_EQUAL(paid(&r, devices.profile[d], offsetof(clf_profile, dot_ns)), of[k].dots, 1e-6);
            CU_ASSERT_DOUBLE_EQUAL(paid(&r, devices.profile[d], offsetof(clf_profile, pair_ns)), of[k].pairs, 1e-6);
            CU_ASSERT_DOUBLE_EQUAL(paid(&r, devices.profile[d], offsetof(clf_profile, side_ns)), of[k].sides, 1e-6);
            CU_ASSERT_DOUBLE_EQUAL(paid(&r, devices.profile[d], offsetof(clf_profile, pick_ns)), of[k].picks, 1e-6);
        }
        drop(&r);
    }
}

/* Looking up a cell of the vector for each entry is dear: what the step costs then grows by all of it on CPUs, though far more is computed
 * or moved, and hides behind what is computed on a GPU. */
static void test_looked_up(void) {
    static const plan_var v[] = {{"X", 30000, 2000, false, ENTRIES}, {"w", 2000, 1, false, 0}};
    enum { BESIDE = 3 };
    clf_limits lim = {.dev = {.n = 1, .profile = {&devices.profile[0]}}, .kernel_ops = 200, .kernel_inputs = 48};
    planned r = plan_with(v, 2, "X %*% w", "all", &lim);
    CU_ASSERT_EQUAL_FATAL(r.p->nstep, 1);
    for (int kind = CLF_DEV_HOST; kind <= CLF_DEV_GPU; kind++) {
        clf_profile dev = devices.profile[0];
        dev.kind = kind;
        dev.overlap = 1;
        dev.dot_ns = dev.entry_alone = 0;
        for (int t = 0; t < CLF_PROFILE_TIERS; t++) dev.gather_ns[t] = 0;
        dev.entry_ns = 2 * BESIDE; /* more than all that is moved */
        double plain = ns_on(&r, &dev);
        for (int t = 0; t < CLF_PROFILE_TIERS; t++) dev.gather_ns[t] = BESIDE;
        double grown = (ns_on(&r, &dev) - plain) / ((double)BESIDE * ENTRIES);
        CU_ASSERT_DOUBLE_EQUAL(grown, kind != CLF_DEV_GPU, 1e-6);
    }
    drop(&r);
}

/* Of visiting entries, of products begun in their rows, and of those in rows of cells, a part goes on while nothing is moved, though far
 * more is. */
static void test_alone(void) {
    static const plan_var v[] = {
        {"X", 30000, 2000, false, ENTRIES}, {"w", 2000, 1, false, 0}, {"C", 30000, 200, false, 0}, {"x", 200, 1, false, 0}};
    static const struct {
        const char *program;
        size_t part;
        double computed_ns;
    } of[] = {{"X %*% w", offsetof(clf_profile, entry_alone), 3.0 * ENTRIES + 400.0 * 30000},
              {"t(C) %*% (C %*% x)", offsetof(clf_profile, row_alone), 2 * 200.0 * 30000}};
    clf_limits lim = {.dev = {.n = 1, .profile = {&devices.profile[0]}}, .kernel_ops = 200, .kernel_inputs = 48};
    clf_profile dev = devices.profile[0];
    dev.overlap = 1;
    dev.entry_ns = 3;
    dev.dot_ns = dev.entry_row_ns = 200;
    dev.fma_per_s[0] = dev.fma_per_s[1] = 1e18;
    for (int t = 0; t < CLF_PROFILE_TIERS; t++) dev.read_bytes_per_s[t] = 1e8;
    for (int k = 0; k < 2; k++) {
        planned r = plan_with(v, 4, of[k].program, "all", &lim);
        double *part = (double *)(void *)((char *)&dev + of[k].part);
        CU_ASSERT_EQUAL_FATAL(r.p->nstep, 1);
        dev.row_alone = dev.entry_alone = 0;
        double none = ns_on(&r, &dev);
        for (*part = 0.25; *part <= 1; *part += 0.25)
            CU_ASSERT_DOUBLE_EQUAL((ns_on(&r, &dev) - none) / (*part * of[k].computed_ns), 1, 1e-6);
        drop(&r);
    }
}

/* All that is given, as it is stored, and all that is wanted. What is read once costs by them, though it would fit nearer itself. */
static void test_bytes(void) {
    clf_limits lim = {.dev = {.n = 1, .profile = {&devices.profile[0]}}, .kernel_ops = 200, .kernel_inputs = 48};
    planned r = plan_with(vars, 5, "X %*% G; sum(G)", "none", &lim);
    CU_ASSERT_EQUAL(r.p->g.bytes, clf_csr_bytes(30000, ENTRIES, CLF_F64) + 8.0 * (2000 * 20 + 30000 * 20 + 1));
    const clf_profile *dev = &devices.profile[0];
    for (int32_t n = 0; n < r.p->g.n; n++) {
        const clf_gnode *x = &r.p->g.node[n];
        clf_term t = {.kind = CLF_TERM_READ, .node = n, .a = clf_gnode_bytes(x)};
        if (x->op != CLF_OP_LEAF || clf_rows(x) != 2000) continue;
        CU_ASSERT_EQUAL(clf_term_pay(&t, &r.p->g, dev), clf_cost_read(dev, t.a, r.p->g.bytes));
        CU_ASSERT(clf_term_pay(&t, &r.p->g, dev) > clf_cost_read(dev, t.a, 0));
    }
    drop(&r);
}

/* The same loop runs, and costs the same. */
static void test_one_column(void) {
    const plan_var z = {"Z", 30000, 1, false, 0};
    clf_limits lim = {.dev = {.n = 1, .profile = {&devices.profile[0]}}, .kernel_ops = 200, .kernel_inputs = 48};
    planned all = plan_with(&z, 1, "sum(Z)", "none", &lim), down = plan_with(&z, 1, "colSums(Z)", "none", &lim);
    CU_ASSERT(all.p->nstep == 1 && down.p->nstep == 1);
    double ns = clf_step_cost_ns(all.p, &all.p->step[0], &devices.profile[0]);
    CU_ASSERT(ns > 0);
    CU_ASSERT_EQUAL(clf_step_cost_ns(down.p, &down.p->step[0], &devices.profile[0]), ns);
    drop(&all);
    drop(&down);
}

int main(void) {
    static const test_case tests[] = {{"bytes of a program", test_bytes},
                                      {"products begun at entries", test_begun},
                                      {"cells looked up at entries", test_looked_up},
                                      {"beside nothing", test_alone},
                                      {"a fold down one column", test_one_column}};
    if (!plan_devices_read(&devices, CLF_TESTS_DIR "/golden/profiles")) return 1;
    return run_suite("entry_cost", tests, sizeof tests / sizeof *tests);
}
