/* SPDX-License-Identifier: Apache-2.0
 * What the cost model says that only the host has (planner/host_only.c), against the skeletons themselves: a loop over stored entries has a
 * kernel exactly if none of its operators is one of those. And what follows: plans for a host and a device put no such loop on the
 * device, and do not cost what it would take there. Last, what a loop costs that the host cannot share out among its cores. */
#include <string.h>

#include "planner/bill.h"
#include "planner/search.h"
#include "planner/skel.h"
#include "tests/support/plan_devices.h"
#include "tests/unit/plan_text.h"

static plan_devices devices;

enum { VARS = 9 };
static const plan_var vars[VARS] = {{"X", 30000, 2000, false, 3000000}, {"F", 30000, 20, false, 0}, {"G", 2000, 20, false, 0},
                                    {"P", 30000, 5, false, 0},          {"K", 20, 20, false, 0},    {"v", 2000, 1, false, 0},
                                    {"u", 30000, 1, false, 0},          {"g", 20, 1, false, 0},     {"W", 2000, 150, false, 0}};

static const char *const programs[] = {"t(P) %*% X",
                                       "t(X) %*% P",
                                       "t(u) %*% X",
                                       "t(X) %*% u",
                                       "A = X %*% G; sum(A * F)",
                                       "A = X %*% G; A; colSums(A)",
                                       "A = X %*% G; A; A %*% K",
                                       "A = X %*% G; A; A %*% g",
                                       "A = X %*% G; t(A) %*% A",
                                       "A = X %*% G; t(A) %*% (2 * A)",
                                       "A = X %*% v; t(A) %*% F",
                                       "A = X %*% G; cbind(A, F)",
                                       "A = X %*% G; rowIndexMin(A)",
                                       "A = X %*% G; B = A / rowSums(A); t(X) %*% B",
                                       "A = X %*% G; B = A / rowSums(A); t(B) %*% X",
                                       "X * (F %*% t(G))",
                                       "(X * (F %*% t(G))) %*% G",
                                       "t(X * (F %*% t(G))) %*% F",
                                       "sum(X * log(F %*% t(G)))",
                                       "colSums(X)",
                                       "colSums(X * X)",
                                       "A = X %*% W; A * 2",
                                       "A = F * (X %*% G) / (F %*% K + 1); A; t(A) %*% A",
                                       "A = F * (X %*% G) / (F %*% K + 1); A; t(A) %*% (A + 1)",
                                       "D = X %*% G + t(g); m = rowMins(D); B = 1 + sign(m - D); t(B) %*% X; sum(m)"};

/* One that CPUs take by themselves. */
static bool has_kernel(const clf_step *t, const clf_profile *dev) {
    bool fits = false;
    for (int i = 0; clf_skels[i] && !fits; i++)
        fits = clf_skels[i]->tier == 2 && strcmp(clf_skels[i]->strategy, "group") && clf_skels[i]->fits(&t->c, dev);
    return fits;
}

static bool host_only(const planned *r, const clf_step *t) {
    bool only = false;
    for (int32_t i = 0; i < t->ncover && !only; i++) only = clf_bill_host_only(&r->p->g, r->p->value[t->driver].node, t->cover[i]);
    return only;
}

/* With all of it in one loop, and in as many as there are operators. */
static void test_skeletons(void) {
    static const char *const selectors[] = {"all", "none"};
    clf_limits lim = {.dev = {.n = 1, .profile = {&devices.profile[1]}}, .kernel_ops = 200, .kernel_inputs = 48};
    int loops = 0, only = 0;
    for (size_t i = 0; i < 2 * sizeof programs / sizeof *programs; i++) {
        planned r = plan_with(vars, VARS, programs[i / 2], selectors[i % 2], &lim);
        for (int32_t s = 0; s < r.p->nstep; s++) {
            const clf_step *t = &r.p->step[s];
            if (t->kind != CLF_STEP_FUSED || t->driver < 0) continue;
            bool kernel = has_kernel(t, &devices.profile[1]), host = host_only(&r, t);
            if (kernel == host)
                printf("\n    %s, %s: step %d has %s kernel\n", programs[i / 2], selectors[i % 2], (int)s, kernel ? "a" : "no");
            CU_ASSERT_NOT_EQUAL(kernel, host);
            loops++;
            only += host;
        }
        drop(&r);
    }
    CU_ASSERT(loops > 40 && only >= 8 && only < loops - 20);
}

/* A factor's update, and centres of clusters: the kernels there are take the entries, the rest goes over their rows. */
static void test_plans(void) {
    clf_limits lim = {.dev = {.n = 2, .profile = {&devices.profile[0], &devices.profile[1]}, .loops_only = {false, true}},
                      .kernel_ops = 200,
                      .kernel_inputs = 48};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        planned r = plan_with(vars, VARS, programs[i], "cost", &lim);
        CU_ASSERT(r.p->cost_ps > 0 && r.p->cost_ps < (clf_ps)1e12);
        for (int32_t s = 0; s < r.p->nstep; s++) {
            const clf_step *t = &r.p->step[s];
            if (t->kind == CLF_STEP_FUSED && t->driver >= 0 && t->device) CU_ASSERT(has_kernel(t, &devices.profile[1]));
        }
        drop(&r);
    }
}

/* A device alone is asked for: what has no kernel is the executor's matter, and costs what it did. */
static void test_one_device(void) {
    clf_limits lim = {.dev = {.n = 1, .profile = {&devices.profile[1]}}, .kernel_ops = 200, .kernel_inputs = 48};
    planned r = plan_with(vars, VARS, "t(P) %*% X", "cost", &lim);
    expect_text(&r, "t(P) %*% X", "cost", "Row X P > MATMUL > MATMUL | TRANSPOSE MATMUL"); /* turned, planner/rule_turned.c */
}

/* A loop would make A for either side of t(A) %*% A, along an axis each: not where that takes a product. */
static void test_made_once(void) {
    clf_limits lim = {.dev = {.n = 1, .profile = {&devices.profile[0]}}, .kernel_ops = 200, .kernel_inputs = 48};
    static const struct {
        const char *text, *want;
    } plans[] = {{"A = X %*% G; t(A) %*% A", "Row X G > MATMUL > MATMUL | MATMUL-ta MATMUL MATMUL"},
                 {"A = exp(F * (F %*% K)); t(A) %*% A", "Row F K > MATMUL MUL EXP > EXP | MATMUL-ta EXP EXP"},
                 {"A = exp(F * u); t(A) %*% A", "Row F u > MUL EXP MATMUL > MATMUL"},
                 {"A = X %*% G; t(A) %*% (A + 1)", "Row X G > MATMUL ADD MATMUL > MATMUL"}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        planned r = plan_with(vars, VARS, plans[i].text, "all", &lim);
        expect_text(&r, plans[i].text, "all", plans[i].want);
    }
}

/* Columns of P are summed in 1024 blocks of rows, products with entries meet in 16: no parts of rows are whole blocks of both. */
static void test_one_core(void) {
    clf_limits lim = {.dev = {.n = 1, .profile = {&devices.profile[0]}}, .kernel_ops = 200, .kernel_inputs = 48};
    static const char *const texts[] = {"t(X) %*% P", "t(X) %*% P; sum(P)", "t(X) %*% P; colSums(P)"};
    for (int i = 0; i < 3; i++) {
        planned r = plan_with(vars, VARS, texts[i], "all", &lim);
        CU_ASSERT_EQUAL_FATAL(r.p->nstep, 1);
        clf_bill *b = r.p->step[0].bill, shared = *b;
        CU_ASSERT_EQUAL(b->serial, i == 2);
        shared.serial = false;
        clf_ps one = clf_bill_pay(b, &r.p->g, &devices.profile[0]), all = clf_bill_pay(&shared, &r.p->g, &devices.profile[0]);
        CU_ASSERT(i == 2 && devices.profile[0].cores > 1 ? one > all + all / 2 : one == all);
        drop(&r);
    }
}

int main(void) {
    static const test_case tests[] = {{"loops without a kernel", test_skeletons},
                                      {"plans for a host and a device", test_plans},
                                      {"a device alone", test_one_device},
                                      {"made once", test_made_once},
                                      {"one core", test_one_core}};
    if (!plan_devices_read(&devices, CLF_TESTS_DIR "/golden/profiles")) return 1;
    return run_suite("host_only", tests, sizeof tests / sizeof *tests);
}
