/* SPDX-License-Identifier: Apache-2.0
 * Parts in executable order: a part stands behind those that store what it reads. Among parts that could be next, those on the device of
 * the part before go first, so that devices wait for each other seldom; among these the one that stood first. */
#include "planner/problem.h"

typedef struct edge {
    int32_t part, next;
} edge;

typedef struct ordering {
    const clf_problem *p;
    clf_cover *c;
    int32_t *waits, *first; /* parts that it waits for; its edges to those that wait for it, numbers + 1 */
    edge *edge;
    int32_t nedge, cap;
    int32_t *heap[CLF_MOST_DEVICES], nheap[CLF_MOST_DEVICES]; /* parts that could be next, by device */
    int at;                                                   /* the device of the last */
    clf_arena *arena;
    bool failed;
} ordering;

static void put_edge(ordering *o, int32_t from, int32_t to) {
    if (o->nedge == o->cap) {
        int32_t cap = o->cap ? 2 * o->cap : 64;
        edge *e = clf_arena_new(o->arena, (size_t)cap, sizeof *e);
        o->failed = o->failed || !e;
        if (!e) return;
        for (int32_t i = 0; i < o->nedge; i++) e[i] = o->edge[i];
        o->edge = e;
        o->cap = cap;
    }
    o->edge[o->nedge++] = (edge){to, o->first[from]};
    o->first[from] = o->nedge;
    o->waits[to]++;
}

static void read_from(ordering *o, int32_t i, int32_t q) {
    int32_t m = o->c->maker[q];
    if (m >= 0 && m != i && !clf_cover_has(o->c, i, q)) put_edge(o, m, i);
}

static void find_edges(ordering *o, int32_t i) {
    const clf_part *part = &o->c->part[i];
    int32_t in[CLF_MOST_SOURCES];
    clf_cover_enter(o->c, i);
    for (int32_t j = 0; j < part->n; j++)
        for (int k = 0; k < o->p->g->node[part->node[j]].nin; k++) {
            int32_t q = clf_node_operand(o->p->g, part->node[j], k);
            bool copied = part->loop && (o->c->copies[part->node[j]] >> k & 1);
            for (int s = copied ? clf_problem_sources(o->p, q, in) : 0; s-- > 0;) read_from(o, i, in[s]);
            if (!copied) read_from(o, i, q);
        }
}

/* Smallest first: a heap of numbers. */
static void heap_put(int32_t *h, int32_t *n, int32_t x) {
    int32_t i = (*n)++;
    for (; i && h[(i - 1) / 2] > x; i = (i - 1) / 2) h[i] = h[(i - 1) / 2];
    h[i] = x;
}

static int32_t heap_take(int32_t *h, int32_t *n) {
    int32_t least = h[0], x = h[--*n], i = 0;
    for (int32_t k; (k = 2 * i + 1) < *n; i = k) {
        if (k + 1 < *n && h[k + 1] < h[k]) k++;
        if (h[k] >= x) break;
        h[i] = h[k];
    }
    h[i] = x;
    return least;
}

/* Parts that wait for nothing any more, by device. */
static void ready(ordering *o, int32_t i) {
    int d = o->c->part[i].device;
    heap_put(o->heap[d], &o->nheap[d], i);
}

/* The next one, if possible on the device of the last; -1: there is none. */
static int32_t take_next(ordering *o) {
    for (int d = 0; d < o->p->dev.n && !o->nheap[o->at]; d++)
        if (o->nheap[d]) o->at = d;
    return o->nheap[o->at] ? heap_take(o->heap[o->at], &o->nheap[o->at]) : -1;
}

clf_status clf_cover_sort(const clf_problem *p, clf_cover *c, clf_arena *arena, bool *cyclic, clf_err *err) {
    size_t np = (size_t)c->npart;
    ordering o = {.p = p, .c = c, .arena = arena, .waits = clf_arena_new(arena, np, sizeof *o.waits)};
    o.first = clf_arena_new(arena, np, sizeof *o.first);
    int32_t *heap = clf_arena_new(arena, np * (size_t)p->dev.n, sizeof *heap), *place = clf_arena_new(arena, np, sizeof *place), done = 0;
    clf_part *sorted = clf_arena_new(arena, np + 1, sizeof *sorted);
    if (!o.waits || !o.first || !heap || !place || !sorted) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    for (int d = 0; d < p->dev.n; d++) o.heap[d] = heap + np * (size_t)d;
    for (int32_t i = 0; i < c->npart; i++) find_edges(&o, i);
    if (o.failed) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    for (int32_t i = 0; i < c->npart; i++)
        if (!o.waits[i]) ready(&o, i);
    for (int32_t i; (i = take_next(&o)) >= 0;) {
        place[i] = done;
        sorted[done++] = c->part[i];
        for (int32_t e = o.first[i]; e; e = o.edge[e - 1].next)
            if (--o.waits[o.edge[e - 1].part] == 0) ready(&o, o.edge[e - 1].part);
    }
    *cyclic = done < c->npart;
    if (*cyclic) return CLF_OK;
    for (int32_t q = 0; q < p->g->n; q++) {
        c->member[q] = 0;
        if (c->maker[q] >= 0) c->maker[q] = place[c->maker[q]];
    }
    c->part = sorted;
    return CLF_OK;
}
