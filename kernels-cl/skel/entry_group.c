/* SPDX-License-Identifier: Apache-2.0
 * The C twin of entry.group.cl: stored entries of a CSR operand. States of groups are merged by row.group.merge.cl. */
#include "kernels-cl/skel/band_twin.h"

extern const clf_skel clf_skel_entry_group;

static const clf_band_twin twin = {
    .run = {&clf_skel_entry_group, "skel/entry.group.cl", "CLF_GROUP", clf_band_holes, clf_band_walk},
    .merge = {&clf_skel_entry_group, "skel/row.group.merge.cl", "CLF_GROUP", clf_band_merge_holes, clf_band_walk_merge},
    .entries = true};

static bool fits(const clf_cplan *c, const clf_profile *p) { return clf_band_fits(&twin, c, p); }
static clf_status sched(const clf_cplan *c, const clf_profile *p, clf_grid grid, clf_sched *out, clf_err *err) {
    return clf_band_sched(&twin, c, p, grid, out, err);
}
static clf_status merge(const clf_cplan *c, const clf_profile *p, clf_sched *out, clf_err *err) {
    return clf_band_merge(&twin, c, p, out, err);
}
static clf_status emit(const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena, clf_source *out, clf_err *err) {
    return clf_band_emit(&twin, c, s, kernel_dir, arena, out, err);
}

const clf_skel clf_skel_entry_group = {
    .name = "entry.group",
    .strategy = "group",
    .tier = 2,
    .fits = fits,
    .sched = sched,
    .merge = merge,
    .states = clf_band_states,
    .columns = clf_band_columns,
    .ends = clf_band_ends,
    .facts = clf_band_facts,
    .emit = emit,
};
