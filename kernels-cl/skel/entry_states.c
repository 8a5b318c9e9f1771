/* SPDX-License-Identifier: Apache-2.0
 * What the work-items of entry.chunk leave in scratch when others run the rows or entries before theirs: stacks of leaves; of what meets at
 * columns a state a chunk, or (direct) in a place the state of as many blocks as met on the way up (entry_meet.c). */
#include "kernels-cl/skel/cell_folds.h"
#include "kernels-cl/skel/entry_plan.h"

void clf_entry_states(const clf_entry *p, clf_grid grid, const void *scratch, clf_take_state take, void *user) {
    clf_full_states(&p->cell, &(clf_full_stack){NULL, 0, clf_entry_run(p)}, grid, scratch, take, user);
}

/* A column of the entries has one cell, or several side by side; the result has them so, or in rows of their own. */
static clf_cell_order order_of(const clf_entry *p, int t) {
    const clf_entry_task *d = &p->task[t];
    int64_t columns = p->c->in[p->csr].dim[1].n, n;
    int64_t spread = clf_entry_spread(p, &n);
    if (d->kind != CLF_DO_SCATTER_ROWS) return (clf_cell_order){.vectors = 1, .len = columns, .step = 1};
    return (clf_cell_order){columns, n, spread, d->turned ? 1 : n, d->turned ? columns : 1};
}

/* The states of one sink, whose first component begins at `at` in a chunk's part of scratch, the others so many words apart. */
typedef struct taking {
    const clf_entry *p;
    int sink, states;
    int64_t at, apart;
    const uint64_t *scratch;
    clf_take_columns take;
    void *user;
} taking;

static void take_one(const taking *t, int64_t where, int64_t index, int level) {
    const clf_cell_order order = order_of(t->p, t->sink);
    const uint64_t *word[3], *first = t->scratch + t->p->cell.cbase + where * t->p->cell.cstride + t->at;
    for (int m = 0; m < 3; m++) word[m] = m < t->states ? first + m * t->apart : NULL;
    t->take(t->user, t->sink, index, level, &order, word);
}

static void take_chunks(const taking *t, clf_grid grid) {
    const clf_cell *q = &t->p->cell;
    for (int64_t me = grid.lo; me < grid.hi; me++) take_one(t, me, me * (q->chunk / q->block), (int)q->levels - 1);
}

/* Neighbours have met, but with what is before the first of them; the last one may have none. */
static void take_met(const taking *t, clf_grid grid) {
    const int64_t *home = (const int64_t *)t->scratch + t->p->cell.cbase - CLF_ENTRY_PLACES;
    for (int64_t me = grid.lo, size; me < grid.hi; me += size) {
        int level = 0;
        for (size = 1; me % (2 * size) == 0 && me + size < grid.hi; size *= 2) level++;
        take_one(t, home[me], me, level);
    }
}

void clf_entry_columns(const clf_entry *p, clf_grid grid, const void *scratch, clf_take_columns take, void *user) {
    const clf_cell *q = &p->cell;
    taking t = {.p = p, .scratch = scratch, .apart = q->levels * q->cp, .take = take, .user = user};
    if (grid.hi > q->chunks) grid.hi = q->chunks;
    for (t.sink = 0; t.sink < p->c->nsink; t.sink++) {
        if (clf_cell_fold_of(q, &p->sink[t.sink]) != CLF_CELL_COLFOLD) continue;
        t.states = clf_cell_states(&p->sink[t.sink]);
        if (!p->direct) t.at += t.states * q->aw; /* accumulators */
        if (p->direct)
            take_met(&t, grid);
        else
            take_chunks(&t, grid);
        t.at += t.states * t.apart;
    }
}
