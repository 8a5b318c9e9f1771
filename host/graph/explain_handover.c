/* SPDX-License-Identifier: Apache-2.0
 * What a plan hands over between devices. A value is where its step runs, or with the host if it is a leaf; whoever runs elsewhere has it
 * brought through the host's memory, once a device, and so has the caller. The first to ask for what a step made waits for that step.
 * The same terms as in planner/price.c, so that steps and hand-overs add up to what a search found its plan to cost. What costs nothing
 * (memory that is shared, nothing to wait for) is no hand-over. */
#include "host/graph/explain.h"
#include "planner/cost.h"

typedef struct handing {
    clf_report *r;
    clf_handover *out;
    uint16_t *at;    /* value -> devices that it was brought to: a bit each */
    uint8_t *waited; /* step -> somebody waited for it */
} handing;

/* -1: the caller, or whoever made a leaf. */
static int device_of(const clf_report *r, int32_t step) {
    if (step < 0) return 0;
    if (r->devices) return r->x->plan->step[step].device;
    const clf_exe_step *e = &r->x->step[step];
    return clf_exe_on_device(e) && !clf_exe_splits(e) ? e->on : 0;
}

clf_ps clf_report_charge(const clf_report *r, int32_t slot, int dev, clf_ps transfer) {
    return r->devices || dev < 0 ? transfer : clf_residency_charge(r->c, dev, &r->f->slot[slot], transfer);
}

static clf_ps carry(const clf_report *r, int32_t step, double bytes) {
    return device_of(r, step) ? clf_cost_transfer(clf_report_profile(r, step), bytes) : 0;
}

static void give(handing *h, int32_t v, int32_t to) {
    const clf_plan_value *x = &h->r->x->plan->value[v];
    int32_t from = x->slot >= 0 ? -1 : x->made;
    int there = device_of(h->r, to);
    if (device_of(h->r, from) == there || (h->at[v] >> there & 1)) return;
    h->at[v] |= (uint16_t)(1u << there);
    clf_ps ps = carry(h->r, to, (double)x->bytes);
    int dev = there && !h->r->devices ? h->r->x->device[there - 1] : -1;
    ps = x->slot >= 0 ? clf_report_charge(h->r, x->slot, dev, ps) : clf_ps_add(carry(h->r, from, (double)x->bytes), ps);
    if (device_of(h->r, from) && !h->waited[from]) {
        h->waited[from] = 1;
        ps = clf_ps_add(ps, clf_cost_wait(clf_report_profile(h->r, from)));
    }
    if (ps > 0) h->out[h->r->nhandover++] = (clf_handover){.value = v, .from = from, .to = to, .predicted_ns = 1e-3 * (double)ps};
}

clf_status clf_report_handovers(clf_report *r, clf_arena *arena, clf_err *err) {
    const clf_plan *p = r->x->plan;
    size_t most = (size_t)p->nroot;
    for (int32_t s = 0; s < p->nstep; s++) most += (size_t)p->step[s].nin;
    handing h = {.r = r,
                 .out = clf_arena_new(arena, most, sizeof *h.out),
                 .at = clf_arena_new(arena, (size_t)p->nvalue, sizeof *h.at),
                 .waited = clf_arena_new(arena, (size_t)p->nstep, 1)};
    if (!h.out || !h.at || !h.waited) return clf_fail(err, CLF_E_NOMEM, "explain: out of memory");
    r->nhandover = 0;
    r->handover = h.out;
    for (int32_t s = 0; s < p->nstep; s++)
        for (int32_t i = 0; i < p->step[s].nin; i++) give(&h, p->step[s].in[i], s);
    for (int32_t i = 0; i < p->nroot; i++) give(&h, p->root[i], -1);
    return CLF_OK;
}
