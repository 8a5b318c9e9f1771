/* SPDX-License-Identifier: Apache-2.0
 * What a tile reads next (ahead.h). */
#ifndef CLF_RUN_TILE_AHEAD_H
#define CLF_RUN_TILE_AHEAD_H
#include "host/run/ahead.h"
#include "host/run/tile_run.h"

/* Cells of the next tile lie behind those of this one. */
static inline void clf_look_ahead(const clf_tile_frame *f, clf_ahead *a) {
    const clf_tile_job *j = f->job;
    const clf_tile *t = j->t;
    a->loads = a->now = 0, a->lines = a->share = 0;
    if (t->ninstr[CLF_LV_CELL] < CLF_AHEAD_LOOPS) return;
    for (int i = 0; i < t->nsource; i++) {
        const clf_tile_source *s = &t->source[i];
        if (s->level != CLF_LV_CELL || s->kind != CLF_SRC_LOAD || f->slot[s->slot] == clf_tile_reg(f, s->slot)) continue;
        const char *next = (const char *)f->slot[s->slot] + ((size_t)f->n << s->log2);
        clf_ahead_add(a, next, f->n << s->log2, j->place[i].at + ((size_t)j->place[i].elems << s->log2) - next);
    }
    a->share = (a->lines + t->ninstr[CLF_LV_CELL] - 1) / t->ninstr[CLF_LV_CELL];
}
#endif
