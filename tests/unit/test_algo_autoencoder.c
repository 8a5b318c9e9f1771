/* SPDX-License-Identifier: Apache-2.0
 * The autoencoder of the examples against backward propagation in plain C (tests/oracle/algo_autoencoder.c): batches that do not divide
 * the rows, several passes, columns that are scaled; sparse, f32, on kernels and unfused; and what cannot be trained. */
#include "tests/unit/algo_testing.h"

enum { ROWS = 230, COLS = 11, UNITS = 9, CODE = 2, WEIGHTS = 8 };
static const alg_params plain = {.rank = UNITS, .batch = 64, .step = 0.5, .seed = 7};

/* The first weights, as the example has them. */
static double *start_of(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, uint64_t seed) {
    double most = sqrt(6.0 / (double)(rows + cols));
    return cells_of(clf_rand(c, t, rows, cols, -most, most, 1, seed));
}

/* x: what the network is given. */
static void compare(const alg_run *r, const double *x, double bound) {
    const int64_t width[] = {r->m, r->p.rank, CODE, r->p.rank, r->m};
    algo_plain a = {.n = r->n, .m = r->m, .k = r->p.rank, .x = x, .step = r->p.step, .iterations = r->iterations, .batch = r->p.batch};
    double *start[4];
    for (int i = 0; i < 4; i++) {
        a.start[i] = start[i] = start_of(r->c, r->type, width[i], width[i + 1], r->p.seed + (uint64_t)i);
        a.model[2 * i] = zeros_of(width[i] * width[i + 1]);
        a.model[2 * i + 1] = zeros_of(width[i + 1]);
    }
    algo_autoencoder(&a);
    CU_ASSERT(relative(r->objective, a.objective) <= bound);
    for (int i = 0; i < WEIGHTS; i++) {
        double *got = cells_of(r->model[i].value);
        CU_ASSERT(apart(got, a.model[i], (i % 2 ? 1 : width[i / 2]) * width[i / 2 + 1]) <= bound);
        free(got);
        free(a.model[i]);
    }
    for (int i = 0; i < 4; i++) free(start[i]);
}

static clf_mat *generated(clf_ctx *c, clf_dtype t) {
    clf_mat *X, *y;
    CU_ASSERT_FATAL(alg_generate(algorithm_named("autoencoder"), c, t, ROWS, COLS, &plain, &X, &y));
    return X;
}

static alg_run check(clf_ctx *c, clf_dtype t, const alg_params *p, double bound, watch *w) {
    clf_mat *X = generated(c, t);
    alg_run r = trained("autoencoder", c, X, NULL, p, w);
    double *x = cells_of(X);
    compare(&r, x, bound);
    free(x);
    return r;
}

/* Every row once: 64 + 64 + 64 + 38. */
static void test_one_pass(void) {
    clf_ctx *c = open_host();
    alg_run r = check(c, CLF_F64, &plain, 1e-12, NULL);
    CU_ASSERT_EQUAL(r.iterations, 4);
    CU_ASSERT(r.converged);
    clf_close(c);
}

/* Nothing is planned once both sizes of a batch have been seen; no rows are copied. */
static void test_passes(void) {
    alg_params p = plain;
    p.iterations = 4 * 25 + 2;
    p.step = 4;
    clf_ctx *c = open_host();
    watch w;
    alg_run r = check(c, CLF_F64, &p, 1e-9, &w);
    CU_ASSERT_EQUAL(r.iterations, 102);
    CU_ASSERT(w.last.plans - w.second.plans <= 1); /* that of the last rows */
    CU_ASSERT_EQUAL(w.last.launches_convert, w.second.launches_convert);
    double first = 0, last = 0;
    for (int i = 0; i < 4; i++) first += w.objective[i], last += w.objective[96 + i];
    CU_ASSERT(last < 0.8 * first);
    clf_close(c);
}

static void test_batches(void) {
    static const int64_t batch[] = {1, ROWS - 1, ROWS, ROWS + 5, 46};
    for (size_t i = 0; i < sizeof batch / sizeof *batch; i++) {
        alg_params p = plain;
        p.batch = batch[i];
        p.iterations = 7;
        clf_ctx *c = open_host();
        check(c, CLF_F64, &p, 1e-12, NULL);
        clf_close(c);
    }
}

static void test_f32(void) {
    clf_ctx *c = open_host();
    check(c, CLF_F32, &plain, 1e-5, NULL);
    clf_close(c);
}

static void test_kernels(void) {
    clf_ctx *c = open_kernels();
    if (!c) return;
    alg_params p = plain;
    p.iterations = 12;
    watch w;
    check(c, CLF_F64, &p, 1e-12, &w);
    CU_ASSERT(w.last.launches_tier2 > 0);
    CU_ASSERT_EQUAL(w.last.kernels_built, w.second.kernels_built);
    clf_close(c);
}

static void test_unfused(void) {
    clf_ctx *c = open_host(), *d = open_host();
    CU_ASSERT_EQUAL(clf_set(d, "fuse", "none"), CLF_OK);
    watch w, v;
    check(c, CLF_F64, &plain, 1e-12, &w);
    check(d, CLF_F64, &plain, 1e-12, &v);
    for (int i = 0; i < w.n; i++) CU_ASSERT_DOUBLE_EQUAL(w.objective[i], v.objective[i], 1e-12 * v.objective[i]);
    CU_ASSERT(w.last.bytes_written < v.last.bytes_written);
    clf_close(c);
    clf_close(d);
}

/* Columns beyond 0 and 1, one constant, stored as entries: scaled, the constant one to 0. */
static void test_scaled(void) {
    clf_ctx *c = open_host();
    clf_mat *dense = generated(c, CLF_F64);
    const clf_binding vars[] = {{"X", dense}};
    clf_mat *X = entries_of(clf_expr(c, "cbind((X > 0.6) * X * 300 - (X < 0.2), matrix(5, rows=nrow(X), cols=1))", vars, 1));
    alg_run r = trained("autoencoder", c, X, NULL, &plain, NULL);
    double *x = cells_of(X);
    int64_t n = r.n, m = r.m;
    CU_ASSERT_EQUAL(m, COLS + 1);
    for (int64_t j = 0; j < m; j++) {
        double low = x[j], high = x[j];
        for (int64_t i = 0; i < n; i++) low = fmin(low, x[i * m + j]), high = fmax(high, x[i * m + j]);
        for (int64_t i = 0; i < n; i++) x[i * m + j] = high > low ? (x[i * m + j] - low) / (high - low) : 0;
    }
    compare(&r, x, 1e-12);
    free(x);
    clf_close(c);
}

static void test_bad(void) {
    const double hole[] = {0, 1, NAN, 1};
    clf_ctx *c = open_host();
    clf_mat *X = generated(c, CLF_F64);
    alg_params p = plain;
    refused("autoencoder", c, clf_matrix(c, CLF_F64, 2, 2, hole), NULL, &p, "1 cells that are NaN or infinite");
    p.step = 1e300; /* beyond f32 */
    refused("autoencoder", c, generated(c, CLF_F32), NULL, &p, "step 1e+300 is too large");
    p.step = INFINITY;
    refused("autoencoder", c, X, NULL, &p, "the step must be positive, not inf");
    p.step = 0;
    refused("autoencoder", c, X, NULL, &p, "the step must be positive, not 0");
    p = plain;
    p.batch = 0;
    refused("autoencoder", c, X, NULL, &p, "batches of 0 rows");
    p = plain;
    p.rank = 0;
    refused("autoencoder", c, X, NULL, &p, "a layer of 0 units");
    clf_close(c);
}

static const test_case tests[] = {
    {"one pass", test_one_pass}, {"passes", test_passes},   {"batches", test_batches}, {"f32", test_f32},
    {"kernels", test_kernels},   {"unfused", test_unfused}, {"scaled", test_scaled},   {"bad input", test_bad},
};

int main(void) { return run_suite("algo autoencoder", tests, sizeof tests / sizeof *tests); }
