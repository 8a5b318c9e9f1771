/* SPDX-License-Identifier: Apache-2.0
 * Products of which less is asked for than all cells: their sums, and their diagonal.
 *
 *     rowSums(A %*% B) = A %*% rowSums(B)          colSums(A %*% B) = colSums(A) %*% B          sum(A %*% B) = sum(A %*% rowSums(B))
 *     diag(A %*% B) = rowSums(A * t(B))            and so sum(diag(A %*% B)) = sum(A * t(B))
 *
 * Boehm et al., "On Optimizing Operator Fusion Plans", PVLDB 11, 2018, presuppose rewrites like these (SystemML's sums of products and
 * traces). A factor that is summed must not have zeros that annihilate: its sums' zeros do not.
 *
 * Kind: ROUNDING: terms are the same, added in another order. Where cells of the product cancel, what is left is rounded by the size of
 * the factors. Measure: cells of products below aggregates and diagonals. */
#include "planner/rules.h"

enum {
    TERMS = 1 << 15, /* of a product that is worth another step */
    SHORT = 64       /* a diagonal for which no matrix is transposed: the product takes as long */
};

static double terms(const clf_graph *g, const clf_gnode *p) {
    return (double)clf_rows(p) * (double)clf_cols(p) * (double)clf_cols(&g->node[p->in[0]]);
}

/* A product of matrices in their type, with many terms. */
static bool is_large(const clf_graph *g, const clf_gnode *p) {
    if (p->op != CLF_OP_MATMUL || !clf_rule_is_full(p) || terms(g, p) < TERMS) return false;
    return clf_dtype_float((clf_dtype)p->dtype) && g->node[p->in[0]].dtype == p->dtype && g->node[p->in[1]].dtype == p->dtype;
}

/* ---- sums and means ---- */

/* The sums of p's cells; -1: a factor that would be summed has zeros that annihilate. */
static int32_t sums(clf_rewriter *w, clf_gnode p, clf_way way) {
    int32_t v = -1;
    if (way != CLF_WAY_COLS && !clf_rule_structural(&w->g, p.in[1]))
        v = clf_rewriter_product(w, p.in[0], clf_rewriter_fold(w, CLF_FOLD_SUM, CLF_WAY_ROWS, p.in[1]));
    else if (way != CLF_WAY_ROWS && !clf_rule_structural(&w->g, p.in[0]))
        v = clf_rewriter_product(w, clf_rewriter_fold(w, CLF_FOLD_SUM, CLF_WAY_COLS, p.in[0]), p.in[1]);
    return way == CLF_WAY_ALL && v >= 0 ? clf_rewriter_fold(w, CLF_FOLD_SUM, way, v) : v;
}

int32_t clf_rule_fold_product(clf_rewriter *w, int32_t n) {
    const clf_gnode x = w->g.node[n];
    if (x.op != CLF_OP_FOLD || (x.attr[0] != CLF_FOLD_SUM && x.attr[0] != CLF_FOLD_MEAN)) return -1;
    const clf_gnode p = w->g.node[x.in[0]];
    int32_t v = is_large(&w->g, &p) ? sums(w, p, (clf_way)x.attr[1]) : -1;
    if (v < 0 || x.attr[0] == CLF_FOLD_SUM) return v;
    double cells = (x.attr[1] == CLF_WAY_COLS ? 1 : (double)clf_cols(&p)) * (x.attr[1] == CLF_WAY_ROWS ? 1 : (double)clf_rows(&p));
    return clf_rewriter_cell(w, CLF_OP_DIV, 2, (int32_t[]){v, clf_rule_num(w, cells, (clf_dtype)x.dtype)});
}

/* ---- the diagonal ---- */

int32_t clf_rule_diag_product(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op != CLF_OP_DIAG || x->attr[0]) return -1;
    const clf_gnode p = w->g.node[x->in[0]];
    if (!is_large(&w->g, &p)) return -1;
    bool down = w->g.node[p.in[0]].op == CLF_OP_TRANSPOSE, across = w->g.node[p.in[1]].op == CLF_OP_TRANSPOSE;
    if (!down && !across && clf_rows(&p) < SHORT) return -1;
    int32_t in[2] = {p.in[0], p.in[1]};
    int turned = across || !down; /* the factor that is transposed, or no longer */
    in[turned] = clf_rewriter_transpose(w, in[turned]);
    int32_t sums = clf_rewriter_fold(w, CLF_FOLD_SUM, turned ? CLF_WAY_ROWS : CLF_WAY_COLS, clf_rewriter_cell(w, CLF_OP_MUL, 2, in));
    return turned ? sums : clf_rewriter_transpose(w, sums);
}
