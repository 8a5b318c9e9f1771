/* SPDX-License-Identifier: Apache-2.0
 * Aggregates of cell operators: squares and comparisons with 0 are folds of their own, a factor that is the same everywhere leaves a sum.
 *
 * Measure: cell operators over the cells of what is aggregated. */
#include "planner/rules.h"

static bool is_fold(const clf_gnode *x, clf_fold_id f) { return x->op == CLF_OP_FOLD && x->attr[0] == (int64_t)f; }

/* X of sum(X^2), when squares of its type do not wrap before they are summed. */
static int32_t squared(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    if (!is_fold(x, CLF_FOLD_SUM) || g->node[x->in[0]].op != CLF_OP_SQR) return -1;
    int32_t q = g->node[x->in[0]].in[0];
    return g->node[q].dtype == CLF_I32 ? -1 : q;
}

/* Kind: EXACT: the same product is added at the same place. i32 is left out: its squares wrap, those of the fold, in i64, do not. */
int32_t clf_rule_sumsq(clf_rewriter *w, int32_t n) {
    int32_t q = squared(&w->g, n);
    if (q < 0 || w->g.node[q].dtype == CLF_F32) return -1;
    return clf_rewriter_fold(w, CLF_FOLD_SUMSQ, (clf_way)w->g.node[n].attr[1], q);
}

/* Kind: ROUNDING: squares that are folded in by their number are not rounded to f32 before. */
int32_t clf_rule_sumsq_f32(clf_rewriter *w, int32_t n) {
    int32_t q = squared(&w->g, n);
    if (q < 0 || w->g.node[q].dtype != CLF_F32) return -1;
    return clf_rewriter_fold(w, CLF_FOLD_SUMSQ, (clf_way)w->g.node[n].attr[1], q);
}

/* sum(X != 0), and the same by rows and by columns. Kind: EXACT: both count in i64, and NaN counts in both. */
int32_t clf_rule_nnz(clf_rewriter *w, int32_t n) {
    clf_gnode x = w->g.node[n];
    if (!is_fold(&x, CLF_FOLD_SUM) || w->g.node[x.in[0]].op != CLF_OP_NE) return -1;
    clf_gnode ne = w->g.node[x.in[0]];
    for (int k = 0; k < 2; k++) {
        clf_number c = clf_rule_number(&w->g, ne.in[k]);
        bool zero = c == CLF_NUMBER_ZERO || c == CLF_NUMBER_MINUS_ZERO;
        if (zero && clf_rule_same_shape(&w->g.node[ne.in[1 - k]], &ne))
            return clf_rewriter_fold(w, CLF_FOLD_NNZ, (clf_way)x.attr[1], ne.in[1 - k]);
    }
    return -1;
}

enum { MANY = 1 << 18 }; /* cells that are worth a step of its own: what follows a full or column aggregate must wait for all of it */

static double cells(const clf_gnode *x) { return (double)clf_rows(x) * (double)clf_cols(x); }

/* Is it worth computing with n's cells instead of those it aggregates? */
static bool pays(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n], *q = &g->node[x->in[0]];
    return cells(q) > cells(x) && (x->attr[1] == CLF_WAY_ROWS || cells(q) >= MANY);
}

/* May scalar a leave the sum of its products with X? There is a sum, of f64; and a structural zero of X, which annihilates an a that is no
 * number, does not meet one. */
static bool may_leave(const clf_graph *g, int32_t n, int32_t a, int32_t q) {
    const clf_gnode *x = &g->node[n], *f = &g->node[a], *X = &g->node[q];
    clf_number k = clf_rule_number(g, a);
    bool known = k != CLF_NUMBER_UNKNOWN && k != CLF_NUMBER_NO_NUMBER, zero = k == CLF_NUMBER_ZERO || k == CLF_NUMBER_MINUS_ZERO;
    bool reals = f->dtype == CLF_F64 && X->dtype == CLF_F64 && x->dtype == CLF_F64;
    bool one = f->scalar && !X->scalar && clf_rule_same_shape(X, &g->node[x->in[0]]);
    return reals && one && pays(g, n) && clf_rule_has_cells(X) && !zero && (known || !clf_rule_structural(g, q));
}

/* sum(a * X) and sum(X / a), means too, by rows and columns too. Kind: ROUNDING: a is multiplied once. What is not finite stays so: were a
 * Inf or NaN, the products are neither finite nor is a times their sum. */
int32_t clf_rule_sum_scaled(clf_rewriter *w, int32_t n) {
    clf_gnode x = w->g.node[n];
    if (!is_fold(&x, CLF_FOLD_SUM) && !is_fold(&x, CLF_FOLD_MEAN)) return -1;
    clf_gnode m = w->g.node[x.in[0]];
    for (int k = 0; k < 2; k++) {
        if (m.op != CLF_OP_MUL && !(m.op == CLF_OP_DIV && k == 1)) continue;
        if (!may_leave(&w->g, n, m.in[k], m.in[1 - k])) continue;
        int32_t in[2];
        in[k] = m.in[k];
        in[1 - k] = clf_rewriter_fold(w, (clf_fold_id)x.attr[0], (clf_way)x.attr[1], m.in[1 - k]);
        return clf_rewriter_cell(w, (clf_op)m.op, 2, in);
    }
    return -1;
}

/* sum(-X) = 0 - sum(X). Kind: EXACT: rounding does not know signs, and a sum, which starts from 0, is never -0. */
int32_t clf_rule_sum_negated(clf_rewriter *w, int32_t n) {
    clf_gnode x = w->g.node[n];
    if ((!is_fold(&x, CLF_FOLD_SUM) && !is_fold(&x, CLF_FOLD_MEAN)) || !clf_dtype_float((clf_dtype)x.dtype)) return -1;
    clf_gnode m = w->g.node[x.in[0]];
    if (m.op != CLF_OP_NEG || m.dtype != x.dtype || !pays(&w->g, n)) return -1;
    int32_t f = clf_rewriter_fold(w, (clf_fold_id)x.attr[0], (clf_way)x.attr[1], m.in[0]);
    return clf_rewriter_cell(w, CLF_OP_SUB, 2, (int32_t[]){clf_rule_num(w, 0, (clf_dtype)x.dtype), f});
}
