/* SPDX-License-Identifier: Apache-2.0
 * Which steps the host and an OpenCL device run together, and how much of them is whose. A step's time is taken for proportional to its
 * cells on both, and both begin at once; so with rates H and D (D with what the device's part takes to get there and back) the shares that
 * end together are D/(H+D) and H/(H+D). It is split where this is clearly faster than the better of the two alone, which is where the
 * search has put it: what is predicted is not that exact, and cutting costs something, too. A device that computes on the host's own cores
 * never pays. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/run/exe_place.h"
#include "host/run/exe_split.h"
#include "host/run/run.h"
#include "planner/cost.h"

enum { OVERHEAD_NS = 20000 /* waking threads for a part, and the wait in the middle of a plan */, ALL = 100 };
static const double clear = 0.9; /* of the time of one alone, at most */

/* Times of a whole step, in ns. */
typedef struct times {
    bool apart; /* the device has cores of its own */
    double host, device, launch, wait;
    double share; /* transfers that the device's part has its share of, */
    double whole; /* and those that it has all of; */
    double home;  /* to the host, of what was made on the device or is read there next */
} times;

static bool made_on(const clf_plan *p, int32_t v, int device) {
    int32_t s = p->value[v].made;
    return s >= 0 && p->step[s].kind == CLF_STEP_FUSED && p->step[s].device == device;
}

static bool read_on(const clf_plan *p, int32_t v, int device) {
    for (int32_t s = 0; s < p->nstep; s++)
        for (int i = 0; i < p->step[s].nin && p->step[s].device == device; i++)
            if (p->step[s].in[i] == v) return true;
    return false;
}

/* A leaf that is there, or that the device has been given credit for: the step brings it there to stay, for calls to come. A part of it
 * would not. */
static bool on_credit(const clf_plan *p, const clf_step *t, const int64_t *credit) {
    bool any = false;
    for (int i = 0; i < t->nin && t->device && credit; i++) any = any || (p->value[t->in[i]].slot >= 0 && credit[p->value[t->in[i]].slot]);
    return any;
}

static void add_operands(const clf_plan *p, const clf_step *t, const clf_profile *dev, int device, const clf_sched *whole, times *w) {
    for (int i = 0; i < t->nin + t->nout; i++) {
        int32_t v = i < t->nin ? t->in[i] : t->out[i - t->nin];
        double ns = 1e-3 * (double)clf_cost_transfer(dev, (double)p->value[v].bytes);
        bool there = i < t->nin ? made_on(p, v, device) : read_on(p, v, device);
        if (there) w->home += ns;
        if (there && i < t->nin) continue;
        *(clf_step_spans(p, t, whole, i) ? &w->share : &w->whole) += ns;
    }
}

static times times_of(clf_ctx *c, const clf_plan *p, const clf_step *t, const clf_profile *dev, int device, const clf_sched *whole) {
    times w = {
        .apart = dev->kind == CLF_DEV_GPU, .host = clf_step_cost_ns(p, t, clf_run_host_profile(c)), .device = clf_step_cost_ns(p, t, dev)};
    w.launch = dev->launch_async_ns < w.device ? dev->launch_async_ns : w.device;
    w.wait = 1e-3 * (double)clf_cost_wait(dev) + OVERHEAD_NS;
    add_operands(p, t, dev, device, whole, &w);
    return w;
}

static double together_ns(const times *w, double share) {
    double there = w->launch + w->whole + share * (w->device - w->launch + w->share), here = (1 - share) * w->host;
    return (w->apart ? fmax(there, here) : there + here) + w->wait + w->home;
}

/* Where it is planned, all of it. */
static double alone_ns(const times *w, const clf_step *t) { return t->device ? w->device + w->share + w->whole : w->host + w->home; }

static double best_share(const times *w) {
    double share = (w->host - w->launch - w->whole) / (w->host + w->device - w->launch + w->share);
    return share < 0.01 ? 0.01 : share > 0.99 ? 0.99 : share;
}

clf_split_way clf_split_best(clf_ctx *c, const clf_plan *p, int32_t s, const clf_places *on, const int64_t *const *credit) {
    const clf_step *t = &p->step[s];
    clf_split_way best = {0};
    clf_sched whole;
    if (strcmp(c->knobs.split, "auto") || p->ndevice < 2 || t->kind != CLF_STEP_FUSED) return best;
    for (int i = 0; i < on->n; i++) {
        const clf_profile *dev = clf_run_profile_of(c, on->at[i]);
        bool here = dev->kind == CLF_DEV_GPU && (!t->device || t->device == i + 1);
        if (!here || on_credit(p, t, credit ? credit[clf_run_use_of(c, on->at[i])] : NULL) || !clf_split_fits(c, p, t, dev, &whole))
            continue;
        times w = times_of(c, p, t, dev, i + 1, &whole);
        double share = best_share(&w), ns = together_ns(&w, share), saved = clear * alone_ns(&w, t) - ns;
        if (saved <= 0 || saved <= best.saved_ns) continue;
        best = (clf_split_way){.on = i + 1, .percent = (int)(ALL * share + 0.5), .predicted_ns = ns, .saved_ns = saved};
    }
    return best;
}

/* What the setting asks for: of every kernel the device has so much. */
static clf_split_way asked_way(clf_ctx *c, const clf_exe *x, int32_t s) {
    const clf_exe_step *e = &x->step[s];
    clf_split_way way = {0};
    clf_sched whole;
    int percent = atoi(c->knobs.split);
    if (percent < 1 || e->executor != CLF_ON_KERNEL) return way;
    const clf_profile *dev = clf_run_profile_of(c, clf_exe_device(x, e));
    if (!clf_split_fits(c, x->plan, &x->plan->step[s], dev, &whole)) return way;
    times w = times_of(c, x->plan, &x->plan->step[s], dev, e->on, &whole);
    return (clf_split_way){.on = e->on, .percent = percent, .predicted_ns = together_ns(&w, (double)percent / ALL)};
}

static clf_status split_step(clf_ctx *c, clf_exe *x, int32_t s, const clf_split_way *way, clf_err *err) {
    clf_exe_step *e = &x->step[s];
    clf_exe_split *split = clf_arena_new(&x->arena, 1, sizeof *split);
    uint8_t was = e->on;
    if (!split) return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory while preparing the plan");
    e->on = (uint8_t)way->on;
    if (!clf_split_cut(c, x, s, way->percent, split)) {
        e->on = was;
        return CLF_OK;
    }
    split->predicted_ns = way->predicted_ns;
    e->split = split;
    e->executor = CLF_ON_KERNEL;
    e->why = "";
    return CLF_OK;
}

clf_status clf_split_choose(clf_ctx *c, clf_exe *x, const int64_t *const *credit, clf_err *err) {
    clf_places on = {.n = x->ndevice};
    memcpy(on.at, x->device, sizeof on.at);
    for (int32_t s = 0; s < x->plan->nstep && x->ndevice; s++) {
        clf_split_way way = asked_way(c, x, s);
        if (!way.on) way = clf_split_best(c, x->plan, s, &on, credit);
        if (way.on) CLF_TRY(split_step(c, x, s, &way, err));
    }
    return CLF_OK;
}
