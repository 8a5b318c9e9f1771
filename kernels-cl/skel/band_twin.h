/* SPDX-License-Identifier: Apache-2.0
 * What the C twins of row.group and entry.group share, which are two texts for one plan (band_plan.h).
 *
 * Arguments, in order: entry.group: offsets, columns and cells of the CSR operand; for every access the memory of its input, its base
 * offset in elements (CLF_ARG_I64, right behind the memory) and the strides that the text names, or, of a CSR operand that is located, the
 * same three as of the first; for every output memory and base offset; parameters; extents of inner axes; words of scratch before buffers
 * and states; rows of blocks; scratch; the sizes that the .cl names. */
#ifndef CLF_KERNELS_SKEL_BAND_TWIN_H
#define CLF_KERNELS_SKEL_BAND_TWIN_H
#include "kernels-cl/skel/band_text.h"
#include "kernels-cl/skel/twin.h"

typedef struct clf_band_twin {
    clf_twin run, merge;
    bool entries; /* takes cplans over stored entries, and no others */
} clf_band_twin;

extern const clf_hole clf_band_holes[], clf_band_merge_holes[];
void clf_band_walk(clf_args *w, const void *plan, int64_t first);
void clf_band_walk_merge(clf_args *w, const void *plan, int64_t first);

/* Leaves of all entries, and of a group in front of the bands: those of the kernel (band_states.c). */
int64_t clf_band_leaves(const clf_band *b);
int64_t clf_band_run(const clf_band *b);

/* As the functions of clf_skel. */
bool clf_band_fits(const clf_band_twin *t, const clf_cplan *c, const clf_profile *p);
clf_status clf_band_sched(const clf_band_twin *t, const clf_cplan *c, const clf_profile *p, clf_grid grid, clf_sched *out, clf_err *err);
clf_status clf_band_merge(const clf_band_twin *t, const clf_cplan *c, const clf_profile *p, clf_sched *out, clf_err *err);
void clf_band_states(const clf_cplan *c, const clf_profile *p, const clf_sched *s, clf_grid grid, const void *scratch, clf_take_state take,
                     void *user);
void clf_band_columns(const clf_cplan *c, const clf_profile *p, const clf_sched *s, clf_grid grid, const void *scratch,
                      clf_take_columns take, void *user);
bool clf_band_ends(const clf_cplan *c, const clf_profile *p, double share, const int64_t *ptr, clf_entry_end *out);
void clf_band_facts(const clf_cplan *c, const clf_profile *profile, const clf_sched *s, clf_facts *out);
clf_status clf_band_emit(const clf_band_twin *t, const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena,
                         clf_source *out, clf_err *err);
#endif
