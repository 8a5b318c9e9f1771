/* SPDX-License-Identifier: Apache-2.0
 * The left products of Outer on the twin of their driver (spec 1.4, variant LEFT; kernels-on-cpu 4):
 *
 *     t(X * (A %*% t(B))) %*% U  =  (t(X) * (B %*% t(A))) %*% U          t(U) %*% W  =  t(t(W) %*% U)
 *
 * A row of the result meets entries of one column of X. By rows of X they scatter, into copies of the result that are merged; by rows of
 * t(X), the twin of a leaf, which is made once per (buffer, version), they are the right product, whose sums stay in registers.
 *
 * Fires when W is made cell by cell, with a wide product in it, and zero wherever a leaf with structural zeros is, and when turning W
 * costs nothing but twins of leaves and the transposes of vectors: then the transpose moves down to them. It follows from operators,
 * shapes and the meaning of zeros alone. It does not fire when the other operand, or a column that W is broadcast with, is itself made
 * from W's product: then one pass over rows has everything at hand (as t(X) %*% (w * (X %*% v)) does, which has no wide product at all).
 * Nor for a W that is very tall. t(X) %*% B of X itself stays a pass over X: other readers of X share it, and no twin is made for it.
 *
 * Kind: EXACT. The cells are sums of the same terms; which tree adds them up follows from the rewritten graph, the same for all plans.
 * Measure: wide products below a transposed operand of a product. No transpose of such a W is left, and none is made. */
#include <string.h>

#include "planner/rules.h"
#include "planner/template.h"

enum {
    NARROW = 64, /* rows of a W whose product, turned, would not be wide */
    TALL = 256   /* times as many rows as columns: the few rows of the result stay in cache, those of U would not (measured: the same at
                    200 times, 1.7 times faster by rows at 10,000) */
};

/* About a node; leaf and wide are ids + 1, 0: none. */
typedef struct fact {
    clf_turning turning; /* first: clf_rule_turn */
    int32_t leaf;        /* of the same shape; the node is zero wherever this one is */
    int32_t wide;        /* a product whose row is at hand where the node's is */
    uint8_t turns;       /* transposing costs nothing but twins and vectors */
    uint8_t known;
} fact;

static bool structural(const clf_gnode *x) { return x->zeros == CLF_ZEROS_STRUCTURAL; }

/* ---- facts, inputs first ---- */

/* The leaf under whose zeros x is zero: that of an operand which annihilates, else the one that all structural operands have. */
static int32_t leaf_of(const clf_graph *g, const clf_gnode *x, const fact *f) {
    int32_t all = 0;
    bool one = true;
    if (!structural(x)) return 0;
    for (int k = 0; k < x->nin; k++) {
        int32_t q = x->in[k], leaf = clf_gnode_alike(&g->node[q], x) ? f[q].leaf : 0;
        if (leaf && (clf_op_annihilators(x->op) >> k & 1)) return leaf;
        if (!structural(&g->node[q])) continue;
        one = one && leaf && (!all || leaf == all);
        all = leaf;
    }
    return one ? all : 0;
}

static void know_cells(const clf_graph *g, int32_t n, fact *f) {
    const clf_gnode *x = &g->node[n];
    f[n].turns = 1;
    f[n].leaf = leaf_of(g, x, f);
    for (int k = 0; k < x->nin; k++) {
        int32_t q = x->in[k];
        if (f[q].wide > f[n].wide) f[n].wide = f[q].wide;
        bool column = clf_rule_is_full(x) && !clf_rule_is_full(&g->node[q]) && f[q].wide;
        if (column || (clf_rule_is_full(&g->node[q]) && !f[q].turns)) f[n].turns = 0;
    }
}

static void know_product(const clf_graph *g, int32_t n, fact *f) {
    const clf_gnode *x = &g->node[n];
    switch (clf_product_loop(g, n)) {
    case CLF_PRODUCT_WIDE:
        if (clf_product_turned(g, n)) break; /* where it is wanted at entries, it is the library's */
        f[n].wide = n + 1;
        f[n].turns = g->node[x->in[1]].op == CLF_OP_TRANSPOSE && clf_rows(x) > NARROW;
        break;
    case CLF_PRODUCT_ROWS: f[n].wide = f[x->in[0]].wide; break;
    default: break;
    }
}

static void know(const clf_graph *g, int32_t n, fact *f) {
    const clf_gnode *x = &g->node[n];
    bool leaf = clf_node_is_slot(x) || (x->op == CLF_OP_TRANSPOSE && clf_node_is_slot(&g->node[x->in[0]]));
    f[n].known = 1;
    if (leaf && structural(x) && clf_rule_is_full(x) && clf_rows(x) <= INT32_MAX) { /* rows become column indices */
        f[n].leaf = n + 1;
        f[n].turns = 1;
    } else if (clf_rule_by_cells(x))
        know_cells(g, n, f);
    else if (x->op == CLF_OP_MATMUL)
        know_product(g, n, f);
    else if (x->op == CLF_OP_FOLD && x->attr[1] == CLF_WAY_ROWS)
        f[n].wide = f[x->in[0]].wide;
    else
        f[n].turns = x->op == CLF_OP_TRANSPOSE;
}

/* Facts of all nodes up to n. Nodes are put behind others, so what is known is a prefix. */
static fact *facts(clf_rewriter *w, int32_t n) {
    fact *f = clf_rewriter_notes(w, sizeof *f);
    int32_t from = n + 1;
    while (f && from > 0 && !f[from - 1].known) from--;
    for (int32_t q = from; f && q <= n; q++) know(&w->g, q, f);
    return f;
}

/* ---- the rule ---- */

/* May W be turned for a product with b? A sparse b would have to be made dense for it. */
static bool wants(const clf_graph *g, const fact *f, int32_t W, int32_t b) {
    bool turns = clf_rule_by_cells(&g->node[W]) && clf_rule_is_full(&g->node[W]) && f[W].leaf && f[W].wide && f[W].turns;
    bool tall = clf_rows(&g->node[W]) / TALL > clf_cols(&g->node[W]);
    return turns && !tall && f[b].wide != f[W].wide && !structural(&g->node[b]);
}

int32_t clf_rule_left(clf_rewriter *w, int32_t n) {
    if (w->g.node[n].op != CLF_OP_MATMUL) return -1;
    const fact *f = facts(w, n);
    if (!f) return -1;
    clf_gnode x = w->g.node[n];
    const clf_gnode *a = &w->g.node[x.in[0]];
    if (a->op != CLF_OP_TRANSPOSE) return -1;
    int32_t left = a->in[0];
    if (wants(&w->g, f, left, x.in[1])) {
        const int32_t in[2] = {clf_rule_turn(w, left, sizeof(fact)), x.in[1]};
        return clf_rewriter_like(w, n, in, clf_rows(&x), clf_cols(&x));
    }
    if (!wants(&w->g, f, x.in[1], left)) return -1;
    const int32_t in[2] = {clf_rule_turn(w, x.in[1], sizeof(fact)), left};
    return clf_rewriter_transpose(w, clf_rewriter_like(w, n, in, clf_cols(&x), clf_rows(&x)));
}
