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

int main(void) {
    static const test_case tests[] = {{"more threads than a job has use for", test_more_threads_than_work}};
    return run_suite("found by the net", tests, sizeof tests / sizeof *tests);
}
