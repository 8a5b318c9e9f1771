/* SPDX-License-Identifier: Apache-2.0
 * What a part of a component costs so far, and the trail by which all that changes is taken back.
 *
 * A loop goes one of several ways: over all cells, or, where leaves are sparse, over the entries of a driver. Which one is not known before
 * the cover is complete, so its terms are added up for each, and it costs the least of them; a way that is cheap for one operator may be dear
 * for another. An operand is read once for all who read it, in the dearest way that one of them needs. A loop through a wide product is one
 * in tiles until something is in it that tiles have no place for (search_tiles.c). None of these sums falls when a part grows. */
#include <string.h>

#include "planner/searching.h"

/* ---- the trail ---- */

static bool longer_trail(clf_component *c) {
    int32_t cap = c->cap ? 2 * c->cap : 64;
    clf_cell *t = clf_arena_new(c->arena, (size_t)cap, sizeof *t);
    c->failed = c->failed || !t;
    if (!t) return false;
    if (c->top) memcpy(t, c->trail, (size_t)c->top * sizeof *t);
    c->trail = t;
    c->cap = cap;
    return true;
}

static inline void put(clf_component *c, uint64_t *at, uint64_t value) {
    if (c->top == c->cap && !longer_trail(c)) return;
    c->trail[c->top++] = (clf_cell){at, *at};
    *at = value;
}

void clf_put(clf_component *c, int64_t *at, int64_t v) {
    if (v != *at) put(c, (uint64_t *)at, (uint64_t)v);
}

void clf_put_more(clf_component *c, int64_t *at, int64_t by) { clf_put(c, at, *at + by); }

void clf_put_in(clf_component *c, clf_bits *s, int i) {
    if (!clf_bits_has(s, i)) put(c, &s->w[i >> 6], s->w[i >> 6] | 1ull << (i & 63));
}

void clf_undo(clf_component *c, int32_t top) {
    while (c->top > top) {
        c->top--;
        *c->trail[c->top].at = c->trail[c->top].was;
    }
}

/* ---- what a part costs ---- */

static void least(clf_ps *of, clf_ps ps) {
    if (ps < *of) *of = ps;
}

typedef struct cost {
    clf_ps moved, computed, both, as_moved, as_computed, plain, by_leaf_moved, by_leaf_computed;
} cost;

/* Of a part that goes this way, too. looks: of what is moved, what no computing hides. */
static void take_way(cost *k, const clf_profile *dev, clf_ps moved, clf_ps looks, clf_ps computed) {
    clf_ps as_moved = clf_ps_add(moved, clf_never_hidden(dev, computed)), beside = clf_ps_add(computed, looks);
    clf_ps as_computed = clf_ps_add(beside, clf_never_hidden(dev, moved - looks));
    least(&k->moved, moved);
    least(&k->computed, computed);
    least(&k->both, moved > beside ? as_moved : as_computed); /* clf_cost_both, and looks */
    least(&k->as_moved, as_moved);
    least(&k->as_computed, as_computed);
}

/* The same without the entries of a leaf that it may be charged for later. */
static void take_by_leaf(cost *k, const clf_profile *dev, clf_ps moved, clf_ps looks, clf_ps computed) {
    least(&k->by_leaf_moved, clf_ps_add(moved, clf_never_hidden(dev, computed)));
    least(&k->by_leaf_computed, clf_ps_add(clf_ps_add(computed, looks), clf_never_hidden(dev, moved - looks)));
}

static const cost none = {CLF_PS_MOST, CLF_PS_MOST, CLF_PS_MOST, CLF_PS_MOST, CLF_PS_MOST, CLF_PS_MOST, CLF_PS_MOST, CLF_PS_MOST};

/* Part o costs so much now. */
static void set_cost(clf_component *c, clf_opened *o, const cost *k) {
    struct clf_row *r = &c->row[o->loop ? o->class_ : c->nclass];
    clf_put_more(c, &r->both, k->both - o->both);
    clf_put_more(c, &r->moved, k->moved - o->moved);
    clf_put_more(c, &r->as_moved, k->as_moved - o->as_moved);
    clf_put_more(c, &r->as_computed, k->as_computed - o->as_computed);
    clf_put_more(c, &r->plain, k->plain - o->plain);
    clf_put(c, &o->both, k->both);
    clf_put(c, &o->moved, k->moved);
    clf_put(c, &o->computed, k->computed);
    clf_put(c, &o->as_moved, k->as_moved);
    clf_put(c, &o->as_computed, k->as_computed);
    clf_put(c, &o->plain, k->plain);
    if (!c->p->nsparse) return; /* no leaf has entries */
    clf_put_more(c, &r->by_leaf_moved, k->by_leaf_moved - o->by_leaf_moved);
    clf_put_more(c, &r->by_leaf_computed, k->by_leaf_computed - o->by_leaf_computed);
    clf_put(c, &o->by_leaf_moved, k->by_leaf_moved);
    clf_put(c, &o->by_leaf_computed, k->by_leaf_computed);
}

/* A step alone does so much more. */
static void charge_alone(clf_component *c, clf_opened *o, clf_ps moved, clf_ps computed) {
    cost k = none;
    k.plain = 0;
    k.by_leaf_moved = k.by_leaf_computed = 0;
    take_way(&k, c->p->dev.profile[o->device], clf_ps_add(moved, o->moved), 0, clf_ps_add(computed, o->computed));
    set_cost(c, o, &k);
}

/* What loop o pays to read locals on a way; looks: what of that no computing hides. */
typedef struct readings {
    clf_ps ps, looks;
} readings;

/* Local l: the dearest of its readers counts. */
static readings reading(const clf_component *c, const clf_opened *o, int32_t l, int32_t way, bool tiled) {
    readings most = {0, 0};
    for (int32_t i = c->user_at[l]; i < c->user_at[l + 1]; i++) {
        const clf_node_facts *f = &c->node[c->user[i].node];
        const clf_use *u = &f->use[c->user[i].use];
        const int64_t at = (int64_t)way * c->p->dev.n + o->device;
        if (!clf_bits_has(&o->has, c->user[i].node)) continue;
        bool waits = u->right && f->left >= 0 && clf_bits_has(&o->has, f->left);
        clf_ps ps = !u->right || tiled ? u->ps[at] : waits ? u->waits[o->device] : u->rows[o->device];
        if (ps > most.ps) most.ps = ps;
        if (u->looks[at] > most.looks) most.looks = u->looks[at];
    }
    return most;
}

static readings reading_all(const clf_component *c, const clf_opened *o, int32_t way, bool tiled) {
    readings sum = {0, 0};
    for (int w = 0; w < CLF_BITS_WORDS; w++)
        for (uint64_t left = o->paid.w[w]; left; left &= left - 1) {
            readings one = reading(c, o, 64 * w + __builtin_ctzll(left), way, tiled);
            sum.ps = clf_ps_add(sum.ps, one.ps);
            sum.looks = clf_ps_add(sum.looks, one.looks);
        }
    return sum;
}

/* What loop o computes beyond its share of tiles, as it goes through none. */
static clf_ps without_tiles(const clf_component *c, const clf_opened *o) {
    clf_ps sum = 0;
    for (int32_t n = 0; n < c->n && c->tiles; n++)
        if (c->node[n].wide && clf_bits_has(&o->has, n)) sum = clf_ps_add(sum, c->node[n].untiled[o->device]);
    return sum;
}

int clf_part_streams(const clf_component *c, const clf_opened *o, int32_t l) {
    clf_ps once = c->operand[l].read[o->device], rows = once, now = reading(c, o, l, 0, clf_tiled(c, o)).ps;
    for (int32_t i = c->user_at[l]; i < c->user_at[l + 1]; i++) {
        const clf_use *u = &c->node[c->user[i].node].use[c->user[i].use];
        clf_ps ps = u->right ? u->rows[o->device] : u->ps[o->device];
        if (ps > rows) rows = ps;
    }
    return now > rows ? 2 : now > once;
}

/* Loop o is whole again: the least over its ways. */
static void settle(clf_component *c, clf_opened *o) {
    const clf_profile *dev = c->p->dev.profile[o->device];
    bool tiled = clf_tiled(c, o);
    cost k = none;
    clf_ps more = tiled ? 0 : without_tiles(c, o);
    const clf_ps *entries = clf_bits_meet(&o->has, &c->places) ? c->way_entries : c->way_sums;
    for (int32_t w = 0; w < c->nway; w++) {
        const struct clf_way_sum *s = &o->way[w];
        readings read = reading_all(c, o, w, tiled);
        clf_ps plain = clf_ps_add(s->computed, more);
        least(&k.plain, plain);
        clf_ps moved = clf_ps_add(read.ps, s->written), visited = clf_ps_add(plain, entries[(int64_t)w * c->p->dev.n + o->device]);
        clf_ps looks = clf_ps_add(read.looks, s->looked);
        take_way(&k, dev, moved, looks, visited);
        if (c->p->nsparse) take_by_leaf(&k, dev, moved, looks, clf_bits_meet(&o->paid, &c->way_leaf[w]) ? visited : plain);
    }
    set_cost(c, o, &k);
}

/* ---- reading ---- */

/* Local q goes from one device to another, through the host's memory, once. */
void clf_part_carry(clf_component *c, int32_t q, int64_t from, int64_t to) {
    if (from == to || clf_bits_has(&c->present[to], q)) return;
    clf_put_in(c, &c->present[to], q);
    clf_put_more(c, &c->transfers, c->operand[q].transfer[from] + c->operand[q].transfer[to]);
}

void clf_pair_changes(clf_component *c, clf_pair *p, int64_t parts, clf_ps slack) {
    clf_put_more(c, &p->parts, parts);
    clf_put_more(c, &p->slack, slack);
    clf_ps rest = clf_pair_rest(p);
    clf_put_more(c, &c->row[p->class_].rest_moved, rest - p->rest);
    clf_put(c, &p->rest, rest);
    clf_ps visits = clf_pair_visits(p);
    clf_put_more(c, &c->row[p->class_].rest_visits, visits - p->visits);
    clf_put(c, &p->visits, visits);
}

/* Part o reads all of local l: once for all its nodes. */
static void pay(clf_component *c, clf_opened *o, int32_t l) {
    int at = o->class_ < 0 ? 0 : c->pair_at[(int64_t)l * c->nclass + o->class_];
    clf_put_in(c, &o->paid, l);
    if (!o->loop) charge_alone(c, o, c->operand[l].read[o->device], 0);
    if (at && (o->loop || c->pair[at - 1].alone)) clf_pair_changes(c, &c->pair[at - 1], 1, 0);
}

/* Part o reads local l. */
static void read_in(clf_component *c, clf_opened *o, int32_t l, bool whole) {
    if (whole && !clf_bits_has(&o->paid, l)) pay(c, o, l);
    if (clf_bits_has(&o->reads, l)) return;
    clf_put_in(c, &o->reads, l);
    clf_put_more(c, &o->operands, 1);
    if (l >= c->n) clf_part_carry(c, l, 0, o->device);
}

void clf_part_read(clf_component *c, clf_opened *o, int32_t q) {
    read_in(c, o, q, true);
    if (o->loop) settle(c, o);
}

/* ---- computing and storing ---- */

void clf_stream_paid(clf_component *c, const clf_node_facts *f, clf_use *u) {
    if (!u->streams) return;
    clf_put_more(c, &c->row[f->class_].rest_moved, -u->streams);
    clf_put(c, &u->streams, 0);
}

/* Node n, which a loop computes, streams its operands again: undecided nodes that may join it need not pay for that any more. */
static void pay_streams(clf_component *c, int32_t n) {
    const clf_node_facts *f = &c->node[n];
    for (int32_t u = 0; u < f->nuse; u++) {
        if (!f->use[u].in_loop || f->use[u].inside || !f->use[u].again[0]) continue;
        for (int32_t m = n + 1; m < c->n; m++) {
            clf_node_facts *g = &c->node[m];
            if (g->class_ != f->class_ || clf_bits_has(&c->waits[n], m) || clf_bits_has(&c->waits[m], n)) continue;
            for (int32_t v = 0; v < g->nuse; v++)
                if (g->use[v].local == f->use[u].local) clf_stream_paid(c, g, &g->use[v]);
        }
    }
}

static void compute_in_loop(clf_component *c, clf_opened *o, int32_t q) {
    const clf_node_facts *f = &c->node[q];
    for (int32_t w = 0; w < c->nway; w++)
        clf_put(c, &o->way[w].computed, clf_ps_add(o->way[w].computed, f->way_compute[(int64_t)w * c->p->dev.n + o->device]));
    clf_put(c, &c->launches, clf_ps_add(c->launches, f->apart[o->device]));
    pay_streams(c, q);
    settle(c, o);
}

bool clf_part_compute(clf_component *c, clf_opened *o, int32_t q) {
    const clf_node_facts *f = &c->node[q];
    clf_put_in(c, &o->has, q);
    clf_put_more(c, &o->ops, 1);
    clf_put_more(c, &o->operands, f->immediates);
    for (int32_t u = 0; u < f->nuse; u++) {
        const clf_use *x = &f->use[u];
        if (o->loop ? !x->in_loop || x->inside : !x->alone) continue;
        read_in(c, o, x->local, !x->part_of_it);
    }
    if (o->loop)
        compute_in_loop(c, o, q);
    else
        charge_alone(c, o, 0, f->alone[o->device]);
    return o->ops <= c->p->lim->kernel_ops && o->operands <= c->p->lim->kernel_inputs;
}

void clf_part_store(clf_component *c, clf_opened *o, int32_t q) {
    const clf_node_facts *f = &c->node[q];
    clf_put_in(c, &o->keeps, q);
    clf_put_more(c, &o->operands, 1);
    if (!o->loop) {
        charge_alone(c, o, f->write[0][o->device], 0);
        return;
    }
    for (int32_t w = 0; w < c->nway; w++) {
        clf_put(c, &o->way[w].written, clf_ps_add(o->way[w].written, f->way_write[(int64_t)w * c->p->dev.n + o->device]));
        clf_put(c, &o->way[w].looked, clf_ps_add(o->way[w].looked, f->way_looks[(int64_t)w * c->p->dev.n + o->device]));
    }
    settle(c, o);
}
