/* SPDX-License-Identifier: Apache-2.0
 * Scenario: loops over stored entries of which the device takes two chunks in three and the host the first one: sums by row, cells in the
 * operand's pattern, and sums by column and of everything, whose states meet. Integers, so every order gives every bit. */
#include <string.h>

#include "tests/fault/scenario.h"

enum { ROWS = 130, COLS = 120, EACH = 96, ENTRIES = ROWS * EACH };

static double val[ENTRIES], rows[ROWS], squares[ROWS], cols[COLS], sum;
static int64_t ptr[ROWS + 1];
static int32_t idx[ENTRIES];

static void fill(void) {
    int64_t n = 0;
    memset(rows, 0, sizeof rows);
    memset(squares, 0, sizeof squares);
    memset(cols, 0, sizeof cols);
    sum = 0;
    for (int i = 0; i < ROWS; i++, ptr[i] = n)
        for (int k = 0; k < EACH; k++, n++) {
            double v = val[n] = (double)(n * 11 % 29 - 13);
            idx[n] = k < i % EACH ? k : k + COLS - EACH;
            rows[i] += v;
            cols[idx[n]] += 3 * v;
            squares[i] += 4 * v * v;
            sum += v * v;
        }
}

static clf_status run(clf_ctx *c, bool *right) {
    clf_sparse_options o = {.struct_size = sizeof o, .borrow = true};
    fill();
    clf_mat *x = clf_sparse_csr(c, CLF_F64, ROWS, COLS, ENTRIES, ptr, idx, val, &o), *twice = clf_mul(x, clf_num(c, 2));
    clf_mat *all[4] = {clf_row_sums(x), clf_row_sums(clf_mul(twice, twice)), clf_sum(clf_mul(x, x)),
                       clf_col_sums(clf_mul(x, clf_num(c, 3)))};
    clf_status st = clf_eval(4, all);
    scenario_expect(all[0], rows, ROWS, &st, right);
    scenario_expect(all[1], squares, ROWS, &st, right);
    scenario_expect(all[2], &sum, 1, &st, right);
    scenario_expect(all[3], cols, COLS, &st, right);
    return st;
}

static const char *const settings[] = {"tier", "2", "fuse", "none", "split", "67", "host_pointers", "off", NULL};
const scenario scenario_split_entries = {"split entries", "cpu", settings, run};
