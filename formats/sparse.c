/* SPDX-License-Identifier: Apache-2.0
 * The arrays of sparse matrices: made, filled by counting, released.
 *
 * Offsets serve as cursors while entries are placed, so a counting sort needs no memory besides its result.
 * Invariant: a clf_sparse has all of its arrays or none. */
#include "formats/block.h"
#include "formats/sparse_make.h"

void clf_sparse_release(clf_sparse *s, clf_mem *mem) {
    if (!s) return;
    clf_mem_data_free(mem, s->ptr, s->ptr_bytes);
    clf_mem_data_free(mem, s->idx, s->idx_bytes);
    clf_mem_data_free(mem, s->val, s->val_bytes);
    *s = (clf_sparse){.m = {.dtype = s->m.dtype}};
}

static clf_status no_memory(int64_t rows, int64_t cols, int64_t nnz, clf_dtype t, clf_mem *mem, clf_err *err) {
    return clf_fail(err, CLF_E_NOMEM, "a sparse %lld x %lld matrix with %lld entries of %s needs %.0f bytes, %zu are available",
                    (long long)rows, (long long)cols, (long long)nnz, clf_dtype_name(t), clf_csr_bytes(rows, nnz, t),
                    clf_block_available(mem));
}

clf_status clf_sparse_new(int64_t rows, int64_t cols, int64_t nnz, clf_dtype t, clf_mem *mem, clf_sparse *out, clf_err *err) {
    clf_sparse s = {.m = {.rows = rows, .cols = cols, .nnz = nnz, .dtype = (uint8_t)t}};
    if (cols > INT32_MAX) return clf_fail(err, CLF_E_LIMIT, "a sparse matrix has at most %d columns, not %lld", INT32_MAX, (long long)cols);
    s.ptr = clf_block_new(mem, (size_t)rows + 1, sizeof *s.m.ptr, &s.ptr_bytes);
    if (s.ptr) s.idx = clf_block_new(mem, (size_t)nnz, sizeof *s.m.idx, &s.idx_bytes);
    if (s.idx) s.val = clf_block_new(mem, (size_t)nnz, clf_dtype_bytes(t), &s.val_bytes);
    if (!s.val) {
        clf_sparse_release(&s, mem);
        return no_memory(rows, cols, nnz, t, mem, err);
    }
    s.m.ptr = s.ptr;
    s.m.idx = s.idx;
    s.m.val = s.val;
    *out = s;
    return CLF_OK;
}

void clf_offsets_start(int64_t *ptr, int64_t rows) {
    int64_t at = 0;
    for (int64_t r = 0; r <= rows; r++) {
        int64_t n = ptr[r];
        ptr[r] = at;
        at += n;
    }
}

void clf_offsets_end(int64_t *ptr, int64_t rows) {
    memmove(ptr + 1, ptr, (size_t)rows * sizeof *ptr);
    ptr[0] = 0;
}
