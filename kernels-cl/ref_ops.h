/* SPDX-License-Identifier: Apache-2.0
 * Scalar evaluation for the reference executor: the texts of ops.def and folds.def, one value at a time. Private to kernels-cl/ref*.c. */
#ifndef CLF_KERNELS_REF_OPS_H
#define CLF_KERNELS_REF_OPS_H
#include "core/fold.h"
#include "core/op.h"

/* One number, its dtype known from elsewhere: floats in f, integers in i. */
typedef union clf_slot {
    double f;
    int64_t i;
} clf_slot;
/* A fold's state, lane or wide: components as W numbers. A lane's f32 components are exact in f64. */
typedef struct clf_ref_state {
    clf_slot s[3];
} clf_ref_state;

/* The reduction tree of core/fold.h while it grows: the lanes of the open leaf, and the carry stack of closed subtrees. */
typedef struct clf_ref_tree {
    clf_fold_id fold;
    clf_dtype value;
    int lanes, nstack;
    int64_t leaf; /* positions in a leaf, a multiple of lanes */
    int64_t p;    /* next position */
    clf_ref_state lane[16], stack[64];
} clf_ref_tree;

clf_slot clf_ref_load(const void *base, int64_t index, clf_dtype t);
void clf_ref_store(void *base, int64_t index, clf_dtype t, clf_slot x);
clf_slot clf_ref_cast(clf_slot x, clf_dtype from, clf_dtype to);
bool clf_ref_true(clf_slot x, clf_dtype t);
/** Operator op over operands of type t; the result has type t. in: three slots, unused ones zero. */
clf_slot clf_ref_cell(int op, clf_dtype t, const clf_slot *in);

void clf_ref_init(clf_fold_id f, clf_dtype value, clf_ref_state *s);
void clf_ref_step(clf_fold_id f, clf_dtype value, clf_ref_state *s, clf_slot v, int64_t k);
/** A sum's lane state: s = fma(a, b, s). skip: see CLF_V_DOT. */
void clf_ref_dot(clf_dtype value, clf_ref_state *s, clf_slot a, clf_slot b, int skip);
/** Fold wide t, the later part, into wide s. */
void clf_ref_merge(clf_fold_id f, clf_dtype value, clf_ref_state *s, const clf_ref_state *t);
/** The wide state of n times v, the first at position k. */
void clf_ref_repeat(clf_fold_id f, clf_dtype value, clf_ref_state *s, clf_slot v, int64_t n, int64_t k);
/** The result, of clf_fold_result_type(f, value). */
clf_slot clf_ref_finish(clf_fold_id f, clf_dtype value, const clf_ref_state *s);

void clf_ref_tree_begin(clf_ref_tree *t, clf_fold_id f, clf_dtype value, int lanes, int64_t leaf);
/** Fold v, at position k of the folded extent, into place p; take: false leaves the place empty. */
void clf_ref_tree_step(clf_ref_tree *t, clf_slot v, int64_t k, bool take);
/** The tree of a sum, stepping with fma(a, b, s). */
void clf_ref_tree_dot(clf_ref_tree *t, clf_slot a, clf_slot b, int skip);
/** A tree of one lane and leaves of one position: the next one is `repeat` of v, n times. */
void clf_ref_tree_repeat(clf_ref_tree *t, clf_slot v, int64_t n);
/** Close what is open: the wide state of all. */
const clf_ref_state *clf_ref_tree_close(clf_ref_tree *t);
clf_slot clf_ref_tree_end(clf_ref_tree *t);
/** The same, merged with one more wide state, or NULL. */
clf_slot clf_ref_tree_end_with(clf_ref_tree *t, const clf_ref_state *more);
/** The same, merged with n more values `rest`, the first at position k, where n > 0. */
clf_slot clf_ref_tree_end_rest(clf_ref_tree *t, clf_slot rest, int64_t n, int64_t k);
#endif
