/* SPDX-License-Identifier: Apache-2.0
 * Cumulation down the columns in ascending row order, every column on its own, so that threads may take columns; along the rows, where a
 * row on its own is a column, they take rows. Integers wrap. min and max propagate NaN.
 * As in folds and scans a sum starts from 0: a leading -0 becomes 0. */
#include "core/fold.h"
#include "host/run/callout.h"

enum { LEAST_COLS = 32 }; /* that are worth a thread: neighbours write to the same lines where their columns meet */

#define F_MIN(a, b) ((a) < (b) || (a) != (a) ? (a) : (b))
#define F_MAX(a, b) ((a) > (b) || (a) != (a) ? (a) : (b))
/* The rows behind the first. Of a single column the last value stays in a register: read back from y, it would come late. */
#define SWEEP(T, step) \
    if (cols == 1) { \
        T s = y[0]; \
        for (int64_t i = 1; i < rows; i++) { \
            T v = x[i * ld]; \
            y[i * ld] = s = step; \
        } \
    } else { \
        for (int64_t i = 1; i < rows; i++) { \
            const T *restrict row = x + i * ld, *restrict before = y + (i - 1) * ld; \
            T *restrict now = y + i * ld; \
            for (int64_t j = 0; j < cols; j++) { \
                T v = row[j], s = before[j]; \
                now[j] = step; \
            } \
        } \
    }
#define CUM(T, U) \
    static void cum_##T(clf_fold_id f, const void *from, void *to, int64_t rows, int64_t cols, int64_t ld) { \
        const T *x = from; \
        T *y = to; \
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

typedef void cum_fn(clf_fold_id f, const void *x, void *y, int64_t rows, int64_t cols, int64_t ld);
static cum_fn *const cumulate[CLF_NDTYPES] = {
    [CLF_F32] = cum_float, [CLF_F64] = cum_double, [CLF_I32] = cum_int32_t, [CLF_I64] = cum_int64_t, [CLF_U8] = cum_uint8_t};

typedef struct cumulator {
    cum_fn *cum;
    clf_fold_id fold;
    const char *x;
    char *y;
    size_t each;
    int64_t rows, cols, share; /* columns, or rows, taken at once */
} cumulator;

static void down_columns(void *user, int64_t part, int worker) {
    (void)worker;
    const cumulator *c = user;
    const int64_t j = part * c->share, n = c->cols - j < c->share ? c->cols - j : c->share;
    c->cum(c->fold, c->x + (size_t)j * c->each, c->y + (size_t)j * c->each, c->rows, n, c->cols);
}

static void along_rows(void *user, int64_t part, int worker) {
    (void)worker;
    const cumulator *c = user;
    const int64_t first = part * c->share, end = c->rows - first < c->share ? c->rows : first + c->share;
    for (int64_t i = first; i < end; i++) {
        size_t at = (size_t)(i * c->cols) * c->each;
        c->cum(c->fold, c->x + at, c->y + at, c->cols, 1, 1);
    }
}

clf_status clf_callout_cum(const clf_host_call *h, clf_err *err) {
    (void)err;
    const clf_gnode *n = h->node;
    const bool rows = n->attr[1] == CLF_WAY_ROWS;
    cumulator c = {cumulate[n->dtype], (clf_fold_id)n->attr[0], h->in[0], h->out, clf_node_each(n), clf_rows(n), clf_cols(n), 0};
    if (c.rows < 1 || c.cols < 1) return CLF_OK;
    const size_t bytes = clf_node_bytes(n);
    const int64_t of = rows ? c.rows : c.cols, pieces = (int64_t)(bytes / clf_piece_bytes(h->pool, bytes)),
                  threads = clf_pool_size(h->pool);
    const int64_t parts = !rows && pieces > threads ? threads : pieces; /* of rows as long as can be */
    c.share = parts > 1 ? (of - 1) / parts + 1 : of;
    if (!rows && c.share < LEAST_COLS) c.share = LEAST_COLS;
    clf_parts_run(h->pool, (of - 1) / c.share + 1, rows ? along_rows : down_columns, &c);
    return CLF_OK;
}
