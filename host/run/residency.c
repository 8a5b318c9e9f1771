/* SPDX-License-Identifier: Apache-2.0
 * Credits of leaves; see residency.h. A credit lies with the buffer, for one device and version; it ends when the buffer gets there, so
 * that what was dropped for others has to earn its way again. */
#include "host/run/residency.h"

#include <string.h>

#include "host/graph/sparse_buf.h"
#include "host/run/run.h"
#include "planner/select.h"

enum { QUARTERS = CLF_RESIDENT, CLASS_BITS = 3 };

int clf_residency_class(clf_ps credit, clf_ps transfer) {
    return credit >= transfer ? CLF_RESIDENT : (int)(4.0 * (double)credit / (double)transfer);
}

clf_ps clf_residency_free(int class_, clf_ps transfer) { return class_ >= CLF_RESIDENT ? CLF_PS_MOST : transfer / QUARTERS * class_; }

/* ---- what a plan loses ---- */

/* reads[slot] = 1 for leaves that steps of device 1 read. */
static void mark_read(const clf_plan *p, uint8_t *reads) {
    for (int32_t s = 0; s < p->nstep; s++)
        for (int i = 0; i < p->step[s].nin && p->step[s].device == 1; i++) {
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

static clf_status compare(const clf_plan *p, const clf_plan *there, size_t nslot, clf_arena *arena, int64_t *lost, clf_err *err) {
    uint8_t *wanted = clf_arena_new(arena, nslot, 1), *has = clf_arena_new(arena, nslot, 1);
    if (!wanted || !has) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    mark_read(there, wanted);
    if (p->ndevice > 1) mark_read(p, has);
    if (there->cost_ps < p->cost_ps) share(there, wanted, has, p->cost_ps - there->cost_ps, lost);
    return CLF_OK;
}

clf_status clf_residency_lost(const clf_plan *p, const clf_graph *g, const clf_selector *sel, const clf_limits *lim, clf_mem *mem,
                              int64_t *lost, clf_err *err) {
    clf_arena arena;
    clf_plan *there = NULL;
    clf_limits all = *lim;
    clf_arena_init(&arena, mem);
    int64_t *paid = clf_arena_new(&arena, (size_t)g->nslot, sizeof *paid);
    for (int32_t i = 0; paid && i < g->nslot; i++) paid[i] = CLF_PS_MOST;
    all.dev.resident[1] = paid;
    clf_status st = paid ? clf_plan_new(&there, g, sel, &all, mem, err) : clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    if (st == CLF_OK) st = compare(p, there, (size_t)g->nslot, &arena, lost, err);
    if (there) clf_plan_free(there);
    clf_arena_release(&arena);
    return st;
}

/* ---- of a context ---- */

/* Only a device with memory of its own, whose way there costs something, makes a difference. */
static bool matters(clf_ctx *c) {
    const clf_run *r = c->run;
    if (r->chosen < 0 || clf_run_lost(c)) return false;
    return !clf_devs_info(r->devs, r->chosen)->host_pointers && clf_cost_transfer(&r->device, 1) > 0;
}

static clf_ps transfer_of(clf_ctx *c, const clf_buf *b) { return clf_cost_transfer(&c->run->device, (double)clf_buf_value_bytes(b)); }

static int class_of(clf_ctx *c, clf_buf *b) {
    const clf_run *r = c->run;
    if (!b) return 0;
    if (clf_mirror_holds(r->devs, r->chosen, b)) return CLF_RESIDENT;
    return b->credit_device == r->chosen ? clf_residency_class(b->credit_ps, transfer_of(c, b)) : 0;
}

void clf_residency_key(clf_ctx *c, int32_t nslot, const clf_slot *slots, clf_str *key) {
    bool any = matters(c);
    for (int32_t s = 0; s < nslot && any; s++) {
        uint32_t class_ = (uint32_t)class_of(c, slots[s].buf), word = (uint32_t)s << CLASS_BITS | class_;
        if (class_) clf_str_putn(key, (const char *)&word, sizeof word);
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
    bool any = matters(c);
    if (!any) return !n;
    for (int32_t s = 0; s < nslot; s++) {
        uint32_t class_ = (uint32_t)class_of(c, slots[s].buf);
        if (!class_) continue;
        if (!classes || i == n || word_at(classes, i++) != ((uint32_t)s << CLASS_BITS | class_)) return false;
    }
    return i == n;
}

clf_status clf_residency_credits(clf_ctx *c, const char *classes, size_t n, int32_t nslot, const clf_slot *slots, clf_arena *arena,
                                 int64_t **out, clf_err *err) {
    if (!n) return CLF_OK;
    int64_t *credit = clf_arena_new(arena, (size_t)nslot, sizeof *credit);
    if (!credit) return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory");
    for (size_t i = 0; i < n / sizeof(uint32_t); i++) {
        uint32_t word = word_at(classes, i), s = word >> CLASS_BITS;
        credit[s] = clf_residency_free((int)(word & ((1u << CLASS_BITS) - 1)), transfer_of(c, slots[s].buf));
    }
    *out = credit;
    return CLF_OK;
}

clf_status clf_residency_watch(clf_ctx *c, clf_exe *x, const clf_graph *g, const clf_selector *sel, clf_err *err) {
    clf_limits lim = clf_exe_limits(c, c->run->chosen);
    if (!matters(c) || !sel->searches || lim.dev.n < 2 || !g->nslot) return CLF_OK;
    if (x->plan->cost_ps <= clf_ps_add(clf_cost_launch(lim.dev.profile[1], CLF_STEP_FUSED), clf_cost_wait(lim.dev.profile[1])))
        return CLF_OK;
    x->lost_ps = clf_arena_new(&x->arena, (size_t)g->nslot, sizeof *x->lost_ps);
    if (!x->lost_ps) return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory");
    x->nlost = g->nslot;
    return clf_residency_lost(x->plan, g, sel, &lim, &c->mem, x->lost_ps, err);
}

clf_ps clf_residency_charge(clf_ctx *c, const clf_slot *slot, clf_ps transfer) {
    clf_ps paid = matters(c) ? clf_residency_free(class_of(c, slot->buf), transfer) : 0;
    return transfer > paid ? transfer - paid : 0;
}

void clf_residency_add(clf_ctx *c, const clf_exe *x, const clf_slot *slots) {
    for (int32_t s = 0; s < x->nlost; s++) {
        clf_buf *b = slots[s].buf;
        if (!b || !x->lost_ps[s]) continue;
        if (b->credit_device != c->run->chosen) b->credit_ps = 0;
        b->credit_device = c->run->chosen;
        b->credit_ps = clf_ps_add(b->credit_ps, x->lost_ps[s]);
        CLF_TRACE(&c->trace, cost, "slot %d: credit of %.0f ns towards its transfer", s, 1e-3 * (double)b->credit_ps);
    }
}
