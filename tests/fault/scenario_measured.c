/* SPDX-License-Identifier: Apache-2.0
 * Scenario: a program of several steps while the context keeps a timeline, and a progress callback that stops it now and then: what is
 * stopped says so, and is right when it is asked for again. */
#include <stdio.h>

#include "tests/fault/scenario.h"

typedef struct asked {
    int calls, stop_at;
} asked;

static int stop_once(void *user, const clf_progress *p) {
    asked *a = user;
    (void)p;
    return ++a->calls == a->stop_at;
}

static clf_status first(clf_status before, clf_status now) { return before != CLF_OK ? before : now; }

static clf_status run(clf_ctx *c, bool *right) {
    static const double data[6] = {1, 2, 3, 4, 5, 6}, want[2] = {312, 780};
    char path[160];
    snprintf(path, sizeof path, "%s/trace.json", scenario_folder());
    clf_status all = clf_set(c, "trace", path);
    for (int stop = 1; stop < 5; stop++) {
        asked a = {0, stop};
        clf_mat *x = clf_matrix(c, CLF_F64, 2, 3, data), *s = clf_sum(x);
        clf_mat *r = clf_add(clf_row_sums(clf_mul(x, clf_mul(s, clf_num(c, 2)))), clf_mul(clf_num(c, 10), clf_row_sums(x)));
        clf_set_progress(c, stop_once, &a);
        clf_status st = clf_eval(1, &r);
        if ((st == CLF_E_CANCELLED) != (a.calls == stop)) *right = *right && st != CLF_OK && a.calls >= stop;
        clf_set_progress(c, NULL, NULL);
        if (st == CLF_E_CANCELLED) st = clf_eval(1, &r);
        scenario_expect(r, want, 2, &st, right);
        all = first(all, st);
        clf_free(r);
        clf_free(s);
        clf_free(x);
    }
    return all;
}

const scenario scenario_measured = {"measured", "host", NULL, run};
