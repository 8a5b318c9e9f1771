/* SPDX-License-Identifier: Apache-2.0
 * What is decided so far, one option of one node more, and one less; and the bound.
 *
 * The bound of a class of loops: what its parts cost (clf_cost_both of moved and computed) summed; or, if that is more, clf_cost_both of
 * all they move and what must still be moved in any case, and all they compute and what must still be computed. What is sure to come: the
 * computing of every undecided node, once; the writing of those that are results or must be read from memory; the reading of what must come
 * from memory by more parts of the class; beside that, the launching of more of them, and what it takes that several parts have the same
 * value (search_levels.c). Whatever of it goes into parts that stand hides behind their slack at best; and clf_cost_both of sums is never
 * more than the sum of it. So the bound never exceeds the cost of a completed cover. */
#include <string.h>

#include "planner/searching.h"

/* ---- the trail ---- */

static bool longer_trail(clf_component *c) {
    int32_t cap = c->cap ? 2 * c->cap : 1024;
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

static inline void put_num(clf_component *c, int64_t *at, int64_t v) { put(c, (uint64_t *)at, (uint64_t)v); }

void clf_undo(clf_component *c, int32_t top) {
    while (c->top > top) {
        c->top--;
        *c->trail[c->top].at = c->trail[c->top].was;
    }
}

static inline void more(clf_component *c, int64_t *at, int64_t by) {
    if (by) put_num(c, at, *at + by);
}

static inline void put_in(clf_component *c, clf_bits *s, int i) {
    if (!clf_bits_has(s, i)) put(c, &s->w[i >> 6], s->w[i >> 6] | 1ull << (i & 63));
}

/* ---- parts ---- */

static struct clf_row *row_of(clf_component *c, const clf_opened *o) { return &c->row[o->loop ? o->class_ : c->nclass]; }

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

static void charge(clf_component *c, clf_opened *o, int64_t moved, int64_t computed) {
    struct clf_row *r = row_of(c, o);
    const clf_profile *dev = c->p->dev.profile[o->device];
    int64_t was = clf_cost_both(dev, o->moved, o->computed);
    more(c, &o->moved, moved);
    more(c, &o->computed, computed);
    more(c, &r->both, clf_cost_both(dev, o->moved, o->computed) - was);
    more(c, &r->moved, moved);
    more(c, &r->computed, computed);
}

/* Local q goes from one device to another, through the host's memory, once. */
static void carry(clf_component *c, int32_t q, int64_t from, int64_t to) {
    if (from == to || clf_bits_has(&c->present[to], q)) return;
    put_in(c, &c->present[to], q);
    more(c, &c->transfers, c->operand[q].transfer[from] + c->operand[q].transfer[to]);
}

/* Part o is read from on some device: it is waited for once, if that is another. */
static void wait_for(clf_component *c, clf_opened *o, int64_t on) {
    if (on == o->device || o->waited) return;
    put_num(c, &o->waited, 1);
    more(c, &c->transfers, c->p->wait[o->device]);
}

static void pair_changes(clf_component *c, clf_pair *p, int64_t parts, clf_ps slack) {
    more(c, &p->parts, parts);
    more(c, &p->slack, slack);
    clf_ps rest = clf_pair_rest(p);
    more(c, &c->row[p->class_].rest_moved, rest - p->rest);
    more(c, &p->rest, rest - p->rest);
}

/* Part o reads all of local l: once for all its nodes. */
static void pay(clf_component *c, clf_opened *o, int32_t l) {
    int at = o->class_ < 0 ? 0 : c->pair_at[(int64_t)l * c->nclass + o->class_];
    put_in(c, &o->paid, l);
    charge(c, o, c->operand[l].read[o->device], 0);
    if (at && (o->loop || c->pair[at - 1].alone)) pair_changes(c, &c->pair[at - 1], 1, 0);
}

/* Part o reads local l. */
static void read_in(clf_component *c, clf_opened *o, int32_t l, bool whole) {
    if (whole && !clf_bits_has(&o->paid, l)) pay(c, o, l);
    if (clf_bits_has(&o->reads, l)) return;
    put_in(c, &o->reads, l);
    more(c, &o->operands, 1);
    if (l >= c->n) carry(c, l, 0, o->device);
}

static void stream_again(clf_component *c, clf_opened *o, const clf_use *u) {
    if (!u->again[o->device] || clf_bits_has(&o->again, u->local)) return;
    put_in(c, &o->again, u->local);
    charge(c, o, u->again[o->device], 0);
}

/* Part o, which could take q from inside, reads it. */
static void read_from_memory(clf_component *c, clf_opened *o, int32_t q) {
    read_in(c, o, q, true);
    for (int32_t n = 0; n < q; n++)
        for (int32_t u = 0; u < c->node[n].nuse && clf_bits_has(&o->has, n); u++)
            if (c->node[n].use[u].local == q) stream_again(c, o, &c->node[n].use[u]);
}

/* Node q is computed by part o. */
static bool compute_in(clf_component *c, clf_opened *o, int32_t q) {
    const clf_node_facts *f = &c->node[q];
    put_in(c, &o->has, q);
    more(c, &o->ops, 1);
    more(c, &o->operands, f->immediates);
    charge(c, o, 0, o->loop ? f->compute[o->device] : f->alone[o->device]);
    for (int32_t u = 0; u < f->nuse; u++) {
        const clf_use *x = &f->use[u];
        if (o->loop ? !x->in_loop || x->inside : !x->alone) continue;
        read_in(c, o, x->local, !x->part_of_it);
        if (o->loop) stream_again(c, o, x);
    }
    return o->ops <= c->p->lim->kernel_ops && o->operands <= c->p->lim->kernel_inputs;
}

/* Does part `from` depend on part `on`, directly or through others? */
static bool depends(const clf_component *c, int64_t from, int64_t on) {
    clf_bits seen, wave;
    memset(&seen, 0, sizeof seen);
    wave = c->part[from].needs;
    while (!clf_bits_has(&wave, (int)on)) {
        clf_bits next;
        memset(&next, 0, sizeof next);
        bool any = false;
        for (int64_t p = 0; p < c->npart; p++) {
            if (!clf_bits_has(&wave, (int)p) || clf_bits_has(&seen, (int)p)) continue;
            clf_bits_add(&seen, (int)p);
            for (int w = 0; w < CLF_BITS_WORDS; w++) next.w[w] |= c->part[p].needs.w[w];
            any = true;
        }
        if (!any) return false;
        wave = next;
    }
    return true;
}

static bool make_depend(clf_component *c, int64_t from, int64_t on) {
    if (from == on || depends(c, on, from)) return false;
    put_in(c, &c->part[from].needs, (int)on);
    return true;
}

/* ---- options ---- */

void clf_look(const clf_component *c, int32_t q, clf_view *v) {
    v->n = 0;
    v->read = v->more = false;
    memset(&v->readers, 0, sizeof v->readers);
    for (int64_t p = 0; p < c->npart; p++) {
        const clf_opened *o = &c->part[p];
        if (clf_bits_has(&o->reads, q)) {
            v->read = true;
            clf_bits_add(&v->readers, (int)p);
            continue;
        }
        if (!o->loop || !clf_bits_meet(&o->has, &c->node[q].consumers)) continue;
        if (v->n < CLF_MOST_CANDIDATES)
            v->part[v->n++] = (int32_t)p;
        else
            v->more = true;
    }
}

static bool joins(const clf_component *c, int64_t p, int32_t q) {
    const clf_opened *o = &c->part[p];
    const clf_node_facts *f = &c->node[q];
    return o->loop && o->group == f->group && !clf_bits_has(&o->reads, q) && !clf_bits_meet(&o->has, &f->consumers);
}

bool clf_connected(const clf_component *c, const clf_opened *o) {
    clf_bits in, ties;
    bool more = true;
    memset(&in, 0, sizeof in);
    memset(&ties, 0, sizeof ties);
    for (bool first = true; more; first = false) {
        more = false;
        for (int32_t n = 0; n < c->n; n++) {
            clf_bits mine = c->node[n].ties;
            if (!clf_bits_has(&o->has, n) || clf_bits_has(&in, n)) continue;
            for (int w = 0; w < CLF_BITS_WORDS; w++) mine.w[w] |= c->node[n].takes.w[w] & o->has.w[w];
            if (!(first && !more) && !clf_bits_meet(&mine, &ties)) continue;
            clf_bits_add(&in, n);
            for (int w = 0; w < CLF_BITS_WORDS; w++) ties.w[w] |= mine.w[w];
            more = true;
        }
    }
    return !memcmp(&in, &o->has, sizeof in);
}

/* Nothing is left that could connect the group's parts: are they whole? */
static bool group_whole(const clf_component *c, int32_t group) {
    for (int64_t p = 0; p < c->npart; p++)
        if (c->part[p].loop && c->part[p].group == group && !clf_connected(c, &c->part[p])) return false;
    return true;
}

static int bits(uint32_t m) {
    int n = 0;
    for (; m; m &= m - 1) n++;
    return n;
}

int32_t clf_makers(const clf_component *c, int32_t q, const clf_view *v, uint32_t mask) {
    const clf_node_facts *f = &c->node[q];
    if (!f->demanded && !v->read && bits(mask) == v->n) return v->n > 0 || f->optional;
    int32_t n = bits(mask);
    if (f->is & CLF_CAN_LOOP)
        for (int64_t p = 0; p < c->npart; p++) n += joins(c, p, q);
    return n + (f->is & CLF_CAN_LOOP ? c->p->dev.n : 0) + (f->is & CLF_CAN_ALONE ? c->p->nall : 0);
}

static int64_t open_part(clf_component *c, int32_t q, bool loop, int device) {
    const clf_node_facts *f = &c->node[q];
    int64_t p = c->npart;
    clf_opened *o = &c->part[p];
    memset(o, 0, sizeof *o); /* nobody looks at parts behind npart: taking back needs no trail */
    o->loop = loop;
    o->device = device;
    o->class_ = f->class_;
    o->group = f->group;
    put_num(c, &c->npart, p + 1);
    int kind = loop ? CLF_STEP_FUSED : c->p->g->node[f->id].op == CLF_OP_MATMUL ? CLF_STEP_LIBRARY : CLF_STEP_CALLOUT;
    bool twin = c->p->nsparse && kind == CLF_STEP_CALLOUT;
    more(c, &c->launches, twin ? 0 : clf_cost_launch(c->p->dev.profile[device], kind));
    clf_group *g = &c->group[f->group];
    if (loop && g->parts < g->least) more(c, &c->rest_launches, -1);
    if (loop) more(c, &g->parts, 1);
    return p;
}

/* The part that maker number k names: one that computes q already, one that takes it in, or a new one. -1: none does. */
static int64_t make_maker(clf_component *c, int32_t q, const clf_view *v, uint32_t mask, int32_t k) {
    int devices = c->p->dev.n, flags = c->node[q].is;
    for (int i = 0; i < v->n; i++)
        if ((mask >> i & 1) && k-- == 0) return v->part[i];
    int64_t open = c->npart;
    for (int64_t p = 0; p < open && (flags & CLF_CAN_LOOP); p++)
        if (joins(c, p, q) && k-- == 0) return compute_in(c, &c->part[p], q) ? p : -1;
    bool loop = (flags & CLF_CAN_LOOP) && k < devices;
    int64_t p = open_part(c, q, loop, loop ? k : c->p->all[flags & CLF_CAN_LOOP ? k - devices : k]);
    return compute_in(c, &c->part[p], q) ? p : -1;
}

/* q is stored by part m and read by those in `read`. */
static bool store_in(clf_component *c, int32_t q, int64_t m, const clf_bits *readers) {
    const clf_node_facts *f = &c->node[q];
    clf_opened *o = &c->part[m];
    put_num(c, &c->maker[q], m);
    more(c, &o->operands, 1);
    charge(c, o, f->write[o->loop][o->device], 0);
    for (int64_t p = 0; p < c->npart; p++) {
        bool reads = clf_bits_has(readers, (int)p);
        if (!reads && !clf_bits_meet(&c->part[p].has, &f->beyond)) continue;
        if (!make_depend(c, p, m)) return false;
        if (!reads) continue;
        carry(c, q, o->device, c->part[p].device);
        wait_for(c, o, c->part[p].device);
    }
    if (f->root) carry(c, q, o->device, 0);
    if (f->root) wait_for(c, o, 0);
    return o->operands <= c->p->lim->kernel_inputs;
}

static void no_more_rest(clf_component *c, int32_t q) {
    const clf_node_facts *f = &c->node[q];
    if (f->optional) return;
    if (!(f->is & CLF_CAN_LOOP)) {
        more(c, &c->row[c->nclass].rest_moved, -f->least_alone);
        return;
    }
    struct clf_row *r = &c->row[f->class_];
    more(c, &r->rest_computed, -f->least_compute);
    more(c, &r->rest_moved, -f->least_moved);
    more(c, &c->rest_again, -f->least_again);
    if (f->demanded || f->stored) more(c, &r->rest_moved, -f->least_write);
    for (int32_t i = 0; i < f->nshare; i++) pair_changes(c, &c->pair[f->share[i].pair], 0, -f->share[i].slack);
}

bool clf_decide(clf_component *c, int32_t q, const clf_view *v, uint32_t mask, int32_t maker) {
    bool stored = c->node[q].demanded || v->read || bits(mask) < v->n;
    clf_bits readers = v->readers;
    no_more_rest(c, q);
    for (int i = 0; i < v->n; i++) {
        if (mask >> i & 1) {
            if (!compute_in(c, &c->part[v->part[i]], q)) return false;
            continue;
        }
        clf_bits_add(&readers, v->part[i]);
        read_from_memory(c, &c->part[v->part[i]], q);
    }
    if (stored) {
        int64_t m = make_maker(c, q, v, mask, maker);
        if (m < 0 || clf_bits_has(&readers, (int)m) || !store_in(c, q, m, &readers)) return false;
    }
    int64_t *left = &c->group[c->node[q].group].undecided;
    more(c, left, -1);
    return *left || group_whole(c, c->node[q].group);
}

/* What clf_cost_both gives on any of the devices, or more: the sum over parts is never less than it is for their sums. */
static clf_ps both_at_least(const clf_component *c, clf_ps moved, clf_ps computed) {
    clf_ps least = CLF_PS_MOST;
    for (int d = 0; d < c->p->dev.n; d++) {
        clf_ps b = clf_cost_both(c->p->dev.profile[d], moved, computed) - 1; /* rounded up once rather than never */
        if (b < least) least = b;
    }
    return least;
}

clf_ps clf_bound(const clf_component *c) {
    const struct clf_row *alone = &c->row[c->nclass];
    clf_ps sum = c->launches + c->rest_launches * c->least_launch + c->transfers + c->rest_again + alone->both + alone->rest_moved;
    for (int32_t k = 0; k < c->nclass; k++) {
        const struct clf_row *r = &c->row[k];
        if (!r->rest_moved && !r->rest_computed) {
            sum += r->both; /* no less than both of the sums */
            continue;
        }
        sum += larger(r->both, both_at_least(c, r->moved + r->rest_moved, r->computed + r->rest_computed));
    }
    return sum;
}
