/* SPDX-License-Identifier: Apache-2.0
 * Every cover: for each set of operators that may be stored, each way to divide it among parts, and for each share each part of the table
 * that stores exactly that. Recursion is as deep as there are operators. See brute.h. */
#include "tests/support/brute.h"

typedef struct walk {
    const brute *b;
    brute_visit *visit;
    void *user;
    brute_ops stored; /* by the cover */
    brute_cover c;
    bool edges;                        /* covers of choices: */
    brute_ops fused[BRUTE_OPS], alone; /* operands fused by each operator; operators in steps of their own */
    int64_t n;
    bool over;
} walk;

static void visit(walk *w) {
    if (brute_illegal(w->b, &w->c)) return;
    w->n++;
    w->over = !w->visit(w->user, &w->c);
}

/* NOLINTBEGIN(misc-no-recursion): as deep as there are operators */
static void divide(walk *w, brute_ops left);

static void put_part(walk *w, const brute_part *p, brute_ops left) {
    if (brute_part_reads(w->b, p).ops & ~w->stored) return;
    w->c.part[w->c.n++] = *p;
    divide(w, (brute_ops)(left & ~p->out));
    w->c.n--;
}

/* What storing `out` computes where operators take what they fuse, in all parts alike. */
static brute_ops closure(const walk *w, brute_ops out) {
    brute_ops set = out, before = 0;
    while (set != before) {
        before = set;
        for (int i = 0; i < w->b->nop; i++) set |= set >> i & 1 ? w->fused[i] : 0;
    }
    return set;
}

static void store(walk *w, brute_ops out, brute_ops left) {
    brute_ops set = w->edges ? closure(w, out) : 0;
    for (int32_t i = w->b->first[out]; i < w->b->first[out + 1] && !w->over; i++) {
        const brute_part *p = &w->b->way[i];
        bool chosen = !w->edges || (p->node == set && p->loop == !(w->alone & out));
        if (chosen) put_part(w, p, left);
    }
}

/* The first operator left goes with any others left. */
static void divide(walk *w, brute_ops left) {
    if (!left) {
        visit(w);
        return;
    }
    brute_ops first = (brute_ops)(left & -left), rest = left ^ first;
    for (brute_ops more = rest;; more = (brute_ops)((more - 1) & rest)) {
        store(w, first | more, left);
        if (!more || w->over) return;
    }
}
/* NOLINTEND(misc-no-recursion) */

int64_t brute_walk(const brute *b, brute_visit *fn, void *user) {
    walk w = {.b = b, .visit = fn, .user = user};
    for (unsigned stored = 0; stored < 1u << b->nop && !w.over; stored++) {
        w.stored = (brute_ops)stored;
        if (!(b->must & ~stored)) divide(&w, w.stored);
    }
    return w.n;
}

/* ---- one choice an edge ---- */

typedef struct edge {
    int reader, read;
} edge;

/* Edges that may be inside a loop; taking a copied expression is no choice. */
static int list_edges(const brute *b, edge *e) {
    int n = 0;
    for (int i = 0; i < b->nop; i++)
        for (int k = 0; k < b->nop; k++)
            if (b->op[i].inside & ~b->op[i].copies & ~b->op[i].outside & 1u << k) e[n++] = (edge){i, k};
    return n;
}

/* What the choices store: results, what somebody reads, and what stands alone. */
static brute_ops stored_by(const walk *w, brute_ops out) {
    brute_ops before = 0;
    while (out != before) {
        before = out;
        brute_ops made = closure(w, out);
        for (int i = 0; i < w->b->nop; i++) {
            const brute_op *o = &w->b->op[i];
            if (!(made >> i & 1)) continue;
            if (w->alone >> i & 1) out |= o->operands.ops;
            if (w->alone >> i & 1) continue;
            out |= (brute_ops)(((o->inside & ~o->copies) | o->outside) & ~w->fused[i]);
            for (int k = 0; k < w->b->nop; k++) out |= o->copies >> k & 1 ? w->b->op[k].cone.ops : 0;
        }
    }
    return out;
}

/* Nothing that stands alone fuses anything, nor is it fused. */
static bool consistent(const walk *w) {
    for (int i = 0; i < w->b->nop; i++)
        if ((w->fused[i] & w->alone) || ((w->alone >> i & 1) && w->fused[i])) return false;
    return true;
}

int64_t brute_walk_edges(const brute *b, brute_visit *fn, void *user) {
    walk w = {.b = b, .visit = fn, .user = user, .edges = true};
    edge e[BRUTE_OPS * BRUTE_OPS];
    int n = list_edges(b, e);
    brute_ops can = 0, only = 0;
    for (int i = 0; i < b->nop; i++) {
        can |= (brute_ops)(b->op[i].alone << i);
        only |= (brute_ops)((b->op[i].alone && !b->op[i].loops) << i);
    }
    for (uint64_t choice = 0; choice < UINT64_C(1) << n && !w.over; choice++) {
        for (int i = 0; i < b->nop; i++) w.fused[i] = 0;
        for (int i = 0; i < n; i++)
            if (choice >> i & 1) w.fused[e[i].reader] |= (brute_ops)(1u << e[i].read);
        for (unsigned alone = 0; alone < 1u << b->nop && !w.over; alone++) {
            if ((alone & ~can) || (only & ~alone)) continue;
            w.alone = (brute_ops)alone;
            if (!consistent(&w)) continue;
            w.stored = stored_by(&w, b->must);
            divide(&w, w.stored);
        }
    }
    return w.n;
}
