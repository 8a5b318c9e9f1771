/* SPDX-License-Identifier: Apache-2.0
 * Work-items of a group on a GPU: as many as its profile says are best for a kind of loops, halved while local memory is too small for
 * them. And how many cells side by side one of them takes at a step. Whatever the numbers, results have the same bits: groups own whole
 * subtrees of fold.h. */
#ifndef CLF_KERNELS_SKEL_GROUP_LOCAL_H
#define CLF_KERNELS_SKEL_GROUP_LOCAL_H
#include "device/profile.h"
#include "planner/cplan.h"
/* CLF_BATCH_STATES: states of folds that pass through local memory together, 24 KiB for groups of 256: some devices have 32. */
enum { CLF_LEAST_LOCAL = 64, CLF_MOST_LOCAL = 256, CLF_BATCH_STATES = 12 };
/* Values that a work-item computes for the cells of a step at most, and components of states that it holds: assumed, for registers; no GPU
 * has been asked yet. */
enum { CLF_LONG_BODY = 64, CLF_MOST_STATES = 32 };
/** kind: CLF_GROUP_CELLS ...; words: of 8 bytes that a group needs in local memory beside its states. 0: not even the smallest group fits. */
int clf_group_local(const clf_profile *p, int kind, int words);
/** As many cells side by side as the profile says are best for the widest that the cplan reads or keeps: 1, 2 or 4. */
int clf_group_width(const clf_cplan *c, const clf_profile *p);
#endif
