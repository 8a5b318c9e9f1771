/* SPDX-License-Identifier: Apache-2.0
 * Sides of products with a sparse matrix, turned in memory beforehand, so that an entry finds a row of them:
 *
 *     X %*% t(C)  =  X %*% T, T = t(C)          t(P) %*% X  =  T, T = t(t(X) %*% P)
 *
 * Products look behind transposes, and mostly that is for nothing. Here it is dear: what an entry of X is times with, or added to, lies in
 * as many places as C, or the result, has rows. Turned once, it is one place. Measured with 5,000,000 entries, 1,000 columns and 5 rows:
 * kernels for CPUs take a quarter of the time for the first, three quarters for the second. Work-items of a GPU share lines anyway, and
 * the host would have to turn for it what it has (CLF_AT_CPUS).
 *
 * Kind: EXACT. The terms and the order in which they are added are the same. Measure: transposes of sides that products look behind, and
 * products with a sparse right operand. */
#include "planner/rules.h"
#include "planner/template.h"

enum {
    NARROW = 4, /* rows up to which columns are taken one by one */
    OFTEN = 16  /* entries of a column on average: fewer, and turning moves as much as it spares */
};

/* A sparse matrix in memory whose columns have many entries? */
static bool used_often(const clf_gnode *x) {
    return clf_node_is_slot(x) && x->format == CLF_CSR && clf_rows(x) > 1 && clf_cols(x) > 1 && x->nnz / OFTEN >= clf_cols(x);
}

static bool is_side(const clf_graph *g, int32_t q, int64_t rows) {
    return rows > NARROW && !clf_rule_structural(g, q) && !(clf_node_is_slot(&g->node[q]) && g->node[q].format == CLF_CSR);
}

/* t(q) as a matrix of its own. */
static int32_t turned(clf_rewriter *w, int32_t q) {
    int32_t t = clf_rewriter_transpose(w, q);
    if (t < 0) return -1;
    clf_gnode x = w->g.node[t];
    x.attr[0] = 1;
    return clf_rewriter_put(w, &x);
}

int32_t clf_rule_turned_side(clf_rewriter *w, int32_t n) {
    const clf_gnode x = w->g.node[n];
    if (x.op != CLF_OP_MATMUL || !used_often(&w->g.node[x.in[0]])) return -1;
    const clf_gnode *t = &w->g.node[x.in[1]];
    if (t->op != CLF_OP_TRANSPOSE || t->attr[0] || !is_side(&w->g, t->in[0], clf_cols(t))) return -1;
    const int32_t in[2] = {x.in[0], turned(w, t->in[0])};
    return clf_rewriter_like(w, n, in, clf_rows(&x), clf_cols(&x));
}

int32_t clf_rule_turned_result(clf_rewriter *w, int32_t n) {
    const clf_gnode x = w->g.node[n];
    if (x.op != CLF_OP_MATMUL || !used_often(&w->g.node[x.in[1]])) return -1;
    const clf_gnode *t = &w->g.node[x.in[0]];
    if (t->op != CLF_OP_TRANSPOSE || t->attr[0] || !is_side(&w->g, t->in[0], clf_rows(t))) return -1;
    const int32_t P = t->in[0], in[2] = {clf_rewriter_transpose(w, x.in[1]), P};
    return turned(w, clf_rewriter_like(w, n, in, clf_cols(&x), clf_rows(&x)));
}
