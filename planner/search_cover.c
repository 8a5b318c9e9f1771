/* SPDX-License-Identifier: Apache-2.0
 * Complete covers of a component: put in order, checked against what only whole loops show, priced, and the cheapest kept. */
#include <string.h>

#include "planner/searching.h"

/* The parts in executable order: what a part needs comes first, else they keep theirs. False: they wait for each other. */
static bool put_in_order(clf_component *c) {
    clf_bits done;
    memset(&done, 0, sizeof done);
    for (int32_t i = 0, was = -1; i < c->npart;) {
        if (i == was) return false;
        was = i;
        for (int64_t p = c->npart; p-- > 0;) {
            bool ready = !clf_bits_has(&done, (int)p);
            for (int w = 0; w < CLF_BITS_WORDS; w++) ready = ready && !(c->part[p].needs.w[w] & ~done.w[w]);
            if (!ready) continue;
            clf_bits_add(&done, (int)p);
            c->order[i++] = (int32_t)p;
        }
    }
    return true;
}

/* Part p's nodes, ascending, behind `at`. */
static int32_t list_nodes(const clf_component *c, const clf_opened *o, int32_t *at) {
    int32_t n = 0;
    for (int32_t q = c->n; q-- > 0;)
        if (clf_bits_has(&o->has, q)) at[n++] = c->node[q].id;
    return n;
}

static bool legal(clf_component *c, const clf_part *part, int32_t stored) {
    if (!part->loop) return true;
    return clf_problem_limit(c->p, part->node, part->n, stored, c->mark) == CLF_NREASONS &&
           clf_problem_connected(c->p, part->node, part->n, c->up, c->owner);
}

static bool make_cover(clf_component *c) {
    clf_cover *v = &c->leaf;
    int32_t *at = c->ids, place[CLF_MOST_SEARCHED] = {0};
    v->npart = (int32_t)c->npart;
    for (int32_t i = 0; i < v->npart; i++) place[c->order[i]] = i;
    for (int32_t q = 0; q < c->n; q++) {
        v->member[c->node[q].id] = 0;
        v->maker[c->node[q].id] = c->maker[q] < 0 ? -1 : place[c->maker[q]];
    }
    for (int32_t i = 0; i < v->npart; i++) {
        const clf_opened *o = &c->part[c->order[i]];
        int32_t stored = 0;
        v->part[i] =
            (clf_part){.node = at, .loop = (uint8_t)o->loop, .why = CLF_NREASONS, .device = (uint8_t)o->device, .driver = -1, .sparse = ""};
        v->part[i].n = list_nodes(c, o, at);
        for (int32_t j = 0; j < v->part[i].n; j++) stored += v->maker[at[j]] == i;
        at += v->part[i].n;
        if (!legal(c, &v->part[i], stored)) return false;
    }
    return true;
}

void clf_leaf_of_best(clf_component *c, clf_cover *to) {
    clf_opened *part = c->part;
    int64_t *maker = c->maker, npart = c->npart;
    c->part = c->best_part;
    c->maker = c->best_maker;
    c->npart = c->best_npart;
    (void)put_in_order(c);
    (void)make_cover(c);
    to->npart = c->leaf.npart;
    for (int32_t i = 0; i < to->npart; i++) c->leaf.part[i].layout = c->best_layout[i];
    c->part = part;
    c->maker = maker;
    c->npart = npart;
}

clf_status clf_leaf(clf_component *c, clf_err *err) {
    clf_ps cost;
    bool all;
    if (!put_in_order(c) || !make_cover(c)) return CLF_OK;
    CLF_TRY(clf_cover_layouts(c->pricer, &c->leaf, &cost, &all, err));
    c->narrowed = c->narrowed || !all;
    c->covers++;
    if (cost >= c->best) return CLF_OK;
    c->best = cost;
    c->found = true;
    c->best_npart = c->npart;
    memcpy(c->best_part, c->part, (size_t)c->npart * sizeof *c->part);
    memcpy(c->best_maker, c->maker, (size_t)c->n * sizeof *c->maker);
    for (int32_t i = 0; i < c->leaf.npart; i++) c->best_layout[i] = c->leaf.part[i].layout;
    return CLF_OK;
}
