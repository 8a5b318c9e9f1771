/* SPDX-License-Identifier: Apache-2.0
 * The geometry of a run (mode, parts, workers) and its memory: one block, kept by the program for the next run.
 *
 * Nothing here changes a bit of the results: parts are whole leaves and whole blocks of rows whatever their number. */
#include "host/run/tile_job.h"

#include <string.h>

enum {
    PARALLEL_NS = 30000, /* one core's time below which waking others costs more than it gives */
    PARTS_PER_WORKER = 16,
    PART_CELLS = 8192, /* smaller parts are not worth handing out */
    ROOMS = 7          /* of a job's memory */
};

/* ---- extents and places ---------------------------------------------------------------------------------------------------------- */

static int64_t axis_n(const clf_tile *t, const clf_bind *b, int a) { return b->axis_n ? b->axis_n[a] : t->c.axis[a].n.n; }

static int64_t in_dim(const clf_tile *t, const clf_bind *b, int in, int d) {
    return b->in_dim ? b->in_dim[in * CLF_MAX_RANK + d] : t->c.in[in].dim[d].n;
}

/* Row-major offsets: the last dimension has stride 1. */
static void place_access(const clf_tile *t, const clf_bind *b, const clf_access *a, int log2, clf_tile_place *p) {
    int64_t stride = 1, base = 0;
    *p = (clf_tile_place){0};
    for (int d = a->rank - 1; d >= 0; d--) {
        const clf_at *at = &a->at[d];
        base += at->add * stride;
        if (at->axis >= 0 && at->axis == t->c.naxes - 1)
            p->col += at->mul * stride;
        else if (at->axis >= 0)
            p->row += at->mul * stride;
        stride *= in_dim(t, b, a->input, d);
    }
    if (b->in) p->at = (const char *)b->in[a->input] + base * ((int64_t)1 << log2);
    p->elems = stride - base;
}

static bool loads_are_flat(const clf_tile_job *j) {
    const clf_tile *t = j->t;
    for (int i = 0; i < t->nsource; i++) {
        const clf_tile_source *s = &t->source[i];
        clf_tile_place p;
        if (s->kind != CLF_SRC_LOAD || s->level != CLF_LV_CELL) continue;
        place_access(t, j->bind, &t->c.access[s->arg], s->log2, &p);
        if (p.col != 1 || (p.row != j->cols && j->rows != 1)) return false;
    }
    return true;
}

static void place_loads(clf_tile_job *j) {
    for (int i = 0; i < j->t->nsource; i++)
        if (j->t->source[i].kind == CLF_SRC_LOAD)
            place_access(j->t, j->bind, &j->t->c.access[j->t->source[i].arg], j->t->source[i].log2, &j->place[i]);
}

/* ---- mode, parts, workers --------------------------------------------------------------------------------------------------------- */

static void choose_mode(clf_tile_job *j) {
    const clf_tile *t = j->t;
    if (t->c.naxes < 2 || (!t->rowwise && loads_are_flat(j))) {
        j->mode = CLF_TM_FLAT;
        j->cols *= j->rows;
        j->rows = 1;
        return;
    }
    j->mode = j->cols <= CLF_TILE ? CLF_TM_ROWS : CLF_TM_PIECE;
    j->tile_rows = j->cols == 0 ? CLF_TILE : CLF_TILE / j->cols;
    j->over = t->nrows > 0 ? CLF_TILE_PAD : 0;
}

static bool is_flat(const clf_tile_job *j) { return j->mode == CLF_TM_FLAT; }

/* Others run the cells from `end` on. */
static void leave_rest(clf_tile_job *j, int64_t end) {
    j->cells = j->rows * j->cols;
    if (end >= j->cells) return;
    j->cells = end;
    if (j->t->ncols) j->col_levels = clf_col_tree_places((j->rows - 1) / j->col_block + 1);
    if (is_flat(j)) {
        j->cols = end;
        return;
    }
    j->rows = end / j->cols;
    j->tail = end % j->cols;
}

/* Is something kept of rows? */
static bool keeps_rows(const clf_tile *t) {
    bool any = t->nrows > 0;
    for (int i = 0; i < t->nsink; i++) any = any || (t->sink[i].kind == CLF_TS_STORE && t->sink[i].level == CLF_LV_ROW);
    return any;
}

/* Rows that a part must be a multiple of, a power of two: whole leaves of full folds, whole blocks of column folds. */
static int64_t part_granule(const clf_tile_job *j) {
    int64_t low = j->cols & -j->cols, leaf = low >= CLF_LEAF || low == 0 ? 1 : CLF_LEAF / low, g = 1;
    if (j->t->nfull > 0) g = leaf;
    if (j->t->ncols > 0 && j->col_block > g) g = j->col_block;
    return g;
}

static int worker_limit(const clf_tile_job *j, const clf_pool *pool) {
    double ns = (double)j->rows * (double)j->cols * (j->t->cell_ns + 0.02);
    int most = pool && ns > PARALLEL_NS ? clf_pool_threads(pool) : 1;
    return ns / (PARALLEL_NS / 2) < most ? (int)(ns / (PARALLEL_NS / 2)) + 1 : most;
}

static void choose_parts(clf_tile_job *j, const clf_pool *pool) {
    bool flat = j->mode == CLF_TM_FLAT;
    int64_t extent = flat ? j->cols : j->rows, width = flat ? 1 : j->cols, size = flat ? CLF_LEAF : part_granule(j);
    int useful = worker_limit(j, pool);
    j->workers = useful > 1 ? clf_pool_threads(pool) : 1; /* whichever thread of the pool is awake takes a part: all need memory */
    j->part_rows = extent > 0 ? extent : 1;
    j->parts = 1;
    if (j->workers == 1 && !j->col_levels) return;
    while (size < extent && ((extent - 1) / size + 1 > (int64_t)useful * PARTS_PER_WORKER || size * width < PART_CELLS)) size *= 2;
    while (j->col_levels && extent % size) size /= 2; /* the last one is a whole subtree, too */
    if (size >= extent) {
        j->workers = 1;
        return;
    }
    j->part_rows = size;
    j->parts = (extent - 1) / size + 1;
}

/* Depth of the levels of a column fold in one part. */
static int levels_of(const clf_tile_job *j) {
    int depth = 1;
    for (int64_t blocks = (j->part_rows - 1) / j->col_block + 1; blocks > 1; blocks /= 2) depth++;
    return depth + 1;
}

/* ---- memory ------------------------------------------------------------------------------------------------------------------------ */

typedef struct clf_layout {
    size_t at;
    bool overflow;
} clf_layout;

/* Room for n * each bytes, aligned; the offset. */
static size_t lay(clf_layout *l, size_t n, size_t each) {
    size_t bytes = 0, start = l->at;
    if (!clf_mul_ok(n, each, &bytes) || !clf_add_ok(l->at, bytes, &l->at) || !clf_add_ok(l->at, 63, &l->at)) l->overflow = true;
    l->at &= ~(size_t)63;
    return start;
}

/* What a worker has, in order: slots, registers, row trees, column folds, their lanes, their levels. */
static bool worker_layout(clf_tile_job *j) {
    const clf_tile *t = j->t;
    clf_layout l = {0};
    size_t lanes = j->cols <= 128 ? CLF_MAX_LANES : 1, cols = (size_t)j->cols;
    lay(&l, (size_t)t->nslot, sizeof(void *));
    j->slots_bytes = l.at;
    lay(&l, (size_t)(t->nreg + t->nown), CLF_REG_BYTES);
    j->regs_bytes = l.at - j->slots_bytes;
    lay(&l, (size_t)t->nrows, sizeof(clf_tree));
    lay(&l, (size_t)t->ncols, sizeof(clf_cols));
    if (t->ncols > 0) {
        size_t one = l.at;
        lay(&l, lanes * cols, 8);
        j->lane_bytes = l.at - one;
        lay(&l, (size_t)(3 * t->ncols - 1), j->lane_bytes);
        for (int i = 0; i < 3 * t->ncols; i++) lay(&l, (size_t)j->col_depth, cols * sizeof(clf_word));
    }
    j->worker_bytes = l.at;
    return !l.overflow;
}

static bool layout(clf_tile_job *j, clf_layout *l, size_t at[ROOMS]) {
    const clf_tile *t = j->t;
    size_t table = (size_t)(j->cols > CLF_TILE ? j->cols : CLF_TILE) + (size_t)4 * CLF_TILE_PAD;
    if (t->ncols > 0) j->col_depth = levels_of(j);
    if (!worker_layout(j)) return false;
    j->col_bytes = 0;
    at[0] = lay(l, (size_t)t->nscalar, CLF_REG_BYTES);
    if (t->ncol > 0) {
        if (!clf_mul_ok(table, 8, &j->col_bytes)) return false;
        at[1] = lay(l, (size_t)t->ncol, j->col_bytes);
    }
    at[2] = lay(l, (size_t)j->workers, j->worker_bytes);
    at[3] = lay(l, (size_t)j->parts * (size_t)t->nfull, sizeof(clf_full));
    at[4] = lay(l, t->ncols > 0 ? (size_t)(j->parts + j->col_levels) * (size_t)t->ncols * 3 * sizeof(clf_word) : 0, (size_t)j->cols);
    at[5] = lay(l, (size_t)t->nsource, sizeof(clf_tile_place));
    at[6] = lay(l, j->col_levels ? (size_t)t->ncols : 0, sizeof(clf_col_tree));
    return !l->overflow;
}

/* The program's scratch if no other run has it and it is large enough or can grow; else a block for this run. */
static bool acquire(clf_tile_job *j, clf_tile *t) {
    j->cached = atomic_exchange_explicit(&t->scratch.busy, 1, memory_order_acquire) == 0;
    if (!j->cached) return (j->at = clf_mem_data(t->mem, j->bytes)) != NULL;
    if (t->scratch.bytes < j->bytes || !t->scratch.at) {
        clf_mem_data_free(t->mem, t->scratch.at, t->scratch.bytes);
        t->scratch.at = clf_mem_data(t->mem, j->bytes);
        t->scratch.bytes = t->scratch.at ? j->bytes : 0;
    }
    j->at = t->scratch.at;
    if (!j->at) atomic_store_explicit(&t->scratch.busy, 0, memory_order_release);
    return j->at != NULL;
}

void clf_tile_job_end(clf_tile_job *j, clf_tile *t) {
    if (!j->cached) {
        clf_mem_data_free(t->mem, j->at, j->bytes);
        return;
    }
    if (t->scratch.bytes > CLF_SCRATCH_KEPT) {
        clf_mem_data_free(t->mem, t->scratch.at, t->scratch.bytes);
        t->scratch.at = NULL;
        t->scratch.bytes = 0;
    }
    atomic_store_explicit(&t->scratch.busy, 0, memory_order_release);
}

/* Mode, parts, workers and the bytes of the job; where in them what lies. */
static clf_status size_job(clf_tile_job *j, clf_tile *t, const clf_bind *bind, const clf_pool *pool, int64_t end, size_t at[ROOMS],
                           clf_err *err) {
    int axes = t->c.naxes;
    int64_t cells;
    clf_layout l = {0};
    *j = (clf_tile_job){.t = t, .bind = bind, .rows = axes < 2 ? 1 : axis_n(t, bind, 0), .cols = axes < 1 ? 1 : axis_n(t, bind, axes - 1)};
    if (__builtin_mul_overflow(j->rows, j->cols, &cells))
        return clf_fail(err, CLF_E_LIMIT, "%lld x %lld cells are too many", (long long)j->rows, (long long)j->cols);
    choose_mode(j);
    j->col_block = clf_col_block(j->rows, j->cols);
    j->stream = (double)cells * t->cell_bytes_out > CLF_STREAM_BYTES;
    leave_rest(j, end < cells ? end : cells);
    choose_parts(j, pool);
    if (!layout(j, &l, at)) return clf_fail(err, CLF_E_LIMIT, "working memory for %lld columns overflows", (long long)j->cols);
    j->bytes = l.at;
    return CLF_OK;
}

clf_status clf_tile_working(clf_tile *t, const clf_bind *bind, const clf_pool *pool, size_t *bytes, clf_err *err) {
    clf_tile_job j;
    size_t at[ROOMS] = {0};
    CLF_TRY(size_job(&j, t, bind, pool, INT64_MAX, at, err));
    *bytes = j.bytes;
    return CLF_OK;
}

bool clf_tile_may_end(const clf_tile *t, const clf_bind *bind, int64_t from) {
    int axes = t->c.naxes;
    clf_tile_job j = {.t = t, .bind = bind, .rows = axes < 2 ? 1 : axis_n(t, bind, 0), .cols = axes < 1 ? 1 : axis_n(t, bind, axes - 1)};
    int64_t cols = j.cols;
    choose_mode(&j);
    if (from <= 0 || cols <= 0 || (t->nfull && from % CLF_LEAF)) return false;
    if (t->ncols) {
        j.col_block = clf_col_block(j.rows, j.cols);
        return from % cols == 0 && from / cols % part_granule(&j) == 0;
    }
    return is_flat(&j) || from % cols == 0 || !keeps_rows(t);
}

clf_status clf_tile_job_begin(clf_tile_job *j, clf_tile *t, const clf_bind *bind, clf_pool *pool, int64_t end, clf_err *err) {
    size_t at[ROOMS] = {0};
    CLF_TRY(size_job(j, t, bind, pool, end, at, err));
    if (!acquire(j, t)) return clf_fail(err, CLF_E_NOMEM, "%zu bytes of working memory for a host program", j->bytes);
    j->scalar = j->at + at[0];
    j->col = j->at + at[1];
    j->worker = j->at + at[2];
    j->full = (clf_full *)(void *)(j->at + at[3]);
    j->part_cols = (clf_word *)(void *)(j->at + at[4]);
    j->place = (clf_tile_place *)(void *)(j->at + at[5]);
    j->col_tree = (clf_col_tree *)(void *)(j->at + at[6]);
    place_loads(j);
    clf_tile_choose_strip(j);
    return CLF_OK;
}

/* Point a worker's column folds at their lanes and levels, behind the clf_cols array. */
static void init_cols(const clf_tile_job *j, char *at) {
    clf_cols *cols = (clf_cols *)(void *)at;
    size_t level_bytes = ((size_t)j->col_depth * (size_t)j->cols * sizeof(clf_word) + 63) & ~(size_t)63;
    char *lane = at + (((size_t)j->t->ncols * sizeof(clf_cols) + 63) & ~(size_t)63);
    char *level = lane + (size_t)(3 * j->t->ncols) * j->lane_bytes;
    for (int i = 0; i < j->t->ncols; i++)
        for (int k = 0; k < 3; k++) {
            cols[i].lane[k] = lane + (size_t)(3 * i + k) * j->lane_bytes;
            cols[i].level[k] = (clf_word *)(void *)(level + (size_t)(3 * i + k) * level_bytes);
        }
}

void clf_tile_frame_at(clf_tile_frame *f, const clf_tile_job *j, int worker) {
    char *at = j->worker + (size_t)worker * j->worker_bytes;
    *f = (clf_tile_frame){.job = j, .slot = (void **)(void *)at, .regs = at + j->slots_bytes};
    at += j->slots_bytes + j->regs_bytes;
    f->row_tree = (clf_tree *)(void *)at;
    f->cols = (clf_cols *)(void *)(at + (((size_t)j->t->nrows * sizeof(clf_tree) + 63) & ~(size_t)63));
}

void clf_tile_frame_init(const clf_tile_job *j, int worker) {
    clf_tile_frame f;
    clf_tile_frame_at(&f, j, worker);
    for (int i = 0; i < j->t->nslot; i++) {
        clf_level level = (clf_level)j->t->slot_level[i];
        if (level == CLF_LV_SCALAR)
            f.slot[i] = j->scalar + (size_t)j->t->home[i] * CLF_REG_BYTES;
        else if (level == CLF_LV_COL)
            f.slot[i] = j->col + (size_t)j->t->home[i] * j->col_bytes;
        else
            f.slot[i] = j->t->home[i] < 0 ? NULL : clf_tile_reg(&f, i);
    }
    if (j->t->ncols > 0) init_cols(j, (char *)f.cols);
}
