/* SPDX-License-Identifier: Apache-2.0
 * What else could have been done: the plans of the other selectors, where this one runs, and the best of this selector with every step on
 * one other device. A plan that is spread over devices is compared with each of them alone.
 * Every plan is priced by the terms that chose it; nothing is opened or built for the comparison. */
#include <string.h>

#include "host/graph/explain.h"
#include "planner/cost.h"
#include "planner/select.h"

typedef struct place {
    const char *name;
    const clf_profile *profile;
    int dev; /* of clf_devs; -1: the host, or one of a profile */
} place;
typedef struct places {
    int n, here; /* here: where all steps of the plan run, -1: it is spread */
    place at[CLF_MOST_DEVICES];
} places;

static places given(const clf_devices *d) {
    places p = {.n = d->n, .here = d->n == 1 ? 0 : -1};
    for (int i = 0; i < d->n; i++) p.at[i] = (place){d->profile[i]->name, d->profile[i], -1};
    return p;
}

/* The host, and the OpenCL devices if they have been opened for this plan or another. */
static places known(const clf_report *r) {
    places p = {.n = 1, .at = {{"host", clf_run_host_profile(r->c), -1}}};
    const clf_used *u = &r->c->run->used;
    for (int i = 0; i < u->n; i++) {
        if (r->x->ndevice == 1 && r->x->device[0] == u->at[i]) p.here = p.n;
        p.at[p.n++] = (place){u->name[i], &u->profile[i], u->at[i]};
    }
    if (r->x->plan->ndevice > 1) p.here = -1;
    return p;
}

/* A search spreads a plan over all devices if that pays; often it does not. */
static int one_place(const clf_report *r, const places *p) {
    const clf_plan *plan = r->x->plan;
    if (p->here >= 0 || !plan->nstep) return p->here;
    for (int32_t s = 1; s < plan->nstep; s++)
        if (plan->step[s].device != plan->step[0].device) return -1;
    int on = plan->step[0].device;
    for (int i = 1; i < p->n && on && !r->devices; i++)
        if (p->at[i].dev == r->x->device[on - 1]) return i;
    return on;
}

/* Leaves lie in the host's memory, unless they were brought to the device, and results are wanted there. */
static double transfers_ns(const clf_report *r, const clf_plan *p, const place *on) {
    clf_ps sum = 0;
    for (int32_t v = 0; v < p->nvalue; v++) {
        bool leaf = p->value[v].slot >= 0 && p->value[v].last >= 0 && !p->value[v].scalar;
        clf_ps way = clf_cost_transfer(on->profile, (double)p->value[v].bytes);
        if (leaf) sum = clf_ps_add(sum, clf_report_charge(r, p->value[v].slot, on->dev, way));
        if (p->value[v].root && p->value[v].slot < 0) sum = clf_ps_add(sum, way);
    }
    return 1e-3 * (double)sum;
}

static clf_status cost_alone(const clf_report *r, const clf_selector *sel, const places *all, int i, clf_alternative *out, clf_err *err) {
    const place *on = &all->at[i];
    clf_limits lim = clf_exe_limits(r->c, &(clf_places){0});
    clf_plan *p;
    lim.dev = (clf_devices){.n = 1, .profile = {on->profile}};
    CLF_TRY(clf_plan_new(&p, &r->f->g, sel, &lim, &r->c->mem, err));
    *out = (clf_alternative){.selector = sel->name, .device = on->name, .steps = p->nstep};
    for (int32_t s = 0; s < p->nstep; s++) out->predicted_ns += clf_step_cost_ns(p, &p->step[s], on->profile);
    if (i > 0) out->transfer_ns = transfers_ns(r, p, on);
    out->predicted_ns += out->transfer_ns;
    double wait = on->profile->launch_sync_ns - on->profile->launch_async_ns;
    if (!r->devices && on->profile->kind != CLF_DEV_HOST && wait > 0)
        out->predicted_ns += wait; /* once an evaluation, as the plan has it */
    clf_plan_free(p);
    return CLF_OK;
}

/* Another selector, where the plan runs, or on the best single device. */
static clf_status other_selector(clf_report *r, const clf_selector *sel, const places *p, clf_err *err) {
    clf_alternative best = {.predicted_ns = -1}, a;
    for (int i = 0; i < p->n; i++) {
        if (p->here >= 0 && i != p->here) continue;
        CLF_TRY(cost_alone(r, sel, p, i, &a, err));
        if (best.predicted_ns < 0 || a.predicted_ns < best.predicted_ns) best = a;
    }
    best.elsewhere = p->here < 0;
    r->alternative[r->nalternative++] = best;
    return CLF_OK;
}

clf_status clf_report_compare(clf_report *r, clf_err *err) {
    static const char *const order[] = {"all", "nored", "none", "cost"};
    places p = r->devices ? given(r->devices) : known(r);
    const clf_selector *own;
    p.here = one_place(r, &p);
    CLF_TRY(clf_run_selector(r->c, &own, err));
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        const clf_selector *sel = clf_selector_find(order[i]);
        if (sel && sel != own) CLF_TRY(other_selector(r, sel, &p, err));
    }
    for (int i = 0; i < p.n; i++) {
        if (i == p.here) continue;
        clf_alternative *a = &r->alternative[r->nalternative];
        CLF_TRY(cost_alone(r, own, &p, i, a, err));
        a->elsewhere = true;
        r->nalternative++;
    }
    return CLF_OK;
}
