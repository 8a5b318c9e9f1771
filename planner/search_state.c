/* SPDX-License-Identifier: Apache-2.0
 * What is decided so far, one option of one node more, and one less; and the bound.
 *
 * The bound of a class of loops: what its parts cost (clf_cost_both of moved and computed) summed; or, if that is more, what all of it would
 * cost as one loop, with what must still be moved and computed in any case. What is sure to come: the
 * computing of every undecided node, once; the writing of those that are results or must be read from memory; the reading of what must come
 * from memory by more parts of the class; beside that, the launching of more of them, and what it takes that several parts have the same
 * value (search_levels.c). One node of each class, the dear one, is computed by a loop that goes one way or another, and pays for that
 * what no part has paid before. Or, if that is more, every part to come that reads a sparse leaf visits its entries, or passes them; a part
 * that stands may be the one, so its own entries count only where it has read such a leaf. Whatever of it goes into parts that stand hides
 * behind their slack at best; and clf_cost_both of sums is never more than the sum of it. So the bound never exceeds the cost of a
 * completed cover. */
#include <string.h>

#include "planner/searching.h"

/* Part o is read from on some device: it is waited for once, if that is another. */
static void wait_for(clf_component *c, clf_opened *o, int64_t on) {
    if (on == o->device || o->waited) return;
    clf_put(c, &o->waited, 1);
    clf_put_more(c, &c->transfers, c->p->wait[o->device]);
}

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

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
    clf_put_in(c, &c->part[from].needs, (int)on);
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

/* What ties node n of part o to others of it. */
static clf_bits ties_in(const clf_component *c, const clf_opened *o, int32_t n) {
    clf_bits mine = c->node[n].ties;
    for (int w = 0; w < CLF_BITS_WORDS; w++) mine.w[w] |= c->node[n].takes.w[w] & o->has.w[w];
    return mine;
}

/* The nodes of a word that are tied to those before; they leave it. */
static bool take_tied(const clf_component *c, const clf_opened *o, int w, clf_bits *left, clf_bits *ties) {
    bool any = false;
    for (uint64_t look = left->w[w]; look; look &= look - 1) {
        int32_t n = 64 * w + __builtin_ctzll(look);
        clf_bits mine = ties_in(c, o, n);
        if (!clf_bits_meet(&mine, ties)) continue;
        left->w[w] &= ~(look & -look);
        for (int v = 0; v < CLF_BITS_WORDS; v++) ties->w[v] |= mine.w[v];
        any = true;
    }
    return any;
}

bool clf_connected(const clf_component *c, const clf_opened *o) {
    clf_bits left = o->has, ties;
    int first = 0;
    while (first < CLF_BITS_WORDS && !left.w[first]) first++;
    if (first == CLF_BITS_WORDS) return true;
    ties = ties_in(c, o, 64 * first + __builtin_ctzll(left.w[first]));
    left.w[first] &= left.w[first] - 1;
    for (bool more = true; more;) {
        uint64_t apart = 0;
        more = false;
        for (int w = first; w < CLF_BITS_WORDS; w++) {
            more = take_tied(c, o, w, &left, &ties) || more;
            apart |= left.w[w];
        }
        if (!apart) return true;
    }
    return false;
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
    return n + (f->is & CLF_CAN_LOOP ? c->p->dev.n : 0) + (f->is & CLF_CAN_ALONE ? clf_problem_alone_count(c->p, f->id) : 0);
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
    clf_put(c, &c->npart, p + 1);
    int kind = loop ? CLF_STEP_FUSED : c->p->g->node[f->id].op == CLF_OP_MATMUL ? CLF_STEP_LIBRARY : CLF_STEP_CALLOUT;
    bool twin = c->p->nsparse && kind == CLF_STEP_CALLOUT;
    clf_put_more(c, &c->launches, twin ? 0 : clf_cost_launch(c->p->dev.profile[device], kind));
    clf_group *g = &c->group[f->group];
    if (loop && g->parts < g->least) clf_put_more(c, &c->rest_launches, -1);
    if (loop) clf_put_more(c, &g->parts, 1);
    return p;
}

/* The part that maker number k names: one that computes q already, one that takes it in, or a new one. -1: none does. */
static int64_t make_maker(clf_component *c, int32_t q, const clf_view *v, uint32_t mask, int32_t k) {
    int devices = c->p->dev.n, flags = c->node[q].is;
    for (int i = 0; i < v->n; i++)
        if ((mask >> i & 1) && k-- == 0) return v->part[i];
    int64_t open = c->npart;
    for (int64_t p = 0; p < open && (flags & CLF_CAN_LOOP); p++)
        if (joins(c, p, q) && k-- == 0) return clf_part_compute(c, &c->part[p], q) ? p : -1;
    bool loop = (flags & CLF_CAN_LOOP) && k < devices;
    int64_t p = open_part(c, q, loop, loop ? k : clf_problem_alone_at(c->p, c->node[q].id, flags & CLF_CAN_LOOP ? k - devices : k));
    return clf_part_compute(c, &c->part[p], q) ? p : -1;
}

/* q is stored by part m and read by those in `read`. */
static bool store_in(clf_component *c, int32_t q, int64_t m, const clf_bits *readers) {
    const clf_node_facts *f = &c->node[q];
    clf_opened *o = &c->part[m];
    clf_put(c, &c->maker[q], m);
    clf_part_store(c, o, q);
    for (int64_t p = 0; p < c->npart; p++) {
        bool reads = clf_bits_has(readers, (int)p);
        if (!reads && !clf_bits_meet(&c->part[p].has, &f->beyond)) continue;
        if (!make_depend(c, p, m)) return false;
        if (!reads) continue;
        clf_part_carry(c, q, o->device, c->part[p].device);
        wait_for(c, o, c->part[p].device);
    }
    if (f->root) clf_part_carry(c, q, o->device, 0);
    if (f->root) wait_for(c, o, 0);
    return o->operands <= c->p->lim->kernel_inputs;
}

static void no_more_rest(clf_component *c, int32_t q) {
    const clf_node_facts *f = &c->node[q];
    if (f->optional) return;
    if (!(f->is & CLF_CAN_LOOP)) {
        clf_put_more(c, &c->row[c->nclass].rest_moved, -f->least_alone);
        return;
    }
    struct clf_row *r = &c->row[f->class_];
    if (c->dear[f->class_] == q) clf_put(c, &r->dear, 0);
    clf_put_more(c, &r->rest_computed, -f->least_compute);
    for (int32_t u = 0; u < f->nuse; u++) clf_stream_paid(c, f, &f->use[u]);
    clf_put_more(c, &c->rest_again, -f->least_again);
    if (f->demanded || f->stored) clf_put_more(c, &r->rest_moved, -f->least_write);
    for (int32_t i = 0; i < f->nshare; i++) clf_pair_changes(c, &c->pair[f->share[i].pair], 0, -f->share[i].slack);
}

bool clf_decide(clf_component *c, int32_t q, const clf_view *v, uint32_t mask, int32_t maker) {
    bool stored = c->node[q].demanded || v->read || bits(mask) < v->n;
    clf_bits readers = v->readers;
    no_more_rest(c, q);
    for (int i = 0; i < v->n; i++) {
        if (mask >> i & 1) {
            if (!clf_part_compute(c, &c->part[v->part[i]], q)) return false;
            continue;
        }
        clf_bits_add(&readers, v->part[i]);
        clf_part_read(c, &c->part[v->part[i]], q);
    }
    if (stored) {
        int64_t m = make_maker(c, q, v, mask, maker);
        if (m < 0 || clf_bits_has(&readers, (int)m) || !store_in(c, q, m, &readers)) return false;
    }
    int64_t *left = &c->group[c->node[q].group].undecided;
    clf_put_more(c, left, -1);
    return *left || group_whole(c, c->node[q].group);
}

clf_ps clf_dear_computed(const clf_component *c, int32_t n, int32_t i) {
    const clf_ps *entries = clf_bits_has(&c->places, n) ? c->way_entries : c->way_sums;
    clf_ps apart = c->node[n].apart[i % c->p->dev.n];
    return clf_ps_add(clf_ps_add(c->node[n].way_compute[i], apart), entries[i]) - c->node[n].loop;
}

clf_ps clf_dear_moved(const clf_component *c, int32_t n, int32_t i) {
    const clf_node_facts *f = &c->node[n];
    clf_ps sum = 0;
    for (int32_t u = 0; u < f->nuse; u++) {
        const clf_use *x = &f->use[u];
        int at = c->pair_at[(int64_t)x->local * c->nclass + f->class_];
        bool first = at && c->pair[at - 1].least && !c->pair[at - 1].parts && !x->inside && x->in_loop && !x->part_of_it;
        clf_ps ps =
            c->p->nsparse ? x->ps[i] : c->operand[x->local].read[i % c->p->dev.n]; /* over all cells, again is another's (streamed) */
        if (first && ps > c->pair[at - 1].once) sum = clf_ps_add(sum, ps - c->pair[at - 1].once);
    }
    return sum;
}

enum { ROUNDED = 8 }; /* terms below that are rounded up by a picosecond where they should be rounded down */

/* All of a class as if it were one loop: what stands, and what is to come; the dear node, if it is to come, costs so much beyond its least. */
static clf_ps as_one_loop(const clf_component *c, const struct clf_row *r, clf_ps moved, clf_ps computed) {
    const clf_profile *dev = c->hides;
    clf_ps m = clf_ps_add(r->moved + clf_never_hidden(dev, r->plain), clf_ps_add(moved, clf_never_hidden(dev, computed)));
    clf_ps k = clf_ps_add(r->plain + clf_never_hidden(dev, r->moved), clf_ps_add(computed, clf_never_hidden(dev, moved)));
    m = clf_ps_add(larger(m, r->as_moved), r->rest_moved + clf_never_hidden(dev, r->rest_computed));
    k = clf_ps_add(larger(k, r->as_computed), r->rest_computed + clf_never_hidden(dev, r->rest_moved));
    return larger(m, k) - ROUNDED;
}

/* The same where entries are visited for a leaf that is read, now or by parts to come. */
static clf_ps by_leaves(const clf_component *c, const struct clf_row *r) {
    const clf_profile *dev = c->hides;
    clf_ps to_come = r->rest_moved + r->rest_visits;
    clf_ps m = r->by_leaf_moved + to_come + clf_never_hidden(dev, r->rest_computed);
    clf_ps k = r->by_leaf_computed + r->rest_computed + clf_never_hidden(dev, to_come);
    return larger(m, k) - ROUNDED;
}

static clf_ps whole_class(const clf_component *c, int32_t k) {
    const struct clf_row *r = &c->row[k];
    clf_ps least = CLF_PS_MOST;
    if (!r->dear) return as_one_loop(c, r, 0, 0);
    for (int32_t i = 0; i < c->nway * c->p->dev.n; i++) {
        clf_ps ps = as_one_loop(c, r, clf_dear_moved(c, c->dear[k], i), clf_dear_computed(c, c->dear[k], i));
        if (ps < least) least = ps;
    }
    return least;
}

clf_ps clf_bound(const clf_component *c) {
    const struct clf_row *alone = &c->row[c->nclass];
    clf_ps sum = c->launches + c->rest_launches * c->least_launch + c->transfers + c->rest_again + alone->both + alone->rest_moved;
    for (int32_t k = 0; k < c->nclass; k++) {
        const struct clf_row *r = &c->row[k];
        bool rest = r->rest_moved || r->rest_computed || r->dear;
        clf_ps least = rest ? larger(r->both, whole_class(c, k)) : r->both; /* no less than both of the sums */
        sum += r->rest_visits ? larger(least, by_leaves(c, r)) : least;
    }
    return sum;
}
