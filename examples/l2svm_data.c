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

/* What the checks ask, and labels as -1 and 1: one plan, which reads everything once. Times 0, NaN and infinite cells are NaN. */
static const char asked[] = "lo = min(l); hi = max(l); y = 2*(l == hi) - 1; lo; hi; sum(l == lo | l == hi); sum(X*0)";
enum { LO, HI, Y, LO_NUMBER, HI_NUMBER, KNOWN, ZERO, ASKED };

static bool look(l2svm *p, clf_mat *labels, double number[ASKED]) {
    const clf_binding vars[] = {{"l", labels}, {"X", p->X}};
    clf_result r[ASKED];
    clf_mat *x[ASKED - Y];
    size_t n = ASKED;
    if (clf_parse(p->c, asked, vars, 2, r, &n) != CLF_OK) return library_failed(p);
    x[0] = p->y = clf_cast(r[Y].value, CLF_F64);
    for (int i = LO_NUMBER; i < ASKED; i++) x[i - Y] = r[i].value;
    bool good = clf_eval(ASKED - Y, x) == CLF_OK;
    for (int i = LO_NUMBER; i < ASKED; i++) good = good && clf_read_f64(r[i].value, &number[i]) == CLF_OK;
    for (int i = 0; i < ASKED; i++) clf_free(r[i].value);
    return good || library_failed(p);
}

/* Two values, no more and no less. */
static bool two_classes(l2svm *p, double lo, double hi, double known) {
    if (!(lo <= hi)) return fail(p, "the label column holds values that are no numbers");
    if (isinf(lo) || isinf(hi)) return fail(p, "the label column holds infinite values");
    if (lo == hi) return fail(p, "the label column has a single class: every label is %g", lo);
    return known == (double)p->n || fail(p, "the label column has more than two classes: %.0f of %lld labels are neither %g nor %g",
                                         (double)p->n - known, (long long)p->n, lo, hi);
}

/* How many cells are not is only asked where some are. */
static bool finite_features(l2svm *p, double zero) {
    double bad;
    if (zero == 0) return true;
    clf_mat *count = clf_expr(p->c, "sum(is.nan(X) | is.infinite(X))", &(clf_binding){"X", p->X}, 1);
    bool good = clf_read_f64(count, &bad) == CLF_OK;
    clf_free(count);
    return good ? fail(p, "the features hold %.0f cells that are NaN or infinite", bad) : library_failed(p);
}

static bool check(l2svm *p, clf_mat *labels) {
    double number[ASKED];
    return look(p, labels, number) && two_classes(p, number[LO_NUMBER], number[HI_NUMBER], number[KNOWN]) &&
           finite_features(p, number[ZERO]);
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
    if (!check(p, labels) || !prepare_features(p)) return false;
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
