/* SPDX-License-Identifier: Apache-2.0
 * Scenario: the derivatives of sum((X %*% v - y)^2) + sum(X[1, 2:3]), evaluated with the loss. Integers throughout. */
#include "tests/fault/scenario.h"

static const double x[6] = {1, 2, 3, 4, 5, 6}, y[2] = {1, -1}, v[3] = {1, -1, 1};

/* The residual is (1, 6). */
static clf_status run(clf_ctx *c, bool *right) {
    static const double value = 42, by_x[6] = {2, -1, 3, 12, -12, 12}, by_v[3] = {50, 64, 78};
    clf_mat *wrt[2] = {clf_matrix(c, CLF_F64, 2, 3, x), clf_matrix(c, CLF_F64, 3, 1, v)}, *all[3] = {NULL, NULL, NULL};
    clf_mat *r = clf_sub(clf_matmul(wrt[0], wrt[1]), clf_matrix(c, CLF_F64, 2, 1, y));
    all[0] = clf_add(clf_sum(clf_sqr(r)), clf_sum(clf_index(wrt[0], 1, 1, 2, 3)));
    clf_status st = clf_grad(all[0], 2, wrt, all + 1);
    for (int i = 1; i < 3; i++)
        if (clf_status_of(all[i], NULL) != st) *right = false; /* a failure sticks to both */
    if (st == CLF_OK) st = clf_eval(3, all);
    scenario_expect(all[0], &value, 1, &st, right);
    scenario_expect(all[1], by_x, 6, &st, right);
    scenario_expect(all[2], by_v, 3, &st, right);
    return st;
}

const scenario scenario_derivatives = {"derivatives", "host", NULL, run};
