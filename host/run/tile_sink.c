/* SPDX-License-Identifier: Apache-2.0
 * Sinks of the host executor: where tiles end. The reduction tree of core/fold.h above the leaf: full folds keep a stack of
 * subtrees, row folds one per row in progress, column folds a level array of whole rows of states. */
#include "host/run/tile_run.h"

#include <string.h>

/* ---- trees ------------------------------------------------------------------------------------------------------------------- */

void clf_tree_push(clf_tree *t, const clf_fold_fns *f, int64_t index, int level, const clf_fold_state *s) {
    int top = t->top;
    if (s != &t->node[top]) t->node[top] = *s;
    for (; top > 0 && t->level[top - 1] == level && (index >> level & 1) != 0; top--, level++) {
        f->merge(&t->node[top - 1], &t->node[top]);
        index = t->index[top - 1];
    }
    t->index[top] = index;
    t->level[top] = (uint8_t)level;
    t->top = top + 1;
}

void clf_tree_close(clf_tree *t, const clf_fold_fns *f, clf_fold_state *out) {
    if (t->top == 0) {
        clf_lane_state empty;
        f->begin(&empty);
        f->end(&empty, out);
        return;
    }
    while (t->top > 1) {
        f->merge(&t->node[t->top - 2], &t->node[t->top - 1]);
        t->top--;
    }
    *out = t->node[0];
    t->top = 0;
}

/* ---- results ------------------------------------------------------------------------------------------------------------------- */

static char *result_at(const clf_tile_job *j, const clf_tile_sink *s, int64_t i) {
    return (char *)j->bind->out[s->out] + (size_t)i * clf_dtype_bytes((clf_dtype)s->out_dtype);
}

/* Write n results of a fold, a tile at most, from position i on. */
static void put_results(const clf_tile_job *j, const clf_tile_sink *s, int64_t i, int64_t n, const clf_word *r) {
    _Alignas(64) char cast[CLF_REG_BYTES], from[CLF_REG_BYTES];
    size_t bytes = (size_t)n * clf_dtype_bytes((clf_dtype)s->out_dtype);
    if (n <= 0) return;
    if (s->out_dtype == (s->fold->result_int ? CLF_I64 : CLF_F64)) {
        memcpy(result_at(j, s, i), r, bytes);
        return;
    }
    memset(from + (size_t)n * 8, 0, (size_t)CLF_TILE_PAD * 8);
    memcpy(from, r, (size_t)n * 8);
    s->cast(n, cast, from, NULL, NULL);
    memcpy(result_at(j, s, i), cast, bytes);
}

static void put_state(const clf_tile_job *j, const clf_tile_sink *s, int64_t i, clf_fold_state *state) {
    clf_word r, *const comp[3] = {&state->s[0], &state->s[1], &state->s[2]};
    s->fold->finish(1, &r, comp);
    put_results(j, s, i, 1, &r);
}

/* ---- stores -------------------------------------------------------------------------------------------------------------------- */

static void store_cells(clf_tile_frame *f, const clf_tile_sink *s) {
    const clf_tile_job *j = f->job;
    char *to = (char *)j->bind->out[s->out] + ((size_t)f->cell << s->log2);
    void *from = f->slot[s->slot];
    size_t bytes = (size_t)f->n << s->log2;
    if (from == to || bytes == 0) return;
    if (j->stream)
        j->t->isa.cell->stream(bytes, to, from);
    else
        memcpy(to, from, bytes);
}

/* ---- full folds ---------------------------------------------------------------------------------------------------------------- */

/* Cells [cell, cell + n) at x, a leaf or less of them, from the middle of a leaf or up to the middle of one. */
static void full_piece(const clf_tile_sink *s, clf_full *u, int64_t cell, int64_t n, const char *x, bool ends) {
    int64_t in_leaf = cell % CLF_LEAF;
    clf_fold_state leaf;
    if (in_leaf == 0) s->fold->begin(&u->lanes);
    s->fold->step(&u->lanes, n, in_leaf % s->lanes, cell, x);
    if (!ends) return;
    s->fold->end(&u->lanes, &leaf);
    clf_tree_push(&u->tree, s->fold, cell / CLF_LEAF, 0, &leaf);
}

static const char *operand(const clf_tile_frame *f, int32_t slot) { return slot < 0 ? NULL : f->slot[slot]; }

/* A sink's operands from cell i of the tile on. */
typedef struct clf_operands {
    const char *a, *b, *c;
} clf_operands;
static clf_operands operands(const clf_tile_frame *f, const clf_tile_sink *s, int64_t i) {
    const char *a = operand(f, s->slot), *b = operand(f, s->b), *c = operand(f, s->c);
    size_t skip = (size_t)i << s->log2;
    return (clf_operands){a + skip, b ? b + skip : NULL, c ? c + skip : NULL};
}

/* The next leaf of a tree: n cells of the tile from cell i on, the position of the first being k. */
static void push_leaf(const clf_tile_frame *f, const clf_tile_sink *s, clf_tree *tree, int64_t i, int64_t n, int64_t k) {
    clf_operands o = operands(f, s, i);
    clf_fold_state *leaf = clf_tree_room(tree);
    s->leaf(n, k, o.a, o.b, o.c, leaf);
    clf_tree_push(tree, s->fold, k / CLF_LEAF, 0, leaf);
}

/* Cells [i, i + n) of the tile, CLF_TILE at most: the value's, or the product that a fused leaf would have taken in. */
static const char *cells_of(clf_tile_frame *f, const clf_tile_sink *s, int64_t i, int64_t n) {
    clf_operands o = operands(f, s, i);
    if (!o.b) return o.a;
    void *x = f->slot[s->spare];
    s->mul(n, x, o.a, o.b, NULL);
    if (o.c) s->mul(n, x, x, o.c, NULL);
    return x;
}

static void fold_full(clf_tile_frame *f, const clf_tile_sink *s) {
    const clf_tile_job *j = f->job;
    clf_full *u = &j->full[f->part * j->t->nfull + s->index];
    for (int64_t i = 0, n; i < f->n; i += n) {
        int64_t cell = f->cell + i;
        n = f->n - i < CLF_TILE ? f->n - i : CLF_TILE;
        if (cell % CLF_LEAF == 0 && (n == CLF_LEAF || cell + n == j->cells)) {
            push_leaf(f, s, &u->tree, i, n, cell);
            continue;
        }
        const char *x = cells_of(f, s, i, n);
        for (int64_t done = 0, m; done < n; done += m) {
            int64_t at = cell + done, room = CLF_LEAF - at % CLF_LEAF;
            m = n - done < room ? n - done : room;
            full_piece(s, u, at, m, x + ((size_t)done << s->log2), m == room || at + m == j->cells);
        }
    }
}

/* ---- row folds ----------------------------------------------------------------------------------------------------------------- */

/* Whole rows of several leaves each, or a piece of one row: what is folded so far waits in the row's tree. */
static void fold_long_rows(clf_tile_frame *f, const clf_tile_sink *s, int64_t width, clf_word *r) {
    clf_tree *tree = &f->row_tree[s->index];
    clf_fold_state state;
    clf_word *const comp[3] = {&state.s[0], &state.s[1], &state.s[2]};
    for (int64_t row = 0; row < f->rows; row++) {
        for (int64_t i = 0; i < width; i += CLF_LEAF)
            push_leaf(f, s, tree, row * width + i, width - i < CLF_LEAF ? width - i : CLF_LEAF, f->col + i);
        if (f->col + width < f->job->cols) return;
        clf_tree_close(tree, s->fold, &state);
        s->fold->finish(1, &r[row], comp);
    }
}

static void fold_rows(clf_tile_frame *f, const clf_tile_sink *s) {
    const clf_tile_job *j = f->job;
    int64_t width = f->n / f->rows;
    clf_word r[CLF_TILE];
    if (j->mode == CLF_TM_ROWS) {
        clf_operands o = operands(f, s, 0);
        clf_rows_fn rows = width < CLF_LONG_ROW ? s->rows : s->long_rows;
        rows(f->rows, width, o.a, o.b, o.c, r);
    } else {
        fold_long_rows(f, s, width, r);
    }
    if (f->col + width == j->cols) put_results(j, s, f->row, f->rows, r);
}

/* ---- column folds -------------------------------------------------------------------------------------------------------------- */

static void comps_at(const clf_tile_sink *s, void *const base[3], int64_t elem, void *out[3]) {
    for (int i = 0; i < 3; i++) out[i] = s->fold->comp_bytes[i] ? (char *)base[i] + elem * s->fold->comp_bytes[i] : NULL;
}

static void words_at(const clf_tile_sink *s, clf_word *const base[3], int64_t word, clf_word *out[3]) {
    for (int i = 0; i < 3; i++) out[i] = s->fold->comp_bytes[i] ? base[i] + word : NULL;
}

/* The block in progress is complete: fold its lanes and carry it up the levels. */
static void close_block(const clf_tile_job *j, const clf_tile_sink *s, clf_cols *u) {
    clf_word *block[3], *held[3];
    int lanes = clf_col_lanes(j->cols, (clf_dtype)s->dtype), level = 0;
    while (u->held >> level & 1) level++;
    words_at(s, u->level, level * j->cols, block);
    s->fold->col_end(j->cols, lanes, u->lane, block);
    for (int l = 0; l < level; l++) {
        words_at(s, u->level, l * j->cols, held);
        s->fold->col_merge(j->cols, held, block);
        clf_col_copy(j->cols, block, held);
    }
    u->held = (u->held >> level | 1) << level;
}

/* Rows [row, row + rows) of the tile, in one block, n columns. Where the position does not matter and rows are whole,
 * lanes * cols consecutive cells are one step. */
static void step_rows(const clf_tile_frame *f, const clf_tile_sink *s, clf_cols *u, int64_t row, int64_t rows, int64_t n) {
    const clf_tile_job *j = f->job;
    const char *a = operand(f, s->slot), *b = operand(f, s->b), *c = operand(f, s->c);
    int64_t lanes = clf_col_lanes(j->cols, (clf_dtype)s->dtype), in_block = row - u->start_row;
    bool merge_rows = !s->fold->uses_k && n == j->cols;
    for (int64_t i = 0, m; i < rows; i += m) {
        int64_t lane = (in_block + i) & (lanes - 1);
        void *at[3];
        m = merge_rows ? (lanes - lane < rows - i ? lanes - lane : rows - i) : 1;
        comps_at(s, u->lane, lane * j->cols + f->col, at);
        size_t skip = (size_t)((row - f->row + i) * n) << s->log2;
        s->col_step(m * n, row + i, a + skip, b ? b + skip : NULL, c ? c + skip : NULL, at);
    }
}

static void fold_cols(clf_tile_frame *f, const clf_tile_sink *s) {
    const clf_tile_job *j = f->job;
    clf_cols *u = &f->cols[s->index];
    int64_t lanes = clf_col_lanes(j->cols, (clf_dtype)s->dtype), width = f->n / f->rows;
    bool row_ends = f->col + width == j->cols;
    for (int64_t i = 0, m; i < f->rows; i += m) {
        int64_t row = f->row + i, room = j->col_block - row % j->col_block;
        m = f->rows - i < room ? f->rows - i : room;
        if (row % j->col_block == 0 && f->col == 0) {
            u->start_row = row;
            s->fold->col_begin(lanes * j->cols, u->lane);
        }
        step_rows(f, s, u, row, m, width);
        if (row_ends && (m == room || row + m == j->rows)) close_block(j, s, u);
    }
}

/* ---- parts --------------------------------------------------------------------------------------------------------------------- */

void clf_tile_drink(clf_tile_frame *f, const clf_tile_sink *s) {
    static void (*const by_kind[])(clf_tile_frame *, const clf_tile_sink *) = {
        [CLF_TS_STORE] = store_cells, [CLF_TS_FULL] = fold_full, [CLF_TS_ROWS] = fold_rows, [CLF_TS_COLS] = fold_cols};
    by_kind[s->kind](f, s);
}

void clf_tile_part_begin(clf_tile_frame *f) {
    const clf_tile *t = f->job->t;
    for (int i = 0; i < t->nfull; i++) f->job->full[f->part * t->nfull + i].tree.top = 0;
    for (int i = 0; i < t->nrows; i++) f->row_tree[i].top = 0;
    for (int i = 0; i < t->ncols; i++) f->cols[i].held = 0;
}

void clf_tile_part_words(const clf_tile_job *j, const clf_tile_sink *s, int64_t part, clf_word *out[3]) {
    clf_word *base = j->part_cols + (part * j->t->ncols + s->index) * 3 * j->cols;
    clf_word *all[3] = {base, base + j->cols, base + 2 * j->cols};
    words_at(s, all, 0, out);
}

/* Close the levels from the lowest up: the lower level is the later part. */
static void close_levels(const clf_tile_job *j, const clf_tile_sink *s, clf_cols *u, clf_word *const out[3]) {
    clf_word *high[3], *low[3] = {NULL, NULL, NULL};
    bool any = false;
    for (int l = 0; l < j->col_depth; l++) {
        if (!(u->held >> l & 1)) continue;
        words_at(s, u->level, l * j->cols, high);
        if (any) s->fold->col_merge(j->cols, high, low);
        memcpy(low, high, sizeof low);
        any = true;
    }
    if (any) clf_col_copy(j->cols, out, low);
}

void clf_tile_part_end(clf_tile_frame *f) {
    const clf_tile_job *j = f->job;
    for (int i = 0; i < j->t->nsink; i++) {
        const clf_tile_sink *s = &j->t->sink[i];
        clf_word *out[3];
        if (s->kind != CLF_TS_COLS) continue;
        clf_tile_part_words(j, s, f->part, out);
        close_levels(j, s, &f->cols[s->index], out);
    }
    if (j->stream) j->t->isa.cell->fence();
}

/* ---- the end of a run ----------------------------------------------------------------------------------------------------------- */

static void finish_full(const clf_tile_job *j, const clf_tile_sink *s) {
    clf_fold_state state;
    clf_tree_close(&j->full[s->index].tree, s->fold, &state);
    put_state(j, s, 0, &state);
}

/* Parts meet like leaves: part p carries over the trailing ones of p. */
static void merge_parts(const clf_tile_job *j, const clf_tile_sink *s) {
    clf_word *a[3], *b[3];
    for (int64_t step = 1; step < j->parts; step *= 2)
        for (int64_t p = 0; p + step < j->parts; p += 2 * step) {
            clf_tile_part_words(j, s, p, a);
            clf_tile_part_words(j, s, p + step, b);
            s->fold->col_merge(j->cols, a, b);
        }
}

static void finish_cols(const clf_tile_job *j, const clf_tile_sink *s, clf_tile_frame *f) {
    clf_word *state[3];
    clf_tile_part_words(j, s, 0, state);
    if (j->rows == 0) {
        clf_cols *u = &f->cols[s->index];
        s->fold->col_begin(j->cols, u->lane);
        s->fold->col_end(j->cols, 1, u->lane, state);
    }
    if (j->col_levels)
        clf_tile_close_cols(j, s, state);
    else
        merge_parts(j, s);
    for (int64_t i = 0; i < j->cols; i += CLF_TILE) {
        int64_t n = j->cols - i < CLF_TILE ? j->cols - i : CLF_TILE;
        clf_word r[CLF_TILE], *at[3];
        words_at(s, state, i, at);
        s->fold->finish(n, r, at);
        put_results(j, s, i, n, r);
    }
}

void clf_tile_finish(const clf_tile_job *j, clf_tile_frame *f) {
    for (int i = 0; i < j->t->nsink; i++) {
        const clf_tile_sink *s = &j->t->sink[i];
        if (s->kind == CLF_TS_FULL) finish_full(j, s);
        if (s->kind == CLF_TS_COLS) finish_cols(j, s, f);
    }
}
