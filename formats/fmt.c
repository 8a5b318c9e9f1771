/* SPDX-License-Identifier: Apache-2.0
 * The table of formats, and the dense matrix that all readers make.
 *
 * A format offers only protocols that some skeleton can use today, so the sparse rows have their size and fill value but offer
 * nothing yet. Column indices take 4 bytes while the columns fit 31 bits.
 * Invariant: a size is multiplied with overflow checks and compared with what the machine has before anything is allocated. */
#include "formats/fmt.h"

#include <string.h>
#include <unistd.h>

#include "formats/dense.h"

static double index_bytes(int64_t n) { return n > INT32_MAX ? 8 : 4; }
static double bytes_dense(clf_dtype t, int64_t rows, int64_t cols, int64_t nnz) {
    (void)nnz;
    return (double)rows * (double)cols * (double)clf_dtype_bytes(t);
}
static double bytes_csr(clf_dtype t, int64_t rows, int64_t cols, int64_t nnz) {
    return (double)nnz * ((double)clf_dtype_bytes(t) + index_bytes(cols)) + ((double)rows + 1) * 8;
}
static double bytes_csc(clf_dtype t, int64_t rows, int64_t cols, int64_t nnz) { return bytes_csr(t, cols, rows, nnz); }
static double bytes_coo(clf_dtype t, int64_t rows, int64_t cols, int64_t nnz) {
    return (double)nnz * ((double)clf_dtype_bytes(t) + index_bytes(rows) + index_bytes(cols));
}

const clf_format_row clf_formats[CLF_NFORMATS] = {
    [CLF_DENSE] = {"dense", CLF_OFFERS_STREAM | CLF_OFFERS_LOCATE, bytes_dense, 0},
    [CLF_CSR] = {"csr", 0, bytes_csr, 0},
    [CLF_CSC] = {"csc", 0, bytes_csc, 0},
    [CLF_COO] = {"coo", 0, bytes_coo, 0},
    [CLF_COMPRESSED] = {"compressed", 0, bytes_dense, 0}, /* never more than dense: columns that do not compress are stored so */
};

/* What an allocation may at most take: the rest of the budget if there is one, else the machine's memory. */
static size_t available_bytes(clf_mem *mem) {
    size_t limit = atomic_load(&mem->limit_bytes), used = atomic_load(&mem->data_bytes), all = SIZE_MAX;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (pages > 0 && page > 0 && !clf_mul_ok((size_t)pages, (size_t)page, &all)) all = SIZE_MAX;
    size_t rest = limit > used ? limit - used : 0;
    return limit && rest < all ? rest : all;
}

clf_status clf_dense_new(clf_mem *mem, const char *name, clf_dtype t, int64_t rows, int64_t cols, bool zero, clf_dense *out, clf_err *err) {
    size_t cells, bytes, available = available_bytes(mem);
    if (rows < 0 || cols < 0 || !clf_mul_ok((size_t)rows, (size_t)cols, &cells) || !clf_mul_ok(cells, clf_dtype_bytes(t), &bytes))
        return clf_fail(err, CLF_E_NOMEM, "%s: %lld x %lld cells of %s are more than any memory holds", name, (long long)rows,
                        (long long)cols, clf_dtype_name(t));
    void *data = bytes <= available ? clf_mem_data(mem, bytes) : NULL;
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

clf_status clf_read_opts_check(const char *name, const clf_read_opts *o, clf_read_opts *out, clf_err *err) {
    *out = o ? *o : (clf_read_opts){.dtype = CLF_F64};
    if (clf_dtype_float(out->dtype)) return CLF_OK;
    return clf_fail(err, CLF_E_ARG, "%s: text files are read as f64 or f32, not as %s", name, clf_dtype_name(out->dtype));
}
