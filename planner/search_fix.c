/* SPDX-License-Identifier: Apache-2.0
 * What no cheaper cover can have is taken out before a component is searched.
 *
 * A node that a loop or a step alone may compute costs the lesser of both in the bound. If the bound with the other way in its place is no
 * less than a cover that is known, every cheaper cover has it this way, and the component is made anew with that known: a step alone cuts
 * what was one chain of loops, its operands and its result are in memory for sure, and more chains are long (search_levels.c). */
#include <string.h>

#include "planner/searching.h"

enum { ROUNDS = 4 };

/* The bound if the class of f's loops computed and moved so much more, and as much less in any case. */
static clf_ps bound_with(clf_component *c, const clf_node_facts *f, clf_ps computed, clf_ps moved) {
    struct clf_row *r = &c->row[f->class_], was = *r;
    r->rest_computed += computed;
    r->rest_moved += moved;
    clf_ps bound = clf_bound(c);
    *r = was;
    return bound;
}

/* The bound with node f in a loop; and as a step of its own: what it pays beyond the lesser is its slack, some of which pairs may count. */
static void note_bounds(clf_component *c, clf_node_facts *f) {
    clf_ps shared = 0;
    for (int32_t i = 0; i < f->nshare; i++) shared += f->share[i].slack;
    f->in_loop = bound_with(c, f, f->loop - f->least_compute, f->streamed - f->least_moved);
    f->as_step = bound_with(c, f, f->step - f->least_compute, -f->least_moved - shared);
}

static bool may_choose(const clf_node_facts *f) { return (f->is & CLF_CAN_LOOP) && (f->is & CLF_CAN_ALONE) && !(f->is & CLF_IS_COPIED); }

static void drop(clf_bits *s, int i) { s->w[i >> 6] &= ~(1ull << (i & 63)); }

/* n is a step alone: it hands nothing on inside a loop, and takes nothing. */
static void stand_alone(clf_component *c, int32_t n) {
    clf_node_facts *f = &c->node[n];
    f->is &= (uint8_t)~CLF_CAN_LOOP;
    f->class_ = -1;
    for (int32_t u = 0; u < f->nuse; u++) f->use[u].inside = false;
    for (int32_t m = 0; m < c->n; m++) {
        drop(&c->node[m].copied_by, n);
        for (int32_t u = 0; u < c->node[m].nuse; u++)
            if (c->node[m].use[u].local == n) c->node[m].use[u].inside = false;
    }
}

static void fix_node(clf_component *c, int32_t n) {
    clf_node_facts *f = &c->node[n];
    if (f->in_loop >= c->best)
        stand_alone(c, n);
    else
        f->is &= (uint8_t)~CLF_CAN_ALONE;
}

/* Is one way known to be no cheaper than the best? */
static bool excluded(const clf_component *c, const clf_node_facts *f) {
    return may_choose(f) && (f->in_loop >= c->best || f->as_step >= c->best);
}

bool clf_component_fixable(const clf_component *c) {
    bool any = false;
    for (int32_t n = 0; n < c->n && !c->opt->unbounded && !any; n++) any = excluded(c, &c->node[n]);
    return any;
}

bool clf_component_fix(clf_component *c) {
    for (int i = 0; i < ROUNDS && clf_component_fixable(c); i++) {
        for (int32_t n = 0; n < c->n; n++)
            if (excluded(c, &c->node[n])) fix_node(c, n);
        if (!clf_component_begin(c)) return false;
    }
    return true;
}

void clf_component_probe(clf_component *c) {
    for (int32_t n = 0; n < c->n; n++)
        if (may_choose(&c->node[n])) note_bounds(c, &c->node[n]);
}
