/* SPDX-License-Identifier: Apache-2.0
 * Why edges go through memory in plans that were searched: each reason by a program that shows it, and on random programs that exactly the
 * edges through memory have one. */
#include "tests/support/net.h"
#include "tests/support/plan_devices.h"
#include "tests/support/plan_random.h"
#include "tests/unit/plan_text.h"

enum { MOST_NODES = 4 * PLAN_RANDOM_NODES }; /* after rewrites, too */
static plan_devices devices;

static const plan_var vars[] = {{"X", 100000, 100, false, 0}, {"Y", 100000, 100, false, 0}, {"v", 1, 100, false, 0},
                                {"W", 100, 100000, false, 0}, {"M", 100, 60, false, 0},     {"S", 100000, 50000, false, 5000000},
                                {"U", 100000, 10, false, 0},  {"V", 50000, 10, false, 0},   {"A", 100, 40, false, 0},
                                {"B", 40, 30, false, 0},      {"C", 30, 20, false, 0},      {"D", 20, 10, false, 0},
                                {"E", 10, 5, false, 0},       {"F", 5, 4, false, 0},        {"G", 4, 3, false, 0},
                                {"H", 3, 2, false, 0}};
enum { VARS = sizeof vars / sizeof *vars };

static planned plan_of(const char *text, int kernel_ops, int kernel_inputs, int second) {
    clf_limits lim = {.dev = {.n = 1, .profile = {&devices.profile[0]}}, .kernel_ops = kernel_ops, .kernel_inputs = kernel_inputs};
    lim.own_products = kernel_inputs == 47; /* products are loops */
    if (second) lim.dev = (clf_devices){.n = 2, .profile = {&devices.profile[0], &devices.profile[second]}};
    return plan_with(vars, VARS, text, "cost", &lim);
}

/* How often the edge is named with that reason. to -1: the result. */
static int named(const planned *r, int from, int to, clf_reason why) {
    int n = 0;
    for (int32_t i = 0; i < r->p->ncut; i++) {
        const clf_cut *k = &r->p->cut[i];
        n += r->p->g.node[k->from].op == from && (k->to < 0 ? -1 : r->p->g.node[k->to].op) == to && k->reason == why;
    }
    return n;
}

static void test_by_cost(void) {
    planned r = plan_of("B = exp(sin(X)); k = sum(B); sum(B * k)", 200, 48, 0);
    CU_ASSERT_EQUAL(named(&r, CLF_OP_EXP, CLF_OP_MUL, CLF_CUT_COST), 1);
    CU_ASSERT_EQUAL(named(&r, CLF_OP_FOLD, CLF_OP_MUL, CLF_CUT_BARRIER), 1);
    CU_ASSERT_EQUAL(named(&r, CLF_OP_FOLD, -1, CLF_CUT_RESULT), 1);
    CU_ASSERT_EQUAL(r.p->ncut, 3);
    drop(&r);
    r = plan_of("X - sum(X) / 7", 200, 48, 0); /* the quotient is computed for each cell, from a sum that must be there */
    CU_ASSERT_EQUAL(named(&r, CLF_OP_FOLD, CLF_OP_DIV, CLF_CUT_BARRIER), 1);
    CU_ASSERT_EQUAL(r.p->ncut, 2);
    drop(&r);
    r = plan_of("B = X + Y; B; B; sum(B)", 200, 48, 0); /* a result asked for twice is one */
    CU_ASSERT_EQUAL(named(&r, CLF_OP_ADD, -1, CLF_CUT_RESULT), 1);
    CU_ASSERT_EQUAL(r.p->ncut, 2);
    drop(&r);
}

static void test_structure(void) {
    planned r = plan_of("t(X * 2) + W", 200, 48, 0);
    CU_ASSERT_EQUAL(named(&r, CLF_OP_TRANSPOSE, CLF_OP_ADD, CLF_CUT_TEMPLATE), 1);
    drop(&r);
    r = plan_of("X * exp(v)", 200, 48, 0);
    CU_ASSERT_EQUAL(named(&r, CLF_OP_EXP, CLF_OP_MUL, CLF_CUT_LOOPS), 1);
    drop(&r);
    r = plan_of("exp(X %*% M)", 200, 48, 0); /* so many multiply-adds are the library's */
    CU_ASSERT_EQUAL(named(&r, CLF_OP_MATMUL, CLF_OP_EXP, CLF_CUT_ALONE), 1);
    drop(&r);
}

static void test_limits(void) {
    planned r = plan_of("sqrt(abs(X))", 1, 48, 0);
    CU_ASSERT_EQUAL(named(&r, CLF_OP_ABS, CLF_OP_SQRT, CLF_CUT_KERNEL_OPS), 1);
    drop(&r);
    r = plan_of("sqrt(X + Y + v)", 200, 3, 0);
    CU_ASSERT_EQUAL(named(&r, CLF_OP_ADD, CLF_OP_ADD, CLF_CUT_KERNEL_ARGS), 1);
    drop(&r);
    r = plan_of("P = exp(exp(exp(exp(X %*% A) %*% B) %*% C) %*% D); exp(exp(exp(exp(P %*% E) %*% F) %*% G) %*% H)", 200, 47, 0);
    bool axes = false;
    for (int32_t i = 0; i < r.p->ncut; i++) axes = axes || r.p->cut[i].reason == CLF_CUT_KERNEL_AXES;
    CU_ASSERT(axes);
    drop(&r);
}

static void test_devices(void) {
    /* X is worth the slow link for what it saves; Y is not for one product, and only sums of rows come back */
    planned r = plan_of("Y * rowSums(exp(sin(cos(exp(sin(X))))))", 200, 48, 2);
    int elsewhere = 0;
    for (int32_t s = 0; s < r.p->nstep; s++) elsewhere += r.p->step[s].device != 0;
    CU_ASSERT(elsewhere > 0 && elsewhere < r.p->nstep);
    CU_ASSERT_EQUAL(named(&r, CLF_OP_FOLD, CLF_OP_MUL, CLF_CUT_DEVICE), 1);
    drop(&r);
}

/* ---- random programs ---- */

static int cuts_of(const clf_plan *p, int32_t from, int32_t to) {
    int n = 0;
    for (int32_t i = 0; i < p->ncut; i++) n += p->cut[i].from == from && p->cut[i].to == to;
    return n;
}

static bool covers(const clf_step *t, int32_t n) {
    if (t->kind != CLF_STEP_FUSED) return t->node == n;
    for (int i = 0; i < t->ncover; i++)
        if (t->cover[i] == n) return true;
    return false;
}

/* Its twin, too, which a product of entries takes. */
static bool reads(const clf_plan *p, const clf_step *t, int32_t n) {
    for (int i = 0; i < t->nin; i++) {
        const clf_gnode *x = &p->g.node[p->value[t->in[i]].node];
        bool twin = clf_step_of_entries(p, t) && x->op == CLF_OP_TRANSPOSE && x->in[0] == n;
        if (p->value[t->in[i]].node == n || twin) return true;
    }
    return false;
}

/* A conversion computes something only as a transpose. */
static bool makes(const clf_step *t) { return t->kind != CLF_STEP_CONVERT || t->convert == CLF_CONVERT_TWIN; }

/* Does the step compute n: as a node that it covers, or, by clf_find_copies, again for one that it computes? Readers come behind. */
static void find_computed(const clf_graph *g, const clf_step *t, const uint8_t *copied, uint8_t *computed) {
    for (int32_t n = g->n; n-- > 0;) {
        computed[n] = covers(t, n);
        for (int32_t m = n + 1; t->kind == CLF_STEP_FUSED && copied[n] && m < g->n; m++)
            for (int k = 0; computed[m] && k < g->node[m].nin; k++)
                if (clf_node_operand(g, m, k) == n && clf_node_copies(g, m, k)) computed[n] = 1;
    }
}

/* Does some step that computes `to` take `from` from memory? */
static bool through_memory(const clf_plan *p, const uint8_t *copied, int32_t from, int32_t to) {
    uint8_t computed[MOST_NODES];
    for (int32_t s = 0; s < p->nstep; s++) {
        if (!makes(&p->step[s]) || !reads(p, &p->step[s], from)) continue;
        find_computed(&p->g, &p->step[s], copied, computed);
        if (computed[to]) return true;
    }
    return false;
}

static bool is_root(const clf_graph *g, int32_t n) {
    for (int32_t r = 0; r < g->nroot; r++)
        if (g->root[r] == n) return true;
    return false;
}

static const char *wrong(const clf_plan *p) {
    const clf_graph *g = &p->g;
    uint8_t copied[MOST_NODES] = {0}, cone[MOST_NODES], need[MOST_NODES];
    clf_find_copies(g, copied, cone, need);
    for (int32_t n = 0; n < g->n; n++) {
        if (clf_node_is_slot(&g->node[n])) continue;
        if (cuts_of(p, n, -1) != is_root(g, n)) return "a result is not named once";
        for (int k = 0; k < g->node[n].nin; k++) {
            int32_t q = clf_node_operand(g, n, k);
            bool said = cuts_of(p, q, n) == 1;
            if (cuts_of(p, q, n) > 1) return "an edge is named twice";
            if (said && clf_node_is_slot(&g->node[q])) return "an operand that was there has a reason";
            if (copied[q] && clf_node_copies(g, n, k)) continue; /* n computes it, where others read it */
            if (!clf_node_is_slot(&g->node[q]) && said != through_memory(p, copied, q, n))
                return "an edge through memory has no reason, or another has";
        }
    }
    return NULL;
}

static void test_random(void) {
    int64_t want = net_count(4000, 200000);
    plan_random *r = malloc(sizeof *r);
    const char *why = NULL;
    for (int64_t k = 0; k < want && !why; k++) {
        clf_mem mem;
        clf_err err = {CLF_OK, ""};
        clf_plan *p = NULL;
        clf_mem_init(&mem, NULL, NULL);
        plan_random_make(r, (uint64_t)k + 4000, 2 + (int)(k % 12));
        if (k % 5 == 0) plan_random_sparse(r);
        plan_devices_choose(&devices, (uint64_t)k);
        clf_limits lim = {.dev.n = devices.n, .kernel_ops = k % 3 ? 200 : 3, .kernel_inputs = k % 7 ? 48 : 5};
        memcpy(lim.dev.profile, devices.device, sizeof devices.device);
        CU_ASSERT_EQUAL_FATAL(clf_plan_new(&p, &r->g, clf_selector_find("cost"), &lim, &mem, &err), CLF_OK);
        why = wrong(p);
        if (why) {
            clf_str t;
            clf_str_init(&t, &mem);
            clf_graph_print(&p->g, &t);
            clf_plan_print(p, &t);
            printf("\n    graph %lld: %s\n%s", (long long)k, why, clf_str_c(&t));
            clf_str_release(&t);
        }
        clf_plan_free(p);
    }
    CU_ASSERT_PTR_NULL(why);
    free(r);
}

int main(void) {
    static const test_case tests[] = {{"by cost", test_by_cost},
                                      {"structure", test_structure},
                                      {"limits", test_limits},
                                      {"devices", test_devices},
                                      {"random programs", test_random}};
    if (!plan_devices_read(&devices, CLF_TESTS_DIR "/golden/profiles")) return 1;
    return run_suite("cuts", tests, sizeof tests / sizeof *tests);
}
