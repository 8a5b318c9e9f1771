/* SPDX-License-Identifier: Apache-2.0
 * Steps that wait for their kernel, on a generic kernel (tier 1) meanwhile. There is one for each float type, the same for all plans and
 * kept on disk. It is never waited for: a driver takes tens of milliseconds to load it, and a thread does that, for cells in f64 as soon as
 * a device is in use, else when a step could use it. A step takes it where that is predicted to cost less than the host executor. It is
 * asked for when the first kernel is that it could have stood in for, behind that, where it can be kept for processes to come. */
#include <string.h>

#include "host/run/exe_place.h"
#include "host/run/exe_window.h"
#include "host/run/run.h"
#include "planner/builder.h"

/* What an instruction costs beside a specialised kernel's time; with 3, 8 and 22 operators that ran at 0.89, 0.73 and 0.68 of its speed
 * (perf: tier1_*). */
static const double instruction_share = 0.025;
/* The same of stored entries, whose operands are gathered into memory first: half its speed (perf: tier1_entry_*). */
static const double gathering_share = 1;

static const clf_profile *profile_of(clf_ctx *c, const clf_exe *x, int32_t s) {
    return clf_run_profile_of(c, clf_exe_device(x, &x->step[s]));
}

static const clf_skel *generic_of(const clf_ctx *c, const clf_cplan *cp, const clf_profile *dev) {
    if (!c->knobs.tier1 || dev->kind == CLF_DEV_GPU) return NULL;
    for (int i = 0; clf_skels[i]; i++)
        if (clf_skels[i]->tier == 1 && clf_skels[i]->fits(cp, dev)) return clf_skels[i];
    return NULL;
}

static const clf_skel *generic_for(const clf_window *w, int32_t s) {
    const clf_step *t = &w->x->plan->step[s];
    return t->kind == CLF_STEP_FUSED ? generic_of(w->c, &t->c, profile_of(w->c, w->x, s)) : NULL;
}

double clf_exe_generic_ns(clf_ctx *c, const clf_exe *x, int32_t s) {
    const clf_step *t = &x->plan->step[s];
    double share = instruction_share * t->c.nvalue + (clf_entry_axis(&t->c) >= 0 ? gathering_share : 0);
    return clf_step_cost_ns(x->plan, t, profile_of(c, x, s)) * (1 + share);
}

static bool pays(const clf_window *w, int32_t s) {
    const clf_exe *x = w->x;
    return clf_place_asked(w->c) ||
           clf_exe_generic_ns(w->c, x, s) < clf_step_cost_ns(x->plan, &x->plan->step[s], clf_run_host_profile(w->c));
}

/* Its text is long, and written once, where neither it nor its arguments are the cplan's: those of stored entries name their operand. */
static clf_status write_text(clf_ctx *c, int dev, const clf_cplan *cp, const clf_sched *sched, clf_arena *arena, clf_source *out,
                             clf_err *err) {
    clf_generics *k = &c->run->generics;
    bool kept = clf_entry_axis(cp) < 0 && !c->knobs.kernel_dir[0];
    for (int i = 0; kept && i < k->n; i++)
        if (k->text[i].skel == sched->skel && k->text[i].variant == sched->variant) {
            *out = k->text[i].src;
            return CLF_OK;
        }
    kept = kept && k->n < CLF_GENERICS;
    CLF_TRY(clf_exe_write(c, dev, cp, sched, kept ? &k->arena : arena, out, err));
    if (kept) k->text[k->n++] = (clf_generic_text){sched->skel, sched->variant, *out};
    return CLF_OK;
}

static clf_status write_for(clf_ctx *c, int dev, const clf_skel *skel, const clf_cplan *cp, clf_arena *arena, clf_sched *sched,
                            clf_source *out, clf_err *err) {
    CLF_TRY(skel->sched(cp, clf_run_profile_of(c, dev), (clf_grid){0, INT64_MAX}, sched, err));
    return write_text(c, dev, cp, sched, arena, out, err);
}

static clf_status write_generic(clf_window *w, clf_draft *d, clf_sched *sched, clf_err *err) {
    const int dev = clf_exe_device(w->x, &w->x->step[d->step]);
    return write_for(w->c, dev, d->skel, &w->x->plan->step[d->step].c, &w->arena, sched, &d->src, err);
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
    if (st != CLF_OK) return st == CLF_E_NOMEM ? st : CLF_OK;
    if (!clf_program_held(w->c->run->devs, clf_exe_device(w->x, e), &d.src)) {
        clf_program_fetch(w->c->run->devs, clf_exe_device(w->x, e), &d.src, NULL);
        return CLF_OK;
    }
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

/* sum(X), which stands for all loops over cells. */
static clf_status sum_of_cells(clf_arena *arena, clf_cplan *out, clf_err *err) {
    const int64_t n = (int64_t)2 * CLF_LEAF;
    clf_builder b;
    clf_build_begin(&b, arena);
    int axis = clf_build_axis(&b, CLF_AXIS_RANGE, n);
    int v = clf_build_load(&b, clf_build_access(&b, clf_build_in(&b, CLF_F64, 1, &n), &axis));
    clf_build_fold(&b, clf_build_out(&b, CLF_F64, 0, NULL), CLF_FOLD_SUM, v, 0);
    return clf_build_end(&b, out, err);
}

void clf_generic_fetch(clf_ctx *c, int dev) {
    const clf_profile *p = clf_run_profile_of(c, dev);
    clf_arena arena;
    clf_cplan cp;
    clf_sched sched;
    clf_source src;
    if (!clf_exe_later(c)) return;
    clf_arena_init(&arena, &c->mem);
    const clf_skel *skel = sum_of_cells(&arena, &cp, NULL) == CLF_OK ? generic_of(c, &cp, p) : NULL;
    if (skel && write_for(c, dev, skel, &cp, &arena, &sched, &src, NULL) == CLF_OK) clf_program_fetch(c->run->devs, dev, &src, NULL);
    clf_arena_release(&arena);
}
