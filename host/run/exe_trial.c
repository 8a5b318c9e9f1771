/* SPDX-License-Identifier: Apache-2.0
 * Trials. Where the host and a kernel that works in the host's memory are predicted to take about as long for a step, the prediction is a
 * coin: what calibration measures of a machine with neighbours is another a minute later, and no bill knows how well loops of several
 * products hide each other's waits. Bits are the same on both (core/fold.h). So the step runs on each of them by turns, a few times, and
 * stays where its best time was shorter, by enough if that is not where it was planned. A step that is planned for the host has its kernel
 * asked for as others have (exe_later.c), as if that would save a part of it. Nobody tries where settings say who runs. */
#include "host/run/exe_trial.h"

#include <math.h>
#include <string.h>

#include "host/run/exe_kernels.h"
#include "host/run/exe_place.h"
#include "host/run/run.h"

enum { SETTLED = 3 /* runs of a plan before the first turn: pages are touched, and what is small is in caches */ };
static const double apart = 2, /* of predicted times: farther from each other, the plan is believed */
    least_ns = 200000,         /* of the shorter one: less is not worth measuring */
    clearly = 0.9,             /* of measured ones */
    hope = 0.2;                /* of the host's time */

/* Kernels that nobody waits for cost nothing to try; others are for who asks. */
static bool allowed(const clf_ctx *c) {
    const char *how = c->knobs.trial;
    return strcmp(how, "off") && clf_place_by_cost(c) && (!strcmp(how, "on") || clf_exe_later(c));
}

bool clf_trial_is_near(clf_ctx *c, const clf_plan *p, int32_t s, const clf_places *on) {
    const clf_step *t = &p->step[s];
    if (p->ndevice < 2 || 1e-3 * (double)p->cost_ps < least_ns || on->n != 1 || t->kind != CLF_STEP_FUSED) return false;
    if (!allowed(c)) return false;
    const clf_profile *dev = clf_run_profile_of(c, on->at[0]);
    if (dev->kind != CLF_DEV_CPU || !dev->zero_copy) return false;
    const double host = clf_step_cost_ns(p, t, clf_run_host_profile(c)), kernel = clf_step_cost_ns(p, t, dev);
    const double less = host < kernel ? host : kernel, more = host < kernel ? kernel : host;
    return less >= least_ns && more < apart * less;
}

clf_status clf_trial_place(clf_ctx *c, clf_exe *x, int32_t s, clf_err *err) {
    clf_exe_step *e = &x->step[s];
    const bool kernel = e->executor == CLF_ON_KERNEL;
    clf_places on = {.n = x->ndevice};
    memcpy(on.at, x->device, sizeof on.at);
    if (e->executor == CLF_ON_REF || !clf_trial_is_near(c, x->plan, s, &on)) return CLF_OK;
    if (!kernel && !clf_exe_skel(c, &x->plan->step[s].c, clf_run_profile_of(c, on.at[0]))) return CLF_OK;
    e->trial = clf_arena_new(&x->arena, 1, sizeof *e->trial);
    if (!e->trial) return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory while preparing the plan");
    *e->trial = (clf_exe_trial){.kernel = kernel, .best_ns = {HUGE_VAL, HUGE_VAL}};
    if (kernel) return CLF_OK;
    e->on = 1;
    if (!clf_exe_later(c)) {
        e->executor = CLF_ON_KERNEL;
        return CLF_OK;
    }
    e->waiting = true;
    e->why = "tier 0: its kernel is predicted to take about as long, and not compiled yet";
    return CLF_OK;
}

double clf_trial_hope_ns(const clf_exe_step *e) { return e->trial && !e->trial->kernel ? hope * e->predicted_ns : 0; }

/* The host's program, while the kernel is the step's executor. */
static bool prepare(clf_ctx *c, clf_exe *x, int32_t s) {
    clf_exe_step *e = &x->step[s];
    clf_err failed = {CLF_OK, ""};
    const char *why = e->why;
    const bool can = clf_exe_on_host(c, x, s, &failed) == CLF_OK && e->executor != CLF_ON_REF;
    e->trial->host = e->executor;
    e->executor = CLF_ON_KERNEL;
    e->why = why;
    return can;
}

bool clf_trial_turn(clf_ctx *c, clf_exe *x, int32_t s) {
    clf_exe_step *e = &x->step[s];
    clf_exe_trial *t = e->trial;
    if (!t || t->turn == CLF_TRIAL_OVER || e->waiting || !e->program || e->nparts || e->split || x->runs < SETTLED) return false;
    if (!t->turn && !prepare(c, x, s)) {
        t->turn = CLF_TRIAL_OVER;
        return false;
    }
    e->executor = t->turn % 2 == (t->kernel ? 0 : 1) ? CLF_ON_KERNEL : t->host;
    return true;
}

void clf_trial_note(clf_ctx *c, clf_exe *x, int32_t s, double ns) {
    clf_exe_step *e = &x->step[s];
    clf_exe_trial *t = e->trial;
    double *best = &t->best_ns[e->executor == CLF_ON_KERNEL];
    if (ns < *best) *best = ns;
    if (e->waiting || ++t->turn < CLF_TRIAL_TURNS) return; /* waiting: its kernel for other numbers of entries is not there */
    const bool moves = t->best_ns[!t->kernel] < clearly * t->best_ns[t->kernel], kernel = t->kernel != moves;
    e->executor = kernel ? CLF_ON_KERNEL : t->host;
    e->why = kernel ? "" : moves ? "its kernel was measured to be slower" : "its kernel was measured to be no faster";
    clf_exe_predict(c, x);
    CLF_TRACE(&c->trace, plan, "step %d: measured %.0f ns on the host, %.0f ns on its kernel: stays on %s", s, t->best_ns[0], t->best_ns[1],
              kernel ? "its kernel" : "the host");
}
