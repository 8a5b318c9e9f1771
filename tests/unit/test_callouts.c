/* SPDX-License-Identifier: Apache-2.0
 * Host steps for element types and orders that are rare: cumulation of bytes and words, sorting with ties and NaN, an operator that
 * has no host step; random numbers by several threads. */
#include <math.h>

#include "host/run/run.h"
#include "tests/unit/api_testing.h"

/* Host steps for types and orders that are rare. */
static void test_callouts(void) {
    clf_ctx *c = open_host();
    static const uint8_t bytes[6] = {3, 200, 2, 100, 1, 7};
    static const int32_t words[6] = {3, -200, 2, 100, INT32_MAX, 7};
    static const double nans[6] = {2, NAN, 1, NAN, 3, 2};
    clf_mat *b = clf_matrix(c, CLF_U8, 6, 1, bytes), *w = clf_matrix(c, CLF_I32, 6, 1, words), *d = clf_matrix(c, CLF_F64, 6, 1, nans);
    static const struct {
        clf_fold_code f;
        double bytes, words;
    } last[] = {{CLF_FOLD_CODE_MIN, 1, -200}, {CLF_FOLD_CODE_MAX, 200, INT32_MAX}, {CLF_FOLD_CODE_SUM, 313, 2147483559.0}};
    for (size_t i = 0; i < sizeof last / sizeof *last; i++) {
        clf_mat *of_b = clf_cum(last[i].f, b), *of_w = clf_cum(last[i].f, w);
        CU_ASSERT_EQUAL(read_f64(clf_index(of_b, 6, 6, 1, 1)), last[i].bytes);
        CU_ASSERT_EQUAL(read_f64(clf_index(of_w, 6, 6, 1, 1)), last[i].words);
    }
    int64_t order[6];
    for (int down = 0; down < 2; down++) {
        CU_ASSERT_EQUAL(clf_read(clf_order(d, 1, down, true), order, sizeof order), CLF_OK);
        static const int64_t want[2][6] = {{3, 1, 6, 5, 2, 4}, {5, 1, 6, 3, 2, 4}};
        CU_ASSERT_EQUAL(memcmp(order, want[down], sizeof order), 0);
        CU_ASSERT_EQUAL(clf_read(clf_order(w, 1, down, true), order, sizeof order), CLF_OK);
        CU_ASSERT_EQUAL(order[down ? 0 : 5], 5);
        CU_ASSERT_EQUAL(order[down ? 5 : 0], 2);
    }
    clf_gnode none = {.op = CLF_OP_LEAF};
    clf_err err = {CLF_OK, ""};
    CU_ASSERT_EQUAL(clf_callout_run(&(clf_host_call){.c = c, .node = &none}, &err), CLF_E_INTERNAL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "has no host step"));
    clf_close(c);
}

/* Along rows in a loop and down columns on the host are one definition: sums start from +0, so a leading -0 does not stay. */
static void test_negative_zero(void) {
    static const double x[6] = {-0.0, -0.0, 1, -0.0, 2, NAN};
    static const clf_fold_code fold[] = {CLF_FOLD_CODE_SUM, CLF_FOLD_CODE_PROD, CLF_FOLD_CODE_MIN, CLF_FOLD_CODE_MAX};
    clf_ctx *c = open_host();
    clf_mat *turned = clf_t(clf_matrix(c, CLF_F64, 2, 3, x));
    for (size_t f = 0; f < sizeof fold / sizeof *fold; f++) {
        double down[6], along[6];
        CU_ASSERT_EQUAL(clf_read(clf_cum(fold[f], turned), down, sizeof down), CLF_OK);
        CU_ASSERT_EQUAL(clf_read(clf_t(clf_cum(fold[f], turned)), along, sizeof along), CLF_OK);
        CU_ASSERT_EQUAL(!signbit(down[0]), fold[f] == CLF_FOLD_CODE_SUM);
        for (int i = 0; i < 2; i++)
            for (int j = 0; j < 3; j++) {
                CU_ASSERT_EQUAL(signbit(along[3 * i + j]), signbit(down[2 * j + i]));
                CU_ASSERT(along[3 * i + j] == down[2 * j + i] || (isnan(along[3 * i + j]) && isnan(down[2 * j + i])));
            }
    }
    clf_close(c);
}

/* One by one, or in parts by as many threads as there are: the same bits. */
static void test_rand_threads(void) {
    enum { ROWS = 401, COLS = 333, CELLS = ROWS * COLS };
    double *want = malloc(CELLS * sizeof *want), *got = malloc(CELLS * sizeof *got);
    CU_ASSERT_FATAL(want && got);
    for (int t = 0; t < 2; t++) {
        clf_dtype type = t ? CLF_F32 : CLF_F64;
        size_t bytes = (size_t)CELLS * clf_dtype_bytes(type);
        static const char *const threads[] = {"1", "2", "5"};
        for (int k = 0; k < 3; k++) {
            clf_ctx *c = open_host();
            CU_ASSERT_EQUAL(clf_set(c, "threads", threads[k]), CLF_OK);
            clf_mat *x = clf_rand(c, type, ROWS, COLS, -1, 1, 0.5, 12345);
            clf_gnode g = x->node->g;
            CU_ASSERT_EQUAL(clf_read(x, k ? got : want, bytes), CLF_OK);
            CU_ASSERT_EQUAL(stats_of(c).launches_callout, 1);
            CU_ASSERT(!k || memcmp(got, want, bytes) == 0);
            clf_rand_cells(&g, CELLS - 1000, 1000, NULL, got);
            CU_ASSERT_EQUAL(memcmp(got, (char *)want + (CELLS - 1000) * (bytes / CELLS), 1000 * (bytes / CELLS)), 0);
            clf_close(c);
        }
    }
    free(want);
    free(got);
}

int main(void) {
    static const test_case tests[] = {{"types and orders", test_callouts},
                                      {"a leading negative zero", test_negative_zero},
                                      {"random numbers by several threads", test_rand_threads}};
    return run_suite("callouts", tests, sizeof tests / sizeof *tests);
}
