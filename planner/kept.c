/* SPDX-License-Identifier: Apache-2.0
 * How many values the loop of a part keeps at a time: while n is computed, n itself, what n reads from memory, what was computed before
 * and n or a later node takes, and all sums (folds and products), which last as long as the loop. Single values are arguments. An estimate
 * of registers: a compiler may order the operators better, and needs some for addresses. And what the groups of a GPU share out. */
#include <math.h>

#include "planner/bill.h"

static bool is_sum(const clf_gnode *x) { return x->op == CLF_OP_FOLD || x->op == CLF_OP_MATMUL; }

/* Backwards: a value is kept from its last reader to where it is computed. mark: has a reader. */
int32_t clf_part_kept(const clf_graph *g, const clf_cover *c, int32_t i, uint8_t *mark) {
    const clf_part *part = &c->part[i];
    int32_t sums = 0, taken = 0, most = 0;
    for (int32_t j = 0; j < part->n; j++) sums += is_sum(&g->node[part->node[j]]);
    for (int32_t j = part->n; j-- > 0;) {
        int32_t n = part->node[j], read = 0, q[3];
        const clf_gnode *x = &g->node[n];
        bool own = !is_sum(x), later = mark[n];
        for (int k = 0; k < x->nin; k++) {
            bool again = false;
            q[k] = clf_node_operand(g, n, k);
            for (int l = 0; l < k; l++) again = again || q[l] == q[k];
            bool inside = clf_cover_has(c, i, q[k]);
            read += !again && !inside && !clf_gnode_single(&g->node[q[k]]);
            taken += inside && !mark[q[k]] && !is_sum(&g->node[q[k]]);
            mark[q[k]] |= inside;
        }
        int32_t now = sums + taken + read + (own && !later);
        most = now > most ? now : most;
        taken -= own && later;
        mark[n] = 0;
    }
    return most;
}

/* What a product goes over are the cells of its larger side, however few its result has. */
static double cells_of(const clf_graph *g, int32_t n) {
    int64_t space[2];
    clf_node_space(g, n, space);
    double cells = (double)space[0] * (double)space[1];
    const clf_gnode *x = &g->node[n];
    for (int k = 0; k < 2 && x->op == CLF_OP_MATMUL; k++) cells = fmax(cells, clf_gnode_cells(&g->node[x->in[k]]));
    return cells;
}

/* The most cells of any of its nodes, or the driver's entries; what each group sums. */
void clf_part_grid(const clf_graph *g, const clf_cover *c, int32_t i, clf_bill *out) {
    const clf_part *part = &c->part[i];
    for (int32_t j = 0; j < part->n; j++) {
        out->cells = fmax(out->cells, cells_of(g, part->node[j]));
        out->sums += is_sum(&g->node[part->node[j]]);
    }
    if (part->driver >= 0) out->cells = (double)c->entries[part->driver];
}
