/* SPDX-License-Identifier: Apache-2.0
 * Steps that one or two OpenCL devices and the host run together. Between exe.c and exe_place.c, which ask, and split_cost.c, which decides. */
#ifndef CLF_RUN_EXE_SPLIT_H
#define CLF_RUN_EXE_SPLIT_H
#include "host/run/exe.h"

/* How a step is run together: on: the place among the plan's OpenCL devices, + 1; 0: nowhere, one alone is better. also: that of a second
 * device; 0: there is none. */
typedef struct clf_split_way {
    int on, percent, also, also_percent;
    double predicted_ns, saved_ns; /* what the plan would take longer without */
} clf_split_way;

/* split_cost.c */
/** The best way to run step s of a plan for these devices and the host, if that is better than where it is planned. credit as clf_exe_ways. */
clf_split_way clf_split_best(clf_ctx *c, const clf_plan *p, int32_t s, const clf_places *on, const int64_t *const *credit);
/** Once steps are placed: those that are to be split, on the device's side of them. errors: CLF_E_NOMEM. */
clf_status clf_split_choose(clf_ctx *c, clf_exe *x, const int64_t *const *credit, clf_err *err);

/* split_cut.c */
/** Is the operator one that can be cut between the host and this device? whole: its schedule there. */
bool clf_split_fits(clf_ctx *c, const clf_plan *p, const clf_step *t, const clf_profile *dev, clf_sched *whole);
/** Where to cut so that the devices have about their shares of the cells. False: the host and the device cannot each take a part of this
 *  step; where only the second one cannot, it has none. The host's program is x's. errors, where that cannot be had, are no matter:
 *  nothing is cut. */
bool clf_split_cut(clf_ctx *c, clf_exe *x, int32_t s, const clf_split_way *way, clf_exe_split *out);

/* split_kernels.c */
/** Kernels for the parts of second devices: those that are there, the others are asked for; a step whose kernel cannot be had is not split.
 *  errors: CLF_E_NOMEM, CLF_E_CANCELLED. */
clf_status clf_split_kernels(clf_ctx *c, clf_exe *x, clf_err *err);

/* split_entries.c: loops over stored entries */
/** The schedule of a part; of its extent rows are narrowed, also where chunks are none of rows. errors: those of clf_skel.sched. */
clf_status clf_split_sched(const clf_cplan *c, const clf_profile *dev, const clf_skel *skel, clf_grid grid, clf_sched *out);
/** For a step of which the host, whose program is x's, has this share. NULL: it cannot have the first part, or no memory. */
clf_exe_entries *clf_entries_new(clf_exe *x, int32_t s, const clf_profile *dev, const clf_skel *skel, double share);
/** Cut the step for this run; its operands are with the host. False: there is too little for two. */
bool clf_entries_cut(clf_ctx *c, const clf_exe *x, const clf_step *t, const clf_exe_step *e);
/** Room for a second device's part of step s, whose operands have other numbers of entries than before. */
void clf_entries_anew(clf_ctx *c, clf_exe *x, int32_t s);
#endif
