/* SPDX-License-Identifier: Apache-2.0
 * Scenario: a sparse leaf in borrowed arrays: a product with a vector, sums over its entries, a result with its pattern, its transpose as
 * cells, and the same again after a change. Small integers, so every order gives every bit. */
#include <string.h>

#include "tests/fault/scenario.h"

enum { ROWS = 48, COLS = 20, CELLS = ROWS * COLS };

static double x[CELLS], twin[CELLS], v[COLS], product[ROWS], rows[ROWS], val[CELLS], sum;
static int64_t ptr[ROWS + 1];
static int32_t idx[CELLS];

static void fill(void) {
    int64_t n = 0;
    memset(x, 0, sizeof x);
    memset(product, 0, sizeof product);
    memset(rows, 0, sizeof rows);
    sum = 0;
    for (int j = 0; j < COLS; j++) v[j] = j % 5 - 2;
    for (int i = 0; i < ROWS; i++, ptr[i] = n)
        for (int j = 0; j < COLS; j++) {
            if (i == 0 || (i * 7 + j * 3) % 5) continue;
            double a = (i + 2 * j) % 9 + 1;
            x[i * COLS + j] = val[n] = a;
            idx[n++] = j;
            product[i] += a * v[j];
            rows[i] += a * a;
            sum += a * v[j];
        }
    for (int i = 0; i < CELLS; i++) twin[i % COLS * ROWS + i / COLS] = 2 * x[i];
}

static clf_status once(clf_ctx *c, clf_mat *s, bool *right) {
    clf_mat *w = clf_matrix(c, CLF_F64, COLS, 1, v), *p = clf_matmul(s, w), *r = clf_row_sums(clf_mul(s, s));
    clf_mat *a = clf_sum(clf_mul(s, clf_t(w))), *t = clf_t(clf_mul(s, clf_num(c, 2))), *all[4] = {p, r, a, t};
    clf_status st = clf_eval(4, all);
    scenario_expect(p, product, ROWS, &st, right);
    scenario_expect(r, rows, ROWS, &st, right);
    scenario_expect(a, &sum, 1, &st, right);
    scenario_expect(t, twin, CELLS, &st, right);
    return st;
}

static clf_status run(clf_ctx *c, bool *right) {
    clf_sparse_options o = {.struct_size = sizeof o, .borrow = true};
    fill();
    clf_mat *s = clf_sparse_csr(c, CLF_F64, ROWS, COLS, ptr[ROWS], ptr, idx, val, &o);
    clf_status st = once(c, s, right);
    if (st == CLF_OK) st = clf_changed(s);
    return st == CLF_OK ? once(c, s, right) : st;
}

static const char *const settings[] = {"tier", "2", NULL};
const scenario scenario_sparse = {"sparse", "cpu", settings, run};
