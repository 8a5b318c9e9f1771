/* SPDX-License-Identifier: Apache-2.0
 * CLF_CHECK: is what the fused plan gave what the same program gives without fusion? A debugging aid that catches wrong plans,
 * lowering, kernels and schedules where they happen; results, not placement, are checked: while the setting is on, every fused step
 * runs where its plan runs, tiny ones too. */
#ifndef CLF_RUN_CHECK_H
#define CLF_RUN_CHECK_H
#include "host/run/run.h"
/** Run graph g, whose plan x just gave `results` for these slots, once more without fusion on x's device, and compare every cell bit
 *  by bit; two NaNs are equal whatever their payloads. Results that depend on an elementary function are compared only when both plans
 *  used one executor, for those differ between mathematical libraries; and so are results that depend on a sum which one plan takes from a
 *  library, or over stored entries, and the other does not. What a sparse result does not store is 0, of either sign.
 *  owns: on failure the results are released and NULL. Counters of the context stay as they were.
 *  errors: CLF_E_INTERNAL naming the first differing cell and the operator; whatever planning and running give. */
clf_status clf_check_results(clf_ctx *c, const clf_graph *g, const clf_exe *x, clf_slot *slots, clf_buf **results, clf_err *err);
#endif
