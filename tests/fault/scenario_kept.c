/* SPDX-License-Identifier: Apache-2.0
 * A plan that is searched, kept on disk, and found there when the context has forgotten its plans. Too large for small budgets. */
#include <stdio.h>

#include "tests/fault/scenario.h"

enum { ROWS = 10000, COLS = 12, RESULTS = 4 };
static const char text[] = "D = X - m; E = D * w; k = sum(E); q = E * rowSums(E) - k / k + 1; c = colSums(q * D); F = q * c\n"
                           "sum(F * E); sum(F * X) + sum(c); sum(q * D); sum(rowSums(F * D))";
/* E is 3, q 108, c 108 ROWS, F 108 c in every cell. */
static const double cells = (double)ROWS * COLS, c_cell = 108.0 * ROWS, f_cell = 108.0 * 108.0 * ROWS;

static clf_status first(clf_status before, clf_status now) { return before != CLF_OK ? before : now; }

static clf_status program(clf_ctx *c, bool *right) {
    clf_mat *x = clf_fill(c, CLF_F64, ROWS, COLS, 2), *m = clf_fill(c, CLF_F64, 1, COLS, 1), *given[] = {x, m}, *out[RESULTS];
    clf_status st = clf_eval(2, given);
    const clf_binding vars[] = {{"X", x}, {"m", m}, {"w", clf_num(c, 3)}};
    clf_result r[16];
    size_t n = 16, k = 0;
    st = first(st, clf_parse(c, text, vars, 3, r, &n));
    if (st != CLF_OK) return st;
    for (size_t i = 0; i < n; i++)
        if (r[i].bare && k < RESULTS) out[k++] = r[i].value;
    const double want[RESULTS] = {f_cell * 3 * cells, f_cell * 2 * cells + c_cell * COLS, 108 * cells, f_cell * cells};
    st = clf_eval(k, out);
    for (size_t i = 0; i < k && st == CLF_OK; i++) scenario_expect(out[i], &want[i], 1, &st, right);
    for (size_t i = 0; i < n; i++) clf_free(r[i].value);
    clf_free(x);
    return st;
}

static clf_status run(clf_ctx *c, bool *right) {
    char folder[256];
    snprintf(folder, sizeof folder, "%s/kept", scenario_folder());
    clf_status st = clf_set(c, "cache_dir", folder);
    st = first(st, clf_set(c, "cache", "on"));
    st = first(st, clf_cache_prune(c, 0, NULL, NULL)); /* whatever the last run left */
    for (int i = 0; i < 2; i++) {
        st = first(st, program(c, right));
        st = first(st, clf_set(c, "fuse", "all")); /* plans are forgotten */
        st = first(st, clf_set(c, "fuse", "cost"));
    }
    return first(st, clf_set(c, "cache", "off"));
}

const scenario scenario_kept = {"a plan kept on disk", "host", NULL, run};
