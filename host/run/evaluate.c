/* SPDX-License-Identifier: Apache-2.0
 * Running a prepared plan to its results, whatever happens on the way. */
#include "host/run/check.h"
#include "host/run/exe_kernels.h"
#include "host/run/failure.h"
#include "host/run/run.h"

clf_status clf_run_exe(clf_ctx *c, const clf_graph *g, clf_exe *x, clf_slot *slots, clf_buf **results, clf_err *err) {
    uint64_t before = c->stats.run_ns;
    CLF_TRY(clf_exe_promote(c, clf_exe_latest(x), false, err));
    CLF_TRY(clf_failure_run(c, g, &x, slots, results, err));
    if (c->run->wants_devices && !c->run->devs_tried) c->run->wanted_ns += (double)(c->stats.run_ns - before);
    return c->knobs.check ? clf_check_results(c, g, x, slots, results, err) : CLF_OK;
}
