/* SPDX-License-Identifier: Apache-2.0
 * What it takes at least that several parts have the same value.
 *
 * What a chain of nodes (search_levels.c) takes from inside is in as many parts as the chain is long: computed again, or stored and read.
 * To compute it again takes what it is made of in one more part, which is computed again, too, or read. And a loop that waits for a value,
 * yet is made from it by edges inside as well, computes it once more, or reads something on the way.
 *
 * Each of that is paid by one part for one node, and no node is counted for two values; nor are those whose readers pairs count. It is
 * sure to come until the first of those nodes is decided. */
#include <string.h>

#include "planner/searching.h"

/* What more moving or computing adds to the cost of loops at least, on any device, though all of it may overlap with the other. */
static clf_ps in_any_case(const clf_component *c, clf_ps more) {
    clf_ps least = CLF_PS_MOST, ps;
    for (int d = 0; d < c->p->dev.n; d++)
        if ((ps = clf_cost_both(c->p->dev.profile[d], more, more) - more) < least) least = ps;
    return least;
}

/* To store n, if that is counted nowhere else; a step alone does in any case. */
static clf_ps store_it(const clf_node_facts *f) { return f->demanded || f->stored || (f->is & CLF_CAN_ALONE) ? 0 : f->least_write; }

/* To have n in one more part by reading it. */
static clf_ps read_it(const clf_component *c, int32_t n) { return clf_ps_add(c->operand[n].least, store_it(&c->node[n])); }

/* What a loop that computes n takes from inside or reads, nothing counting that elsewhere: the dearest; -1: nothing. */
static int32_t taken_by(const clf_component *c, int32_t n, const uint8_t *counted) {
    const clf_node_facts *f = &c->node[n];
    int32_t most = -1;
    for (int32_t u = 0; u < f->nuse && !(f->is & CLF_CAN_ALONE); u++) {
        int32_t l = f->use[u].local;
        if (!f->use[u].inside || counted[l] || c->node[l].optional || c->pair_at[(int64_t)l * c->nclass + f->class_]) continue;
        if (most < 0 || read_it(c, l) > read_it(c, most)) most = l;
    }
    return most;
}

/* To compute q once more: with what it takes computed once more, too, and so on, or read somewhere. A node on the way is counted once. */
static clf_ps once_more(const clf_component *c, int32_t q, uint8_t *counted) {
    clf_ps sum = c->node[q].least_compute, least = CLF_PS_MOST;
    for (int32_t n = q; sum < least;) {
        n = taken_by(c, n, counted);
        if (n < 0) break;
        counted[n] = 1;
        clf_ps ends = clf_ps_add(sum, read_it(c, n));
        least = ends < least ? ends : least;
        sum = clf_ps_add(sum, c->node[n].least_compute);
    }
    return sum < least ? sum : least;
}

/* Parts that have q, so many at least: one computes it, the others do so again, or it is stored and they, or some, read it. */
static clf_ps have(const clf_component *c, const clf_node_facts *f, int32_t q, int64_t parts, uint8_t *counted) {
    clf_ps again = once_more(c, q, counted), store = store_it(f), read = c->operand[q].least;
    clf_ps all_again = (parts - 1) * again, all_read = store + (parts - 1) * read, one_reads = store + read + (parts - 2) * again;
    clf_ps least = all_again < all_read ? all_again : all_read;
    clf_ps ps = in_any_case(c, least < one_reads ? least : one_reads) - parts; /* each part rounds */
    return ps > 0 ? ps : 0;
}

/* Of the loops that take q from inside, how many must be different ones. */
static int64_t parts_with(const clf_component *c, clf_waiting *w, int32_t q) {
    const clf_node_facts *f = &c->node[q];
    clf_bits in;
    if (f->stored || f->optional || !(f->is & CLF_CAN_LOOP)) return 0; /* stored: who reads it is counted */
    memset(&in, 0, sizeof in);
    for (int32_t n = 0; n < q; n++)
        if (clf_bits_has(&f->consumers, n) && !(c->node[n].is & CLF_CAN_ALONE) && !c->node[n].optional) clf_bits_add(&in, n);
    return clf_longest_chain(c, w, &in);
}

/* ---- values on the way ---- */

/* From a value towards a loop that waits for it: what getting there costs at least, and from which operand; -1: from none. */
typedef struct way {
    clf_ps least;
    int32_t from;
} way;

static bool free_to_count(const clf_component *c, int32_t n, const uint8_t *counted) {
    const clf_node_facts *f = &c->node[n];
    return (f->is & CLF_CAN_LOOP) && !f->optional && !counted[n] && !c->pair_at[(int64_t)n * c->nclass + f->class_];
}

/* What a loop that computes n takes from inside, and does not have for less: the dearest. */
static way way_to(const clf_component *c, int32_t n, const way *at) {
    const clf_node_facts *f = &c->node[n];
    way most = {0, -1};
    for (int32_t u = 0; u < f->nuse; u++)
        if (f->use[u].inside && at[f->use[u].local].least > most.least) most = (way){at[f->use[u].local].least, f->use[u].local};
    return most;
}

/* A loop-only node that waits for q and is made from it by edges inside: its loop computes q once more, or reads something between. The
 * dearest such node; -1: none. */
static int32_t farthest(const clf_component *c, const clf_waiting *w, int32_t q, const uint8_t *counted, way *at, clf_ps *ps) {
    int32_t best = -1;
    clf_ps most = 0, again = c->node[q].least_compute, read = read_it(c, q);
    at[q] = (way){again < read ? again : read, -1};
    for (int32_t n = q; n-- > 0;) {
        const clf_node_facts *f = &c->node[n];
        at[n] = way_to(c, n, at);
        if (at[n].from < 0) continue;
        bool ends = clf_bits_has(&w->waits[n], q) && !(f->is & CLF_CAN_ALONE) && !f->optional;
        if (ends && at[n].least > most) {
            best = n;
            most = at[n].least;
        }
        clf_ps reads = free_to_count(c, n, counted) ? read_it(c, n) : 0;
        if (reads < at[n].least) at[n].least = reads;
    }
    *ps = most;
    return best;
}

/* Counted until the first node between is decided. */
static void find_ways(clf_component *c, const clf_waiting *w, uint8_t *counted, way *at) {
    for (int32_t q = 0; q < c->n; q++) {
        if (!free_to_count(c, q, counted)) continue;
        clf_ps ps;
        int32_t n = farthest(c, w, q, counted, at, &ps);
        ps = in_any_case(c, ps) - 1;
        for (int32_t i = n < 0 ? -1 : at[n].from, first = i; i >= 0 && ps > 0; i = at[i].from) {
            counted[i] = 1;
            if (i == first) c->node[i].least_again += ps;
        }
        for (int32_t i = 0; i <= q; i++) at[i] = (way){0, -1};
    }
}

bool clf_component_again(clf_component *c, clf_waiting *w) {
    uint8_t *counted = clf_arena_new(c->arena, (size_t)c->n, 1);
    int64_t *parts = clf_arena_new(c->arena, (size_t)c->n, sizeof *parts);
    way *at = clf_arena_new(c->arena, (size_t)c->nlocal, sizeof *at);
    if (!counted || !parts || !at) return false;
    for (int32_t q = 0; q < c->n; q++) counted[q] = (parts[q] = parts_with(c, w, q)) > 1;
    for (int32_t q = 0; q < c->n; q++)
        if (parts[q] > 1) c->node[q].least_again = have(c, &c->node[q], q, parts[q], counted);
    find_ways(c, w, counted, at);
    return true;
}
