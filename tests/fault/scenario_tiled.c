/* SPDX-License-Identifier: Apache-2.0
 * Scenario: operands of 4 MiB through buffers under a budget of 1 MiB: the kernels visit the rows in parts. */
#include "tests/fault/scenario.h"

enum { ROWS = 2048, COLS = 256 };

static double x[ROWS * COLS], y[ROWS * COLS], rows[ROWS], cols[COLS], sum;
static bool filled;

static void fill(void) {
    filled = true;
    for (int i = 0; i < ROWS * COLS; i++) {
        x[i] = i % 13 - 6;
        y[i] = i % 7;
        rows[i / COLS] += x[i] * y[i] + x[i];
        cols[i % COLS] += y[i] * 3;
        sum += x[i] - y[i];
    }
}

static clf_status run(clf_ctx *c, bool *right) {
    if (!filled) fill();
    clf_mat *a = clf_borrow(c, CLF_F64, ROWS, COLS, x, NULL, NULL), *b = clf_borrow(c, CLF_F64, ROWS, COLS, y, NULL, NULL);
    clf_mat *r = clf_row_sums(clf_add(clf_mul(a, b), a)), *s = clf_sum(clf_sub(a, b));
    clf_mat *k = clf_col_sums(clf_mul(b, clf_num(c, 3))), *all[3] = {r, s, k};
    clf_status st = clf_eval(3, all);
    scenario_expect(r, rows, ROWS, &st, right);
    scenario_expect(s, &sum, 1, &st, right);
    scenario_expect(k, cols, COLS, &st, right);
    return st;
}

static const char *const settings[] = {"tier", "2", "math", "strict", "host_pointers", "off", "mem_limit", "1M", NULL};
const scenario scenario_tiled = {"tiled", "cpu", settings, run};
