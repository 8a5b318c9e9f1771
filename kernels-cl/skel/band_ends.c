/* SPDX-License-Identifier: Apache-2.0
 * Parts of entry.group: the last bands, where all results are these rows' own; or the last runs of entries, where all jobs go over entries
 * and cut them alike. What meets over rows is the merge's. */
#include "kernels-cl/skel/band_twin.h"

#include <string.h>

#include "kernels-cl/skel/entry_ends.h"

static bool may_end(const clf_band *b) {
    int lanes = 0;
    for (int k = 0; k < b->njob; k++) {
        const clf_job *j = &b->job[k];
        if (j->kind == CLF_JOB_FULL || j->kind == CLF_JOB_COLS || j->kind == CLF_JOB_MEET) return false;
        if (j->kind != CLF_JOB_ENTRIES) continue;
        if (lanes && lanes != j->lanes) return false;
        lanes = j->lanes;
    }
    return !b->flat || !b->bands;
}

static int64_t leaves_of(const clf_band *b) { return (clf_band_extent(b, b->e) + CLF_LEAF - 1) / CLF_LEAF; }

/* Leaves of a group in front of the bands: those of the kernel. */
static int64_t run_of(const clf_band *b) {
    int64_t run = CLF_LEAF;
    for (int k = 0; k < b->njob; k++)
        if (b->job[k].kind == CLF_JOB_ENTRIES) run = b->local / b->job[k].lanes;
    while (run * b->flat < leaves_of(b)) run *= 2;
    return run;
}

bool clf_band_ends(const clf_cplan *c, const clf_profile *p, double share, const int64_t *ptr, clf_entry_end *out) {
    clf_band b;
    if (!clf_band_plan(&b, c, p, 0) || b.e < 0 || !may_end(&b)) return false;
    int64_t run = b.flat ? run_of(&b) : 0, chunks = run ? (leaves_of(&b) + run - 1) / run : b.bands;
    if (chunks < 2) return false;
    *out = (clf_entry_end){.chunk = clf_ends_chunk(share, chunks), .inside = run > 0};
    if (!ptr) return true;
    if (!run) out->chunk = clf_ends_band(share, chunks, b.band, ptr, b.rows);
    out->entry = run ? out->chunk * run * CLF_LEAF : ptr[out->chunk * b.band];
    out->row = run ? clf_ends_row_of(ptr, b.rows, out->entry) : out->chunk * b.band;
    return true;
}

/* As those of cell.group: the last group's run may end early and is closed. */
void clf_band_states(const clf_cplan *c, const clf_profile *p, const clf_sched *s, clf_grid grid, const void *scratch, clf_take_state take,
                     void *user) {
    clf_band b;
    uint64_t word[3] = {0};
    (void)s;
    if (!clf_band_plan(&b, c, p, 0) || !b.flat) return;
    int64_t run = run_of(&b), all = leaves_of(&b);
    for (int k = 0; k < c->nsink; k++) {
        const uint64_t *at = (const uint64_t *)scratch + b.item[k].at;
        if (c->sink[k].kind != CLF_SINK_FOLD || b.job[b.item[k].job].kind != CLF_JOB_ENTRIES) continue;
        for (int64_t group = grid.lo; group < grid.hi && group * run < all; group++) {
            for (int m = 0; m < clf_cell_states(&c->sink[k]); m++) memcpy(&word[m], &at[m * b.flat + group], sizeof *word);
            take(user, k, group * run, __builtin_ctzll((unsigned long long)run), word);
        }
    }
}
