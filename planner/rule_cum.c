/* SPDX-License-Identifier: Apache-2.0
 * Cumulating along rows: t(cumsum(t(X))), and the same for cumprod, cummin and cummax, is one operator that goes along the rows of X. The
 * Row template takes it into loops, where neither transpose is ever made. A cast to the fold's type below it, as recording puts one
 * over integers, is moved to X itself. A single column stays as it is: it has nothing to cumulate.
 *
 * Kind: EXACT. The steps are the same, in the same order. Measure: transposes above and below a CUM. */
#include <string.h>

#include "planner/rules.h"

/* X of t(X), or of a cast of it: what the CUM goes along, as a node; -1. */
static int32_t turned(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op == CLF_OP_TRANSPOSE) return x->in[0];
    if (x->op != CLF_OP_CAST || w->g.node[x->in[0]].op != CLF_OP_TRANSPOSE) return -1;
    int32_t from = w->g.node[x->in[0]].in[0];
    return clf_rewriter_like(w, n, &from, clf_rows(&w->g.node[from]), clf_cols(&w->g.node[from]));
}

int32_t clf_rule_cum(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op != CLF_OP_TRANSPOSE || clf_cols(x) < 2) return -1;
    int32_t cum = x->in[0];
    if (w->g.node[cum].op != CLF_OP_CUM || w->g.node[cum].attr[1] == CLF_WAY_ROWS) return -1;
    int32_t from = turned(w, w->g.node[cum].in[0]);
    if (from < 0) return -1;
    clf_gnode along;
    memcpy(&along, &w->g.node[cum], sizeof along);
    along.in[0] = from;
    along.attr[1] = CLF_WAY_ROWS;
    clf_gnode_shape(&along, clf_rows(&w->g.node[from]), clf_cols(&w->g.node[from]));
    return clf_rewriter_put(w, &along);
}
