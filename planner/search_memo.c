/* SPDX-License-Identifier: Apache-2.0
 * What has been searched before need not be searched again: partial covers from which the same can follow.
 *
 * When nodes 0 .. q-1 are decided, the rest sees of a part only: which undecided nodes it could take from inside or reads already, what
 * else it has read that they read, how often, and which products of it may still lose their tiles, whom it may be connected with, which
 * parts it waits for, and its device; and besides, what was brought to which device. Where two partial covers look the same in that, all
 * that can follow one can follow the other; so if one was searched and the other costs no less, whatever follows, nothing cheaper comes of
 * it. Costs are compared part by part for those that may grow: clf_cost_both is the larger of two sums, so by as much as both grow alike
 * their difference never exceeds the larger difference of these.
 *
 * That holds where a cover costs what its decisions are charged: all cells, registers to spare, no ranges; and where no loop can exceed a
 * kernel's limits. Elsewhere nothing is noted, but a loop that nothing can connect any more is given up everywhere. */
#include <stddef.h>
#include <string.h>

#include "planner/searching.h"

enum { MOST_LIVE = 16, BUCKETS = 1 << 9, MOST_BYTES = 1 << 25, BEGIN = 64 /* partial covers before anything is noted */ };

/* A part, as what is undecided sees it. */
typedef struct seen_part {
    clf_bits takes, reads, again, waits, tiles, ties, beyond, has; /* has: of a part that is not connected yet */
    int64_t loop, group, device, waited;
    int64_t moved, computed; /* costs are not compared for likeness */
    int64_t number;
} seen_part;
enum { LIKENESS = offsetof(seen_part, moved) };

typedef struct seen {
    struct seen *next;
    uint64_t hash;
    int32_t q, live;
    clf_ps rest; /* what does not grow */
    clf_bits waits[MOST_LIVE];
    clf_bits present[CLF_MOST_DEVICES];
    seen_part part[]; /* sorted */
} seen;

struct clf_seen_table {
    seen *bucket[BUCKETS];
    size_t bytes;
    clf_bits *read, *ties; /* by undecided nodes from q on: locals; ties of those of q's group */
    union {
        seen s;
        max_align_t align;
        unsigned char room[sizeof(seen) + MOST_LIVE * sizeof(seen_part)];
    } now;
};

static void unite(clf_bits *to, const clf_bits *more) {
    for (int w = 0; w < CLF_BITS_WORDS; w++) to->w[w] |= more->w[w];
}

static void intersect(clf_bits *to, const clf_bits *with) {
    for (int w = 0; w < CLF_BITS_WORDS; w++) to->w[w] &= with->w[w];
}

static bool empty(const clf_bits *s) {
    uint64_t any = 0;
    for (int w = 0; w < CLF_BITS_WORDS; w++) any |= s->w[w];
    return !any;
}

/* ---- where it holds ---- */

/* No loop of the group can exceed a kernel's limits, though all of it be stored. */
static bool group_fits(clf_component *c, int32_t group) {
    int32_t n = 0;
    for (int32_t q = c->n; q-- > 0;)
        if (c->node[q].group == group) c->ids[n++] = c->node[q].id;
    return n == 0 || clf_problem_limit(c->p, c->ids, n, n, c->mark) == CLF_NREASONS;
}

static bool holds(clf_component *c) {
    bool plain = !c->p->nsparse;
    for (int d = 0; d < c->p->dev.n; d++)
        plain = plain && !(c->p->dev.profile[d]->registers > 0) && !(c->p->dev.profile[d]->unit_groups > 0);
    for (int32_t n = 0; n < c->n && plain; n++) {
        for (int32_t u = 0; u < c->node[n].nuse; u++) plain = plain && !c->node[n].use[u].part_of_it;
        plain = plain && group_fits(c, n);
    }
    return plain;
}

static bool begin(clf_component *c) {
    struct clf_seen_table *t = clf_arena_new(c->arena, 1, sizeof *t);
    if (!t) return false;
    t->read = clf_arena_new(c->arena, (size_t)c->n + 1, sizeof *t->read);
    t->ties = clf_arena_new(c->arena, (size_t)c->n + 1, sizeof *t->ties);
    if (!t->read || !t->ties) return false;
    for (int32_t q = c->n; q-- > 0;) {
        int32_t next = q + 1;
        while (next < c->n && c->node[next].group != c->node[q].group) next++;
        t->read[q] = t->read[q + 1];
        t->ties[q] = t->ties[next];
        unite(&t->ties[q], &c->node[q].ties);
        clf_bits_add(&t->read[q], q);
        for (int32_t u = 0; u < c->node[q].nuse; u++) clf_bits_add(&t->read[q], c->node[q].use[u].local);
    }
    c->seen = t;
    return true;
}

/* Is it worth looking? */
static bool looking(clf_component *c) {
    if (c->seen || c->plans < BEGIN || c->opt->unbounded) return c->seen != NULL;
    c->failed = c->failed || !begin(c);
    c->notes = c->seen && holds(c);
    return c->seen != NULL;
}

void clf_seen_nothing(clf_component *c) { c->seen = NULL; }

/* ---- a partial cover as the rest sees it ---- */

/* What is undecided from q on of a set of nodes. */
static void only_from(clf_bits *s, int32_t q) {
    for (int w = 0; w < q >> 6; w++) s->w[w] = 0;
    s->w[q >> 6] &= ~0ull << (q & 63);
}

/* What ties undecided nodes of the part's group. */
static clf_bits ties_to_come(const clf_component *c, const clf_opened *o, int32_t q) {
    while (q < c->n && c->node[q].group != o->group) q++;
    return c->seen->ties[q];
}

/* The nodes of the part that ties connect with node n of it, out of `left`. */
static void take_connected(const clf_component *c, const clf_opened *o, int32_t n, clf_bits *left, clf_bits *ties, clf_bits *takes) {
    memset(ties, 0, sizeof *ties);
    memset(takes, 0, sizeof *takes);
    for (int32_t first = n; n < c->n; n++) {
        clf_bits mine = c->node[n].takes;
        intersect(&mine, &o->has);
        unite(&mine, &c->node[n].ties);
        if (!clf_bits_has(left, n) || (n != first && !clf_bits_meet(&mine, ties))) continue;
        left->w[n >> 6] &= ~(1ull << (n & 63));
        unite(ties, &mine);
        unite(takes, &c->node[n].takes);
        n = first; /* those before it may be connected now */
    }
}

/* Is something of the loop connected with the rest of it neither now nor by anything to come? */
static bool falls_apart(const clf_component *c, const clf_opened *o, int32_t q) {
    clf_bits left = o->has, come = ties_to_come(c, o, q), ties, takes;
    for (int32_t n = 0; n < q; n++) {
        if (!clf_bits_has(&left, n)) continue;
        take_connected(c, o, n, &left, &ties, &takes);
        only_from(&takes, q);
        if (!clf_bits_meet(&ties, &come) && empty(&takes)) return true;
    }
    return false;
}

static void look_at_nodes(const clf_component *c, const clf_opened *o, int32_t q, seen_part *s) {
    for (int32_t n = 0; n < q; n++) {
        if (!clf_bits_has(&o->has, n)) continue;
        unite(&s->ties, &c->node[n].ties);
        unite(&s->takes, &c->node[n].takes);
    }
    for (int32_t r = q; r < c->n; r++)
        if (clf_bits_meet(&o->has, &c->node[r].beyond)) clf_bits_add(&s->beyond, r);
}

/* How often a loop that grows has read what undecided nodes read. */
static void look_at_streams(const clf_component *c, const clf_opened *o, int32_t q, seen_part *s) {
    clf_bits both = o->paid;
    intersect(&both, &c->seen->read[q]);
    for (int32_t l = 0; l < c->nlocal; l++) {
        int streams = clf_bits_has(&both, l) ? clf_part_streams(c, o, l) : 0;
        if (streams > 0) clf_bits_add(&s->again, l);
        if (streams > 1) clf_bits_add(&s->waits, l);
    }
    clf_tiles_to_come(c, o, q, &s->tiles);
}

/* False: nothing that is undecided has to do with it. */
static bool look_at_part(const clf_component *c, int64_t p, int32_t q, seen_part *s) {
    const clf_opened *o = &c->part[p];
    const struct clf_seen_table *t = c->seen;
    bool grows;
    memset(s, 0, sizeof *s);
    look_at_nodes(c, o, q, s);
    only_from(&s->takes, q);
    clf_bits come = ties_to_come(c, o, q);
    intersect(&s->ties, &come);
    s->reads = o->reads;
    intersect(&s->reads, &t->read[q]);
    grows = o->loop && (!empty(&s->ties) || !empty(&s->takes));
    if (o->loop && !clf_connected(c, o)) s->has = o->has;
    grows = grows || !empty(&s->has);
    if (!grows) {
        memset(&s->takes, 0, sizeof s->takes);
        memset(&s->ties, 0, sizeof s->ties);
        clf_bits nodes = s->reads;
        for (int32_t l = c->n; l < c->nlocal; l++) nodes.w[l >> 6] &= ~(1ull << (l & 63));
        only_from(&nodes, q);
        s->reads = nodes;
    } else if (o->loop) {
        look_at_streams(c, o, q, s);
    }
    s->loop = grows ? 1 + o->loop : 0;
    s->group = grows ? o->group : 0;
    s->device = grows || !empty(&s->reads) ? 1 + o->device : 0;
    s->waited = grows ? o->waited : 0;
    s->moved = grows ? o->moved : 0;
    s->computed = grows ? o->computed : 0;
    s->number = p;
    return grows || !empty(&s->reads) || !empty(&s->beyond);
}

/* On which parts p waits, directly or through others. */
static clf_bits waits_for(const clf_component *c, int64_t p) {
    clf_bits all = c->part[p].needs, done;
    memset(&done, 0, sizeof done);
    for (bool more = true; more;) {
        more = false;
        for (int64_t i = 0; i < c->npart; i++) {
            if (!clf_bits_has(&all, (int)i) || clf_bits_has(&done, (int)i)) continue;
            clf_bits_add(&done, (int)i);
            unite(&all, &c->part[i].needs);
            more = true;
        }
    }
    return all;
}

static void sort_in(seen_part *part, int32_t n) {
    seen_part s = part[n];
    for (; n > 0 && memcmp(&part[n - 1], &s, LIKENESS) > 0; n--) part[n] = part[n - 1];
    part[n] = s;
}

static const clf_profile *device_of(const clf_component *c, const seen_part *s) { return c->p->dev.profile[s->device ? s->device - 1 : 0]; }

/* Of what is outside, where it is, if bringing it there costs anything. */
static void look_at_devices(const clf_component *c, int32_t q, seen *s) {
    for (int32_t l = c->n; l < c->nlocal; l++)
        for (int d = 1; d < c->p->dev.n; d++)
            if (clf_bits_has(&c->present[d], l) && clf_bits_has(&c->seen->read[q], l) && c->operand[l].transfer[d])
                clf_bits_add(&s->present[d], l);
}

/* Can nothing legal follow? */
static bool hopeless(const clf_component *c, int32_t q) {
    for (int64_t p = 0; p < c->npart; p++)
        if (c->part[p].loop && !clf_connected(c, &c->part[p]) && falls_apart(c, &c->part[p], q)) return true;
    return false;
}

/* False: too many parts to look at. */
static bool look_at(clf_component *c, int32_t q) {
    seen *s = &c->seen->now.s;
    memset(s, 0, sizeof *s);
    s->q = q;
    s->rest = c->launches + c->transfers;
    look_at_devices(c, q, s);
    for (int32_t k = 0; k <= c->nclass; k++) s->rest += c->row[k].both;
    for (int64_t p = 0; p < c->npart; p++) {
        if (!look_at_part(c, p, q, &s->part[s->live])) continue;
        s->rest -= clf_cost_both(device_of(c, &s->part[s->live]), s->part[s->live].moved, s->part[s->live].computed);
        sort_in(s->part, s->live++);
        if (s->live == MOST_LIVE) return false;
    }
    for (int32_t i = 0; i < s->live; i++) {
        clf_bits all = waits_for(c, s->part[i].number);
        for (int32_t k = 0; k < s->live; k++)
            if (clf_bits_has(&all, (int)s->part[k].number)) clf_bits_add(&s->waits[i], k);
    }
    s->hash = clf_hash64(s->waits, (size_t)s->live * sizeof *s->waits, (uint64_t)q);
    if (c->p->dev.n > 1) s->hash = clf_hash64(s->present, sizeof s->present, s->hash);
    for (int32_t i = 0; i < s->live; i++) s->hash = clf_hash64(&s->part[i], LIKENESS, s->hash);
    return true;
}

/* ---- compared ---- */

static bool alike(const seen *a, const seen *b) {
    if (a->hash != b->hash || a->q != b->q || a->live != b->live) return false;
    for (int32_t i = 0; i < a->live; i++)
        if (memcmp(&a->part[i], &b->part[i], LIKENESS) != 0) return false;
    return !memcmp(a->waits, b->waits, (size_t)a->live * sizeof *a->waits) && !memcmp(a->present, b->present, sizeof a->present);
}

/* The part of it that counts though it overlaps with more, rounded up. */
static clf_ps hidden_not(const clf_profile *dev, clf_ps ps) {
    clf_ps size = ps < 0 ? -ps : ps, part = clf_cost_both(dev, size, size) - size;
    return ps < 0 && part > 0 ? (part == size ? -part : 1 - part) : part;
}

/* By how much a may cost more than b at most when both have grown alike. clf_cost_both(m, c) is the larger of m + kc and c + km, rounded
 * up, for a k in 0 .. 1. */
static clf_ps dearer_at_most(const clf_profile *dev, const seen_part *a, const seen_part *b) {
    clf_ps moved = a->moved - b->moved, computed = a->computed - b->computed;
    clf_ps x = moved + hidden_not(dev, computed), y = computed + hidden_not(dev, moved);
    bool rounded = hidden_not(dev, 2) == 1; /* neither all of it overlaps nor nothing */
    return (x > y ? x : y) + rounded;
}

/* Whatever follows, is a no dearer than b? */
static bool no_dearer(const clf_component *c, const seen *a, const seen *b) {
    clf_ps more = a->rest - b->rest;
    for (int32_t i = 0; i < a->live; i++) more += dearer_at_most(device_of(c, &a->part[i]), &a->part[i], &b->part[i]);
    return more <= 0;
}

static void note(clf_component *c, seen **at) {
    struct clf_seen_table *t = c->seen;
    size_t bytes = sizeof(seen) + (size_t)t->now.s.live * sizeof(seen_part);
    if (t->bytes + bytes > MOST_BYTES) return;
    seen *s = clf_arena_new(c->arena, 1, bytes);
    c->failed = c->failed || !s;
    if (!s) return;
    t->bytes += bytes;
    memcpy(s, &t->now.s, bytes);
    s->next = *at;
    *at = s;
}

bool clf_seen_before(clf_component *c, int32_t q) {
    if (!looking(c)) return false;
    if (hopeless(c, q)) return true;
    if (!c->notes || !look_at(c, q)) return false;
    const seen *now = &c->seen->now.s;
    seen **at = &c->seen->bucket[now->hash % BUCKETS];
    for (const seen *s = *at; s; s = s->next)
        if (alike(s, now) && no_dearer(c, s, now)) return true;
    note(c, at);
    return false;
}
