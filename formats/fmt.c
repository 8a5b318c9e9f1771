/* SPDX-License-Identifier: Apache-2.0
 * The table of formats, and the matrices that readers make.
 *
 * A format offers only protocols that some skeleton can use today: stored entries of a CSR matrix, and its cells at those of another. CSC
 * offers none of its own, since operators take it as the CSR matrix of its transpose, nor does COO, which becomes CSR before anything runs
 * over it. Column indices of CSR have 4 bytes, so more than 2^31-1 columns take infinitely many.
 * Invariant: a size is multiplied with overflow checks and compared with what the machine has before anything is allocated. */
#include "formats/fmt.h"

#include <math.h>
#include <string.h>

#include "formats/block.h"
#include "formats/dense.h"

static double bytes_dense(clf_dtype t, int64_t rows, int64_t cols, int64_t nnz) {
    (void)nnz;
    return (double)rows * (double)cols * (double)clf_dtype_bytes(t);
}
static double bytes_csr(clf_dtype t, int64_t rows, int64_t cols, int64_t nnz) {
    return cols > INT32_MAX ? (double)INFINITY : clf_csr_bytes(rows, nnz, t);
}
static double bytes_csc(clf_dtype t, int64_t rows, int64_t cols, int64_t nnz) { return bytes_csr(t, cols, rows, nnz); }
static double bytes_coo(clf_dtype t, int64_t rows, int64_t cols, int64_t nnz) {
    double index = rows > INT32_MAX || cols > INT32_MAX ? 8 : 4; /* both indices have one width */
    return (double)nnz * ((double)clf_dtype_bytes(t) + 2 * index);
}

const clf_format_row clf_formats[CLF_NFORMATS] = {
    [CLF_DENSE] = {"dense", CLF_OFFERS_STREAM | CLF_OFFERS_LOCATE, bytes_dense, 0},
    [CLF_CSR] = {"csr", CLF_OFFERS_ENTRIES | CLF_OFFERS_LOCATE, bytes_csr, 0},
    [CLF_CSC] = {"csc", 0, bytes_csc, 0},
    [CLF_COO] = {"coo", 0, bytes_coo, 0},
    [CLF_COMPRESSED] = {"compressed", 0, bytes_dense, 0}, /* never more than dense: columns that do not compress are stored so */
};

clf_status clf_dense_new(clf_mem *mem, const char *name, clf_dtype t, int64_t rows, int64_t cols, bool zero, clf_dense *out, clf_err *err) {
    size_t cells, bytes, available = clf_block_available(mem);
    if (rows < 0 || cols < 0 || !clf_mul_ok((size_t)rows, (size_t)cols, &cells) || !clf_mul_ok(cells, clf_dtype_bytes(t), &bytes))
        return clf_fail(err, CLF_E_NOMEM, "%s: %lld x %lld cells of %s are more than any memory holds", name, (long long)rows,
                        (long long)cols, clf_dtype_name(t));
    void *data = clf_block_new(mem, cells, clf_dtype_bytes(t), &bytes);
    if (!data)
        return clf_fail(err, CLF_E_NOMEM, "%s: %lld x %lld cells of %s need %zu bytes, %zu are available", name, (long long)rows,
                        (long long)cols, clf_dtype_name(t), bytes, available);
    if (zero) memset(data, 0, bytes);
    *out = (clf_dense){.dtype = t, .rows = rows, .cols = cols, .data = data, .bytes = bytes};
    return CLF_OK;
}

void clf_dense_release(clf_dense *d, clf_mem *mem) {
    if (!d) return;
    if (d->data) clf_mem_data_free(mem, d->data, d->bytes);
    *d = (clf_dense){.dtype = d->dtype};
}

void clf_loaded_release(clf_loaded *l, clf_mem *mem) {
    if (!l) return;
    clf_dense_release(&l->dense, mem);
    clf_sparse_release(&l->csr, mem);
    l->sparse = false;
}

clf_status clf_loaded_dense(clf_loaded *l, const char *name, clf_mem *mem, clf_dense *out, clf_err *err) {
    const clf_csr *m = &l->csr.m;
    clf_dense d = l->dense;
    if (l->sparse) {
        CLF_TRY(clf_dense_new(mem, name, (clf_dtype)m->dtype, m->rows, m->cols, false, &d, err));
        clf_csr_to_dense(m, d.data);
    }
    l->dense = (clf_dense){.dtype = d.dtype};
    clf_loaded_release(l, mem);
    *out = d;
    return CLF_OK;
}

clf_status clf_read_failed(clf_err *err, const char *name, const clf_err *inner) {
    return clf_fail(err, inner->code, "%s: %s", name, inner->text);
}

clf_status clf_read_opts_check(const char *name, const clf_read_opts *o, clf_read_opts *out, clf_err *err) {
    *out = o ? *o : (clf_read_opts){.dtype = CLF_F64};
    if (clf_dtype_float(out->dtype)) return CLF_OK;
    return clf_fail(err, CLF_E_ARG, "%s: text files are read as f64 or f32, not as %s", name, clf_dtype_name(out->dtype));
}
