/* SPDX-License-Identifier: Apache-2.0
 * Scenarios: three calls of a function, an operator a kernel, on a device with memory of its own where three matrices of four have room:
 * copies of leaves stay or go, intermediates come home for others and go back, each result is the next call's argument. Results come home
 * at once, or stay on the device until all calls are done, if no other needs their place. */
#include <string.h>

#include "tests/fault/scenario.h"

enum { ROWS = 32, COLS = 16, CELLS = ROWS * COLS, CALLS = 3 };

static const char text[] = "a = X + w; b = a * 2; d = b - X; d * 0.5 + a; sum(d)";

static double next(double x, double w, double *d) {
    double a = x + w;
    *d = a * 2 - x;
    return *d * 0.5 + a;
}

static clf_status calls(clf_ctx *c, bool late, bool *right) {
    static double x[CELLS], w[CELLS], seen[CALLS][CELLS];
    double sums[CALLS];
    clf_mat *all[CALLS], *total[CALLS];
    for (int i = 0; i < CELLS; i++) x[i] = i % 7 * 4, w[i] = 0;
    clf_mat *in[2] = {clf_param(c, CLF_F64, ROWS, COLS, false), clf_param(c, CLF_F64, ROWS, COLS, false)};
    clf_mat *arg[2] = {clf_matrix(c, CLF_F64, ROWS, COLS, x), clf_matrix(c, CLF_F64, ROWS, COLS, w)}, *out[2] = {NULL, NULL};
    clf_fn *f = NULL;
    clf_status st = clf_fn_parse(c, text, 2, (const clf_binding[]){{"X", in[0]}, {"w", in[1]}}, 2, &f);
    for (int k = 0; k < CALLS && st == CLF_OK; k++) {
        double sum = 0, d;
        out[1] = NULL;
        for (int i = 0; i < CELLS; i++) {
            w[i] = next(x[i], w[i], &d);
            sum += d;
        }
        out[0] = NULL;
        st = clf_call(f, 2, arg, 2, out);
        memcpy(seen[k], w, sizeof w);
        sums[k] = sum;
        if (!late) scenario_expect(out[0], w, CELLS, &st, right);
        if (!late) scenario_expect(out[1], &sum, 1, &st, right);
        if (st == CLF_OK) arg[1] = all[k] = out[0], total[k] = out[1];
    }
    for (int k = 0; late && k < CALLS && st == CLF_OK; k++) {
        scenario_expect(all[k], seen[k], CELLS, &st, right);
        scenario_expect(total[k], &sums[k], 1, &st, right);
    }
    clf_fn_free(f);
    return st;
}

static clf_status run(clf_ctx *c, bool *right) { return calls(c, false, right); }
static clf_status run_late(clf_ctx *c, bool *right) { return calls(c, true, right); }

static const char *const settings[] = {"tier", "2",          "fuse",  "none",           "math", "strict", "host_pointers",
                                       "off",  "device_mem", "13000", "transfer_queue", "on",   NULL};
static const char *const staying[] = {"tier",          "2",   "fuse",       "none",  "math",           "strict",
                                      "host_pointers", "off", "device_mem", "13000", "transfer_queue", "on",
                                      "results",       "all", NULL};
const scenario scenario_mirrors = {"mirrors", "cpu", settings, run};
const scenario scenario_unread = {"unread", "cpu", staying, run_late};
