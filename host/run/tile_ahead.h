/* SPDX-License-Identifier: Apache-2.0
 * What the next tile reads, fetched while this one is computed. A processor's own prefetching follows a stream for as long as it is read;
 * many loops over a tile are too long a pause for it, and it would start anew with each tile. Programs of few loops it serves well. */
#ifndef CLF_RUN_TILE_AHEAD_H
#define CLF_RUN_TILE_AHEAD_H
#include "host/run/tile_run.h"

enum { CLF_AHEAD_LOOPS = 4, CLF_AHEAD_LOADS = 8, CLF_AHEAD_LINE = 64 };

/* Per load in place: what of its next cells is still to be fetched. */
typedef struct clf_ahead {
    const char *at[CLF_AHEAD_LOADS], *end[CLF_AHEAD_LOADS];
    int loads, now;
    int64_t share; /* lines per loop */
} clf_ahead;

/* Cells of the next tile lie behind those of this one. */
static inline void clf_look_ahead(const clf_tile_frame *f, clf_ahead *a) {
    const clf_tile_job *j = f->job;
    const clf_tile *t = j->t;
    int64_t lines = 0;
    a->loads = a->now = 0, a->share = 0;
    if (t->ninstr[CLF_LV_CELL] < CLF_AHEAD_LOOPS) return;
    for (int i = 0; i < t->nsource && a->loads < CLF_AHEAD_LOADS; i++) {
        const clf_tile_source *s = &t->source[i];
        if (s->level != CLF_LV_CELL || s->kind != CLF_SRC_LOAD || f->slot[s->slot] == clf_tile_reg(f, s->slot)) continue;
        const char *next = (const char *)f->slot[s->slot] + ((size_t)f->n << s->log2);
        int64_t bytes = f->n << s->log2, left = j->place[i].at + ((size_t)j->place[i].elems << s->log2) - next;
        if (left < bytes) bytes = left;
        if (bytes <= 0) continue;
        a->at[a->loads] = next;
        a->end[a->loads++] = next + bytes;
        lines += (bytes - 1) / CLF_AHEAD_LINE + 1;
    }
    a->share = (lines + t->ninstr[CLF_LV_CELL] - 1) / t->ninstr[CLF_LV_CELL];
}

/* A loop's share of it, into the second-level cache: the first is the registers'. */
static inline void clf_fetch_ahead(clf_ahead *a) {
    for (int64_t k = a->share; k > 0 && a->now < a->loads;) {
        const char **at = &a->at[a->now];
        for (; k > 0 && *at < a->end[a->now]; k--, *at += CLF_AHEAD_LINE) __builtin_prefetch(*at, 0, 2);
        a->now += *at >= a->end[a->now];
    }
}
#endif
