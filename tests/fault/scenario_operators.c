/* SPDX-License-Identifier: Apache-2.0
 * Scenario: the C API, ten operators, three roots evaluated as one program. */
#include "tests/fault/scenario.h"

static const double x[6] = {1, 2, 3, 4, 5, 6};

static clf_status run(clf_ctx *c, bool *right) {
    static const double sum = 97, gram[9] = {17, 22, 27, 22, 29, 36, 27, 36, 45};
    double rest[6];
    for (int i = 0; i < 6; i++) rest[i] = (x[i] * x[i] + 1) / sum - x[i];
    clf_mat *a = clf_matrix(c, CLF_F64, 2, 3, x), *b = clf_borrow(c, CLF_F64, 2, 3, x, NULL, NULL);
    clf_mat *p = clf_add(clf_mul(a, b), clf_num(c, 1)), *s = clf_sum(p), *t = clf_matmul(clf_t(a), b);
    clf_mat *r = clf_sub(clf_div(p, s), clf_abs(clf_neg(b))), *all[3] = {s, t, r};
    clf_status st = clf_eval(3, all);
    scenario_expect(s, &sum, 1, &st, right);
    scenario_expect(t, gram, 9, &st, right);
    scenario_expect(r, rest, 6, &st, right);
    clf_free(a);
    return st;
}

const scenario scenario_operators = {"operators", "host", NULL, run};
