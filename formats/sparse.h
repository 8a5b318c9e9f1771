/* SPDX-License-Identifier: Apache-2.0
 * Sparse matrices in memory: one struct serves CSR and, with rows and columns exchanged, CSC; COO is a list of triples that becomes CSR.
 *
 * Offsets are 64-bit, indices 32-bit; columns of a row ascend strictly. Caller arrays of this form are used in place; 32-bit offsets are
 * widened into memory of ours (rows + 1 numbers), indices and values stay in place. Stored zeros are allowed. */
#ifndef CLF_FORMATS_SPARSE_H
#define CLF_FORMATS_SPARSE_H
#include "core/dtype.h"
#include "core/err.h"
#include "core/mem.h"

/* A view; who owns what it points at is said where it is handed out. */
typedef struct clf_csr {
    const int64_t *ptr;   /* rows + 1, ptr[0] = 0, ptr[rows] = nnz */
    const int32_t *idx;   /* nnz, ascending in each row */
    const void *val;      /* nnz, of `dtype` */
    int64_t rows, cols, nnz;
    uint8_t dtype;
} clf_csr;

/* One that owns its three arrays (each from clf_mem_data; NULL when borrowed). Zeroed: empty. */
typedef struct clf_sparse {
    clf_csr m;
    void *ptr, *idx, *val;          /* owned */
    size_t ptr_bytes, idx_bytes, val_bytes;
} clf_sparse;
void clf_sparse_release(clf_sparse *s, clf_mem *mem);

/** Is this a CSR matrix? O(rows + nnz), no read out of bounds whatever the contents: ptr[0] = 0, never decreasing, ptr[rows] = nnz,
 *  columns in range and strictly ascending. errors: CLF_E_FORMAT naming the first row at fault and the entry, its place in idx (both
 *  counted from 1; columns from 0); CLF_E_ARG sizes below 0, more than 2^31-1 columns, no element type, NULL arrays (idx and val may
 *  be NULL when nnz is 0). */
clf_status clf_csr_check(const clf_csr *m, clf_err *err);
/** CSR from arrays of a caller: checked (or trusted: O(1) but for the widening), offsets of 4 or 8 bytes. The result borrows what fits and
 *  owns what had to be widened. The columns of a CSC matrix are the rows of its transpose: import(cols, rows, ...), then transpose.
 *  errors: as clf_csr_check; CLF_E_ARG another width of offsets; CLF_E_NOMEM. */
clf_status clf_csr_import(int64_t rows, int64_t cols, int64_t nnz, const void *offsets, int offset_bytes, const int32_t *idx,
                          const void *val, clf_dtype t, bool trusted, clf_mem *mem, clf_sparse *out, clf_err *err);
/** CSR from triples in any order (rows and columns counted from 0, both of 4- or 8-byte indices). Duplicates: CLF_E_FORMAT, unless `add`,
 *  which sums them in the order given. The result owns its arrays. cost: a counting sort by rows, then only rows that do not ascend are
 *  sorted: O(nnz + rows) for triples in order of rows or of columns, else O(nnz log(longest row) + rows); never memory for columns.
 *  errors: CLF_E_FORMAT also an index out of range, naming the entry (counted from 1); CLF_E_ARG as import; CLF_E_NOMEM. */
clf_status clf_csr_from_coo(int64_t rows, int64_t cols, int64_t nnz, const void *row, const void *col, int index_bytes, const void *val,
                            clf_dtype t, bool add, clf_mem *mem, clf_sparse *out, clf_err *err);
/** The transpose as CSR, which is the CSC of m. O(nnz + rows + cols). errors: CLF_E_LIMIT more than 2^31-1 rows; CLF_E_NOMEM. */
clf_status clf_csr_transpose(const clf_csr *m, clf_mem *mem, clf_sparse *out, clf_err *err);
/** Row-major cells, all of them; out has rows * cols cells of m's dtype. */
void clf_csr_to_dense(const clf_csr *m, void *out);
/** The cells that are not zero (NaN counts as not zero, -0 as zero). errors: CLF_E_LIMIT more than 2^31-1 columns; CLF_E_NOMEM. */
clf_status clf_csr_from_dense(const void *cells, int64_t rows, int64_t cols, clf_dtype t, clf_mem *mem, clf_sparse *out, clf_err *err);
/** Another element type (as clf_scalar_to), the same pattern: pattern arrays are borrowed from m, values too when m is of type t. */
clf_status clf_csr_cast(const clf_csr *m, clf_dtype t, clf_mem *mem, clf_sparse *out, clf_err *err);
/** Rows r0.. and columns c0.. (from 0) of m, rows x cols of them: entries copied, columns counted anew. O(rows log(entries of a row) + entries
 *  taken). errors: CLF_E_ARG not within m; CLF_E_NOMEM. */
clf_status clf_csr_slice(const clf_csr *m, int64_t r0, int64_t c0, int64_t rows, int64_t cols, clf_mem *mem, clf_sparse *out, clf_err *err);
/** Of n ascending columns the first that is not before `column`: its place, n if all are. */
static inline int64_t clf_csr_first(const int32_t *idx, int64_t n, int32_t column) {
    int64_t lo = 0;
    while (lo < n) {
        int64_t mid = lo + (n - lo) / 2;
        if (idx[mid] < column)
            lo = mid + 1;
        else
            n = mid;
    }
    return lo;
}
/** Stored entries in each column (cols numbers); those of a row follow from ptr. */
void clf_csr_col_counts(const clf_csr *m, int64_t *count);
/** Bytes of the three arrays. */
static inline double clf_csr_bytes(int64_t rows, int64_t nnz, clf_dtype t) {
    return 8.0 * ((double)rows + 1) + (double)nnz * (4.0 + (double)clf_dtype_bytes(t));
}
#endif
