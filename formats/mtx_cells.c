/* SPDX-License-Identifier: Apache-2.0
 * The cells of a Matrix Market file of layout array: column by column, of a triangle each but once. */
#include "formats/dense.h"
#include "formats/mtx.h"

/* Put v at (row, col), 0-based, and at the mirrored place. */
static void store(const mtx *f, clf_dense *d, int64_t row, int64_t col, double v) {
    size_t a = (size_t)(row * d->cols + col), b = (size_t)(col * d->cols + row);
    clf_dense_set(d, a, v);
    if (f->symmetry != MTX_GENERAL && a != b) clf_dense_set(d, b, f->symmetry == MTX_SKEW ? -v : v);
}

static clf_status read_column(mtx *f, clf_dense *d, int64_t col) {
    clf_cursor *c = &f->c;
    double v;
    int64_t first = f->symmetry == MTX_GENERAL ? 0 : f->symmetry == MTX_SYMMETRIC ? col : col + 1;
    for (int64_t row = first; row < f->rows; row++) {
        if (!clf_cursor_find(c))
            return CLF_CURSOR_FAIL(c, "the file ends before cell (%lld, %lld)", (long long)row + 1, (long long)col + 1);
        CLF_TRY(clf_text_go_on(f->t, c->at));
        CLF_TRY(clf_mtx_value(f, &v));
        store(f, d, row, col, v);
    }
    return CLF_OK;
}

clf_status clf_mtx_read_cells(mtx *f, clf_mem *mem, clf_dense *out) {
    clf_dense d;
    clf_status st = CLF_OK;
    CLF_TRY(clf_dense_new(mem, f->c.t->name, f->dtype, f->rows, f->cols, true, &d, f->c.t->err));
    int64_t cols = f->entries > 0 ? f->cols : 0; /* 0 x 2^62 is no loop */
    for (int64_t col = 0; col < cols && st == CLF_OK; col++) st = read_column(f, &d, col);
    if (st == CLF_OK)
        *out = d;
    else
        clf_dense_release(&d, mem);
    return st;
}
