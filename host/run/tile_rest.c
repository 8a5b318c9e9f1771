/* SPDX-License-Identifier: Apache-2.0
 * Where the folds of a tile program meet: the parts of a run, and what others have left who ran its last cells (clf_tile_run_first). States
 * come in the order of their leaves, or blocks of rows, and merge as core/fold.h has it: neighbours of one level as soon as both are there,
 * the rest from the top. What comes last may be an incomplete subtree, merged already: nothing is merged with its end. */
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

static void push_cols(const clf_tile_job *j, const clf_tile_sink *s, int64_t index, int level, const void *const word[3]) {
    clf_col_tree *t = &j->col_tree[s->index];
    clf_word *left[3], *right[3];
    clf_tile_part_words(j, s, j->parts + t->top, right);
    for (int i = 0; i < 3; i++)
        if (right[i] && j->cols > 0) memcpy(right[i], word[i], (size_t)j->cols * sizeof *right[i]);
    while (t->top > 0 && t->level[t->top - 1] == level && (index >> level & 1) != 0) {
        clf_tile_part_words(j, s, j->parts + t->top, right);
        clf_tile_part_words(j, s, j->parts + --t->top, left);
        s->fold->col_merge(j->cols, left, right);
        index = t->index[t->top];
        level++;
    }
    t->index[t->top] = index;
    t->level[t->top++] = (uint8_t)level;
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
    clf_word *right[3];
    for (int d = j->col_tree[s->index].top - 1; d > 0; d--) {
        clf_tile_part_words(j, s, j->parts + d, right);
        clf_tile_part_words(j, s, j->parts + d - 1, out);
        s->fold->col_merge(j->cols, out, right);
    }
    clf_tile_part_words(j, s, j->parts, out);
}

/* ---- all ----------------------------------------------------------------------------------------------------------------------- */

void clf_tile_meet(const clf_tile_job *j) {
    for (int i = 0; i < j->t->nsink; i++) {
        const clf_tile_sink *s = &j->t->sink[i];
        if (s->kind == CLF_TS_FULL) meet_full(j, s);
        if (s->kind == CLF_TS_COLS && j->col_levels) meet_cols(j, s);
    }
}
