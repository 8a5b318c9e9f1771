/* SPDX-License-Identifier: Apache-2.0
 * L2SVM, before the training: checks of features and labels that say what is wrong and where, labels as -1 and 1, standardised columns,
 * the column of ones. The checks are programs of the library too: all their aggregates come from few passes over the data. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/l2svm.h"

static bool fail(l2svm *p, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(p->why, sizeof p->why, format, args);
    va_end(args);
    return false;
}

static bool library_failed(l2svm *p) { return fail(p, "%s", clf_last_error(p->c)); }

/* A program of n results, two at most, which are numbers: one evaluation gives them all. */
static bool numbers(l2svm *p, const char *text, const clf_binding *vars, size_t nvars, size_t n, double *out) {
    clf_result r[2];
    clf_mat *x[2] = {NULL};
    if (clf_parse(p->c, text, vars, nvars, r, &n) != CLF_OK) return library_failed(p);
    for (size_t i = 0; i < n; i++) x[i] = r[i].value;
    bool good = clf_eval(n, x) == CLF_OK;
    for (size_t i = 0; i < n; i++) {
        good = good && clf_read_f64(x[i], &out[i]) == CLF_OK;
        clf_free(x[i]);
    }
    return good || library_failed(p);
}

/* Two values, no more and no less. */
static bool prepare_labels(l2svm *p, clf_mat *labels) {
    double range[2], known;
    clf_binding vars[] = {{"l", labels}, {"lo", NULL}, {"hi", NULL}};
    if (!numbers(p, "min(l); max(l)", vars, 1, 2, range)) return false;
    const double lo = range[0], hi = range[1];
    if (!(lo <= hi)) return fail(p, "the label column holds values that are no numbers");
    if (lo == hi) return fail(p, "the label column has a single class: every label is %g", lo);
    vars[1].value = clf_num(p->c, lo);
    vars[2].value = clf_num(p->c, hi);
    p->y = clf_cast(clf_expr(p->c, "2*(l == hi) - 1", vars, 3), CLF_F64);
    clf_mat *both[] = {p->y, clf_expr(p->c, "sum(l == lo | l == hi)", vars, 3)};
    if (clf_eval(2, both) != CLF_OK || clf_read_f64(both[1], &known) != CLF_OK) return library_failed(p);
    clf_free(both[1]);
    return known == (double)p->n || fail(p, "the label column has more than two classes: %.0f of %lld labels are neither %g nor %g",
                                         (double)p->n - known, (long long)p->n, lo, hi);
}

/* A constant column has no deviation to divide by. Equal minimum and maximum say so exactly; a deviation would be hidden by rounding. */
static bool no_constant_column(l2svm *p) {
    const clf_binding vars[] = {{"X", p->X}};
    clf_mat *range = clf_expr(p->c, "colMaxs(X) - colMins(X)", vars, 1);
    const void *data;
    if (clf_data(range, &data) != CLF_OK) return library_failed(p);
    int64_t j = 0;
    while (j < p->m && ((const double *)data)[j] != 0) j++;
    clf_free(range);
    return j == p->m || fail(p,
                             "feature column %lld (of %lld, the label not counted) is constant and cannot be standardised; leave it out or "
                             "use --no-standardise",
                             (long long)j + 1, (long long)p->m);
}

static bool prepare_features(l2svm *p) {
    const clf_binding vars[] = {{"X", p->X}};
    double bad;
    if (!numbers(p, "sum(is.nan(X) | is.infinite(X))", vars, 1, 1, &bad)) return false;
    if (bad > 0) return fail(p, "the features hold %.0f cells that are NaN or infinite", bad);
    if (p->o.standardise) {
        if (!no_constant_column(p)) return false;
        clf_result r[3];
        size_t n = 3;
        if (clf_parse(p->c, "mu = colMeans(X); sd = sqrt(colMeans((X - mu)^2)); (X - mu)/sd", vars, 1, r, &n) != CLF_OK)
            return library_failed(p);
        p->X = r[2].value;
    }
    if (p->o.intercept) p->X = clf_cbind(p->X, clf_fill(p->c, CLF_F64, p->n, 1, 1));
    if (clf_eval(1, &p->X) != CLF_OK) return library_failed(p); /* from now on a leaf, which functions may refer to */
    return clf_info(p->X, NULL, &p->m, NULL, NULL) == CLF_OK || library_failed(p);
}

bool l2svm_prepare(l2svm *p, clf_ctx *c, clf_mat *features, clf_mat *labels, const l2svm_options *o) {
    int64_t label_rows;
    *p = (l2svm){.c = c, .o = *o};
    if (!(o->lambda > 0) || !(o->tolerance > 0) || o->max_iterations < 1)
        return fail(p, "lambda, tolerance and the number of iterations must be positive");
    if (clf_info(features, &p->n, &p->m, NULL, NULL) != CLF_OK || clf_info(labels, &label_rows, NULL, NULL, NULL) != CLF_OK)
        return library_failed(p);
    if (p->n < 2 || p->m < 1) return fail(p, "%lld rows and %lld feature columns: nothing to train on", (long long)p->n, (long long)p->m);
    if (label_rows != p->n) return fail(p, "%lld rows of features, but %lld labels", (long long)p->n, (long long)label_rows);
    p->X = clf_cast(features, CLF_F64);
    if (!prepare_labels(p, labels) || !prepare_features(p)) return false;
    return l2svm_record(p) || library_failed(p);
}

bool l2svm_write_data(clf_ctx *c, const char *path, int64_t rows) {
    static const char program[] = "X = rand(rows=%lld, cols=20, min=-1, max=1, seed=1); v = rand(rows=20, cols=1, min=-1, max=1, seed=2)\n"
                                  "noise = rand(rows=%lld, cols=1, min=-1, max=1, seed=3)\n"
                                  "cbind(X %%*%% v + noise > 0.25, round(1000*X))"; /* whole numbers keep the file small */
    char text[sizeof program + 64];
    clf_result r[4];
    size_t n = 4, mark = clf_epoch_begin(c);
    snprintf(text, sizeof text, program, (long long)rows, (long long)rows);
    bool good = clf_parse(c, text, NULL, 0, r, &n) == CLF_OK && clf_save(r[n - 1].value, path, NULL) == CLF_OK;
    clf_epoch_end(c, mark);
    return good;
}
