/* SPDX-License-Identifier: Apache-2.0
 * A cover that is not proved the cheapest may be bettered part by part: openings are on one device as a whole and of one selector, and a
 * search that its budget ended has not tried all. First its parts are tried on the other devices, one after the other, the rest staying
 * where it is; what is made last comes first, for small results are often read on the host. Then products that are parts alone are tried
 * in the loop that reads them first, on every device: one may have tiles for them (search_tiles.c). */
#include <string.h>

#include "planner/searching.h"

enum { MOST_PRICED = 1024 }; /* parts, in all covers together that are priced: of each kind of move */

typedef struct moving {
    clf_searcher *s;
    clf_cover *c;
    int32_t k, priced; /* component; parts, in covers priced */
    clf_ps least;
} moving;

static clf_status price(moving *m, clf_ps *cost, clf_err *err) {
    m->priced += m->c->npart;
    clf_cover_drivers(m->s->p->g, m->c);
    return clf_cover_price(&m->s->pricer, m->c, cost, err);
}

static bool goes_on(const moving *m) { return m->priced + m->c->npart <= MOST_PRICED; }

/* ---- other devices ---- */

static bool may_be_on(const clf_problem *p, const clf_part *part, int d) { return part->loop || clf_problem_alone_on(p, part->node[0], d); }

static clf_status choose_device(moving *m, clf_part *part, clf_err *err) {
    for (int d = 0, begun_on = part->device; d < m->s->p->dev.n && goes_on(m); d++) {
        uint8_t was = part->device;
        clf_ps cost;
        if (d == begun_on || !may_be_on(m->s->p, part, d)) continue;
        part->device = (uint8_t)d;
        CLF_TRY(price(m, &cost, err));
        if (cost < m->least)
            m->least = cost;
        else
            part->device = was;
    }
    return CLF_OK;
}

/* ---- products into loops ---- */

/* Part i, nothing but a product, goes into part j behind it; kept: it is still stored there. */
typedef struct taking {
    int32_t i, j, n;
    bool kept;
    clf_part product, loop;
} taking;

static bool reads(const clf_graph *g, const clf_part *part, int32_t n) {
    for (int32_t j = 0; j < part->n; j++)
        for (int k = 0; k < g->node[part->node[j]].nin; k++)
            if (clf_node_operand(g, part->node[j], k) == n) return true;
    return false;
}

/* Does m read n, but may not take it from inside a loop? */
static bool needs_stored(const clf_problem *p, int32_t m, int32_t n) {
    for (int k = 0; k < p->g->node[m].nin; k++)
        if (clf_node_operand(p->g, m, k) == n && !(p->inside[m] >> k & 1)) return true;
    return false;
}

/* May all of the loop that read n take it from inside, and n what the loop computes? Not where it computes n already, nor where it visits
 * entries and n cannot. */
static bool inside(const clf_problem *p, const clf_part *loop, int32_t n) {
    if (!loop->loop || p->class_[loop->node[0]] != p->class_[n]) return false;
    if (loop->driver >= 0 && clf_product_turned(p->g, n)) return false;
    for (int32_t j = 0; j < loop->n; j++)
        if (loop->node[j] == n || needs_stored(p, loop->node[j], n) || needs_stored(p, n, loop->node[j])) return false;
    return true;
}

/* The loop that could take in part i; false: none can. */
static bool find_taker(const moving *m, int32_t i, taking *t) {
    const clf_cover *c = m->c;
    const clf_problem *p = m->s->p;
    *t = (taking){.i = i, .j = i + 1, .n = c->part[i].node[0]};
    if (c->part[i].n > 1 || p->g->node[t->n].op != CLF_OP_MATMUL || !(p->is[t->n] & CLF_CAN_LOOP)) return false;
    while (t->j < c->npart && !reads(p->g, &c->part[t->j], t->n)) t->j++;
    if (t->j == c->npart || !inside(p, &c->part[t->j], t->n)) return false;
    t->kept = m->s->demanded[t->n] || (p->is[t->n] & CLF_IS_ROOT);
    for (int32_t j = t->j + 1; j < c->npart; j++) t->kept = t->kept || reads(p->g, &c->part[j], t->n);
    t->product = c->part[i];
    t->loop = c->part[t->j];
    return true;
}

/* Parts behind `from` count `by` more; nobody has entered any. */
static void renumber(moving *m, int32_t from, int32_t by) {
    const clf_searcher *s = m->s;
    for (int32_t i = 0; i < s->size[m->k]; i++) {
        int32_t n = s->nodes[s->start[m->k] + i];
        if (m->c->maker[n] >= from) m->c->maker[n] += by;
        m->c->member[n] = 0;
    }
}

static void take_in(moving *m, const taking *t, const clf_part *both) {
    clf_cover *c = m->c;
    c->maker[t->n] = -1;
    renumber(m, t->i, -1);
    c->maker[t->n] = t->kept ? t->j - 1 : -1;
    c->part[t->j] = *both;
    c->npart--;
    memmove(c->part + t->i, c->part + t->i + 1, (size_t)(c->npart - t->i) * sizeof *c->part);
}

static void take_back(moving *m, const taking *t) {
    clf_cover *c = m->c;
    memmove(c->part + t->i + 1, c->part + t->i, (size_t)(c->npart - t->i) * sizeof *c->part);
    c->npart++;
    c->part[t->i] = t->product;
    c->part[t->j] = t->loop;
    c->maker[t->n] = -1;
    renumber(m, t->i, 1);
    c->maker[t->n] = t->i;
}

/* Nodes of both, ascending. */
static clf_status join(moving *m, const taking *t, clf_part *both, clf_err *err) {
    int32_t at = 0;
    *both = t->loop;
    if (clf_product_turned(m->s->p->g, t->n)) both->layout = CLF_LAYOUT_STORED; /* nothing to choose: no entries drive it */
    both->node = clf_arena_new(m->s->arena, (size_t)t->loop.n + 1, sizeof *both->node);
    if (!both->node) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory while searching");
    while (at < t->loop.n && t->loop.node[at] < t->n) at++;
    memcpy(both->node, t->loop.node, (size_t)at * sizeof *both->node);
    both->node[at] = t->n;
    memcpy(both->node + at + 1, t->loop.node + at, (size_t)(t->loop.n - at) * sizeof *both->node);
    both->n++;
    return CLF_OK;
}

static bool legal(const moving *m, const taking *t, const clf_part *both) {
    const clf_searcher *s = m->s;
    int32_t stored = t->kept;
    for (int32_t j = 0; j < t->loop.n; j++) stored += clf_cover_stores(m->c, t->j, t->loop.node[j]);
    return clf_problem_limit(s->p, both->node, both->n, stored, s->mark) == CLF_NREASONS &&
           clf_problem_connected(s->p, both->node, both->n, s->up, s->owner);
}

static clf_status try_taking(moving *m, int32_t i, clf_err *err) {
    taking t;
    clf_part both;
    clf_ps before = m->least, cost;
    if (!find_taker(m, i, &t)) return CLF_OK;
    CLF_TRY(join(m, &t, &both, err));
    if (!legal(m, &t, &both)) return CLF_OK;
    take_in(m, &t, &both);
    CLF_TRY(price(m, &cost, err));
    if (cost < m->least) m->least = cost;
    CLF_TRY(choose_device(m, &m->c->part[t.j - 1], err));
    if (m->least >= before) take_back(m, &t);
    return CLF_OK;
}

clf_status clf_leaf_better(clf_searcher *s, int32_t k, clf_ps *saved, clf_err *err) {
    moving m = {.s = s, .c = &s->leaf, .k = k};
    clf_ps begun;
    CLF_TRY(price(&m, &begun, err));
    m.least = begun;
    m.priced = 0;
    for (int32_t i = m.c->npart; i-- > 0;) CLF_TRY(choose_device(&m, &m.c->part[i], err));
    m.priced = 0;
    for (int32_t i = m.c->npart; i-- > 0 && goes_on(&m);) CLF_TRY(try_taking(&m, i, err));
    clf_cover_drivers(s->p->g, m.c);
    *saved = begun - m.least;
    return CLF_OK;
}
