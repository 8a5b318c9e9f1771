/* SPDX-License-Identifier: Apache-2.0
 * Which products run in loops, and which the library computes. What has a loop to itself is told here for CBINDs too (callouts.c).
 * Private to selection.
 *
 * A product with a loop form runs in a loop, since its operands and its readers may then share it. A wide one has as many cells as an
 * outer product: it pays only if each reader wants it at a sparse matrix's entries alone, or if its inner products are short. A product
 * that shares its loop with nothing is the library's after all, a CBIND the host's. */
#include "planner/pass.h"

enum { DENSE_RANK = 16 }; /* longest inner product of a wide product that beats the library where every cell is wanted */

/* Does n want q only where a matrix with structural zeros has none? */
static bool thins(const clf_graph *g, int32_t n, int32_t q) {
    const clf_gnode *x = &g->node[n];
    for (int k = 0; k < x->nin; k++) {
        const clf_gnode *a = &g->node[x->in[k]];
        bool zeros = (clf_op_annihilators(x->op) >> k & 1) && a->zeros == CLF_ZEROS_STRUCTURAL;
        if (zeros && x->in[k] != q && clf_rows(a) == clf_rows(x) && clf_cols(a) == clf_cols(x)) return true;
    }
    return false;
}

/* Has product n no loop form, or one that does not pay? driven: all readers want it at entries alone. */
static bool beyond_loops(const clf_graph *g, int32_t n, bool driven) {
    clf_product form = clf_product_loop(g, n);
    bool pays = form != CLF_PRODUCT_WIDE || (driven ? !clf_product_turned(g, n) : clf_product_terms(g, n) <= DENSE_RANK);
    return form == CLF_PRODUCT_NONE || !pays;
}

/* Backwards: all readers of a node are known when it is reached; those that work cell by cell pass on what is wanted of them. */
clf_status clf_pass_products(clf_pass *p, clf_err *err) {
    const clf_graph *g = p->g;
    enum { DRIVEN = 1, WANTED = 2 };
    uint8_t *by = clf_arena_new(p->arena, (size_t)g->n, 1);
    if (!by) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    for (int32_t r = 0; r < g->nroot; r++) by[g->root[r]] |= WANTED;
    for (int32_t n = g->n; n-- > 0;) {
        const clf_gnode *x = &g->node[n];
        for (int k = 0; k < x->nin && by[n]; k++) {
            int32_t q = clf_node_operand(g, n, k);
            bool thin = thins(g, n, q) || (clf_node_is_cellwise(x) && clf_same_space(g, n, q) && by[n] == DRIVEN);
            by[q] |= thin ? DRIVEN : WANTED;
        }
        if (x->op == CLF_OP_MATMUL) p->library[n] = beyond_loops(g, n, by[n] == DRIVEN);
    }
    return CLF_OK;
}

/* Must n run as a loop though it is alone in it: because zeros of its operands mean more than the library knows, or because all plans
 * shall have the same bits? */
static bool insists(const clf_pass *p, int32_t n) {
    bool wide = clf_product_loop(p->g, n) == CLF_PRODUCT_WIDE;
    bool unknown = clf_product_annihilates(p->g, n) && !clf_product_of_entries(p->g, n);
    return p->g->node[n].op == CLF_OP_MATMUL && ((p->lim->own_products && !wide) || unknown);
}

/* Is operand k of n nowhere in memory? The products before n that turned out to be lonely are. */
static bool takes(const clf_pass *p, int32_t n, int k) { return clf_pass_inside(p, n, k) && !p->library[clf_node_operand(p->g, n, k)]; }

clf_status clf_pass_lonely(clf_pass *p, clf_err *err) {
    bool changed = false;
    int32_t *size = clf_arena_new(p->arena, (size_t)p->g->n, sizeof *size);
    if (!size) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    for (int32_t n = 0; n < p->g->n; n++)
        if (p->live[n] & 1) size[clf_pass_loop(p, n)]++;
    for (int32_t n = 0; n < p->g->n; n++) {
        if (p->g->node[n].op != CLF_OP_MATMUL && p->g->node[n].op != CLF_OP_CBIND) continue;
        if (p->library[n] || size[clf_pass_loop(p, n)] != 1 || takes(p, n, 0) || takes(p, n, 1) || insists(p, n)) continue;
        p->library[n] = 1;
        changed = true;
    }
    if (changed) clf_pass_edges(p);
    return CLF_OK;
}
