/* SPDX-License-Identifier: Apache-2.0
 * The table of the algorithms, and what their files share. */
#include "examples/algorithm.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { RESULTS = 8 }; /* of a program whose results are numbers */

extern const algorithm alg_l2svm, alg_mlogreg, alg_glm_probit, alg_glm_poisson, alg_kmeans, alg_als_cg, alg_autoencoder, alg_gnmf,
    alg_pagerank;

const algorithm *const algorithms[] = {&alg_l2svm,  &alg_mlogreg,     &alg_glm_probit, &alg_glm_poisson, &alg_kmeans,
                                       &alg_als_cg, &alg_autoencoder, &alg_gnmf,       &alg_pagerank,    NULL};

const algorithm *algorithm_named(const char *name) {
    for (int i = 0; algorithms[i]; i++)
        if (strcmp(algorithms[i]->name, name) == 0) return algorithms[i];
    return NULL;
}

bool alg_generate(const algorithm *a, clf_ctx *c, clf_dtype type, int64_t rows, int64_t cols, const alg_params *p, clf_mat **X,
                  clf_mat **y) {
    clf_binding vars[] = {
        {"n", clf_int(c, rows)}, {"m", clf_int(c, cols)}, {"k", clf_int(c, p->rank)}, {"seed", clf_int(c, (int64_t)p->seed)}};
    clf_result r[16];
    size_t n = 16;
    *X = *y = NULL;
    if (clf_parse(c, a->generate, vars, 4, r, &n) != CLF_OK) return false;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(r[i].name, "X") == 0) *X = clf_cast(r[i].value, type);
        if (strcmp(r[i].name, "y") == 0) *y = clf_cast(r[i].value, type);
    }
    clf_mat *both[] = {*X, *y};
    return clf_eval(*y ? 2 : 1, both) == CLF_OK;
}

bool alg_fail(alg_run *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(r->why, sizeof r->why, format, args);
    va_end(args);
    return false;
}

bool alg_library_failed(alg_run *r) { return alg_fail(r, "%s", clf_last_error(r->c)); }

bool alg_numbers(alg_run *r, const char *text, const clf_binding *vars, size_t nvars, size_t n, double *out) {
    clf_result all[RESULTS];
    clf_mat *x[RESULTS];
    size_t nall = RESULTS, found = 0;
    size_t mark = clf_epoch_begin(r->c);
    bool good = clf_parse(r->c, text, vars, nvars, all, &nall) == CLF_OK;
    for (size_t i = 0; good && i < nall; i++)
        if (all[i].bare) x[found++] = all[i].value;
    good = good && found == n && clf_eval(n, x) == CLF_OK;
    for (size_t i = 0; good && i < n; i++) good = clf_read_f64(x[i], &out[i]) == CLF_OK;
    if (!good) alg_library_failed(r);
    clf_epoch_end(r->c, mark);
    return good;
}

static bool all_finite(alg_run *r, const char *what, clf_mat *x, double zero) {
    double bad;
    if (zero == 0) return true;
    if (!alg_numbers(r, "sum(is.nan(X) | is.infinite(X))", &(clf_binding){"X", x}, 1, 1, &bad)) return false;
    return alg_fail(r, "the %s hold %.0f cells that are NaN or infinite", what, bad);
}

/* Times 0, NaN and infinite cells are NaN. */
static bool cells_finite(alg_run *r, const char *asked, size_t n, double *out) {
    const clf_binding vars[] = {{"X", r->X}, {"y", r->y}};
    const size_t own = r->y ? 2 : 1;
    double number[RESULTS];
    char text[512];
    snprintf(text, sizeof text, "sum(X*0)%s\n%s", r->y ? "; sum(y*0)" : "", asked);
    if (!alg_numbers(r, text, vars, own, own + n, number)) return false;
    for (size_t i = 0; i < n; i++) out[i] = number[own + i];
    return all_finite(r, "data", r->X, number[0]) && (!r->y || all_finite(r, "labels", r->y, number[1]));
}

bool alg_check(alg_run *r, const char *asked, size_t n, double *out) {
    int64_t rows, cols;
    r->objective = NAN;
    r->iterations = r->calls = 0;
    r->converged = false;
    if (clf_info(r->X, &r->n, &r->m, &r->type, NULL) != CLF_OK) return alg_library_failed(r);
    if (r->type != CLF_F64 && r->type != CLF_F32) return alg_fail(r, "the data is neither f64 nor f32");
    if (r->n < 1 || r->m < 1) return alg_fail(r, "the data is empty: %lld x %lld", (long long)r->n, (long long)r->m);
    if (!r->y) return !asked || cells_finite(r, asked, n, out);
    if (clf_info(r->y, &rows, &cols, NULL, NULL) != CLF_OK) return alg_library_failed(r);
    if (rows != r->n || cols != 1)
        return alg_fail(r, "%lld rows of data, but the labels are %lld x %lld", (long long)r->n, (long long)rows, (long long)cols);
    return !asked || cells_finite(r, asked, n, out);
}

bool alg_fn(alg_run *r, const char *text, size_t nparams, const clf_binding *vars, size_t nvars, clf_fn **out) {
    return clf_fn_parse(r->c, text, nparams, vars, nvars, out) == CLF_OK || alg_library_failed(r);
}

bool alg_call(alg_run *r, clf_fn *f, size_t nargs, clf_mat *const *args, size_t nouts, clf_mat **outs) {
    r->calls++;
    return clf_call(f, nargs, args, nouts, outs) == CLF_OK || alg_library_failed(r);
}

bool alg_goes_on(alg_run *r, double objective) {
    double before = r->objective;
    r->objective = objective;
    r->iterations++;
    if (r->each) r->each(r->user, r->iterations, objective);
    r->converged = fabs(before - objective) <= r->p.tolerance * fabs(objective); /* NaN before the first */
    return !r->converged && isfinite(objective) && r->iterations < r->p.iterations;
}

bool alg_by_entries(const alg_run *r, bool structural) {
    clf_storage s = {.struct_size = sizeof s};
    return clf_storage_of(r->X, &s) == CLF_OK && strcmp(s.format, "csr") == 0 && (s.structural || !structural);
}

clf_mat *alg_entries(alg_run *r) {
    const clf_sparse_options checked = {.struct_size = sizeof checked, .trusted = true};
    const int64_t *offsets;
    const int32_t *indices;
    const void *values;
    int64_t nnz;
    if (alg_by_entries(r, true)) return r->X;
    if (clf_data_csr(r->X, &nnz, &offsets, &indices, &values) != CLF_OK) return alg_library_failed(r), NULL;
    return clf_sparse_csr(r->c, r->type, r->n, r->m, nnz, offsets, indices, values, &checked);
}
