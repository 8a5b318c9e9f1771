/* SPDX-License-Identifier: Apache-2.0
 * What a cover costs, and on which devices it costs least: every assignment, part by part, dropped when what it costs already is no
 * less than the best (terms are never negative). Each value moves once to each device where it is read; results move to device 0. A part
 * that another device, or the caller on device 0, reads from is waited for, once. See brute.h. */
#include <string.h>

#include "tests/support/brute.h"

/* Of so many groups that run at once when nothing is in their way, how many do, on average over all waves: the rest is time. */
clf_ps brute_filled(const brute *b, brute_ops set, clf_ps ps, int d) {
    const clf_profile *dev = b->device[d];
    int64_t cells = 0, sums = 0;
    if (dev->kind != CLF_DEV_GPU || dev->unit_groups < 1) return ps;
    for (int i = 0; i < b->nop; i++) {
        int op = b->g->node[b->op[i].node].op;
        int64_t space[2];
        if (!(set >> i & 1)) continue;
        clf_node_space(b->g, b->op[i].node, space);
        if (space[0] * space[1] > cells) cells = space[0] * space[1];
        for (int k = 0; k < 2 && op == CLF_OP_MATMUL; k++) { /* rows of a side are gone through, not those of the result */
            const clf_gnode *side = &b->g->node[b->g->node[b->op[i].node].in[k]];
            if (clf_rows(side) * clf_cols(side) > cells) cells = clf_rows(side) * clf_cols(side);
        }
        sums += op == CLF_OP_FOLD || op == CLF_OP_MATMUL;
    }
    if (!cells) return ps;
    int64_t groups = (cells + (int64_t)dev->group_cells - 1) / (int64_t)dev->group_cells, held = (int64_t)dev->unit_groups;
    while (held > 1 && dev->unit_local_bytes > 0 && (double)(held * sums) * dev->group_sum_bytes > dev->unit_local_bytes) held--;
    int64_t at_once = held * dev->cores, waves = (groups + at_once - 1) / at_once;
    double running = (double)groups / ((double)(waves * dev->cores) * dev->unit_groups);
    if (running >= 1) return ps;
    double all = (double)ps / running;
    if (all >= (double)CLF_PS_MOST) return CLF_PS_MOST;
    return (clf_ps)all + ((double)(clf_ps)all < all);
}

clf_ps brute_part_price(const brute *b, const brute_part *p, int d) {
    if (!p->loop) {
        for (int i = 0; i < b->nop; i++)
            if (p->node == 1u << i) return b->op[i].alone_ps[d];
        return CLF_PS_MOST;
    }
    const brute_set *s = &b->set[p->node];
    clf_ps moved = s->reads_ps[d];
    for (int i = 0; i < b->nop; i++)
        if (p->out >> i & 1) moved = clf_ps_add(moved, b->op[i].write[d]);
    clf_ps computed = s->compute_ps[d];
    brute_ops twice = brute_twice(b, p);
    for (int i = 0; i < b->nop; i++)
        if (twice >> i & 1) computed = clf_ps_add(computed, b->op[i].loop_ps[d]);
    clf_ps both = clf_cost_both(b->device[d], moved, clf_cost_kept(b->device[d], computed, s->kept));
    for (int i = 0; i < b->nop; i++)
        for (int times = (p->node >> i & 1) + (twice >> i & 1); times > 0; times--) both = clf_ps_add(both, b->op[i].apart_ps[d]);
    return clf_ps_add(b->launch[d], brute_filled(b, p->node, both, d));
}

/* From device a to device c: over the host's memory, which is device 0's. */
static clf_ps moves(const clf_ps *move, int a, int c) {
    if (a == c) return 0;
    return clf_ps_add(a ? move[a] : 0, c ? move[c] : 0);
}

static bool waited_for(const brute *b, const brute_cover *c, int part) {
    if (c->part[part].device && (b->roots & c->part[part].out)) return true;
    for (int i = 0; i < c->n; i++)
        if (c->part[i].device != c->part[part].device && (brute_part_reads(b, &c->part[i]).ops & c->part[part].out)) return true;
    return false;
}

clf_ps brute_price(const brute *b, const brute_cover *c) {
    brute_ops at[BRUTE_DEVICES] = {b->roots};
    brute_slots slots[BRUTE_DEVICES] = {0};
    clf_ps sum = 0;
    for (int i = 0; i < c->n; i++) {
        const brute_part *p = &c->part[i];
        brute_reads r = brute_part_reads(b, p);
        sum = clf_ps_add(sum, brute_part_price(b, p, p->device));
        if (waited_for(b, c, i)) sum = clf_ps_add(sum, b->wait[p->device]);
        at[p->device] |= r.ops;
        slots[p->device] |= r.slots;
    }
    for (int d = 0; d < b->ndevice; d++) {
        for (int i = 0; i < c->n; i++)
            for (int k = 0; k < b->nop; k++)
                if (c->part[i].out & at[d] & 1u << k) sum = clf_ps_add(sum, moves(b->op[k].move, c->part[i].device, d));
        for (int k = 0; k < b->nslot; k++)
            if (slots[d] >> k & 1) sum = clf_ps_add(sum, moves(b->slot[k].move, 0, d));
    }
    return sum;
}

/* ---- the best devices ---- */

typedef struct placing {
    const brute *b;
    brute_cover *c;
    clf_ps part[BRUTE_OPS][BRUTE_DEVICES], least[BRUTE_OPS + 1]; /* least[i]: of parts i.. together, without transfers */
    brute_reads reads[BRUTE_OPS];
    clf_ps below;
    int best[BRUTE_OPS];
} placing;

/* What is where after some parts have their devices. */
typedef struct placed {
    brute_ops made, wanted[BRUTE_DEVICES];
    brute_slots slots[BRUTE_DEVICES];
    int maker[BRUTE_OPS];
    bool waited[BRUTE_OPS]; /* parts */
    clf_ps sum;
} placed;

static void add_wait(const placing *s, placed *now, int part) {
    if (!now->waited[part]) now->sum = clf_ps_add(now->sum, s->b->wait[s->c->part[part].device]);
    now->waited[part] = true;
}

/* Part i, the last, against those before and the caller: who is waited for now? */
static void add_waits(const placing *s, placed *now, int i) {
    const brute_part *part = s->c->part;
    if (part[i].device && (s->b->roots & part[i].out)) add_wait(s, now, i);
    for (int k = 0; k < i; k++) {
        if (part[k].device == part[i].device) continue;
        if (part[k].out & s->reads[i].ops) add_wait(s, now, k);
        if (part[i].out & s->reads[k].ops) add_wait(s, now, i);
    }
}

/* NOLINTBEGIN(misc-no-recursion): as deep as there are parts */
static void place_from(placing *s, const placed *before, int i) {
    const brute *b = s->b;
    if (clf_ps_add(before->sum, s->least[i]) >= s->below) return;
    if (i == s->c->n) {
        s->below = before->sum;
        for (int k = 0; k < s->c->n; k++) s->best[k] = s->c->part[k].device;
        return;
    }
    brute_part *p = &s->c->part[i];
    for (p->device = 0; p->device < b->ndevice; p->device++) {
        placed now = *before;
        int d = p->device;
        now.sum = clf_ps_add(now.sum, s->part[i][d]);
        for (int k = 0; k < b->nslot; k++)
            if (s->reads[i].slots & ~now.slots[d] & 1u << k) now.sum = clf_ps_add(now.sum, moves(b->slot[k].move, 0, d));
        for (int k = 0; k < b->nop; k++) {
            if (s->reads[i].ops & ~now.wanted[d] & now.made & 1u << k) now.sum = clf_ps_add(now.sum, moves(b->op[k].move, now.maker[k], d));
            if (!(p->out >> k & 1)) continue;
            now.maker[k] = d;
            for (int e = 0; e < b->ndevice; e++)
                if (now.wanted[e] >> k & 1) now.sum = clf_ps_add(now.sum, moves(b->op[k].move, d, e));
        }
        now.made |= p->out;
        now.wanted[d] |= s->reads[i].ops;
        now.slots[d] |= s->reads[i].slots;
        add_waits(s, &now, i);
        place_from(s, &now, i + 1);
    }
}
/* NOLINTEND(misc-no-recursion) */

clf_ps brute_place(const brute *b, brute_cover *c, clf_ps below) {
    placing s = {.b = b, .c = c, .below = below};
    placed none = {.wanted = {b->roots}};
    for (int i = c->n; i-- > 0;) {
        clf_ps least = CLF_PS_MOST;
        for (int d = 0; d < b->ndevice; d++) {
            s.part[i][d] = brute_part_price(b, &c->part[i], d);
            least = s.part[i][d] < least ? s.part[i][d] : least;
        }
        s.reads[i] = brute_part_reads(b, &c->part[i]);
        s.least[i] = clf_ps_add(s.least[i + 1], least);
    }
    place_from(&s, &none, 0);
    for (int i = 0; i < c->n; i++) c->part[i].device = s.best[i];
    return s.below;
}

/* ---- the best cover ---- */

typedef struct finding {
    const brute *b;
    brute_best best;
} finding;

static bool compare(void *user, const brute_cover *c) {
    finding *f = user;
    brute_cover mine = *c;
    clf_ps cost = brute_place(f->b, &mine, f->best.cost);
    if (cost < f->best.cost) f->best.cover = mine;
    f->best.cost = cost;
    return true;
}

static brute_best find(const brute *b, int64_t (*walk)(const brute *, brute_visit *, void *)) {
    finding f = {.b = b, .best = {.cost = CLF_PS_MOST}};
    f.best.covers = walk(b, compare, &f);
    return f.best;
}

brute_best brute_minimum(const brute *b) { return find(b, brute_walk); }
brute_best brute_minimum_edges(const brute *b) { return find(b, brute_walk_edges); }
