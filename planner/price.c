/* SPDX-License-Identifier: Apache-2.0
 * What a cover costs on the devices planned for, and whether it is one: problem.h defines both. */
#include <string.h>

#include "planner/bill.h"
#include "planner/problem.h"

clf_status clf_pricer_new(const clf_problem *p, clf_arena *arena, clf_pricer *w, clf_err *err) {
    size_t n = (size_t)p->g->n;
    *w = (clf_pricer){
        .p = p, .arena = arena, .mark = clf_arena_new(arena, n, 1), .converted = clf_arena_new(arena, n, sizeof *w->converted)};
    w->at = clf_arena_new(arena, n, sizeof *w->at);
    w->cells = clf_arena_new(arena, n, sizeof *w->cells);
    w->when = clf_arena_new(arena, n, sizeof *w->when);
    w->waited = clf_arena_new(arena, n, sizeof *w->waited);
    w->twinned = clf_arena_new(arena, n, sizeof *w->twinned);
    w->layout = clf_arena_new(arena, n, 1);
    bool room = w->mark && w->converted && w->at && w->cells && w->when && w->waited && w->twinned && w->layout;
    return room ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
}

static void add(clf_pricer *w, clf_ps ps) { w->sum = clf_ps_add(w->sum, ps); }

/* What is noted about q in this pricing. */
static void touch(clf_pricer *w, int32_t q) {
    if (w->when[q] == w->now) return;
    w->when[q] = w->now;
    w->converted[q] = w->at[q] = w->cells[q] = 0;
}

static int made_on(const clf_cover *c, int32_t q) { return c->maker[q] < 0 ? 0 : c->part[c->maker[q]].device; }

/* Somebody on another device, or the caller, reads what the maker of q stores. */
static void await(clf_pricer *w, const clf_cover *c, int32_t q) {
    int32_t m = c->maker[q];
    if (m < 0 || w->waited[m] == w->now) return;
    w->waited[m] = w->now;
    add(w, w->p->wait[c->part[m].device]);
}

/* From where it was made through the host's memory to where it is wanted, once. */
static void bring(clf_pricer *w, const clf_cover *c, int32_t q, int to) {
    int from = made_on(c, q);
    if (from == to || (w->at[q] >> to & 1)) return;
    w->at[q] |= (uint16_t)(1u << to);
    add(w, clf_problem_bring(w->p, q, clf_cover_bytes(w->p->g, c, q), from, to));
}

/* Of a value that is, or will be, stored by them. */
static double entries_of(const clf_pricer *w, const clf_cover *c, int32_t q) {
    return (double)(c->csr[q] ? c->entries[q] : clf_entries_of(w->p->g, q));
}

/* Into the format that it is not stored in, once on each device. */
static clf_status convert_on(clf_pricer *w, const clf_cover *c, int32_t q, int device, clf_err *err) {
    if (w->converted[q] >> device & 1) return CLF_OK;
    w->converted[q] |= (uint16_t)(1u << device);
    clf_convert how = c->csr[q] ? CLF_CONVERT_DENSE : CLF_CONVERT_CSR;
    CLF_TRY(clf_bill_convert(w->p->g, q, how, entries_of(w, c, q), w->arena, &w->convert, err));
    add(w, clf_bill_pay(&w->convert, w->p->g, w->p->dev.profile[device]));
    return CLF_OK;
}

/* Stored entries, read as cells. For a device that runs loops only the host converts them. */
static clf_status bring_cells(clf_pricer *w, const clf_cover *c, int32_t q, int to, clf_err *err) {
    int from = made_on(c, q);
    if (!to || !w->p->dev.loops_only[to]) {
        bring(w, c, q, to);
        return convert_on(w, c, q, to, err);
    }
    CLF_TRY(convert_on(w, c, q, 0, err));
    if (from) await(w, c, q);
    if (w->cells[q] >> to & 1) return CLF_OK;
    w->cells[q] |= (uint16_t)(1u << to);
    add(w, clf_problem_bring(w->p, q, clf_cover_bytes(w->p->g, c, q), from, 0));
    add(w, clf_problem_bring(w->p, q, clf_gnode_bytes(&w->p->g->node[q]), 0, to));
    return CLF_OK;
}

/* A product of entries takes a side that is used transposed as its twin. */
static clf_status add_twins(clf_pricer *w, const clf_cover *c, const clf_part *part, clf_err *err) {
    const clf_graph *g = w->p->g;
    int32_t n = part->node[0];
    for (int k = 0; k < 2 && !part->loop && clf_product_of_entries(g, n); k++) {
        bool turned;
        int32_t q = clf_product_operand(g, n, k, &turned);
        if (!turned || w->twinned[q] == w->now) continue;
        w->twinned[q] = w->now;
        CLF_TRY(clf_bill_convert(g, q, CLF_CONVERT_TWIN, entries_of(w, c, q), w->arena, &w->convert, err));
        add(w, clf_bill_pay(&w->convert, g, w->p->dev.profile[part->device]));
    }
    return CLF_OK;
}

static clf_status price_part(clf_pricer *w, clf_cover *c, int32_t i, clf_err *err) {
    const clf_part *part = &c->part[i];
    const clf_graph *g = w->p->g;
    const clf_profile *dev = w->p->dev.profile[part->device];
    bool entries = !part->loop && clf_product_of_entries(g, part->node[0]);
    clf_cover_enter(c, i);
    CLF_TRY(clf_bill_part(g, c, i, w->mark, w->arena, &w->bill, err));
    add(w, clf_bill_pay(&w->bill, g, dev));
    CLF_TRY(add_twins(w, c, part, err));
    for (int32_t t = 0; t < w->bill.n; t++) {
        int32_t q = w->bill.term[t].node;
        if (w->bill.term[t].kind > CLF_TERM_SPARSELY || clf_cover_has(c, i, q)) continue;
        bool cells = part->loop ? !clf_cover_reads_csr(g, c, i, q) : w->bill.kind != CLF_STEP_CONVERT && !entries;
        touch(w, q);
        if (made_on(c, q) != part->device) await(w, c, q);
        if (c->csr[q] && cells)
            CLF_TRY(bring_cells(w, c, q, part->device, err));
        else
            bring(w, c, q, part->device);
        if (!c->csr[q] && entries) CLF_TRY(convert_on(w, c, q, part->device, err));
    }
    for (int32_t j = 0; j < part->n && part->device; j++) {
        int32_t q = part->node[j];
        if (!(w->p->is[q] & CLF_IS_ROOT) || !clf_cover_stores(c, i, q)) continue;
        touch(w, q);
        await(w, c, q);
        bring(w, c, q, 0);
    }
    return CLF_OK;
}

clf_status clf_cover_price(clf_pricer *w, clf_cover *c, clf_ps *out, clf_err *err) {
    w->sum = 0;
    w->now++;
    c->host_beside = w->p->host_beside;
    for (int32_t i = 0; i < c->npart; i++) CLF_TRY(price_part(w, c, i, err));
    *out = w->sum;
    return CLF_OK;
}

/* ---- legality ---- */

typedef struct checking {
    const clf_problem *p;
    clf_cover *c;
    uint8_t *mark, *wanted; /* wanted: nodes of the part that what it stores needs */
    int32_t *up, *owner;
} checking;

static clf_status bad(clf_err *err, const char *what, int32_t part, int32_t n) {
    return clf_fail(err, CLF_E_INTERNAL, "cover: part %d, node %d: %s", part, n, what);
}

static clf_status check_sources(const checking *w, int32_t i, int32_t copied, clf_err *err) {
    int32_t in[CLF_MOST_SOURCES];
    for (int s = clf_problem_sources(w->p, copied, in); s-- > 0;)
        if (!(w->p->is[in[s]] & CLF_IS_SLOT) && (w->c->maker[in[s]] < 0 || w->c->maker[in[s]] >= i))
            return bad(err, "what a copied expression reads is not stored before", i, in[s]);
    return CLF_OK;
}

/* An operand comes from inside through an edge that may, or from an earlier part. */
static clf_status check_operand(const checking *w, int32_t i, int32_t n, int k, clf_err *err) {
    const clf_problem *p = w->p;
    int32_t q = clf_node_operand(p->g, n, k);
    bool loop = w->c->part[i].loop;
    if (clf_cover_has(w->c, i, q))
        return ((p->inside[n] | w->c->copies[n]) >> k & 1) ? CLF_OK : bad(err, "computes an operand that must be in memory", i, n);
    if (loop && (w->c->copies[n] >> k & 1)) return check_sources(w, i, q, err);
    if (p->is[q] & CLF_IS_SLOT) return CLF_OK;
    return w->c->maker[q] >= 0 && w->c->maker[q] < i ? CLF_OK : bad(err, "an operand is not stored before it is read", i, n);
}

static clf_status check_loop(const checking *w, int32_t i, clf_err *err) {
    const clf_part *part = &w->c->part[i];
    int32_t stored = 0;
    for (int32_t j = 0; j < part->n; j++) {
        int32_t n = part->node[j];
        if (!(w->p->is[n] & CLF_CAN_LOOP)) return bad(err, "no loop computes this operator", i, n);
        if (w->p->class_[n] != w->p->class_[part->node[0]]) return bad(err, "loops of two classes", i, n);
        stored += clf_cover_stores(w->c, i, n);
    }
    if (!stored) return bad(err, "stores nothing", i, part->node[0]);
    clf_reason r = clf_problem_limit(w->p, part->node, part->n, stored, w->mark);
    if (r != CLF_NREASONS) return bad(err, clf_reason_text(r), i, part->node[0]);
    return clf_problem_connected(w->p, part->node, part->n, w->up, w->owner) ? CLF_OK : bad(err, "not connected", i, part->node[0]);
}

/* Every node of the part is stored by it, or taken by a later one of it. */
static clf_status check_use(const checking *w, int32_t i, clf_err *err) {
    const clf_part *part = &w->c->part[i];
    clf_status st = CLF_OK;
    for (int32_t j = part->n; j-- > 0;) {
        int32_t n = part->node[j];
        if (j + 1 < part->n && part->node[j + 1] <= n) st = bad(err, "nodes are not in order", i, n);
        if (!clf_cover_stores(w->c, i, n) && !w->wanted[n]) st = bad(err, "is computed in vain", i, n);
        for (int k = 0; k < w->p->g->node[n].nin; k++) w->wanted[clf_node_operand(w->p->g, n, k)] = 1;
    }
    for (int32_t j = 0; j < part->n; j++)
        for (int k = 0; k < w->p->g->node[part->node[j]].nin; k++) w->wanted[clf_node_operand(w->p->g, part->node[j], k)] = 0;
    return st;
}

static clf_status check_part(const checking *w, int32_t i, clf_err *err) {
    const clf_part *part = &w->c->part[i];
    if (part->n < 1 || part->device >= w->p->dev.n) return bad(err, "no part", i, -1);
    if (!part->loop && !clf_problem_alone_on(w->p, part->node[0], part->device))
        return bad(err, "stands alone where loops run", i, part->node[0]);
    if (part->layout == CLF_LAYOUT_CELLS && part->driver >= 0) return bad(err, "visits entries of what was converted", i, part->driver);
    clf_cover_enter(w->c, i);
    if (!part->loop && (part->n != 1 || !(w->p->is[part->node[0]] & CLF_CAN_ALONE) || !clf_cover_stores(w->c, i, part->node[0])))
        return bad(err, "cannot stand alone", i, part->node[0]);
    for (int32_t j = 0; j < part->n; j++)
        for (int k = 0; k < w->p->g->node[part->node[j]].nin; k++) CLF_TRY(check_operand(w, i, part->node[j], k, err));
    CLF_TRY(check_use(w, i, err));
    return part->loop ? check_loop(w, i, err) : CLF_OK;
}

clf_status clf_cover_check(const clf_problem *p, clf_cover *c, clf_arena *scratch, clf_err *err) {
    size_t n = (size_t)p->g->n;
    checking w = {.p = p,
                  .c = c,
                  .mark = clf_arena_new(scratch, n, 1),
                  .wanted = clf_arena_new(scratch, n, 1),
                  .up = clf_arena_new(scratch, n, sizeof *w.up),
                  .owner = clf_arena_new(scratch, n, sizeof *w.owner)};
    if (!w.mark || !w.wanted || !w.up || !w.owner) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    for (int32_t i = 0; i < c->npart; i++) CLF_TRY(check_part(&w, i, err));
    for (int32_t r = 0; r < p->g->nroot; r++)
        if (!(p->is[p->g->root[r]] & CLF_IS_SLOT) && c->maker[p->g->root[r]] < 0)
            return bad(err, "a result is not stored", -1, p->g->root[r]);
    return CLF_OK;
}
