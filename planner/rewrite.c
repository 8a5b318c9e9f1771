/* SPDX-License-Identifier: Apache-2.0
 * The rewrite pass: in id order every input is first replaced by what stands for it, then the rules look at the node. One pass
 * suffices, since a node's inputs are final when it is reached. */
#include "planner/rewrite.h"

/* What stands for a node must have its form, a scalar and a 1x1 matrix being two: readers derive their types from it. */
static bool same_form(const clf_gnode *a, const clf_gnode *b) {
    return a->dtype == b->dtype && a->scalar == b->scalar && clf_rows(a) == clf_rows(b) && clf_cols(a) == clf_cols(b);
}

static int32_t double_transpose(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    if (x->op != CLF_OP_TRANSPOSE || g->node[x->in[0]].op != CLF_OP_TRANSPOSE) return -1;
    int32_t m = g->node[x->in[0]].in[0];
    return same_form(x, &g->node[m]) ? m : -1;
}

static int32_t no_cast(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    return x->op == CLF_OP_CAST && same_form(x, &g->node[x->in[0]]) ? x->in[0] : -1;
}

static int32_t whole_index(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    return x->op == CLF_OP_INDEX && same_form(x, &g->node[x->in[0]]) ? x->in[0] : -1;
}

static int32_t same_reshape(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    return x->op == CLF_OP_RESHAPE && same_form(x, &g->node[x->in[0]]) ? x->in[0] : -1;
}

static int32_t transpose_of_single(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    return x->op == CLF_OP_TRANSPOSE && clf_gnode_single(x) && same_form(x, &g->node[x->in[0]]) ? x->in[0] : -1;
}

const clf_rule clf_rules[] = {
    {"t(t(X)) = X", CLF_RULE_EXACT, double_transpose}, {"cast to own type", CLF_RULE_EXACT, no_cast},
    {"X[1:n, 1:m] = X", CLF_RULE_EXACT, whole_index},  {"reshape to own shape", CLF_RULE_EXACT, same_reshape},
    {"t of 1x1", CLF_RULE_EXACT, transpose_of_single}, {NULL, CLF_RULE_EXACT, NULL},
};

/* A replaced node keeps its id and becomes unreachable: selection never computes what nobody needs. */
static int32_t stands_for(const clf_graph *g, int32_t n, int32_t *fired) {
    for (int r = 0; clf_rules[r].name; r++) {
        int32_t m = clf_rules[r].kind == CLF_RULE_EXACT ? clf_rules[r].apply(g, n) : -1;
        if (m < 0) continue;
        if (fired) fired[r]++;
        return m;
    }
    return n;
}

static int32_t replace(const clf_graph *g, int32_t *edge, int32_t *fired) {
    int32_t was = *edge;
    *edge = stands_for(g, was, fired);
    return *edge != was;
}

int32_t clf_rewrite(clf_graph *g, int32_t *fired) {
    int32_t replaced = 0;
    for (int32_t n = 0; n < g->n; n++)
        for (int k = 0; k < g->node[n].nin; k++) replaced += replace(g, &g->node[n].in[k], fired);
    for (int32_t r = 0; r < g->nroot; r++) replaced += replace(g, &g->root[r], fired);
    return replaced;
}
