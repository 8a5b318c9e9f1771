/* SPDX-License-Identifier: Apache-2.0
 * Where the folds of a tile program meet: the parts of a run, and what others have left who ran its last cells (clf_tile_run_first). States
 * come in the order of their leaves, or blocks of rows (col_tree.h). */
#include "host/run/tile_job.h"
#include "host/run/tile_run.h"

#include <string.h>

/* ---- full folds ---------------------------------------------------------------------------------------------------------------- */

static void meet_full(const clf_tile_job *j, const clf_tile_sink *s) {
    clf_full *first = &j->full[s->index];
    for (int64_t p = 1; p < j->parts; p++) {
        const clf_tree *tree = &j->full[p * j->t->nfull + s->index].tree;
        for (int i = 0; i < tree->top; i++) clf_tree_push(&first->tree, s->fold, tree->index[i], tree->level[i], &tree->node[i]);
    }
}

void clf_tile_take(clf_tile_job *j, int out, int64_t index, int level, const uint64_t word[3]) {
    clf_fold_state state;
    memcpy(state.s, word, sizeof state.s);
    for (int i = 0; i < j->t->nsink; i++) {
        const clf_tile_sink *s = &j->t->sink[i];
        if (s->kind == CLF_TS_FULL && s->out == out) clf_tree_push(&j->full[s->index].tree, s->fold, index, level, &state);
    }
}

/* ---- column folds -------------------------------------------------------------------------------------------------------------- */

/* Behind the states of the parts. */
static clf_col_places places_of(const clf_tile_job *j, const clf_tile_sink *s) {
    clf_col_places p = {.fold = s->fold, .step = (size_t)j->t->ncols * 3 * (size_t)j->cols, .cells = j->cols};
    clf_tile_part_words(j, s, j->parts, p.base);
    return p;
}

static void push_cols(const clf_tile_job *j, const clf_tile_sink *s, int64_t index, int level, const void *const word[3]) {
    clf_col_tree *t = &j->col_tree[s->index];
    const clf_col_places p = places_of(j, s);
    clf_word *to[3];
    clf_col_place(&p, t->top, to);
    for (int i = 0; i < 3; i++)
        if (to[i] && j->cols > 0) memcpy(to[i], word[i], (size_t)j->cols * sizeof *to[i]);
    clf_col_tree_push(t, &p, index, level);
}

/* Parts are whole subtrees there, all of one size. */
static void meet_cols(const clf_tile_job *j, const clf_tile_sink *s) {
    int64_t blocks = j->part_rows / j->col_block;
    int level = 0;
    while (blocks >> (level + 1)) level++;
    j->col_tree[s->index].top = 0;
    for (int64_t p = 0; p < j->parts; p++) {
        clf_word *own[3];
        clf_tile_part_words(j, s, p, own);
        push_cols(j, s, p * blocks, level, (const void *const[3]){own[0], own[1], own[2]});
    }
}

void clf_tile_take_cols(clf_tile_job *j, int out, int64_t index, int level, const uint64_t *const word[3]) {
    for (int i = 0; i < j->t->nsink; i++) {
        const clf_tile_sink *s = &j->t->sink[i];
        if (s->kind == CLF_TS_COLS && s->out == out) push_cols(j, s, index, level, (const void *const[3]){word[0], word[1], word[2]});
    }
}

void clf_tile_close_cols(const clf_tile_job *j, const clf_tile_sink *s, clf_word *out[3]) {
    const clf_col_places p = places_of(j, s);
    clf_col_tree_close(&j->col_tree[s->index], &p);
    clf_col_place(&p, 0, out);
}

/* ---- all ----------------------------------------------------------------------------------------------------------------------- */

void clf_tile_meet(const clf_tile_job *j) {
    for (int i = 0; i < j->t->nsink; i++) {
        const clf_tile_sink *s = &j->t->sink[i];
        if (s->kind == CLF_TS_FULL) meet_full(j, s);
        if (s->kind == CLF_TS_COLS && j->col_levels) meet_cols(j, s);
    }
}
