/* SPDX-License-Identifier: Apache-2.0
 * What the work-items of row.chunk leave in scratch when others run the chunks before theirs: each its stack of leaves, and one state for
 * every cell that keeps columns, at the bottom of a stack of blocks (row_text.c lays them out). */
#include "kernels-cl/skel/row_plan.h"

#include "kernels-cl/skel/cell_folds.h"

void clf_row_states(const clf_row *p, clf_grid grid, const void *scratch, clf_take_state take, void *user) {
    const clf_cell full = {.c = p->c, .kind = CLF_CELL_ROWS, .nfull = p->nfull, .chunks = p->chunks, .ent = p->ent};
    uint8_t stack[CLF_ROW_SINKS];
    for (int s = 0; s < p->c->nsink; s++) stack[s] = p->sink[s].stack;
    for (int k = 0; k < p->nstack; k++) {
        const clf_full_stack which = {stack, k, p->chunk * clf_row_stack_cells(p, k) / CLF_LEAF};
        scratch = clf_full_states(&full, &which, grid, scratch, take, user);
    }
}

/* The sums of an outer product stand in rows of its second axis, or columns; the result's are rows of the second, or of the first, if it
 * is turned. */
static clf_cell_order order_of(const clf_row *p, int s) {
    const clf_row_sink *q = &p->sink[s];
    int64_t j = q->j < 0 ? 1 : clf_row_extent(p, q->j), k = q->k < 0 ? 1 : clf_row_extent(p, q->k);
    bool turned = q->j > q->k;
    int lanes = clf_lanes(clf_row_type(p, p->c->sink[s].value[0]));
    switch (q->layout) {
    case CLF_ROW_BY_ROWS: return (clf_cell_order){j, k, clf_row_round(k, lanes), turned ? 1 : k, turned ? j : 1};
    case CLF_ROW_BY_COLS: return (clf_cell_order){k, j, clf_row_round(j, CLF_ROW_PAD), turned ? j : 1, turned ? 1 : k};
    default: return (clf_cell_order){.vectors = 1, .len = j, .step = 1};
    }
}

void clf_row_columns(const clf_row *p, clf_grid grid, const void *scratch, clf_take_columns take, void *user) {
    const uint64_t *at = (const uint64_t *)scratch + p->cbase, *word[3];
    if (grid.hi > p->chunks) grid.hi = p->chunks;
    for (int s = 0; s < p->c->nsink; s++) {
        const clf_row_sink *q = &p->sink[s];
        if (!q->layout) continue;
        const clf_cell_order order = order_of(p, s);
        int n = clf_cell_states(&p->c->sink[s]);
        int64_t stack = p->levels * q->slots, blocks = p->chunk / q->block;
        const uint64_t *first = at + clf_row_sink_units(p, s) - n * stack; /* behind accumulators that are not private */
        for (int64_t me = grid.lo; me < grid.hi; me++) {
            for (int m = 0; m < 3; m++) word[m] = m < n ? first + me * p->cstride + m * stack : NULL;
            take(user, s, me * blocks, __builtin_ctzll((unsigned long long)blocks), &order, word);
        }
        at += clf_row_sink_units(p, s);
    }
}
