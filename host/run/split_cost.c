/* SPDX-License-Identifier: Apache-2.0
 * Which steps the host and one or two OpenCL devices run together, and how much of them is whose. A step's time is taken for proportional to
 * its cells on all of them, and all begin at once; so a device takes as many cells as it has time for, by its rate (with what its part takes
 * to get there and back), until the host has done the rest. It is split where this is clearly faster than the better of them alone, which
 * is where the search has put it: what is predicted is not that exact, and cutting costs something, too. A second device has to be worth it
 * once more. A device that computes on the host's own cores never pays. */
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

/* A dense leaf that is there, or that the device has been given credit for: the step brings it there to stay, for calls to come. A part of
 * it would not; of a sparse one all comes in any case. */
static bool on_credit(const clf_plan *p, const clf_step *t, const int64_t *credit) {
    bool any = false;
    for (int i = 0; i < t->nin && t->device && credit; i++) {
        const clf_plan_value *v = &p->value[t->in[i]];
        any = any || (v->format == CLF_DENSE && v->slot >= 0 && credit[v->slot]);
    }
    return any;
}

/* The way between host and device, less the credit of a sparse leaf. */
static double way_ns(const clf_plan_value *v, const clf_profile *dev, const int64_t *credit) {
    clf_ps all = clf_cost_transfer(dev, (double)v->bytes);
    clf_ps paid = credit && v->format == CLF_CSR && v->slot >= 0 ? credit[v->slot] : 0;
    return paid < all ? 1e-3 * (double)(all - paid) : 0;
}

static void add_operands(const clf_plan *p, const clf_step *t, const clf_profile *dev, int device, const clf_sched *whole,
                         const int64_t *credit, times *w) {
    for (int i = 0; i < t->nin + t->nout; i++) {
        int32_t v = i < t->nin ? t->in[i] : t->out[i - t->nin];
        double ns = way_ns(&p->value[v], dev, credit);
        bool there = i < t->nin ? made_on(p, v, device) : read_on(p, v, device);
        if (there) w->home += ns;
        if (there && i < t->nin) continue;
        bool entries = i >= t->nin && p->value[v].format == CLF_CSR; /* of a result with an operand's pattern a part is made */
        *(entries || clf_step_spans(p, t, whole, i) ? &w->share : &w->whole) += ns;
    }
}

static times times_of(clf_ctx *c, const clf_plan *p, const clf_step *t, const clf_profile *dev, int device, const clf_sched *whole,
                      const int64_t *credit) {
    times w = {
        .apart = dev->kind == CLF_DEV_GPU, .host = clf_step_cost_ns(p, t, clf_run_host_profile(c)), .device = clf_step_cost_ns(p, t, dev)};
    w.launch = dev->launch_async_ns < w.device ? dev->launch_async_ns : w.device;
    w.wait = 1e-3 * (double)clf_cost_wait(dev) + OVERHEAD_NS;
    w.whole = 2e-3 * (double)clf_cost_transfer(dev, (double)whole->scratch_bytes); /* there, and its states back */
    add_operands(p, t, dev, device, whole, credit, &w);
    return w;
}

/* Of a device's part: what it takes however small it is, and what all cells would take beside that. */
static double fixed_ns(const times *w) { return w->launch + w->whole; }
static double cells_ns(const times *w) { return w->device - w->launch + w->share; }

/* n devices, each with its share; the host has what is left. */
static double together_ns(const times *w, const double *share, int n) {
    double rest = 1, longest = 0, own = 0, after = 0;
    for (int i = 0; i < n; i++) {
        double there = fixed_ns(&w[i]) + share[i] * cells_ns(&w[i]);
        if (w[i].apart)
            longest = fmax(longest, there);
        else
            own += there;
        rest -= share[i];
        after += w[i].wait + w[i].home;
    }
    return fmax(longest, own + rest * w->host) + after;
}

/* Where it is planned, all of it. */
static double alone_ns(const times *w, const clf_step *t) { return t->device ? w->device + w->share + w->whole : w->host + w->home; }

/* Shares with which all end together, at the time of which fixed + share * cells is the same for each and what the host takes for the rest.
 * What a device has no time for may come out as less than nothing. */
static void even_shares(const times *w, double *share, int n) {
    double all = 1, rate = 1 / w->host;
    for (int i = 0; i < n; i++) {
        all += fixed_ns(&w[i]) / cells_ns(&w[i]);
        rate += 1 / cells_ns(&w[i]);
    }
    for (int i = 0; i < n; i++) {
        double part = (all / rate - fixed_ns(&w[i])) / cells_ns(&w[i]);
        share[i] = part < 0.01 ? 0.01 : part > 0.99 ? 0.99 : part;
    }
}

/* A device that may take a part of a step, or be the one it is planned on. */
typedef struct candidate {
    int on;
    times w;
} candidate;

static int candidates(clf_ctx *c, const clf_plan *p, const clf_step *t, const clf_places *on, const int64_t *const *credit,
                      candidate *out) {
    clf_sched whole;
    int n = 0;
    for (int i = 0; i < on->n; i++) {
        const clf_profile *dev = clf_run_profile_of(c, on->at[i]);
        const int64_t *paid = credit ? credit[clf_run_use_of(c, on->at[i])] : NULL;
        if (dev->kind != CLF_DEV_GPU || on_credit(p, t, paid) || !clf_split_fits(c, p, t, dev, &whole)) continue;
        out[n++] = (candidate){.on = i + 1, .w = times_of(c, p, t, dev, i + 1, &whole, paid)};
    }
    return n;
}

static void try_one(const clf_step *t, const candidate *a, clf_split_way *best) {
    double share, ns, saved;
    if (t->device && t->device != a->on) return;
    even_shares(&a->w, &share, 1);
    ns = together_ns(&a->w, &share, 1);
    saved = clear * alone_ns(&a->w, t) - ns;
    if (saved > 0 && saved > best->saved_ns)
        *best = (clf_split_way){.on = a->on, .percent = (int)(ALL * share + 0.5), .predicted_ns = ns, .saved_ns = saved};
}

/* a is where the step is planned, if that is a device; alone: there. With one device less it takes least_ns. */
static void try_two(const clf_step *t, const candidate *a, const candidate *b, double least_ns, clf_split_way *best) {
    const times w[2] = {a->w, b->w};
    double share[2];
    if (t->device && t->device != a->on) return;
    even_shares(w, share, 2);
    double ns = together_ns(w, share, 2), saved = clear * (alone_ns(&a->w, t) + (t->device ? 0 : b->w.home)) - ns;
    int one = (int)(ALL * share[0] + 0.5), two = (int)(ALL * share[1] + 0.5);
    if (one + two >= ALL) one = ALL - 1 - two; /* the host has something of everything */
    if (one < 1 || saved <= 0 || saved <= best->saved_ns || ns > clear * least_ns) return;
    *best = (clf_split_way){.on = a->on, .percent = one, .also = b->on, .also_percent = two, .predicted_ns = ns, .saved_ns = saved};
}

clf_split_way clf_split_best(clf_ctx *c, const clf_plan *p, int32_t s, const clf_places *on, const int64_t *const *credit) {
    const clf_step *t = &p->step[s];
    candidate at[CLF_MOST_OPENCL];
    clf_split_way best = {0};
    if (strcmp(c->knobs.split, "auto") || p->ndevice < 2 || t->kind != CLF_STEP_FUSED) return best;
    int n = candidates(c, p, t, on, credit, at);
    for (int i = 0; i < n; i++) try_one(t, &at[i], &best);
    double least_ns = best.on ? best.predicted_ns : HUGE_VAL;
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            if (i != k) try_two(t, &at[i], &at[k], least_ns, &best);
    return best;
}

/* The times of step s on a device of x; false: it takes no part of it. */
static bool times_on(clf_ctx *c, const clf_exe *x, int32_t s, int on, times *w) {
    const clf_step *t = &x->plan->step[s];
    const clf_profile *dev = clf_run_profile_of(c, x->device[on - 1]);
    clf_sched whole;
    if (!clf_split_fits(c, x->plan, t, dev, &whole)) return false;
    *w = times_of(c, x->plan, t, dev, on, &whole, NULL);
    return true;
}

/* What the setting asks for: of every kernel the device has so much, and another one, the first that can, so much. */
static clf_split_way asked_way(clf_ctx *c, const clf_exe *x, int32_t s) {
    const clf_exe_step *e = &x->step[s];
    clf_split_way way = {0};
    times w[2];
    const char *plus = strchr(c->knobs.split, '+');
    int percent = atoi(c->knobs.split), also = 0;
    if (percent < 1 || e->executor != CLF_ON_KERNEL || !times_on(c, x, s, e->on, w)) return way;
    for (int on = 1; on <= x->ndevice && plus && !also; on++) also = on != e->on && times_on(c, x, s, on, &w[1]) ? on : 0;
    way = (clf_split_way){.on = e->on, .percent = percent, .also = also, .also_percent = also ? atoi(plus + 1) : 0};
    const double share[2] = {(double)percent / ALL, (double)way.also_percent / ALL};
    way.predicted_ns = together_ns(w, share, also ? 2 : 1);
    return way;
}

static clf_status split_step(clf_ctx *c, clf_exe *x, int32_t s, const clf_split_way *way, clf_err *err) {
    clf_exe_step *e = &x->step[s];
    clf_exe_split *split = clf_arena_new(&x->arena, 1, sizeof *split);
    uint8_t was = e->on;
    if (!split) return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory while preparing the plan");
    e->on = (uint8_t)way->on;
    if (!clf_split_cut(c, x, s, way, split)) {
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
