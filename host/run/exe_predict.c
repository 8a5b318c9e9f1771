/* SPDX-License-Identifier: Apache-2.0
 * What a prepared plan is predicted to take: its steps where they run now, the transfers and waits between them, and the wait at its end. */
#include <math.h>

#include "host/run/exe_kernels.h"
#include "host/run/exe_place.h"
#include "host/run/exe_split.h"
#include "host/run/exe_trial.h"
#include "host/run/run.h"

/* Of CSR operands that are looked up at another's entries: a kernel's facts know no number of theirs. */
static double located_bytes(const clf_plan *plan, const clf_step *t) {
    double bytes = 0;
    for (int a = 0; a < t->c.naccess; a++) {
        int in = t->c.access[a].input;
        if (t->c.access[a].protocol == CLF_LOCATE && t->c.in[in].format == CLF_CSR) bytes += (double)plan->value[t->in[in]].bytes;
    }
    return bytes;
}

static const clf_profile *profile_of(clf_ctx *c, const clf_exe *x, int on) {
    return on ? clf_run_profile_of(c, x->device[on - 1]) : clf_run_host_profile(c);
}

static void predict_step(clf_ctx *c, clf_exe *x, int32_t s) {
    const clf_step *t = &x->plan->step[s];
    clf_exe_step *e = &x->step[s];
    bool kernel = e->executor == CLF_ON_KERNEL;
    e->read_bytes = kernel ? e->facts.read_bytes + located_bytes(x->plan, t) : t->read_bytes;
    e->write_bytes = kernel ? e->facts.write_bytes : t->write_bytes;
    double planned =
        clf_exe_splits(e) ? e->split->predicted_ns : clf_step_cost_ns(x->plan, t, profile_of(c, x, clf_exe_on_device(e) ? e->on : 0));
    e->predicted_ns = kernel && e->waiting ? clf_exe_generic_ns(c, x, s) : planned;
    double then = e->waiting ? e->split ? e->split->predicted_ns : clf_step_cost_ns(x->plan, t, profile_of(c, x, e->on)) : 0;
    if (e->waiting) e->saving_ns = clf_place_asked(c) ? HUGE_VAL : fmax(e->predicted_ns - then, clf_trial_hope_ns(e));
    x->predicted_ns += e->predicted_ns;
}

/* Transfers, and waits of steps for steps: what the search counts beside the steps where it planned them. */
static void predict_moves(clf_ctx *c, clf_exe *x) {
    const clf_plan *p = x->plan;
    double ns = p->ndevice > 1 ? 1e-3 * (double)p->cost_ps : 0;
    for (int32_t s = 0; s < p->nstep && ns > 0; s++) ns -= clf_step_cost_ns(p, &p->step[s], profile_of(c, x, p->step[s].device));
    if (ns > 0) x->predicted_ns += ns;
}

/* An evaluation waits once for its kernels; where the search planned them, it has counted that. */
static void predict_wait(clf_ctx *c, clf_exe *x) {
    if (x->plan->ndevice > 1) return;
    const clf_profile *dev = x->ndevice ? profile_of(c, x, 1) : NULL;
    bool waits = false;
    for (int32_t s = 0; s < x->plan->nstep; s++) waits = waits || clf_exe_on_device(&x->step[s]);
    if (dev && waits && dev->launch_sync_ns > dev->launch_async_ns) x->predicted_ns += dev->launch_sync_ns - dev->launch_async_ns;
}

void clf_exe_predict(clf_ctx *c, clf_exe *x) {
    x->predicted_ns = 0;
    for (int32_t s = 0; s < x->plan->nstep; s++) predict_step(c, x, s);
    predict_moves(c, x);
    predict_wait(c, x);
}
