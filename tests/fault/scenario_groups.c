/* SPDX-License-Identifier: Apache-2.0
 * Scenario: folds by kernels whose work-items run in groups, two of which leave partial states to a second kernel. Integers, so every
 * order gives every bit. */
#include <string.h>

#include "tests/fault/scenario.h"

enum { ROWS = 160, COLS = 33 };

static double x[ROWS * COLS], rows[ROWS], cols[COLS], sum;

static void fill(void) {
    for (int i = 0; i < ROWS * COLS; i++) x[i] = i * 7 % 23 - 11;
    memset(rows, 0, sizeof rows);
    memset(cols, 0, sizeof cols);
    sum = 0;
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) {
            double v = x[i * COLS + j];
            rows[i] += 2 * v;
            cols[j] += v + 3;
            sum += v * v;
        }
}

static clf_status run(clf_ctx *c, bool *right) {
    fill();
    clf_mat *a = clf_borrow(c, CLF_F64, ROWS, COLS, x, NULL, NULL);
    clf_mat *r = clf_row_sums(clf_mul(a, clf_num(c, 2))), *k = clf_col_sums(clf_add(a, clf_num(c, 3))), *s = clf_sum(clf_mul(a, a));
    clf_mat *all[3] = {r, k, s};
    clf_status st = clf_eval(3, all);
    scenario_expect(r, rows, ROWS, &st, right);
    scenario_expect(k, cols, COLS, &st, right);
    scenario_expect(s, &sum, 1, &st, right);
    return st;
}

static const char *const settings[] = {"tier", "2", "strategy", "group", NULL};
const scenario scenario_groups = {"groups", "cpu", settings, run};
