/* SPDX-License-Identifier: Apache-2.0
 * Derivatives against difference quotients; see grad_check.h. */
#include "tests/support/grad_check.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void grad_params(clf_ctx *c, int n, const grad_var *v, clf_mat **param) {
    for (int i = 0; i < n; i++) param[i] = clf_param(c, CLF_F64, v[i].rows, v[i].cols, v[i].scalar);
}

static clf_mat *argument(clf_ctx *c, const grad_var *v) {
    return v->scalar ? clf_num(c, v->v[0]) : clf_matrix(c, CLF_F64, v->rows, v->cols, v->v);
}

static bool call(clf_ctx *c, clf_fn *f, int n, const grad_var *v, int nout, clf_mat **out) {
    clf_mat *arg[GRAD_MOST] = {NULL};
    for (int i = 0; i < n; i++) arg[i] = argument(c, &v[i]);
    clf_status st = clf_call(f, (size_t)n, arg, (size_t)nout, out);
    for (int i = 0; i < n; i++) clf_free(arg[i]);
    return st == CLF_OK;
}

/* The loss with one cell moved. */
static double moved(clf_ctx *c, clf_fn *f, int n, grad_var *v, int i, int k, double by) {
    double x = v[i].v[k], r = NAN;
    clf_mat *out = NULL;
    v[i].v[k] = x + by;
    if (call(c, f, n, v, 1, &out)) clf_read_f64(out, &r);
    v[i].v[k] = x;
    clf_free(out);
    return r;
}

static double quotient(clf_ctx *c, clf_fn *f, int n, grad_var *v, int i, int k, double h) {
    double x = v[i].v[k], up = (x + h) - x, down = x - (x - h);
    return (moved(c, f, n, v, i, k, up) - moved(c, f, n, v, i, k, -down)) / (up + down);
}

static bool compare(const char *what, const grad_var *v, int k, double got, double want, double tolerance, grad_seen *seen) {
    double error = fabs(got - want);
    bool sharp = tolerance <= 1e-6 * (1 + fabs(got)), good = sharp && error <= tolerance;
    seen->compared++;
    seen->other_than_zero += got != 0;
    if (good && error / tolerance > seen->worst) seen->worst = error / tolerance;
    if (!good) printf("\n    %s, by %s[%d]: %.17g, differences %.17g +- %.2g", what, v->name, k, got, want, tolerance);
    return good;
}

static bool check_cell(clf_ctx *c, clf_fn *f, const char *what, int n, grad_var *v, int i, int k, double size, double got,
                       grad_seen *seen) {
    double h = ldexp(fmax(1, fabs(v[i].v[k])), -13);
    double near = quotient(c, f, n, v, i, k, h), far = quotient(c, f, n, v, i, k, 2 * h);
    return compare(what, &v[i], k, got, (4 * near - far) / 3, fabs(far - near) / 64 + 64 * DBL_EPSILON * size / h, seen);
}

static bool check_var(clf_ctx *c, clf_fn *f, const char *what, int n, grad_var *v, int i, double size, const double *g, grad_seen *seen) {
    bool good = true;
    for (int k = 0; k < v[i].rows * v[i].cols; k++) {
        if (v[i].rough[k]) continue;
        if (v[i].idle)
            good &= compare(what, &v[i], k, g[k], 0, DBL_MIN, seen);
        else
            good &= check_cell(c, f, what, n, v, i, k, size, g[k], seen);
    }
    return good;
}

/* The size of what the loss is a sum of, as far as it can be seen from outside. */
static double size_of(double loss, int n, const grad_var *v, double (*g)[GRAD_CELLS]) {
    double size = 1 + fabs(loss);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < v[i].rows * v[i].cols; k++) size += fabs(g[i][k] * v[i].v[k]);
    return size;
}

static bool shape_is(const char *what, clf_mat *m, const grad_var *v) {
    int64_t rows = -1, cols = -1;
    clf_dtype t = CLF_U8;
    bool scalar = !v->scalar;
    clf_status st = clf_info(m, &rows, &cols, &t, &scalar);
    bool good = st == CLF_OK && rows == v->rows && cols == v->cols && t == CLF_F64 && scalar == v->scalar;
    if (!good) printf("\n    %s: the derivative by %s is another shape or type", what, v->name);
    return good;
}

static bool read_all(clf_ctx *c, const char *what, clf_fn *all, int n, const grad_var *v, double *loss, double (*g)[GRAD_CELLS]) {
    clf_mat *out[GRAD_MOST + 1] = {NULL};
    bool good = call(c, all, n, v, n + 1, out) && clf_read_f64(out[0], loss) == CLF_OK;
    for (int i = 0; i < n && good; i++)
        good = shape_is(what, out[i + 1], &v[i]) && clf_read(out[i + 1], g[i], (size_t)(v[i].rows * v[i].cols) * sizeof(double)) == CLF_OK;
    for (int i = 0; i <= n; i++) clf_free(out[i]);
    return good;
}

bool grad_check(clf_ctx *c, const char *what, clf_mat *loss, int n, const grad_var *given, clf_mat *const *param, grad_seen *seen) {
    clf_mat *result[GRAD_MOST + 1] = {loss};
    grad_var v[GRAD_MOST];
    clf_fn *f = NULL, *all = NULL;
    double at = NAN;
    memcpy(v, given, (size_t)n * sizeof *v);
    bool good = clf_grad(loss, (size_t)n, param, result + 1) == CLF_OK;
    good = good && clf_fn_new(c, (size_t)n, param, 1, &loss, &f) == CLF_OK;
    good = good && clf_fn_new(c, (size_t)n, param, (size_t)n + 1, result, &all) == CLF_OK;
    good = good && read_all(c, what, all, n, v, &at, seen->derivative);
    if (!good) printf("\n    %s: %s", what, clf_last_error(c));
    for (int i = 0; i < n && good; i++)
        good = check_var(c, f, what, n, v, i, size_of(at, n, v, seen->derivative), seen->derivative[i], seen);
    for (int i = 1; i <= n; i++) clf_free(result[i]);
    clf_fn_free(f);
    clf_fn_free(all);
    return good;
}

bool grad_check_text(clf_ctx *c, const char *text, int n, const grad_var *v, grad_seen *seen) {
    clf_mat *param[GRAD_MOST] = {NULL};
    clf_binding b[GRAD_MOST] = {{NULL, NULL}};
    grad_params(c, n, v, param);
    for (int i = 0; i < n; i++) b[i] = (clf_binding){v[i].name, param[i]};
    clf_mat *loss = clf_expr(c, text, b, (size_t)n);
    bool good = grad_check(c, text, loss, n, v, param, seen);
    clf_free(loss);
    for (int i = 0; i < n; i++) clf_free(param[i]);
    return good;
}
