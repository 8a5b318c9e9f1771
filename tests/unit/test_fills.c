/* SPDX-License-Identifier: Apache-2.0
 * Matrices of one number: small ones are made without a program, unless one needs their number; their cells are the program's. */
#include <math.h>

#include "tests/unit/api_testing.h"

/* Of one number: a cell of a matrix too large to be made without a program. */
static void cell_of(clf_ctx *c, clf_dtype t, double number, char cell[8]) {
    size_t mark = clf_epoch_begin(c);
    const void *cells = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_data(clf_fill(c, t, (1 << 20) + 1, 1, number), &cells), CLF_OK);
    memcpy(cell, (const char *)cells + clf_dtype_bytes(t), clf_dtype_bytes(t));
    clf_epoch_end(c, mark);
}

/* All cells of a small matrix are that. */
static void check_fill(clf_ctx *c, clf_dtype t, double number, const char cell[8]) {
    static const int64_t shape[][2] = {{1, 1}, {3, 1}, {7, 13}, {1, 64}};
    for (size_t i = 0; i < sizeof shape / sizeof *shape; i++) {
        size_t mark = clf_epoch_begin(c), each = clf_dtype_bytes(t), bytes = (size_t)(shape[i][0] * shape[i][1]) * each;
        clf_mat *m[] = {clf_fill(c, t, shape[i][0], shape[i][1], number), NULL};
        char got[7 * 13 * 8];
        m[1] = m[0];
        CU_ASSERT_EQUAL_FATAL(clf_eval(2, m), CLF_OK);
        CU_ASSERT_EQUAL_FATAL(clf_read(m[0], got, bytes), CLF_OK);
        for (size_t at = 0; at < bytes; at += each) CU_ASSERT(!memcmp(got + at, cell, each));
        clf_epoch_end(c, mark);
    }
}

/* A small matrix of one number, of every type, is made without a program, a large one with one: the same cells. */
static void test_fills(void) {
    static const double number[] = {2.75, -0.0, NAN, 300, -1e300, 0};
    static const clf_dtype type[] = {CLF_F64, CLF_F32, CLF_I64, CLF_I32, CLF_U8};
    clf_ctx *c = open_host(), *other = open_host();
    for (size_t t = 0; t < sizeof type / sizeof *type; t++)
        for (size_t k = 0; k < sizeof number / sizeof *number; k++) {
            char cell[8];
            cell_of(other, type[t], number[k], cell);
            check_fill(c, type[t], number[k], cell);
        }
    CU_ASSERT(stats_of(c).plans == 0 && stats_of(other).plans > 0);
    clf_close(other);
    clf_mat *none = clf_fill(c, CLF_F64, 0, 5, 1), *long_one = clf_fill(c, CLF_F64, 131072, 1, 2), *sum;
    CU_ASSERT(clf_eval(1, &long_one) == CLF_OK && stats_of(c).plans == 0);
    sum = clf_sum(clf_mul(long_one, long_one));
    CU_ASSERT(read_f64(sum) == 4.0 * 131072 && stats_of(c).plans == 1);
    CU_ASSERT(clf_eval(1, &none) == CLF_OK && stats_of(c).plans == 2);
    clf_mat *longer = clf_fill(c, CLF_F64, 131073, 1, 2);
    const void *cells = NULL;
    CU_ASSERT(clf_data(longer, &cells) == CLF_OK && ((const double *)cells)[131072] == 2 && stats_of(c).plans == 3);
    clf_mat *with[] = {clf_fill(c, CLF_F64, 9, 1, 3), NULL}; /* one program for both */
    with[1] = clf_exp(with[0]);
    CU_ASSERT(clf_eval(2, with) == CLF_OK && stats_of(c).plans == 4 && read_f64(clf_sum(with[0])) == 27);
    clf_close(c);
}

/* Within a budget that is too small its program says so. */
static void test_fill_without_memory(void) {
    clf_ctx *c = open_host();
    clf_mat *m = clf_fill(c, CLF_F64, 1000, 10, 1);
    CU_ASSERT_EQUAL(clf_set(c, "mem_limit", "10K"), CLF_OK);
    CU_ASSERT_EQUAL(clf_eval(1, &m), CLF_E_NOMEM);
    CU_ASSERT_EQUAL(clf_set(c, "mem_limit", "0"), CLF_OK);
    CU_ASSERT(clf_eval(1, &m) == CLF_OK && read_f64(clf_sum(m)) == 10000);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {{"of every type", test_fills}, {"without memory", test_fill_without_memory}};
    return run_suite("fills", tests, sizeof tests / sizeof *tests);
}
