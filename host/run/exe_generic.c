/* SPDX-License-Identifier: Apache-2.0
 * Steps that wait for their kernel, on a generic kernel (tier 1) meanwhile. There is one for each float type, the same for all plans and
 * kept on disk, so it is usually there before the plan is; it is never waited for. A step takes it where that is predicted to cost less
 * than the host executor. It is asked for when the first kernel is that it could have stood in for, behind that, where it can be kept for
 * processes to come. */
#include <string.h>

#include "host/run/exe_place.h"
#include "host/run/exe_window.h"
#include "host/run/run.h"

/* What an instruction costs beside a specialised kernel's time; with 3, 8 and 22 operators that ran at 0.91, 0.75 and 0.62 of its speed
 * (perf: tier1_*). */
static const double instruction_share = 0.035;

static const clf_profile *profile_of(clf_ctx *c, const clf_exe *x, int32_t s) {
    return clf_run_profile_of(c, clf_exe_device(x, &x->step[s]));
}

static const clf_skel *generic_for(const clf_window *w, int32_t s) {
    const clf_profile *dev = profile_of(w->c, w->x, s);
    const clf_step *t = &w->x->plan->step[s];
    if (!w->c->knobs.tier1 || dev->kind == CLF_DEV_GPU || t->kind != CLF_STEP_FUSED) return NULL;
    for (int i = 0; clf_skels[i]; i++)
        if (clf_skels[i]->tier == 1 && clf_skels[i]->fits(&t->c, dev)) return clf_skels[i];
    return NULL;
}

double clf_exe_generic_ns(clf_ctx *c, const clf_exe *x, int32_t s) {
    const clf_step *t = &x->plan->step[s];
    return clf_step_cost_ns(x->plan, t, profile_of(c, x, s)) * (1 + instruction_share * t->c.nvalue);
}

static bool pays(const clf_window *w, int32_t s) {
    const clf_exe *x = w->x;
    return clf_place_asked(w->c) ||
           clf_exe_generic_ns(w->c, x, s) < clf_step_cost_ns(x->plan, &x->plan->step[s], clf_run_host_profile(w->c));
}

static clf_status write_generic(clf_window *w, clf_draft *d, clf_sched *sched, clf_err *err) {
    const clf_cplan *cp = &w->x->plan->step[d->step].c;
    CLF_TRY(d->skel->sched(cp, profile_of(w->c, w->x, d->step), (clf_grid){0, INT64_MAX}, sched, err));
    return d->skel->emit(cp, sched, w->c->knobs.kernel_dir, &w->arena, &d->src, err);
}

/* Best effort: without it the host executor runs the step. */
clf_status clf_window_generic(clf_window *w, int32_t s, bool *taken) {
    clf_draft d = {.step = s, .skel = generic_for(w, s)};
    clf_exe_step *e = &w->x->step[s];
    clf_sched sched;
    clf_err failed = {CLF_OK, ""};
    *taken = false;
    if (!d.skel || !pays(w, s)) return CLF_OK;
    clf_status st = write_generic(w, &d, &sched, &failed);
    if (st != CLF_OK || !clf_program_known(w->c->run->devs, clf_exe_device(w->x, &w->x->step[s]), &d.src))
        return st == CLF_E_NOMEM ? st : CLF_OK;
    clf_facts facts = {0};
    d.skel->facts(&w->x->plan->step[s].c, profile_of(w->c, w->x, s), &sched, &facts);
    e->sched = sched;
    e->facts = facts;
    e->nparts = 0;
    *taken = clf_window_keep(w, &d, &failed) == CLF_OK;
    if (!*taken) CLF_TRACE(&w->c->trace, build, "step %d: no generic kernel: %s", s, failed.text);
    return failed.code == CLF_E_NOMEM ? CLF_E_NOMEM : CLF_OK;
}

void clf_window_ask_generic(clf_window *w, int32_t s) {
    clf_devs *devs = w->c->run->devs;
    clf_draft d = {.step = s, .skel = generic_for(w, s)};
    clf_sched sched;
    clf_err failed = {CLF_OK, ""};
    const clf_source *src = &d.src;
    if (!d.skel || w->all || strcmp(w->c->knobs.cache, "on") || clf_devs_cache_why(devs)[0]) return;
    if (write_generic(w, &d, &sched, &failed) != CLF_OK || clf_program_known(devs, clf_exe_device(w->x, &w->x->step[s]), src) ||
        clf_program_asked(devs, clf_exe_device(w->x, &w->x->step[s]), src))
        return;
    CLF_TRACE(&w->c->trace, build, "step %d: %s is asked for, for this plan and others", s, d.skel->name);
    clf_programs_ask(devs, clf_exe_device(w->x, &w->x->step[s]), src->text, src->text_len, &src, 1, NULL);
}
