/* SPDX-License-Identifier: Apache-2.0
 * Aggregates of transposes, of aggregates, and of single cells. The order of the terms changes, so those of integers are EXACT, and any and all;
 * those of reals are ROUNDING, minima and maxima, too: which zero of 0 and -0 is the smaller depends on who comes first. Positions
 * (argmin, argmax) and variances of variances are left alone. */
#include "planner/rules.h"

/* Are the cells of this aggregate free of the order in which values come? */
static bool order_free(const clf_gnode *x) {
    return x->attr[0] == CLF_FOLD_ANY || x->attr[0] == CLF_FOLD_ALL || x->attr[0] == CLF_FOLD_NNZ || !clf_dtype_float((clf_dtype)x->dtype);
}

static bool has_position(const clf_gnode *x) { return x->attr[0] == CLF_FOLD_ARGMIN || x->attr[0] == CLF_FOLD_ARGMAX; }

/* An aggregate of t(X), or of cells of transposes (rule_turn.c), that is one of X. The transposes of vectors are left. Measure: cells below
 * transposes below aggregates. */
static int32_t fold_of_t(clf_rewriter *w, int32_t n) {
    static const clf_way other[] = {[CLF_WAY_ALL] = CLF_WAY_ALL, [CLF_WAY_ROWS] = CLF_WAY_COLS, [CLF_WAY_COLS] = CLF_WAY_ROWS};
    clf_gnode x = w->g.node[n];
    int32_t X = w->g.node[x.in[0]].op == CLF_OP_TRANSPOSE ? w->g.node[x.in[0]].in[0] : clf_rule_unturned(w, x.in[0]);
    int32_t f = clf_rewriter_fold(w, (clf_fold_id)x.attr[0], other[x.attr[1]], X);
    return x.attr[1] == CLF_WAY_ALL ? f : clf_rewriter_transpose(w, f);
}

int32_t clf_rule_fold_of_t_exact(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op != CLF_OP_FOLD || has_position(x)) return -1;
    const clf_gnode *q = &w->g.node[x->in[0]];
    bool vector = x->attr[1] == CLF_WAY_ALL && (clf_rows(q) == 1 || clf_cols(q) == 1); /* in the same order */
    return vector || order_free(x) ? fold_of_t(w, n) : -1;
}

int32_t clf_rule_fold_of_t(clf_rewriter *w, int32_t n) {
    return w->g.node[n].op == CLF_OP_FOLD && !has_position(&w->g.node[n]) ? fold_of_t(w, n) : -1;
}

/* The aggregate of X that an aggregate, over all cells, of row or column aggregates of X is; CLF_NFOLDS: none. */
static clf_fold_id whole_fold(const clf_graph *g, int32_t n) {
    static const struct {
        clf_fold_id outer, inner;
    } pair[] = {
        {CLF_FOLD_SUM, CLF_FOLD_SUM}, {CLF_FOLD_SUM, CLF_FOLD_SUMSQ}, {CLF_FOLD_SUM, CLF_FOLD_NNZ}, {CLF_FOLD_MIN, CLF_FOLD_MIN},
        {CLF_FOLD_MAX, CLF_FOLD_MAX}, {CLF_FOLD_PROD, CLF_FOLD_PROD}, {CLF_FOLD_ANY, CLF_FOLD_ANY}, {CLF_FOLD_ALL, CLF_FOLD_ALL},
    };
    const clf_gnode *x = &g->node[n];
    if (x->op != CLF_OP_FOLD || x->attr[1] != CLF_WAY_ALL || g->node[x->in[0]].op != CLF_OP_FOLD) return CLF_NFOLDS;
    const clf_gnode *q = &g->node[x->in[0]];
    for (size_t i = 0; i < sizeof pair / sizeof *pair && q->attr[1] != CLF_WAY_ALL; i++)
        if (x->attr[0] == (int64_t)pair[i].outer && q->attr[0] == (int64_t)pair[i].inner) return pair[i].inner;
    return CLF_NFOLDS;
}

/* sum(rowSums(X)) = sum(X), and others like it. Measure: aggregates. */
int32_t clf_rule_fold_of_fold(clf_rewriter *w, int32_t n) {
    clf_fold_id f = whole_fold(&w->g, n);
    if (f == CLF_NFOLDS) return -1;
    return clf_rewriter_fold(w, f, CLF_WAY_ALL, w->g.node[w->g.node[n].in[0]].in[0]);
}

int32_t clf_rule_fold_of_fold_exact(clf_rewriter *w, int32_t n) {
    bool free = w->g.node[n].op == CLF_OP_FOLD && order_free(&w->g.node[n]) && order_free(&w->g.node[w->g.node[n].in[0]]);
    return free ? clf_rule_fold_of_fold(w, n) : -1;
}

/* rowSums(X) of one column, colMaxs(X) of one row: X, in the aggregate's type. Kind: EXACT, but sums of reals start from 0, so that -0
 * becomes 0: ROUNDING. Measure: aggregates. */
static int32_t fold_of_single(clf_rewriter *w, int32_t n, bool adds_reals) {
    const clf_gnode *x = &w->g.node[n], *q = &w->g.node[x->in[0]];
    int64_t f = x->attr[0];
    bool adds = f == CLF_FOLD_SUM || f == CLF_FOLD_MEAN, real = clf_dtype_float((clf_dtype)q->dtype);
    bool takes = adds || f == CLF_FOLD_MIN || f == CLF_FOLD_MAX || f == CLF_FOLD_PROD;
    bool one = x->attr[1] == CLF_WAY_ROWS ? clf_cols(q) == 1 : x->attr[1] == CLF_WAY_COLS && clf_rows(q) == 1;
    if (!takes || !one || adds_reals != (adds && real) || q->scalar) return -1;
    return clf_rewriter_cast(w, x->in[0], (clf_dtype)x->dtype, false);
}

int32_t clf_rule_fold_single_exact(clf_rewriter *w, int32_t n) { return w->g.node[n].op == CLF_OP_FOLD ? fold_of_single(w, n, false) : -1; }

int32_t clf_rule_fold_single(clf_rewriter *w, int32_t n) { return w->g.node[n].op == CLF_OP_FOLD ? fold_of_single(w, n, true) : -1; }
