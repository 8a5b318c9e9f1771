/* SPDX-License-Identifier: Apache-2.0
 * One component searched: depth first, a frame of options a node, cut by the bound, until all is looked at or the budget is spent. */
#include <string.h>

#include "planner/searching.h"

enum { BUDGET = 1000, FEW = 50 };      /* partial covers of a component */
static const clf_ps covering = 100000; /* what costing one takes for each node of the component, about */

/* Partial covers that may be costed. A search that is part of many runs to come may take its share of one. */
static int64_t budget_of(const clf_component *c) {
    if (c->opt->budget) return c->opt->budget;
    if (!c->opt->share || c->best == CLF_PS_MOST) return BUDGET;
    double worth = (double)c->best / ((double)covering * c->n) * c->opt->share / 100;
    return worth < FEW ? FEW : worth < BUDGET ? (int64_t)worth : BUDGET;
}

static bool push_option(clf_component *c, clf_option o) {
    if (c->noption == c->cap_option) {
        int32_t cap = c->cap_option ? 2 * c->cap_option : 32;
        clf_option *v = clf_arena_new(c->arena, (size_t)cap, sizeof *v);
        if (!v) return !(c->failed = true);
        if (c->noption) memcpy(v, c->option, (size_t)c->noption * sizeof *v);
        c->option = v;
        c->cap_option = cap;
    }
    c->option[c->noption++] = o;
    return true;
}

/* Cost one option and take it back. */
static void try_option(clf_component *c, int32_t q, const clf_view *v, uint32_t mask, int32_t maker) {
    int32_t top = c->top;
    c->plans++;
    bool legal = clf_decide(c, q, v, mask, maker);
    clf_ps own = legal ? clf_bound(c) : CLF_PS_MOST, bound = own > c->frame[q].bound ? own : c->frame[q].bound;
    clf_undo(c, top);
    if (legal && (bound < c->best || c->opt->unbounded)) (void)push_option(c, (clf_option){bound, own, mask, maker});
}

/* All options of q that may lead to something cheaper, the least bound first, else in the order in which they are named: taking q in
 * everywhere first. None where the same was searched before. */
static void open_frame(clf_component *c, int32_t q, clf_ps bound) {
    int32_t first = c->noption;
    clf_view v;
    c->frame[q] = (clf_frame){.top = c->top, .first = first, .bound = bound};
    if (clf_seen_before(c, q)) return;
    clf_look(c, q, &v);
    c->narrowed = c->narrowed || v.more;
    for (int64_t mask = (1 << v.n) - 1; mask >= 0; mask--) {
        int32_t makers = clf_makers(c, q, &v, (uint32_t)mask);
        for (int32_t m = 0; m < makers; m++) try_option(c, q, &v, (uint32_t)mask, m);
    }
    c->frame[q].n = c->noption - first;
    for (int32_t i = first + 1; i < c->noption; i++) { /* few, and stable */
        clf_option o = c->option[i];
        int32_t k = i;
        for (; k > first && c->option[k - 1].own > o.own; k--) c->option[k] = c->option[k - 1];
        c->option[k] = o;
    }
}

/* No recursion: a frame a node. Ends early when more is certain of a better cover than was at first. */
static clf_status descend(clf_component *c, clf_err *err) {
    int64_t budget = budget_of(c);
    int32_t q = 0;
    c->renewed = false;
    c->floor = clf_bound(c);
    if (c->floor >= c->best && !c->opt->unbounded) return CLF_OK; /* nothing is cheaper */
    open_frame(c, 0, c->floor);
    while (q >= 0) {
        clf_frame *f = &c->frame[q];
        clf_undo(c, f->top);
        const clf_option *o = f->next < f->n ? &c->option[f->first + f->next++] : NULL;
        if (!o || (o->bound >= c->best && !c->opt->unbounded)) {
            c->noption = f->first;
            q--;
            continue;
        }
        c->stopped = c->plans >= budget && c->best < CLF_PS_MOST;
        if (c->stopped) break;
        clf_view v;
        clf_look(c, q, &v);
        (void)clf_decide(c, q, &v, o->mask, o->maker);
        if (q + 1 == c->n)
            CLF_TRY(clf_leaf(c, err));
        else
            open_frame(c, ++q, o->bound);
        c->renewed = q + 1 == c->n && clf_component_fixable(c);
        if (c->renewed) break;
        if (c->failed) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory while searching");
    }
    return CLF_OK;
}

/* Once a cover is known that makes more certain, the search begins again without what is taken out. */
clf_status clf_component_search(clf_component *c, clf_err *err) {
    do {
        clf_undo(c, 0);
        c->noption = 0;
        clf_seen_nothing(c);
        if (!clf_component_fix(c)) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory while searching");
        CLF_TRY(descend(c, err));
    } while (c->renewed);
    return CLF_OK;
}
