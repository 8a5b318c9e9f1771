/* SPDX-License-Identifier: Apache-2.0
 * A block of rows and columns of a CSR matrix, its entries copied: as many steps as it has rows, and per row what finding its first and last
 * entry takes. */
#include "formats/sparse_make.h"

/* Entries of a row from column c0 on, cols of them: [*from, *to). */
static void row_part(const clf_csr *m, int64_t row, int64_t c0, int64_t cols, int64_t *from, int64_t *to) {
    const int64_t begin = m->ptr[row], end = m->ptr[row + 1];
    *from = begin + clf_csr_first(m->idx + begin, end - begin, (int32_t)c0);
    *to = cols == m->cols ? end : *from + clf_csr_first(m->idx + *from, end - *from, (int32_t)(c0 + cols));
}

clf_status clf_csr_slice(const clf_csr *m, int64_t r0, int64_t c0, int64_t rows, int64_t cols, clf_mem *mem, clf_sparse *out,
                         clf_err *err) {
    const size_t each = clf_dtype_bytes((clf_dtype)m->dtype);
    int64_t nnz = 0, from, to;
    if (r0 < 0 || c0 < 0 || rows < 0 || cols < 0 || rows > m->rows - r0 || cols > m->cols - c0)
        return clf_fail(err, CLF_E_ARG, "a block beyond a sparse matrix");
    for (int64_t i = 0; i < rows; i++) {
        row_part(m, r0 + i, c0, cols, &from, &to);
        nnz += to - from;
    }
    CLF_TRY(clf_sparse_new(rows, cols, nnz, (clf_dtype)m->dtype, mem, out, err));
    int64_t *ptr = out->ptr, at = 0;
    int32_t *idx = out->idx;
    for (int64_t i = 0; i < rows; i++) {
        row_part(m, r0 + i, c0, cols, &from, &to);
        ptr[i] = at;
        for (int64_t k = from; k < to; k++) idx[at + k - from] = (int32_t)(m->idx[k] - c0);
        if (to > from) memcpy((char *)out->val + (size_t)at * each, (const char *)m->val + (size_t)from * each, (size_t)(to - from) * each);
        at += to - from;
    }
    ptr[rows] = at;
    return CLF_OK;
}
