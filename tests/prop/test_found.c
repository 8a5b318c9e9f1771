/* SPDX-License-Identifier: Apache-2.0
 * What the random programs found, each as the small program it was shrunk to, and what planted bugs (tests/mutants) showed that they do
 * not always find. A test is named after the defect. */
#include <math.h>

#include "tests/unit/api_testing.h"

/* A job worth two or three threads gave memory to that many workers, but every thread of the pool could take a part: the others
 * worked in memory that was not theirs. */
static void test_more_threads_than_work(void) {
    clf_ctx *c = open_host();
    int64_t wrong = 0;
    CU_ASSERT_EQUAL(clf_set(c, "threads", "8"), CLF_OK);
    for (int i = 0; i < 400; i++) {
        int64_t rows = 65 + i % 7, cols = 1000 + 100 * (i % 11);
        size_t mark = clf_epoch_begin(c);
        clf_mat *x = clf_fill(c, CLF_F64, rows, cols, 1), *y = clf_add(x, clf_num(c, 1)), *r[2];
        clf_eval(1, &y); /* a leaf from here on */
        r[0] = clf_sum(clf_mul(y, y));
        r[1] = clf_sum(clf_col_sums(clf_abs(clf_sub(y, clf_num(c, 5)))));
        if (clf_eval(2, r) != CLF_OK || read_f64(r[0]) != 4.0 * (double)(rows * cols) || read_f64(r[1]) != 3.0 * (double)(rows * cols))
            wrong++;
        clf_epoch_end(c, mark);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    clf_close(c);
}

/* floor(x + 0.5) rounds twice: 2^23 + 1 in f32 became 2^23 + 2, and the largest number below a half became 1. */
static void test_round_of_large_numbers(void) {
    static const float odd[] = {8388609.0f, -8388609.0f, 16777215.0f, 0x1.fffffep-2f, -0.5f, 2.5f, -2.5f};
    static const float want[] = {8388609.0f, -8388609.0f, 16777215.0f, 0, 0, 3, -2};
    static const double large[] = {0x1p52 + 1, -(0x1p52 + 1), 0x1.fffffffffffffp-2}, exact[] = {0x1p52 + 1, -(0x1p52 + 1), 0};
    clf_ctx *c = open_host();
    float got[7];
    double got64[3];
    CU_ASSERT_EQUAL(clf_read(clf_round(clf_matrix(c, CLF_F32, 7, 1, odd)), got, sizeof got), CLF_OK);
    CU_ASSERT_EQUAL(clf_read(clf_round(clf_matrix(c, CLF_F64, 3, 1, large)), got64, sizeof got64), CLF_OK);
    for (int i = 0; i < 7; i++) CU_ASSERT_EQUAL(got[i], want[i]);
    for (int i = 0; i < 3; i++) CU_ASSERT_EQUAL(got64[i], exact[i]);
    clf_close(c);
}

static double cell_of(clf_ctx *c, const char *text, const clf_binding *x, size_t n) {
    double v = -1;
    CU_ASSERT_EQUAL(clf_read_f64(clf_expr(c, text, x, n), &v), CLF_OK);
    return v;
}

/* A number spread over a row once for all rows and spread over the cells of each batch shared one register, filled too late. */
static void test_row_sums_of_one_number(void) {
    clf_ctx *c = open_host();
    clf_mat *x = clf_fill(c, CLF_F64, 2, 2, 3), *r[] = {clf_row_sums(x), x, NULL};
    r[2] = clf_sum(r[0]);
    CU_ASSERT_EQUAL(clf_eval(3, r), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(r[2]), 12);
    clf_close(c);
}

/* Zero by zero where the divisor is the dividend: its structural zeros annihilate there, too. */
static void test_sparse_by_itself(void) {
    static const double cells[] = {2};
    static const int64_t offsets[] = {0, 1, 1};
    static const int32_t columns[] = {1};
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "all"), CLF_OK);
    const clf_binding x = {"X", clf_sparse_csr(c, CLF_F64, 2, 2, 1, offsets, columns, cells, NULL)};
    CU_ASSERT_EQUAL(cell_of(c, "sum(X / X) + min(X / X)", &x, 1), 1);
    clf_close(c);
}

/* t(X) %*% y, whose loop is over the rows of X, joined a loop over as many cells as its result has. */
static void test_product_joins_its_rows(void) {
    static const double cells[] = {-3}, one[] = {1, 2, 3};
    static const int64_t offsets[] = {0, 1};
    static const int32_t columns[] = {2};
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "all"), CLF_OK);
    clf_mat *x = clf_sparse_csr(c, CLF_F64, 1, 3, 1, offsets, columns, cells, NULL), *y = clf_matrix(c, CLF_F64, 1, 3, one);
    clf_mat *r[] = {clf_matmul(clf_t(x), clf_sub(y, y)), clf_outer(CLF_AND, clf_t(x), x)};
    CU_ASSERT_EQUAL(clf_eval(2, r), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(clf_sum(r[0])), 0);
    CU_ASSERT_EQUAL(read_f64(clf_sum(r[1])), 1);
    clf_close(c);
}

/* A sum over the rows of a loop that has columns, too, ran over all cells. */
static void test_sum_of_a_column_among_cells(void) {
    static const double cells[] = {1, 2};
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "fuse", "all"), CLF_OK);
    clf_mat *x = clf_matrix(c, CLF_F64, 2, 1, cells), *n = clf_eq(clf_num(c, 2), clf_fold(CLF_FOLD_CODE_MIN, CLF_ROWS, x));
    clf_mat *r[] = {clf_outer(CLF_BITOR, n, x), clf_sum(n)};
    CU_ASSERT_EQUAL(clf_eval(2, r), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(r[1]), 1);
    clf_close(c);
}

/* What a planted bug showed that no random program saw: a condition of integers was narrowed to the type of what it chooses between, and
 * 256 became false. */
static void test_condition_of_wide_integers(void) {
    static const int32_t narrow[] = {256, 0, 1, -512};
    static const int64_t wide[] = {256, 0, (int64_t)1 << 32, -65536};
    static const uint8_t yes[] = {1, 2, 3, 4}, no[] = {9, 9, 9, 9}, want[] = {1, 9, 3, 4};
    clf_ctx *c = open_host();
    clf_mat *a = clf_matrix(c, CLF_U8, 2, 2, yes), *b = clf_matrix(c, CLF_U8, 2, 2, no);
    clf_mat *r[] = {clf_ifelse(clf_matrix(c, CLF_I32, 2, 2, narrow), a, b), clf_ifelse(clf_matrix(c, CLF_I64, 2, 2, wide), a, b),
                    clf_ifelse(clf_matrix(c, CLF_I64, 2, 2, wide), clf_cast(a, CLF_I32), clf_cast(b, CLF_I32))};
    uint8_t got[4];
    int32_t got32[4];
    CU_ASSERT_EQUAL(clf_eval(3, r), CLF_OK);
    for (int k = 0; k < 2; k++) {
        CU_ASSERT_EQUAL(clf_read(r[k], got, sizeof got), CLF_OK);
        for (int i = 0; i < 4; i++) CU_ASSERT_EQUAL(got[i], want[i]);
    }
    CU_ASSERT_EQUAL(clf_read(r[2], got32, sizeof got32), CLF_OK);
    for (int i = 0; i < 4; i++) CU_ASSERT_EQUAL(got32[i], want[i]);
    clf_close(c);
}

/* Planted: one operand that is zero was enough, and the entries of X drove a sum over X and Y. */
static void test_sum_of_two_sparse(void) {
    static const double x[] = {1, 2}, y[] = {10, 20, 30};
    static const int64_t rows_x[] = {0, 1, 2, 2}, rows_y[] = {0, 1, 2, 3};
    static const int32_t cols_x[] = {0, 3}, cols_y[] = {1, 3, 2};
    clf_ctx *c = open_host();
    const clf_binding in[] = {{"X", clf_sparse_csr(c, CLF_F64, 3, 4, 2, rows_x, cols_x, x, NULL)},
                              {"Y", clf_sparse_csr(c, CLF_F64, 3, 4, 3, rows_y, cols_y, y, NULL)}};
    CU_ASSERT_EQUAL(cell_of(c, "sum(X + Y)", in, 2), 63);
    CU_ASSERT_EQUAL(cell_of(c, "sum(X - Y)", in, 2), -57);
    CU_ASSERT_EQUAL(cell_of(c, "sum(max(X, Y))", in, 2), 61);
    CU_ASSERT_EQUAL(cell_of(c, "sum((X + Y) * X)", in, 2), 45);
    clf_close(c);
}

/* Planted: an inner product over stored entries in a kernel took zeros that are stored for numbers, and 0 * Inf is NaN. */
static void test_stored_zeros_in_kernels(void) {
    enum { ROWS = 3, COLS = 40 };
    int64_t offsets[ROWS + 1];
    int32_t columns[ROWS * COLS];
    double cells[ROWS * COLS], v[COLS], got[ROWS];
    clf_ctx *c = open_kernels();
    if (!c) return;
    for (int i = 0; i <= ROWS; i++) offsets[i] = (int64_t)i * COLS;
    for (int k = 0; k < ROWS * COLS; k++) {
        columns[k] = k % COLS;
        cells[k] = k % 4 == 3 ? 0 : k / COLS + 1;
    }
    for (int j = 0; j < COLS; j++) v[j] = j % 4 == 3 ? HUGE_VAL : 1;
    const clf_binding in[] = {{"X", clf_sparse_csr(c, CLF_F64, ROWS, COLS, ROWS * COLS, offsets, columns, cells, NULL)},
                              {"v", clf_matrix(c, CLF_F64, COLS, 1, v)}};
    CU_ASSERT_EQUAL(clf_read(clf_expr(c, "X %*% v", in, 2), got, sizeof got), CLF_OK);
    for (int i = 0; i < ROWS; i++) CU_ASSERT_EQUAL(got[i], 30.0 * (i + 1));
    clf_close(c);
}

/* Planted: cells without entry were counted as if every cell had none. */
static void test_cells_without_entry(void) {
    static const double x[] = {5, -1};
    static const int64_t rows[] = {0, 2, 2};
    static const int32_t cols[] = {0, 1};
    clf_ctx *c = open_host();
    const clf_binding in = {"X", clf_sparse_csr(c, CLF_F64, 2, 3, 2, rows, cols, x, NULL)};
    CU_ASSERT_EQUAL(cell_of(c, "sum(X + 1)", &in, 1), 10);
    CU_ASSERT_EQUAL(cell_of(c, "min(X + 2)", &in, 1), 1);
    CU_ASSERT_EQUAL(cell_of(c, "sum(rowIndexMax(-X))", &in, 1), 3); /* row 1: its second cell, row 2: its first */
    CU_ASSERT_EQUAL(cell_of(c, "sum(rowIndexMin(X + 1))", &in, 1), 3);
    CU_ASSERT_EQUAL(cell_of(c, "as.scalar(rowSums(X + 1)[1, ])", &in, 1), 7);
    clf_close(c);
}

/* A sum down one column had the tree of columns where the column was stored, and that of everything where a loop over rows made it. */
static void test_sum_down_one_column(void) {
    enum { ROWS = 1000, COLS = 3 };
    static const char *const texts[] = {"colSums(rowMaxs(X))", "colMeans(rowMaxs(X) * 3)", "colVars(rowMins(X))"};
    static double cells[ROWS * COLS];
    for (int k = 0; k < ROWS * COLS; k++) cells[k] = 1 / (1 + fmod(k * 0.6180339887498949, 1));
    double got[2][3];
    for (int fused = 0; fused < 2; fused++) {
        clf_ctx *c = open_host();
        CU_ASSERT_EQUAL(clf_set(c, "fuse", fused ? "all" : "none"), CLF_OK);
        const clf_binding in = {"X", clf_matrix(c, CLF_F64, ROWS, COLS, cells)};
        for (int k = 0; k < 3; k++) CU_ASSERT_EQUAL(clf_read(clf_expr(c, texts[k], &in, 1), &got[fused][k], sizeof(double)), CLF_OK);
        clf_close(c);
    }
    for (int k = 0; k < 3; k++) CU_ASSERT_EQUAL(got[0][k], got[1][k]);
}

/* Places down a column of a sparse matrix count its cells without entry: here the third is the first of two. */
static void test_places_down_one_column(void) {
    static const double cells[] = {5, 3, 2, 9}, minus[] = {-5, -3, -2, -9};
    static const int64_t offsets[] = {0, 1, 2, 2, 3, 3, 4};
    static const int32_t columns[] = {0, 0, 0, 0};
    for (int way = 0; way < 4; way++) {
        clf_ctx *c = open_host();
        CU_ASSERT_EQUAL(clf_set(c, "fuse", way % 2 ? "all" : "none"), CLF_OK);
        clf_mat *x = clf_sparse_csr(c, CLF_F64, 6, 1, 4, offsets, columns, way < 2 ? cells : minus, NULL), *y = clf_add(x, clf_num(c, 1));
        CU_ASSERT_EQUAL(read_f64(clf_cast(clf_fold(CLF_FOLD_CODE_ARGMIN, CLF_COLS, y), CLF_F64)), way < 2 ? 3 : 6);
        CU_ASSERT_EQUAL(read_f64(clf_cast(clf_fold(CLF_FOLD_CODE_ARGMAX, CLF_COLS, y), CLF_F64)), way < 2 ? 6 : 3);
        clf_close(c);
    }
}

int main(void) {
    static const test_case tests[] = {{"more threads than a job has use for", test_more_threads_than_work},
                                      {"round where a half is lost", test_round_of_large_numbers},
                                      {"row sums of one number", test_row_sums_of_one_number},
                                      {"a sparse matrix by itself", test_sparse_by_itself},
                                      {"a product joins loops over its rows", test_product_joins_its_rows},
                                      {"the sum of a column among cells", test_sum_of_a_column_among_cells},
                                      {"a condition of wide integers", test_condition_of_wide_integers},
                                      {"the sum of two sparse matrices", test_sum_of_two_sparse},
                                      {"stored zeros in kernels", test_stored_zeros_in_kernels},
                                      {"cells without entry", test_cells_without_entry},
                                      {"the sum down one column", test_sum_down_one_column},
                                      {"places down one column", test_places_down_one_column}};
    return run_suite("found by the net", tests, sizeof tests / sizeof *tests);
}
