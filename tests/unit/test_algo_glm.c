/* SPDX-License-Identifier: Apache-2.0
 * Generalised linear models of the examples, binomial with probit link and Poisson with log link: against Newton's method in plain C on
 * generated data, dense and sparse, and on real data, on the host and in kernels; far out, where the normal distribution underflows; and
 * with data that cannot be trained on. */
#include "tests/unit/trust_testing.h"

extern const algorithm alg_glm_probit, alg_glm_poisson;

typedef struct family {
    const algorithm *a;
    bool (*oracle)(algo_plain *q);
} family;
static const family probit = {&alg_glm_probit, algo_glm_probit}, poisson = {&alg_glm_poisson, algo_glm_poisson};

/* Scores come to the same predictions: the class, where it is clear, or the mean. */
static void same_predictions(const family *f, const trust_sample *s, const double *B, double margin) {
    int wrong = 0, unclear = 0;
    for (int64_t i = 0; i < s->plain.n; i++) {
        double want = trust_score(s, s->B, i, 1, 0), got = trust_score(s, B, i, 1, 0);
        if (f == &poisson)
            wrong += fabs(exp(got) - exp(want)) > margin * exp(want);
        else if (fabs(want) < margin)
            unclear++;
        else
            wrong += (want > 0) != (got > 0);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(unclear <= s->plain.n / 50);
}

static void check(const family *f, const trust_way *w, const trust_sample *s) {
    double B[TRUST_MODEL];
    if (trust_holds(w, f->a, s, 1, B)) same_predictions(f, s, B, w->type == CLF_F32 ? 2e-3 : 1e-4);
}

static void generated(const family *f) {
    static const trust_way ways[] = {{"host", NULL, CLF_F64, false, 1e-10},
                                     {"host", "none", CLF_F64, false, 1e-10},
                                     {"host", NULL, CLF_F32, false, 1e-5},
                                     {NULL, "all", CLF_F64, false, 1e-10}};
    static const trust_way sparse[] = {{"host", NULL, CLF_F64, true, 1e-10}, {"host", "all", CLF_F32, true, 1e-5}};
    trust_sample *s = trust_generated(f->a, 2000, 12, 1, 1);
    CU_ASSERT_FATAL(f->oracle(&s->plain));
    for (int w = 0; w < 4; w++) check(f, &ways[w], s);
    free(s);
    s = trust_generated(f->a, 2000, 24, 1, 0.2);
    CU_ASSERT_FATAL(f->oracle(&s->plain));
    for (int w = 0; w < 2; w++) check(f, &sparse[w], s);
    free(s);
}

static void test_probit(void) { generated(&probit); }
static void test_poisson(void) { generated(&poisson); }

/* Columns that nearly depend on each other and outliers leave a long flat valley; f32 comes to its end as well. */
static void real(const family *f, trust_sample *s, int64_t n, int64_t m) {
    static const trust_way exact = {"host", NULL, CLF_F64, false, 1e-9}, rough = {"host", NULL, CLF_F32, false, 1e-4};
    double B[TRUST_MODEL];
    if (!s) return;
    CU_ASSERT_EQUAL(s->plain.n, n);
    CU_ASSERT_EQUAL(s->plain.m, m);
    CU_ASSERT_FATAL(f->oracle(&s->plain));
    check(f, &exact, s);
    trust_holds(&rough, f->a, s, 1, B);
    free(s);
}

/* Whether an eye is closed, among outliers that are 100 deviations away; a wine's colour; its quality, as a count. */
static void test_real(void) {
    real(&probit, trust_real("eeg.csv", "Eye", 1, 14, "2*(y > 0) - 1", 1, 1e-3), 14934, 15);
    real(&probit, trust_real("winequality.csv", "13", 1, 11, "2*(y > 1) - 1", 1, 1e-3), 6497, 12);
    real(&poisson, trust_real("winequality.csv", "12", 1, 11, "y", 1, 1e-3), 6497, 12);
}

static alg_run trained(clf_ctx *c, const algorithm *a, clf_dtype t, int64_t n, int64_t m, const double *x, const double *y, double lambda) {
    alg_run r = {.c = c, .p = a->defaults, .X = clf_cast(clf_matrix(c, CLF_F64, n, m, x), t), .y = clf_matrix(c, CLF_F64, n, 1, y)};
    r.p.lambda = lambda;
    bool good = a->train(&r);
    if (!good) printf("\n    %s\n", r.why);
    CU_ASSERT_FATAL(good);
    return r;
}

/* Thousands of labels draw one row, of a large feature, to a score of -40, where the normal distribution is no number of f64: its loss is
 * one all the same, and f32 comes to the same minimum. */
static void test_far(void) {
    enum { N = 15000 };
    double *x = malloc(2 * N * sizeof *x), *y = x + N, b;
    CU_ASSERT_PTR_NOT_NULL_FATAL(x);
    algo_plain q = {.n = N, .m = 1, .x = x, .y = y, .lambda = 1e-9, .model = {&b}};
    clf_ctx *c = open_host();
    for (int i = 0; i < N; i++) x[i] = i ? 0.05 : -1, y[i] = i == N - 1 ? -1 : 1;
    CU_ASSERT_FATAL(algo_glm_probit(&q));
    CU_ASSERT(b > 39 && 0.5 * erfc(b / sqrt(2)) == 0);
    alg_run r = trained(c, &alg_glm_probit, CLF_F64, N, 1, x, y, q.lambda);
    CU_ASSERT(r.converged);
    CU_ASSERT_DOUBLE_EQUAL(r.objective, q.objective, 1e-9 * q.objective);
    r = trained(c, &alg_glm_probit, CLF_F32, N, 1, x, y, q.lambda);
    CU_ASSERT_DOUBLE_EQUAL(r.objective, q.objective, 1e-5 * q.objective);
    clf_close(c);
    free(x);
}

static void test_refused(void) {
    static const double x[] = {1, 2, 3, 5, 8, 13, 21, 34}, hole[] = {1, 2, NAN, 5, 8, 13, 21, 34},
                        huge[] = {1e200, 2, -1e200, 5, 1e200, 1, 2, 3};
    static const double two[] = {0, 1, 0, 1}, one[] = {5, 5, 5, 5}, three[] = {1, 2, 3, 1}, bad[] = {1, NAN, 0, 1}, below[] = {3, -2, 0, 1},
                        zero[4];
    alg_params p = alg_glm_probit.defaults, wrong = p;
    wrong.iterations = 0;
    trust_refused(&alg_glm_probit, x, 4, 2, one, 4, p, "a single class: every label is 5");
    trust_refused(&alg_glm_probit, x, 4, 2, three, 4, p, "more than two classes: 1 of 4 labels are neither 1 nor 3");
    trust_refused(&alg_glm_probit, x, 4, 2, bad, 4, p, "the labels hold 1 cells");
    trust_refused(&alg_glm_probit, x, 4, 2, two, 3, p, "the labels are 3 x 1");
    trust_refused(&alg_glm_probit, hole, 4, 2, two, 4, p, "the data hold 1 cells that are NaN or infinite");
    trust_refused(&alg_glm_probit, huge, 4, 2, two, 4, p, "scale the columns");
    trust_refused(&alg_glm_probit, x, 4, 2, two, 4, wrong, "iterations must be positive");
    trust_refused(&alg_glm_poisson, x, 4, 2, below, 4, p, "a count is -2");
    trust_refused(&alg_glm_poisson, x, 4, 2, zero, 4, p, "every count is 0");
    trust_refused(&alg_glm_poisson, huge, 4, 2, two, 4, p, "scale the columns");
}

/* A column twice with nothing to choose between the two, a constant one, columns that say nothing; and a limit that ends it early. */
static void test_odd(void) {
    static const double twice[] = {1, 1, 2, 2, -1, -1, 3, 3}, constant[] = {1, 7, 2, 7, -1, 7, 3, 7}, nothing[8], y[] = {1, 0, 0, 1},
                        count[] = {1, 0, 4, 2};
    clf_ctx *c = open_host();
    alg_run r = trained(c, &alg_glm_probit, CLF_F64, 4, 2, twice, y, 0);
    CU_ASSERT(r.converged);
    CU_ASSERT(r.objective > 2 && r.objective < 4 * log(2));
    CU_ASSERT(trained(c, &alg_glm_probit, CLF_F64, 4, 2, constant, y, 1e-3).converged);
    CU_ASSERT(trained(c, &alg_glm_poisson, CLF_F64, 4, 2, constant, count, 1e-3).converged);
    r = trained(c, &alg_glm_poisson, CLF_F64, 4, 2, nothing, count, 0);
    CU_ASSERT(r.converged);
    CU_ASSERT_EQUAL(r.iterations, 0);
    r.p.iterations = 1;
    r.X = clf_matrix(c, CLF_F64, 4, 2, constant);
    CU_ASSERT_FATAL(alg_glm_poisson.train(&r));
    CU_ASSERT_FALSE(r.converged);
    CU_ASSERT_EQUAL(r.iterations, 1);
    clf_close(c);
}

static const test_case tests[] = {{"probit", test_probit}, {"poisson", test_poisson}, {"real", test_real},
                                  {"far", test_far},       {"refused", test_refused}, {"odd", test_odd}};

int main(void) { return run_suite("algo_glm", tests, sizeof tests / sizeof *tests); }
