/* SPDX-License-Identifier: Apache-2.0
 * ALS-CG of the examples: the iterations of plain C from the same start, and the minimum that exact halves reach; sparse and dense
 * ratings, f64 and f32, the host and OpenCL, every selector; rows and columns without ratings; what cannot be trained on. */
#include "tests/unit/factors_testing.h"

extern const algorithm alg_als_cg;
static const algorithm *const als = &alg_als_cg;
static const alg_params ten = {.lambda = 1e-2, .tolerance = 0, .iterations = 10, .rank = 5, .seed = 3};

enum { N = 150, M = 60, K = 5 };

/* Train on the way X is stored in c, against the oracle. */
static void against_oracle(clf_ctx *c, clf_dtype t, bool sparse, const alg_params *p, double objective, double prediction) {
    factors f = factors_data(N, M, K, 0.3, 7);
    clf_mat *X = sparse ? factors_sparse(c, t, &f) : factors_dense(c, t, &f);
    factors_train(als, c, X, p, &f);
    factors want = factors_oracle(als, c, X, p, &f, algo_als_cg);
    CU_ASSERT_EQUAL(f.iterations, p->iterations);
    factors_same(&f, &want, objective, prediction);
    free(f.x);
    free(want.x);
    clf_close(c);
}

static void test_host(void) { against_oracle(open_host(), CLF_F64, true, &ten, 1e-9, 1e-6); }
static void test_dense(void) { against_oracle(open_host(), CLF_F64, false, &ten, 1e-9, 1e-6); }
static void test_f32(void) { against_oracle(open_host(), CLF_F32, true, &ten, 1e-4, 1e-2); }

static void test_kernels(void) {
    clf_ctx *c = open_kernels();
    if (!c) return;
    against_oracle(c, CLF_F64, true, &ten, 1e-9, 1e-6);
    against_oracle(open_kernels(), CLF_F32, true, &ten, 1e-4, 1e-2);
}

static void test_selectors(void) {
    static const char *const fuse[] = {"none", "all", "nored"};
    for (int i = 0; i < 3; i++) {
        clf_ctx *c = open_host();
        CU_ASSERT_EQUAL(clf_set(c, "fuse", fuse[i]), CLF_OK);
        against_oracle(c, CLF_F64, true, &ten, 1e-9, 1e-6);
    }
}

static void test_inner(void) {
    alg_params p = ten;
    p.inner = 2;
    against_oracle(open_host(), CLF_F64, true, &p, 1e-9, 1e-6);
}

/* With steps enough, halves are solved as exactly as their tolerance says, and the minimum is that of exact ones. */
static void test_minimum(void) {
    const alg_params p = {.lambda = 0.2, .tolerance = 1e-12, .iterations = 500, .inner = 50, .rank = 2, .seed = 3};
    clf_ctx *c = open_host();
    factors f = factors_data(60, 40, 2, 0.5, 11);
    clf_mat *X = factors_sparse(c, CLF_F64, &f);
    alg_run r = factors_train(als, c, X, &p, &f);
    factors want = factors_oracle(als, c, X, &p, &f, algo_als_exact);
    CU_ASSERT(r.converged);
    CU_ASSERT(r.iterations > 5 && r.iterations < 500);
    factors_same(&f, &want, 1e-6, 1e-3);
    free(f.x);
    free(want.x);
    clf_close(c);
}

/* Rows and columns without ratings keep factors of 0, and the others do not notice them. */
static void test_empty(void) {
    clf_ctx *c = open_host();
    factors f = factors_data(40, 30, 3, 0.4, 5);
    for (int64_t j = 0; j < 30; j++) f.x[7 * 30 + j] = f.x[39 * 30 + j] = 0;
    for (int64_t i = 0; i < 40; i++) f.x[i * 30] = f.x[i * 30 + 12] = 0;
    alg_params p = ten;
    p.rank = 3;
    clf_mat *X = factors_sparse(c, CLF_F64, &f);
    factors_train(als, c, X, &p, &f);
    for (int l = 0; l < 3; l++) {
        CU_ASSERT_EQUAL(f.u[7 * 3 + l], 0);
        CU_ASSERT_EQUAL(f.u[39 * 3 + l], 0);
        CU_ASSERT_EQUAL(f.v[l], 0);
        CU_ASSERT_EQUAL(f.v[12 * 3 + l], 0);
        CU_ASSERT(f.u[l] != 0 && f.v[3 + l] != 0);
    }
    factors want = factors_oracle(als, c, X, &p, &f, algo_als_cg);
    factors_same(&f, &want, 1e-9, 1e-6);
    free(f.x);
    free(want.x);
    clf_close(c);
}

/* Equations without a single solution: fewer ratings than unknowns, and no weight on the factors. */
static void test_singular(void) {
    const double few[12] = {1, 0, 0, 0, 2, 0, 3, 0, 0, 0, 0, 0};
    alg_params p = {.lambda = 0, .tolerance = 0, .iterations = 30, .rank = 7, .seed = 1};
    clf_ctx *c = open_host();
    factors f = factors_of(3, 4, 7);
    memcpy(f.x, few, sizeof few);
    factors_watch w = {.c = c};
    alg_run r = {.c = c, .X = factors_sparse(c, CLF_F64, &f), .p = p, .each = factors_look, .user = &w};
    CU_ASSERT_FATAL(als->train(&r));
    for (int i = 1; i < w.n; i++) CU_ASSERT(w.objective[i] <= w.objective[i - 1] * (1 + 1e-12) + 1e-28);
    CU_ASSERT(r.objective >= 0 && r.objective < 1e-6);
    free(f.x);
    clf_close(c);
}

/* A loss of 0 ends the training: nothing is divided by it. */
static void test_perfect(void) {
    const alg_params p = {.lambda = 0, .tolerance = 1e-12, .iterations = 50, .rank = 1, .seed = 1};
    const double x[4] = {1, 2, 2, 4};
    clf_ctx *c = open_host();
    alg_run r = factors_run(als, c, clf_matrix(c, CLF_F64, 2, 2, x), &p);
    CU_ASSERT(r.objective < 1e-20);
    CU_ASSERT(r.iterations <= 50);
    clf_close(c);
}

/* Half an iteration is one call for the gradient, and one for each step of conjugate gradients. */
static void steady(clf_ctx *c) {
    alg_params p = ten;
    factors f = factors_data(N, M, K, 0.3, 7);
    p.iterations = 6;
    p.inner = 3;
    factors_steady(als, c, factors_sparse(c, CLF_F64, &f), &p, 1 + 6 * 2 * (1 + 3), 1); /* one of the two `begin` */
    free(f.x);
    clf_close(c);
}

static void test_steady(void) {
    steady(open_host());
    clf_ctx *c = open_kernels();
    if (c) steady(c);
}

/* The cells of U %*% t(V) are never made: 32 MB of them. */
static void test_memory(void) {
    alg_params p = ten;
    clf_ctx *c = open_host();
    int64_t offset[4001];
    int32_t index[8000];
    double value[8000];
    for (int i = 0; i <= 4000; i++) offset[i] = 2 * i;
    for (int i = 0; i < 8000; i++) index[i] = (i / 2 * 7 + i % 2 * 400) % 600 + i % 2 * 400, value[i] = 1 + i % 5;
    p.iterations = 1;
    factors_run(als, c, clf_sparse_csr(c, CLF_F64, 4000, 1000, 8000, offset, index, value, NULL), &p);
    clf_mem_stats s = {.struct_size = sizeof s};
    clf_get_mem_stats(c, &s);
    CU_ASSERT(s.peak > 0 && s.peak < 8000000);
    clf_close(c);
}

/* All cells of a table, as ratings. */
static void test_real(void) {
    const alg_params p = {.lambda = 1e-3, .tolerance = 1e-12, .iterations = 8, .rank = 3, .seed = 1};
    factors_real(als, &p, algo_als_cg, 1e-6, 1e-5);
}

static void test_refused(void) {
    const double nan[4] = {1, NAN, 0, 2}, inf[4] = {1, 0, INFINITY, NAN}, zero[4] = {0}, large[4] = {1e200, 0, 1e200, 1},
                 fine[4] = {1, 0, 0, 2};
    alg_params p = ten;
    factors_refused(als, CLF_F64, 2, 2, nan, &p, "hold 1 cells that are NaN or infinite");
    factors_refused(als, CLF_F64, 2, 2, inf, &p, "hold 2 cells that are NaN or infinite");
    factors_refused(als, CLF_F64, 2, 2, zero, &p, "no ratings");
    factors_refused(als, CLF_F64, 2, 2, large, &p, "the loss is not a finite number");
    factors_refused(als, CLF_I64, 2, 2, fine, &p, "neither f64 nor f32");
    p.rank = 0;
    factors_refused(als, CLF_F64, 2, 2, fine, &p, "the rank is 0");
    p.rank = 2;
    p.lambda = -1;
    factors_refused(als, CLF_F64, 2, 2, fine, &p, "lambda is -1");
    p.lambda = NAN;
    factors_refused(als, CLF_F64, 2, 2, fine, &p, "lambda is");
}

static const test_case tests[] = {
    {"host", test_host},     {"dense", test_dense},     {"f32", test_f32},     {"kernels", test_kernels},   {"selectors", test_selectors},
    {"inner", test_inner},   {"minimum", test_minimum}, {"empty", test_empty}, {"singular", test_singular}, {"perfect", test_perfect},
    {"steady", test_steady}, {"memory", test_memory},   {"real", test_real},   {"refused", test_refused},
};

int main(void) { return run_suite("als_cg", tests, sizeof tests / sizeof *tests); }
