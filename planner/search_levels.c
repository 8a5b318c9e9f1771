/* SPDX-License-Identifier: Apache-2.0
 * What every cover of a component has at least, by what must wait for what.
 *
 * Node b waits for node a if b is made from a by way of a value that no loop can hand on: then every part that computes b comes after some
 * part that computes a. Of nodes that wait for each other in a chain, take for each the first part in executable order that computes it:
 * the part of a comes before the part of b, so these parts are different ones. So an operand that all nodes of a chain read is read by as
 * many parts as the chain is long; and as many loops are launched as a chain is long whose nodes only loops compute. What a node must read
 * from memory is stored.
 *
 * A node that may stand alone costs at least the lesser of its computing in a loop and of a whole step of its own. If no chain counts the
 * readers of an operand, and all may stand alone, the operand is read by a loop, or each of them pays what its step costs beyond that
 * lesser sum: its slack, of which every such operand gets a share. What several parts must have: search_again.c.
 *
 * An operand that loops stream more than once is streamed so for all nodes of a loop together. So each node that streams it has a part of
 * that to come, until one that may be in its loop is computed by one: then another may have it for nothing. */
#include <string.h>

#include "planner/searching.h"

static void unite(clf_bits *to, const clf_bits *more) {
    for (int w = 0; w < CLF_BITS_WORDS; w++) to->w[w] |= more->w[w];
}

/* From memory in any case, whichever way its reader is computed. */
static bool from_memory(const clf_node_facts *f, const clf_use *u) {
    return !u->inside && (u->in_loop || !(f->is & CLF_CAN_LOOP)) && (u->alone || !(f->is & CLF_CAN_ALONE));
}

static void wait_for(clf_waiting *w, int32_t n, int32_t q) {
    clf_bits_add(&w->waits[n], q);
    unite(&w->waits[n], &w->below[q]);
}

/* Operands come behind their readers, so backwards. */
static void find_waits(const clf_component *c, clf_waiting *w) {
    for (int32_t n = c->n; n-- > 0;) {
        const clf_node_facts *f = &c->node[n];
        for (int32_t u = 0; u < f->nuse; u++) {
            int32_t q = f->use[u].local;
            if (q >= c->n) continue;
            if (from_memory(f, &f->use[u])) wait_for(w, n, q);
            if (!f->use[u].inside) continue;
            clf_bits_add(&w->below[n], q);
            unite(&w->below[n], &w->below[q]);
            unite(&w->waits[n], &w->waits[q]);
        }
        for (int32_t q = n + 1; q < c->n; q++)
            if (clf_bits_has(&c->node[q].beyond, n)) wait_for(w, n, q);
        unite(&w->below[n], &w->waits[n]);
    }
}

/* n continues the longest chain that it can. in: the nodes of which chains are made. */
static int64_t continue_chain(const clf_component *c, clf_waiting *w, const clf_bits *in, int32_t n) {
    int32_t most = 0;
    for (int32_t q = n + 1; q < c->n; q++)
        if (clf_bits_has(in, q) && clf_bits_has(&w->waits[n], q) && w->length[q] > most) most = w->length[q];
    return w->length[n] = most + 1;
}

int64_t clf_longest_chain(const clf_component *c, clf_waiting *w, const clf_bits *in) {
    int64_t most = 0, length;
    for (int32_t n = c->n; n-- > 0;)
        if (clf_bits_has(in, n) && (length = continue_chain(c, w, in, n)) > most) most = length;
    return most;
}

/* ---- operands ---- */

static bool reads(const clf_node_facts *f, const clf_pair *p) {
    if (f->class_ != p->class_ || f->optional) return false;
    for (int32_t u = 0; u < f->nuse; u++)
        if (f->use[u].local == p->operand && from_memory(f, &f->use[u]) && !f->use[u].part_of_it) return true;
    return false;
}

static void put_pair(clf_component *c, int32_t operand, int32_t class_) {
    int16_t *at = &c->pair_at[operand * c->nclass + class_];
    if (*at) return;
    c->pair[c->npair] = (clf_pair){.operand = operand, .class_ = class_};
    *at = (int16_t)++c->npair;
}

/* Steps alone count where they make the longest chain, or the only reader. */
static void count_parts(const clf_component *c, clf_waiting *w, clf_pair *p) {
    clf_bits in, loops;
    int readers = 0;
    memset(&in, 0, sizeof in);
    memset(&loops, 0, sizeof loops);
    for (int32_t n = 0; n < c->n; n++) {
        if (!reads(&c->node[n], p)) continue;
        readers++;
        clf_bits_add(&in, n);
        if (!(c->node[n].is & CLF_CAN_ALONE)) clf_bits_add(&loops, n);
    }
    int64_t all = clf_longest_chain(c, w, &in);
    p->least = clf_longest_chain(c, w, &loops);
    p->alone = all > (p->least ? p->least : 1) || readers == 1 || c->p->nsparse;
    if (p->alone) p->least = all;
}

/* What the cheapest of its readers pays at least. Where all cells are visited, what a loop streams again is the node's (streamed). */
static clf_ps read_once(const clf_component *c, const clf_pair *p) {
    clf_ps least = CLF_PS_MOST, once = c->operand[p->operand].least;
    for (int32_t n = 0; n < c->n && c->p->nsparse; n++) {
        const clf_node_facts *f = &c->node[n];
        if (!reads(f, p)) continue;
        if (f->is & CLF_CAN_ALONE) return once;
        for (int32_t u = 0; u < f->nuse; u++)
            for (int d = 0; d < c->p->dev.n && f->use[u].local == p->operand; d++) {
                clf_ps ps = clf_ps_add(c->operand[p->operand].read[d], f->use[u].again[d]);
                if (ps < least) least = ps;
            }
    }
    return least < CLF_PS_MOST ? least : once;
}

/* What a loop pays at least that reads the pair's leaf, visiting its entries included, beyond once: the least over its ways. */
static clf_ps visit_once(const clf_component *c, const clf_pair *p) {
    int32_t way = c->operand[p->operand].way;
    clf_ps least = CLF_PS_MOST;
    for (int32_t n = 0; n < c->n && way; n++) {
        const clf_node_facts *f = &c->node[n];
        if (!reads(f, p)) continue;
        if (f->is & CLF_CAN_ALONE) return 0;
        for (int32_t u = 0; u < f->nuse; u++)
            for (int32_t i = 0; i < c->nway * c->p->dev.n && f->use[u].local == p->operand; i++) {
                if (f->way_compute[i] == CLF_PS_MOST) continue;
                clf_ps ps = clf_ps_add(f->use[u].ps[i], i / c->p->dev.n == way ? c->way_visit[i] : 0);
                if (ps < least) least = ps;
            }
    }
    return least > p->once && least < CLF_PS_MOST ? least - p->once : 0;
}

static void find_pairs(clf_component *c, clf_waiting *w) {
    for (int32_t n = 0; n < c->n; n++) {
        const clf_node_facts *f = &c->node[n];
        for (int32_t u = 0; u < f->nuse; u++) {
            if (f->optional || !from_memory(f, &f->use[u])) continue;
            if (f->use[u].local < c->n) c->node[f->use[u].local].stored = true;
            if ((f->is & CLF_CAN_LOOP) && !f->use[u].part_of_it) put_pair(c, f->use[u].local, f->class_);
        }
    }
    for (int32_t i = 0; i < c->npair; i++) {
        count_parts(c, w, &c->pair[i]);
        c->pair[i].once = read_once(c, &c->pair[i]);
        c->pair[i].visit = visit_once(c, &c->pair[i]);
    }
}

/* ---- nodes that may stand alone ---- */

static bool may_choose(const clf_node_facts *f) { return (f->is & CLF_CAN_LOOP) && (f->is & CLF_CAN_ALONE) && !f->optional; }

/* Does a pair count what a step alone reads? */
static bool counted(const clf_component *c, const clf_node_facts *f, const clf_use *u) {
    int at = c->pair_at[u->local * c->nclass + f->class_];
    return at && c->pair[at - 1].alone;
}

/* What a step alone moves on device d: what pairs count of it, or the rest, without writing what is written in any case. */
static clf_ps moved_by(const clf_component *c, const clf_node_facts *f, int d, bool by_pairs) {
    clf_ps sum = by_pairs || f->demanded || f->stored ? 0 : f->write[0][d];
    for (int32_t u = 0; u < f->nuse; u++)
        if (clf_read_alone(f, u) && counted(c, f, &f->use[u]) == by_pairs) sum = clf_ps_add(sum, c->operand[f->use[u].local].read[d]);
    return sum;
}

/* The least that a step of n costs, without what pairs count, or beyond that. Rounded down once. */
static clf_ps step_of(const clf_component *c, const clf_node_facts *f, bool beyond) {
    int kind = c->p->g->node[f->id].op == CLF_OP_MATMUL ? CLF_STEP_LIBRARY : CLF_STEP_CALLOUT;
    clf_ps least = CLF_PS_MOST;
    for (int d = 0; d < c->p->dev.n; d++) {
        const clf_profile *dev = c->p->dev.profile[d];
        clf_ps pairs = beyond ? moved_by(c, f, d, true) : 0;
        clf_ps all = clf_cost_both(dev, clf_ps_add(moved_by(c, f, d, false), pairs), f->alone[d]);
        all = clf_ps_add(clf_cost_launch(dev, kind), all) - pairs;
        if (all < least) least = all;
    }
    return least - 1;
}

/* Nodes of n's class, n too, that stream operand l again in a loop, and might be in one with n, so that one pays for all. */
static int64_t streaming(const clf_component *c, const clf_waiting *w, int32_t n, int32_t l) {
    int64_t nodes = 0;
    for (int32_t m = 0; m < c->n; m++) {
        bool streams = false, apart = clf_bits_has(&w->waits[n], m) || clf_bits_has(&w->waits[m], n);
        for (int32_t u = 0; u < c->node[m].nuse && !apart && c->node[m].class_ == c->node[n].class_; u++)
            streams = streams || (c->node[m].use[u].local == l && c->node[m].use[u].again[0]);
        nodes += streams;
    }
    return nodes;
}

static bool named_before(const clf_node_facts *f, int32_t u) {
    for (int32_t v = 0; v < u; v++)
        if (f->use[v].local == f->use[u].local && f->use[v].again[0]) return true;
    return false;
}

/* What n moves in a loop besides one pass over its operands and its result, on any device at least: its part of it. */
static clf_ps streamed(clf_component *c, const clf_waiting *w, int32_t n) {
    clf_node_facts *f = &c->node[n];
    clf_ps sum = 0, least;
    for (int32_t u = 0; u < f->nuse; u++) {
        f->use[u].streams = 0;
        if (!f->use[u].in_loop || f->use[u].inside || !f->use[u].again[0] || named_before(f, u)) continue;
        least = f->use[u].again[0];
        for (int d = 1; d < c->p->dev.n; d++) least = f->use[u].again[d] < least ? f->use[u].again[d] : least;
        f->use[u].streams = least > 0 ? least / streaming(c, w, n, f->use[u].local) : 0;
        sum = clf_ps_add(sum, f->use[u].streams);
    }
    return sum;
}

/* No more of it than so much is sure. */
static clf_ps limit_streams(clf_node_facts *f, clf_ps most) {
    clf_ps left = most;
    for (int32_t u = 0; u < f->nuse; u++) {
        clf_use *x = &f->use[u];
        if (x->streams > left) x->streams = left;
        left -= x->streams;
    }
    return most - left;
}

static void find_slack(clf_component *c, const clf_waiting *w, clf_ps *slack) {
    for (int32_t n = 0; n < c->n; n++) {
        clf_node_facts *f = &c->node[n];
        if (!(f->is & CLF_CAN_LOOP) || f->optional) continue;
        f->least_moved = f->streamed = streamed(c, w, n);
        if (!may_choose(f)) continue;
        f->step = step_of(c, f, false);
        f->least_compute = f->step < f->loop ? f->step : f->loop;
        slack[n] = step_of(c, f, true) - f->least_compute; /* is moved: what pairs count does not hide behind it */
        if (slack[n] < 0) slack[n] = 0;
        f->least_moved = limit_streams(f, slack[n]);
        slack[n] -= f->least_moved;
    }
}

static void share_slack(clf_component *c, int32_t pair, clf_ps *slack) {
    clf_pair *p = &c->pair[pair];
    for (int32_t n = 0; n < c->n && !p->least; n++) {
        clf_node_facts *f = &c->node[n];
        if (!may_choose(f) || !reads(f, p)) continue;
        clf_ps part = slack[n] < p->once ? slack[n] : p->once;
        f->share[f->nshare++] = (clf_share){pair, part};
        p->slack += part;
        slack[n] -= part;
    }
}

static bool find_shares(clf_component *c, const clf_waiting *w) {
    clf_ps *slack = clf_arena_new(c->arena, (size_t)c->n, sizeof *slack);
    if (!slack) return false;
    for (int32_t n = 0; n < c->n; n++) {
        c->node[n].nshare = 0;
        c->node[n].share = clf_arena_new(c->arena, (size_t)c->node[n].nuse, sizeof *c->node[n].share);
        if (!c->node[n].share) return false;
    }
    if (c->p->nsparse) return true; /* steps alone may cost next to nothing: all pairs count them */
    find_slack(c, w, slack);
    for (int32_t i = 0; i < c->npair; i++) share_slack(c, i, slack);
    return true;
}

/* ---- launches ---- */

static void find_launches(clf_component *c, clf_waiting *w) {
    for (int32_t g = 0; g < c->n; g++) {
        clf_bits in;
        if (!c->group[g].undecided) continue;
        memset(&in, 0, sizeof in);
        for (int32_t n = 0; n < c->n; n++) {
            const clf_node_facts *f = &c->node[n];
            if (f->group == g && (f->is & CLF_CAN_LOOP) && !(f->is & CLF_CAN_ALONE) && !f->optional) clf_bits_add(&in, n);
        }
        c->group[g].least = clf_longest_chain(c, w, &in);
    }
}

bool clf_component_chains(clf_component *c) {
    size_t n = (size_t)c->n, uses = 0;
    for (int32_t i = 0; i < c->n; i++) uses += (size_t)c->node[i].nuse;
    clf_waiting w = {.below = clf_arena_new(c->arena, n, sizeof *w.below), .waits = clf_arena_new(c->arena, n, sizeof *w.waits)};
    w.length = clf_arena_new(c->arena, n, sizeof *w.length);
    c->pair = clf_arena_new(c->arena, uses, sizeof *c->pair);
    c->pair_at = clf_arena_new(c->arena, (size_t)c->nlocal * (size_t)c->nclass, sizeof *c->pair_at);
    if (!w.below || !w.waits || !w.length || !c->pair || !c->pair_at) return false;
    c->npair = 0;
    c->waits = w.waits;
    find_waits(c, &w);
    find_pairs(c, &w);
    find_launches(c, &w);
    if (!find_shares(c, &w)) return false;
    return clf_component_again(c, &w);
}
