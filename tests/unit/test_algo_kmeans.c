/* SPDX-License-Identifier: Apache-2.0
 * KMeans of the examples against plain C (tests/oracle/algo_kmeans.c): on clouds, on data of any scatter, on a real data set; sparse,
 * f32, on kernels and unfused; how it starts, and what cannot be clustered. */
#include "examples/kmeans.c"
#include "tests/unit/algo_testing.h"

static const alg_params plain = {.rank = 4, .tolerance = 1e-12, .iterations = 20, .seed = 3};
enum { ROWS = 700, COLS = 7 };

/* ---- against the reference */

static algo_plain reference(const double *x, int64_t n, int64_t m, const double *start, const alg_params *p) {
    algo_plain a = {.n = n, .m = m, .k = p->rank, .x = x, .tolerance = p->tolerance, .iterations = p->iterations, .start = {start}};
    a.model[0] = zeros_of(p->rank * m);
    a.model[1] = zeros_of(n);
    algo_kmeans(&a);
    return a;
}

static void compare(const alg_run *r, double bound) {
    double *x = cells_of(r->X), *start = cells_of(r->model[2].value), *centres = cells_of(r->model[0].value);
    double *at = cells_of(r->model[1].value);
    algo_plain a = reference(x, r->n, r->m, start, &r->p);
    CU_ASSERT(relative(r->objective, a.objective) <= bound);
    CU_ASSERT(apart(centres, a.model[0], r->p.rank * r->m) <= bound);
    CU_ASSERT_EQUAL(apart(at, a.model[1], r->n), 0);
    double *const all[] = {x, start, centres, at, a.model[0], a.model[1]};
    for (int i = 0; i < 6; i++) free(all[i]);
}

static clf_mat *generated(clf_ctx *c, clf_dtype t) {
    clf_mat *X, *y;
    CU_ASSERT_FATAL(alg_generate(&alg_kmeans, c, t, ROWS, COLS, &plain, &X, &y));
    CU_ASSERT_PTR_NULL(y);
    return X;
}

static void test_clouds(void) {
    clf_ctx *c = open_host();
    watch w;
    alg_run r = trained("kmeans", c, generated(c, CLF_F64), NULL, &plain, &w);
    compare(&r, 1e-12);
    watch_steady(&w, 0);
    CU_ASSERT(r.converged);
    for (int i = 1; i < w.n; i++) CU_ASSERT(w.objective[i] <= w.objective[i - 1] * (1 + 1e-12));
    clf_close(c);
}

/* No clouds: many iterations, stopped at the limit. */
static void test_noise(void) {
    const alg_params many = {.rank = 9, .tolerance = 1e-12, .iterations = 12, .seed = 5};
    clf_ctx *c = open_host();
    watch w;
    alg_run r = trained("kmeans", c, clf_rand(c, CLF_F64, ROWS, COLS, -1, 1, 1, 8), NULL, &many, &w);
    compare(&r, 1e-11);
    watch_steady(&w, 0);
    CU_ASSERT_FALSE(r.converged);
    CU_ASSERT_EQUAL(r.iterations, 12);
    clf_close(c);
}

static void test_f32(void) {
    clf_ctx *c = open_host();
    alg_run r = trained("kmeans", c, generated(c, CLF_F32), NULL, &plain, NULL);
    compare(&r, 2e-5);
    clf_close(c);
}

static void test_kernels(void) {
    clf_ctx *c = open_kernels();
    if (!c) return;
    watch w;
    alg_run r = trained("kmeans", c, generated(c, CLF_F64), NULL, &plain, &w);
    compare(&r, 1e-12);
    watch_steady(&w, 3); /* everything that can is a kernel here, and k numbers are transposed on the host before and after the pass */
    CU_ASSERT(w.last.launches_tier2 > 0);
    clf_close(c);
}

static void test_unfused(void) {
    clf_ctx *c = open_host(), *d = open_host();
    CU_ASSERT_EQUAL(clf_set(d, "fuse", "none"), CLF_OK);
    alg_run r = trained("kmeans", c, generated(c, CLF_F64), NULL, &plain, NULL);
    alg_run s = trained("kmeans", d, generated(d, CLF_F64), NULL, &plain, NULL);
    CU_ASSERT(relative(r.objective, s.objective) <= 1e-12);
    CU_ASSERT_EQUAL(r.iterations, s.iterations);
    CU_ASSERT(stats_of(c).bytes_written < stats_of(d).bytes_written / 4);
    compare(&s, 1e-12);
    clf_close(c);
    clf_close(d);
}

static void test_sparse(void) {
    clf_ctx *c = open_host();
    clf_mat *some = entries_of(clf_rand(c, CLF_F64, ROWS, 40, 0, 1, 0.1, 4));
    clf_storage s = {.struct_size = sizeof s};
    CU_ASSERT_EQUAL(clf_storage_of(some, &s), CLF_OK);
    CU_ASSERT_STRING_EQUAL(s.format, "csr");
    CU_ASSERT(s.structural);
    alg_run r = trained("kmeans", c, some, NULL, &plain, NULL);
    compare(&r, 1e-11);
    clf_close(c);
}

static void test_real(void) {
    char path[4096];
    if (!find_data("eeg.csv", path, sizeof path)) return;
    clf_ctx *c = open_host();
    const clf_load_options how = {.struct_size = sizeof how, .label = "Eye", .na = "drop"};
    const alg_params five = {.rank = 5, .tolerance = 1e-12, .iterations = 20, .seed = 1};
    clf_mat *label, *X = clf_load_with(c, path, &how, &label);
    alg_run r = trained("kmeans", c, X, NULL, &five, NULL);
    compare(&r, 1e-9);
    clf_close(c);
}

/* ---- how it starts */

/* k-means++ in plain C, from the numbers that the example draws with. */
static void plain_start(const double *x, const double *u, int64_t k, double *out) {
    double near[ROWS];
    for (int i = 0; i < ROWS; i++) near[i] = 1;
    for (int64_t j = 0; j < k; j++) {
        double all = 0, sum = 0;
        int at = 0;
        for (int i = 0; i < ROWS; i++) all += near[i];
        while (at < ROWS - 1 && (sum += near[at]) < u[j] * all) at++;
        memcpy(out + j * COLS, x + at * COLS, COLS * sizeof *out);
        for (int i = 0; i < ROWS; i++) {
            double d = 0;
            for (int l = 0; l < COLS; l++) d += (x[i * COLS + l] - out[j * COLS + l]) * (x[i * COLS + l] - out[j * COLS + l]);
            near[i] = j == 0 || d < near[i] ? d : near[i];
        }
    }
}

static void test_start(void) {
    clf_ctx *c = open_host();
    for (uint64_t seed = 1; seed <= 5; seed++) {
        alg_params p = plain;
        p.seed = seed;
        p.iterations = 1;
        alg_run r = trained("kmeans", c, generated(c, CLF_F64), NULL, &p, NULL);
        double *x = cells_of(r.X), *u = cells_of(clf_rand(c, CLF_F64, p.rank, 1, 0, 1, 1, seed)), *got = cells_of(r.model[2].value);
        double want[4 * COLS];
        plain_start(x, u, p.rank, want);
        CU_ASSERT_EQUAL(memcmp(got, want, sizeof want), 0);
        free(x);
        free(u);
        free(got);
    }
    clf_close(c);
}

/* By entries the same rows are drawn; the same row again is no distance away, in either type, wherever it lies. */
static void test_start_sparse(void) {
    clf_ctx *c = open_host();
    for (uint64_t seed = 1; seed <= 5; seed++) {
        alg_params p = plain;
        p.seed = seed;
        clf_mat *X = clf_rand(c, CLF_F64, ROWS, COLS, 0, 1, 0.3, seed);
        alg_run dense = trained("kmeans", c, X, NULL, &p, NULL), sparse = trained("kmeans", c, entries_of(X), NULL, &p, NULL);
        double *want = cells_of(dense.model[2].value), *got = cells_of(sparse.model[2].value);
        CU_ASSERT_EQUAL(memcmp(got, want, 4 * COLS * sizeof *want), 0);
        CU_ASSERT(relative(sparse.objective, dense.objective) <= 1e-12);
        free(want);
        free(got);
    }
    for (int t = 0; t < 2; t++) {
        clf_mat *three = clf_rand(c, t ? CLF_F32 : CLF_F64, 3, 200, 1, 1000, 0.2, 77); /* each of them many times */
        const clf_binding vars[] = {{"A", three}, {"n", clf_int(c, 300)}};
        clf_mat *X =
            clf_cast(clf_expr(c, "outer(seq(1, n) - 3*floor((seq(1, n) - 1)/3), seq(1, 3), \"==\") %*% A", vars, 2), t ? CLF_F32 : CLF_F64);
        refused("kmeans", c, entries_of(X), NULL, &plain, "4 clusters, but only 3 distinct rows");
    }
    clf_close(c);
}

/* ---- clusters that are empty, rows in between */

static void one_step(const double *x, int64_t n, const double *centres, const double *want, double rest) {
    clf_ctx *c = open_host();
    clf_mat *C = clf_param(c, CLF_F64, 2, 2, false), *out[] = {NULL, NULL}, *at = clf_matrix(c, CLF_F64, 2, 2, centres);
    const clf_binding vars[] = {{"C", C}, {"X", clf_matrix(c, CLF_F64, n, 2, x)}};
    clf_fn *f;
    CU_ASSERT_EQUAL_FATAL(clf_fn_parse(c, step_text, 1, vars, 2, &f), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_call(f, 1, &at, 2, out), CLF_OK);
    double *got = cells_of(out[0]);
    for (int i = 0; i < 4; i++) CU_ASSERT_EQUAL(got[i], want[i]);
    CU_ASSERT_EQUAL(read_f64(out[1]), rest);
    free(got);
    clf_close(c);
}

static void test_empty(void) {
    const double x[] = {1, 2, 3, 4}, centres[] = {2, 2, 100, -7}, want[] = {2, 3, 100, -7};
    one_step(x, 2, centres, want, -2 * (6 + 14) + 2 * 8);
}

/* The middle row belongs to both. */
static void test_shared(void) {
    const double x[] = {0, 0, 3, 0, 6, 0}, centres[] = {1, 0, 5, 0}, want[] = {1, 0, 5, 0};
    one_step(x, 3, centres, want, 1 + (-6 + 1) + (-60 + 25));
}

/* As many clusters as rows: each is its own. */
static void test_all_rows(void) {
    const double x[] = {1, 5, 2, 9, 2, 5, 1, 9};
    alg_params p = plain;
    clf_ctx *c = open_host();
    alg_run r = trained("kmeans", c, clf_matrix(c, CLF_F64, 4, 2, x), NULL, &p, NULL);
    CU_ASSERT_DOUBLE_EQUAL(r.objective, 0, 1e-13);
    CU_ASSERT(r.converged);
    p.rank = 1;
    r = trained("kmeans", c, clf_matrix(c, CLF_F64, 4, 2, x), NULL, &p, NULL);
    CU_ASSERT_DOUBLE_EQUAL(r.objective, 17, 1e-12); /* four times 0.25 and 4 */
    clf_close(c);
}

static void test_bad(void) {
    const double twice[] = {1, 2, 1, 2, 3, 4, 3, 4, 1, 2}, holes[] = {1, NAN, 2, INFINITY}, huge[] = {1e200, 1, 2, -1e200};
    const int32_t whole[] = {1, 2, 3, 4};
    clf_ctx *c = open_host();
    alg_params p = plain;
    refused("kmeans", c, clf_matrix(c, CLF_F64, 5, 2, twice), NULL, &p, "4 clusters, but only 2 distinct rows");
    p.rank = 2;
    refused("kmeans", c, clf_matrix(c, CLF_F64, 2, 2, holes), NULL, &p, "2 cells that are NaN or infinite");
    refused("kmeans", c, clf_matrix(c, CLF_F64, 2, 2, huge), NULL, &p, "beyond the range");
    refused("kmeans", c, entries_of(clf_matrix(c, CLF_F64, 2, 2, huge)), NULL, &p, "beyond the range");
    refused("kmeans", c, clf_matrix(c, CLF_I32, 2, 2, whole), NULL, &p, "neither f64 nor f32");
    p.rank = 3;
    refused("kmeans", c, clf_matrix(c, CLF_F64, 2, 2, twice), NULL, &p, "3 clusters of 2 rows");
    p.rank = 0;
    refused("kmeans", c, clf_matrix(c, CLF_F64, 2, 2, twice), NULL, &p, "0 clusters of 2 rows");
    clf_close(c);
}

static const test_case tests[] = {
    {"clouds", test_clouds},       {"noise", test_noise},       {"f32", test_f32},
    {"kernels", test_kernels},     {"unfused", test_unfused},   {"sparse", test_sparse},
    {"real data", test_real},      {"start", test_start},       {"start by entries", test_start_sparse},
    {"empty cluster", test_empty}, {"shared row", test_shared}, {"all rows", test_all_rows},
    {"bad input", test_bad},
};

int main(void) { return run_suite("algo kmeans", tests, sizeof tests / sizeof *tests); }
