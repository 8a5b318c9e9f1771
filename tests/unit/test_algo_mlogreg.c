/* SPDX-License-Identifier: Apache-2.0
 * Multinomial logistic regression of the examples: against Newton's method in plain C on generated data, dense and sparse, and on iris,
 * on the host and in kernels, and with data that cannot be trained on. */
#include "tests/unit/trust_testing.h"

extern const algorithm alg_mlogreg;

/* The class with the largest score, the last one's being 0; -1: too near to call. */
static int64_t predicted(const trust_sample *s, const double *B, int64_t i, double margin) {
    int64_t k = s->plain.k - 1, best = k;
    double top = 0, second = -INFINITY;
    for (int64_t c = 0; c < k; c++) {
        double score = trust_score(s, B, i, k, c);
        if (score > top)
            second = top, top = score, best = c;
        else if (score > second)
            second = score;
    }
    return top - second < margin ? -1 : best;
}

static void same_classes(const trust_sample *s, const double *B, double margin) {
    int wrong = 0, unclear = 0;
    for (int64_t i = 0; i < s->plain.n; i++) {
        int64_t want = predicted(s, s->B, i, margin), got = predicted(s, B, i, 0);
        wrong += want >= 0 && want != got;
        unclear += want < 0;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(unclear <= s->plain.n / 50);
}

static void check(const trust_way *w, const trust_sample *s) {
    double B[TRUST_MODEL];
    if (trust_holds(w, &alg_mlogreg, s, s->plain.k - 1, B)) same_classes(s, B, w->type == CLF_F32 ? 5e-3 : 1e-4);
}

static void test_reference(void) {
    static const trust_way ways[] = {{"host", NULL, CLF_F64, false, 1e-10},
                                     {"host", "none", CLF_F64, false, 1e-10},
                                     {"host", NULL, CLF_F32, false, 1e-5},
                                     {NULL, "all", CLF_F64, false, 1e-10}};
    for (int64_t k = 2; k <= 4; k++) {
        trust_sample *s = trust_generated(&alg_mlogreg, 2000, 6, k, 1);
        CU_ASSERT_FATAL(algo_mlogreg(&s->plain));
        for (int w = 0; w < (k == 3 ? 4 : 3); w++) check(&ways[w], s);
        free(s);
    }
}

static void test_sparse(void) {
    static const trust_way ways[] = {{"host", NULL, CLF_F64, true, 1e-10}, {"host", "all", CLF_F32, true, 1e-5}};
    for (int64_t k = 2; k <= 3; k++) {
        trust_sample *s = trust_generated(&alg_mlogreg, 2000, 24, k, 0.2);
        CU_ASSERT_FATAL(algo_mlogreg(&s->plain));
        for (int w = 0; w < 2; w++) check(&ways[w], s);
        free(s);
    }
}

static void test_iris(void) {
    static const trust_way ways[] = {{"host", NULL, CLF_F64, false, 1e-9}, {"host", NULL, CLF_F32, false, 1e-4}};
    trust_sample *s = trust_real("iris.csv", "Species", 2, 5, "y", 3, 0.1); /* less would all but separate two of the species */
    if (!s) return;
    CU_ASSERT_EQUAL(s->plain.n, 150);
    CU_ASSERT_EQUAL(s->plain.m, 5);
    CU_ASSERT_FATAL(algo_mlogreg(&s->plain));
    for (int w = 0; w < 2; w++) check(&ways[w], s);
    free(s);
}

/* The defaults, as the program train has them; twice in the same context gives the same, and leaves nothing behind but the model. */
static void test_defaults(void) {
    clf_ctx *c = open_host();
    alg_run r = {.c = c, .p = alg_mlogreg.defaults};
    clf_mem_stats before = {.struct_size = sizeof before}, after = before;
    CU_ASSERT_FATAL(alg_generate(&alg_mlogreg, c, CLF_F64, 5000, 10, &r.p, &r.X, &r.y));
    CU_ASSERT_FATAL(alg_mlogreg.train(&r));
    double objective = r.objective;
    int iterations = r.iterations;
    CU_ASSERT(r.converged);
    CU_ASSERT_STRING_EQUAL(r.model[0].name, "B");
    CU_ASSERT_PTR_NULL(r.model[1].name);
    clf_get_mem_stats(c, &before);
    clf_free(r.model[0].value);
    CU_ASSERT_FATAL(alg_mlogreg.train(&r));
    clf_get_mem_stats(c, &after);
    CU_ASSERT_EQUAL(r.objective, objective);
    CU_ASSERT_EQUAL(r.iterations, iterations);
    CU_ASSERT_EQUAL(before.data, after.data);
    clf_close(c);
}

static void test_refused(void) {
    static const double x[] = {1, 2, 3, 5, 8, 13, 21, 34}, hole[] = {1, 2, NAN, 5, INFINITY, 13, 21, 34},
                        huge[] = {1e200, 2, -1e200, 5, 1e200, 1, 2, 3};
    static const double fine[] = {1, 2, 1, 3}, zero[] = {0, 1, 0, 1}, half[] = {1, 2, 1.5, 2}, one[] = {1, 1, 1, 1}, gap[] = {1, 3, 3, 1},
                        nan_label[] = {1, NAN, 2, 1}, many[] = {1, 2, 1e9, 2};
    alg_params p = alg_mlogreg.defaults, two = p, single = p, wrong = p;
    two.rank = 2, single.rank = 1, wrong.lambda = -1;
    trust_refused(&alg_mlogreg, x, 4, 2, zero, 4, p, "2 of 4 labels are not whole numbers from 1");
    trust_refused(&alg_mlogreg, x, 4, 2, half, 4, p, "1 of 4 labels are not whole numbers from 1");
    trust_refused(&alg_mlogreg, x, 4, 2, fine, 4, two, "labels go up to 3, but there are 2 classes");
    trust_refused(&alg_mlogreg, x, 4, 2, one, 4, p, "a single class");
    trust_refused(&alg_mlogreg, x, 4, 2, one, 4, single, "a single class");
    trust_refused(&alg_mlogreg, x, 1, 2, fine + 1, 1, p, "2 classes, but 1 rows");
    trust_refused(&alg_mlogreg, x, 4, 2, gap, 4, p, "of the classes 1 to 3 only 2 have rows");
    trust_refused(&alg_mlogreg, x, 4, 2, many, 4, p, "1000000000 classes, but 4 rows");
    trust_refused(&alg_mlogreg, x, 4, 2, nan_label, 4, p, "the labels hold 1 cells");
    trust_refused(&alg_mlogreg, x, 4, 2, fine, 3, p, "the labels are 3 x 1");
    trust_refused(&alg_mlogreg, hole, 4, 2, fine, 4, p, "the data hold 2 cells that are NaN or infinite");
    trust_refused(&alg_mlogreg, huge, 4, 2, fine, 4, p, "scale the columns");
    trust_refused(&alg_mlogreg, x, 4, 2, fine, 4, wrong, "must not be negative");
}

static alg_run tiny(clf_ctx *c, const double *x, const double *y, double lambda) {
    alg_run r = {.c = c, .p = alg_mlogreg.defaults, .X = clf_matrix(c, CLF_F64, 4, 2, x), .y = clf_matrix(c, CLF_F64, 4, 1, y)};
    r.p.lambda = lambda;
    CU_ASSERT_FATAL(alg_mlogreg.train(&r));
    return r;
}

/* Data without a unique minimum, or without any, ends too: features that say nothing, a column that is there twice, classes that can be
 * separated with nothing to keep the weights small, a class without rows that was asked for. */
static void test_odd(void) {
    static const double nothing[8], twice[] = {1, 1, 2, 2, -1, -1, 3, 3}, apart[] = {1, 7, 2, 7, -1, 7, -2, 7}, y[] = {1, 1, 2, 2},
                                    mixed[] = {1, 2, 2, 1};
    clf_ctx *c = open_host();
    alg_run r = tiny(c, nothing, y, 0);
    CU_ASSERT(r.converged);
    CU_ASSERT_EQUAL(r.iterations, 0);
    CU_ASSERT_DOUBLE_EQUAL(r.objective, 4 * log(2), 1e-14);
    r = tiny(c, twice, mixed, 0);
    CU_ASSERT(r.converged);
    CU_ASSERT(r.objective > 2 && r.objective < 4 * log(2));
    r = tiny(c, apart, y, 0);
    CU_ASSERT_EQUAL(r.iterations, 20);
    CU_ASSERT_FALSE(r.converged);
    CU_ASSERT(r.objective < 1e-2);
    r.p.rank = 3;
    r.p.lambda = 1e-3;
    CU_ASSERT_FATAL(alg_mlogreg.train(&r));
    CU_ASSERT(r.objective > 0 && r.objective < 0.2);
    r.p.iterations = 1;
    CU_ASSERT_FATAL(alg_mlogreg.train(&r));
    CU_ASSERT_FALSE(r.converged);
    CU_ASSERT_EQUAL(r.iterations, 1);
    clf_close(c);
}

static const test_case tests[] = {{"reference", test_reference}, {"sparse", test_sparse},   {"iris", test_iris},
                                  {"defaults", test_defaults},   {"refused", test_refused}, {"odd", test_odd}};

int main(void) { return run_suite("algo_mlogreg", tests, sizeof tests / sizeof *tests); }
