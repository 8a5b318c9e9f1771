/* SPDX-License-Identifier: Apache-2.0
 * What loops over stored entries compute on the host alone, where the other devices are CPUs.
 *
 * Their kernels that visit entries (entry.chunk) keep a row's values along one short axis, and what meets over rows they scatter to the
 * columns of the entries. A matrix beside those, with a row and a column of its own, they cannot walk. Whoever prices a loop for a device
 * must know, for such a loop runs on the host wherever it was put. Every case follows from one operator and the shape of the driver;
 * what depends on more of the part (how cells without entry are taken in) is left to the executor. */
#include "planner/bill.h"
#include "planner/skel.h"
#include "planner/template.h"

/* t(a) %*% b, of which one has the entries: products are scattered to rows of the result, or to columns of it. */
static bool meets_elsewhere(const clf_gnode *d, const clf_gnode *a, const clf_gnode *b) {
    const clf_gnode *side = clf_gnode_alike(a, d) ? b : a;
    return clf_gnode_alike(a, d) == clf_gnode_alike(b, d) || clf_cols(side) > CLF_ENTRY_SIDE;
}

/* A row of a times all of b: entries meet rows of b; else it is a value an entry, or one a row. */
static bool needs_matrix(const clf_gnode *d, const clf_gnode *a, const clf_gnode *x) {
    return clf_gnode_alike(a, d) ? clf_cols(x) > CLF_ENTRY_SIDE : !clf_gnode_alike(x, d) && clf_cols(x) > 1;
}

bool clf_bill_host_only(const clf_graph *g, int32_t driver, int32_t n) {
    const clf_gnode *x = &g->node[n], *d = &g->node[driver];
    bool t;
    if (x->op == CLF_OP_CUM || x->op == CLF_OP_CBIND) return true;
    if (x->op == CLF_OP_FOLD) {
        const clf_gnode *q = &g->node[x->in[0]];
        return x->attr[1] == CLF_WAY_COLS && clf_cols(q) > 1 && !clf_gnode_alike(q, d);
    }
    if (x->op != CLF_OP_MATMUL) return false;
    const clf_gnode *a = &g->node[clf_product_operand(g, n, 0, &t)], *b = &g->node[clf_product_operand(g, n, 1, &t)];
    switch (clf_product_loop(g, n)) {
    case CLF_PRODUCT_COLS: return meets_elsewhere(d, a, b);
    case CLF_PRODUCT_ROWS:
    case CLF_PRODUCT_WIDE: return needs_matrix(d, a, x);
    default: return false;
    }
}
