/* SPDX-License-Identifier: Apache-2.0
 * Template Cell (spec 1.4): cell-wise operators over equal loops, broadcast sides, closed by an aggregate. */
#include "planner/template.h"

bool clf_node_is_slot(const clf_gnode *n) { return n->op == CLF_OP_LEAF || n->op == CLF_OP_CONST || n->op == CLF_OP_PARAM; }

bool clf_node_is_cellwise(const clf_gnode *n) {
    return clf_op_is_cell(n->op) || n->op == CLF_OP_CAST || n->op == CLF_OP_FILL || n->op == CLF_OP_SEQ || n->op == CLF_OP_INDEX;
}

void clf_node_space(const clf_graph *g, int32_t n, int64_t space[2]) {
    const clf_gnode *x = &g->node[n];
    if (x->op == CLF_OP_FOLD || clf_product_loop(g, n) == CLF_PRODUCT_INNER) x = &g->node[clf_node_operand(g, n, 0)];
    space[0] = clf_rows(x);
    space[1] = clf_cols(x);
}

static bool open(const clf_graph *g, int32_t n) { return clf_node_is_cellwise(&g->node[n]) || g->node[n].op == CLF_OP_FOLD; }

/* A producer joins the loop when both run over the same cells; a 1x1 producer also joins any loop, computed once outside it.
 * An indexed range is an access to memory, so its input is always read. */
static bool fuse(const clf_graph *g, int32_t n, int k) {
    const clf_gnode *x = &g->node[n], *p = &g->node[x->in[k]];
    if (x->op == CLF_OP_MATMUL) return false;
    int64_t a[2], b[2];
    if (!open(g, n) || x->op == CLF_OP_INDEX || !clf_node_is_cellwise(p)) return false;
    clf_node_space(g, n, a);
    clf_node_space(g, x->in[k], b);
    return (a[0] == b[0] && a[1] == b[1]) || clf_gnode_single(p);
}

static clf_closing close(const clf_graph *g, int32_t n) { return g->node[n].op == CLF_OP_FOLD ? CLF_CLOSED_VALID : CLF_OPEN_VALID; }

const clf_template clf_template_cell = {"Cell", open, fuse, fuse, close};
