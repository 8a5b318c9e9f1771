/* SPDX-License-Identifier: Apache-2.0
 * Products that need not be computed as such, and their orientation.
 *
 * A product has operands, not terms, for its zeros: those of diag(v) are structural where v's are, otherwise they are numbers like any
 * other, and 0 * NaN is NaN in every row that meets it (design section 6). So scaling rows by a dense v loses NaN. */
#include <string.h>

#include "planner/rules.h"

static bool is_diag(const clf_gnode *x) { return x->op == CLF_OP_DIAG && x->attr[0]; }

static int32_t plain_product(clf_rewriter *w, int32_t a, int32_t b) {
    return clf_rewriter_plain(w, clf_rewriter_cell(w, CLF_OP_MUL, 2, (int32_t[]){a, b}));
}

/* diag(v) %*% X = v * X, X %*% diag(v) = X * t(v). Measure: diagonal matrices below products. */
static int32_t scaled(clf_rewriter *w, int32_t n, bool sparse) {
    clf_gnode x = w->g.node[n];
    for (int k = 0; k < 2 && x.op == CLF_OP_MATMUL; k++) {
        if (!is_diag(&w->g.node[x.in[k]]) || (sparse && !clf_rule_structural(&w->g, x.in[k]))) continue;
        int32_t v = clf_rewriter_cast(w, w->g.node[x.in[k]].in[0], (clf_dtype)x.dtype, false);
        int32_t q = clf_rewriter_cast(w, x.in[1 - k], (clf_dtype)x.dtype, false);
        return k ? plain_product(w, q, clf_rewriter_transpose(w, v)) : plain_product(w, v, q);
    }
    return -1;
}

/* Kind: ROUNDING: one term a cell, all others annihilated; but -0 + 0 is 0. */
int32_t clf_rule_diag_sparse(clf_rewriter *w, int32_t n) { return scaled(w, n, true); }

/* Kind: NANLOSS: NaN and Inf of X no longer reach the other rows. */
int32_t clf_rule_diag(clf_rewriter *w, int32_t n) { return scaled(w, n, false); }

/* ---- a factor that is the same number everywhere ---- */

/* X itself along 1, else its sums along what the product sums over. */
static int32_t sums(clf_rewriter *w, int32_t q, clf_way way, clf_dtype t) {
    int32_t c = clf_rewriter_cast(w, q, t, false);
    int64_t along = c < 0 ? 1 : way == CLF_WAY_ROWS ? clf_cols(&w->g.node[c]) : clf_rows(&w->g.node[c]);
    return along == 1 ? c : clf_rewriter_fold(w, CLF_FOLD_SUM, way, c);
}

/* May c leave the sums? As in sum(a * X), rule_fold.c; 1 always may. */
static bool may_leave(const clf_graph *g, int32_t fill, int32_t q) {
    clf_number k = clf_rule_number(g, fill);
    if (k == CLF_NUMBER_ONE) return true;
    if (k == CLF_NUMBER_ZERO || k == CLF_NUMBER_MINUS_ZERO || !clf_rule_has_cells(&g->node[q])) return false;
    bool finite = k != CLF_NUMBER_UNKNOWN && k != CLF_NUMBER_NO_NUMBER;
    return finite || (!clf_rule_structural(g, q) && !clf_rule_structural(g, fill));
}

/* X %*% matrix(c, m, k) = matrix(c, n, k) * rowSums(X), matrix(c, k, n) %*% X = matrix(c, k, m) * colSums(X); a single row or column of
 * ones is the sums. Kind: ROUNDING. Measure: fills below products. */
int32_t clf_rule_product_fill(clf_rewriter *w, int32_t n) {
    clf_gnode x = w->g.node[n];
    for (int k = 0; k < 2 && x.op == CLF_OP_MATMUL; k++) {
        clf_gnode f = w->g.node[x.in[k]];
        if (f.op != CLF_OP_FILL || !may_leave(&w->g, x.in[k], x.in[1 - k])) continue;
        int32_t s = sums(w, x.in[1 - k], k ? CLF_WAY_ROWS : CLF_WAY_COLS, (clf_dtype)x.dtype);
        bool one = (k ? clf_cols(&x) : clf_rows(&x)) == 1 && clf_rule_number(&w->g, x.in[k]) == CLF_NUMBER_ONE;
        return one ? s : plain_product(w, clf_rewriter_like(w, x.in[k], f.in, clf_rows(&x), clf_cols(&x)), s);
    }
    return -1;
}

/* ---- orientation ---- */

static bool is_t(const clf_graph *g, int32_t q) { return g->node[q].op == CLF_OP_TRANSPOSE; }

/* t(B) %*% X with truth values B, in the type of X: cast(t(B)) = t(cast(B)), as products look behind transposes and not behind casts. A
 * sparse matrix is left, as its transpose is there when something asks for it. Kind: EXACT. Measure: casts of transposes below products. */
int32_t clf_rule_cast_t(clf_rewriter *w, int32_t n) {
    const clf_gnode x = w->g.node[n];
    for (int k = 0; k < 2 && x.op == CLF_OP_MATMUL; k++) {
        const clf_gnode c = w->g.node[x.in[k]];
        if (c.op != CLF_OP_CAST || c.scalar || !is_t(&w->g, c.in[0])) continue;
        const clf_gnode *t = &w->g.node[c.in[0]];
        if (t->attr[0] || w->g.node[t->in[0]].scalar || clf_rule_structural(&w->g, t->in[0])) continue;
        int32_t in[2] = {x.in[0], x.in[1]};
        in[k] = clf_rewriter_transpose(w, clf_rewriter_cast(w, t->in[0], (clf_dtype)c.dtype, false));
        return clf_rewriter_like(w, n, in, clf_rows(&x), clf_cols(&x));
    }
    return -1;
}

/* t(A %*% B) = t(B) %*% t(A) where one of them is a transpose: t(t(y) %*% X) = t(X) %*% y, whose left operand is transposed, as loops over
 * rows take it. Kind: ROUNDING. Measure: transposes. */
int32_t clf_rule_t_product(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op != CLF_OP_TRANSPOSE || x->attr[0] || w->g.node[x->in[0]].op != CLF_OP_MATMUL) return -1;
    clf_gnode p = w->g.node[x->in[0]];
    if (!is_t(&w->g, p.in[0]) && !is_t(&w->g, p.in[1])) return -1;
    int32_t b = clf_rewriter_transpose(w, p.in[1]), a = clf_rewriter_transpose(w, p.in[0]);
    return clf_rewriter_product(w, b, a);
}

/* ---- the norm of a product of thin matrices ---- */

enum { THIN = 8 }; /* times as many rows and columns as the rank: a quarter of the work at most */

/* sum((U %*% V)^2) = sum((t(U) %*% U) * (V %*% t(V))): (n + m) r^2 instead of n m r, and no n x m cells. Kind: ROUNDING: where the cells of
 * the product cancel, what is left is rounded by the size of the factors, not by its own. A factor whose zeros annihilate is left alone:
 * they would not in the small matrices. Measure: sums of squares of products. */
int32_t clf_rule_gram(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op != CLF_OP_FOLD || x->attr[0] != CLF_FOLD_SUMSQ || x->attr[1] != CLF_WAY_ALL) return -1;
    clf_gnode p = w->g.node[x->in[0]];
    if (p.op != CLF_OP_MATMUL || p.dtype != CLF_F64) return -1;
    int32_t u = p.in[0], v = p.in[1];
    int64_t rank = clf_cols(&w->g.node[u]);
    bool thin = rank > 0 && rank <= clf_rows(&p) / THIN && rank <= clf_cols(&p) / THIN;
    if (!thin || clf_rule_structural(&w->g, u) || clf_rule_structural(&w->g, v)) return -1;
    int32_t left = clf_rewriter_product(w, clf_rewriter_transpose(w, u), u),
            right = clf_rewriter_product(w, v, clf_rewriter_transpose(w, v));
    return clf_rewriter_fold(w, CLF_FOLD_SUM, CLF_WAY_ALL, clf_rewriter_cell(w, CLF_OP_MUL, 2, (int32_t[]){left, right}));
}
