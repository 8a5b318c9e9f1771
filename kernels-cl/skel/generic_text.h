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
extern const clf_hole clf_gen_holes[], clf_gen_row_holes[], clf_gen_entry_holes[]; /* of cell.generic, row.generic, entry.generic */

static inline clf_dtype clf_gen_type(const clf_ctext *x) { return (clf_dtype)x->c->in[0].dtype; }
static inline int clf_gen_lanes(const clf_ctext *x) { return clf_lanes(clf_gen_type(x)); }

/* generic_folds.c: `each` writes what is done to the state `held` of fold f_, of sink s's row; the case of an instruction of it, holes */
void clf_gen_every_fold(clf_ctext *x, void (*each)(clf_ctext *x, int s));
void clf_gen_fold_case(clf_ctext *x, int s);
void clf_gen_leaves_begin(clf_ctext *x);
void clf_gen_leaves_end(clf_ctext *x);
void clf_gen_row_leaves(clf_ctext *x);
void clf_gen_row_ends(clf_ctext *x);
void clf_gen_entry_leaves(clf_ctext *x); /* those of rows that are as long as they are, sums of products among them */
void clf_gen_entry_ends(clf_ctext *x);
/** The lanes of a sum take the products of what is at v and w, `need` of them, where no zero annihilates them (skip: of v 1, of w 2). */
void clf_gen_dot_steps(clf_ctext *x, int skip);
/** Is a position in the state of sink s's fold? */
bool clf_gen_of_positions(const clf_ctext *x, int s);
void clf_gen_full_merge(clf_ctext *x);
void clf_gen_full_put(clf_ctext *x);
void clf_gen_full_get(clf_ctext *x);
void clf_gen_full_init(clf_ctext *x);
void clf_gen_results(clf_ctext *x);

/* generic_cols.c: holes of cell.generic */
void clf_gen_cols_setup(clf_ctext *x);
void clf_gen_cols_take(clf_ctext *x);
void clf_gen_cols_end(clf_ctext *x);
void clf_gen_cols_put(clf_ctext *x);

/* generic_dots.c: `to` = a * b + c, in vectors; holes of row.generic */
void clf_gen_put_fma(clf_ctext *x, const char *to, const char *a, const char *b, const char *c);
void clf_gen_rows_setup(clf_ctext *x);
void clf_gen_dots(clf_ctext *x);
void clf_gen_cols(clf_ctext *x);
void clf_gen_cols_close(clf_ctext *x);
void clf_gen_cols_result(clf_ctext *x);

/* generic_short.c: the rows of at most a leaf that a strip completes */
void clf_gen_short_rows(clf_ctext *x);

/* generic_gather.c: holes of entry.generic */
void clf_gen_span(clf_ctext *x);
void clf_gen_rows_left(clf_ctext *x);
void clf_gen_next_row(clf_ctext *x);
void clf_gen_gather_setup(clf_ctext *x);
void clf_gen_gather(clf_ctext *x);

/* cell_generic.c: what the three twins have alike */
/** The arguments that all these kernels have, up to scratch, and those behind it. */
void clf_gen_walk_operands(clf_args *w, const clf_generic *g);
void clf_gen_walk_sizes(clf_args *w, const clf_generic *g, int64_t first);
/** Facts of a run of `chunks`: memory and operators are those of the kernel that it stands in for, which has chunks of its own. */
void clf_gen_facts(const clf_skel *of, int64_t its_chunks, const clf_cplan *c, const clf_profile *p, const clf_sched *s, int64_t chunks,
                   clf_facts *out);
/** The program of a twin for that float type. errors: CLF_E_NOMEM, and those of clf_kernel_expand. */
clf_status clf_gen_emit(const clf_twin *t, const void *plan, clf_dtype type, const char *kernel_dir, clf_arena *arena, clf_source *out,
                        clf_err *err);
#endif
