/* SPDX-License-Identifier: Apache-2.0
 * Running a prepared plan to its results, whatever happens on the way. */
#include "host/run/run.h"

clf_status clf_run_exe(clf_ctx *c, const clf_graph *g, clf_exe *x, clf_slot *slots, clf_buf **results, clf_err *err) {
    (void)g;
    return clf_exe_run(c, x, slots, false, results, err);
}
