/* SPDX-License-Identifier: Apache-2.0
 * Every assignment of a component's choices, and the cover that follows from it. Parts that wait for each other in a circle, and parts
 * that no kind of operator allows, are given up as soon as they arise; nothing is given up for its cost. See choices.h. */
#include <string.h>

#include "tests/support/choices.h"

static bool has(uint64_t set, int i) { return set >> i & 1; }

/* A part as far as it is decided. */
typedef struct open_part {
    brute_ops node, out, reads;
    uint32_t before; /* parts that must run before it */
    bool loop;
} open_part;

typedef struct state {
    int n;
    open_part part[BRUTE_FACTS];
} state;

typedef struct walk {
    choices *c;
    brute_ops component;
    int64_t most;
    choices_best best;
} walk;

/* ---- a whole assignment ---- */

static bool legal(walk *w, const open_part *p) {
    if (!p->loop) return true;
    const choices_loop *l = choices_loop_of(w->c, p->node);
    bool one = !(p->node & (p->node - 1));
    return l->legal && (one || l->arguments + __builtin_popcount(p->out) <= w->c->b->lim.kernel_inputs);
}

static void finish(walk *w, const state *s) {
    choices_cover v;
    int64_t devices = 1;
    clf_ps cost = 0;
    v.n = s->n;
    bool good = true;
    for (int i = 0; i < s->n && good; i++) {
        v.part[i] = (brute_part){s->part[i].node, s->part[i].out, s->part[i].loop, 0};
        good = legal(w, &s->part[i]);
    }
    for (int i = 0; i < s->n && good && w->c->b->ndevice == 1; i++) cost = clf_ps_add(cost, choices_part_price(w->c, &v.part[i], 0));
    if (good && w->c->b->ndevice > 1) cost = choices_place(w->c, &v, &devices);
    w->best.assignments += devices;
    w->best.covers += good ? devices : 0;
    if (!good || cost >= w->best.cost) return;
    w->best.cost = cost;
    w->best.cover.n = v.n;
    memcpy(w->best.cover.part, v.part, (size_t)v.n * sizeof *v.part);
}

/* ---- one operator ---- */

static int next_operator(const walk *w, int q) {
    while (--q >= 0 && !has(w->component, q)) {
    }
    return q;
}

/* Part m stores q for the parts that read it. False: they wait for each other. */
static bool store(const walk *w, state *s, int q, int m, uint32_t readers) {
    s->part[m].out |= (brute_ops)1 << q;
    for (int r = 0; r < s->n; r++) {
        if (!has(readers, r) && !(s->part[r].node & w->c->beyond[q])) continue;
        if (r == m || has(s->part[m].before, r)) return false;
        uint32_t before = s->part[m].before | UINT32_C(1) << m;
        for (int x = 0; x < s->n; x++)
            if (x == r || has(s->part[x].before, r)) s->part[x].before |= before;
    }
    return true;
}

static void copy(state *to, const state *from) {
    to->n = from->n;
    memcpy(to->part, from->part, (size_t)from->n * sizeof *from->part);
}

/* NOLINTBEGIN(misc-no-recursion): as deep as there are operators */
static void decide(walk *w, const state *s, int q);

static void stored_by(walk *w, const state *s, int q, int m, uint32_t readers) {
    state next;
    copy(&next, s);
    if (store(w, &next, q, m, readers)) decide(w, &next, next_operator(w, q));
}

static void compute(const walk *w, open_part *p, int q) {
    p->node |= (brute_ops)1 << q;
    p->reads |= w->c->always[q];
}

static void opened(walk *w, const state *s, int q, bool loop, uint32_t readers) {
    state next;
    copy(&next, s);
    open_part *p = &next.part[next.n++];
    *p = (open_part){.loop = loop};
    compute(w, p, q);
    if (!loop) p->reads = w->c->b->op[q].operands.ops;
    stored_by(w, &next, q, next.n - 1, readers);
}

/* TAP, JOIN, ALONE: q is stored by one of the parts that compute it, or by none of them. */
static void choose_maker(walk *w, const state *s, int q, uint32_t fused, uint32_t takes, uint32_t readers) {
    for (int i = 0; i < s->n; i++)
        if (has(fused, i)) stored_by(w, s, q, i, readers);
    for (int i = 0; i < s->n && w->c->class_[q] >= 0; i++) {
        state next;
        const open_part *p = &s->part[i];
        if (!p->loop || has(takes | readers, i) || w->c->class_[__builtin_ctz(p->node)] != w->c->class_[q]) continue;
        copy(&next, s);
        compute(w, &next.part[i], q);
        stored_by(w, &next, q, i, readers);
    }
    if (w->c->class_[q] >= 0) opened(w, s, q, true, readers);
    if (w->c->b->op[q].alone) opened(w, s, q, false, readers);
}

/* EDGE: those in `fused` of the parts that may take q from inside do, the others read it. */
static void fuse(walk *w, const state *s, int q, uint32_t fused, uint32_t takes, uint32_t readers) {
    state next;
    copy(&next, s);
    for (int i = 0; i < s->n; i++) {
        if (has(fused, i)) compute(w, &next.part[i], q);
        if (has(readers, i)) next.part[i].reads |= (brute_ops)1 << q;
    }
    if (readers || has(w->c->demanded, q))
        choose_maker(w, &next, q, fused, takes, readers);
    else
        decide(w, &next, next_operator(w, q));
}

static void decide(walk *w, const state *s, int q) {
    uint32_t takes = 0, readers = 0;
    if (w->best.assignments >= w->most) return;
    if (q < 0) {
        finish(w, s);
        return;
    }
    for (int i = 0; i < s->n; i++) {
        bool reads = has(s->part[i].reads, q);
        readers |= reads ? UINT32_C(1) << i : 0;
        takes |= !reads && s->part[i].loop && (s->part[i].node & w->c->takers[q]) ? UINT32_C(1) << i : 0;
    }
    for (uint32_t fused = takes;; fused = (fused - 1) & takes) {
        fuse(w, s, q, fused, takes, readers | (takes & ~fused));
        if (!fused) return;
    }
}
/* NOLINTEND(misc-no-recursion) */

choices_best choices_minimum(choices *c, int k, int64_t most) {
    walk w = {.c = c, .component = c->component[k], .most = most, .best = {.cost = CLF_PS_MOST}};
    state none = {.n = 0};
    decide(&w, &none, next_operator(&w, c->b->nop));
    w.best.whole = w.best.assignments < most;
    return w.best;
}
