/* SPDX-License-Identifier: Apache-2.0
 * Between exe.c, which prepares plans, and exe_place.c, which says on which device they and their steps run. */
#ifndef CLF_RUN_EXE_PLACE_H
#define CLF_RUN_EXE_PLACE_H
#include "host/run/exe.h"

/** Plan graph g; *on: the OpenCL devices that it is for, which are open then. ways may be NULL. errors: what planning and opening give. */
clf_status clf_place_plan(clf_plan **out, clf_ctx *c, const clf_graph *g, const clf_selector *sel, const clf_exe_ways *ways, clf_places *on,
                          clf_err *err);
/** The device that a plan made before, for one device, runs best on. */
clf_status clf_place_choose(clf_ctx *c, const clf_plan *p, const clf_exe_ways *ways, clf_places *on, clf_err *err);
/** home[s] = 1: step s runs on the host though x has a device. home: zeros. errors: CLF_E_NOMEM. */
clf_status clf_place_home(clf_ctx *c, clf_exe *x, uint8_t *home, clf_err *err);
/** Does a setting name the OpenCL device? */
bool clf_place_asked(const clf_ctx *c);
/** Is it by cost alone that steps run on the host or in kernels, and may kernels be built for them? */
bool clf_place_by_cost(const clf_ctx *c);
/** Does the tier setting ask for the reference executor? */
bool clf_place_wants_ref(const clf_ctx *c);
#endif
