/* SPDX-License-Identifier: Apache-2.0
 * States of folds in the texts of group skeletons: lanes that a work-item steps, wide states that pass through memory. Of fold sink S, per
 * component M: fSsM and other letters lanes, fSaM and fSbM wide states. In memory a state is words of 8 bytes, whatever its type: wide types are
 * f64 and i64. */
#ifndef CLF_KERNELS_SKEL_GROUP_STATES_H
#define CLF_KERNELS_SKEL_GROUP_STATES_H
#include "kernels-cl/skel/cell_folds.h"

/* Component m lies at head, `at` + m, tail. */
typedef struct clf_place {
    const char *head, *tail;
    int at;
} clf_place;

/** Declares empty lanes `which`. */
void clf_state_begin(clf_ctext *x, int s, char which);
/** Lanes `which` take the sink's value at position `pos`; of a DOT both. */
void clf_state_step(clf_ctext *x, int s, char which, const char *pos);
/** Declares the wide states a and b. */
void clf_state_declare(clf_ctext *x, int s);
/** Declares them, a empty. */
void clf_state_empty(clf_ctext *x, int s);
/** Wide state `to` becomes what lanes `from` hold; and the other way round, for states that were lanes. */
void clf_state_widen(clf_ctext *x, int s, char from, char to);
void clf_state_narrow(clf_ctext *x, int s, char from, char to);
/** a takes b, the later part. */
void clf_state_merge(clf_ctext *x, int s);
/** Wide state b becomes that of n copies of the wide value x_, the first at k_; n, x_ and k_ are what the text has there. */
void clf_state_repeat(clf_ctext *x, int s);
/** Wide state `which` to memory, and from it. */
void clf_state_save(clf_ctext *x, int s, char which, clf_place to);
void clf_state_fetch(clf_ctext *x, int s, char which, clf_place from);
/** State a, finished, into `memory`. */
void clf_state_result(clf_ctext *x, int s, const char *memory);
#endif
