/* SPDX-License-Identifier: Apache-2.0
 * Depth-first branch and bound over each component, and its result put together with what needs no choice. See search.h. */
#include "planner/search.h"

#include <string.h>

#include "planner/searching.h"

enum {
    BUDGET = 1000, /* partial covers of a component, about a microsecond each */
    LOOKS = 256    /* for each node of the graph; a few nanoseconds each */
};

/* ---- one component ---- */

static bool push_option(clf_component *c, clf_option o) {
    if (c->noption == c->cap_option) {
        int32_t cap = c->cap_option ? 2 * c->cap_option : 256;
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
    clf_ps bound = legal ? clf_bound(c) : CLF_PS_MOST;
    clf_undo(c, top);
    if (legal && (bound < c->best || c->opt->unbounded)) (void)push_option(c, (clf_option){bound, mask, maker});
}

/* All options of q that may lead to something cheaper, the least bound first, else in the order in which they are named: taking q in
 * everywhere first. None where the same was searched before. */
static void open_frame(clf_component *c, int32_t q) {
    int32_t first = c->noption;
    clf_view v;
    c->frame[q] = (clf_frame){.top = c->top, .first = first};
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
        for (; k > first && c->option[k - 1].bound > o.bound; k--) c->option[k] = c->option[k - 1];
        c->option[k] = o;
    }
}

/* No recursion: a frame a node. Ends early when more is certain of a better cover than was at first. */
static clf_status descend(clf_component *c, clf_err *err) {
    int64_t budget = c->opt->budget ? c->opt->budget : BUDGET;
    int32_t q = 0;
    c->renewed = false;
    c->floor = clf_bound(c);
    open_frame(c, 0);
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
            open_frame(c, ++q);
        c->renewed = q + 1 == c->n && clf_component_fixable(c);
        if (c->renewed) break;
        if (c->failed) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory while searching");
    }
    return CLF_OK;
}

/* Once a cover is known that makes more certain, the search begins again without what is taken out. */
static clf_status explore(clf_component *c, clf_err *err) {
    do {
        clf_undo(c, 0);
        c->noption = 0;
        clf_seen_nothing(c);
        if (!clf_component_fix(c)) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory while searching");
        CLF_TRY(descend(c, err));
    } while (c->renewed);
    return CLF_OK;
}

/* ---- components ---- */

typedef struct opening {
    clf_cover cover;
    int32_t *first, *next;
} opening; /* parts of each component, chained; numbers are indices + 1 */

typedef struct searcher {
    const clf_problem *p;
    const clf_search_options *opt;
    clf_arena *arena;
    int32_t *comp; /* node -> component, named by a node of it; union-find first */
    uint8_t *demanded, *wanted;
    int32_t *local, *size, *start, *nodes; /* nodes by component */
    opening open[2];
    clf_cover leaf, *out;
    clf_pricer pricer;
    clf_search_stats *stats;
    uint8_t *mark;
    int32_t *owner, *up;
    int64_t looks; /* nodes between those of a component that may still be looked at */
} searcher;

static clf_status no_memory(clf_err *err) { return clf_fail(err, CLF_E_NOMEM, "planning: out of memory while searching"); }

/* A node that is some part's: needed, and not only copied. */
static bool counts(const searcher *s, int32_t n) {
    int is = s->p->is[n];
    if (!(is & CLF_IS_NEEDED) || (is & CLF_IS_SLOT)) return false;
    return !(is & CLF_IS_COPIED) || s->wanted[n] || (is & CLF_IS_ROOT);
}

static int32_t find(int32_t *up, int32_t i) {
    while (up[i] != i) i = up[i] = up[up[i]];
    return i;
}

static void link(searcher *s, int32_t a, int32_t b) {
    a = find(s->comp, a);
    b = find(s->comp, b);
    if (a != b) s->comp[a > b ? a : b] = a > b ? b : a;
}

/* Readers of one operand in loops of one class may join: they are chained by (operand, class). */
typedef struct reading {
    int32_t operand, class_, node, next;
} reading;

static clf_status link_readers(searcher *s, clf_err *err) {
    const clf_graph *g = s->p->g;
    size_t nb = 64;
    int32_t nr = 0;
    while (nb < (size_t)g->n) nb *= 2;
    int32_t *bucket = clf_arena_new(s->arena, nb, sizeof *bucket);
    reading *r = clf_arena_new(s->arena, 3 * (size_t)g->n, sizeof *r);
    if (!bucket || !r) return no_memory(err);
    for (int32_t n = 0; n < g->n; n++) {
        if (!counts(s, n)) continue;
        for (int k = 0; k < g->node[n].nin; k++) {
            int32_t q = clf_node_operand(g, n, k), key[2] = {q, s->p->class_[n]};
            if (!(s->p->by_rows[n] >> k & 1)) continue;
            size_t h = clf_hash64(key, sizeof key, 0) & (nb - 1);
            int32_t e = bucket[h];
            while (e && (r[e - 1].operand != q || r[e - 1].class_ != key[1])) e = r[e - 1].next;
            if (e) {
                link(s, r[e - 1].node, n);
                continue;
            }
            r[nr] = (reading){q, key[1], n, bucket[h]};
            bucket[h] = ++nr;
        }
    }
    return CLF_OK;
}

/* Copied expressions that somebody may read from memory. */
static void find_wanted(searcher *s) {
    const clf_graph *g = s->p->g;
    for (int32_t n = 0; n < g->n; n++)
        for (int k = 0; k < g->node[n].nin && (s->p->is[n] & CLF_IS_NEEDED); k++)
            if ((s->p->is[n] & CLF_CAN_ALONE) || !(s->p->copies[n] >> k & 1)) s->wanted[clf_node_operand(g, n, k)] = 1;
}

/* What n reads: operand k, or what a loop computes it from. */
static int reads_of(const searcher *s, int32_t n, int k, int32_t in[CLF_MOST_SOURCES]) {
    int32_t q = clf_node_operand(s->p->g, n, k);
    if (s->p->copies[n] >> k & 1) return clf_problem_sources(s->p, q, in);
    in[0] = q;
    return 1;
}

/* What is read from another component. */
static void find_demand(searcher *s) {
    const clf_graph *g = s->p->g;
    for (int32_t n = 0; n < g->n; n++)
        for (int k = 0; k < g->node[n].nin && counts(s, n); k++) {
            int32_t in[CLF_MOST_SOURCES];
            for (int i = reads_of(s, n, k, in); i-- > 0;) s->demanded[in[i]] |= s->comp[in[i]] != s->comp[n];
        }
}

/* What an opening cover computes in one loop for two components, by way of what both copy, couples them. */
static void link_parts(searcher *s, const clf_cover *c) {
    for (int32_t i = 0; i < c->npart; i++) {
        int32_t first = -1;
        for (int32_t j = 0; j < c->part[i].n; j++) {
            int32_t n = c->part[i].node[j];
            if (!counts(s, n)) continue;
            if (first >= 0) link(s, first, n);
            first = n;
        }
    }
}

/* Is something brought, or converted, once for all who read it? */
static bool shares_what_is_read(const searcher *s) {
    bool shared = s->p->nsparse > 0;
    for (int d = 1; d < s->p->dev.n; d++) shared = shared || clf_cost_transfer(s->p->dev.profile[d], 1) > 0;
    return shared;
}

/* Devices and formats couple who makes a value and who reads it, and perhaps all who read the same. */
static void link_all(searcher *s) {
    bool readers = shares_what_is_read(s);
    const clf_graph *g = s->p->g;
    int32_t in[CLF_MOST_SOURCES], *reader = s->local; /* of each node: one, + 1 */
    for (int32_t n = 0; n < g->n; n++)
        for (int k = 0; k < g->node[n].nin && counts(s, n); k++)
            for (int i = reads_of(s, n, k, in); i-- > 0;) {
                if (counts(s, in[i])) link(s, n, in[i]);
                if (readers && reader[in[i]]) link(s, reader[in[i]] - 1, n);
                reader[in[i]] = n + 1;
            }
    memset(reader, 0, (size_t)g->n * sizeof *reader);
}

static clf_status find_components(searcher *s, clf_err *err) {
    const clf_graph *g = s->p->g;
    for (int32_t n = 0; n < g->n; n++) s->comp[n] = n;
    for (int32_t n = 0; n < g->n; n++)
        for (int k = 0; k < g->node[n].nin && counts(s, n); k++) {
            int32_t q = clf_node_operand(g, n, k);
            bool tied = (s->p->inside[n] | s->p->copies[n]) >> k & 1; /* what is copied may be stored by a loop that wants it */
            if (tied && counts(s, q)) link(s, n, q);
        }
    CLF_TRY(link_readers(s, err));
    if (s->p->dev.n > 1 || s->p->nsparse) link_all(s);
    for (int o = 0; o < 2; o++) link_parts(s, &s->open[o].cover);
    for (int32_t n = 0; n < g->n; n++) {
        s->comp[n] = find(s->comp, n);
        if (counts(s, n)) s->size[s->comp[n]]++;
    }
    find_demand(s);
    int32_t at = 0;
    for (int32_t n = 0; n < g->n; n++) {
        s->start[n] = at;
        at += s->size[n];
        s->size[n] = 0;
    }
    for (int32_t n = 0; n < g->n; n++)
        if (counts(s, n)) s->nodes[s->start[s->comp[n]] + s->size[s->comp[n]]++] = n;
    return CLF_OK;
}

/* The opening's parts by component, in order. */
static clf_status sort_opening(searcher *s, opening *o, clf_err *err) {
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
static void put_on(const clf_problem *p, clf_part *part, int d) { part->device = (uint8_t)(part->loop || !p->dev.loops_only[d] ? d : 0); }

/* The opening's parts of component k on device d, as a cover of their own. */
static void take_opening(searcher *s, const opening *o, int32_t k, int d) {
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
static bool opening_legal(searcher *s) {
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
static void drop_copies(searcher *s, clf_cover *c) {
    for (int32_t i = 0; i < c->npart; i++) {
        clf_part *part = &c->part[i];
        int32_t kept = 0;
        for (int32_t j = 0; j < part->n; j++)
            if (!(s->p->is[part->node[j]] & CLF_IS_COPIED) || clf_cover_stores(c, i, part->node[j])) part->node[kept++] = part->node[j];
        part->n = kept;
    }
}

/* In the layouts that are cheapest. */
static clf_status price_opening(searcher *s, const opening *o, int32_t k, int d, clf_ps *cost, clf_err *err) {
    bool all;
    take_opening(s, o, k, d);
    *cost = CLF_PS_MOST;
    if (s->size[k] <= CLF_MOST_SEARCHED && !opening_legal(s)) return CLF_OK;
    return clf_cover_layouts(&s->pricer, &s->leaf, cost, &all, err);
}

/* ---- putting together ---- */

/* The parts in s->leaf, with the makers of the nodes of component k, become parts of the cover. */
static clf_status keep_leaf(searcher *s, int32_t k, clf_err *err) {
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

static clf_status lend(searcher *s, clf_component *c, clf_arena *a, clf_err *err) {
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

static void count(searcher *s, const clf_component *c) {
    clf_search_stats *t = s->stats;
    t->plans += c->plans;
    t->covers *= (double)c->covers;
    t->stopped += c->stopped;
    if ((c->narrowed || c->stopped) && c->best > c->floor) t->gap = clf_ps_add(t->gap, c->best - c->floor);
}

/* Search component k in room of its own, its best opening being the one to beat. */
static clf_status search_component(searcher *s, int32_t k, clf_arena *a, clf_err *err) {
    const opening *best = NULL;
    clf_component c;
    bool fits;
    clf_ps least = CLF_PS_MOST;
    int on = 0;
    for (int i = 0; i < 2 * s->p->dev.n; i++) {
        clf_ps cost;
        CLF_TRY(price_opening(s, &s->open[i % 2], k, i / 2, &cost, err));
        if (best && cost >= least) continue;
        best = &s->open[i % 2];
        on = i / 2;
        least = cost;
    }
    CLF_TRY(clf_component_new(&c, s->p, s->nodes + s->start[k], s->size[k], s->local, s->demanded, a, &s->looks, &fits, err));
    s->stats->largest = s->size[k] > s->stats->largest ? s->size[k] : s->stats->largest;
    c.best = least;
    if (fits) {
        CLF_TRY(lend(s, &c, a, err));
        if (s->p->nsparse) CLF_TRY(clf_component_entries(&c, err));
        if (!clf_component_begin(&c)) return no_memory(err);
        CLF_TRY(explore(&c, err));
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

static clf_status search_all(searcher *s, clf_err *err) {
    for (int32_t k = 0; k < s->p->g->n; k++) {
        clf_arena a;
        if (!s->size[k]) continue;
        s->stats->components++;
        clf_arena_init(&a, s->arena->mem);
        clf_status st = search_component(s, k, &a, err);
        clf_arena_release(&a);
        CLF_TRY(st);
    }
    return CLF_OK;
}

/* ---- the whole ---- */

static clf_status begin(searcher *s, clf_err *err) {
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
    find_wanted(s);
    for (int i = 0; i < 2; i++) drop_copies(s, &s->open[i].cover);
    CLF_TRY(find_components(s, err));
    for (int i = 0; i < 2; i++) CLF_TRY(sort_opening(s, &s->open[i], err));
    CLF_TRY(clf_cover_begin(&s->leaf, s->p->g, 0, s->arena, err));
    s->leaf.part = clf_arena_new(s->arena, n, sizeof *s->leaf.part);
    if (!s->leaf.part) return no_memory(err);
    for (size_t i = 0; i < n; i++) s->leaf.copied[i] = !!(s->p->is[i] & CLF_IS_COPIED);
    clf_cover_copies(&s->leaf, s->p->g);
    return clf_pricer_new(s->p, s->arena, &s->pricer, err);
}

/* Room for all parts: a node opens one at most, or an opening has them. */
static clf_status begin_cover(searcher *s, clf_err *err) {
    CLF_TRY(clf_cover_begin(s->out, s->p->g, 3 * s->p->g->n + s->p->g->nroot, s->arena, err));
    s->out->part = clf_arena_new(s->arena, (size_t)s->p->g->n, sizeof *s->out->part);
    if (!s->out->part) return no_memory(err);
    memcpy(s->out->copied, s->leaf.copied, (size_t)s->p->g->n);
    memcpy(s->out->copies, s->leaf.copies, (size_t)s->p->g->n);
    return CLF_OK;
}

/* The i-th of the openings on all devices, as it is. */
static clf_status price_whole(searcher *s, int i, clf_ps *cost, clf_err *err) {
    clf_cover *c = &s->open[i % 2].cover;
    bool all;
    for (int32_t k = 0; k < c->npart; k++) put_on(s->p, &c->part[k], i / 2);
    return clf_cover_layouts(&s->pricer, c, cost, &all, err);
}

/* Components that need each other in a circle only when put together: the cheaper opening as a whole. */
static clf_status take_whole(searcher *s, clf_err *err) {
    clf_ps least = CLF_PS_MOST;
    int best = 0;
    for (int i = 0; i < 2 * s->p->dev.n; i++) {
        clf_ps cost;
        CLF_TRY(price_whole(s, i, &cost, err));
        if (cost < least) best = i;
        if (cost < least) least = cost;
    }
    CLF_TRY(price_whole(s, best, &least, err));
    *s->out = s->open[best % 2].cover;
    s->stats->whole = true;
    s->stats->gap = least - s->stats->cost;
    s->stats->cost = least;
    return CLF_OK;
}

clf_status clf_search(const clf_problem *p, const clf_search_options *opt, clf_arena *arena, clf_cover *out, clf_search_stats *stats,
                      clf_err *err) {
    searcher s = {.p = p, .opt = opt, .arena = arena, .out = out, .stats = stats, .looks = (int64_t)LOOKS * p->g->n};
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
