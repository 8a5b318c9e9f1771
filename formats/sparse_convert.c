/* SPDX-License-Identifier: Apache-2.0
 * CSR to its transpose and to dense cells and back, and to another element type.
 *
 * Every conversion keeps stored entries as they are: the bits of values, stored zeros, their order.
 * Invariant: results satisfy clf_csr_check when the input does. */
#include "formats/block.h"
#include "formats/sparse_make.h"

static void count_columns(const clf_csr *m, int64_t *count) {
    for (int64_t k = 0; k < m->nnz; k++) count[m->idx[k]]++;
}

void clf_csr_col_counts(const clf_csr *m, int64_t *count) {
    if (m->cols > 0) memset(count, 0, (size_t)m->cols * sizeof *count);
    count_columns(m, count);
}

clf_status clf_csr_transpose(const clf_csr *m, clf_mem *mem, clf_sparse *out, clf_err *err) {
    clf_sparse s;
    size_t each = clf_dtype_bytes((clf_dtype)m->dtype);
    CLF_TRY(clf_sparse_new(m->cols, m->rows, m->nnz, (clf_dtype)m->dtype, mem, &s, err));
    int64_t *ptr = s.ptr;
    int32_t *idx = s.idx;
    memset(ptr, 0, s.ptr_bytes);
    count_columns(m, ptr);
    clf_offsets_start(ptr, m->cols);
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t k = m->ptr[r]; k < m->ptr[r + 1]; k++) {
            int64_t at = ptr[m->idx[k]]++;
            idx[at] = (int32_t)r;
            clf_element_move(s.val, at, m->val, k, each);
        }
    clf_offsets_end(ptr, m->cols);
    *out = s;
    return CLF_OK;
}

void clf_csr_to_dense(const clf_csr *m, void *out) {
    size_t each = clf_dtype_bytes((clf_dtype)m->dtype);
    if (m->rows > 0 && m->cols > 0) memset(out, 0, (size_t)m->rows * (size_t)m->cols * each);
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t k = m->ptr[r]; k < m->ptr[r + 1]; k++) clf_element_move(out, r * m->cols + m->idx[k], m->val, k, each);
}

/* ---- from dense: count, then take; a loop of each for every type ---- */

// clang-format off
#define SCANS(NAME, T)                                                                                  \
    static int64_t count_##NAME(const void *cells, size_t at, int64_t n) {                              \
        const T *x = (const T *)cells + at;                                                             \
        int64_t found = 0;                                                                              \
        for (int64_t j = 0; j < n; j++) found += x[j] != 0;                                             \
        return found;                                                                                   \
    }                                                                                                   \
    static void take_##NAME(const void *cells, size_t at, int64_t n, int32_t *idx, void *val, int64_t k) { \
        const T *x = (const T *)cells + at;                                                             \
        for (int64_t j = 0; j < n; j++)                                                                 \
            if (x[j] != 0) {                                                                            \
                idx[k] = (int32_t)j;                                                                    \
                ((T *)val)[k++] = x[j];                                                                 \
            }                                                                                           \
    }
// clang-format on
SCANS(f32, float)
SCANS(f64, double)
SCANS(i32, int32_t)
SCANS(i64, int64_t)
SCANS(u8, uint8_t)

static const struct {
    int64_t (*count)(const void *cells, size_t at, int64_t n);
    void (*take)(const void *cells, size_t at, int64_t n, int32_t *idx, void *val, int64_t k);
} scans[CLF_NDTYPES] = {[CLF_F32] = {count_f32, take_f32},
                        [CLF_F64] = {count_f64, take_f64},
                        [CLF_I32] = {count_i32, take_i32},
                        [CLF_I64] = {count_i64, take_i64},
                        [CLF_U8] = {count_u8, take_u8}};

/* Entries in all; rows are read one after the other, so a matrix without columns has none however many rows. */
static int64_t count_cells(const void *cells, int64_t rows, int64_t cols, clf_dtype t) {
    int64_t n = 0;
    for (int64_t r = 0; cols > 0 && r < rows; r++) n += scans[t].count(cells, (size_t)r * (size_t)cols, cols);
    return n;
}

clf_status clf_csr_from_dense(const void *cells, int64_t rows, int64_t cols, clf_dtype t, clf_mem *mem, clf_sparse *out, clf_err *err) {
    clf_sparse s;
    CLF_TRY(clf_sparse_new(rows, cols, cols > INT32_MAX ? 0 : count_cells(cells, rows, cols, t), t, mem, &s, err));
    int64_t *ptr = s.ptr;
    ptr[0] = 0;
    for (int64_t r = 0; r < rows; r++) {
        size_t at = (size_t)r * (size_t)cols;
        ptr[r + 1] = ptr[r] + (cols > 0 ? scans[t].count(cells, at, cols) : 0);
        if (ptr[r + 1] > ptr[r]) scans[t].take(cells, at, cols, s.idx, s.val, ptr[r]);
    }
    *out = s;
    return CLF_OK;
}

/* ---- another type ---- */

static void cast_values(const clf_csr *m, clf_dtype t, void *to) {
    const void *from = m->val;
    clf_dtype was = (clf_dtype)m->dtype;
    if (was == CLF_F32 && t == CLF_F64)
        for (int64_t k = 0; k < m->nnz; k++) ((double *)to)[k] = ((const float *)from)[k];
    else if (was == CLF_F64 && t == CLF_F32)
        for (int64_t k = 0; k < m->nnz; k++) ((float *)to)[k] = (float)((const double *)from)[k];
    else
        for (int64_t k = 0; k < m->nnz; k++) clf_scalar_store(to, (size_t)k, clf_scalar_to(clf_scalar_load(from, (size_t)k, was), t));
}

clf_status clf_csr_cast(const clf_csr *m, clf_dtype t, clf_mem *mem, clf_sparse *out, clf_err *err) {
    clf_sparse s = {.m = *m};
    if (t != (clf_dtype)m->dtype) {
        s.val = clf_block_new(mem, (size_t)m->nnz, clf_dtype_bytes(t), &s.val_bytes);
        if (!s.val)
            return clf_fail(err, CLF_E_NOMEM, "no memory for %lld entries of %s, %zu bytes are available", (long long)m->nnz,
                            clf_dtype_name(t), clf_block_available(mem));
        cast_values(m, t, s.val);
        s.m.val = s.val;
        s.m.dtype = (uint8_t)t;
    }
    *out = s;
    return CLF_OK;
}
