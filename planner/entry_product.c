/* SPDX-License-Identifier: Apache-2.0
 * Which products go over pairs of stored entries, and how many pairs meet. Told by the graph alone, so that every cover says the same: a
 * side is a sparse leaf, or made of one by operators that are zero wherever the leaf is. A loop over the leaf's entries stores such a side
 * in the leaf's pattern (driver.c); one that does not stores cells, and they are converted.
 *
 * Sides of one row or column, which no entries drive, are leaves or nothing of the kind. Others are followed down to the leaf: where
 * operands annihilate, the one with the fewest entries is enough; else all operands with structural zeros must come from the same leaf,
 * turned equally often. */
#include "formats/fmt.h"
#include "planner/template.h"

/* Operators between a side and its leaf, and how many at once; of a side that takes more nothing is known. */
enum { SEEN = 32, WAITING = 8 };

typedef struct descent {
    const clf_graph *g;
    int32_t wait[WAITING], leaf; /* -1: not yet found */
    uint8_t turned[WAITING], leaf_turned;
    int depth;
} descent;

static bool structural(const clf_graph *g, int32_t q) { return g->node[q].zeros == CLF_ZEROS_STRUCTURAL; }

static bool follow(descent *d, int32_t q, uint8_t turned) {
    if (d->depth == WAITING || !structural(d->g, q)) return false;
    d->wait[d->depth] = q;
    d->turned[d->depth++] = turned;
    return true;
}

/* The operand of x whose zeros alone make x zero; -1: there is none. */
static int32_t annihilator(const clf_graph *g, const clf_gnode *x) {
    unsigned may = clf_op_is_cell(x->op) ? clf_op_annihilators(x->op) : 0;
    int32_t best = -1;
    for (int k = 0; k < x->nin; k++) {
        const clf_gnode *q = &g->node[x->in[k]];
        if (!(may >> k & 1) || !structural(g, x->in[k]) || !clf_gnode_alike(q, x)) continue;
        if (best < 0 || q->nnz < g->node[best].nnz) best = x->in[k];
    }
    return best;
}

/* What the zeros of x, which are structural, come from. */
static bool follow_operands(descent *d, const clf_gnode *x, uint8_t turned) {
    if (x->op == CLF_OP_TRANSPOSE) return follow(d, x->in[0], !turned);
    if (!clf_op_is_cell(x->op) && x->op != CLF_OP_CAST) return false;
    int32_t one = annihilator(d->g, x), more = 0;
    if (one >= 0) return follow(d, one, turned);
    for (int k = 0; k < x->nin; k++) {
        if (!structural(d->g, x->in[k])) continue;
        if (!clf_gnode_alike(&d->g->node[x->in[k]], x) || !follow(d, x->in[k], turned)) return false;
        more++;
    }
    return more > 0;
}

/* Is it sparse, and the same as before? */
static bool arrive(descent *d, int32_t leaf, uint8_t turned) {
    bool same = d->leaf < 0 || (d->leaf == leaf && d->leaf_turned == turned);
    d->leaf = leaf;
    d->leaf_turned = turned;
    return same && d->g->node[leaf].format == CLF_CSR;
}

int64_t clf_entries_of(const clf_graph *g, int32_t q) {
    const clf_gnode *side = &g->node[q];
    descent d = {.g = g, .leaf = -1};
    bool fine = (clf_node_is_slot(side) || (clf_rows(side) > 1 && clf_cols(side) > 1)) && follow(&d, q, 0);
    for (int seen = 0; fine && d.depth; seen++) {
        int32_t n = d.wait[--d.depth];
        uint8_t turned = d.turned[d.depth];
        bool slot = clf_node_is_slot(&g->node[n]);
        fine = seen < SEEN && (slot ? arrive(&d, n, turned) : follow_operands(&d, &g->node[n], turned));
    }
    return fine ? g->node[d.leaf].nnz : -1;
}

double clf_entries_bytes(const clf_graph *g, int32_t q) {
    return clf_csr_bytes(clf_rows(&g->node[q]), clf_entries_of(g, q), (clf_dtype)g->node[q].dtype);
}

static bool side_of_entries(const clf_graph *g, int32_t n, int k) {
    int32_t q = clf_node_operand(g, n, k);
    return g->node[q].dtype == g->node[n].dtype && clf_entries_of(g, q) >= 0;
}

bool clf_product_of_entries(const clf_graph *g, int32_t n) {
    return g->node[n].op == CLF_OP_MATMUL && side_of_entries(g, n, 0) && side_of_entries(g, n, 1);
}

double clf_product_pairs(const clf_graph *g, int32_t n) {
    double terms = (double)clf_product_terms(g, n);
    double left = (double)clf_entries_of(g, clf_node_operand(g, n, 0)), right = (double)clf_entries_of(g, clf_node_operand(g, n, 1));
    bool ta, tb, same = clf_product_operand(g, n, 0, &ta) == clf_product_operand(g, n, 1, &tb) && ta != tb;
    return terms > 0 ? left * right / terms / (same ? 2 : 1) : 0;
}
