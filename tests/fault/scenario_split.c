/* SPDX-License-Identifier: Apache-2.0
 * Scenario: an operator of which the device takes two chunks in three and the host the first one, by copies of the parts, and beside it one
 * that is not cut and counts its chunks in the same place. Integers, so every order gives every bit. */
#include <string.h>

#include "tests/fault/scenario.h"

enum { ROWS = 240, COLS = 48 };

static double x[ROWS * COLS], rows[ROWS], cols[COLS], sum;

static void fill(void) {
    memset(rows, 0, sizeof rows);
    memset(cols, 0, sizeof cols);
    sum = 0;
    for (int i = 0; i < ROWS * COLS; i++) {
        double v = x[i] = i * 11 % 29 - 13;
        rows[i / COLS] += 2 * v;
        cols[i % COLS] += v - 1;
        sum += v * v;
    }
}

static clf_status run(clf_ctx *c, bool *right) {
    fill();
    clf_mat *a = clf_borrow(c, CLF_F64, ROWS, COLS, x, NULL, NULL);
    clf_mat *all[3] = {clf_sum(clf_mul(a, a)), clf_col_sums(clf_sub(a, clf_num(c, 1))), clf_row_sums(clf_mul(a, clf_num(c, 2)))};
    clf_status st = clf_eval(3, all);
    scenario_expect(all[0], &sum, 1, &st, right);
    scenario_expect(all[1], cols, COLS, &st, right);
    scenario_expect(all[2], rows, ROWS, &st, right);
    return st;
}

static const char *const settings[] = {"tier", "2", "fuse", "none", "split", "67", "host_pointers", "off", NULL};
const scenario scenario_split = {"split", "cpu", settings, run};
