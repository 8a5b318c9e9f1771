/* SPDX-License-Identifier: Apache-2.0
 * Folds of one job of row.group or entry.group whose states pass through local memory together, and whose ends are one place of the text. */
#ifndef CLF_KERNELS_SKEL_BAND_BATCH_H
#define CLF_KERNELS_SKEL_BAND_BATCH_H
#include "kernels-cl/skel/band_text.h"

typedef struct clf_batch { int from, to, states; } clf_batch; /* items; components of all their states, 0: none */

/** The batch behind b; .to = 0: the first. */
clf_batch clf_batch_next(const clf_btext *t, int k, clf_batch b);
/** f for each fold of the batch, with its first component's number. */
void clf_batch_each(clf_btext *t, int k, clf_batch b, void (*f)(clf_btext *, int, int));
/** Lanes of each unit meet, then, where it is asked for, the units: states a of those whose lane (and unit) is 0. Places are those of
 *  group.clh. */
void clf_batch_tree(clf_btext *t, int k, clf_batch b, bool units);
/** All folds of job k, leaf by leaf: lanes meet, and `end` for each in the work-item that has its leaf's state and a task. */
void clf_batch_ends(clf_btext *t, int k, void (*end)(clf_btext *, int, int));
#endif
