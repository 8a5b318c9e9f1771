/* SPDX-License-Identifier: Apache-2.0
 * Running a prepared plan to its results, whatever happens on the way. */
#include "host/run/check.h"
#include "host/run/failure.h"
#include "host/run/run.h"

clf_status clf_run_exe(clf_ctx *c, const clf_graph *g, clf_exe *x, clf_slot *slots, clf_buf **results, clf_err *err) {
    CLF_TRY(clf_failure_run(c, g, &x, slots, results, err));
    return c->knobs.check ? clf_check_results(c, g, x, slots, results, err) : CLF_OK;
}
