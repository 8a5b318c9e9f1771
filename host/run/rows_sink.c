/* SPDX-License-Identifier: Apache-2.0
 * Sinks of the row executor: where batches end. Sinks over rows keep the block in progress and an array of closed subtrees by level; full
 * folds are rows_full.c's. */
#include "host/run/rows_run.h"

#include <string.h>

/* ---- results ------------------------------------------------------------------------------------------------------------- */

void clf_rows_put(const clf_rows_job *j, const clf_row_sink *s, int64_t i, int64_t step, int64_t n, const clf_word *r) {
    _Alignas(64) char cast[(CLF_LEAF + CLF_TILE_PAD) * 8], from[(CLF_LEAF + CLF_TILE_PAD) * 8];
    size_t each = clf_dtype_bytes((clf_dtype)s->out_dtype);
    char *out = (char *)j->bind->out[s->out] + (size_t)i * each;
    if (n <= 0) return;
    memset(from + (size_t)n * 8, 0, (size_t)CLF_TILE_PAD * 8);
    memcpy(from, r, (size_t)n * 8);
    s->cast(n, cast, from, NULL, NULL);
    if (step == 1) memcpy(out, cast, (size_t)n * each);
    for (int64_t k = 0; k < n && step != 1; k++) memcpy(out + (size_t)(k * step) * each, cast + (size_t)k * each, each);
}

int64_t clf_rows_position(const clf_rows_job *j, const clf_row_sink *s, int64_t row, int64_t entry) {
    if (s->axis < 0) return row;
    return s->axis == j->r->entry ? entry : row * j->n[s->axis];
}

/* ---- stores -------------------------------------------------------------------------------------------------------------- */

static void drink_store(clf_rows_frame *f, const clf_row_sink *s) {
    const clf_rows_job *j = f->job;
    int64_t at = 0, n = 1;
    switch (s->shape) {
    case CLF_RS_SCALAR: break;
    case CLF_RS_VEC: n = j->n[s->axis]; break;
    case CLF_RS_ROW: at = f->row, n = f->rows; break;
    default: at = clf_rows_position(j, s, f->row, f->e0); n = clf_rows_position(j, s, f->row + f->rows, f->e1) - at;
    }
    if (n <= 0) return;
    char *to = (char *)j->bind->out[s->out] + ((size_t)at << s->log2);
    if (j->stream)
        j->r->isa.cell->stream((size_t)n << s->log2, to, f->slot[s->slot]);
    else
        memcpy(to, f->slot[s->slot], (size_t)n << s->log2);
}

/* ---- sinks over rows: blocks and levels ---------------------------------------------------------------------------------- */

static void words_at(const clf_row_sink *s, clf_word *const base[3], size_t word, clf_word *out[3]) {
    for (int k = 0; k < 3; k++) out[k] = s->fold->comp_bytes[k] ? base[k] + word : NULL;
}

static void begin_block(const clf_rows_job *j, const clf_row_sink *s, clf_row_meeting *u) {
    const clf_row_layout *l = &j->layout[s->index];
    if (s->kind == CLF_RK_DOT)
        memset(u->lane[0], 0, l->lane_bytes);
    else
        s->fold->col_begin(l->lanes * l->cells, u->lane);
}

/* The lanes of the block in progress as words. */
static void fold_lanes(const clf_row_sink *s, const clf_row_layout *l, const clf_row_meeting *u, clf_word *const out[3]) {
    if (s->kind == CLF_RK_DOT)
        s->widen(l->cells, out[0], u->lane[0], NULL, NULL);
    else
        s->fold->col_end(l->cells, l->lanes, u->lane, out);
}

/* The block in progress is complete: the part's result, or carried up the levels. */
static void close_block(const clf_rows_frame *f, const clf_row_sink *s, clf_row_meeting *u) {
    const clf_rows_job *j = f->job;
    const clf_row_layout *l = &j->layout[s->index];
    clf_word *block[3], *held[3];
    size_t level = 0;
    if (j->bound[f->part + 1] - j->bound[f->part] <= l->block) {
        clf_rows_part_words(j, s, f->part, block);
        fold_lanes(s, l, u, block);
        return;
    }
    while (u->held >> level & 1) level++;
    words_at(s, u->level, level * l->stride, block);
    fold_lanes(s, l, u, block);
    for (size_t i = 0; i < level; i++) {
        words_at(s, u->level, i * l->stride, held);
        s->fold->col_merge(l->cells, held, block);
        clf_col_copy(l->cells, block, held);
    }
    u->held = (u->held >> level | 1) << level;
}

/* ---- sinks over rows: steps ---------------------------------------------------------------------------------------------- */

/* Rows [at, at + n) of the batch, all in one block. Where the position does not matter, lanes * cells consecutive cells are one step. */
static void step_cols(const clf_rows_frame *f, const clf_row_sink *s, clf_row_meeting *u, int64_t at, int64_t n) {
    const clf_row_layout *l = &f->job->layout[s->index];
    const char *x = (const char *)f->slot[s->slot] + ((size_t)(at * l->nj) << s->log2);
    for (int64_t i = 0, m; i < n; i += m) {
        int64_t row = f->row + at + i, lane = (row - u->start) & (l->lanes - 1);
        void *lanes[3];
        m = s->fold->uses_k ? 1 : l->lanes - lane < n - i ? l->lanes - lane : n - i;
        for (int k = 0; k < 3; k++)
            lanes[k] = s->fold->comp_bytes[k] ? (char *)u->lane[k] + (size_t)(lane * l->nj) * s->fold->comp_bytes[k] : NULL;
        s->fold->col_step(m * l->nj, row, x + ((size_t)(i * l->nj) << s->log2), NULL, NULL, lanes);
    }
}

static void step_meet(const clf_rows_frame *f, const clf_row_sink *s, clf_row_meeting *u, int64_t at, int64_t n) {
    const clf_rows_job *j = f->job;
    const int32_t *idx = j->m->idx + f->e0;
    const char *x = f->slot[s->slot];
    if (s->meet == CLF_FOLD_SUM) {
        j->r->isa.row->type[s->dtype]->scatter_sum(f->off[at + n] - f->off[at], idx + f->off[at], x + ((size_t)f->off[at] << s->log2),
                                                   u->lane[0]);
        return;
    }
    for (int64_t r = at; r < at + n; r++) {
        const int64_t e = f->off[r];
        s->fold->col_scatter(f->off[r + 1] - e, f->row + r, x + ((size_t)e << s->log2), idx + e, u->lane);
    }
}

/* Elements between rows of an operand: cells of a MAT value, 1 for ROW, 0 for one vector for all. */
static int64_t lead(const clf_rows_job *j, int32_t slot) {
    const clf_row_slot *s = &j->r->slot[slot];
    return s->shape == CLF_RS_MAT ? j->n[s->axis] : s->shape == CLF_RS_ROW;
}

static const void *row_at(const clf_rows_frame *f, int32_t slot, int64_t ld, int64_t row) {
    return (const char *)f->slot[slot] + ((size_t)(ld * row) << f->job->r->slot[slot].log2);
}

static void step_dot(const clf_rows_frame *f, const clf_row_sink *s, clf_row_meeting *u, int64_t at, int64_t n) {
    const clf_rows_job *j = f->job;
    const clf_row_layout *l = &j->layout[s->index];
    const clf_row_fns *fns = j->r->isa.row->type[s->dtype];
    bool scatter = s->dot == CLF_RD_SCATTER || s->dot == CLF_RD_SCATTER_EACH;
    clf_outer_dot o = {.rows = n, .nj = l->nj, .nk = l->nk, .q = u->lane[0], .ldq = l->ld, .skip = s->skip};
    const clf_outer_dot_fn by_dot[] = {[CLF_RD_OUTER] = l->narrow ? fns->columns : fns->cells,
                                       [CLF_RD_EACH] = fns->each,
                                       [CLF_RD_SCATTER] = fns->scatter,
                                       [CLF_RD_SCATTER_EACH] = fns->scatter_each};
    o.ldx = scatter ? 0 : lead(j, s->slot);
    o.ldh = s->dot == CLF_RD_SCATTER_EACH ? 0 : lead(j, s->h);
    o.x = row_at(f, s->slot, o.ldx, at);
    o.h = row_at(f, s->h, o.ldh, at);
    if (scatter) o.off = f->off + at, o.idx = j->m->idx + f->e0;
    by_dot[s->dot](&o);
}

static void drink_rows(clf_rows_frame *f, const clf_row_sink *s) {
    static void (*const step[])(const clf_rows_frame *, const clf_row_sink *, clf_row_meeting *, int64_t,
                                int64_t) = {[CLF_RK_COLS] = step_cols, [CLF_RK_MEET] = step_meet, [CLF_RK_DOT] = step_dot};
    const clf_rows_job *j = f->job;
    const clf_row_layout *l = &j->layout[s->index];
    clf_row_meeting *u = &f->meet[s->index];
    if (s->gaps >= 0) clf_rows_gaps_batch(f, s->gaps);
    for (int64_t i = 0, n; i < f->rows; i += n) {
        int64_t row = f->row + i, room = l->block - row % l->block;
        n = f->rows - i < room ? f->rows - i : room;
        if (row % l->block == 0) {
            u->start = row;
            begin_block(j, s, u);
        }
        step[s->kind](f, s, u, i, n);
        if (n == room || row + n == j->rows) close_block(f, s, u);
    }
}

void clf_rows_drink(clf_rows_frame *f, const clf_row_sink *s) {
    static void (*const by_kind[])(clf_rows_frame *, const clf_row_sink *) = {[CLF_RK_STORE] = drink_store,
                                                                              [CLF_RK_FULL] = clf_rows_full_drink,
                                                                              [CLF_RK_COLS] = drink_rows,
                                                                              [CLF_RK_MEET] = drink_rows,
                                                                              [CLF_RK_DOT] = drink_rows};
    by_kind[s->kind](f, s);
}

/* ---- parts --------------------------------------------------------------------------------------------------------------- */

void clf_rows_part_begin(clf_rows_frame *f) {
    const clf_rows_job *j = f->job;
    int64_t from = j->bound[f->part];
    for (int i = 0; i < j->r->nsink; i++) {
        const clf_row_sink *s = &j->r->sink[i];
        if (s->kind >= CLF_RK_COLS) f->meet[s->index].held = 0;
        if (s->kind != CLF_RK_FULL) continue;
        clf_row_full *u = &j->full[f->part * j->r->nfull + s->index];
        u->start = u->pos = clf_rows_position(j, s, from, j->r->split ? from : j->m ? j->m->ptr[from] : 0);
        u->nhead = 0;
        u->tree.top = u->rest.top = 0;
    }
}

/* Close the levels from the lowest up: the lower level is the later rows. */
static void close_levels(const clf_row_sink *s, const clf_row_layout *l, clf_row_meeting *u, clf_word *const out[3]) {
    clf_word *high[3], *low[3] = {NULL, NULL, NULL};
    bool any = false;
    for (int level = 0; level < l->depth; level++) {
        if (!(u->held >> level & 1)) continue;
        words_at(s, u->level, (size_t)level * l->stride, high);
        if (any) s->fold->col_merge(l->cells, high, low);
        memcpy(low, high, sizeof low);
        any = true;
    }
    if (any) clf_col_copy(l->cells, out, low);
}

void clf_rows_part_end(clf_rows_frame *f) {
    const clf_rows_job *j = f->job;
    for (int i = 0; i < j->r->nsink; i++) {
        const clf_row_sink *s = &j->r->sink[i];
        clf_word *out[3];
        if (s->kind < CLF_RK_COLS) continue;
        clf_rows_part_words(j, s, f->part, out);
        close_levels(s, &j->layout[s->index], &f->meet[s->index], out);
    }
}

/* ---- the end of a run ---------------------------------------------------------------------------------------------------- */

/* Vectors that lie apart where they are one run of the output: moved together. A DOT has one component. */
static void close_up(const clf_row_sink *s, const clf_row_layout *l, clf_word *state, int64_t *vecs, int64_t *len) {
    *vecs = l->vecs, *len = l->len;
    if (s->kind != CLF_RK_DOT || l->vecs < 2 || l->out_step != 1 || l->out_vec != l->len) return;
    for (int64_t v = 1; v < l->vecs; v++) memmove(state + v * l->len, state + v * l->ld, (size_t)l->len * sizeof *state);
    *vecs = 1, *len = l->vecs * l->len;
}

static void finish_rows(const clf_rows_job *j, const clf_row_sink *s, clf_rows_frame *f, clf_pool *pool) {
    const clf_row_layout *l = &j->layout[s->index];
    clf_word *state[3], r[CLF_LEAF], *at[3];
    int64_t vecs, len;
    clf_rows_part_words(j, s, 0, state);
    if (j->tree_places) clf_rows_close(j, s);
    if (j->rows == 0) {
        begin_block(j, s, &f->meet[s->index]);
        fold_lanes(s, l, &f->meet[s->index], state);
    }
    if (s->kind == CLF_RK_MEET && s->h >= 0) clf_rows_rest_meet(f, s, state, pool);
    close_up(s, l, state[0], &vecs, &len);
    for (int64_t v = 0; v < vecs; v++)
        for (int64_t i = 0; i < len; i += CLF_LEAF) {
            int64_t n = len - i < CLF_LEAF ? len - i : CLF_LEAF;
            words_at(s, state, (size_t)(v * l->ld + i), at);
            s->fold->finish(n, r, at);
            clf_rows_put(j, s, v * l->out_vec + i * l->out_step, l->out_step, n, r);
        }
}

void clf_rows_finish(const clf_rows_job *j, clf_rows_frame *f, clf_pool *pool) {
    clf_rows_rest_count(j);
    clf_rows_gaps_finish(j);
    for (int i = 0; i < j->r->nsink; i++) {
        const clf_row_sink *s = &j->r->sink[i];
        if (s->kind == CLF_RK_FULL) clf_rows_full_finish(j, s, f);
        if (s->kind >= CLF_RK_COLS) finish_rows(j, s, f, pool);
    }
}
