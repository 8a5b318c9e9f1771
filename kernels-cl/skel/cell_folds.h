/* SPDX-License-Identifier: Apache-2.0
 * What the writers of folds share (cell_folds.c, cell_full.c, cell_cols.c): the texts of folds.def bound to names. A state component V
 * has the value type in lanes and accumulators and the wide type from the lane fold on; N is i64 everywhere. */
#ifndef CLF_KERNELS_SKEL_CELL_FOLDS_H
#define CLF_KERNELS_SKEL_CELL_FOLDS_H
#include "core/print.h"
#include "kernels-cl/skel/cell_text.h"

enum { CLF_MERGE_WIDTH = 8, CLF_FOLD_NAME = 120 }; /* lanes of the loops that merge column states; room for a name or an access */
#define CLF_NAME(dst, ...) clf_print(dst, sizeof(dst), __VA_ARGS__)

/* Texts bound to one application of a fold's step, merge or finish: states s and t, value, position, result. */
typedef struct clf_fold_vars { char s[3][CLF_FOLD_NAME], t[3][CLF_FOLD_NAME]; const char *v, *k, *r; } clf_fold_vars;

static inline const clf_fold_row *clf_fold_row_of(const clf_ctext *x, int s) { return &clf_folds[x->c->sink[s].fold]; }
static inline int clf_fold_states(const clf_ctext *x, int s) { return clf_cell_states(&x->c->sink[s]); }
static inline bool clf_fold_is_count(const clf_ctext *x, int s, int m) { return clf_fold_row_of(x, s)->state[m] == 'N'; }
static inline clf_dtype clf_fold_lane_type(const clf_ctext *x, int s, int m) {
    return clf_fold_is_count(x, s, m) ? CLF_I64 : clf_ctext_type(x, s);
}
static inline clf_dtype clf_fold_wide_type(const clf_ctext *x, int s, int m) {
    return clf_fold_is_count(x, s, m) ? CLF_I64 : clf_wide(clf_ctext_type(x, s));
}

/** `text` as statements in a block of its own; its temporaries have the value type, or the wide type. */
void clf_fold_apply(clf_ctext *x, int s, const char *text, bool wide, int width, const clf_fold_vars *f);
/** Merges lanes b<l>_M, `width` wide states each, in halves until b0_M holds all of them. */
void clf_fold_halve(clf_ctext *x, int s, int lanes, int width);
/** Declarations of f->s (or f->t), wide or as in lanes. */
void clf_fold_declare(clf_ctext *x, int s, bool wide, int width, const clf_fold_vars *f, bool side_t);
/** Names of the wide state of strip r. */
void clf_fold_wide_names(const clf_ctext *x, int s, int r, char (*out)[CLF_FOLD_NAME]);
/** State f takes a value; with `rest` only lanes below it do. */
void clf_fold_masked_step(clf_ctext *x, int s, int width, const clf_fold_vars *f, const char *rest);
/** Lanes take the vector y, whose first cell is at position `pos`. */
void clf_fold_step_vector(clf_ctext *x, int s, int r, const char *pos, bool tail);
/** Opens a block in which y is the sink's value. */
void clf_fold_bind(clf_ctext *x, int s, int r);
/** Component m of a lane state, converted to wide. */
void clf_fold_widen(clf_ctext *x, int s, int m, int width, const char *from);
/** Declares `name`: the wide state f->s finished, of the output's type. */
void clf_fold_result(clf_ctext *x, int s, int width, clf_fold_vars *f, const char *name);
/** The empty state, wide, into f->s. */
void clf_fold_empty(clf_ctext *x, int s, int width, const clf_fold_vars *f);
/** f for every fold sink of a kind; of full folds for those of the stack that is being written of. */
void clf_fold_each(clf_ctext *x, clf_cell_fold kind, void (*f)(clf_ctext *, int));

/* fold_together.c */
/** As clf_fold_wide, of states 0 .. n - 1: several at once where a state is one number, and then whole runs of `run`. */
void clf_fold_wides(clf_ctext *x, int s, int n, int run);

/* cell_full.c: the full folds of clf_ctext.stack */
/** Behind the names of what belongs to that stack. */
const char *clf_full_suffix(const clf_ctext *x);
void clf_full_setup(clf_ctext *x);
void clf_full_finish(clf_ctext *x);
void clf_full_final(clf_ctext *x);
/** Write the result of a full fold from its wide state. */
void clf_full_result(clf_ctext *x, int s);
/* A stack of leaves in scratch: of each sink, the number of its own (NULL: all share one); which it is; leaves a chunk puts on it. */
typedef struct clf_full_stack { const uint8_t *of; int which; int64_t leaves; } clf_full_stack;
/** What these of the chunks have left on one, which begins at `scratch`, as clf_skel.states; where the next begins. */
const void *clf_full_states(const clf_cell *p, const clf_full_stack *stack, clf_grid grid, const void *scratch, clf_take_state take,
                            void *user);
/* cell_cols.c */
void clf_cols_setup(clf_ctext *x);
void clf_cols_finish(clf_ctext *x);
void clf_cols_final(clf_ctext *x);
#endif
