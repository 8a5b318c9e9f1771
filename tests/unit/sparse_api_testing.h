/* SPDX-License-Identifier: Apache-2.0
 * What the suites of sparse matrices in the public interface share: one small matrix by rows and by columns, and what is expected of
 * handles. */
#ifndef CLF_TESTS_SPARSE_API_TESTING_H
#define CLF_TESTS_SPARSE_API_TESTING_H
#include <math.h>

#include "host/graph/sparse_buf.h"
#include "tests/unit/api_testing.h"

/* 1 0 0 2 / 0 0 0 0 / 0 3 0 4, by rows and by columns. */
enum { ROWS = 3, COLS = 4, NNZ = 4 };
static const double cells[ROWS * COLS] = {1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4};
static const int64_t row_ptr[ROWS + 1] = {0, 2, 2, 4}, col_ptr[COLS + 1] = {0, 1, 2, 2, 4};
static const int32_t row_ptr4[ROWS + 1] = {0, 2, 2, 4}, col_ptr4[COLS + 1] = {0, 1, 2, 2, 4};
static const int32_t row_idx[NNZ] = {0, 3, 1, 3}, col_idx[NNZ] = {0, 2, 0, 2};
static const double row_val[NNZ] = {1, 2, 3, 4}, col_val[NNZ] = {1, 3, 2, 4};

static inline clf_mat *by_rows(clf_ctx *c) { return clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, row_idx, row_val, NULL); }

static inline bool good(const clf_mat *m) {
    const char *why = "";
    clf_status st = clf_status_of(m, &why);
    if (st != CLF_OK) printf("\n    %s: %s\n", clf_status_name(st), why);
    CU_ASSERT_EQUAL(st, CLF_OK);
    return st == CLF_OK;
}

/* All cells of m, in f64. */
static inline void expect_cells(clf_mat *m, const double *want, size_t n) {
    clf_dtype t = CLF_F64;
    char got[8 * 64];
    if (!good(m)) return;
    CU_ASSERT_FATAL(clf_info(m, NULL, NULL, &t, NULL) == CLF_OK && n <= 64);
    memset(got, 77, sizeof got);
    clf_status st = clf_read(m, got, n * clf_dtype_bytes(t));
    if (st != CLF_OK) printf("\n    %s\n", clf_last_error(clf_ctx_of(m)));
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    for (size_t i = 0; i < n; i++) {
        double x = clf_scalar_as_f64(clf_scalar_load(got, i, t));
        if (!(x == want[i] || (isnan(x) && isnan(want[i])))) printf("\n    cell %zu: %g, wanted %g\n", i, x, want[i]);
        CU_ASSERT(x == want[i] || (isnan(x) && isnan(want[i])));
    }
}

static inline void expect_stored(const clf_mat *m, const char *format, int64_t nnz, bool structural) {
    clf_storage s = {.struct_size = sizeof s};
    CU_ASSERT_EQUAL(clf_storage_of(m, &s), CLF_OK);
    CU_ASSERT_STRING_EQUAL(s.format, format);
    CU_ASSERT_EQUAL(s.nnz, nnz);
    CU_ASSERT_EQUAL(s.structural, structural);
}

static inline clf_mem_stats memory(clf_ctx *c) {
    clf_mem_stats s = {.struct_size = sizeof s};
    CU_ASSERT_EQUAL(clf_get_mem_stats(c, &s), CLF_OK);
    return s;
}
#endif
