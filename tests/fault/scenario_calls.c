/* SPDX-License-Identifier: Apache-2.0
 * Scenario: ten calls of a function whose scalar changes, results in the handles of the call before. */
#include "tests/fault/scenario.h"

enum { ROWS = 6, COLS = 3, CELLS = ROWS * COLS };

static clf_status one_call(clf_ctx *c, clf_fn *f, clf_mat *x, const double *data, int scalar, clf_mat **out, bool *right) {
    clf_mat *arg[2] = {x, clf_num(c, scalar)}, *was[2] = {out[0], out[1]};
    double cells[CELLS], sum = 0;
    for (int i = 0; i < CELLS; i++) sum += cells[i] = data[i] * scalar + 1;
    clf_status st = clf_call(f, 2, arg, 2, out);
    if (st != CLF_OK && (was[0] != out[0] || was[1] != out[1])) *right = false; /* all results or none */
    scenario_expect(out[0], cells, CELLS, &st, right);
    scenario_expect(out[1], &sum, 1, &st, right);
    clf_free(arg[1]);
    return st;
}

static clf_status run(clf_ctx *c, bool *right) {
    double data[CELLS];
    for (int i = 0; i < CELLS; i++) data[i] = i - 5;
    clf_mat *in[2] = {clf_param(c, CLF_F64, ROWS, COLS, false), clf_param(c, CLF_F64, 1, 1, true)};
    const clf_binding vars[] = {{"X", in[0]}, {"k", in[1]}};
    clf_mat *out[2] = {NULL, NULL};
    clf_mat *x = clf_matrix(c, CLF_F64, ROWS, COLS, data);
    clf_fn *f = NULL;
    clf_status st = clf_fn_parse(c, "r = X*k + 1; r; sum(r)", 2, vars, 2, &f);
    if ((st == CLF_OK) != (f != NULL)) *right = false;
    for (int i = 0; i < 10 && f; i++) {
        clf_status now = one_call(c, f, x, data, i - 3, out, right);
        if (st == CLF_OK) st = now;
    }
    clf_fn_free(f);
    return st;
}

const scenario scenario_calls = {"calls", "host", NULL, run};
