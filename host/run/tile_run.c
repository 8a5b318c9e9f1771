/* SPDX-License-Identifier: Apache-2.0
 * Running a tile program: scalars and COL values once, then parts, each a run of tiles: point the slots at the tile's cells, run
 * the loops, feed the sinks.
 *
 * Loops work on whole padded vectors. So an operand is used in place only where reading a little past the tile stays inside the
 * operand, and a result is computed in place only where writing a little past the tile stays inside the part (its next tile
 * writes there again). Results must not overlap operands. */
#include "host/run/tile_run.h"
#include "host/run/tile_ahead.h"
#include "host/run/tile_job.h"

#include <string.h>

/* ---- sources ------------------------------------------------------------------------------------------------------------------- */

static void fill_from(const clf_tile *t, int log2, int64_t n, void *reg, const void *value) { t->isa.cell->fill[log2](n, reg, value); }

/* Cells of a scalar that loops may read: of a step of single numbers one vector, not a tile of each that memory must be fetched for. Where
 * there are no columns, rows have values of their own, and the other way round. */
static int64_t scalar_cells(const clf_tile_job *j) {
    int64_t rows = j->rows < CLF_TILE ? j->rows : CLF_TILE, cols = j->cols < CLF_TILE ? j->cols : CLF_TILE;
    int64_t n = (rows > 1 ? rows : 1) * (cols > 1 ? cols : 1);
    return n < CLF_TILE ? n : CLF_TILE;
}

/* A parameter as one element of its type. */
static void put_param(const clf_tile_job *j, const clf_tile_source *s, int64_t n, void *reg) {
    clf_scalar_store(reg, 0, clf_scalar_to(j->bind->param[s->arg], (clf_dtype)s->dtype));
    fill_from(j->t, s->log2, n, reg, reg);
}

static void gather(const clf_tile_job *j, const clf_tile_source *s, int64_t n, void *to, int64_t from, int64_t stride) {
    const clf_tile_place *p = &j->place[s - j->t->source];
    if (stride == 1)
        memcpy(to, p->at + ((size_t)from << s->log2), (size_t)n << s->log2);
    else
        j->t->isa.cell->gather[s->log2](n, to, p->at + ((size_t)from << s->log2), stride);
}

/* Clear what loops may read behind n cells. */
static void clear_pad(void *reg, int64_t n, int log2) { memset((char *)reg + ((size_t)n << log2), 0, (size_t)CLF_TILE_PAD << log2); }

static void run_instrs(const clf_tile *t, clf_level level, void **slot, int64_t n) {
    const clf_tile_instr *in = t->instr[level], *end = in + t->ninstr[level];
    for (; in < end; in++)
        if (in->sink < 0) in->fn(n, slot[in->dst], slot[in->a], in->b < 0 ? NULL : slot[in->b], in->c < 0 ? NULL : slot[in->c]);
}

/* Copy n elements of a lower level's value out. */
static void store_line(const clf_tile_job *j, const clf_tile_sink *s, int64_t at, int64_t n, const void *from) {
    if (n > 0) memcpy((char *)j->bind->out[s->out] + ((size_t)at << s->log2), from, (size_t)n << s->log2);
}

/* ---- once per run: scalars and COL values --------------------------------------------------------------------------------------- */

static void run_scalars(const clf_tile_job *j, void **slot) {
    const clf_tile *t = j->t;
    const int64_t n = scalar_cells(j);
    for (int i = 0; i < t->nsource; i++) {
        const clf_tile_source *s = &t->source[i];
        if (s->level != CLF_LV_SCALAR) continue;
        if (s->kind == CLF_SRC_PARAM)
            put_param(j, s, n, slot[s->slot]);
        else
            fill_from(t, s->log2, n, slot[s->slot], j->place[i].at);
    }
    for (int i = 0; i < t->ninstr[CLF_LV_SCALAR]; i++) {
        const clf_tile_instr *in = &t->instr[CLF_LV_SCALAR][i];
        if (in->sink >= 0) {
            store_line(j, &t->sink[in->sink], 0, 1, slot[in->a]);
            continue;
        }
        in->fn(1, slot[in->dst], slot[in->a], in->b < 0 ? NULL : slot[in->b], in->c < 0 ? NULL : slot[in->c]);
        fill_from(t, t->slot_log2[in->dst], n, slot[in->dst], slot[in->dst]);
    }
}

/* Columns [col, col + n), n <= 512, of every COL value. */
static void run_col_chunk(const clf_tile_job *j, void **slot, int64_t col, int64_t n) {
    const clf_tile *t = j->t;
    for (int i = 0; i < t->nslot; i++)
        if (t->slot_level[i] == CLF_LV_COL) slot[i] = j->col + (size_t)t->home[i] * j->col_bytes + ((size_t)col << t->slot_log2[i]);
    for (int i = 0; i < t->nsource; i++) {
        const clf_tile_source *s = &t->source[i];
        if (s->level != CLF_LV_COL) continue;
        if (s->kind == CLF_SRC_INDEX)
            t->isa.cell->iota(n, slot[s->slot], col);
        else
            gather(j, s, n, slot[s->slot], j->place[i].col * col, j->place[i].col);
    }
    run_instrs(t, CLF_LV_COL, slot, n);
    for (int i = 0; i < t->ninstr[CLF_LV_COL]; i++) {
        const clf_tile_instr *in = &t->instr[CLF_LV_COL][i];
        if (in->sink >= 0) store_line(j, &t->sink[in->sink], col, n, slot[in->a]);
    }
}

/* Where tiles are several rows, repeat a table of COL values for each. */
static void repeat_cols(const clf_tile_job *j) {
    const clf_tile *t = j->t;
    for (int i = 0; i < t->nslot && j->mode == CLF_TM_ROWS; i++) {
        if (t->slot_level[i] != CLF_LV_COL) continue;
        char *table = j->col + (size_t)t->home[i] * j->col_bytes;
        size_t row = (size_t)j->cols << t->slot_log2[i];
        for (int64_t r = 1; r < j->tile_rows && row > 0; r++) memcpy(table + (size_t)r * row, table, row);
        clear_pad(table, j->tile_rows * j->cols, t->slot_log2[i]);
    }
}

void clf_tile_prologue(const clf_tile_job *j, void **slot) {
    run_scalars(j, slot);
    if (j->t->ncol == 0 && j->t->ninstr[CLF_LV_COL] == 0) return;
    for (int64_t col = 0; col < j->cols; col += CLF_TILE) run_col_chunk(j, slot, col, j->cols - col < CLF_TILE ? j->cols - col : CLF_TILE);
    repeat_cols(j);
}

/* ---- once per block of rows: ROW values ------------------------------------------------------------------------------------------ */

static void run_row_block(clf_tile_frame *f, int64_t row, int64_t n) {
    const clf_tile_job *j = f->job;
    const clf_tile *t = j->t;
    for (int i = 0; i < t->nsource; i++) {
        const clf_tile_source *s = &t->source[i];
        if (s->level != CLF_LV_ROW) continue;
        if (s->kind == CLF_SRC_INDEX)
            t->isa.cell->iota(n, f->slot[s->slot], row);
        else
            gather(j, s, n, f->slot[s->slot], j->place[i].row * row, j->place[i].row);
        clear_pad(f->slot[s->slot], n, s->log2);
    }
    run_instrs(t, CLF_LV_ROW, f->slot, n);
    for (int i = 0; i < t->ninstr[CLF_LV_ROW]; i++) {
        const clf_tile_instr *in = &t->instr[CLF_LV_ROW][i];
        if (in->sink >= 0) store_line(j, &t->sink[in->sink], row, n, f->slot[in->a]);
    }
}

/* Spread ROW values over the tile: rows of it from `first` of the block on, each `cols` times. */
static void spread_rows(clf_tile_frame *f, int64_t first, int64_t rows, int64_t cols) {
    const clf_tile *t = f->job->t;
    for (int i = 0; i < t->nspread; i++) {
        const clf_tile_spread *s = &t->spread[i];
        const char *from = (const char *)f->slot[s->from] + ((size_t)first << s->log2);
        t->isa.cell->expand[s->log2](rows, cols, f->slot[s->to], from);
        clear_pad(f->slot[s->to], rows * cols, s->log2);
    }
}

/* ---- once per tile ------------------------------------------------------------------------------------------------------------------ */

/* Cells that loops and sinks may touch from the start of the tile. */
static int64_t reach(const clf_tile_frame *f) {
    int64_t pad = clf_tile_pad(f->n), over = f->n + f->job->over;
    return pad > over ? pad : over;
}

/* Point a CELL load at its cells: in place, or copied or gathered into its register. */
static void place_load(clf_tile_frame *f, const clf_tile_source *s, const clf_tile_place *p) {
    const clf_tile_job *j = f->job;
    int64_t at = p->row * f->row + p->col * f->col;
    bool whole = p->col == 1 && (f->rows == 1 || p->row == j->cols);
    if (whole && at >= 0 && at + reach(f) <= p->elems) {
        f->slot[s->slot] = (void *)(p->at + ((size_t)at << s->log2));
        return;
    }
    char *reg = clf_tile_reg(f, s->slot);
    int64_t rows = whole ? 1 : f->rows, n = whole ? f->n : f->n / f->rows;
    for (int64_t r = 0; r < rows && n > 0; r++) gather(j, s, n, reg + ((size_t)(r * n) << s->log2), at + r * p->row, p->col);
    clear_pad(reg, f->n, s->log2);
    f->slot[s->slot] = reg;
}

static void place_sources(clf_tile_frame *f) {
    const clf_tile_job *j = f->job;
    const clf_tile *t = j->t;
    for (int i = 0; i < t->nsource; i++) {
        const clf_tile_source *s = &t->source[i];
        if (s->level != CLF_LV_CELL) continue;
        if (s->kind == CLF_SRC_LOAD)
            place_load(f, s, &j->place[i]);
        else
            t->isa.cell->iota(f->n, f->slot[s->slot], f->cell);
    }
    if (t->ncol == 0) return;
    for (int i = 0; i < t->nslot; i++)
        if (t->slot_level[i] == CLF_LV_COL) f->slot[i] = j->col + (size_t)t->home[i] * j->col_bytes + ((size_t)f->col << t->slot_log2[i]);
}

/* Results that may be computed in place. */
static void place_results(clf_tile_frame *f) {
    const clf_tile_job *j = f->job;
    bool room = !j->stream && f->cell + reach(f) <= f->limit;
    for (int i = 0; i < j->t->nsink; i++) {
        const clf_tile_sink *s = &j->t->sink[i];
        if (s->kind != CLF_TS_STORE || !s->direct) continue;
        f->slot[s->slot] = room ? (char *)j->bind->out[s->out] + ((size_t)f->cell << s->log2) : clf_tile_reg(f, s->slot);
    }
}

static void run_tile(clf_tile_frame *f) {
    const clf_tile *t = f->job->t;
    const clf_tile_instr *in = t->instr[CLF_LV_CELL], *end = in + t->ninstr[CLF_LV_CELL];
    void **slot = f->slot;
    clf_ahead next;
    place_sources(f);
    place_results(f);
    clf_look_ahead(f, &next);
    for (; in < end; in++) {
        clf_fetch_ahead(&next);
        if (in->sink >= 0)
            clf_tile_drink(f, &t->sink[in->sink]);
        else
            in->fn(f->n, slot[in->dst], slot[in->a], in->b < 0 ? NULL : slot[in->b], in->c < 0 ? NULL : slot[in->c]);
    }
}

/* ---- parts ------------------------------------------------------------------------------------------------------------------------------ */

static void run_flat(clf_tile_frame *f, int64_t from, int64_t to) {
    f->limit = to, f->row = 0, f->rows = 1;
    for (int64_t p = from; p < to; p += f->n) {
        int64_t most = clf_tile_most(f->job, p);
        f->cell = f->col = p;
        f->n = to - p < most ? to - p : most;
        run_tile(f);
    }
}

/* One row up to that column, in pieces; `in_block`: its place in the block of ROW values. */
static void run_row(clf_tile_frame *f, int64_t row, int64_t in_block, int64_t to) {
    spread_rows(f, in_block, 1, CLF_TILE);
    f->row = row, f->rows = 1;
    for (int64_t col = 0; col < to; col += f->n) {
        int64_t cell = row * f->job->cols + col, most = clf_tile_most(f->job, cell);
        f->cell = cell, f->col = col;
        f->n = to - col < most ? to - col : most;
        run_tile(f);
    }
}

/* A row whose end is others'. */
static void run_tail(clf_tile_frame *f, int64_t row) {
    f->limit = f->job->cells;
    run_row_block(f, row, 1);
    run_row(f, row, 0, f->job->tail);
}

/* Whole rows from that one on that make a tile; 0: none do. */
static int64_t rows_of_tile(const clf_tile_job *j, int64_t row) {
    int64_t fit = j->cols > 0 ? clf_tile_most(j, row * j->cols) / j->cols : CLF_TILE;
    return fit < CLF_TILE ? fit : CLF_TILE;
}

static void run_rows(clf_tile_frame *f, int64_t from, int64_t to) {
    const clf_tile_job *j = f->job;
    f->limit = to * j->cols;
    for (int64_t row = from, n; row < to; row += n) {
        int64_t whole = rows_of_tile(j, row), most = whole ? whole : CLF_TILE;
        n = to - row < most ? to - row : most;
        run_row_block(f, row, n);
        if (whole) {
            spread_rows(f, 0, n, j->cols);
            f->cell = row * j->cols, f->n = n * j->cols, f->row = row, f->col = 0, f->rows = n;
            run_tile(f);
        } else {
            for (int64_t r = 0; r < n; r++) run_row(f, row + r, r, j->cols);
        }
    }
}

static void run_part(void *user, int64_t part, int worker) {
    const clf_tile_job *j = user;
    int64_t extent = j->mode == CLF_TM_FLAT ? j->cols : j->rows;
    int64_t from = part * j->part_rows, to = extent - from < j->part_rows ? extent : from + j->part_rows;
    clf_tile_frame f;
    clf_tile_frame_at(&f, j, worker);
    f.part = part;
    clf_tile_part_begin(&f);
    if (j->mode == CLF_TM_FLAT)
        run_flat(&f, from, to);
    else
        run_rows(&f, from, to);
    if (j->tail && part == j->parts - 1) run_tail(&f, to);
    clf_tile_part_end(&f);
}

/* rest: NULL, there is none. */
static clf_status run(clf_tile *t, const clf_bind *bind, clf_pool *pool, const clf_tile_rest *rest, clf_err *err) {
    clf_tile_job j;
    clf_tile_frame f;
    CLF_TRY(clf_tile_job_begin(&j, t, bind, pool, rest ? rest->from : INT64_MAX, err));
    for (int w = 0; w < j.workers; w++) clf_tile_frame_init(&j, w);
    clf_tile_frame_at(&f, &j, 0);
    clf_tile_prologue(&j, f.slot);
    if (j.workers > 1)
        clf_pool_run(pool, j.parts, run_part, &j);
    else
        for (int64_t p = 0; p < j.parts; p++) run_part(&j, p, 0);
    clf_tile_meet(&j);
    clf_status st = rest ? rest->end(rest->user, &j, err) : CLF_OK;
    if (st == CLF_OK) clf_tile_finish(&j, &f);
    clf_tile_job_end(&j, t);
    return st;
}

clf_status clf_tile_run(clf_tile *t, const clf_bind *bind, clf_pool *pool, clf_err *err) { return run(t, bind, pool, NULL, err); }

clf_status clf_tile_run_first(clf_tile *t, const clf_bind *bind, clf_pool *pool, const clf_tile_rest *rest, clf_err *err) {
    return run(t, bind, pool, rest, err);
}
