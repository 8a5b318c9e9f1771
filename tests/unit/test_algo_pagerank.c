/* SPDX-License-Identifier: Apache-2.0
 * PageRank of the examples against the solution of the equations (tests/oracle/algo_pagerank.c): nodes without links, links given as cells
 * and as entries, a surfer with preferences; f32, on kernels and unfused; and what is no graph. */
#include "tests/unit/algo_testing.h"

enum { NODES = 150 };
static const alg_params plain = {.lambda = 0.85, .tolerance = 1e-13, .iterations = 400, .seed = 2};

static clf_mat *generated(clf_ctx *c, clf_dtype t) {
    clf_mat *X, *y;
    CU_ASSERT_FATAL(alg_generate(algorithm_named("pagerank"), c, t, NODES, NODES, &plain, &X, &y));
    return X;
}

static void compare(const alg_run *r, double bound) {
    double *x = cells_of(r->X), *y = r->y ? cells_of(r->y) : NULL, *got = cells_of(r->model[0].value), sum = 0;
    algo_plain a = {.n = r->n, .m = r->n, .x = x, .y = y, .lambda = r->p.lambda, .model = {zeros_of(r->n)}};
    algo_pagerank(&a);
    CU_ASSERT(apart(got, a.model[0], r->n) <= bound);
    for (int64_t i = 0; i < r->n; i++) sum += got[i];
    CU_ASSERT_DOUBLE_EQUAL(sum, 1, bound);
    CU_ASSERT(r->converged);
    double *const all[] = {x, y, got, a.model[0]};
    for (int i = 0; i < 4; i++) free(all[i]);
}

static int without_links(clf_mat *X) {
    double *x = cells_of(X);
    int count = 0;
    for (int i = 0; i < NODES; i++) {
        double out = 0;
        for (int j = 0; j < NODES; j++) out += x[i * NODES + j];
        count += out == 0;
    }
    free(x);
    return count;
}

static void test_reference(void) {
    clf_ctx *c = open_host();
    clf_mat *X = generated(c, CLF_F64);
    watch w;
    CU_ASSERT(without_links(X) > 0);
    alg_run r = trained("pagerank", c, X, NULL, &plain, &w);
    compare(&r, 1e-12);
    watch_steady(&w, 0);
    for (int i = 1; i < w.n; i++) CU_ASSERT(w.objective[i] <= 0.85 * w.objective[i - 1] + 1e-15);
    clf_close(c);
}

/* The same graph as entries: the same numbers. */
static void test_entries(void) {
    clf_ctx *c = open_host();
    clf_mat *X = generated(c, CLF_F64);
    alg_run r = trained("pagerank", c, X, NULL, &plain, NULL), s = trained("pagerank", c, entries_of(X), NULL, &plain, NULL);
    double *a = cells_of(r.model[0].value), *b = cells_of(s.model[0].value);
    CU_ASSERT(apart(a, b, NODES) <= 1e-14);
    compare(&s, 1e-12);
    free(a);
    free(b);
    clf_close(c);
}

/* Weights, links to itself, and an entry that is stored but 0: the third node has no link. */
static void test_weights(void) {
    const int64_t offsets[] = {0, 2, 4, 5, 6};
    const int32_t at[] = {1, 3, 1, 2, 0, 3};
    const double weight[] = {3, 0.5, 2, 7, 0, 1e-3}, to[] = {0, 1, 0, 5};
    clf_ctx *c = open_host();
    clf_mat *X = clf_sparse_csr(c, CLF_F64, 4, 4, 6, offsets, at, weight, NULL);
    alg_run r = trained("pagerank", c, X, NULL, &plain, NULL);
    compare(&r, 1e-11);
    r = trained("pagerank", c, X, clf_matrix(c, CLF_F64, 4, 1, to), &plain, NULL);
    compare(&r, 1e-11);
    clf_close(c);
}

static void test_no_links(void) {
    clf_ctx *c = open_host();
    alg_run r = trained("pagerank", c, clf_fill(c, CLF_F64, 5, 5, 0), NULL, &plain, NULL);
    compare(&r, 1e-15);
    CU_ASSERT_EQUAL(r.iterations, 1);
    r = trained("pagerank", c, clf_fill(c, CLF_F64, 1, 1, 1), NULL, &plain, NULL);
    compare(&r, 1e-15);
    clf_close(c);
}

static void test_f32(void) {
    clf_ctx *c = open_host();
    alg_run r = trained("pagerank", c, generated(c, CLF_F32), NULL, &plain, NULL);
    compare(&r, 1e-5);
    clf_close(c);
}

static void test_kernels(void) {
    clf_ctx *c = open_kernels();
    if (!c) return;
    watch w;
    alg_run r = trained("pagerank", c, generated(c, CLF_F64), NULL, &plain, &w);
    compare(&r, 1e-12);
    watch_steady(&w, 1);
    CU_ASSERT(w.last.launches_tier2 > 0);
    clf_close(c);
}

static void test_unfused(void) {
    clf_ctx *c = open_host(), *d = open_host();
    CU_ASSERT_EQUAL(clf_set(d, "fuse", "none"), CLF_OK);
    watch w, v;
    alg_run r = trained("pagerank", c, generated(c, CLF_F64), NULL, &plain, &w);
    alg_run s = trained("pagerank", d, generated(d, CLF_F64), NULL, &plain, &v);
    compare(&s, 1e-12);
    CU_ASSERT_EQUAL(r.iterations, s.iterations);
    for (int i = 0; i < w.n; i++) CU_ASSERT_DOUBLE_EQUAL(w.objective[i], v.objective[i], 1e-15);
    clf_close(c);
    clf_close(d);
}

/* The limit is kept and said. */
static void test_limit(void) {
    alg_params p = plain;
    p.iterations = 3;
    clf_ctx *c = open_host();
    alg_run r = trained("pagerank", c, generated(c, CLF_F64), NULL, &p, NULL);
    CU_ASSERT_FALSE(r.converged);
    CU_ASSERT_EQUAL(r.iterations, 3);
    p.tolerance = 0; /* never reached, but rounding ends it or the limit does */
    p.iterations = 500;
    r = trained("pagerank", c, generated(c, CLF_F64), NULL, &p, NULL);
    CU_ASSERT(r.iterations <= 500);
    clf_close(c);
}

static void test_bad(void) {
    const double hole[] = {1, NAN, 0, 1}, minus[] = {1, -2, -1, 1}, good[] = {0, 1, 1, 0}, nobody[] = {0, 0}, owes[] = {2, -1};
    clf_ctx *c = open_host();
    clf_mat *X = clf_matrix(c, CLF_F64, 2, 2, good);
    alg_params p = plain;
    refused("pagerank", c, clf_fill(c, CLF_F64, 2, 3, 1), NULL, &p, "as many rows as columns, not 2 x 3");
    refused("pagerank", c, clf_matrix(c, CLF_F64, 2, 2, hole), NULL, &p, "1 cells that are NaN or infinite");
    refused("pagerank", c, clf_matrix(c, CLF_F64, 2, 2, minus), NULL, &p, "2 weights are negative");
    refused("pagerank", c, X, clf_matrix(c, CLF_F64, 2, 1, nobody), &p, "sum up to 0");
    refused("pagerank", c, X, clf_matrix(c, CLF_F64, 2, 1, owes), &p, "1 weights are negative");
    refused("pagerank", c, X, clf_fill(c, CLF_F64, 3, 1, 1), &p, "the labels are 3 x 1");
    p.lambda = 1;
    refused("pagerank", c, X, NULL, &p, "must be between 0 and 1");
    p.lambda = 0;
    refused("pagerank", c, X, NULL, &p, "must be between 0 and 1");
    clf_close(c);
}

static const test_case tests[] = {
    {"reference", test_reference}, {"entries", test_entries}, {"weights", test_weights}, {"no links", test_no_links}, {"f32", test_f32},
    {"kernels", test_kernels},     {"unfused", test_unfused}, {"limit", test_limit},     {"bad input", test_bad},
};

int main(void) { return run_suite("algo pagerank", tests, sizeof tests / sizeof *tests); }
