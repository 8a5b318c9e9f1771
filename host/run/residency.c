/* SPDX-License-Identifier: Apache-2.0
 * Credits of leaves; see residency.h. A credit lies with the buffer, for one device and version; it ends when the buffer gets there, so
 * that what was dropped for others has to earn its way again. */
#include "host/run/residency.h"

#include <assert.h>
#include <string.h>

#include "host/graph/sparse_buf.h"
#include "host/run/run.h"
#include "planner/select.h"

enum { QUARTERS = CLF_RESIDENT, CLASS_BITS = 3, USE_BITS = 3 }; /* of the words in a key: slot, device in use, class */
static_assert(CLF_MOST_OPENCL <= 1 << USE_BITS, "devices have room in the words of a key");

int clf_residency_class(clf_ps credit, clf_ps transfer) {
    return credit >= transfer ? CLF_RESIDENT : (int)(4.0 * (double)credit / (double)transfer);
}

clf_ps clf_residency_free(int class_, clf_ps transfer) { return class_ >= CLF_RESIDENT ? CLF_PS_MOST : transfer / QUARTERS * class_; }

/* ---- what a plan loses ---- */

/* reads[slot] = 1 for leaves that steps of that device read. */
static void mark_read(const clf_plan *p, int device, uint8_t *reads) {
    for (int32_t s = 0; s < p->nstep; s++)
        for (int i = 0; i < p->step[s].nin && p->step[s].device == device; i++) {
            int32_t slot = p->value[p->step[s].in[i]].slot;
            if (slot >= 0) reads[slot] = 1;
        }
}

/* What would be saved, by the bytes of the leaves that p would have to have there for it. */
static void share(const clf_plan *there, const uint8_t *wanted, const uint8_t *has, clf_ps saved, int64_t *lost) {
    double bytes = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int32_t v = 0; v < there->nvalue; v++) {
            const clf_plan_value *pv = &there->value[v];
            if (pv->slot < 0 || pv->scalar || !wanted[pv->slot] || has[pv->slot]) continue;
            if (pass)
                lost[pv->slot] = (int64_t)((double)saved * ((double)pv->bytes / bytes));
            else
                bytes += (double)pv->bytes;
        }
}

static clf_status compare(const clf_plan *p, const clf_plan *there, int device, size_t nslot, clf_arena *arena, int64_t *lost,
                          clf_err *err) {
    uint8_t *wanted = clf_arena_new(arena, nslot, 1), *has = clf_arena_new(arena, nslot, 1);
    if (!wanted || !has) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    mark_read(there, device, wanted);
    if (p->ndevice > 1) mark_read(p, device, has);
    if (there->cost_ps < p->cost_ps) share(there, wanted, has, p->cost_ps - there->cost_ps, lost);
    return CLF_OK;
}

clf_status clf_residency_lost(const clf_plan *p, const clf_graph *g, const clf_selector *sel, const clf_limits *lim, int device,
                              clf_mem *mem, int64_t *lost, clf_err *err) {
    clf_arena arena;
    clf_plan *there = NULL;
    clf_limits all = *lim;
    clf_arena_init(&arena, mem);
    int64_t *paid = clf_arena_new(&arena, (size_t)g->nslot, sizeof *paid);
    for (int32_t i = 0; paid && i < g->nslot; i++) paid[i] = CLF_PS_MOST;
    all.dev.resident[device] = paid;
    clf_status st = paid ? clf_plan_new(&there, g, sel, &all, mem, err) : clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    if (st == CLF_OK) st = compare(p, there, device, (size_t)g->nslot, &arena, lost, err);
    if (there) clf_plan_free(there);
    clf_arena_release(&arena);
    return st;
}

/* ---- of a context ---- */

/* Only a device with memory of its own, whose way there costs something, makes a difference. u: of those in use. */
static bool matters(const clf_ctx *c, int u) {
    const clf_run *r = c->run;
    return !clf_devs_info(r->devs, r->used.at[u])->host_pointers && clf_cost_transfer(&r->used.profile[u], 1) > 0;
}

static bool any_matters(const clf_ctx *c) {
    bool any = false;
    for (int u = 0; u < c->run->used.n; u++) any = any || matters(c, u);
    return any;
}

static clf_ps transfer_of(const clf_ctx *c, int u, const clf_buf *b) {
    return clf_cost_transfer(&c->run->used.profile[u], (double)clf_buf_value_bytes(b));
}

static int class_of(const clf_ctx *c, int u, clf_buf *b) {
    const clf_run *r = c->run;
    int dev = r->used.at[u];
    if (!b || !matters(c, u)) return 0;
    if (clf_mirror_holds(r->devs, dev, b)) return CLF_RESIDENT;
    return b->credit_device == dev ? clf_residency_class(b->credit_ps, transfer_of(c, u, b)) : 0;
}

/* What a key has for a slot and a device in use; 0: nothing. */
static uint32_t word_of(const clf_ctx *c, int32_t slot, int u, clf_buf *b) {
    uint32_t class_ = (uint32_t)class_of(c, u, b);
    return class_ ? ((uint32_t)slot << USE_BITS | (uint32_t)u) << CLASS_BITS | class_ : 0;
}

void clf_residency_key(clf_ctx *c, int32_t nslot, const clf_slot *slots, clf_str *key) {
    bool any = any_matters(c);
    for (int32_t s = 0; s < nslot && any; s++)
        for (int u = 0; u < c->run->used.n; u++) {
            uint32_t word = word_of(c, s, u, slots[s].buf);
            if (word) clf_str_putn(key, (const char *)&word, sizeof word);
        }
}

static uint32_t word_at(const char *classes, size_t i) {
    uint32_t word;
    memcpy(&word, classes + i * sizeof word, sizeof word);
    return word;
}

bool clf_residency_same(clf_ctx *c, const clf_exe *x, int32_t nslot, const clf_slot *slots) {
    size_t n = (x->key_len - x->graph_key_len) / sizeof(uint32_t), i = 0;
    const char *classes = n ? x->key + x->graph_key_len : NULL;
    if (!any_matters(c)) return !n;
    for (int32_t s = 0; s < nslot; s++)
        for (int u = 0; u < c->run->used.n; u++) {
            uint32_t word = word_of(c, s, u, slots[s].buf);
            if (word && (!classes || i == n || word_at(classes, i++) != word)) return false;
        }
    return i == n;
}

static clf_status room_for(clf_arena *arena, size_t n, int64_t **out, clf_err *err) {
    *out = clf_arena_new(arena, n, sizeof **out);
    return *out ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory");
}

clf_status clf_residency_credits(clf_ctx *c, const char *classes, size_t n, int32_t nslot, const clf_slot *slots, clf_arena *arena,
                                 int64_t **out, clf_err *err) {
    for (size_t i = 0; i < n / sizeof(uint32_t); i++) {
        uint32_t word = word_at(classes, i), s = word >> (CLASS_BITS + USE_BITS), u = word >> CLASS_BITS & ((1u << USE_BITS) - 1);
        if (!out[u]) CLF_TRY(room_for(arena, (size_t)nslot, &out[u], err));
        out[u][s] = clf_residency_free((int)(word & ((1u << CLASS_BITS) - 1)), transfer_of(c, (int)u, slots[s].buf));
    }
    return CLF_OK;
}

/* What is lost because leaves are not on device u; kept if that is more than on those before. */
static clf_status watch_device(clf_ctx *c, clf_exe *x, const clf_graph *g, const clf_selector *sel, const clf_limits *lim, int u,
                               clf_ps *most, clf_err *err) {
    const clf_profile *dev = lim->dev.profile[u + 1];
    int64_t *lost;
    clf_ps sum = 0;
    if (!matters(c, u) || x->plan->cost_ps <= clf_ps_add(clf_cost_launch(dev, CLF_STEP_FUSED), clf_cost_wait(dev))) return CLF_OK;
    CLF_TRY(room_for(&x->arena, (size_t)g->nslot, &lost, err));
    CLF_TRY(clf_residency_lost(x->plan, g, sel, lim, u + 1, &c->mem, lost, err));
    for (int32_t s = 0; s < g->nslot; s++) sum = clf_ps_add(sum, lost[s]);
    if (x->lost_ps && sum <= *most) return CLF_OK;
    *most = sum;
    x->lost_ps = lost;
    x->lost_on = c->run->used.at[u];
    x->nlost = g->nslot;
    return CLF_OK;
}

clf_status clf_residency_watch(clf_ctx *c, clf_exe *x, const clf_graph *g, const clf_selector *sel, clf_err *err) {
    clf_places on = {.n = c->run->used.n};
    clf_ps most = 0;
    if (!any_matters(c) || !sel->searches || !g->nslot) return CLF_OK;
    memcpy(on.at, c->run->used.at, sizeof on.at);
    clf_limits lim = clf_exe_limits(c, &on);
    for (int u = 0; u + 1 < lim.dev.n; u++) CLF_TRY(watch_device(c, x, g, sel, &lim, u, &most, err));
    return CLF_OK;
}

clf_ps clf_residency_charge(clf_ctx *c, int dev, const clf_slot *slot, clf_ps transfer) {
    int u = clf_run_use_of(c, dev);
    clf_ps paid = u >= 0 && matters(c, u) ? clf_residency_free(class_of(c, u, slot->buf), transfer) : 0;
    return transfer > paid ? transfer - paid : 0;
}

void clf_residency_add(clf_ctx *c, const clf_exe *x, const clf_slot *slots) {
    for (int32_t s = 0; s < x->nlost; s++) {
        clf_buf *b = slots[s].buf;
        if (!b || !x->lost_ps[s]) continue;
        if (b->credit_device != x->lost_on) b->credit_ps = 0;
        b->credit_device = x->lost_on;
        b->credit_ps = clf_ps_add(b->credit_ps, x->lost_ps[s]);
        CLF_TRACE(&c->trace, cost, "slot %d: credit of %.0f ns towards its transfer", s, 1e-3 * (double)b->credit_ps);
    }
}
