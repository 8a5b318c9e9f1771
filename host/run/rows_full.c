/* SPDX-License-Identifier: Apache-2.0
 * Full folds of the row executor: a stack of subtrees per part, and what stands before a part's first leaf, until parts meet; then come the
 * states of others, who ran what is behind the rows of the run. */
#include "host/run/rows_run.h"

#include <string.h>

/* n cells at `pos`, a leaf at most, all in one. */
static void step_leaf(const clf_row_sink *s, clf_row_full *u, int64_t n, const char *x) {
    int64_t in_leaf = u->pos % CLF_LEAF;
    clf_fold_state leaf;
    if (n == CLF_LEAF) {
        s->fold->leaf(n, u->pos, x, NULL, NULL, &leaf);
    } else {
        if (in_leaf == 0) s->fold->begin(&u->lanes);
        s->fold->step(&u->lanes, n, in_leaf % s->lanes, u->pos, x);
        if (in_leaf + n == CLF_LEAF) s->fold->end(&u->lanes, &leaf);
    }
    u->pos += n;
    if (in_leaf + n == CLF_LEAF) clf_tree_push(&u->tree, s->fold, u->pos / CLF_LEAF - 1, 0, &leaf);
}

void clf_rows_full_drink(clf_rows_frame *f, const clf_row_sink *s) {
    const clf_rows_job *j = f->job;
    clf_row_full *u = &j->full[f->part * j->r->nfull + s->index];
    const char *x = f->slot[s->slot];
    int64_t end = clf_rows_position(j, s, f->row + f->rows, f->e1);
    if (clf_rows_rest_by_row(j->r, s)) clf_rows_rest_batch(f, s, u);
    while (u->pos < end) {
        int64_t room = CLF_LEAF - u->pos % CLF_LEAF, n = end - u->pos < room ? end - u->pos : room;
        if (u->start % CLF_LEAF != 0 && u->pos / CLF_LEAF == u->start / CLF_LEAF) {
            memcpy(u->head + ((size_t)u->nhead << s->log2), x, (size_t)n << s->log2);
            u->nhead += n;
            u->pos += n;
        } else {
            step_leaf(s, u, n, x);
        }
        x += (size_t)n << s->log2;
    }
}

/* Parts in order into one fold: the leaf a part left open goes on with what the next one has before its first leaf. */
static void meet_full(const clf_rows_job *j, const clf_row_sink *s) {
    clf_row_full *all = &j->full[s->index];
    clf_fold_state state;
    for (int64_t p = 1; p < j->parts; p++) {
        const clf_row_full *u = &j->full[p * j->r->nfull + s->index];
        if (u->nhead > 0) step_leaf(s, all, u->nhead, u->head);
        for (int i = 0; i < u->tree.top; i++) clf_tree_push(&all->tree, s->fold, u->tree.index[i], u->tree.level[i], &u->tree.node[i]);
        if (u->pos == u->start + u->nhead) continue;
        all->pos = u->pos;
        all->lanes = u->lanes;
    }
    if (all->pos % CLF_LEAF != 0) {
        s->fold->end(&all->lanes, &state);
        clf_tree_push(&all->tree, s->fold, all->pos / CLF_LEAF, 0, &state);
    }
}

void clf_rows_meet(const clf_rows_job *j) {
    for (int i = 0; i < j->r->nsink; i++)
        if (j->r->sink[i].kind == CLF_RK_FULL) meet_full(j, &j->r->sink[i]);
}

void clf_rows_take(clf_rows_job *j, int out, int64_t index, int level, const uint64_t word[3]) {
    clf_fold_state state;
    memcpy(state.s, word, sizeof state.s);
    for (int i = 0; i < j->r->nsink; i++) {
        const clf_row_sink *s = &j->r->sink[i];
        if (s->kind == CLF_RK_FULL && s->out == out) clf_tree_push(&j->full[s->index].tree, s->fold, index, level, &state);
    }
}

void clf_rows_full_finish(const clf_rows_job *j, const clf_row_sink *s, const clf_rows_frame *f) {
    clf_fold_state state;
    clf_word r, *const comp[3] = {&state.s[0], &state.s[1], &state.s[2]};
    clf_tree_close(&j->full[s->index].tree, s->fold, &state);
    if (s->h >= 0) clf_rows_rest_full(f, s, &state);
    s->fold->finish(1, &r, comp);
    clf_rows_put(j, s, 0, 1, 1, &r);
}
