/* SPDX-License-Identifier: Apache-2.0
 * Scenario: cells, full folds and folds of rows by the generic kernel, with strips that end short and a row that is repeated; products with
 * a vector and sums over rows by that of rows; the same of stored entries, with what stands at their rows and columns, by theirs. Integers,
 * so every order gives every bit. */
#include "tests/fault/scenario.h"

enum { ROWS = 90, COLS = 31, N = ROWS * COLS };

static double x[N], w[COLS], cells[N], rows[ROWS], columns[COLS], sum, most;

/* Every third cell, but none of every fourth row. */
static double value[N], product[ROWS], scaled[N], total;
static int64_t offset[ROWS + 1];
static int32_t column[N];

static void fill_entries(void) {
    int n = 0;
    total = 0;
    for (int i = 0; i < ROWS; i++, offset[i] = n) {
        product[i] = 0;
        for (int k = 0; k < COLS; k++) {
            scaled[i * COLS + k] = 0;
            if (i % 4 == 1 || (i + k) % 3) continue;
            value[n] = 1 + (i + 2 * k) % 7;
            product[i] += value[n] * w[k];
            total += value[n] * value[n] * w[k];
            scaled[i * COLS + k] = value[n] * w[k];
            column[n++] = k;
        }
    }
}

static clf_status run_entries(clf_ctx *c, bool *right) {
    fill_entries();
    clf_mat *a = clf_sparse_csr(c, CLF_F64, ROWS, COLS, offset[ROWS], offset, column, value, NULL),
            *v = clf_borrow(c, CLF_F64, COLS, 1, w, NULL, NULL);
    clf_mat *p = clf_matmul(a, v), *q = clf_mul(a, clf_t(v)), *s = clf_sum(clf_mul(q, a));
    clf_mat *all[3] = {p, q, s};
    clf_status st = clf_eval(3, all);
    scenario_expect(p, product, ROWS, &st, right);
    scenario_expect(q, scaled, N, &st, right);
    scenario_expect(s, &total, 1, &st, right);
    return st;
}

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
    for (int k = 0; k < COLS; k++) columns[k] = 0;
    for (int i = 0; i < N; i++) columns[i % COLS] += x[i] * (rows[i / COLS] * rows[i / COLS] + 3);
}

static clf_status run(clf_ctx *c, bool *right) {
    fill();
    clf_mat *a = clf_borrow(c, CLF_F64, ROWS, COLS, x, NULL, NULL);
    clf_mat *v = clf_add(clf_mul(a, clf_num(c, 2)), clf_num(c, 3)), *s = clf_sum(clf_mul(a, a)),
            *m = clf_fold(CLF_FOLD_CODE_MAX, CLF_ALL, a);
    clf_mat *r = clf_fold(CLF_FOLD_CODE_SUM, CLF_ROWS, clf_mul(a, clf_borrow(c, CLF_F64, 1, COLS, w, NULL, NULL)));
    clf_mat *q = clf_matmul(a, clf_borrow(c, CLF_F64, COLS, 1, w, NULL, NULL));
    clf_mat *y = clf_matmul(clf_t(a), clf_add(clf_mul(q, q), clf_num(c, 3)));
    clf_mat *all[5] = {v, s, m, r, y};
    clf_status st = clf_eval(5, all);
    scenario_expect(v, cells, N, &st, right);
    scenario_expect(s, &sum, 1, &st, right);
    scenario_expect(m, &most, 1, &st, right);
    scenario_expect(r, rows, ROWS, &st, right);
    scenario_expect(y, columns, COLS, &st, right);
    return st == CLF_OK ? run_entries(c, right) : st;
}

static const char *const settings[] = {"tier", "1", NULL};
const scenario scenario_generic = {"generic", "cpu", settings, run};
