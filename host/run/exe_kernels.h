/* SPDX-License-Identifier: Apache-2.0
 * Between exe.c, which places steps, exe_kernels.c, which gets their kernels, and exe_run.c, which runs them. */
#ifndef CLF_RUN_EXE_KERNELS_H
#define CLF_RUN_EXE_KERNELS_H
#include "host/run/exe.h"

/** The first skeleton that covers the operator on a device and that the settings allow; NULL: none does. */
const clf_skel *clf_exe_skel(const clf_ctx *c, const clf_cplan *cplan, const clf_profile *dev);
/** A kernel for every step that is placed on the device (executor CLF_ON_KERNEL); steps that cannot have one move to the host.
 *  errors: CLF_E_NOMEM. */
clf_status clf_exe_kernels(clf_ctx *c, clf_exe *x, clf_err *err);
/** Place step s on the host executor, or the reference executor where that does not cover it. */
clf_status clf_exe_on_host(clf_ctx *c, clf_exe *x, int32_t s, clf_err *err);
/** A kernel over stored entries, whose numbers are bound: scheduled anew when they are not those of the last time. What cannot be had for
 *  the new ones moves to the host. errors: CLF_E_NOMEM. */
clf_status clf_exe_reschedule(clf_ctx *c, clf_exe *x, int32_t s, clf_err *err);
/** The text of a kernel for a device (of clf_devs). errors: CLF_E_NOMEM, CLF_E_UNSUPPORTED. */
clf_status clf_exe_write(clf_ctx *c, int dev, const clf_cplan *cp, const clf_sched *sched, clf_arena *arena, clf_source *out, clf_err *err);
/** Is everything alike that may stand in the text? */
bool clf_exe_same_text(const clf_sched *a, const clf_sched *b);
/** The kernel of a source, built now if it is not known. errors: as clf_program_get, CLF_E_CANCELLED. */
clf_status clf_exe_build(clf_ctx *c, int dev, const clf_source *src, clf_program **out, clf_err *err);
/** Predictions of all steps and of the plan, by the executors that steps have now. */
void clf_exe_predict(clf_ctx *c, clf_exe *x);
/** What step s is predicted to take on a generic kernel. */
double clf_exe_generic_ns(clf_ctx *c, const clf_exe *x, int32_t s);
/** A device is in use: its generic kernel of cells in f64 is loaded by a thread, if it is on the disk and kernels come later. */
void clf_generic_fetch(clf_ctx *c, int dev);
/** Do kernels come later, and the host executor, or a generic kernel, runs meanwhile? */
bool clf_exe_later(const clf_ctx *c);
/** Before a run of x: kernels that have come take their steps over, and kernels that pay by now are asked for; all: every one.
 *  errors: CLF_E_NOMEM. */
clf_status clf_exe_promote(clf_ctx *c, clf_exe *x, bool all, clf_err *err);
/** Which steps wait, and from which run on their kernels are to be asked for. */
void clf_exe_count_waiting(const clf_ctx *c, clf_exe *x);
/** Predictions and room for a run, after executors of steps have changed. errors: CLF_E_NOMEM. */
clf_status clf_exe_refit(clf_ctx *c, clf_exe *x, clf_err *err);
#endif
