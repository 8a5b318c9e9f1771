/* SPDX-License-Identifier: Apache-2.0
 * Scenario: aggregates in all directions by kernels, and a library product between kernels. Integers, so every order gives every bit. */
#include <string.h>

#include "tests/fault/scenario.h"

enum { ROWS = 40, COLS = 12 };

static double x[ROWS * COLS], rows[ROWS], cols[COLS], gram[COLS * COLS], sum, most;

static void fill(void) {
    for (int i = 0; i < ROWS * COLS; i++) x[i] = i * 7 % 23 - 11;
    memset(rows, 0, sizeof rows);
    memset(cols, 0, sizeof cols);
    sum = 0;
    most = x[0];
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            double v = x[i * COLS + j];
            rows[i] += 2 * v;
            cols[j] += v + 3;
            sum += v * v;
            most = v > most ? v : most;
        }
    for (int i = 0; i < COLS; i++)
        for (int j = 0; j < COLS; j++) {
            double v = 0;
            for (int k = 0; k < ROWS; k++) v += (x[k * COLS + i] + 1) * x[k * COLS + j];
            gram[i * COLS + j] = v * 2 - 1;
        }
}

static clf_status run(clf_ctx *c, bool *right) {
    fill();
    clf_mat *a = clf_borrow(c, CLF_F64, ROWS, COLS, x, NULL, NULL), *two = clf_num(c, 2);
    clf_mat *r = clf_row_sums(clf_mul(a, two)), *k = clf_col_sums(clf_add(a, clf_num(c, 3))), *s = clf_sum(clf_mul(a, a));
    clf_mat *m = clf_fold(CLF_FOLD_CODE_MAX, CLF_ALL, a);
    clf_mat *p = clf_sub(clf_mul(clf_matmul(clf_t(clf_add(a, clf_num(c, 1))), a), two), clf_num(c, 1));
    clf_mat *all[5] = {r, k, s, m, p};
    clf_status st = clf_eval(5, all);
    scenario_expect(r, rows, ROWS, &st, right);
    scenario_expect(k, cols, COLS, &st, right);
    scenario_expect(s, &sum, 1, &st, right);
    scenario_expect(m, &most, 1, &st, right);
    scenario_expect(p, gram, COLS * COLS, &st, right);
    return st;
}

static const char *const settings[] = {"tier", "2", NULL};
const scenario scenario_aggregates = {"aggregates", "cpu", settings, run};
