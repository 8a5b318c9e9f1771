/* SPDX-License-Identifier: Apache-2.0
 * Covers of one component: whether they are legal, what they cost, and on which devices they cost least. See choices.h. */
#include <inttypes.h>

#include "tests/support/choices.h"

static bool has(uint64_t set, int i) { return set >> i & 1; }

static int bits(uint64_t set) { return __builtin_popcountll(set); }

/* ---- parts ---- */

static bool part_legal(choices *c, const brute_part *p) {
    if (!p->loop) return p->node == p->out && bits(p->node) == 1 && c->b->op[__builtin_ctz(p->node)].alone;
    const choices_loop *l = choices_loop_of(c, p->node);
    bool stores = p->out && !(p->out & ~p->node) && !(l->sinks & ~p->out);
    return l->legal && stores && (bits(p->node) == 1 || l->arguments + bits(p->out) <= c->b->lim.kernel_inputs);
}

brute_reads choices_reads(choices *c, const brute_part *p) {
    return p->loop ? choices_loop_of(c, p->node)->reads : c->b->op[__builtin_ctz(p->node)].operands;
}

clf_ps choices_part_price(choices *c, const brute_part *p, int device) {
    const brute *b = c->b;
    if (!p->loop) return b->op[__builtin_ctz(p->node)].alone_ps[device];
    const choices_loop *l = choices_loop_of(c, p->node);
    clf_ps moved = l->reads_ps[device];
    for (brute_ops left = p->out; left; left &= left - 1) moved = clf_ps_add(moved, b->op[__builtin_ctz(left)].write[device]);
    clf_ps computed = l->compute_ps[device];
    for (brute_ops left = brute_twice(b, p); left; left &= left - 1)
        computed = clf_ps_add(computed, b->op[__builtin_ctz(left)].loop_ps[device]);
    clf_ps both = clf_cost_both(b->device[device], moved, clf_cost_kept(b->device[device], computed, l->kept));
    for (brute_ops left = p->node; left; left &= left - 1) both = clf_ps_add(both, b->op[__builtin_ctz(left)].apart_ps[device]);
    for (brute_ops left = brute_twice(b, p); left; left &= left - 1) both = clf_ps_add(both, b->op[__builtin_ctz(left)].apart_ps[device]);
    return clf_ps_add(b->launch[device], brute_filled(b, p->node, both, device));
}

/* ---- legality ---- */

/* Does part p wait for operator q: reads it, or computes what depends on it through another component? */
static bool waits(choices *c, const brute_part *p, int q) { return has(choices_reads(c, p).ops, q) || (p->node & c->beyond[q]); }

static bool ready(choices *c, int k, const brute_part *p, brute_ops done) {
    for (brute_ops left = c->component[k] & ~done; left; left &= left - 1)
        if (waits(c, p, __builtin_ctz(left))) return false;
    return true;
}

static bool ordered(choices *c, int k, const choices_cover *v, brute_ops stored) {
    brute_ops done = ~stored;
    for (int round = 0; round < v->n; round++)
        for (int i = 0; i < v->n; i++)
            if ((v->part[i].out & ~done) && ready(c, k, &v->part[i], done)) done |= v->part[i].out;
    return !(stored & ~done);
}

const char *choices_illegal(choices *c, int k, const choices_cover *v) {
    brute_ops stored = 0, read = c->demanded & c->component[k];
    for (int i = 0; i < v->n; i++) {
        const brute_part *p = &v->part[i];
        if (p->node & ~c->component[k]) return "a part of two components";
        if (!part_legal(c, p)) return "a part is none";
        if (stored & p->out) return "an operator is stored twice";
        stored |= p->out;
        read |= choices_reads(c, p).ops & c->component[k];
    }
    if (read & ~stored) return "something read, or a result, is not stored";
    if (stored & ~read) return "something is stored that nobody reads";
    return ordered(c, k, v, stored) ? NULL : "no order of the parts";
}

/* ---- transfers ---- */

/* From one device to another: over the host's memory, which is device 0's. */
static clf_ps way(const clf_ps *move, int from, int to) {
    if (from == to) return 0;
    return clf_ps_add(from ? move[from] : 0, to ? move[to] : 0);
}

/* What is where, and what has been paid, with some parts placed. */
typedef struct placed {
    clf_ps sum;
    brute_ops made, at[BRUTE_DEVICES]; /* at: wanted there */
    brute_ops waited;                  /* made by parts that somebody waits for */
    brute_slots slots[BRUTE_DEVICES];
    uint8_t maker[BRUTE_FACTS];    /* its device */
    brute_ops beside[BRUTE_FACTS]; /* what its part stores, itself as well */
} placed;

static void add(placed *s, clf_ps price) { s->sum = clf_ps_add(s->sum, price); }

/* Another device, or the caller, reads q: its part is waited for, once. */
static void wait_for(const choices *c, placed *s, int q) {
    if (!has(s->waited, q)) add(s, c->b->wait[s->maker[q]]);
    s->waited |= s->beside[q];
}

/* Operator q, made where s says, wanted on device d. */
static void bring(const choices *c, placed *s, int q, int d) {
    if (s->maker[q] == d) return;
    add(s, way(c->b->op[q].move, s->maker[q], d));
    wait_for(c, s, q);
}

static void place_part(const choices *c, placed *s, const brute_part *p, const brute_reads *r, clf_ps price, int d) {
    const brute *b = c->b;
    add(s, price);
    for (brute_slots left = d ? r->slots & ~s->slots[d] : 0; left; left &= left - 1) add(s, b->slot[__builtin_ctz(left)].move[d]);
    for (brute_ops left = r->ops & ~s->at[d] & s->made; left; left &= left - 1) bring(c, s, __builtin_ctz(left), d);
    s->slots[d] |= r->slots;
    s->at[d] |= r->ops;
    for (brute_ops left = p->out; left; left &= left - 1) {
        int q = __builtin_ctz(left);
        s->maker[q] = (uint8_t)d;
        s->beside[q] = p->out;
        for (int e = 0; e < b->ndevice; e++)
            if (has(s->at[e], q)) bring(c, s, q, e);
    }
    s->made |= p->out;
}

static placed none_placed(const choices *c) { return (placed){.at = {c->b->must}}; }

clf_ps choices_price(choices *c, const choices_cover *v) {
    placed s = none_placed(c);
    for (int i = 0; i < v->n; i++) {
        brute_reads r = choices_reads(c, &v->part[i]);
        place_part(c, &s, &v->part[i], &r, choices_part_price(c, &v->part[i], v->part[i].device), v->part[i].device);
    }
    return s.sum;
}

/* ---- all devices ---- */

typedef struct placing {
    choices *c;
    choices_cover *v;
    brute_reads reads[BRUTE_FACTS];
    clf_ps price[BRUTE_FACTS][BRUTE_DEVICES], least;
    uint8_t now[BRUTE_FACTS], best[BRUTE_FACTS];
    int64_t tried;
} placing;

/* NOLINTNEXTLINE(misc-no-recursion): as deep as there are parts */
static void place_from(placing *x, const placed *before, int i) {
    for (int d = 0; d < x->c->b->ndevice; d++) {
        placed s = *before;
        x->now[i] = (uint8_t)d;
        place_part(x->c, &s, &x->v->part[i], &x->reads[i], x->price[i][d], d);
        if (i + 1 < x->v->n) {
            place_from(x, &s, i + 1);
            continue;
        }
        x->tried++;
        if (s.sum >= x->least) continue;
        x->least = s.sum;
        for (int k = 0; k < x->v->n; k++) x->best[k] = x->now[k];
    }
}

clf_ps choices_place(choices *c, choices_cover *v, int64_t *tried) {
    placing x = {.c = c, .v = v, .least = CLF_PS_MOST};
    placed none = none_placed(c);
    for (int i = 0; i < v->n; i++) {
        x.reads[i] = choices_reads(c, &v->part[i]);
        for (int d = 0; d < c->b->ndevice; d++) x.price[i][d] = choices_part_price(c, &v->part[i], d);
    }
    place_from(&x, &none, 0);
    for (int i = 0; i < v->n; i++) v->part[i].device = x.best[i];
    *tried = x.tried;
    return x.least;
}

/* ---- for people ---- */

static void print_ops(const brute *b, const char *what, brute_ops set) {
    printf(" (%s", what);
    for (; set; set &= set - 1) printf(" %%%d", b->op[__builtin_ctz(set)].node);
    printf(")");
}

void choices_print(choices *c, const choices_cover *v) {
    for (int i = 0; i < v->n; i++) {
        const brute_part *p = &v->part[i];
        printf("      (%s device %d", p->loop ? "loop" : "alone", p->device);
        print_ops(c->b, "reads", choices_reads(c, p).ops);
        print_ops(c->b, "computes", p->node);
        print_ops(c->b, "stores", p->out);
        printf(" costs %" PRId64 ")\n", choices_part_price(c, p, p->device));
    }
}
