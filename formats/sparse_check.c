/* SPDX-License-Identifier: Apache-2.0
 * Is this a CSR matrix?
 *
 * Offsets are looked at before what they point to, so no index is read that the caller did not hand over. A row that is right costs one
 * pass without branches: if columns ascend, the first and the last bound all of them. Only a row that is wrong is looked at again, for
 * the message.
 * Invariant: reads ptr[0 .. rows] and idx[0 .. nnz), nothing else, whatever they hold. */
#include "formats/sparse_make.h"

clf_status clf_csr_check_shape(const clf_csr *m, clf_err *err) {
    if (m->rows < 0 || m->cols < 0 || m->nnz < 0)
        return clf_fail(err, CLF_E_ARG, "a sparse matrix of %lld x %lld with %lld entries: sizes below 0", (long long)m->rows,
                        (long long)m->cols, (long long)m->nnz);
    if (m->cols > INT32_MAX)
        return clf_fail(err, CLF_E_ARG, "a sparse matrix has at most %d columns, not %lld", INT32_MAX, (long long)m->cols);
    if (!clf_dtype_ok(m->dtype)) return clf_fail(err, CLF_E_ARG, "a sparse matrix of element type %d: there is no such type", m->dtype);
    if (!m->ptr || (m->nnz > 0 && (!m->idx || !m->val)))
        return clf_fail(err, CLF_E_ARG, "a sparse matrix without %s", !m->ptr ? "offsets" : !m->idx ? "indices" : "values");
    return CLF_OK;
}

static bool row_good(const int32_t *idx, int64_t n, int64_t cols) {
    bool bad = n > 0 && (idx[0] < 0 || idx[n - 1] >= cols);
    for (int64_t k = 1; k < n; k++) bad |= idx[k] <= idx[k - 1];
    return !bad;
}

/* The first entry at fault of a row that has one. */
static clf_status row_fault(const clf_csr *m, int64_t r, clf_err *err) {
    const int32_t *idx = m->idx;
    int64_t k = m->ptr[r];
    while (idx[k] >= 0 && idx[k] < m->cols && (k == m->ptr[r] || idx[k] > idx[k - 1])) k++;
    if (idx[k] < 0 || idx[k] >= m->cols)
        return clf_fail(err, CLF_E_FORMAT, "row %lld, entry %lld: column %d is outside 0 to %lld", (long long)r + 1, (long long)k + 1,
                        idx[k], (long long)m->cols - 1);
    if (idx[k] == idx[k - 1])
        return clf_fail(err, CLF_E_FORMAT, "row %lld, entry %lld: column %d stands twice", (long long)r + 1, (long long)k + 1, idx[k]);
    return clf_fail(err, CLF_E_FORMAT, "row %lld, entry %lld: column %d after column %d, they must ascend", (long long)r + 1,
                    (long long)k + 1, idx[k], idx[k - 1]);
}

static clf_status check_offset(const clf_csr *m, int64_t r, clf_err *err) {
    long long row = (long long)r + 1, from = m->ptr[r], to = m->ptr[r + 1];
    if (to < from) return clf_fail(err, CLF_E_FORMAT, "row %lld: its offsets decrease, from %lld to %lld", row, from, to);
    if (to > m->nnz)
        return clf_fail(err, CLF_E_FORMAT, "row %lld: its offsets end at %lld, beyond the %lld entries", row, to, (long long)m->nnz);
    return CLF_OK;
}

clf_status clf_csr_check(const clf_csr *m, clf_err *err) {
    CLF_TRY(clf_csr_check_shape(m, err));
    if (m->ptr[0] != 0) return clf_fail(err, CLF_E_FORMAT, "row 1: offsets begin at %lld, not at 0", (long long)m->ptr[0]);
    for (int64_t r = 0; r < m->rows; r++) {
        CLF_TRY(check_offset(m, r, err));
        int64_t n = m->ptr[r + 1] - m->ptr[r];
        if (n > 0 && !row_good(m->idx + m->ptr[r], n, m->cols)) return row_fault(m, r, err);
    }
    if (m->ptr[m->rows] == m->nnz) return CLF_OK;
    return clf_fail(err, CLF_E_FORMAT, "row %lld: offsets end at %lld, there are %lld entries", (long long)m->rows,
                    (long long)m->ptr[m->rows], (long long)m->nnz);
}
