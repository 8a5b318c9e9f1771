/* SPDX-License-Identifier: Apache-2.0
 * What groups of row.group and entry.group leave in scratch for the merge, or for who runs the bands before theirs. */
#include "kernels-cl/skel/band_twin.h"

#include <string.h>

int64_t clf_band_leaves(const clf_band *b) { return (clf_band_extent(b, b->e) + CLF_LEAF - 1) / CLF_LEAF; }

int64_t clf_band_run(const clf_band *b) {
    int64_t run = CLF_LEAF;
    for (int k = 0; k < b->njob; k++)
        if (b->job[k].kind == CLF_JOB_ENTRIES) run = b->local / b->job[k].lanes;
    while (run * b->flat < clf_band_leaves(b)) run *= 2;
    return run;
}

/* The states of one sink's full fold, and who takes them. */
typedef struct taking {
    const clf_band *b;
    int sink;
    const uint64_t *at; /* the first component's, one behind the other; then the next one's */
    int64_t parts;
    clf_take_state take;
    void *user;
} taking;

static void take_one(const taking *t, int64_t part, int64_t index, int level) {
    uint64_t word[3] = {0};
    for (int m = 0; m < clf_cell_states(&t->b->c->sink[t->sink]); m++) memcpy(&word[m], &t->at[m * t->parts + part], sizeof *word);
    t->take(t->user, t->sink, index, level, word);
}

/* As those of cell.group: the last group's run may end early and is closed. */
static void take_runs(const taking *t, clf_grid grid) {
    int64_t run = clf_band_run(t->b), all = clf_band_leaves(t->b);
    for (int64_t group = grid.lo; group < grid.hi && group * run < all; group++)
        take_one(t, group, group * run, __builtin_ctzll((unsigned long long)run));
}

/* Leaves of a pass, as far as they are merged: whole subtrees; at the end of all cells what there is of one (band_folds.c). */
static void take_pass(const taking *t, int64_t from, int64_t to) {
    for (int64_t leaf = from, size; leaf < to; leaf += size) {
        int level = 0;
        for (size = 1; leaf % (2 * size) == 0 && (leaf + 2 * size <= to || (to == t->parts && leaf + size < to)); size *= 2) level++;
        take_one(t, leaf, leaf, level);
    }
}

static void take_passes(const taking *t, clf_grid grid) {
    const clf_band *b = t->b;
    const clf_job *j = &b->job[b->item[t->sink].job];
    int64_t wide = j->axis > 0 ? clf_band_extent(b, j->axis) : 1;
    for (int64_t band = grid.lo; band < grid.hi && band < b->bands; band++) {
        int64_t end = b->rows - band * b->band > b->band ? (band + 1) * b->band : b->rows;
        for (int64_t row = band * b->band; row < end; row += b->pass) {
            int64_t next = end - row > b->pass ? row + b->pass : end;
            take_pass(t, row * wide / CLF_LEAF, (next * wide + CLF_LEAF - 1) / CLF_LEAF);
        }
    }
}

void clf_band_states(const clf_cplan *c, const clf_profile *p, const clf_sched *s, clf_grid grid, const void *scratch, clf_take_state take,
                     void *user) {
    clf_band b;
    (void)s;
    if (!clf_band_plan(&b, c, p, 0, 0)) return;
    for (int k = 0; k < c->nsink; k++) {
        clf_job_kind kind = (clf_job_kind)b.job[b.item[k].job].kind;
        const taking t = {&b, k, (const uint64_t *)scratch + b.item[k].at, b.item[k].parts, take, user};
        if (c->sink[k].kind != CLF_SINK_FOLD) continue;
        if (kind == CLF_JOB_ENTRIES) take_runs(&t, grid);
        if (kind == CLF_JOB_FULL) take_passes(&t, grid);
    }
}

/* As the result has them; what meets at columns that are rows of the result: column by column. */
static clf_cell_order order_of(const clf_band *b, int sink) {
    int64_t cells = b->item[sink].results, cols = b->e >= 0 ? b->c->in[b->csr].dim[1].n : 0;
    if (!clf_band_turned(b, b->item[sink].job) || cols < 1) return (clf_cell_order){.vectors = 1, .len = cells, .step = 1};
    return (clf_cell_order){cols, cells / cols, cells / cols, 1, cols};
}

/* Every block's. */
void clf_band_columns(const clf_cplan *c, const clf_profile *p, const clf_sched *s, clf_grid grid, const void *scratch,
                      clf_take_columns take, void *user) {
    clf_band b;
    (void)s;
    if (!clf_band_plan(&b, c, p, 0, 0)) return;
    if (grid.hi > b.bands) grid.hi = b.bands; /* none are apart, where there are parts */
    for (int k = 0; k < c->nsink; k++) {
        const clf_item *q = &b.item[k];
        const clf_job *j = &b.job[q->job];
        const clf_cell_order order = order_of(&b, k);
        const uint64_t *at = (const uint64_t *)scratch + q->at, *word[3];
        int n = clf_cell_states(&c->sink[k]);
        if (j->kind != CLF_JOB_COLS && j->kind != CLF_JOB_MEET) continue;
        int64_t each = b.band / j->run, end = grid.hi * each < q->parts ? grid.hi * each : q->parts;
        for (int64_t block = grid.lo * each; block < end; block++) {
            for (int m = 0; m < 3; m++) word[m] = m < n ? at + (m * q->parts + block) * q->results : NULL;
            take(user, k, block, 0, &order, word);
        }
    }
}
