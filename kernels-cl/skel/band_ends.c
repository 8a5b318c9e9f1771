/* SPDX-License-Identifier: Apache-2.0
 * Parts of entry.group: the last bands, where all results are these rows' own or meet at the columns of their entries; or the last runs of
 * entries, where all jobs go over entries and cut them alike. What else meets over rows is the merge's. */
#include "kernels-cl/skel/band_twin.h"
#include "kernels-cl/skel/entry_ends.h"

static bool may_end(const clf_band *b) {
    int lanes = 0;
    for (int s = 0; s < b->c->nsink; s++)
        if (clf_band_rest(b, s) >= 0 && b->job[b->item[s].job].kind == CLF_JOB_MEET) return false;
    for (int k = 0; k < b->njob; k++) {
        const clf_job *j = &b->job[k];
        if (j->kind == CLF_JOB_FULL || j->kind == CLF_JOB_COLS) return false;
        if (j->kind != CLF_JOB_ENTRIES) continue;
        if (lanes && lanes != j->lanes) return false;
        lanes = j->lanes;
    }
    return !b->flat || !b->bands;
}

bool clf_band_ends(const clf_cplan *c, const clf_profile *p, double share, const int64_t *ptr, clf_entry_end *out) {
    clf_band b;
    if (!clf_band_plan(&b, c, p, 0, 0) || b.e < 0 || !may_end(&b)) return false;
    int64_t run = b.flat ? clf_band_run(&b) : 0, chunks = run ? (clf_band_leaves(&b) + run - 1) / run : b.bands;
    if (chunks < 2) return false;
    *out = (clf_entry_end){.chunk = clf_ends_chunk(share, chunks), .inside = run > 0};
    if (!ptr) return true;
    if (!run) out->chunk = clf_ends_band(share, chunks, b.band, ptr, b.rows);
    out->entry = run ? out->chunk * run * CLF_LEAF : ptr[out->chunk * b.band];
    out->row = run ? clf_ends_row_of(ptr, b.rows, out->entry) : out->chunk * b.band;
    return true;
}
