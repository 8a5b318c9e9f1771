/* SPDX-License-Identifier: Apache-2.0
 * The forms of dense matrices: .npy, .csv and .mtx of layout array. */
#include <stdio.h>
#include <string.h>

#include "formats/write.h"

enum { NPY_ALIGN = 64 };

void clf_write_npy_head(clf_sink *s, clf_dtype t, bool scalar, int64_t rows, int64_t cols) {
    static const char *const descr[CLF_NDTYPES] = {
        [CLF_F32] = "<f4", [CLF_F64] = "<f8", [CLF_I32] = "<i4", [CLF_I64] = "<i8", [CLF_U8] = "|u1"};
    char shape[64] = "()", head[2 * NPY_ALIGN + 64];
    if (!scalar) snprintf(shape, sizeof shape, "(%lld, %lld)", (long long)rows, (long long)cols);
    int n = snprintf(head + 10, sizeof head - 10, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr[t], shape) + 10;
    while ((n + 1) % NPY_ALIGN != 0) head[n++] = ' ';
    head[n++] = '\n';
    memcpy(head, "\x93NUMPY\x01\x00", 8);
    head[8] = (char)((n - 10) & 0xff);
    head[9] = (char)((n - 10) >> 8);
    clf_sink_put(s, head, (size_t)n);
}

void clf_write_mtx_head(clf_sink *s, const char *layout, clf_dtype t) {
    char head[80];
    int n = snprintf(head, sizeof head, "%%%%MatrixMarket matrix %s %s general\n", layout, clf_dtype_float(t) ? "real" : "integer");
    clf_sink_put(s, head, (size_t)n);
}

static void put_cell(clf_sink *s, const clf_dense *m, size_t cell, char after) {
    clf_sink_number(s, clf_scalar_load(m->data, cell, m->dtype), after);
}

static void write_npy(clf_sink *s, const clf_writing *w) {
    const clf_dense *m = w->dense;
    clf_write_npy_head(s, m->dtype, m->scalar, m->rows, m->cols);
    clf_sink_put(s, m->data, m->bytes);
}

static void write_csv(clf_sink *s, const clf_writing *w) {
    const clf_dense *m = w->dense;
    for (int64_t r = 0; m->cols > 0 && r < m->rows && !clf_sink_failed(s); r++)
        for (int64_t c = 0; c < m->cols; c++) put_cell(s, m, (size_t)(r * m->cols + c), c + 1 < m->cols ? ',' : '\n');
}

static void write_mtx(clf_sink *s, const clf_writing *w) {
    const clf_dense *m = w->dense;
    clf_write_mtx_head(s, "array", m->dtype);
    clf_sink_count(s, m->rows, ' ');
    clf_sink_count(s, m->cols, '\n');
    for (int64_t c = 0; m->rows > 0 && c < m->cols && !clf_sink_failed(s); c++)
        for (int64_t r = 0; r < m->rows; r++) put_cell(s, m, (size_t)(r * m->cols + c), '\n');
}

const clf_writer clf_dense_writers[] = {{"npy", write_npy}, {"csv", write_csv}, {"mtx", write_mtx}, {NULL, NULL}};
