/* SPDX-License-Identifier: Apache-2.0
 * Writing the holes of row.chunk.cl. Sweeps over cells are loops of cell_text.c along one inner axis at a time; folds inside a row and
 * dots with lanes are row folds of cell_folds.c. For that the text is written of a cplan with one more sink (keep i) and output per
 * FOLD, DOT and SCAN value, behind the real ones; key[0] of its DOT sinks says which zeros annihilate.
 *
 * Names in the text, beside those of cell_text.h: nA npA extent of axis A, plain and padded; bN row buffer of value N (bN_R of row R);
 * vN_l the scalars of all rows of a pass, a lane each, mN the same in memory; cN copied factor of product N, eN its stack of leaves; csS
 * states of column sink S, kdS depth of its stack; at: next free scratch. */
#ifndef CLF_KERNELS_SKEL_ROW_TEXT_H
#define CLF_KERNELS_SKEL_ROW_TEXT_H
#include "kernels-cl/skel/cell_folds.h"
#include "kernels-cl/skel/row_plan.h"

typedef struct clf_rtext {
    clf_ctext x;          /* first: writers of cells get it */
    const clf_row *p;
    clf_cplan c;          /* the cplan with sinks for folds */
    clf_cell cell;        /* the axis of the current sweep as cell_text.c sees it */
    uint8_t *held;        /* per value, in the current sweep: clf_ctext.held */
    uint8_t *stacks;      /* per sink: clf_ctext.stacks */
    int32_t *made;        /* per sink behind the real ones: the value it makes */
    uint8_t *laned;       /* per value: vN_l stands in the pass being written */
    uint8_t *single;      /* row_turn_back.c: and vN_R do */
    int nsink;            /* real sinks */
    int t;                /* current sweep */
} clf_rtext;

/** Is it made by a sweep, row by row? */
static inline bool clf_rtext_is_made(const clf_value *q) { return q->op == CLF_V_FOLD || q->op == CLF_V_DOT || q->op == CLF_V_SCAN; }
/** One of c's sinks or the extra ones stands in sweep t? */
int clf_rtext_at(const clf_rtext *w, int s);
/** The extra sink of a FOLD or DOT value. */
int clf_rtext_fold_of(const clf_rtext *w, int v);
/** Cells run along this inner axis from now on. */
void clf_rtext_along(clf_rtext *w, int axis);
/** The stack of full folds along the axis (-1: of rows alone) is written of from now on, if there is one. */
void clf_rtext_stack(clf_rtext *w, int axis);
/** f for every stack, cells running along its axis. */
void clf_rtext_each_stack(clf_rtext *w, void (*f)(clf_ctext *));
/** "100" or "n1"; padded: "128" or "np1". */
const char *clf_rtext_extent(const clf_rtext *w, int axis, char *buf);
const char *clf_rtext_padded(const clf_rtext *w, int axis, char *buf);
/** "__private" or "__global", of a row buffer along the axis; of that of value v, which may be deep. */
const char *clf_rtext_space(const clf_rtext *w, int axis);
const char *clf_rtext_buffer_space(const clf_rtext *w, int v);
/** One element of value v in row r at position `at`; a vector of `width` of them, masked in a tail of `r` cells. */
void clf_rtext_element(clf_rtext *w, int v, int r, const char *at);
void clf_rtext_vector(clf_rtext *w, int v, int r, int width, const char *at);
/** "bN_R", its declaration apart. */
const char *clf_rtext_buffer(const clf_rtext *w, int v, int r, char *buf);
/** c = fma(a, b, c) as a statement; where a zero annihilates (skip: of a 1, of b 2) c stays. */
void clf_rtext_fma(clf_rtext *w, int skip, clf_dtype t, int width, const char *a, const char *b, const char *c);

/* row_text.c */
void clf_rtext_begin(clf_rtext *w);
void clf_rtext_setup(clf_ctext *x);
void clf_rtext_pass(clf_ctext *x, int ru);
void clf_rtext_once(clf_ctext *x);
/** Is v a load, and the first by its access? Loads by one access share its pointer. */
bool clf_rtext_first_load(const clf_rtext *w, int v);
/** Pointers to what row r of the pass reads and stores. */
void clf_rtext_pointers(clf_rtext *w, int r);
/** The current sweep over the rows of the pass. */
void clf_rtext_sweep(clf_rtext *w);
/* row_batch.c */
/** Does each sweep of the pass being written take its rows one after the other? */
bool clf_rtext_batched(const clf_rtext *w);
/** All sweeps, so. */
void clf_rtext_batch(clf_rtext *w);
/* row_turn.c, row_turn_back.c */
/** Are the rows of the pass being written lanes? */
bool clf_rtext_turned(const clf_rtext *w);
/** What its products need once per work-item. */
void clf_rtext_turn_setup(clf_rtext *w, int v, const clf_row_factor *f);
/** All values and sinks but stores and folds of row scalars, so. */
void clf_rtext_turn(clf_rtext *w);
/** Sinks of values that are turned, and singles of those that each row has one of. */
void clf_rtext_turn_back(clf_rtext *w);
/* row_lanes.c */
/** vN_l of a scalar that is loaded, or stands one by one. */
void clf_rtext_gather(clf_rtext *w, int v);
/** Scalars of the rows that stand once `t` sweeps are done, and did not before. */
void clf_rtext_scalars(clf_rtext *w, int t);
/** Sink s, a store of row scalars or a fold of them alone: what the rows of the pass have for it. */
void clf_rtext_leave(clf_rtext *w, int s);
/* row_cat.c */
void clf_rtext_cat(clf_rtext *w, int v, int r);
/* row_fetch.c: hints for what is read later, in the body of a loop of the sweep that takes `step` elements of each row from `at` on */
void clf_rtext_fetch(clf_rtext *w, int step, const char *at);
/** The same in a sweep in parts: this one makes `each` of the `parts` things there are (0: no constant), the first of which `part` says, as
 *  text. */
void clf_rtext_fetch_part(clf_rtext *w, int step, const char *at, const char *part, int each, int64_t parts);
/* row_cells.c */
void clf_rtext_cells(clf_rtext *w);
void clf_rtext_take(clf_ctext *x); /* clf_ctext.sinks */
/* row_product.c, row_outer.c */
void clf_rtext_product_setup(clf_rtext *w, int v);
void clf_rtext_product(clf_rtext *w, int v);
void clf_rtext_outer(clf_rtext *w, int s);
/* row_tiles.c */
/** Deep buffers, once, and where the rows of a pass stand in them. */
void clf_rtext_deep_setup(clf_rtext *w);
void clf_rtext_deep_rows(clf_rtext *w, int r);
/** Holes of row.chunk.cl (prelude/contract.clh). */
void clf_rtext_together(clf_ctext *x);
void clf_rtext_together_end(clf_ctext *x);
void clf_rtext_tiles(clf_ctext *x);
/** Symmetric sums below the diagonal, of which not all were made, are those above: once a work-item has met its own, before others read
 *  them. */
void clf_rtext_mirror(clf_rtext *w, int s);
/* row_cols.c */
void clf_rcols_setup(clf_rtext *w, int s);
void clf_rcols_step(clf_rtext *w, int s);  /* in a sweep over cells */
void clf_rcols_one(clf_rtext *w, int s);   /* a single cell, after all sweeps */
const char *clf_rcols_slots(const clf_rtext *w, int s, char *buf);
const char *clf_rcols_space(const clf_rtext *w, int s);
void clf_rcols_init(clf_ctext *x);
void clf_rcols_push(clf_ctext *x);
void clf_rcols_finish(clf_ctext *x);
void clf_rcols_final(clf_ctext *x);
#endif
