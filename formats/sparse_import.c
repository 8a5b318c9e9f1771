/* SPDX-License-Identifier: Apache-2.0
 * CSR from arrays of a caller, in place.
 *
 * Only offsets of 32 bits are copied, since every executor counts entries in 64. They are widened as they are, faults included, and
 * checked like all others. */
#include "formats/block.h"
#include "formats/sparse_make.h"

static clf_status widen(const int32_t *offsets, int64_t rows, clf_mem *mem, clf_sparse *s, clf_err *err) {
    int64_t *wide = clf_block_new(mem, (size_t)rows + 1, sizeof *wide, &s->ptr_bytes);
    if (!wide)
        return clf_fail(err, CLF_E_NOMEM, "no memory for %lld offsets of a sparse matrix, %zu bytes are available", (long long)rows + 1,
                        clf_block_available(mem));
    for (int64_t r = 0; r <= rows; r++) wide[r] = offsets[r];
    s->ptr = wide;
    s->m.ptr = wide;
    return CLF_OK;
}

clf_status clf_csr_import(int64_t rows, int64_t cols, int64_t nnz, const void *offsets, int offset_bytes, const int32_t *idx,
                          const void *val, clf_dtype t, bool trusted, clf_mem *mem, clf_sparse *out, clf_err *err) {
    clf_sparse s = {.m = {.ptr = offsets, .idx = idx, .val = val, .rows = rows, .cols = cols, .nnz = nnz, .dtype = (uint8_t)t}};
    if (offset_bytes != 4 && offset_bytes != 8)
        return clf_fail(err, CLF_E_ARG, "offsets of a sparse matrix have 4 or 8 bytes, not %d", offset_bytes);
    CLF_TRY(clf_csr_check_shape(&s.m, err));
    if (offset_bytes == 4) CLF_TRY(widen(offsets, rows, mem, &s, err));
    clf_status st = trusted ? CLF_OK : clf_csr_check(&s.m, err);
    if (st != CLF_OK) {
        clf_sparse_release(&s, mem);
        return st;
    }
    *out = s;
    return CLF_OK;
}
