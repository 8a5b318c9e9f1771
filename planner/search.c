/* SPDX-License-Identifier: Apache-2.0
 * The search over all components: openings to beat, one component after the other, and the results put together with what needs no choice.
 * See search.h. */
#include "planner/search.h"

#include <string.h>

#include "planner/searching.h"

enum { LOOKS = 256 }; /* for each node of the graph; a few nanoseconds each */

static clf_status no_memory(clf_err *err) { return clf_fail(err, CLF_E_NOMEM, "planning: out of memory while searching"); }

/* ---- openings ---- */

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

/* On device d as far as possible. */
static void put_on(const clf_problem *p, clf_part *part, int d) {
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
        put_on(s->p, &v->part[v->npart++], d);
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

/* Copied expressions that a part lists without storing them need no place there. */
static void drop_copies(clf_searcher *s, clf_cover *c) {
    for (int32_t i = 0; i < c->npart; i++) {
        clf_part *part = &c->part[i];
        int32_t kept = 0;
        for (int32_t j = 0; j < part->n; j++)
            if (!(s->p->is[part->node[j]] & CLF_IS_COPIED) || clf_cover_stores(c, i, part->node[j])) part->node[kept++] = part->node[j];
        part->n = kept;
    }
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

/* ---- putting together ---- */

/* The parts in s->leaf, with the makers of the nodes of component k, become parts of the cover. */
static clf_status keep_leaf(clf_searcher *s, int32_t k, clf_err *err) {
    clf_cover *out = s->out, *v = &s->leaf;
    for (int32_t i = 0; i < v->npart; i++) {
        clf_part *to = &out->part[out->npart + i];
        *to = v->part[i];
        to->node = clf_arena_new(s->arena, (size_t)to->n, sizeof *to->node);
        if (!to->node) return no_memory(err);
        memcpy(to->node, v->part[i].node, (size_t)to->n * sizeof *to->node);
    }
    for (int32_t i = 0; i < s->size[k]; i++) {
        int32_t n = s->nodes[s->start[k] + i];
        out->maker[n] = v->maker[n] < 0 ? -1 : out->npart + v->maker[n];
        v->maker[n] = -1; /* what the next component sees is memory */
    }
    out->npart += v->npart;
    return CLF_OK;
}

static clf_status lend(clf_searcher *s, clf_component *c, clf_arena *a, clf_err *err) {
    size_t n = (size_t)c->n;
    c->opt = s->opt;
    c->leaf = s->leaf;
    c->pricer = &s->pricer;
    c->mark = s->mark;
    c->owner = s->owner;
    c->ids = clf_arena_new(a, n * n, sizeof *c->ids);
    c->up = clf_arena_new(a, n, sizeof *c->up);
    c->order = clf_arena_new(a, n, sizeof *c->order);
    return c->ids && c->up && c->order ? CLF_OK : no_memory(err);
}

static void count(clf_searcher *s, const clf_component *c) {
    clf_search_stats *t = s->stats;
    t->plans += c->plans;
    t->covers *= (double)c->covers;
    t->stopped += c->stopped;
    if ((c->narrowed || c->stopped) && c->best > c->floor) t->gap = clf_ps_add(t->gap, c->best - c->floor);
}

/* Search component k in room of its own, its best opening being the one to beat. */
static clf_status search_component(clf_searcher *s, int32_t k, clf_arena *a, clf_err *err) {
    const clf_opening *best = NULL;
    clf_component c;
    bool fits;
    clf_ps least = CLF_PS_MOST;
    int on = 0;
    for (int i = 0; i < s->nopen * s->p->dev.n; i++) {
        clf_ps cost;
        CLF_TRY(price_opening(s, &s->open[i % s->nopen], k, i / s->nopen, &cost, err));
        if (best && cost >= least) continue;
        best = &s->open[i % s->nopen];
        on = i / s->nopen;
        least = cost;
    }
    CLF_TRY(clf_component_new(&c, s->p, s->nodes + s->start[k], s->size[k], s->local, s->demanded, a, &s->looks, &fits, err));
    s->stats->largest = s->size[k] > s->stats->largest ? s->size[k] : s->stats->largest;
    c.best = least;
    if (fits) {
        CLF_TRY(lend(s, &c, a, err));
        if (s->p->nsparse) CLF_TRY(clf_component_entries(&c, err));
        if (!clf_component_begin(&c)) return no_memory(err);
        CLF_TRY(clf_component_search(&c, err));
        count(s, &c);
    } else {
        s->stats->gap = clf_ps_add(s->stats->gap, least);
    }
    s->stats->cost = clf_ps_add(s->stats->cost, c.best);
    if (fits && c.found)
        clf_leaf_of_best(&c, &s->leaf);
    else if (s->p->nsparse)
        CLF_TRY(price_opening(s, best, k, on, &least, err)); /* again, for its layouts */
    else
        take_opening(s, best, k, on);
    return keep_leaf(s, k, err);
}

static clf_status search_all(clf_searcher *s, clf_err *err) {
    for (int32_t k = 0; k < s->p->g->n; k++) {
        clf_arena a;
        if (!s->size[k]) continue;
        CLF_TRY(clf_ask_on(s->opt->ask, CLF_STAGE_PLAN, "", (uint64_t)k, (uint64_t)s->p->g->n, err));
        s->stats->components++;
        clf_arena_init_from(&a, s->arena->mem, s->arena->spares);
        clf_status st = search_component(s, k, &a, err);
        clf_arena_release(&a);
        CLF_TRY(st);
    }
    return CLF_OK;
}

/* ---- the whole ---- */

static clf_status begin(clf_searcher *s, clf_err *err) {
    size_t n = (size_t)s->p->g->n;
    s->comp = clf_arena_new(s->arena, n, sizeof *s->comp);
    s->demanded = clf_arena_new(s->arena, n, 1);
    s->wanted = clf_arena_new(s->arena, n, 1);
    s->mark = clf_arena_new(s->arena, n, 1);
    s->local = clf_arena_new(s->arena, n, sizeof *s->local);
    s->size = clf_arena_new(s->arena, n, sizeof *s->size);
    s->start = clf_arena_new(s->arena, n, sizeof *s->start);
    s->nodes = clf_arena_new(s->arena, n, sizeof *s->nodes);
    s->owner = clf_arena_new(s->arena, n, sizeof *s->owner);
    s->up = clf_arena_new(s->arena, n, sizeof *s->up);
    if (!s->comp || !s->demanded || !s->wanted || !s->mark || !s->local || !s->size || !s->start || !s->nodes || !s->owner || !s->up)
        return no_memory(err);
    static const char *const opens[] = {"all", "nored"};
    for (int i = 0; i < 2; i++) CLF_TRY(clf_select(s->p->m, clf_selector_find(opens[i]), s->p->lim, s->arena, &s->open[i].cover, err));
    s->nopen = 2;
    if (s->p->nsparse) CLF_TRY(clf_searcher_apart(s, err));
    clf_searcher_wanted(s);
    for (int i = 0; i < s->nopen; i++) drop_copies(s, &s->open[i].cover);
    CLF_TRY(clf_searcher_components(s, err));
    for (int i = 0; i < s->nopen; i++) CLF_TRY(sort_opening(s, &s->open[i], err));
    CLF_TRY(clf_cover_begin(&s->leaf, s->p->g, 0, s->arena, err));
    s->leaf.part = clf_arena_new(s->arena, n, sizeof *s->leaf.part);
    if (!s->leaf.part) return no_memory(err);
    for (size_t i = 0; i < n; i++) s->leaf.copied[i] = !!(s->p->is[i] & CLF_IS_COPIED);
    clf_cover_copies(&s->leaf, s->p->g);
    return clf_pricer_new(s->p, s->arena, &s->pricer, err);
}

/* Room for all parts: a node opens one at most, or an opening has them. */
static clf_status begin_cover(clf_searcher *s, clf_err *err) {
    CLF_TRY(clf_cover_begin(s->out, s->p->g, 3 * s->p->g->n + s->p->g->nroot, s->arena, err));
    s->out->part = clf_arena_new(s->arena, (size_t)s->p->g->n, sizeof *s->out->part);
    if (!s->out->part) return no_memory(err);
    memcpy(s->out->copied, s->leaf.copied, (size_t)s->p->g->n);
    memcpy(s->out->copies, s->leaf.copies, (size_t)s->p->g->n);
    return CLF_OK;
}

/* The i-th of the openings on all devices, as it is. */
static clf_status price_whole(clf_searcher *s, int i, clf_ps *cost, clf_err *err) {
    clf_cover *c = &s->open[i % s->nopen].cover;
    bool all;
    for (int32_t k = 0; k < c->npart; k++) put_on(s->p, &c->part[k], i / s->nopen);
    return clf_cover_layouts(&s->pricer, c, cost, &all, err);
}

/* Components that need each other in a circle only when put together: the cheaper opening as a whole. */
static clf_status take_whole(clf_searcher *s, clf_err *err) {
    clf_ps least = CLF_PS_MOST;
    int best = 0;
    for (int i = 0; i < s->nopen * s->p->dev.n; i++) {
        clf_ps cost;
        CLF_TRY(price_whole(s, i, &cost, err));
        if (cost < least) best = i;
        if (cost < least) least = cost;
    }
    CLF_TRY(price_whole(s, best, &least, err));
    *s->out = s->open[best % s->nopen].cover;
    s->stats->whole = true;
    s->stats->gap = least - s->stats->cost;
    s->stats->cost = least;
    return CLF_OK;
}

clf_status clf_search(const clf_problem *p, const clf_search_options *opt, clf_arena *arena, clf_cover *out, clf_search_stats *stats,
                      clf_err *err) {
    clf_searcher s = {.p = p, .opt = opt, .arena = arena, .out = out, .stats = stats, .looks = (int64_t)LOOKS * p->g->n};
    bool cyclic;
    memset(stats, 0, sizeof *stats);
    stats->covers = 1;
    CLF_TRY(begin(&s, err));
    CLF_TRY(begin_cover(&s, err));
    CLF_TRY(search_all(&s, err));
    CLF_TRY(clf_cover_sort(p, out, arena, &cyclic, err));
    if (cyclic) return take_whole(&s, err);
    clf_cover_drivers(p->g, out);
    return CLF_OK;
}
