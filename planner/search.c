/* SPDX-License-Identifier: Apache-2.0
 * The search over all components: openings to beat, one component after the other, and the results put together with what needs no choice.
 * See search.h. */
#include "planner/search.h"

#include <string.h>

#include "planner/searching.h"

enum { LOOKS = 256 }; /* for each node of the graph; a few nanoseconds each */

static clf_status no_memory(clf_err *err) { return clf_fail(err, CLF_E_NOMEM, "planning: out of memory while searching"); }

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

/* Has component k nothing to choose but the device: one node that only a loop computes, or only a step alone? Its openings are all. */
static bool is_plain(const clf_searcher *s, int32_t k) {
    int is = s->p->is[s->nodes[s->start[k]]], ways = is & (CLF_CAN_LOOP | CLF_CAN_ALONE);
    return s->size[k] == 1 && !s->p->nsparse && !(is & CLF_IS_COPIED) && (ways == CLF_CAN_LOOP || ways == CLF_CAN_ALONE);
}

/* What the search of a component found, or did not, is in s->leaf. */
static clf_status take_found(clf_searcher *s, int32_t k, clf_component *c, bool fits, clf_best_opening *best, clf_err *err) {
    if (!fits || !c->found) return clf_opening_take(s, k, best, err);
    clf_leaf_of_best(c, &s->leaf);
    return CLF_OK;
}

/* It is not proved the cheapest: perhaps a part belongs on another device, or in another loop. */
static clf_status improve(clf_searcher *s, int32_t k, clf_err *err) {
    clf_ps saved;
    if (s->p->dev.n < 2) return CLF_OK;
    CLF_TRY(clf_leaf_better(s, k, &saved, err));
    s->stats->cost -= saved;
    s->stats->gap -= saved < s->stats->gap ? saved : s->stats->gap;
    return CLF_OK;
}

/* Search component k in room of its own, its best opening being the one to beat. */
static clf_status search_component(clf_searcher *s, int32_t k, clf_best_opening *best, clf_arena *a, clf_err *err) {
    clf_component c;
    bool fits;
    CLF_TRY(clf_component_new(&c, s->p, s->nodes + s->start[k], s->size[k], s->local, s->demanded, a, &s->looks, &fits, err));
    c.best = best->cost;
    if (fits) {
        CLF_TRY(lend(s, &c, a, err));
        if (s->p->nsparse) CLF_TRY(clf_component_entries(&c, err));
        if (!clf_component_begin(&c)) return no_memory(err);
        CLF_TRY(clf_component_search(&c, err));
        count(s, &c);
    } else {
        s->stats->gap = clf_ps_add(s->stats->gap, best->cost);
    }
    s->stats->cost = clf_ps_add(s->stats->cost, c.best);
    CLF_TRY(take_found(s, k, &c, fits, best, err));
    return !fits || c.stopped || c.narrowed ? improve(s, k, err) : CLF_OK;
}

static clf_status choose_component(clf_searcher *s, int32_t k, clf_arena *a, clf_err *err) {
    clf_best_opening best;
    CLF_TRY(clf_opening_best(s, k, &best, err));
    s->stats->components++;
    s->stats->largest = s->size[k] > s->stats->largest ? s->size[k] : s->stats->largest;
    if (!is_plain(s, k) || s->opt->unbounded) {
        CLF_TRY(search_component(s, k, &best, a, err));
    } else {
        s->stats->cost = clf_ps_add(s->stats->cost, best.cost);
        CLF_TRY(clf_opening_take(s, k, &best, err));
    }
    return keep_leaf(s, k, err);
}

static clf_status search_all(clf_searcher *s, clf_err *err) {
    for (int32_t k = 0; k < s->p->g->n; k++) {
        clf_arena a;
        if (!s->size[k]) continue;
        CLF_TRY(clf_ask_on(s->opt->ask, CLF_STAGE_PLAN, "", (uint64_t)k, (uint64_t)s->p->g->n, err));
        clf_arena_init_from(&a, s->arena->mem, s->arena->spares);
        clf_status st = choose_component(s, k, &a, err);
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
    CLF_TRY(clf_openings_find(s, err));
    clf_searcher_wanted(s);
    clf_openings_trim(s);
    CLF_TRY(clf_searcher_components(s, err));
    CLF_TRY(clf_openings_sort(s, err));
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
    for (int32_t k = 0; k < c->npart; k++) clf_opening_put_on(s->p, &c->part[k], i / s->nopen);
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
