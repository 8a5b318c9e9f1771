/* SPDX-License-Identifier: Apache-2.0
 * What products begun at stored entries cost. An inner product at each entry takes a sum of its lanes; a row of a side that is times an entry
 * goes to sums that kernels for CPUs keep in registers, while others begin anew with it. Beginning made dear says how often it is billed. What is looked up at entries hides behind nothing on a CPU. */
#include "planner/bill.h"
#include "tests/support/plan_devices.h"
#include "tests/unit/plan_text.h"

static plan_devices devices;

enum { ENTRIES = 3000000 };
static const plan_var vars[] = {{"X", 30000, 2000, false, ENTRIES}, {"F", 30000, 20, false, 0}, {"G", 2000, 20, false, 0}};

static double ns_with(const planned *r, clf_profile dev, double dot_ns) {
    dev.dot_ns = dot_ns;
    return 1e-3 * (double)clf_bill_pay(r->p->step[0].bill, &r->p->g, &dev);
}

/* Products that the only loop begins at an entry, all else being cheap beside. */
static double begun(const planned *r, const clf_profile *dev) {
    static const double dear_ns = 1000;
    return (ns_with(r, *dev, 2 * dear_ns) - ns_with(r, *dev, dear_ns)) / (dear_ns * ENTRIES);
}

static void test_begun(void) {
    static const struct {
        const char *program;
        double host, cpu;
    } of[] = {{"sum(X * (F %*% t(G)))", 1, 1}, {"X %*% G", 1, 0}, {"(X * (F %*% t(G))) %*% G", 2, 1}};
    const clf_profile *host = &devices.profile[0], *cpu = &devices.profile[1];
    clf_limits lim = {.dev = {.n = 1, .profile = {host}}, .kernel_ops = 200, .kernel_inputs = 48};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        planned r = plan_with(vars, 3, of[k].program, "all", &lim);
        CU_ASSERT_EQUAL_FATAL(r.p->nstep, 1);
        CU_ASSERT_DOUBLE_EQUAL(begun(&r, host), of[k].host, 1e-6);
        CU_ASSERT_DOUBLE_EQUAL(begun(&r, cpu), of[k].cpu, 1e-6);
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
        for (int t = 0; t < CLF_PROFILE_TIERS; t++) dev.gather_ns[t] = 0;
        dev.entry_ns = 2 * BESIDE; /* more than all that is moved */
        double plain = ns_with(&r, dev, 0);
        for (int t = 0; t < CLF_PROFILE_TIERS; t++) dev.gather_ns[t] = BESIDE;
        double grown = (ns_with(&r, dev, 0) - plain) / ((double)BESIDE * ENTRIES);
        CU_ASSERT_DOUBLE_EQUAL(grown, kind != CLF_DEV_GPU, 1e-6);
    }
    drop(&r);
}

int main(void) {
    static const test_case tests[] = {{"products begun at entries", test_begun}, {"cells looked up at entries", test_looked_up}};
    if (!plan_devices_read(&devices, CLF_TESTS_DIR "/golden/profiles")) return 1;
    return run_suite("entry_cost", tests, 2);
}
