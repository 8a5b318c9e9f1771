/* SPDX-License-Identifier: Apache-2.0
 * Measuring device 0 beyond cells: the row executor with a dense chain of two products (wide rows for the rate, narrow ones for what a
 * row costs) and a sparse product whose vector grows through the tiers, then the library, conversions and a transpose.
 *
 * A figure is the least time of several tries, in all of the passes that the caller makes; differences are bounded below so that none is
 * free. */
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "core/least.h"
#include "formats/sparse.h"
#include "host/run/calibrate.h"
#include "host/run/convert.h"
#include "host/run/rows.h"
#include "host/run/run.h"

#define LEAST_GATHER_NS 0.01
enum {
    SLICE_NS = 25000000,
    MIN_TRIES = 3,
    CHAIN_CELLS = 1 << 19, /* of the dense chain: in the second-level caches, and rows for all cores */
    WIDE = 64,
    SKINNY = 16,       /* columns of its right side: whole vectors */
    NARROW = 11,       /* no whole vectors */
    NARROW_TERMS = 16, /* what that is in vectors */
    ENTRY_ROWS = 1 << 13,
    ROW_ENTRIES = 32,
    SHORT_ENTRIES = 10, /* of short rows, which have from one to twice as many less one */
    GAP = 8,            /* cells for each entry */
    ENTRIES = ENTRY_ROWS * ROW_ENTRIES,
    MANY_ROWS = 1 << 18,
    MANY = MANY_ROWS * ROW_ENTRIES, /* more entries than caches hold */
    BIG_CELLS = 12 << 20,           /* of the largest vector */
    SQUARE = 320,                   /* side of the library's product */
    THIN = 4,
    TALL = 1 << 15,
    BLOCK = 1 << 10 /* side of what is converted and transposed */
};

typedef struct gauge {
    clf_blas *blas;
    clf_pool *pool;
    clf_isa isa;
    clf_mem *mem;
    clf_err *err;
    double *big, *out; /* BIG_CELLS; BLOCK * BLOCK */
    float *square;     /* SQUARE * SQUARE: bits of doubles would be numbers that are slow to multiply */
    int64_t *ptr;      /* ENTRY_ROWS + 1, and BLOCK + 1 zeros */
    int64_t *many;     /* MANY_ROWS + 1 */
    int64_t *little;   /* rows of SHORT_ENTRIES on average */
    int32_t *idx;      /* MANY */
    clf_least *least;
} gauge;

/* Least time of one call. */
typedef clf_status (*work)(const gauge *g, const void *what);
static clf_status least(const gauge *g, work w, const void *what, double *ns) {
    double start = (double)clf_now_ns(), best = 1e18;
    CLF_TRY(w(g, what));
    for (int tries = 0; tries < MIN_TRIES || (double)clf_now_ns() - start < SLICE_NS; tries++) {
        double t0 = (double)clf_now_ns();
        CLF_TRY(w(g, what));
        double once = (double)clf_now_ns() - t0;
        best = once < best ? once : best;
    }
    *ns = clf_least_of(g->least, best > 1 ? best : 1);
    return CLF_OK;
}

/* ---- loops over rows ---- */

typedef struct row_job {
    struct clf_rows *rows;
    clf_bind bind;
} row_job;

static clf_status row_run(const gauge *g, const void *what) {
    const row_job *j = what;
    return clf_rows_run(j->rows, &j->bind, g->pool, g->err);
}

static clf_status row_time(const gauge *g, const char *text, const clf_bind *bind, double *ns) {
    clf_arena a;
    clf_cplan c;
    row_job j = {NULL, *bind};
    clf_arena_init(&a, g->mem);
    clf_status st = clf_cplan_parse(&c, &a, text, strlen(text), g->err);
    if (st == CLF_OK) st = clf_rows_new(&j.rows, &c, g->isa, g->mem, g->err);
    if (st == CLF_OK) st = least(g, row_run, &j, ns);
    clf_rows_free(j.rows);
    clf_arena_release(&a);
    return st;
}

/* t(X) %*% (X %*% V), V of k columns. */
static clf_status chain_time(const gauge *g, const char *type, int rows, int cols, int k, double *ns) {
    static const char form[] = "(cplan (axis i range free %d) (axis j range free %d) (axis k range free %d) (in X %s dense %d %d)"
                               " (in V %s dense %d %d) (out Y %s %d %d) (access a0 X stream (i 1 0) (j 1 0))"
                               " (access a1 V stream (j 1 0) (k 1 0)) (let v0 %s load a0) (let v1 %s load a1) (let v2 %s dot j v0 v1)"
                               " (dot Y v0 v2 keep j k))";
    char text[1024];
    void *in[2] = {g->big, g->big}, *out[1] = {g->out};
    snprintf(text, sizeof text, form, rows, cols, k, type, rows, cols, type, cols, k, type, cols, k, type, type, type);
    return row_time(g, text, &(clf_bind){.in = in, .out = out}, ns);
}

static clf_status gauge_chains(const gauge *g, clf_profile *p) {
    static const char *const type[] = {"f32", "f64"};
    double ns, rows = CHAIN_CELLS / NARROW;
    for (int w = 0; w < 2; w++) {
        CLF_TRY(chain_time(g, type[w], CHAIN_CELLS / WIDE, WIDE, SKINNY << !w, &ns));
        p->fma_per_s[w] = 2e9 * (SKINNY << !w) * CHAIN_CELLS / ns;
    }
    CLF_TRY(chain_time(g, type[1], CHAIN_CELLS / NARROW, NARROW, 1, &ns));
    double beside = ns - 2e9 * NARROW_TERMS * rows / p->fma_per_s[1];
    p->dot_ns = (beside > ns / 8 ? beside : ns / 8) / (2 * rows);
    return CLF_OK;
}

/* X %*% v, or (back) t(X) %*% (X %*% v), over so many stored entries in rows that begin at ptr, spread over the first `cells` of v. */
static clf_status entries_time(const gauge *g, int64_t *ptr, int rows, int entries, int64_t cells, bool back, double *ns) {
    static const char form[] = "(cplan (axis i range free %d) (axis j entry free %d owner a0 parent i) (in X f64 csr %d %lld)"
                               " (in v f64 dense %lld 1) (out Y f64 %lld) (access a0 X entries (i 1 0) (j 1 0))"
                               " (access a1 v stream (j 1 0) (- 0)) (let v0 f64 load a0) (let v1 f64 load a1)"
                               " (let v2 f64 dot j v0 v1 skip 1) (%s))";
    char text[1024];
    clf_csr x = {ptr, g->idx, g->big, rows, cells, entries, CLF_F64};
    void *in[2] = {&x, g->big}, *out[1] = {g->out};
    uint32_t h = 1;
    for (int i = 0; i < entries; i++) {
        h = h * 1664525u + 1013904223u;
        g->idx[i] = (int32_t)((uint64_t)h * (uint64_t)cells >> 32);
    }
    snprintf(text, sizeof text, form, rows, entries, rows, (long long)cells, (long long)cells, back ? (long long)cells : rows,
             back ? "dot Y v0 v2 keep j" : "store Y v2 keep i");
    return row_time(g, text, &(clf_bind){.in = in, .out = out}, ns);
}

/* The same entries in many short rows against few long ones. */
static clf_status gauge_begun(const gauge *g, clf_profile *p) {
    enum { ROWS = ENTRIES / SHORT_ENTRIES };
    double ns, cells = p->tier_bytes[0] / 16;
    CLF_TRY(entries_time(g, g->little, ROWS, ENTRIES, (int64_t)cells, false, &ns));
    double row = (ns - p->entry_ns * ENTRIES) / (ROWS - ENTRY_ROWS), entry = p->entry_ns - row / ROW_ENTRIES;
    if (entry > p->entry_ns / 2) p->entry_ns = entry;
    p->entry_row_ns = row > p->dot_ns ? row - p->dot_ns : 0;
    return CLF_OK;
}

/* A vector of a tier's reach; what an entry takes beyond one of the first tier is the looking up. Then a second sum for each. */
static clf_status gauge_entries(const gauge *g, clf_profile *p) {
    enum { FEW = 512 }; /* sums: those of blocks of rows meet in no time */
    double ns, both;
    for (int t = 0; t < CLF_PROFILE_TIERS; t++) {
        double reach = clf_profile_reach(p, t), most = 8.0 * BIG_CELLS;
        CLF_TRY(entries_time(g, g->ptr, ENTRY_ROWS, ENTRIES, (int64_t)((reach < most ? reach : most) / 8), false, &ns));
        ns /= ENTRIES;
        if (t == 0) p->entry_ns = ns;
        p->gather_ns[t] = ns > p->entry_ns + LEAST_GATHER_NS ? ns - p->entry_ns : LEAST_GATHER_NS;
    }
    CLF_TRY(entries_time(g, g->ptr, ENTRY_ROWS, ENTRIES, FEW, true, &both));
    p->scatter_ns = both / ENTRIES > p->entry_ns ? both / ENTRIES - p->entry_ns : 0;
    return gauge_begun(g, p);
}

/* The part of computing that hides behind nothing, where it and moving take ns together, by the rule that loops are costed by
 * (bill_pay.c). */
static double alone(const clf_profile *p, double ns, double moved, double computed) {
    const double beside = (ns - moved) / computed - (1 - p->overlap), part = p->overlap > 0 ? beside / p->overlap : 0;
    return part < 0 ? 0 : part > 1 ? 1 : part;
}

/* The narrow chain over all of `big`. */
static clf_status gauge_alone(const gauge *g, clf_profile *p) {
    const int rows = BIG_CELLS / NARROW;
    const double moved = 1e9 * 8.0 * BIG_CELLS / p->read_bytes_per_s[CLF_PROFILE_TIERS - 1],
                 computed = 2.0 * rows * (1e9 * NARROW_TERMS / p->fma_per_s[1] + p->dot_ns);
    double ns;
    CLF_TRY(chain_time(g, "f64", rows, NARROW, 1, &ns));
    p->row_alone = alone(p, ns, moved, computed);
    return CLF_OK;
}

/* The same of a sparse product whose entries come from memory. */
static clf_status gauge_entries_alone(const gauge *g, clf_profile *p) {
    const double moved = 1e9 * (12.0 * MANY + 16.0 * MANY_ROWS) / p->read_bytes_per_s[CLF_PROFILE_TIERS - 1],
                 computed = p->entry_ns * MANY + (p->dot_ns + p->entry_row_ns) * MANY_ROWS;
    double ns;
    CLF_TRY(entries_time(g, g->many, MANY_ROWS, MANY, (int64_t)(p->tier_bytes[0] / 16), false, &ns));
    p->entry_alone = alone(p, ns, moved, computed);
    return CLF_OK;
}

/* What an entry of X takes beside being visited and NARROW terms, in a loop whose other operands' short rows stay in cache. */
enum { NEAR_COLS = 256 };
static clf_status narrow_time(const gauge *g, const clf_profile *p, const char *text, double *beside) {
    clf_csr x = {g->ptr, g->idx, g->big, ENTRY_ROWS, NEAR_COLS, ENTRIES, CLF_F64};
    void *in[3] = {&x, g->big, g->big}, *out[1] = {g->out};
    double ns;
    for (int i = 0; i < ENTRIES; i++) g->idx[i] = (i * 7 + i / ROW_ENTRIES) % NEAR_COLS;
    CLF_TRY(row_time(g, text, &(clf_bind){.in = in, .out = out}, &ns));
    *beside = ns / ENTRIES - p->entry_ns - 1e9 * NARROW_TERMS / p->fma_per_s[1];
    return CLF_OK;
}

/* sum(X * (U %*% t(V))) at stored entries: what an inner product is beside its terms. */
static clf_status gauge_pairs(const gauge *g, clf_profile *p) {
    static const char form[] =
        "(cplan (axis i range free %d) (axis k range free %d) (axis j entry free %d owner a0 parent i)"
        " (in X f64 csr %d %d) (in U f64 dense %d %d) (in V f64 dense %d %d) (out Y f64)"
        " (access a0 X entries (i 1 0) (j 1 0)) (access a1 U stream (i 1 0) (k 1 0)) (access a2 V stream (j 1 0) (k 1 0))"
        " (let v0 f64 load a0) (let v1 f64 load a1) (let v2 f64 load a2) (let v3 f64 dot k v1 v2) (let v4 f64 MUL v0 v3)"
        " (fold Y SUM v4 keep over i j))";
    char text[1024];
    double beside;
    snprintf(text, sizeof text, form, ENTRY_ROWS, NARROW, ENTRIES, ENTRY_ROWS, NEAR_COLS, ENTRY_ROWS, NARROW, NEAR_COLS, NARROW);
    CLF_TRY(narrow_time(g, p, text, &beside));
    p->pair_ns = beside > 0 ? beside : 0;
    return CLF_OK;
}

/* X %*% V: what a row of V, which no whole vectors fill, is beside its terms. */
static clf_status gauge_sides(const gauge *g, clf_profile *p) {
    static const char form[] =
        "(cplan (axis i range free %d) (axis j entry free %d owner a0 parent i) (axis k range free %d) (in X f64 csr %d %d)"
        " (in V f64 dense %d %d) (out Y f64 %d %d) (access a0 X entries (i 1 0) (j 1 0)) (access a1 V stream (j 1 0) (k 1 0))"
        " (let v0 f64 load a0) (let v1 f64 load a1) (let v2 f64 dot j v0 v1 skip 1) (store Y v2 keep i k))";
    char text[1024];
    double beside;
    snprintf(text, sizeof text, form, ENTRY_ROWS, ENTRIES, NARROW, ENTRY_ROWS, NEAR_COLS, NEAR_COLS, NARROW, ENTRY_ROWS, NARROW);
    CLF_TRY(narrow_time(g, p, text, &beside));
    p->side_ns = beside > 0 ? beside : 0;
    return CLF_OK;
}

/* Entries anywhere, one in GAP cells. */
static void scatter(const gauge *g) {
    uint32_t h = 1;
    for (int i = 0; i < ENTRIES; i++) {
        h = h * 1664525u + 1013904223u;
        g->idx[i] = i % ROW_ENTRIES * GAP + (int32_t)(h >> 29);
    }
}

/* colSums(X + w), whose cells without entry differ along each column; what an entry takes beside being visited. */
static clf_status gauge_gaps(const gauge *g, clf_profile *p) {
    static const char form[] =
        "(cplan (axis i range free %d) (axis j entry free %d owner a0 parent i) (in X f64 csr %d %d) (in w f64 dense %d 1) (out Y f64 %d)"
        " (access a0 X entries (i 1 0) (j 1 0)) (access a1 w stream (i 1 0) (- 0)) (let v0 f64 load a0) (let v1 f64 load a1)"
        " (let v2 f64 ADD v0 v1) (fold Y SUM v2 rest v1 keep j over i))";
    enum { COLS = ROW_ENTRIES * GAP };
    char text[1024];
    clf_csr x = {g->ptr, g->idx, g->big, ENTRY_ROWS, COLS, ENTRIES, CLF_F64};
    void *in[2] = {&x, g->big}, *out[1] = {g->out};
    double ns;
    scatter(g);
    snprintf(text, sizeof text, form, ENTRY_ROWS, ENTRIES, ENTRY_ROWS, COLS, ENTRY_ROWS, COLS);
    CLF_TRY(row_time(g, text, &(clf_bind){.in = in, .out = out}, &ns));
    ns /= ENTRIES;
    p->gap_ns = ns > 2 * p->entry_ns ? ns - p->entry_ns : p->entry_ns;
    return CLF_OK;
}

/* sum(X * Z) of two sparse matrices of the same density, whose entries lie anywhere. */
static clf_status gauge_locate(const gauge *g, clf_profile *p) {
    static const char form[] =
        "(cplan (axis i range free %d) (axis j entry free %d owner a0 parent i) (in X f64 csr %d %d) (in Z f64 csr %d %d)"
        " (out Y f64) (access a0 X entries (i 1 0) (j 1 0)) (access a1 Z locate (i 1 0) (j 1 0)) (let v0 f64 load a0)"
        " (let v1 f64 load a1) (let v2 f64 MUL v0 v1) (fold Y SUM v2 keep))";
    enum { HALF = ENTRY_ROWS / 2, COLS = ROW_ENTRIES * GAP };
    char text[1024];
    clf_csr x = {g->ptr, g->idx, g->big, HALF, COLS, ENTRIES / 2, CLF_F64}, z = x;
    void *in[2] = {&x, &z}, *out[1] = {g->out};
    double ns;
    z.idx = g->idx + ENTRIES / 2;
    scatter(g);
    snprintf(text, sizeof text, form, HALF, ENTRIES / 2, HALF, COLS, HALF, COLS);
    CLF_TRY(row_time(g, text, &(clf_bind){.in = in, .out = out}, &ns));
    p->locate_ns = ns / ENTRIES;
    return CLF_OK;
}

/* ---- products of the library ---- */

/* An m x k times k x n product, the left side in memory as its transpose or as it is. */
typedef struct product {
    clf_dtype type;
    bool ta;
    int64_t m, n, k;
} product;

static clf_status product_run(const gauge *g, const void *what) {
    const product *q = what;
    const void *in = q->type == CLF_F32 ? (const void *)g->square : g->big;
    return clf_blas_gemm(g->blas, q->type, q->ta, false, q->m, q->n, q->k, in, q->ta ? q->m : q->k, in, q->n, g->out, q->n, g->err);
}

/* X %*% v and t(X) %*% v of a tall X that no whole vectors fill; what a row takes beyond its flops or its bytes. */
static clf_status gauge_library_rows(const gauge *g, clf_profile *p) {
    double each = 2e9 * NARROW / p->library_flops_per_s[1], read = 8e9 * NARROW / p->read_bytes_per_s[1], ns;
    if (read > each) each = read;
    for (int over = 0; over < 2; over++) {
        const product q = {CLF_F64, over, over ? NARROW : TALL, 1, over ? TALL : NARROW};
        CLF_TRY(least(g, product_run, &q, &ns));
        ns /= TALL;
        p->library_row_ns[over] = ns - each > ns / 8 ? ns - each : ns / 8;
    }
    return CLF_OK;
}

/* The same of rows of LONG from memory, beside streaming them. */
static clf_status gauge_library_waits(const gauge *g, clf_profile *p) {
    enum { LONG = 100, ROWS = BIG_CELLS / LONG };
    const double streamed = 8e9 * LONG / p->read_bytes_per_s[CLF_PROFILE_TIERS - 1];
    double ns;
    for (int over = 0; over < 2; over++) {
        const product q = {CLF_F64, over, over ? LONG : ROWS, 1, over ? ROWS : LONG};
        CLF_TRY(least(g, product_run, &q, &ns));
        p->library_wait_ns[over] = ns / ROWS > streamed ? ns / ROWS - streamed : 0;
    }
    return CLF_OK;
}

/* time = flops / F * (1 + half / shortest side), from a square product and two thin ones, t(X) %*% W and X %*% V of a tall X. */
static clf_status gauge_library(const gauge *g, clf_profile *p) {
    const double cube = 2e9 * SQUARE * SQUARE * SQUARE, flat = 16e9 * THIN * THIN * TALL;
    const int64_t wide = (int64_t)8 * THIN;
    double square[2], thin[2];
    CLF_TRY(least(g, product_run, &(product){CLF_F64, false, 2, 2, 2}, &p->library_ns));
    CLF_TRY(least(g, product_run, &(product){CLF_F32, false, SQUARE, SQUARE, SQUARE}, &square[0]));
    CLF_TRY(least(g, product_run, &(product){CLF_F64, false, SQUARE, SQUARE, SQUARE}, &square[1]));
    CLF_TRY(least(g, product_run, &(product){CLF_F64, true, wide, THIN, TALL}, &thin[0]));
    CLF_TRY(least(g, product_run, &(product){CLF_F64, false, TALL, THIN, wide}, &thin[1]));
    for (int tall = 0; tall < 2; tall++) {
        double slow = thin[tall] * cube / (square[1] * flat),
               half = THIN * (slow - 1); /* of each flop; a square's side counts as endless */
        p->library_half[tall] = half > 1 ? half : 1;
    }
    for (int w = 0; w < 2; w++) p->library_flops_per_s[w] = cube / square[w];
    CLF_TRY(gauge_library_rows(g, p));
    return gauge_library_waits(g, p);
}

/* ---- other host steps ---- */

static clf_status cells_run(const gauge *g, const void *what) {
    clf_convert_cells(what, g->pool, g->out);
    return CLF_OK;
}

static clf_status twin_run(const gauge *g, const void *what) {
    clf_sparse t;
    memset(&t, 0, sizeof t);
    CLF_TRY(clf_csr_transpose(what, g->mem, &t, g->err));
    clf_sparse_release(&t, g->mem);
    return CLF_OK;
}

static clf_status call_run(const gauge *g, const void *what) { return clf_callout_run(what, g->err); }

static clf_status transpose_time(const gauge *g, int64_t side, double *ns) {
    clf_gnode all[2];
    const clf_graph graph = {.n = 2, .node = all};
    void *in[1] = {g->big};
    memset(all, 0, sizeof all);
    for (int i = 0; i < 2; i++) {
        all[i].op = i ? CLF_OP_TRANSPOSE : CLF_OP_LEAF;
        all[i].dtype = CLF_F64;
        clf_gnode_shape(&all[i], side, side);
    }
    all[1].nin = 1;
    const clf_host_call call = {.pool = g->pool, .mem = g->mem, .g = &graph, .node = &all[1], .in = in, .out = g->out};
    return least(g, call_run, &call, ns);
}

static clf_status gauge_steps(const gauge *g, clf_profile *p) {
    const double block = (double)BLOCK * BLOCK;
    clf_csr none = {g->ptr + ENTRY_ROWS + 1, g->idx, g->big, BLOCK, BLOCK, 0, CLF_F64}; /* no entries: cells are cleared only */
    clf_csr some = {g->ptr, g->idx, g->big, ENTRY_ROWS, BLOCK, ENTRIES, CLF_F64};
    double ns;
    CLF_TRY(least(g, cells_run, &none, &ns));
    p->convert_cells_per_s = 1e9 * block / ns;
    for (int i = 0; i < ENTRIES; i++) g->idx[i] = g->idx[i] & (BLOCK - 1);
    CLF_TRY(least(g, twin_run, &some, &ns));
    p->convert_entries_per_s = 1e9 * ENTRIES / ns;
    CLF_TRY(transpose_time(g, 1, &p->callout_ns));
    CLF_TRY(transpose_time(g, BLOCK, &ns));
    p->callout_bytes_per_s = 1e9 * 16 * block / ns;
    return CLF_OK;
}

static clf_status gauge_all(const gauge *g, clf_profile *p) {
    clf_least_again(g->least);
    for (int64_t i = 0; i < BIG_CELLS; i++) g->big[i] = 0.5 + (double)(i % 1000) / 1001.0;
    for (int64_t i = 0; i < (int64_t)SQUARE * SQUARE; i++) g->square[i] = (float)g->big[i];
    for (int64_t i = 0; i <= ENTRY_ROWS; i++) g->ptr[i] = i * ROW_ENTRIES;
    for (int64_t i = 0; i <= MANY_ROWS; i++) g->many[i] = i * ROW_ENTRIES;
    g->little[0] = 0;
    for (int64_t i = 0; i < ENTRIES / SHORT_ENTRIES; i++) {
        int64_t end = g->little[i] + 1 + i * 7 % (2 * SHORT_ENTRIES - 1);
        g->little[i + 1] = end < ENTRIES ? end : ENTRIES;
    }
    memset(g->ptr + ENTRY_ROWS + 1, 0, (BLOCK + 1) * sizeof *g->ptr);
    CLF_TRY(gauge_chains(g, p));
    CLF_TRY(gauge_entries(g, p));
    CLF_TRY(gauge_pairs(g, p));
    CLF_TRY(gauge_alone(g, p));
    CLF_TRY(gauge_entries_alone(g, p));
    CLF_TRY(gauge_sides(g, p));
    CLF_TRY(gauge_locate(g, p));
    CLF_TRY(gauge_gaps(g, p));
    CLF_TRY(gauge_library(g, p));
    return gauge_steps(g, p);
}

clf_status clf_work_calibrate(clf_blas *blas, clf_pool *pool, clf_isa isa, clf_mem *mem, clf_least *known, clf_profile *p, clf_err *err) {
    const size_t big = sizeof(double) * BIG_CELLS, out = sizeof(double) * BLOCK * BLOCK, idx = sizeof(int32_t) * MANY,
                 square = sizeof(float) * SQUARE * SQUARE,
                 ptr = sizeof(int64_t) * (ENTRY_ROWS + BLOCK + 2 + ENTRIES / SHORT_ENTRIES + 1 + MANY_ROWS + 1),
                 bytes = big + out + ptr + idx + square;
    gauge g = {.blas = blas, .pool = pool, .isa = clf_isa_pick(isa), .mem = mem, .err = err, .least = known};
    clf_profile work = *p;
    char *block = clf_mem_data(mem, bytes);
    if (!block) return clf_fail(err, CLF_E_NOMEM, "%zu bytes to measure the host with", bytes);
    g.big = (double *)(void *)block;
    g.out = (double *)(void *)(block + big);
    g.ptr = (int64_t *)(void *)(block + big + out);
    g.idx = (int32_t *)(void *)(block + big + out + ptr);
    g.square = (float *)(void *)(block + big + out + ptr + idx);
    g.little = g.ptr + ENTRY_ROWS + BLOCK + 2;
    g.many = g.little + ENTRIES / SHORT_ENTRIES + 1;
    clf_status st = gauge_all(&g, &work);
    clf_mem_data_free(mem, block, bytes);
    if (st == CLF_OK) *p = work;
    return st;
}
