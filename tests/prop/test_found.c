/* SPDX-License-Identifier: Apache-2.0
 * What the random programs found, each as the small program it was shrunk to. A test is named after the defect. */
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

int main(void) {
    static const test_case tests[] = {{"more threads than a job has use for", test_more_threads_than_work},
                                      {"round where a half is lost", test_round_of_large_numbers}};
    return run_suite("found by the net", tests, sizeof tests / sizeof *tests);
}
