/* SPDX-License-Identifier: Apache-2.0
 * The failure table: what is tried next when an evaluation fails on its device. */
#ifndef CLF_RUN_FAILURE_H
#define CLF_RUN_FAILURE_H
#include "host/run/run.h"

/** Run *x (or the plan that took its place), and on failures of its device whatever the table says next, until something works.
 *  On success *x is the plan that gave the results, owned by the table of plans.
 *  errors: what no row of the table survives; then *x may be gone with the device. */
clf_status clf_failure_run(clf_ctx *c, const clf_graph *g, clf_exe **x, clf_slot *slots, clf_buf **results, clf_err *err);
#endif
