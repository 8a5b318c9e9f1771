/* SPDX-License-Identifier: Apache-2.0
 * The table of rewrite rules, and those that take away operators which do nothing. Measure of the latter: the number of operators below
 * what stands for a node. A rule larger than these has a file of its own, planner/rule_*.c. */
#include "planner/rules.h"

static int32_t double_transpose(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op != CLF_OP_TRANSPOSE || w->g.node[x->in[0]].op != CLF_OP_TRANSPOSE) return -1;
    int32_t m = w->g.node[x->in[0]].in[0];
    return clf_same_form(x, &w->g.node[m]) ? m : -1; /* t(t(s)) of a scalar is a 1x1 matrix */
}

/* The input of an operator that leaves its form, and with it all cells, as they are. */
static int32_t input_if(const clf_rewriter *w, int32_t n, clf_op op) {
    const clf_gnode *x = &w->g.node[n];
    return x->op == op && clf_same_form(x, &w->g.node[x->in[0]]) ? x->in[0] : -1;
}

static int32_t no_cast(clf_rewriter *w, int32_t n) { return input_if(w, n, CLF_OP_CAST); }

static int32_t whole_index(clf_rewriter *w, int32_t n) { return input_if(w, n, CLF_OP_INDEX); }

static int32_t same_reshape(clf_rewriter *w, int32_t n) { return input_if(w, n, CLF_OP_RESHAPE); }

static int32_t transpose_of_single(clf_rewriter *w, int32_t n) {
    return clf_gnode_single(&w->g.node[n]) ? input_if(w, n, CLF_OP_TRANSPOSE) : -1;
}

const clf_rule clf_rules[] = {
    {"t(t(X)) = X", CLF_RULE_EXACT, double_transpose},
    {"cast to own type", CLF_RULE_EXACT, no_cast},
    {"X[1:n, 1:m] = X", CLF_RULE_EXACT, whole_index},
    {"reshape to own shape", CLF_RULE_EXACT, same_reshape},
    {"t of 1x1", CLF_RULE_EXACT, transpose_of_single},
    {"t(cum(t(X))) along rows", CLF_RULE_EXACT, clf_rule_cum},
    {"left product on the twin", CLF_RULE_EXACT, clf_rule_left},
    {NULL, CLF_RULE_EXACT, NULL},
};

_Static_assert(sizeof clf_rules / sizeof *clf_rules <= CLF_MOST_RULES, "notes and counts have room for every rule");
