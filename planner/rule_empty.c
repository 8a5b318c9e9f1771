/* SPDX-License-Identifier: Apache-2.0
 * Nothing: a sparse leaf without entries, and extents of 0. What is multiplied with it need not be computed. A matrix that is zero with
 * annihilating zeros stays the empty leaf, in its own format; dense results, of products and aggregates, become matrix(0, n, m).
 *
 * Entries of leaves are counted, not estimated, and none is a class of its own in a plan's key. Kind: EXACT: the sign of a zero that
 * annihilates is not kept anywhere. Measure: operators that are not casts or fills above something empty. */
#include <string.h>

#include "planner/rules.h"

static bool empty_leaf(const clf_gnode *x) {
    return x->op == CLF_OP_LEAF && x->format == CLF_CSR && x->nnz == 0 && x->zeros == CLF_ZEROS_STRUCTURAL;
}

/* An empty leaf, or a cast or a transpose of one. */
static bool empty(const clf_graph *g, int32_t q) {
    const clf_gnode *x = &g->node[q];
    for (int i = 0; i < 2 && x->zeros == CLF_ZEROS_STRUCTURAL && (x->op == CLF_OP_CAST || x->op == CLF_OP_TRANSPOSE); i++)
        x = &g->node[x->in[0]];
    return empty_leaf(x);
}

/* Operand of n that is zero everywhere, and with it n; -1. */
static int32_t zero_operand(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    unsigned one = clf_op_annihilators(x->op);
    int32_t found = -1;
    for (int k = 0; k < x->nin; k++) {
        int32_t q = x->in[k];
        bool nothing = empty(g, q) && clf_rule_same_shape(&g->node[q], x);
        if (nothing && (one >> k & 1)) return q;
        if (clf_rule_structural(g, q) && !nothing) return -1;
        if (nothing) found = q;
    }
    return found;
}

int32_t clf_rule_empty_cells(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (!clf_op_is_cell(x->op) || x->zeros != CLF_ZEROS_STRUCTURAL || x->scalar) return -1;
    int32_t q = zero_operand(&w->g, n);
    return q < 0 ? -1 : clf_rewriter_cast(w, q, (clf_dtype)x->dtype, false);
}

int32_t clf_rule_num(clf_rewriter *w, double x, clf_dtype t) {
    clf_gnode from;
    memset(&from, 0, sizeof from);
    from.op = CLF_OP_SEQ; /* x + 0 * i: the one number that needs no slot */
    from.attr[0] = clf_attr_of(x);
    from.dtype = CLF_F64;
    from.rank = 2;
    from.nnz = 1;
    clf_gnode_shape(&from, 1, 1);
    return clf_rewriter_cast(w, clf_rewriter_put(w, &from), t, true);
}

/* matrix(0, n, m), or 0, of this node's form. */
static int32_t zero_like(clf_rewriter *w, int32_t n) {
    clf_gnode x = w->g.node[n], fill;
    int32_t scalar = clf_rule_num(w, 0, (clf_dtype)x.dtype);
    if (scalar < 0 || x.scalar) return scalar;
    memset(&fill, 0, sizeof fill);
    fill.op = CLF_OP_FILL;
    fill.dtype = x.dtype;
    fill.rank = 2;
    fill.nin = 1;
    fill.in[0] = scalar;
    clf_gnode_shape(&fill, clf_rows(&x), clf_cols(&x));
    return clf_rewriter_put(w, &fill);
}

int32_t clf_rule_empty_product(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op != CLF_OP_MATMUL || !clf_rule_has_cells(x)) return -1;
    bool none = clf_cols(&w->g.node[x->in[0]]) == 0;
    return none || empty(&w->g, x->in[0]) || empty(&w->g, x->in[1]) ? zero_like(w, n) : -1;
}

int32_t clf_rule_empty_fold(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op != CLF_OP_FOLD || !clf_rule_has_cells(x)) return -1;
    int64_t f = x->attr[0];
    bool adds = f == CLF_FOLD_SUM || f == CLF_FOLD_SUMSQ || f == CLF_FOLD_NNZ || f == CLF_FOLD_ANY;
    bool takes = adds || f == CLF_FOLD_MIN || f == CLF_FOLD_MAX || f == CLF_FOLD_MEAN || f == CLF_FOLD_PROD;
    bool none = !clf_rule_has_cells(&w->g.node[x->in[0]]);
    return (none && adds) || (!none && takes && empty(&w->g, x->in[0])) ? zero_like(w, n) : -1;
}
