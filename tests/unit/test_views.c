/* SPDX-License-Identifier: Apache-2.0
 * matrix(X, ...) of cells in memory: programs read them where they are, and a result shares them, unless
 * somebody else may change them: then it has cells of its own. */
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

int main(void) {
    static const test_case tests[] = {{"read in place", test_read}, {"as a result", test_result}, {"in a function", test_function}};
    return run_suite("views", tests, sizeof tests / sizeof *tests);
}
