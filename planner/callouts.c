/* SPDX-License-Identifier: Apache-2.0
 * Which rows that are put together (CBIND) or cumulated (CUM along rows) stay outside loops, as steps of the host's. Private to the
 * selection.
 *
 * In one loop with a sparse matrix of as many columns they would keep it from being visited by its stored entries, and what was small in
 * memory and work would be done in all cells. So where the program has such a matrix, or a twin of that width, they stand alone. */
#include "planner/pass.h"

/* Has one of the sparse leaves as many columns, or rows, as n or an operand of n has columns? */
static bool beside_entries(const clf_graph *g, int32_t n, const int32_t *sparse, int32_t nsparse) {
    const clf_gnode *x = &g->node[n];
    for (int k = -1; k < x->nin; k++) {
        int64_t cols = clf_cols(k < 0 ? x : &g->node[x->in[k]]);
        for (int32_t i = 0; i < nsparse && cols > 1; i++)
            if (clf_cols(&g->node[sparse[i]]) == cols || clf_rows(&g->node[sparse[i]]) == cols) return true;
    }
    return false;
}

clf_status clf_pass_callouts(clf_pass *p, clf_err *err) {
    const clf_graph *g = p->g;
    int32_t nsparse = 0, *sparse = clf_arena_new(p->arena, (size_t)g->n, sizeof *sparse);
    if (!sparse) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    for (int32_t n = 0; n < g->n; n++)
        if (clf_node_is_slot(&g->node[n]) && g->node[n].format == CLF_CSR) sparse[nsparse++] = n;
    for (int32_t n = 0; n < g->n; n++) {
        bool cum = clf_node_is_row_cum(&g->node[n]);
        if (!cum && g->node[n].op != CLF_OP_CBIND) continue;
        p->library[n] = (!cum && !clf_node_is_row_cat(g, n)) || beside_entries(g, n, sparse, nsparse);
    }
    return CLF_OK;
}
