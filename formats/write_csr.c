/* SPDX-License-Identifier: Apache-2.0
 * The forms of sparse matrices: .mtx of layout coordinate and .svm hold what is stored, zeros included; .npy and .csv hold all cells,
 * made row by row while they are written.
 *
 * Counts in the files begin with 1. Entries are in order of rows, then of columns. */
#include "formats/write.h"

static clf_scalar value(const clf_csr *m, int64_t k) { return clf_scalar_load(m->val, (size_t)k, (clf_dtype)m->dtype); }

static void write_mtx(clf_sink *s, const clf_writing *w) {
    const clf_csr *m = w->csr;
    clf_write_mtx_head(s, "coordinate", (clf_dtype)m->dtype);
    clf_sink_count(s, m->rows, ' ');
    clf_sink_count(s, m->cols, ' ');
    clf_sink_count(s, m->nnz, '\n');
    for (int64_t r = 0; r < m->rows && !clf_sink_failed(s); r++)
        for (int64_t k = m->ptr[r]; k < m->ptr[r + 1]; k++) {
            clf_sink_count(s, r + 1, ' ');
            clf_sink_count(s, (int64_t)m->idx[k] + 1, ' ');
            clf_sink_number(s, value(m, k), '\n');
        }
}

static void write_svm(clf_sink *s, const clf_writing *w) {
    const clf_csr *m = w->csr;
    const clf_dense *y = w->labels;
    for (int64_t r = 0; r < m->rows && !clf_sink_failed(s); r++) {
        int64_t k = m->ptr[r], end = m->ptr[r + 1];
        clf_sink_number(s, y ? clf_scalar_load(y->data, (size_t)r, y->dtype) : clf_scalar_i64(0), k < end ? ' ' : '\n');
        for (; k < end; k++) {
            clf_sink_count(s, (int64_t)m->idx[k] + 1, ':');
            clf_sink_number(s, value(m, k), k + 1 < end ? ' ' : '\n');
        }
    }
}

/* n bytes of zeros. */
static void put_zeros(clf_sink *s, size_t n) {
    static const char zeros[4096];
    for (; n > 0 && !clf_sink_failed(s); n -= n < sizeof zeros ? n : sizeof zeros)
        clf_sink_put(s, zeros, n < sizeof zeros ? n : sizeof zeros);
}

static void write_npy(clf_sink *s, const clf_writing *w) {
    const clf_csr *m = w->csr;
    size_t each = clf_dtype_bytes((clf_dtype)m->dtype);
    clf_write_npy_head(s, (clf_dtype)m->dtype, false, m->rows, m->cols);
    for (int64_t r = 0; r < m->rows && !clf_sink_failed(s); r++) {
        int64_t at = 0;
        for (int64_t k = m->ptr[r]; k < m->ptr[r + 1]; k++) {
            put_zeros(s, (size_t)(m->idx[k] - at) * each);
            clf_sink_put(s, (const char *)m->val + (size_t)k * each, each);
            at = (int64_t)m->idx[k] + 1;
        }
        put_zeros(s, (size_t)(m->cols - at) * each);
    }
}

static void write_csv(clf_sink *s, const clf_writing *w) {
    const clf_csr *m = w->csr;
    const clf_scalar zero = clf_scalar_i64(0);
    for (int64_t r = 0; r < m->rows && !clf_sink_failed(s); r++) {
        int64_t k = m->ptr[r], end = m->ptr[r + 1];
        for (int64_t c = 0; c < m->cols && !clf_sink_failed(s); c++) {
            bool stored = k < end && m->idx[k] == c;
            clf_sink_number(s, stored ? value(m, k) : zero, c + 1 < m->cols ? ',' : '\n');
            k += stored;
        }
    }
}

const clf_writer clf_csr_writers[] = {{"npy", write_npy}, {"csv", write_csv}, {"mtx", write_mtx}, {"svm", write_svm}, {NULL, NULL}};
