/* SPDX-License-Identifier: Apache-2.0
 * Template Cell (spec 1.4): cell-wise operators over equal loops, broadcast sides, closed by an aggregate. */
#include "planner/template.h"

static bool open(const clf_graph *g, int32_t n) { return clf_node_is_cellwise(&g->node[n]) || g->node[n].op == CLF_OP_FOLD; }

/* A producer joins the loop when both run over the same cells; a 1x1 producer also joins any loop, computed once outside it.
 * An indexed range is an access to memory, so its input is always read. */
static bool fuse(const clf_graph *g, int32_t n, int k) {
    const clf_gnode *x = &g->node[n], *p = &g->node[x->in[k]];
    if (x->op == CLF_OP_MATMUL) return false;
    if (!open(g, n) || x->op == CLF_OP_INDEX || !clf_node_is_cellwise(p)) return false;
    return clf_gnode_single(p) || clf_same_space(g, n, x->in[k]);
}

static clf_closing close(const clf_graph *g, int32_t n) { return g->node[n].op == CLF_OP_FOLD ? CLF_CLOSED_VALID : CLF_OPEN_VALID; }

const clf_template clf_template_cell = {"Cell", open, fuse, fuse, close};
