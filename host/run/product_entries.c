/* SPDX-License-Identifier: Apache-2.0
 * Products of two sparse matrices: all cells of A %*% B from pairs of stored entries that meet, and from nothing else, as their zeros
 * annihilate. Row by row (Gustavson, "Two fast algorithms for sparse matrices", ACM TOMS 4 (1978) 3): a row of the result is cleared, and
 * each entry (i, k) of A adds its multiple of row k of B to it, at the places that entries of B name.
 *
 * Rows of B are wanted in no order that a processor could follow. Where a part wants each of them several times it takes B in panels of
 * rows that a core's own cache holds, all its rows of the result going through one panel before the next: 0.30 s of one core for t(S) %*% S
 * of 100000 x 1000 with 5,000,000 entries, 0.62 without. Else a row is fetched some entries ahead. Threads do not wait for each other
 * between panels: on a busy machine that would take longer than all of it.
 *
 * A row of the result belongs to one thread and is summed in the order of A's entries, so the bits depend neither on threads nor on panels
 * nor on where rows are cut into parts. That is by what they cost about, clearing cells and adding pairs, not by their number.
 *
 * Where one side is the other's twin, as in t(S) %*% S, the result is symmetric to the bit: cell (i, j) and cell (j, i) are sums of the same
 * products in the same order. Only cells from the diagonal on are summed, the others copied. Row k of B then begins, for row i of the
 * result, at its entry in column i; rows of the result come in order and ask for row k once for each of its entries, so where it begins
 * moves on by one entry each time, and is looked for once in a part. Of rows too many to note that of it is looked for each time.
 *
 * An entry that is stored as 0 is a zero like others: on the left it is passed, on the right it adds nothing, except where the left one is
 * not finite: then it is asked for. */
#include <math.h>
#include <string.h>

#include "host/run/run.h"

enum {
    AHEAD = 4, /* entries */
    LINE = 64,
    PANEL_BYTES = 1 << 19, /* of entries of B */
    SELDOM = 4,            /* cells of a row of the result, per pair that a panel adds to it: with more, panels do not pay */
    OFTEN = 2,             /* times that a part wants a row of B, for panels to pay */
    PARTS_EACH = 8,        /* for every thread */
    PARTS_HALF = 3,        /* where each looks for its places in rows of B */
    TILE = 32,             /* cells, copied over the diagonal at a time */
    PART_LEAST = 1 << 14,  /* pairs, or so */
    CLEARED = 8            /* cells in the time of a pair */
};

typedef struct entry_product {
    const clf_csr *a, *b;
    char *out;
    int64_t parts, panel; /* rows of B in a panel */
    double each, all;     /* pairs an entry of A begins; what the whole costs */
    bool far;             /* rows of B are fetched ahead */
    bool half;            /* the result is symmetric: cells from the diagonal on */
    int32_t *from;        /* then: where rows of the panel begin, -1: not known; for each thread; NULL: no room */
} entry_product;

/* What rows before row i cost: grows with i. Of a symmetric result as much of B's rows is left as of its entries. */
static double before(const entry_product *p, int64_t i) {
    double entries = (double)p->a->ptr[i], left = p->half ? 1 - entries / (2 * (double)p->a->nnz) : 1;
    return entries * (p->each * left + 1) + (double)i * ((double)p->b->cols / CLEARED + 1);
}

/* The first row of a part: before it is as much as there is in all parts before. */
static int64_t first_row(const entry_product *p, int64_t part) {
    double share = p->all * ((double)part / (double)p->parts);
    int64_t lo = 0, hi = p->a->rows;
    if (part == p->parts) return hi;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (before(p, mid) < share)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static void fetch(const clf_csr *b, int32_t k, size_t width) {
    const char *idx = (const char *)(b->idx + b->ptr[k]), *val = (const char *)b->val + (size_t)b->ptr[k] * width;
    size_t n = (size_t)(b->ptr[k + 1] - b->ptr[k]);
    for (size_t at = 0; at < n * sizeof *b->idx; at += LINE) __builtin_prefetch(idx + at);
    for (size_t at = 0; at < n * width; at += LINE) __builtin_prefetch(val + at);
}

/* How many entries of a row of B, which has n from `at` on, stand before column i, which has one. The next time one more does. */
static int64_t passed(const clf_csr *b, int32_t *from, int64_t at, int64_t n, int64_t i) {
    int64_t past = !from || *from < 0 ? clf_csr_first(b->idx + at, n, (int32_t)i) : *from;
    if (from) *from = (int32_t)past + 1;
    return past;
}

/* Columns of a row differ, so four sums are independent. */
#define ENTRY_PRODUCT(T, NAME) \
    static void NAME##_add(T *c, const int32_t *idx, const T *val, int64_t n, T x) { \
        int64_t e = 0; \
        for (; e + 4 <= n; e += 4) { \
            T s0 = c[idx[e]] + x * val[e], s1 = c[idx[e + 1]] + x * val[e + 1]; \
            T s2 = c[idx[e + 2]] + x * val[e + 2], s3 = c[idx[e + 3]] + x * val[e + 3]; \
            c[idx[e]] = s0; \
            c[idx[e + 1]] = s1; \
            c[idx[e + 2]] = s2; \
            c[idx[e + 3]] = s3; \
        } \
        for (; e < n; e++) c[idx[e]] += x * val[e]; \
    } \
    static void NAME##_add_asking(T *c, const int32_t *idx, const T *val, int64_t n, T x) { \
        for (int64_t e = 0; e < n; e++) \
            if (val[e] != 0) c[idx[e]] += x * val[e]; \
    } \
    static void NAME##_row(const entry_product *p, int64_t i, int64_t k0, int32_t *from) { \
        const clf_csr *a = p->a, *b = p->b; \
        const T *left = a->val, *right = b->val; \
        T *c = (T *)(void *)p->out + i * b->cols; \
        int64_t end = a->ptr[i + 1], e = a->ptr[i]; \
        if (k0) e += clf_csr_first(a->idx + e, end - e, (int32_t)k0); \
        for (; e < end && a->idx[e] - k0 < p->panel; e++) { \
            if (p->far && e + AHEAD < a->nnz) fetch(b, a->idx[e + AHEAD], sizeof(T)); \
            int64_t at = b->ptr[a->idx[e]], n = b->ptr[a->idx[e] + 1] - at; \
            int64_t past = p->half ? passed(b, from ? from + (a->idx[e] - k0) : NULL, at, n, i) : 0; \
            at += past; \
            n -= past; \
            if (left[e] == 0) continue; \
            if (isfinite(left[e])) \
                NAME##_add(c, b->idx + at, right + at, n, left[e]); \
            else \
                NAME##_add_asking(c, b->idx + at, right + at, n, left[e]); \
        } \
    } \
    static void NAME##_part(void *user, int64_t part, int worker) { \
        const entry_product *p = user; \
        int64_t from = first_row(p, part), to = first_row(p, part + 1); \
        size_t row = (size_t)p->b->cols * sizeof(T); \
        int32_t *places = p->from ? p->from + worker * p->panel : NULL; \
        if (p->panel < p->b->rows) memset(p->out + (size_t)from * row, 0, (size_t)(to - from) * row); \
        for (int64_t k0 = 0; k0 < p->b->rows; k0 += p->panel) { \
            if (places) memset(places, -1, (size_t)p->panel * sizeof *places); \
            for (int64_t i = from; i < to; i++) { \
                if (p->panel == p->b->rows) memset(p->out + (size_t)i * row, 0, row); \
                NAME##_row(p, i, k0, places); \
            } \
        } \
    } \
    static void NAME##_mirror(void *user, int64_t part, int worker) { \
        const entry_product *p = user; \
        int64_t n = p->b->cols, from = part * TILE, to = from + TILE < n ? from + TILE : n; \
        T *c = (T *)(void *)p->out; \
        (void)worker; \
        for (int64_t j0 = 0; j0 < to; j0 += TILE) \
            for (int64_t i = from; i < to; i++) \
                for (int64_t j = j0; j < i && j < j0 + TILE; j++) c[i * n + j] = c[j * n + i]; \
    }

ENTRY_PRODUCT(float, f32)
ENTRY_PRODUCT(double, f64)

/* Rows of B in a panel; all of them where it is small, parts want few of its rows twice, or pairs are too few to come back to rows of the
 * result for. */
static int64_t panel_rows(const entry_product *p, size_t width) {
    double bytes = (double)p->b->nnz * (double)(width + sizeof *p->b->idx), all = (double)p->b->rows, left = (double)p->a->nnz;
    if (bytes <= PANEL_BYTES) return p->b->rows;
    double rows = all * (PANEL_BYTES / bytes), pairs = left / (double)p->a->rows * p->each * (rows / all);
    bool pays = rows >= 1 && pairs * SELDOM >= (double)p->b->cols && left >= OFTEN * all * (double)p->parts;
    return pays ? (int64_t)rows : p->b->rows;
}

static void run_parts(clf_pool *pool, int64_t parts, void (*part)(void *, int64_t, int), entry_product *p) {
    if (pool)
        clf_pool_run(pool, parts, part, p);
    else
        for (int64_t i = 0; i < parts; i++) part(p, i, 0);
}

static int64_t parts_for(const entry_product *p, int64_t most) {
    return p->all / PART_LEAST < (double)most ? (int64_t)(p->all / PART_LEAST) + 1 : most;
}

/* symmetric: b is a's twin. */
static void multiply(const clf_csr *a, const clf_csr *b, bool symmetric, clf_pool *pool, clf_mem *mem, void *out) {
    size_t width = clf_dtype_bytes((clf_dtype)a->dtype), threads = pool ? (size_t)clf_pool_threads(pool) : 1;
    if (a->rows <= 0 || b->cols <= 0) return;
    if (!a->nnz || !b->nnz) {
        memset(out, 0, (size_t)a->rows * (size_t)b->cols * width);
        return;
    }
    bool f64 = a->dtype == CLF_F64;
    int64_t each = symmetric ? PARTS_HALF : PARTS_EACH, most = pool ? (int64_t)threads * each : 1;
    entry_product p = {.a = a, .b = b, .out = out, .half = symmetric, .each = (double)b->nnz / (double)b->rows};
    p.all = before(&p, a->rows);
    p.parts = parts_for(&p, most);
    p.panel = panel_rows(&p, width);
    p.far = p.panel == b->rows && (double)b->nnz * (double)width > PANEL_BYTES;
    if (symmetric && p.panel <= PANEL_BYTES / (int64_t)sizeof *p.from) p.from = clf_mem_new(mem, threads * (size_t)p.panel, sizeof *p.from);
    run_parts(pool, p.parts, f64 ? f64_part : f32_part, &p);
    if (symmetric) run_parts(pool, (b->cols - 1) / TILE + 1, f64 ? f64_mirror : f32_mirror, &p);
    clf_mem_free(mem, p.from, threads * (size_t)p.panel, sizeof *p.from);
}

/* Are both sides the same matrix, one of them transposed? */
static bool symmetric(const clf_host_call *call) {
    bool ta, tb;
    int32_t n = (int32_t)(call->node - call->g->node);
    int32_t a = clf_product_operand(call->g, n, 0, &ta), b = clf_product_operand(call->g, n, 1, &tb);
    return a == b && ta != tb;
}

clf_status clf_product_entries(const clf_host_call *call, clf_err *err) {
    (void)err;
    multiply(call->in[0], call->in[1], symmetric(call), call->pool, call->mem, call->out);
    return CLF_OK;
}
