/* SPDX-License-Identifier: Apache-2.0
 * Scenario: a loop over rows of which the device takes two chunks in three and the host the first one. What meets over the rows is a product,
 * a fold that keeps columns and a sum of everything, whose states lie apart on either side. Integers, so every order gives every bit. */
#include <string.h>

#include "tests/fault/scenario.h"

enum { HEIGHT = 240, WIDTH = 40 };

static double x[HEIGHT * WIDTH], w[HEIGHT], product[WIDTH], most[WIDTH], sum;

static void fill(void) {
    memset(product, 0, sizeof product);
    sum = 0;
    for (int i = 0; i < HEIGHT; i++) {
        double of_row = 0;
        w[i] = i % 7 - 3;
        for (int j = 0; j < WIDTH; j++) of_row += x[i * WIDTH + j] = (i * WIDTH + j) * 11 % 29 - 13;
        for (int j = 0; j < WIDTH; j++) {
            double v = x[i * WIDTH + j] - of_row;
            product[j] += v * w[i] * w[i];
            most[j] = i && most[j] > v ? most[j] : v;
            sum += v;
        }
    }
}

static clf_status run(clf_ctx *c, bool *right) {
    fill();
    clf_mat *a = clf_borrow(c, CLF_F64, HEIGHT, WIDTH, x, NULL, NULL), *b = clf_borrow(c, CLF_F64, HEIGHT, 1, w, NULL, NULL);
    clf_mat *centred = clf_sub(a, clf_row_sums(a));
    clf_mat *all[3] = {clf_matmul(clf_t(centred), clf_mul(b, b)), clf_fold(CLF_FOLD_CODE_MAX, CLF_COLS, centred), clf_sum(centred)};
    clf_status st = clf_eval(3, all);
    scenario_expect(all[0], product, WIDTH, &st, right);
    scenario_expect(all[1], most, WIDTH, &st, right);
    scenario_expect(all[2], &sum, 1, &st, right);
    return st;
}

static const char *const settings[] = {"tier", "2", "fuse", "all", "split", "67", "host_pointers", "off", NULL};
const scenario scenario_split_rows = {"split rows", "cpu", settings, run};
