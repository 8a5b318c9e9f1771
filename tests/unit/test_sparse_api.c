/* SPDX-License-Identifier: Apache-2.0
 * Sparse matrices through the public interface: made from rows, columns and triples, of every element type; and what is refused. */
#include "tests/unit/sparse_api_testing.h"

static void test_three_ways(void) {
    clf_ctx *c = open_host();
    const int32_t i[NNZ] = {2, 0, 2, 0}, j[NNZ] = {3, 3, 1, 0};
    const int64_t i8[NNZ] = {2, 0, 2, 0}, j8[NNZ] = {3, 3, 1, 0};
    const double v[NNZ] = {4, 2, 3, 1};
    const clf_sparse_options narrow = {.struct_size = sizeof narrow, .offset_bytes = 4},
                             wide = {.struct_size = sizeof wide, .index_bytes = 8}, trust = {.struct_size = sizeof trust, .trusted = true};
    clf_mat *m[] = {
        by_rows(c),
        clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr4, row_idx, row_val, &narrow),
        clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, row_idx, row_val, &trust),
        clf_sparse_csc(c, CLF_F64, ROWS, COLS, NNZ, col_ptr, col_idx, col_val, NULL),
        clf_sparse_csc(c, CLF_F64, ROWS, COLS, NNZ, col_ptr4, col_idx, col_val, &narrow),
        clf_sparse_coo(c, CLF_F64, ROWS, COLS, NNZ, i, j, v, NULL),
        clf_sparse_coo(c, CLF_F64, ROWS, COLS, NNZ, i8, j8, v, &wide),
    };
    for (size_t k = 0; k < sizeof m / sizeof *m; k++) {
        int64_t nnz = 0, count = 0;
        const int64_t *ptr;
        const int32_t *idx;
        const void *val, *dense;
        expect_cells(m[k], cells, ROWS * COLS);
        expect_stored(m[k], "csr", NNZ, true);
        CU_ASSERT_EQUAL_FATAL(clf_data_csr(m[k], &nnz, &ptr, &idx, &val), CLF_OK);
        CU_ASSERT_EQUAL(nnz, NNZ);
        CU_ASSERT(!memcmp(ptr, row_ptr, sizeof row_ptr) && !memcmp(idx, row_idx, sizeof row_idx) && !memcmp(val, row_val, sizeof row_val));
        CU_ASSERT(clf_data(m[k], &dense) == CLF_OK && !memcmp(dense, cells, sizeof cells));
        CU_ASSERT(clf_nnz(m[k], &count) == CLF_OK && count == NNZ);
    }
    clf_close(c);
}

static void test_types(void) {
    clf_ctx *c = open_host();
    for (int t = 0; t < 5; t++) {
        char val[NNZ * 8];
        for (size_t i = 0; i < NNZ; i++) clf_scalar_store(val, i, clf_scalar_to(clf_scalar_f64(row_val[i]), (clf_dtype)t));
        clf_mat *m = clf_sparse_csr(c, (clf_dtype)t, ROWS, COLS, NNZ, row_ptr, row_idx, val, NULL);
        expect_cells(m, cells, ROWS * COLS);
        int64_t n = 0;
        CU_ASSERT(clf_nnz(m, &n) == CLF_OK && n == NNZ);
        expect_cells(clf_to_sparse(clf_to_dense(m)), cells, ROWS * COLS);
    }
    clf_close(c);
}

static void test_empty(void) {
    clf_ctx *c = open_host();
    const int64_t zeros[4] = {0, 0, 0, 0};
    static const int64_t shape[][2] = {{0, 0}, {0, 3}, {3, 0}, {3, 3}, {1, 1}};
    for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) {
        int64_t r = shape[k][0], n = shape[k][1], nnz = -1;
        double nothing[9] = {0};
        clf_mat *m[] = {clf_sparse_csr(c, CLF_F64, r, n, 0, zeros, NULL, NULL, NULL),
                        clf_sparse_csc(c, CLF_F64, r, n, 0, zeros, NULL, NULL, NULL),
                        clf_sparse_coo(c, CLF_F64, r, n, 0, NULL, NULL, NULL, NULL)};
        for (size_t i = 0; i < 3; i++) {
            expect_cells(m[i], nothing, (size_t)(r * n));
            CU_ASSERT(clf_nnz(m[i], &nnz) == CLF_OK && nnz == 0);
        }
    }
    CU_ASSERT_EQUAL(read_f64(clf_sparse_csr(c, CLF_F64, 1, 1, 0, zeros, NULL, NULL, NULL)), 0);
    CU_ASSERT_EQUAL(read_f64(clf_sparse_coo(c, CLF_F64, 1, 1, 1, (int32_t[]){0}, (int32_t[]){0}, (double[]){5}, NULL)), 5);
    clf_close(c);
}

static void test_count(void) {
    clf_ctx *c = open_host();
    int64_t n = -1;
    const double v[NNZ] = {0, -0.0, NAN, 1};
    CU_ASSERT(clf_nnz(clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, row_idx, v, NULL), &n) == CLF_OK && n == 2);
    CU_ASSERT(clf_nnz(clf_matrix(c, CLF_F64, 2, 2, v), &n) == CLF_OK && n == 2);
    CU_ASSERT(clf_nnz(clf_matrix(c, CLF_U8, 1, 3, "\0a\0"), &n) == CLF_OK && n == 1);
    CU_ASSERT(clf_nnz(clf_num(c, 3), &n) == CLF_OK && n == 1);
    expect_error(c, clf_nnz(clf_num(c, 3), NULL), CLF_E_ARG, "clf_nnz");
    CU_ASSERT_EQUAL(clf_nnz(NULL, &n), CLF_E_ARG);
    clf_close(c);
}

/* ---- refusals ---- */

static clf_mat *try_csr(clf_ctx *c, int64_t rows, int64_t cols, int64_t nnz, const int64_t *ptr, const int32_t *idx) {
    static const double val[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    return clf_sparse_csr(c, CLF_F64, rows, cols, nnz, ptr, idx, val, NULL);
}

static void test_bad_arrays(void) {
    clf_ctx *c = open_host();
    const int64_t p[4] = {0, 2, 2, 4};
    expect_sticky(try_csr(c, 3, 4, 4, (int64_t[]){1, 2, 2, 4}, row_idx), CLF_E_FORMAT, "clf_sparse_csr");
    expect_sticky(try_csr(c, 3, 4, 4, (int64_t[]){0, 3, 2, 4}, row_idx), CLF_E_FORMAT, "row");
    expect_sticky(try_csr(c, 3, 4, 4, (int64_t[]){0, 2, INT64_MAX, 4}, row_idx), CLF_E_FORMAT, "row");
    expect_sticky(try_csr(c, 3, 4, 4, (int64_t[]){0, -9, 2, 4}, row_idx), CLF_E_FORMAT, "row");
    expect_sticky(try_csr(c, 3, 4, 4, (int64_t[]){0, 2, 2, 3}, row_idx), CLF_E_FORMAT, "");
    expect_sticky(try_csr(c, 3, 4, 4, (int64_t[]){0, 2, 2, 5}, row_idx), CLF_E_FORMAT, "");
    expect_sticky(try_csr(c, 3, 4, 4, p, (int32_t[]){0, 3, 3, 1}), CLF_E_FORMAT, "row 3");
    expect_sticky(try_csr(c, 3, 4, 4, p, (int32_t[]){0, 3, 1, 1}), CLF_E_FORMAT, "row 3");
    expect_sticky(try_csr(c, 3, 4, 4, p, (int32_t[]){0, 4, 1, 3}), CLF_E_FORMAT, "row 1");
    expect_sticky(try_csr(c, 3, 4, 4, p, (int32_t[]){-1, 3, 1, 3}), CLF_E_FORMAT, "row 1");
    expect_sticky(clf_sparse_csc(c, CLF_F64, 3, 4, 4, col_ptr, (int32_t[]){0, 3, 0, 2}, col_val, NULL), CLF_E_FORMAT, "clf_sparse_csc");
    expect_sticky(clf_sparse_coo(c, CLF_F64, 3, 4, 1, (int32_t[]){3}, (int32_t[]){0}, col_val, NULL), CLF_E_FORMAT, "clf_sparse_coo");
    expect_sticky(clf_sparse_coo(c, CLF_F64, 3, 4, 1, (int32_t[]){0}, (int32_t[]){-1}, col_val, NULL), CLF_E_FORMAT, "clf_sparse_coo");
    expect_sticky(clf_sparse_coo(c, CLF_F64, 3, 4, 2, (int32_t[]){1, 1}, (int32_t[]){2, 2}, col_val, NULL), CLF_E_FORMAT, "clf_sparse_coo");
    const clf_sparse_options add = {.struct_size = sizeof add, .add = true};
    clf_mat *sum = clf_sparse_coo(c, CLF_F64, 1, 1, 3, (int32_t[]){0, 0, 0}, (int32_t[]){0, 0, 0}, (double[]){1, 2, 4}, &add);
    CU_ASSERT_EQUAL(read_f64(sum), 7);
    expect_stored(sum, "csr", 1, true);
    clf_close(c);
}

static void test_bad_arguments(void) {
    clf_ctx *c = open_host();
    clf_sparse_options o = {.struct_size = sizeof o, .offset_bytes = 2};
    const clf_dtype none = (clf_dtype)9;
    CU_ASSERT_PTR_NULL(clf_sparse_csr(NULL, CLF_F64, 0, 0, 0, row_ptr, NULL, NULL, NULL));
    CU_ASSERT_PTR_NULL(clf_sparse_csc(NULL, CLF_F64, 0, 0, 0, row_ptr, NULL, NULL, NULL));
    CU_ASSERT_PTR_NULL(clf_sparse_coo(NULL, CLF_F64, 0, 0, 0, NULL, NULL, NULL, NULL));
    expect_sticky(clf_sparse_csr(c, none, ROWS, COLS, NNZ, row_ptr, row_idx, row_val, NULL), CLF_E_TYPE, "element type 9");
    expect_sticky(clf_sparse_csr(c, CLF_F64, -1, COLS, NNZ, row_ptr, row_idx, row_val, NULL), CLF_E_SHAPE, "negative");
    expect_sticky(clf_sparse_csc(c, CLF_F64, ROWS, -1, NNZ, row_ptr, row_idx, row_val, NULL), CLF_E_SHAPE, "negative");
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, -1, row_ptr, row_idx, row_val, NULL), CLF_E_ARG, "-1 entries");
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, 13, row_ptr, row_idx, row_val, NULL), CLF_E_ARG, "13 entries in 3x4");
    expect_sticky(clf_sparse_coo(c, CLF_F64, ROWS, COLS, -1, row_idx, row_idx, row_val, NULL), CLF_E_ARG, "-1 entries");
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, NULL, row_idx, row_val, NULL), CLF_E_ARG, "offsets is NULL");
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, NULL, row_val, NULL), CLF_E_ARG, "indices is NULL");
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, row_idx, NULL, NULL), CLF_E_ARG, "values is NULL");
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, (const char *)row_ptr + 4, row_idx, row_val, NULL), CLF_E_ARG, "aligned");
    expect_sticky(clf_sparse_coo(c, CLF_F64, ROWS, COLS, NNZ, NULL, row_idx, row_val, NULL), CLF_E_ARG, "row is NULL");
    expect_sticky(clf_sparse_coo(c, CLF_F64, ROWS, COLS, NNZ, row_idx, NULL, row_val, NULL), CLF_E_ARG, "col is NULL");
    expect_sticky(clf_sparse_csr(c, CLF_F64, INT64_MAX, COLS, NNZ, row_ptr, row_idx, row_val, NULL), CLF_E_LIMIT, "too large");
    expect_sticky(clf_sparse_csc(c, CLF_F64, INT64_C(1) << 31, 1, 0, row_ptr, row_idx, row_val, NULL), CLF_E_LIMIT, "too large");
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, row_idx, row_val, &o), CLF_E_ARG, "4 and 8");
    o = (clf_sparse_options){.struct_size = sizeof o, .index_bytes = 3};
    expect_sticky(clf_sparse_coo(c, CLF_F64, ROWS, COLS, NNZ, row_idx, row_idx, row_val, &o), CLF_E_ARG, "4 and 8");
    o = (clf_sparse_options){.struct_size = sizeof o, .borrow = true};
    expect_sticky(clf_sparse_coo(c, CLF_F64, ROWS, COLS, NNZ, row_idx, row_idx, row_val, &o), CLF_E_ARG, "in place");
    o.struct_size = 0;
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, row_idx, row_val, &o), CLF_E_ARG, "struct_size");
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {
        {"rows, columns and triples", test_three_ways},
        {"element types", test_types},
        {"nothing stored", test_empty},
        {"counting", test_count},
        {"bad arrays", test_bad_arrays},
        {"bad arguments", test_bad_arguments},
    };
    return run_suite("sparse api", tests, sizeof tests / sizeof *tests);
}
