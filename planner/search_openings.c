/* SPDX-License-Identifier: Apache-2.0
 * The covers that a search begins with: what selectors choose, on each device as far as possible. The cheapest one of a component is the one
 * to beat. Selectors that answer alike open once, and the same parts are priced once. */
#include <string.h>

#include "planner/searching.h"

static clf_status no_memory(clf_err *err) { return clf_fail(err, CLF_E_NOMEM, "planning: out of memory while searching"); }

/* ---- making them ---- */

/* Do they answer alike wherever they are asked? */
static bool alike(const clf_memo *m, const clf_selector *a, const clf_selector *b) {
    bool same = a->join == b->join;
    for (int32_t n = 0; n < m->g->n && same; n++)
        for (int k = 0; k < m->g->node[n].nin; k++)
            same = same && (!clf_memo_fusable(m, n, k) || a->fuse(a, m, n, k) == b->fuse(b, m, n, k));
    return same;
}

clf_status clf_openings_find(clf_searcher *s, clf_err *err) {
    const clf_selector *all = clf_selector_find("all"), *nored = clf_selector_find("nored");
    CLF_TRY(clf_select(s->p->m, all, s->p->lim, s->arena, &s->open[s->nopen++].cover, err));
    if (!alike(s->p->m, all, nored)) CLF_TRY(clf_select(s->p->m, nored, s->p->lim, s->arena, &s->open[s->nopen++].cover, err));
    return s->p->nsparse ? clf_searcher_apart(s, err) : CLF_OK;
}

/* Copied expressions that a part lists without storing them need no place there. */
static void drop_copies(const clf_searcher *s, clf_cover *c) {
    for (int32_t i = 0; i < c->npart; i++) {
        clf_part *part = &c->part[i];
        int32_t kept = 0;
        for (int32_t j = 0; j < part->n; j++)
            if (!(s->p->is[part->node[j]] & CLF_IS_COPIED) || clf_cover_stores(c, i, part->node[j])) part->node[kept++] = part->node[j];
        part->n = kept;
    }
}

void clf_openings_trim(clf_searcher *s) {
    for (int i = 0; i < s->nopen; i++) drop_copies(s, &s->open[i].cover);
}

/* The opening's parts by component, in order. */
static clf_status sort_opening(clf_searcher *s, clf_opening *o, clf_err *err) {
    o->first = clf_arena_new(s->arena, (size_t)s->p->g->n, sizeof *o->first);
    o->next = clf_arena_new(s->arena, (size_t)o->cover.npart, sizeof *o->next);
    if (!o->first || !o->next) return no_memory(err);
    for (int32_t i = o->cover.npart; i-- > 0;) {
        const clf_part *part = &o->cover.part[i];
        if (!part->n) continue; /* nothing but copied expressions that nobody needs in memory */
        int32_t k = s->comp[part->node[0]];
        o->next[i] = o->first[k];
        o->first[k] = i + 1;
    }
    return CLF_OK;
}

clf_status clf_openings_sort(clf_searcher *s, clf_err *err) {
    for (int i = 0; i < s->nopen; i++) CLF_TRY(sort_opening(s, &s->open[i], err));
    return CLF_OK;
}

/* ---- one component of them ---- */

/* Are openings a and b the same parts of component k? */
static bool same_opening(const clf_opening *a, const clf_opening *b, int32_t k) {
    int32_t e = a->first[k], f = b->first[k];
    for (; e && f; e = a->next[e - 1], f = b->next[f - 1]) {
        const clf_part *x = &a->cover.part[e - 1], *y = &b->cover.part[f - 1];
        if (x->n != y->n || x->loop != y->loop || memcmp(x->node, y->node, (size_t)x->n * sizeof *x->node) != 0) return false;
        for (int32_t j = 0; j < x->n; j++)
            if (clf_cover_stores(&a->cover, e - 1, x->node[j]) != clf_cover_stores(&b->cover, f - 1, x->node[j])) return false;
    }
    return e == f;
}

/* Is opening i of component k like one before it? */
static bool seen_opening(const clf_searcher *s, int i, int32_t k) {
    bool seen = false;
    for (int b = 0; b < i && !seen; b++) seen = same_opening(&s->open[i], &s->open[b], k);
    return seen;
}

void clf_opening_put_on(const clf_problem *p, clf_part *part, int d) {
    part->device = (uint8_t)(part->loop || clf_problem_alone_on(p, part->node[0], d) ? d : 0);
}

/* The opening's parts of component k on device d, as a cover of their own. */
static void take_opening(clf_searcher *s, const clf_opening *o, int32_t k, int d) {
    clf_cover *v = &s->leaf;
    v->npart = 0;
    for (int32_t e = o->first[k]; e; e = o->next[e - 1]) {
        const clf_part *part = &o->cover.part[e - 1];
        for (int32_t j = 0; j < part->n; j++) {
            v->member[part->node[j]] = 0;
            v->maker[part->node[j]] = clf_cover_stores(&o->cover, e - 1, part->node[j]) ? v->npart : -1;
        }
        v->part[v->npart] = *part;
        clf_opening_put_on(s->p, &v->part[v->npart++], d);
    }
}

/* Is every loop of it in the space? Selectors know more ways to join loops. */
static bool opening_legal(clf_searcher *s) {
    for (int32_t i = 0; i < s->leaf.npart; i++) {
        const clf_part *part = &s->leaf.part[i];
        int32_t stored = 0;
        bool apart = false;
        for (int32_t j = 0; j < part->n; j++) {
            stored += clf_cover_stores(&s->leaf, i, part->node[j]);
            apart = apart || s->p->class_[part->node[j]] != s->p->class_[part->node[0]];
        }
        if (part->loop && (apart || clf_problem_limit(s->p, part->node, part->n, stored, s->mark) != CLF_NREASONS ||
                           !clf_problem_connected(s->p, part->node, part->n, s->up, s->owner)))
            return false;
    }
    return true;
}

/* The same, but loops that visit entries and that only the host has left to it. False: there are none. */
static bool take_shared(clf_searcher *s, const clf_opening *o, int32_t k, int d) {
    bool left = false;
    take_opening(s, o, k, d);
    for (int32_t i = 0; i < s->leaf.npart; i++) s->leaf.part[i].layout = CLF_LAYOUT_STORED;
    clf_cover_drivers(s->p->g, &s->leaf);
    for (int32_t i = 0; i < s->leaf.npart; i++) {
        clf_part *part = &s->leaf.part[i];
        for (int32_t j = 0; j < part->n && part->device && part->driver >= 0; j++)
            if (clf_bill_host_only(s->p->g, part->driver, part->node[j])) part->device = 0;
        left = left || (part->loop && !part->device);
    }
    return left;
}

/* In the layouts that are cheapest. */
static clf_status price_opening(clf_searcher *s, const clf_opening *o, int32_t k, int d, clf_ps *cost, clf_err *err) {
    bool all, shared = d && s->p->host_beside && s->p->nsparse;
    clf_ps less = CLF_PS_MOST;
    *cost = CLF_PS_MOST;
    take_opening(s, o, k, d);
    if (s->size[k] <= CLF_MOST_SEARCHED && !opening_legal(s)) return CLF_OK;
    if (shared && take_shared(s, o, k, d)) CLF_TRY(clf_cover_layouts(&s->pricer, &s->leaf, &less, &all, err));
    if (shared) take_opening(s, o, k, d);
    CLF_TRY(clf_cover_layouts(&s->pricer, &s->leaf, cost, &all, err));
    if (less >= *cost) return CLF_OK;
    take_shared(s, o, k, d);
    return clf_cover_layouts(&s->pricer, &s->leaf, cost, &all, err);
}

clf_status clf_opening_best(clf_searcher *s, int32_t k, clf_best_opening *best, clf_err *err) {
    *best = (clf_best_opening){NULL, 0, CLF_PS_MOST};
    for (int i = 0; i < s->nopen * s->p->dev.n; i++) {
        clf_ps cost;
        if (seen_opening(s, i % s->nopen, k)) continue;
        CLF_TRY(price_opening(s, &s->open[i % s->nopen], k, i / s->nopen, &cost, err));
        if (!best->at || cost < best->cost) *best = (clf_best_opening){&s->open[i % s->nopen], i / s->nopen, cost};
    }
    return CLF_OK;
}

clf_status clf_opening_take(clf_searcher *s, int32_t k, clf_best_opening *best, clf_err *err) {
    if (s->p->nsparse) return price_opening(s, best->at, k, best->on, &best->cost, err); /* again, for its layouts */
    take_opening(s, best->at, k, best->on);
    return CLF_OK;
}
