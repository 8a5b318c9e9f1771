/* SPDX-License-Identifier: Apache-2.0
 * A component before anything is decided: what its nodes may take from each other, the groups that share loops, and what is sure to come.
 * Made from its nodes' facts, and made anew when those say less than before (search_fix.c). */
#include <string.h>

#include "planner/searching.h"

/* ---- who may be in a loop with whom ---- */

static void find_links(clf_component *c) {
    for (int32_t n = 0; n < c->n; n++) memset(&c->node[n].consumers, 0, sizeof(clf_bits));
    for (int32_t n = 0; n < c->n; n++) {
        clf_node_facts *f = &c->node[n];
        memset(&f->ties, 0, sizeof f->ties);
        memset(&f->takes, 0, sizeof f->takes);
        clf_bits_add(&f->ties, n);
        for (int32_t u = 0; u < f->nuse; u++) {
            if (f->use[u].inside) clf_bits_add(&c->node[f->use[u].local].consumers, n);
            if (f->use[u].inside) clf_bits_add(&f->takes, f->use[u].local);
            if (f->use[u].by_rows) clf_bits_add(&f->ties, f->use[u].local);
        }
        for (int32_t q = n + 1; q < c->n; q++)
            if (clf_bits_has(&c->node[q].copied_by, n)) clf_bits_add(&f->takes, q);
    }
}

static bool may_meet(const clf_node_facts *x, const clf_node_facts *y) {
    return clf_bits_meet(&x->ties, &y->ties) || clf_bits_meet(&x->takes, &y->ties) || clf_bits_meet(&x->ties, &y->takes);
}

/* Groups: the smallest node of each chain names it. */
static void find_groups(clf_component *c) {
    bool more = true;
    memset(c->group, 0, (size_t)c->n * sizeof *c->group);
    for (int32_t n = 0; n < c->n; n++) c->node[n].group = n;
    while (more) {
        more = false;
        for (int32_t a = 0; a < c->n; a++)
            for (int32_t b = 0; b < a; b++) {
                clf_node_facts *x = &c->node[a], *y = &c->node[b];
                if (x->group == y->group || x->class_ < 0 || x->class_ != y->class_ || !may_meet(x, y)) continue;
                x->group = y->group = x->group < y->group ? x->group : y->group;
                more = true;
            }
    }
    for (int32_t n = 0; n < c->n; n++) c->group[c->node[n].group].undecided++;
}

/* ---- what is sure to come ---- */

/* A loop that computes n goes one way, for all that n is: the class's dear node is the last of those to which that matters most. */
static void find_dear(clf_component *c, int32_t n) {
    const clf_node_facts *f = &c->node[n];
    clf_ps least = CLF_PS_MOST;
    for (int32_t i = 0; i < c->nway * c->p->dev.n && !(f->is & CLF_CAN_ALONE); i++) {
        clf_ps ps = clf_ps_add(clf_dear_computed(c, n, i), clf_dear_moved(c, n, i));
        if (ps < least) least = ps;
    }
    if (least == CLF_PS_MOST || least < c->row[f->class_].dear || !least) return;
    c->row[f->class_].dear = least;
    c->dear[f->class_] = n;
}

/* What is sure to come, per class. */
static void begin_rest(clf_component *c) {
    memset(c->row, 0, ((size_t)c->nclass + 1) * sizeof *c->row);
    c->rest_launches = c->rest_again = 0;
    for (int32_t k = 0; k < c->nclass; k++) c->dear[k] = -1;
    c->hides = c->p->dev.profile[0];
    for (int d = 1; d < c->p->dev.n; d++)
        if (c->p->dev.profile[d]->overlap > c->hides->overlap) c->hides = c->p->dev.profile[d];
    for (int32_t n = 0; n < c->n; n++) {
        clf_node_facts *f = &c->node[n];
        c->maker[n] = -1;
        if (f->optional) continue;
        if (!(f->is & CLF_CAN_LOOP)) {
            c->row[c->nclass].rest_moved += f->least_alone;
            continue;
        }
        find_dear(c, n);
        c->row[f->class_].rest_computed += f->least_compute;
        c->row[f->class_].rest_moved += f->least_moved;
        c->rest_again += f->least_again;
        if (f->demanded || f->stored) c->row[f->class_].rest_moved += f->least_write;
    }
    for (int32_t i = 0; i < c->npair; i++) {
        clf_pair *p = &c->pair[i];
        c->row[p->class_].rest_moved += p->rest = clf_pair_rest(p);
        c->row[p->class_].rest_visits += p->visits = clf_pair_visits(p);
    }
    for (int32_t g = 0; g < c->n; g++) c->rest_launches += c->group[g].least;
    c->least_launch = CLF_PS_MOST;
    for (int d = 0; d < c->p->dev.n; d++) {
        clf_ps launch = clf_cost_launch(c->p->dev.profile[d], CLF_STEP_FUSED);
        if (launch < c->least_launch) c->least_launch = launch;
    }
}

/* The lesser of both ways to compute a node. */
static void find_least(clf_component *c) {
    for (int32_t n = 0; n < c->n; n++) {
        clf_node_facts *f = &c->node[n];
        bool loop = f->is & CLF_CAN_LOOP, alone = f->is & CLF_CAN_ALONE;
        f->least_compute = !alone || (loop && f->loop < f->step) ? f->loop : f->step;
        f->least_write = CLF_PS_MOST;
        for (int d = 0; d < c->p->dev.n; d++)
            if (f->write[!alone][d] < f->least_write) f->least_write = f->write[!alone][d];
        f->least_moved = f->least_again = 0;
    }
}

bool clf_component_room(clf_component *c) {
    clf_arena *a = c->arena;
    size_t n = (size_t)c->n;
    c->part = clf_arena_new(a, n, sizeof *c->part);
    c->maker = clf_arena_new(a, n, sizeof *c->maker);
    c->group = clf_arena_new(a, n, sizeof *c->group);
    c->row = clf_arena_new(a, (size_t)c->nclass + 1, sizeof *c->row);
    c->dear = clf_arena_new(a, (size_t)c->nclass, sizeof *c->dear);
    c->present = clf_arena_new(a, (size_t)c->p->dev.n, sizeof *c->present);
    c->frame = clf_arena_new(a, n, sizeof *c->frame);
    c->best_part = clf_arena_new(a, n, sizeof *c->best_part);
    c->best_maker = clf_arena_new(a, n, sizeof *c->best_maker);
    c->best_layout = clf_arena_new(a, n, 1);
    return c->part && c->maker && c->group && c->row && c->dear && c->present && c->frame && c->best_part && c->best_maker &&
           c->best_layout;
}

bool clf_component_begin(clf_component *c) {
    find_links(c);
    find_groups(c);
    find_least(c);
    if (!clf_component_chains(c)) return false;
    begin_rest(c);
    clf_component_probe(c);
    return true;
}
