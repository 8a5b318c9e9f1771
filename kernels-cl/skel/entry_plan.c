/* SPDX-License-Identifier: Apache-2.0
 * How entry.chunk walks a cplan (see entry_plan.h). Invariant: nothing here changes a result; a work-item gets whole rows, whole blocks
 * of rows or an aligned run of leaves, and the tree of fold.h fixes the bits. */
#include "kernels-cl/skel/entry_plan.h"

#include <string.h>

enum {
    MIN_CHUNK_ENTRIES = 4096,
    CHUNKS_PER_CORE = 32, /* as cell.chunk */
    BLOCKS_PER_CORE = 16, /* partial results: merged by one work-item */
    FEW_CELLS = 4096,
    FULL_LEVELS = 2 * 44 + 2,  /* of the carry stack: more leaves than memory holds entries */
    NARROW_SIDE = 4,           /* a side of up to so many columns is read column by column */
    FETCH_BYTES = 1 << 18,     /* sides beyond are fetched ahead */
    ZEROS_CELLS = 1 << 16,     /* of such a row: it stays in a core's own cache */
    NEAR_SIDE = 1 << 21,       /* bytes of a side that a core's own cache holds well enough */
    CUT_BYTES = 3 << 18,       /* of the side's rows read together */
    BLOCK_ENTRIES = 1 << 18,   /* at most: their DOTs stay in the cache beside them */
    ROW_GAIN = 3,              /* entries of a row in a cut, of a column in a block: fewer do not pay */
    ROW_CUT_BYTES = 1 << 20,   /* blocks of rows: of the side's rows read together */
    ROW_BLOCK_BYTES = 3 << 18, /* of what the rows of a block keep */
    ROW_SIDE = 5 << 19,        /* of a side; smaller ones a core's own cache holds well enough */
    SHORTEST_ROW = 256,        /* of its rows */
    VISIT_BYTES = 13 << 8,     /* of the side's rows that a row reads in a cut, and entries of a column in a block: fewer do not pay */
    COLUMN_GAIN = 2,
    ROW_LEAVES = 4, /* rows of more than 16 leaves are done in one go */
};

static int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

static void widths(clf_entry *p) {
    bool all_f32 = p->c->nvalue > 0, folds_f32 = false;
    for (int v = 0; v < p->c->nvalue; v++) all_f32 = all_f32 && p->c->value[v].dtype == CLF_F32;
    for (int t = 0; t < p->ntask; t++) folds_f32 = folds_f32 || p->c->value[p->task[t].a].dtype == CLF_F32;
    for (int v = 0; v < p->c->nvalue; v++) folds_f32 = folds_f32 || (clf_entry_is_pair(p, v) && p->c->value[v].dtype == CLF_F32);
    p->cell.width = all_f32 || folds_f32 ? 16 : 8;
    p->cell.ru = 1;
}

static bool scatter_cells(clf_entry *p, int64_t *cells) {
    *cells = 0;
    p->nscatter = 0;
    int64_t columns = p->c->in[p->csr].dim[1].n;
    for (int t = 0; t < p->ntask; t++) {
        int64_t n = columns;
        const clf_entry_task *d = &p->task[t];
        if (d->kind < CLF_DO_SCATTER || d->kind > CLF_DO_SCATTER_ROWS) continue;
        if (d->axis >= 0 && __builtin_mul_overflow(n, clf_entry_extent(p, d->axis), &n)) return false;
        if (p->nscatter++ && n != *cells) return false;
        *cells = n;
    }
    return true;
}

/* Leaves of a work-item: those of the kernel. */
static int64_t run_of(int64_t entries, int64_t chunks) {
    int64_t leaves = ceil_div(entries, CLF_LEAF), run = 1;
    while (run * chunks < leaves) run *= 2;
    return run;
}

/* Work-items that get leaves. None of the others is left over: drivers hand out long stretches of work-items first, and whoever got the
 * empty ones would be done early (seen: 38 of 64 with work took two cores 1.7 times as long). */
static int64_t busy_chunks(int64_t entries, int64_t chunks) {
    int64_t busy = ceil_div(ceil_div(entries, CLF_LEAF), run_of(entries, chunks));
    return busy < 1 ? 1 : busy;
}

/* Work-items of half a block of rows or more, as long as every core gets a few. */
static int64_t blocks_of_rows(const clf_entry *p, int64_t most, int cores) {
    int64_t few = (int64_t)BLOCKS_PER_CORE / 4 * (cores > 0 ? cores : 1), halves = 2 * p->cell.rows / p->block_rows;
    return halves > most ? most : halves < few ? few : halves;
}

static void cut(clf_entry *p, int64_t cells, int cores) {
    clf_cell *q = &p->cell;
    int64_t most = (int64_t)(p->nscatter || p->blocked ? BLOCKS_PER_CORE : CHUNKS_PER_CORE) * (cores > 0 ? cores : 1);
    int64_t work = p->c->axis[p->e].n.n / MIN_CHUNK_ENTRIES + q->rows / MIN_CHUNK_ENTRIES;
    if (p->blocked) most = p->by_entry ? most / 2 : blocks_of_rows(p, most, cores); /* of entries: few and large */
    double per_row = ((double)p->c->axis[p->e].n.n + (double)q->rows) / (q->rows > 0 ? (double)q->rows : 1);
    q->cols = cells;
    if (p->nscatter) {
        q->block = q->chunk = clf_scatter_block(q->rows, cells);
        while (cells <= FEW_CELLS && ceil_div(q->rows, q->chunk) > most) q->chunk *= 2;
        while (q->chunk < q->rows && (double)q->chunk * per_row < MIN_CHUNK_ENTRIES) q->chunk *= 2;
        q->chunks = q->rows > q->chunk ? ceil_div(q->rows, q->chunk) : 1;
    } else {
        q->block = q->chunk = 0;
        q->chunks = work < 1 ? 1 : work < most ? work : most;
        if (p->by_entry) q->chunks = busy_chunks(p->c->axis[p->e].n.n, q->chunks);
    }
}

/* Are the states of a task's lanes its wide states? */
static bool is_wide(const clf_entry *p, int t) {
    clf_dtype type = (clf_dtype)p->c->value[p->task[t].a].dtype;
    return clf_wide(type) == type;
}

int64_t clf_entry_spread(const clf_entry *p, int64_t *n) {
    *n = 1;
    for (int t = 0; t < p->ntask; t++)
        if (p->task[t].kind == CLF_DO_SCATTER_ROWS) *n = clf_entry_extent(p, p->task[t].axis);
    return p->lines ? ceil_div(*n, CLF_ENTRY_LINE) * CLF_ENTRY_LINE : *n;
}

static void choose_lines(clf_entry *p) {
    int64_t n, columns = p->c->in[p->csr].dim[1].n;
    clf_entry_spread(p, &n);
    p->lines = p->direct && n > CLF_ENTRY_LINE / 2 && columns * (ceil_div(n, CLF_ENTRY_LINE) * CLF_ENTRY_LINE) <= CLF_ENTRY_SPREAD;
    if (p->lines) p->cell.cols = columns * clf_entry_spread(p, &n);
}

static bool lay_out(clf_entry *p) {
    clf_cell *q = &p->cell;
    int64_t col = 0, full = 0;
    if (q->cols > INT64_MAX / 4096) return false;
    q->levels = q->block ? __builtin_ctzll((uint64_t)(q->chunk / q->block)) + 1 : 0;
    q->ent = FULL_LEVELS;
    q->ncol = q->nfull = 0;
    p->direct = p->nscatter && q->chunk == q->block && q->chunks <= CLF_ENTRY_PLACES;
    for (int t = 0; t < p->ntask; t++) {
        clf_cell_fold f = clf_cell_fold_of(q, &p->sink[t]);
        int states = f == CLF_CELL_NOFOLD ? 0 : clf_cell_states(&p->sink[t]);
        if (p->task[t].kind == CLF_DO_FULL) q->nfull++, full += states;
        if (f == CLF_CELL_COLFOLD) q->ncol++, col += states;
        p->direct = p->direct && (f != CLF_CELL_COLFOLD || is_wide(p, t));
    }
    choose_lines(p);
    q->cp = (q->cols + 15) / 16 * 16 + 16;
    q->aw = q->cp;
    q->cbase = q->nfull ? ((q->chunks + 1) * (q->ent * (full + 1) + 1) + 7) / 8 * 8 : 0;
    q->cbase += p->direct ? CLF_ENTRY_PLACES : 0;
    q->cstride = col * ((p->direct ? 0 : q->aw) + q->levels * q->cp);
    return true;
}

/* Who asks for an entry's row when walking by entry; `tiles`: so do the DOTs of a tile. */
static bool asks_rows(const clf_entry *p, bool tiles) {
    for (int v = 0; v < p->c->nvalue; v++) {
        const clf_value *w = &p->c->value[v];
        bool load = w->op == CLF_V_LOAD && p->c->access[w->arg].protocol == CLF_STREAM && (p->space[v] == CLF_AT_ENTRY);
        clf_entry_at at;
        if (tiles && clf_entry_in_tile(p, v)) return true;
        if (w->op == CLF_V_INDEX && w->arg == 0) return true;
        if (load && clf_entry_access(p, &p->c->access[w->arg], &at) && (at.axes & 1)) return true;
    }
    return false;
}

/* Measured on sum(X * Y * Z) with rows of 10,000 columns: at 1 % of all cells looking them up in a row of zeros takes half the time of
 * merging each operand's row with the main one's. */
static void choose_zeros(clf_entry *p) {
    double cells = (double)p->cell.rows * (double)p->c->in[p->csr].dim[1].n;
    for (int a = 0; a < p->c->naccess; a++) p->zeros += p->c->access[a].protocol == CLF_LOCATE;
    p->filled = p->zeros > 0 && p->c->in[p->csr].dim[1].n <= ZEROS_CELLS && (double)p->c->axis[p->e].n.n * CLF_ENTRY_FILLED >= cells;
}

/* Bytes of a row of the side that DOT v reads per entry. */
static int64_t side_row(const clf_entry *p, int v, int *access) {
    const clf_value *w = &p->c->value[v];
    int side = w->in[p->space[w->in[0]] == CLF_AT_ALONG ? 1 : 0];
    *access = p->c->value[side].arg;
    return clf_entry_extent(p, w->axis) * (int64_t)clf_dtype_bytes((clf_dtype)p->c->value[side].dtype);
}

/* Measured on sum(X * log(U %*% t(V))) of rank 100: at densities of 0.1 and 0.01 DOTs by block take half the time of those by row;
 * at 0.001 neither a row nor a column has enough entries near another. */
static void choose_blocks(clf_entry *p) {
    int64_t columns = p->c->in[p->csr].dim[1].n, row = 0;
    double entries = (double)p->c->axis[p->e].n.n, largest = 0;
    for (int v = 0; v < p->c->nvalue; v++) {
        int a;
        if (!clf_entry_is_pair(p, v)) continue;
        int64_t bytes = side_row(p, v, &a);
        p->pairs++;
        if (bytes > row) row = bytes;
        if (a < CLF_ENTRY_TASKS && p->fetch[a] && (double)bytes * (double)columns > largest) largest = (double)bytes * (double)columns;
    }
    if (!p->by_entry || p->zeros || largest <= NEAR_SIDE) return;
    int64_t cut = CUT_BYTES / row > 16 ? CUT_BYTES / row : 16;
    bool rows_gain = entries * (double)cut >= ROW_GAIN * (double)columns * (double)p->cell.rows;
    if (rows_gain && BLOCK_ENTRIES >= ROW_GAIN * columns) p->blocked = (int)cut;
}

/* May what is made of a row's entries be gone on with? Bytes of the longest row of a side that goes into a product; 0: no. */
static int64_t product_row(const clf_entry *p, double *largest) {
    int64_t row = 0, columns = p->c->in[p->csr].dim[1].n;
    for (int t = 0; t < p->ntask; t++) {
        const clf_entry_task *d = &p->task[t];
        clf_entry_at at;
        if (d->kind == CLF_DO_STORE || d->kind == CLF_DO_TOTAL || d->kind >= CLF_DO_ALONG_FOLD) continue;
        if (d->kind != CLF_DO_ROWS_OF) return 0;
        int a = p->c->value[d->b].arg;
        int64_t bytes = clf_entry_extent(p, d->axis) * (int64_t)clf_dtype_bytes((clf_dtype)p->c->value[d->b].dtype);
        if (!clf_entry_access(p, &p->c->access[a], &at) || at.sk != 1) return 0;
        if (bytes > row) row = bytes;
        if (a < CLF_ENTRY_TASKS && p->fetch[a] && (double)bytes * (double)columns > *largest) *largest = (double)bytes * (double)columns;
    }
    return row;
}

/* Is what a row needs before its entries cheap enough to be made again in every cut? */
static bool rows_cheap(const clf_entry *p) {
    for (int v = 0; v < p->c->nvalue; v++) {
        const clf_value *w = &p->c->value[v];
        bool row = (p->space[v] == CLF_AT_ROW || p->space[v] == CLF_AT_ALONG) && p->ready[v] == 0 && (w->axes & 1);
        if (row && (p->made[v] >= 0 || (clf_op_is_cell(w->op) && (clf_ops[w->op].flags & F_ELEM)))) return false;
    }
    return true;
}

static void size_kept(clf_entry *p) {
    int w = p->cell.width;
    double entries = 2 * (double)p->c->axis[p->e].n.n;
    while (p->row_leaves < ROW_LEAVES && entries > (double)p->cell.rows * (double)((int64_t)CLF_LEAF << p->row_leaves)) p->row_leaves++;
    for (int t = 0; t < p->ntask; t++)
        if (p->task[t].kind == CLF_DO_ROWS_OF)
            p->kept += (clf_entry_extent(p, p->task[t].axis) + w - 1) / w * w * (p->block_rows * (1 + p->row_leaves) + CLF_ENTRY_LEVELS);
}

/* Products of entries with rows of a side, summed by row: a block of rows goes through the columns cut by cut. Measured on
 * (X * (U %*% t(V))) %*% V: at rank 100, V of 3 to 16 MiB and densities from 0.005 to 0.1 it takes 0.45 to 0.7 of the time of going row
 * by row; 0.75 at rank 37 and 64 and densities of 0.005 and 0.0034; at a density of 0.003 next to nothing is gained. */
static void choose_row_blocks(clf_entry *p) {
    double entries = (double)p->c->axis[p->e].n.n, columns = (double)p->c->in[p->csr].dim[1].n, rows = (double)p->cell.rows, largest = 0;
    int64_t row = p->by_entry || p->sweeps != 1 || p->zeros || !rows_cheap(p) ? 0 : product_row(p, &largest);
    if (row < SHORTEST_ROW || largest <= ROW_SIDE) return;
    int64_t cut = ROW_CUT_BYTES / row, block = ROW_BLOCK_BYTES / row < CLF_ENTRY_SPAN ? ROW_BLOCK_BYTES / row : CLF_ENTRY_SPAN;
    bool rows_gain = entries * ROW_CUT_BYTES >= VISIT_BYTES * columns * rows;
    if (!rows_gain || entries * (double)block < COLUMN_GAIN * columns * rows) return;
    p->blocked = (int)cut;
    p->block_rows = block;
    size_kept(p);
}

/* Is there something to compute once a row, from what sweeps made of its entries, that costs as much for one row as for a whole vector of
 * them, and does nothing else of a row but such scalars outlive a sweep? */
static void choose_batches(clf_entry *p) {
    bool dear = false;
    for (int v = 0; v < p->c->nvalue; v++) {
        const clf_value *w = &p->c->value[v];
        if (p->space[v] == CLF_AT_ALONG && (w->axes & 1)) return;
        dear = dear || (p->space[v] == CLF_AT_ROW && p->ready[v] > 0 && clf_op_is_cell(w->op) && clf_ops[w->op].class_ >= CLF_CLASS_DIV);
    }
    p->batch = dear && !p->by_entry && !p->blocked;
}

/* Blocks are whole runs of leaves, a power of two of them; runs are those of the kernel. Their rows are to be such as can be gone on with,
 * but where those of the side are short: there more is lost than gained. */
static void size_blocks(clf_entry *p) {
    int64_t entries = p->c->axis[p->e].n.n, run = run_of(entries, p->cell.chunks);
    p->block_entries = run * CLF_LEAF < BLOCK_ENTRIES ? run * CLF_LEAF : BLOCK_ENTRIES;
    if (p->blocked > CUT_BYTES / SHORTEST_ROW) return;
    while (p->block_entries > CLF_LEAF && (double)p->block_entries * (double)p->cell.rows > (double)entries * (CLF_ENTRY_SPAN * 7 / 8))
        p->block_entries /= 2;
}

int64_t clf_entry_zeros(const clf_entry *p) { return p->filled ? p->cell.chunks * p->zeros * p->c->in[p->csr].dim[1].n : 0; }

bool clf_entry_plan(clf_entry *p, const clf_cplan *c, int cores) {
    int64_t cells;
    memset(p, 0, sizeof *p);
    p->c = c;
    if (!clf_entry_axes(p) || (!clf_entry_walk(p, true) && !clf_entry_walk(p, false)) || !scatter_cells(p, &cells)) return false;
    p->cell.rows = c->axis[0].n.n;
    choose_zeros(p);
    widths(p);
    for (int a = 0; a < c->naccess && a < CLF_ENTRY_TASKS; a++) {
        const clf_cinput *in = &c->in[c->access[a].input];
        double bytes = clf_dtype_bytes((clf_dtype)in->dtype);
        for (int d = 0; d < in->rank; d++) bytes *= (double)in->dim[d].n;
        p->fetch[a] = bytes > FETCH_BYTES;
    }
    choose_blocks(p);
    choose_row_blocks(p);
    choose_batches(p);
    p->rows = p->by_entry && asks_rows(p, !p->blocked);
    cut(p, cells, cores);
    size_blocks(p);
    return lay_out(p);
}

int64_t clf_entry_run(const clf_entry *p) { return run_of(p->c->axis[p->e].n.n, p->cell.chunks); }

int clf_entry_variant(const clf_entry *p) {
    unsigned v = 0;
    for (int a = 0; a < p->c->naccess && a < 8; a++) v |= (unsigned)p->fetch[a] << a;
    for (int a = 1; a < p->c->naxes; a++)
        if (a != p->e) v = v * 31 + (unsigned)clf_entry_extent(p, a) * 512;
    return p->lines << 28 | (int)((v & 0xffffff) << 4) | (p->blocked > 0) << 3 | p->filled << 2 | p->direct << 1 | p->by_entry;
}
