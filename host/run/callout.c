/* SPDX-License-Identifier: Apache-2.0
 * CALLOUT steps: structural operators that no template covers run here, on the host, one function each, reached by a table.
 * Data movement is by element size, so one text serves every type. */
#include <string.h>

#include "core/fold.h"
#include "host/run/run.h"

#include <Random123/philox.h>

static clf_status co_reshape(const clf_host_call *h, clf_err *err) {
    (void)err;
    size_t bytes = (size_t)clf_rows(h->node) * (size_t)clf_cols(h->node) * clf_dtype_bytes((clf_dtype)h->node->dtype);
    if (bytes) memcpy(h->out, h->in[0], bytes);
    return CLF_OK;
}

/* Blocked so that both sides stay in cache lines: 16x16 elements. */
#define TRANSPOSE(T) \
    static void transpose_##T(const T *x, T *y, int64_t rows, int64_t cols) { \
        for (int64_t i0 = 0; i0 < rows; i0 += 16) \
            for (int64_t j0 = 0; j0 < cols; j0 += 16) \
                for (int64_t i = i0; i < rows && i < i0 + 16; i++) \
                    for (int64_t j = j0; j < cols && j < j0 + 16; j++) y[j * rows + i] = x[i * cols + j]; \
    }
TRANSPOSE(uint8_t)
TRANSPOSE(uint32_t)
TRANSPOSE(uint64_t)

static const clf_gnode *operand(const clf_host_call *h, int k) { return &h->g->node[h->node->in[k]]; }

static clf_status co_transpose(const clf_host_call *h, clf_err *err) {
    (void)err;
    const clf_gnode *x = operand(h, 0);
    switch (clf_dtype_bytes((clf_dtype)x->dtype)) {
    case 1: transpose_uint8_t(h->in[0], h->out, clf_rows(x), clf_cols(x)); break;
    case 4: transpose_uint32_t(h->in[0], h->out, clf_rows(x), clf_cols(x)); break;
    default: transpose_uint64_t(h->in[0], h->out, clf_rows(x), clf_cols(x));
    }
    return CLF_OK;
}

static clf_status co_cbind(const clf_host_call *h, clf_err *err) {
    (void)err;
    size_t each = clf_dtype_bytes((clf_dtype)h->node->dtype), a = (size_t)clf_cols(operand(h, 0)) * each,
           b = (size_t)clf_cols(operand(h, 1)) * each;
    char *o = h->out;
    for (int64_t i = 0; i < clf_rows(h->node); i++, o += a + b) {
        if (a) memcpy(o, (const char *)h->in[0] + (size_t)i * a, a);
        if (b) memcpy(o + a, (const char *)h->in[1] + (size_t)i * b, b);
    }
    return CLF_OK;
}

static clf_status co_rbind(const clf_host_call *h, clf_err *err) {
    (void)err;
    size_t each = clf_dtype_bytes((clf_dtype)h->node->dtype), row = (size_t)clf_cols(h->node) * each;
    size_t a = (size_t)clf_rows(operand(h, 0)) * row, b = (size_t)clf_rows(operand(h, 1)) * row;
    if (a) memcpy(h->out, h->in[0], a);
    if (b) memcpy((char *)h->out + a, h->in[1], b);
    return CLF_OK;
}

static clf_status co_diag(const clf_host_call *h, clf_err *err) {
    (void)err;
    size_t each = clf_dtype_bytes((clf_dtype)h->node->dtype), n = (size_t)clf_rows(h->node);
    bool to_matrix = h->node->attr[0] != 0;
    if (to_matrix && n) memset(h->out, 0, n * n * each);
    for (size_t i = 0; i < n; i++) {
        size_t at = i * (n + 1) * each;
        if (to_matrix)
            memcpy((char *)h->out + at, (const char *)h->in[0] + i * each, each);
        else
            memcpy((char *)h->out + i * each, (const char *)h->in[0] + at, each);
    }
    return CLF_OK;
}

static clf_status co_rev(const clf_host_call *h, clf_err *err) {
    (void)err;
    size_t row = (size_t)clf_cols(h->node) * clf_dtype_bytes((clf_dtype)h->node->dtype), n = (size_t)clf_rows(h->node);
    for (size_t i = 0; i < n && row; i++) memcpy((char *)h->out + i * row, (const char *)h->in[0] + (n - 1 - i) * row, row);
    return CLF_OK;
}

/* Down the columns in ascending row order, every column on its own. Integers wrap. min and max propagate NaN.
 * As in folds and scans a sum starts from 0: a leading -0 becomes 0. */
#define F_MIN(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#define F_MAX(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
/* The rows behind the first. Of a single column the last value stays in a register: read back from y, it would come late. */
#define SWEEP(T, step) \
    if (cols == 1) { \
        T s = y[0]; \
        for (int64_t i = 1; i < rows; i++) { \
            T v = x[i]; \
            y[i] = s = step; \
        } \
    } else { \
        for (int64_t i = cols; i < rows * cols; i++) { \
            T v = x[i], s = y[i - cols]; \
            y[i] = step; \
        } \
    }
#define CUM(T, U) \
    static void cum_##T(clf_fold_id f, const T *restrict x, T *restrict y, int64_t rows, int64_t cols) { \
        if (rows < 1) return; \
        for (int64_t j = 0; j < cols; j++) y[j] = f == CLF_FOLD_SUM ? (T)((U)0 + (U)x[j]) : x[j]; \
        switch (f) { \
        case CLF_FOLD_SUM: SWEEP(T, (T)((U)s + (U)v)) break; \
        case CLF_FOLD_PROD: SWEEP(T, (T)((U)s * (U)v)) break; \
        case CLF_FOLD_MIN: SWEEP(T, F_MIN(s, v)) break; \
        default: SWEEP(T, F_MAX(s, v)) \
        } \
    }
CUM(float, float)
CUM(double, double)
CUM(int32_t, uint32_t)
CUM(int64_t, uint64_t)
CUM(uint8_t, uint8_t)

static void cumulate(const clf_gnode *n, const void *x, void *y, int64_t r, int64_t c) {
    clf_fold_id f = (clf_fold_id)n->attr[0];
    switch (n->dtype) {
    case CLF_F32: cum_float(f, x, y, r, c); break;
    case CLF_F64: cum_double(f, x, y, r, c); break;
    case CLF_I32: cum_int32_t(f, x, y, r, c); break;
    case CLF_I64: cum_int64_t(f, x, y, r, c); break;
    default: cum_uint8_t(f, x, y, r, c);
    }
}

/* A row on its own is a column. */
static clf_status co_cum(const clf_host_call *h, clf_err *err) {
    (void)err;
    int64_t r = clf_rows(h->node), c = clf_cols(h->node);
    size_t row = (size_t)c * clf_dtype_bytes((clf_dtype)h->node->dtype);
    if (h->node->attr[1] != CLF_WAY_ROWS) cumulate(h->node, h->in[0], h->out, r, c);
    for (int64_t i = 0; i < r && h->node->attr[1] == CLF_WAY_ROWS; i++)
        cumulate(h->node, (const char *)h->in[0] + (size_t)i * row, (char *)h->out + (size_t)i * row, c, 1);
    return CLF_OK;
}

/* Philox4x32-10 (Salmon et al., SC'11): key = seed, counter = row-major position; word 0-1 the value, word 2-3 whether it is non-zero. */
static double uniform(uint32_t hi, uint32_t lo) { return (double)(((uint64_t)hi << 32 | lo) >> 11) * 0x1p-53; }

static void rand_cells(const clf_gnode *g, int64_t first, int64_t count, void *out) {
    const int64_t *a = g->attr;
    double min = clf_attr_f64(a[0]), span = clf_attr_f64(a[1]) - min, keep = clf_attr_f64(a[2]);
    philox4x32_key_t key = {{(uint32_t)a[3], (uint32_t)((uint64_t)a[3] >> 32)}};
    for (int64_t i = 0; i < count; i++) {
        uint64_t p = (uint64_t)(first + i);
        philox4x32_ctr_t ctr = {{(uint32_t)p, (uint32_t)(p >> 32), 0, 0}};
        philox4x32_ctr_t w = philox4x32(ctr, key);
        double x = uniform(w.v[2], w.v[3]) < keep ? min + uniform(w.v[0], w.v[1]) * span : 0;
        if (g->dtype == CLF_F32)
            ((float *)out)[i] = (float)x;
        else
            ((double *)out)[i] = x;
    }
}

/* A cell's number follows from its position alone, so parts may be made in any order, by anybody. */
enum { RAND_PART = 1 << 14 };
typedef struct rand_job {
    const clf_gnode *g;
    int64_t first, count;
    char *out;
} rand_job;

static void rand_part(void *user, int64_t part, int worker) {
    const rand_job *j = user;
    int64_t at = part * RAND_PART, n = j->count - at < RAND_PART ? j->count - at : RAND_PART;
    (void)worker;
    rand_cells(j->g, j->first + at, n, j->out + (size_t)at * clf_dtype_bytes((clf_dtype)j->g->dtype));
}

void clf_rand_cells(const clf_gnode *g, int64_t first, int64_t count, clf_pool *pool, void *out) {
    rand_job j = {g, first, count, out};
    if (pool && count > RAND_PART)
        clf_pool_run(pool, (count - 1) / RAND_PART + 1, rand_part, &j);
    else
        rand_cells(g, first, count, out);
}

static clf_status co_rand(const clf_host_call *h, clf_err *err) {
    (void)err;
    clf_rand_cells(h->node, 0, clf_rows(h->node) * clf_cols(h->node), h->c->run->pool, h->out);
    return CLF_OK;
}

/* Stable merge sort of row numbers by one column; NaN sorts last in both directions. */
typedef struct sorter {
    const clf_gnode *x;
    const void *data;
    int64_t by;
    bool decreasing;
} sorter;

static clf_scalar sort_key(const sorter *s, int64_t row) {
    return clf_scalar_load(s->data, (size_t)(row * clf_cols(s->x) + s->by), (clf_dtype)s->x->dtype);
}

static bool in_order(const sorter *s, int64_t a, int64_t b) {
    clf_scalar x = sort_key(s, a), y = sort_key(s, b);
    if (!clf_dtype_float(x.dtype)) return s->decreasing ? x.u.i >= y.u.i : x.u.i <= y.u.i;
    if (x.u.f != x.u.f || y.u.f != y.u.f) return y.u.f != y.u.f; /* NaN comes last */
    return s->decreasing ? x.u.f >= y.u.f : x.u.f <= y.u.f;
}

static void merge_runs(const sorter *s, const int64_t *a, int64_t *b, int64_t n, int64_t run) {
    for (int64_t lo = 0; lo < n; lo += 2 * run) {
        int64_t mid = lo + run < n ? lo + run : n, hi = mid + run < n ? mid + run : n, i = lo, j = mid;
        for (int64_t k = lo; k < hi; k++) b[k] = i < mid && (j >= hi || in_order(s, a[i], a[j])) ? a[i++] : a[j++];
    }
}

static clf_status co_order(const clf_host_call *h, clf_err *err) {
    const clf_gnode *x = operand(h, 0);
    int64_t n = clf_rows(x);
    size_t row = (size_t)clf_cols(x) * clf_dtype_bytes((clf_dtype)x->dtype);
    sorter s = {x, h->in[0], h->node->attr[0], h->node->attr[1] != 0};
    int64_t *a = clf_mem_new(&h->c->mem, (size_t)n, sizeof *a), *b = clf_mem_new(&h->c->mem, (size_t)n, sizeof *b), *sorted = a;
    if (a && b) {
        for (int64_t i = 0; i < n; i++) a[i] = i;
        int64_t *other = b;
        for (int64_t run = 1; run < n; run *= 2) {
            merge_runs(&s, sorted, other, n, run);
            int64_t *t = sorted;
            sorted = other;
            other = t;
        }
        for (int64_t i = 0; i < n; i++) {
            if (h->node->attr[2])
                ((int64_t *)h->out)[i] = sorted[i] + 1;
            else
                memcpy((char *)h->out + (size_t)i * row, (const char *)h->in[0] + (size_t)sorted[i] * row, row);
        }
    }
    clf_status st = a && b ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "order: out of memory for %lld rows", (long long)n);
    clf_mem_free(&h->c->mem, a, (size_t)n, sizeof *a);
    clf_mem_free(&h->c->mem, b, (size_t)n, sizeof *b);
    return st;
}

typedef clf_status callout(const clf_host_call *h, clf_err *err);
static callout *const table[CLF_NALLOPS] = {
    [CLF_OP_TRANSPOSE] = co_transpose, [CLF_OP_CBIND] = co_cbind,     [CLF_OP_RBIND] = co_rbind,
    [CLF_OP_DIAG] = co_diag,           [CLF_OP_RESHAPE] = co_reshape, [CLF_OP_REV] = co_rev,
    [CLF_OP_ORDER] = co_order,         [CLF_OP_CUM] = co_cum,         [CLF_OP_RAND] = co_rand,
};

clf_status clf_callout_run(const clf_host_call *h, clf_err *err) {
    callout *f = table[h->node->op];
    return f ? f(h, err) : clf_fail(err, CLF_E_INTERNAL, "%s has no host step", clf_ops[h->node->op].name);
}
