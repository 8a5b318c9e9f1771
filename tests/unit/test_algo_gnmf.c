/* SPDX-License-Identifier: Apache-2.0
 * GNMF of the examples: the iterations of plain C from the same start, with the objective of all cells; sparse and dense data, f64 and
 * f32, the host and OpenCL, every selector; an objective that never rises; what cannot be trained on. */
#include "tests/unit/factors_testing.h"

extern const algorithm alg_gnmf;
static const algorithm *const gnmf = &alg_gnmf;
static const alg_params ten = {.tolerance = 0, .iterations = 10, .rank = 5, .seed = 3};

enum { N = 150, M = 60, K = 5 };

typedef struct trial {
    clf_dtype type;
    double share; /* of cells that are not 0 */
    bool sparse;  /* stored so */
    double objective, prediction;
} trial;

static void against_oracle(clf_ctx *c, const trial *t) {
    factors f = factors_data(N, M, K, t->share, 7);
    clf_mat *X = t->sparse ? factors_sparse(c, t->type, &f) : factors_dense(c, t->type, &f);
    factors_train(gnmf, c, X, &ten, &f);
    factors want = factors_oracle(gnmf, c, X, &ten, &f, algo_gnmf);
    CU_ASSERT_EQUAL(f.iterations, ten.iterations);
    factors_same(&f, &want, t->objective, t->prediction);
    free(f.x);
    free(want.x);
    clf_close(c);
}

static const trial few = {CLF_F64, 0.1, true, 1e-11, 1e-9}, few_dense = {CLF_F64, 0.1, false, 1e-11, 1e-9},
                   all = {CLF_F64, 1, false, 1e-11, 1e-9}, all_sparse = {CLF_F64, 0.7, true, 1e-11, 1e-9},
                   few_f32 = {CLF_F32, 0.1, true, 1e-4, 1e-3}, all_f32 = {CLF_F32, 1, false, 1e-3, 1e-3};

static void test_sparse(void) { against_oracle(open_host(), &few); }
static void test_dense(void) { against_oracle(open_host(), &all); }

static void test_stored(void) {
    against_oracle(open_host(), &few_dense);
    against_oracle(open_host(), &all_sparse);
}

static void test_f32(void) {
    against_oracle(open_host(), &few_f32);
    against_oracle(open_host(), &all_f32);
}

static void test_kernels(void) {
    static const trial *const trials[] = {&few, &all, &few_f32};
    for (int i = 0; i < 3; i++) {
        clf_ctx *c = open_kernels();
        if (c) against_oracle(c, trials[i]);
    }
}

static void test_selectors(void) {
    static const char *const fuse[] = {"none", "all", "nored"};
    for (int i = 0; i < 6; i++) {
        clf_ctx *c = open_host();
        CU_ASSERT_EQUAL(clf_set(c, "fuse", fuse[i / 2]), CLF_OK);
        against_oracle(c, i % 2 ? &few : &all);
    }
}

/* The theorem: no update makes the objective larger. */
static void test_never_rises(void) {
    const alg_params p = {.tolerance = 0, .iterations = 60, .rank = 4, .seed = 9};
    clf_ctx *c = open_host();
    factors f = factors_data(80, 50, 4, 0.3, 2);
    factors_watch w = {.c = c};
    alg_run r = {.c = c, .X = factors_sparse(c, CLF_F64, &f), .p = p, .each = factors_look, .user = &w};
    CU_ASSERT_FATAL(gnmf->train(&r));
    CU_ASSERT_EQUAL(w.n, 60);
    for (int i = 1; i < w.n; i++) CU_ASSERT(w.objective[i] <= w.objective[i - 1] * (1 + 1e-13));
    CU_ASSERT(w.objective[59] < 0.99 * w.objective[0]);
    free(f.x);
    clf_close(c);
}

/* Rows and columns of zeros get factors of 0, exactly. */
static void test_empty(void) {
    clf_ctx *c = open_host();
    factors f = factors_data(40, 30, 3, 0.4, 5);
    for (int64_t j = 0; j < 30; j++) f.x[7 * 30 + j] = 0;
    for (int64_t i = 0; i < 40; i++) f.x[i * 30 + 12] = 0;
    alg_params p = ten;
    p.rank = 3;
    clf_mat *X = factors_sparse(c, CLF_F64, &f);
    factors_train(gnmf, c, X, &p, &f);
    for (int l = 0; l < 3; l++) {
        CU_ASSERT_EQUAL(f.u[7 * 3 + l], 0);
        CU_ASSERT_EQUAL(f.v[12 * 3 + l], 0);
        CU_ASSERT(f.u[l] > 0 && f.v[l] > 0);
    }
    factors want = factors_oracle(gnmf, c, X, &p, &f, algo_gnmf);
    factors_same(&f, &want, 1e-11, 1e-9);
    free(f.x);
    free(want.x);
    clf_close(c);
}

/* A fit as good as rounding shows ends the training; more factors than rows do no harm. */
static void test_perfect(void) {
    const alg_params p = {.tolerance = 1e-12, .iterations = 2000, .rank = 1, .seed = 1};
    const double x[6] = {1, 2, 3, 2, 4, 6}, y[4] = {1, 0, 0, 3};
    alg_params many = p;
    clf_ctx *c = open_host();
    alg_run r = factors_run(gnmf, c, clf_matrix(c, CLF_F64, 2, 3, x), &p);
    CU_ASSERT(r.objective >= 0 && r.objective < 1e-12);
    CU_ASSERT(r.converged);
    many.rank = 5;
    r = factors_run(gnmf, c, clf_matrix(c, CLF_F64, 2, 2, y), &many);
    CU_ASSERT(r.objective >= 0 && r.objective < 1e-6);
    clf_close(c);
}

/* Two calls an iteration. */
static void steady(clf_ctx *c) {
    alg_params p = ten;
    factors f = factors_data(N, M, K, 0.1, 7);
    p.iterations = 8;
    factors_steady(gnmf, c, factors_sparse(c, CLF_F64, &f), &p, 16, 0);
    free(f.x);
    clf_close(c);
}

static void test_steady(void) {
    steady(open_host());
    clf_ctx *c = open_kernels();
    if (c) steady(c);
}

/* The table has columns of very different size, and zeros. */
static void test_real(void) {
    const alg_params p = {.tolerance = 1e-12, .iterations = 20, .rank = 3, .seed = 1};
    factors_real(gnmf, &p, algo_gnmf, 1e-9, 1e-8);
}

static void test_refused(void) {
    const double nan[4] = {1, NAN, 0, 2}, inf[4] = {1, 0, INFINITY, 1}, zero[4] = {0}, less[4] = {1, -1e-300, 0, -2},
                 large[4] = {1e200, 0, 1e200, 1}, small[4] = {1e-170, 1e-170, 0, 1e-170}, fine[4] = {1, 0, 0, 2};
    alg_params p = ten;
    factors_refused(gnmf, CLF_F64, 2, 2, nan, &p, "hold 1 cells that are NaN or infinite");
    factors_refused(gnmf, CLF_F64, 2, 2, inf, &p, "hold 1 cells that are NaN or infinite");
    factors_refused(gnmf, CLF_F64, 2, 2, less, &p, "2 cells of the data are negative");
    factors_refused(gnmf, CLF_F64, 2, 2, zero, &p, "every cell of the data is 0");
    factors_refused(gnmf, CLF_F64, 2, 2, large, &p, "too large");
    factors_refused(gnmf, CLF_F64, 2, 2, small, &p, "or its square is");
    factors_refused(gnmf, CLF_I32, 2, 2, fine, &p, "neither f64 nor f32");
    p.rank = 0;
    factors_refused(gnmf, CLF_F64, 2, 2, fine, &p, "the rank is 0");
}

static const test_case tests[] = {
    {"sparse", test_sparse},
    {"dense", test_dense},
    {"stored", test_stored},
    {"f32", test_f32},
    {"kernels", test_kernels},
    {"selectors", test_selectors},
    {"never_rises", test_never_rises},
    {"empty", test_empty},
    {"perfect", test_perfect},
    {"steady", test_steady},
    {"real", test_real},
    {"refused", test_refused},
};

int main(void) { return run_suite("gnmf", tests, sizeof tests / sizeof *tests); }
