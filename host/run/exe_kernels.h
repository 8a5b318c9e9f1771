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
#endif
