/* SPDX-License-Identifier: Apache-2.0
 * What loops over rows compute along two axes: as little as the order of their axes allows, and billed as often as it is computed. */
#include "planner/bill.h"
#include "planner/template.h"
#include "tests/unit/plan_text.h"

static const plan_var vars[] = {{"X", 4000, 60, false, 0}, {"W", 60, 40, false, 0}, {"V", 40, 2, false, 0},
                                {"U", 2, 40, false, 0},    {"S", 40, 40, false, 0}, {"R", 60, 60, false, 0}};

typedef struct counts {
    int made, billed; /* inner products of rows with a matrix */
} counts;

static void count(const clf_plan *p, const clf_step *s, counts *n) {
    if (s->kind != CLF_STEP_FUSED) return;
    for (int v = 0; v < s->c.nvalue; v++) n->made += s->c.value[v].op == CLF_V_DOT;
    for (int t = 0; t < s->bill->n; t++) {
        const clf_term *b = &s->bill->term[t];
        clf_product f = clf_product_loop(&p->g, b->node);
        n->billed += b->kind == CLF_TERM_NODE && (f == CLF_PRODUCT_ROWS || f == CLF_PRODUCT_WIDE);
    }
}

static counts counts_of(const char *text) {
    clf_profile host;
    clf_profile_assume(&host, CLF_DEV_HOST, 2);
    clf_limits lim = {.dev = {.n = 1, .profile = {&host}}, .kernel_ops = 200, .kernel_inputs = 48};
    planned r = plan_with(vars, 6, text, "all", &lim);
    counts n = {0, 0};
    for (int32_t s = 0; s < r.p->nstep; s++) count(r.p, &r.p->step[s], &n);
    drop(&r);
    return n;
}

/* made: of the loop. What has as many columns as another is computed along both where both need it. */
static void test_counts(void) {
    static const struct {
        const char *text;
        int made;
    } of[] = {
        {"P = X %*% W\nG = t(X) %*% (P * P)\nc = colSums(P)\nG; c", 1},
        /* columns of P are there before those of X */
        {"P = X %*% W\nc = colSums(P)\nG = t(X) %*% (P * P)\nc; G", 1},
        /* two layers: results of 40 x 2 and 2 x 40. E is made along another axis than V's columns; where both are wanted, twice */
        {"P = sigmoid(X %*% W)\nQ = sigmoid(P %*% V)\nD = sigmoid(Q %*% U) - P\nE = D %*% V\nt(P) %*% E; t(Q) %*% D; colSums(D)", 4},
        {"P = sigmoid(X %*% W)\nQ = sigmoid(P %*% V)\nD = sigmoid(Q %*% U) - P\nE = D %*% V\nt(P) %*% E; t(Q) %*% D; colSums(E)", 5},
        /* as many columns on either side */
        {"P = sigmoid(X %*% W)\nQ = exp(P %*% S)\nQ; colSums(P)", 3},
        {"P = sigmoid(X %*% W)\nexp(P %*% S)", 2},
        {"P = sigmoid(X %*% R)\nP; t(X) %*% P", 2},
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        counts n = counts_of(of[i].text);
        if (n.made != of[i].made || n.billed != n.made) printf("\n    %s: made %d, billed %d", of[i].text, n.made, n.billed);
        CU_ASSERT_EQUAL(n.made, of[i].made);
        CU_ASSERT_EQUAL(n.billed, n.made);
    }
}

int main(void) {
    static const test_case tests[] = {{"counts", test_counts}};
    return run_suite("axes", tests, sizeof tests / sizeof *tests);
}
