/* SPDX-License-Identifier: Apache-2.0
 * Sinks over rows, from the parts of a run to the whole: strips of cells, so that every part's state is read once and all workers merge.
 * Invariant: parts meet like leaves, for they are of one size, a power of two of blocks, but for the last. Where others run the rest of the
 * rows, the last one is of that size, too, and all go on a tree (col_tree.h) before what the others have left. */
#include "host/run/rows_run.h"

#include <string.h>

enum {
    STRIP = 2048,       /* cells: those of all parts stay in a core's own cache; whole vectors */
    FEW_WORDS = 1 << 16 /* of all parts, below which waking others costs more than it gives */
};

void clf_rows_part_words(const clf_rows_job *j, const clf_row_sink *s, int64_t part, clf_word *out[3]) {
    const clf_row_layout *l = &j->layout[s->index];
    char *at = j->part + (size_t)part * j->part_bytes + l->part_at;
    for (int k = 0; k < 3; k++) {
        out[k] = s->fold->comp_bytes[k] ? (clf_word *)(void *)at : NULL;
        at += s->fold->comp_bytes[k] ? l->stride * sizeof(clf_word) : 0;
    }
}

static void words_from(const clf_rows_job *j, const clf_row_sink *s, int64_t part, int64_t cell, clf_word *out[3]) {
    clf_rows_part_words(j, s, part, out);
    for (int k = 0; k < 3; k++)
        if (out[k]) out[k] += cell;
}

static void merge_cells(const clf_rows_job *j, const clf_row_sink *s, int64_t cell, int64_t n) {
    clf_word *a[3], *b[3];
    for (int64_t step = 1; step < j->parts; step *= 2)
        for (int64_t p = 0; p + step < j->parts; p += 2 * step) {
            words_from(j, s, p, cell, a);
            words_from(j, s, p + step, cell, b);
            s->fold->col_merge(n, a, b);
        }
}

static void merge_strip(void *user, int64_t strip, int worker) {
    const clf_rows_job *j = user;
    (void)worker;
    for (int i = 0; i < j->r->nsink; i++) {
        const clf_row_sink *s = &j->r->sink[i];
        int64_t left = s->kind >= CLF_RK_COLS ? j->layout[s->index].cells - strip * STRIP : 0;
        if (left > 0) merge_cells(j, s, strip * STRIP, left < STRIP ? left : STRIP);
    }
}

/* ---- with what others have run ------------------------------------------------------------------------------------------- */

static clf_col_places places_of(const clf_rows_job *j, const clf_row_sink *s) {
    clf_col_places p = {.fold = s->fold, .step = j->part_bytes / sizeof(clf_word), .cells = j->layout[s->index].cells};
    clf_rows_part_words(j, s, j->parts, p.base);
    return p;
}

static void push_parts(const clf_rows_job *j, const clf_row_sink *s) {
    const clf_row_layout *l = &j->layout[s->index];
    const clf_col_places p = places_of(j, s);
    clf_col_tree *t = &j->col_tree[s->index];
    int64_t blocks = j->bound[1] / l->block;
    clf_word *own[3], *to[3];
    for (int64_t part = 0; part < j->parts; part++) {
        clf_rows_part_words(j, s, part, own);
        clf_col_place(&p, t->top, to);
        clf_col_copy(l->cells, to, own);
        clf_col_tree_push(t, &p, part * blocks, __builtin_ctzll((unsigned long long)blocks));
    }
}

/* The word of a cell of the result. */
static int64_t word_of(const clf_row_layout *l, int64_t cell) {
    if (l->vecs == 1) return cell;
    return l->out_step == 1 ? cell / l->out_vec * l->ld + cell % l->out_vec : cell % l->out_step * l->ld + cell / l->out_step;
}

static void put_cells(const clf_row_layout *l, const clf_cell_order *o, clf_word *to, const uint64_t *from) {
    for (int64_t v = 0; v < o->vectors; v++)
        for (int64_t u = 0; u < o->len; u++) memcpy(&to[word_of(l, v * o->to + u * o->step)], &from[v * o->apart + u], sizeof *to);
}

void clf_rows_take_columns(clf_rows_job *j, int out, int64_t index, int level, const clf_cell_order *order, const uint64_t *const word[3]) {
    for (int i = 0; i < j->r->nsink; i++) {
        const clf_row_sink *s = &j->r->sink[i];
        if (s->kind < CLF_RK_COLS || s->out != out) continue;
        const clf_col_places p = places_of(j, s);
        clf_word *to[3];
        clf_col_place(&p, j->col_tree[s->index].top, to);
        for (int k = 0; k < 3; k++)
            if (to[k]) put_cells(&j->layout[s->index], order, to[k], word[k]);
        clf_col_tree_push(&j->col_tree[s->index], &p, index, level);
    }
}

void clf_rows_close(const clf_rows_job *j, const clf_row_sink *s) {
    const clf_col_places p = places_of(j, s);
    clf_word *own[3], *all[3];
    clf_col_tree_close(&j->col_tree[s->index], &p);
    clf_rows_part_words(j, s, 0, own);
    clf_col_place(&p, 0, all);
    clf_col_copy(p.cells, own, all);
}

/* ---- all ----------------------------------------------------------------------------------------------------------------- */

void clf_rows_merge(clf_rows_job *j, clf_pool *pool) {
    int64_t cells = 0;
    for (int i = 0; i < j->r->nsink && j->tree_places; i++)
        if (j->r->sink[i].kind >= CLF_RK_COLS) push_parts(j, &j->r->sink[i]);
    for (int i = 0; i < j->r->nmeet; i++) cells = j->layout[i].cells > cells ? j->layout[i].cells : cells;
    int64_t strips = (cells + STRIP - 1) / STRIP;
    if (j->parts < 2 || j->tree_places) return;
    if (j->workers > 1 && cells > FEW_WORDS / j->parts)
        clf_pool_run(pool, strips, merge_strip, j);
    else
        for (int64_t k = 0; k < strips; k++) merge_strip(j, k, 0);
}
