/* SPDX-License-Identifier: Apache-2.0
 * Strips: tiles of many leaves, for programs that only fold what they load.
 *
 * What is done between two tiles is some hundred instructions, behind which a processor does not look far enough into the next tile: loads
 * from memory stop for as long as one takes. Loops need tiles that fit into the first cache. Folds of operands in place need none. */
#include "host/run/tile_run.h"

enum { STRIP = 64 * CLF_TILE };

static bool is_loaded(const clf_tile *t, int32_t slot) {
    for (int i = 0; i < t->nsource; i++)
        if (t->source[i].slot == slot) return t->source[i].kind == CLF_SRC_LOAD && t->source[i].level == CLF_LV_CELL;
    return slot < 0;
}

static bool only_folds(const clf_tile *t) {
    for (int i = 0; i < t->ninstr[CLF_LV_CELL]; i++) {
        const clf_tile_instr *in = &t->instr[CLF_LV_CELL][i];
        if (in->sink < 0 || t->sink[in->sink].kind == CLF_TS_STORE) return false;
        if (!is_loaded(t, in->a) || !is_loaded(t, in->b) || !is_loaded(t, in->c)) return false;
    }
    return t->ninstr[CLF_LV_CELL] > 0;
}

static int cell_loads(const clf_tile *t) {
    int n = 0;
    for (int i = 0; i < t->nsource; i++) n += t->source[i].level == CLF_LV_CELL;
    return n;
}

/* Does an earlier one of the instructions read the first operand of instruction i? */
static bool met_before(const clf_tile_instr *in, int i) {
    for (int k = 0; k < i; k++)
        if (in[k].a == in[i].a || in[k].b == in[i].a || in[k].c == in[i].a) return true;
    return false;
}

void clf_tile_note_strips(clf_tile *t) {
    const clf_tile_instr *in = t->instr[CLF_LV_CELL];
    t->only_folds = only_folds(t);
    if (!t->only_folds) return;
    for (int i = 0; i < t->ninstr[CLF_LV_CELL]; i++) {
        clf_tile_sink *s = &t->sink[in[i].sink];
        if (met_before(in, i) || (!s->fused && cell_loads(t) > 1)) continue;
        s->leaf = s->fused ? s->fused->leaf_ahead : s->fold->leaf_ahead;
        s->long_rows = s->fused ? s->fused->rows_ahead : s->fold->rows_ahead;
        if (!s->fused) s->rows = s->long_rows;
    }
}

void clf_tile_choose_strip(clf_tile_job *j) {
    const clf_tile *t = j->t;
    int64_t end = INT64_MAX;
    j->strip = j->in_place = 0;
    if (!t->only_folds) return;
    for (int i = 0; i < t->nsource; i++) {
        const clf_tile_place *p = &j->place[i];
        if (t->source[i].level != CLF_LV_CELL) continue;
        if (p->col != 1 || (j->rows != 1 && p->row != j->cols)) return;
        if (p->elems < end) end = p->elems;
    }
    j->strip = STRIP;
    j->in_place = end - CLF_TILE_PAD;
}
