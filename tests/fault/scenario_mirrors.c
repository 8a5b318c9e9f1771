/* SPDX-License-Identifier: Apache-2.0
 * Scenario: three calls of a function, an operator a kernel, on a device with memory of its own where three matrices of four have room:
 * copies of leaves stay or go, intermediates come home for others and go back, each result is the next call's argument. */
#include "tests/fault/scenario.h"

enum { ROWS = 32, COLS = 16, CELLS = ROWS * COLS, CALLS = 3 };

static const char text[] = "a = X + w; b = a * 2; d = b - X; d * 0.5 + a; sum(d)";

static double next(double x, double w, double *d) {
    double a = x + w;
    *d = a * 2 - x;
    return *d * 0.5 + a;
}

static clf_status run(clf_ctx *c, bool *right) {
    double x[CELLS], w[CELLS];
    for (int i = 0; i < CELLS; i++) x[i] = i % 7 * 4, w[i] = 0;
    clf_mat *in[2] = {clf_param(c, CLF_F64, ROWS, COLS, false), clf_param(c, CLF_F64, ROWS, COLS, false)};
    clf_mat *arg[2] = {clf_matrix(c, CLF_F64, ROWS, COLS, x), clf_matrix(c, CLF_F64, ROWS, COLS, w)}, *out[2] = {NULL, NULL};
    clf_fn *f = NULL;
    clf_status st = clf_fn_parse(c, text, 2, (const clf_binding[]){{"X", in[0]}, {"w", in[1]}}, 2, &f);
    for (int k = 0; k < CALLS && st == CLF_OK; k++) {
        double sum = 0, d;
        for (int i = 0; i < CELLS; i++) {
            w[i] = next(x[i], w[i], &d);
            sum += d;
        }
        out[0] = NULL;
        st = clf_call(f, 2, arg, 2, out);
        scenario_expect(out[0], w, CELLS, &st, right);
        scenario_expect(out[1], &sum, 1, &st, right);
        if (st == CLF_OK) clf_free(arg[1]), arg[1] = out[0];
    }
    clf_fn_free(f);
    return st;
}

static const char *const settings[] = {"tier", "2",          "fuse",  "none",           "math", "strict", "host_pointers",
                                       "off",  "device_mem", "13000", "transfer_queue", "on",   NULL};
const scenario scenario_mirrors = {"mirrors", "cpu", settings, run};
