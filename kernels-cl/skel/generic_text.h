/* SPDX-License-Identifier: Apache-2.0
 * Writing the holes of cell.generic.cl: a case for every row of ops.def and of folds.def. Folds are written by the writers of cell.chunk,
 * over a cplan that has one sink for each row. */
#ifndef CLF_KERNELS_SKEL_GENERIC_TEXT_H
#define CLF_KERNELS_SKEL_GENERIC_TEXT_H
#include "kernels-cl/skel/generic_plan.h"
#include "kernels-cl/skel/twin.h"

typedef struct clf_gen_text {
    clf_ctext x; /* first: holes get its address */
    clf_cplan c;
    clf_cell p;
} clf_gen_text;

/** errors: CLF_E_NOMEM. */
clf_status clf_gen_text_begin(clf_gen_text *g, clf_dtype t, clf_arena *arena, clf_err *err);
extern const clf_hole clf_gen_holes[];

static inline clf_dtype clf_gen_type(const clf_ctext *x) { return (clf_dtype)x->c->in[0].dtype; }
static inline int clf_gen_lanes(const clf_ctext *x) { return clf_lanes(clf_gen_type(x)); }

/* generic_folds.c: the case of an instruction of sink s's row, holes */
void clf_gen_fold_case(clf_ctext *x, int s);
void clf_gen_leaves_begin(clf_ctext *x);
void clf_gen_leaves_end(clf_ctext *x);
void clf_gen_row_leaves(clf_ctext *x);
void clf_gen_row_ends(clf_ctext *x);
void clf_gen_full_merge(clf_ctext *x);
void clf_gen_full_put(clf_ctext *x);
void clf_gen_full_get(clf_ctext *x);
void clf_gen_full_init(clf_ctext *x);
void clf_gen_results(clf_ctext *x);
#endif
