/* SPDX-License-Identifier: Apache-2.0
 * Transposing what is computed cell by cell: f(t(X), t(Y), v) = t(f(X, Y, t(v))). A transpose is a step of its own and as many bytes
 * again; above the operators it meets another one, an aggregate or a product, and each of them does away with it:
 *
 *     t(t(X) * 2) = X * 2          rowSums(t(X) - v) = t(colSums(X - t(v)))          (t(X) * v) %*% B = t(X * t(v)) %*% B
 *
 * It stays where nobody would take it: whether t(X) is made before the cells of t(X) * 2 or after is the same, and others may ask for t(X).
 *
 * Kind: EXACT: cells are what they were. Products are ROUNDING: a library adds up terms as it likes. Measure: transposes of matrices below
 * cell operators. */
#include "planner/rules.h"

/* ---- turning ---- */

static clf_turning *turning(clf_rewriter *w, int32_t q, size_t each) {
    char *note = clf_rewriter_notes(w, each);
    return note ? (clf_turning *)(void *)(note + (size_t)q * each) : NULL;
}

/* The transpose of operand q of a node that is turned: made before if it is as large as that. */
static int32_t turned_operand(clf_rewriter *w, int32_t q, size_t each) {
    const clf_turning *t = turning(w, q, each);
    return t && t->turned ? t->turned - 1 : clf_rewriter_transpose(w, q);
}

static int32_t turn_node(clf_rewriter *w, int32_t q, size_t each) {
    clf_gnode x = w->g.node[q];
    bool product = x.op == CLF_OP_MATMUL;
    int32_t in[3] = {-1, -1, -1};
    if (!product && !clf_rule_by_cells(&x)) return clf_rewriter_transpose(w, q);
    for (int k = 0; k < x.nin; k++) in[k] = product ? clf_rewriter_transpose(w, x.in[1 - k]) : turned_operand(w, x.in[k], each);
    return clf_rewriter_like(w, q, in, clf_cols(&x), clf_rows(&x));
}

/* An operand that must be turned before q is; -1: none. */
static int32_t left_over(clf_rewriter *w, int32_t q, size_t each) {
    const clf_gnode *x = &w->g.node[q];
    for (int k = 0; k < x->nin && clf_rule_by_cells(x); k++) {
        const clf_turning *t = turning(w, x->in[k], each);
        if (t && clf_rule_is_full(&w->g.node[x->in[k]]) && !t->turned) return x->in[k];
    }
    return -1;
}

int32_t clf_rule_turn(clf_rewriter *w, int32_t q, size_t each) {
    const clf_turning *whole = turning(w, q, each);
    for (int32_t at = q; whole && !whole->turned; whole = turning(w, q, each)) {
        int32_t below = left_over(w, at, each), made = below < 0 ? turn_node(w, at, each) : -1;
        clf_turning *t = turning(w, below < 0 ? at : below, each);
        if (!t || (below < 0 && made < 0)) return -1;
        if (below < 0) {
            t->turned = made + 1;
            at = t->from;
        } else {
            t->from = at;
            at = below;
        }
    }
    return whole ? whole->turned - 1 : -1;
}

/* ---- what is turned for nothing ---- */

enum { UNKNOWN, FREE /* matrix(c, n, m) turns for nothing */, TURNED /* so does this, and transposes below it go */, OTHER };

typedef struct fact {
    clf_turning turning; /* first: clf_rule_turn */
    uint8_t is;
} fact;

static uint8_t cells_are(const clf_graph *g, const clf_gnode *x, const fact *f) {
    uint8_t is = FREE;
    for (int k = 0; k < x->nin; k++) {
        const clf_gnode *q = &g->node[x->in[k]];
        if (!clf_rule_is_full(q)) continue;
        uint8_t operand = q->op == CLF_OP_TRANSPOSE && !q->attr[0] ? TURNED : f[x->in[k]].is;
        if (operand > is) is = operand;
    }
    return is;
}

static void know(const clf_graph *g, int32_t n, fact *f) {
    const clf_gnode *x = &g->node[n];
    f[n].is = clf_rule_by_cells(x) && clf_rule_is_full(x) ? cells_are(g, x, f) : OTHER;
}

int32_t clf_rule_unturned(clf_rewriter *w, int32_t q) {
    if (!clf_rule_by_cells(&w->g.node[q]) || !clf_rule_is_full(&w->g.node[q])) return -1;
    fact *f = clf_rewriter_notes(w, sizeof *f);
    if (!f) return -1;
    int32_t from = q + 1; /* nodes are put behind others, so what is known is a prefix */
    while (from > 0 && f[from - 1].is == UNKNOWN) from--;
    for (int32_t n = from; n <= q; n++) know(&w->g, n, f);
    return f[q].is == TURNED ? clf_rule_turn(w, q, sizeof *f) : -1;
}

/* ---- rules: aggregates are in rule_refold.c ---- */

int32_t clf_rule_t_cells(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    return x->op == CLF_OP_TRANSPOSE && !x->attr[0] ? clf_rule_unturned(w, x->in[0]) : -1;
}

/* A side whose zeros annihilate is left: its transpose is there when something asks for it. */
int32_t clf_rule_product_t_cells(clf_rewriter *w, int32_t n) {
    const clf_gnode x = w->g.node[n];
    for (int k = 0; k < 2 && x.op == CLF_OP_MATMUL; k++) {
        int32_t turned = clf_rule_structural(&w->g, x.in[k]) ? -1 : clf_rule_unturned(w, x.in[k]);
        if (turned < 0) continue;
        int32_t in[2] = {x.in[0], x.in[1]};
        in[k] = clf_rewriter_transpose(w, turned);
        return clf_rewriter_like(w, n, in, clf_rows(&x), clf_cols(&x));
    }
    return -1;
}
