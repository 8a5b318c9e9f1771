/* SPDX-License-Identifier: Apache-2.0
 * Scenario: cells, full folds and folds of rows by the generic kernel, with strips that end short and a row that is repeated. Integers, so
 * every order gives every bit. */
#include "tests/fault/scenario.h"

enum { ROWS = 90, COLS = 31, N = ROWS * COLS };

static double x[N], w[COLS], cells[N], rows[ROWS], sum, most;

static void fill(void) {
    sum = 0;
    most = -1e300;
    for (int k = 0; k < COLS; k++) w[k] = k % 5 - 1;
    for (int i = 0; i < ROWS; i++) rows[i] = 0;
    for (int i = 0; i < N; i++) {
        x[i] = i * 7 % 23 - 11;
        cells[i] = 2 * x[i] + 3;
        sum += x[i] * x[i];
        rows[i / COLS] += x[i] * w[i % COLS];
        if (x[i] > most) most = x[i];
    }
}

static clf_status run(clf_ctx *c, bool *right) {
    fill();
    clf_mat *a = clf_borrow(c, CLF_F64, ROWS, COLS, x, NULL, NULL);
    clf_mat *v = clf_add(clf_mul(a, clf_num(c, 2)), clf_num(c, 3)), *s = clf_sum(clf_mul(a, a)),
            *m = clf_fold(CLF_FOLD_CODE_MAX, CLF_ALL, a);
    clf_mat *r = clf_fold(CLF_FOLD_CODE_SUM, CLF_ROWS, clf_mul(a, clf_borrow(c, CLF_F64, 1, COLS, w, NULL, NULL)));
    clf_mat *all[4] = {v, s, m, r};
    clf_status st = clf_eval(4, all);
    scenario_expect(v, cells, N, &st, right);
    scenario_expect(s, &sum, 1, &st, right);
    scenario_expect(m, &most, 1, &st, right);
    scenario_expect(r, rows, ROWS, &st, right);
    return st;
}

static const char *const settings[] = {"tier", "1", NULL};
const scenario scenario_generic = {"generic", "cpu", settings, run};
