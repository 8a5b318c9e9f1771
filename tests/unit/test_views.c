/* SPDX-License-Identifier: Apache-2.0
 * matrix(X, ...) of cells in memory: programs read them where they are, and a result shares them, unless
 * somebody else may change them: then it has cells of its own. S[a:b, c:d] of a sparse matrix: its entries, never the whole matrix as cells. */
#include "tests/unit/api_testing.h"

enum { ROWS = 24, COLS = 35, OTHER_ROWS = 40, OTHER_COLS = 21, CELLS = ROWS * COLS };

static double cells[CELLS];

static void fill_cells(double by) {
    for (int i = 0; i < CELLS; i++) cells[i] = by * (i % 17 - 8);
}

static double sum_of_row(int64_t row) {
    double sum = 0;
    for (int64_t j = 0; j < OTHER_COLS; j++) sum += cells[row * OTHER_COLS + j];
    return sum;
}

static void check_sums(clf_mat *m, double by) {
    double got[OTHER_ROWS];
    CU_ASSERT_EQUAL_FATAL(clf_read(m, got, sizeof got), CLF_OK);
    for (int64_t i = 0; i < OTHER_ROWS; i++) CU_ASSERT_EQUAL(got[i], by * sum_of_row(i));
}

/* Sums of its rows, which are not X's; no cell is copied. */
static void read_in_place(clf_ctx *c) {
    fill_cells(1);
    clf_mat *X = clf_borrow(c, CLF_F64, ROWS, COLS, cells, NULL, NULL), *two = clf_num(c, 2);
    clf_mat *M = clf_reshape(X, OTHER_ROWS, OTHER_COLS), *out[] = {clf_row_sums(clf_mul(M, two)), clf_sum(X)};
    CU_ASSERT_EQUAL_FATAL(clf_eval(2, out), CLF_OK);
    check_sums(out[0], 2);
    CU_ASSERT_EQUAL(stats_of(c).launches_callout, 0);
    fill_cells(3);
    CU_ASSERT_EQUAL(clf_changed(X), CLF_OK);
    clf_mat *again = clf_row_sums(clf_mul(clf_reshape(X, OTHER_ROWS, OTHER_COLS), two));
    check_sums(again, 2);
    CU_ASSERT_EQUAL(stats_of(c).launches_callout, 0);
}

static void test_read(void) {
    clf_ctx *c = open_host();
    read_in_place(c);
    clf_close(c);
    c = open_kernels();
    if (!c) return;
    read_in_place(c);
    clf_close(c);
}

/* A result, alone and beside what is computed from it. */
static void test_result(void) {
    clf_ctx *c = open_host();
    double first = 0;
    fill_cells(1);
    clf_mat *X = clf_borrow(c, CLF_F64, ROWS, COLS, cells, NULL, NULL), *M = clf_reshape(X, OTHER_ROWS, OTHER_COLS);
    clf_mat *out[] = {M, clf_row_sums(M)};
    CU_ASSERT_EQUAL_FATAL(clf_eval(2, out), CLF_OK);
    check_sums(out[1], 1);
    fill_cells(5);
    CU_ASSERT_EQUAL(clf_changed(X), CLF_OK);
    const void *kept = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_data(M, &kept), CLF_OK);
    memcpy(&first, kept, sizeof first);
    CU_ASSERT_EQUAL(first, -8);
    double before = read_f64(clf_sum(clf_sqr(M)));
    CU_ASSERT(before > 0);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_sqr(clf_reshape(X, OTHER_ROWS, OTHER_COLS)))), 25 * before);
    clf_mat *own[] = {clf_matrix(c, CLF_F64, ROWS, COLS, cells), NULL};
    const void *at[2] = {NULL, NULL};
    own[1] = clf_reshape(own[0], OTHER_ROWS, OTHER_COLS);
    for (int i = 0; i < 2; i++) CU_ASSERT_EQUAL(clf_data(own[i], &at[i]), CLF_OK);
    CU_ASSERT(at[0] && at[0] == at[1]);
    clf_free(own[0]);
    check_sums(clf_row_sums(own[1]), 1);
    clf_close(c);
}

/* A function's own matrix is read in place in every call. */
static void test_function(void) {
    clf_ctx *c = open_host();
    clf_fn *f = NULL;
    fill_cells(1);
    clf_mat *X = clf_borrow(c, CLF_F64, ROWS, COLS, cells, NULL, NULL), *p = clf_param(c, CLF_F64, OTHER_ROWS, OTHER_COLS, false);
    clf_mat *r = clf_row_sums(clf_mul(clf_reshape(X, OTHER_ROWS, OTHER_COLS), p)), *by = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 1, &p, 1, &r, &f), CLF_OK);
    for (int call = 1; call < 4; call++) {
        clf_mat *out = NULL;
        by = clf_fill(c, CLF_F64, OTHER_ROWS, OTHER_COLS, call);
        CU_ASSERT_EQUAL_FATAL(clf_call(f, 1, &by, 1, &out), CLF_OK);
        check_sums(out, call);
        clf_free(out);
    }
    CU_ASSERT_EQUAL(stats_of(c).launches_callout, 0);
    clf_fn_free(f);
    clf_close(c);
}

/* ---- blocks of sparse matrices ---- */

enum { SPARSE_ROWS = 30, SPARSE_COLS = 17, SPARSE_CELLS = SPARSE_ROWS * SPARSE_COLS };

typedef struct sparse_data {
    int64_t ptr[SPARSE_ROWS + 1];
    int32_t idx[SPARSE_CELLS];
    double val[SPARSE_CELLS], cell[SPARSE_CELLS];
} sparse_data;

/* Rows of none, one and many entries. */
static clf_mat *sparse_matrix(clf_ctx *c, sparse_data *d, int seed) {
    int64_t n = 0;
    memset(d->cell, 0, sizeof d->cell);
    for (int64_t i = 0; i < SPARSE_ROWS; i++) {
        for (int64_t j = 0; j < SPARSE_COLS; j++) {
            if (i % 5 == 3 || (i * 7 + j * 3 + seed) % (2 + i % 4) != 0) continue;
            d->idx[n] = (int32_t)j;
            d->val[n] = d->cell[i * SPARSE_COLS + j] = (double)((i * 31 + j * 17 + seed) % 23 - 11);
            n++;
        }
        d->ptr[i + 1] = n;
    }
    const clf_sparse_options o = {.struct_size = sizeof o, .borrow = true};
    return clf_sparse_csr(c, CLF_F64, SPARSE_ROWS, SPARSE_COLS, n, d->ptr, d->idx, d->val, &o);
}

static const int64_t block[][4] = {{1, 30, 1, 17},  {3, 12, 1, 17},   {1, 30, 5, 9}, {7, 7, 2, 16}, {4, 4, 1, 17},
                                   {9, 29, 17, 17}, {30, 30, 17, 17}, {1, 2, 1, 2},  {12, 20, 3, 3}};
enum { BLOCKS = sizeof block / sizeof *block };

/* 3 S[...] + 1 by cells, and the sums of its rows without the 1. */
static void check_block(clf_mat *cells_of, clf_mat *sums, const sparse_data *d, const int64_t b[4]) {
    double got[SPARSE_CELLS], row[SPARSE_ROWS];
    int64_t rows = b[1] - b[0] + 1, cols = b[3] - b[2] + 1;
    CU_ASSERT_EQUAL_FATAL(clf_read(cells_of, got, (size_t)(rows * cols) * sizeof *got), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_read(sums, row, (size_t)rows * sizeof *row), CLF_OK);
    for (int64_t i = 0; i < rows; i++) {
        double sum = 0;
        for (int64_t j = 0; j < cols; j++) {
            double x = 3 * d->cell[(b[0] - 1 + i) * SPARSE_COLS + b[2] - 1 + j];
            CU_ASSERT_EQUAL(got[i * cols + j], x + 1);
            sum += x;
        }
        CU_ASSERT_EQUAL(row[i], sum);
    }
}

static void record_block(clf_ctx *c, clf_mat *S, const int64_t b[4], clf_mat *out[2]) {
    clf_mat *part = clf_mul(clf_index(S, b[0], b[1], b[2], b[3]), clf_num(c, 3));
    out[0] = clf_add(part, clf_num(c, 1));
    out[1] = clf_row_sums(part);
}

static void test_blocks(void) {
    static sparse_data d;
    clf_ctx *c = open_host();
    clf_mat *S = sparse_matrix(c, &d, 0);
    for (int i = 0; i < BLOCKS; i++) {
        clf_mat *out[2];
        record_block(c, S, block[i], out);
        CU_ASSERT_EQUAL_FATAL(clf_eval(2, out), CLF_OK);
        check_block(out[0], out[1], &d, block[i]);
    }
    clf_mat *alone = clf_index(S, 3, 12, 2, 9); /* a result, and a block of that */
    double got[4], all[80];
    CU_ASSERT_EQUAL_FATAL(clf_read(clf_index(alone, 2, 3, 1, 2), got, sizeof got), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_read(alone, all, sizeof all), CLF_OK);
    for (int i = 0; i < 80; i++) CU_ASSERT_EQUAL(all[i], d.cell[(2 + i / 8) * SPARSE_COLS + 1 + i % 8]);
    for (int i = 0; i < 4; i++) CU_ASSERT_EQUAL(got[i], d.cell[(3 + i / 2) * SPARSE_COLS + 1 + i % 2]);
    CU_ASSERT(clf_index(S, 3, 31, 1, 1) != NULL && clf_last_error(c)[0]);
    clf_close(c);
}

/* A million rows of a million columns are not made cells of. */
static void test_large(void) {
    enum { LARGE = 1000000, ENTRIES = 1000 };
    static int64_t ptr[LARGE + 1];
    static int32_t idx[ENTRIES];
    static double val[ENTRIES];
    clf_ctx *c = open_host();
    for (int64_t i = 0; i < LARGE; i++) ptr[i + 1] = ptr[i] + (i % 1000 == 7);
    for (int i = 0; i < ENTRIES; i++) idx[i] = i * 997, val[i] = i;
    clf_mat *S = clf_sparse_csr(c, CLF_F64, LARGE, LARGE, ENTRIES, ptr, idx, val, NULL);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_index(S, 1, 5008, 1, 0))), 0 + 1 + 2 + 3 + 4 + 5);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_index(S, 1, 0, 998, 998 + 1994))), 1 + 2 + 3);
    clf_close(c);
}

/* Blocks of a sparse parameter follow the argument, and its contents. */
static void test_blocks_of_parameters(void) {
    static sparse_data d[2];
    clf_ctx *c = open_host();
    clf_mat *S[2] = {sparse_matrix(c, &d[0], 0), sparse_matrix(c, &d[1], 1)};
    clf_mat *unbound = clf_sum(clf_index(clf_param_sparse(c, CLF_F64, SPARSE_ROWS, SPARSE_COLS, 100), 2, 9, 1, 0));
    CU_ASSERT_EQUAL(clf_eval(1, &unbound), CLF_E_ARG);
    for (int i = 0; i < BLOCKS; i++) {
        clf_fn *f = NULL;
        clf_mat *p = clf_param_sparse(c, CLF_F64, SPARSE_ROWS, SPARSE_COLS, 100), *r[2], *out[2] = {NULL, NULL};
        record_block(c, p, block[i], r);
        CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 1, &p, 2, r, &f), CLF_OK);
        CU_ASSERT_EQUAL(clf_warm(f), CLF_OK);
        for (int call = 0; call < 5; call++) {
            CU_ASSERT_EQUAL_FATAL(clf_call(f, 1, &S[call / 2 % 2], 2, out), CLF_OK);
            check_block(out[0], out[1], &d[call / 2 % 2], block[i]);
        }
        for (int64_t k = 0; k < SPARSE_CELLS; k++) d[0].val[k] *= 2, d[0].cell[k] *= 2;
        CU_ASSERT_EQUAL(clf_changed(S[0]), CLF_OK);
        CU_ASSERT_EQUAL_FATAL(clf_call(f, 1, &S[0], 2, out), CLF_OK);
        check_block(out[0], out[1], &d[0], block[i]);
        clf_free(out[0]);
        clf_free(out[1]);
        clf_fn_free(f);
    }
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {
        {"read in place", test_read}, {"as a result", test_result}, {"in a function", test_function},
        {"blocks", test_blocks},      {"large", test_large},        {"blocks of parameters", test_blocks_of_parameters}};
    return run_suite("views", tests, sizeof tests / sizeof *tests);
}
