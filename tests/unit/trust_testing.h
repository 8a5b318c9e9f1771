/* SPDX-License-Identifier: Apache-2.0
 * What the suites of MLogreg and GLM share: a sample with its minimum by an oracle, trainings of it in contexts of many kinds, and data
 * that is refused. */
#ifndef CLF_TESTS_TRUST_TESTING_H
#define CLF_TESTS_TRUST_TESTING_H
#include <math.h>

#include "examples/algorithm.h"
#include "tests/oracle/algo.h"
#include "tests/unit/api_testing.h"

enum { TRUST_CELLS = 40000, TRUST_MODEL = 128, TRUST_ROWS = 15000 };

/* Dense data, and where the oracle finds the minimum. */
typedef struct trust_sample {
    algo_plain plain;
    double x[TRUST_CELLS * 8], y[TRUST_ROWS], B[TRUST_MODEL];
} trust_sample;

static inline trust_sample *trust_sample_new(int64_t n, int64_t m, int64_t k, double lambda) {
    trust_sample *s = calloc(1, sizeof *s);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s);
    s->plain = (algo_plain){.n = n, .m = m, .k = k, .x = s->x, .y = s->y, .lambda = lambda, .model = {s->B}};
    CU_ASSERT_FATAL(n * m <= TRUST_CELLS * 8 && n <= TRUST_ROWS && m * k <= TRUST_MODEL);
    return s;
}

/* As the algorithm's `generate` says; of X a share of the cells stays. */
static inline trust_sample *trust_generated(const algorithm *a, int64_t n, int64_t m, int64_t k, double share) {
    trust_sample *s = trust_sample_new(n, m, k, a->defaults.lambda);
    clf_ctx *c = open_host();
    clf_mat *X, *y;
    alg_params p = a->defaults;
    p.rank = k;
    CU_ASSERT_FATAL(alg_generate(a, c, CLF_F64, n, m, &p, &X, &y));
    const clf_binding vars[] = {{"X", X}, {"keep", clf_rand(c, CLF_F64, n, m, 0, 1, 1, 77)}, {"share", clf_num(c, share)}};
    CU_ASSERT_EQUAL_FATAL(clf_read(clf_expr(c, "X*(keep < share)", vars, 3), s->x, (size_t)(n * m) * sizeof *s->x), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_read(y, s->y, (size_t)n * sizeof *s->y), CLF_OK);
    clf_close(c);
    return s;
}

/* A real data set of the tests' folder, columns c0 to c1 with mean 0 and deviation 1, and a column of ones. NULL: it is not there. */
static inline trust_sample *trust_real(const char *name, const char *label, int64_t c0, int64_t c1, const char *recode, int64_t k,
                                       double lambda) {
    char path[4096];
    const char *folder = getenv("CLF_TEST_DATA");
    snprintf(path, sizeof path, "%s/%s", folder && *folder ? folder : CLF_TESTS_DIR "/../../shared/data", name);
    FILE *f = fopen(path, "r");
    if (!f) return printf("skipped, no %s: ", name), NULL;
    fclose(f);
    clf_ctx *c = open_host();
    const clf_load_options how = {.struct_size = sizeof how, .label = label, .na = "drop"};
    clf_mat *y = NULL, *X = clf_index(clf_load_with(c, path, &how, &y), 1, 0, c0, c1);
    const clf_binding vars[] = {{"X", X}, {"y", y}};
    clf_mat *made = clf_expr(c, "cbind((X - colMeans(X))/sqrt(colVars(X)), matrix(1, rows=nrow(X), cols=1))", vars, 2);
    int64_t n, m;
    CU_ASSERT_EQUAL_FATAL(clf_info(made, &n, &m, NULL, NULL), CLF_OK);
    trust_sample *s = trust_sample_new(n, m, k, lambda);
    CU_ASSERT_EQUAL_FATAL(clf_read(made, s->x, (size_t)(n * m) * sizeof *s->x), CLF_OK);
    clf_mat *coded = clf_cast(clf_expr(c, recode, vars, 2), CLF_F64);
    CU_ASSERT_EQUAL_FATAL(clf_read(coded, s->y, (size_t)n * sizeof *s->y), CLF_OK);
    clf_close(c);
    return s;
}

/* Counters of the context after the first iteration. */
typedef struct trust_watch {
    clf_ctx *c;
    clf_stats first;
    double last;
    bool rose;
} trust_watch;

static inline void trust_each(void *user, int iteration, double objective) {
    trust_watch *w = user;
    if (iteration == 1) w->first = stats_of(w->c);
    w->rose = w->rose || objective > w->last;
    w->last = objective;
}

/* The same matrix, sparse from the start: its zeros are structural. */
static inline clf_mat *trust_sparse(clf_mat *X) {
    int64_t n, m, nnz;
    clf_dtype t;
    const int64_t *offsets;
    const int32_t *indices;
    const void *values;
    CU_ASSERT_EQUAL_FATAL(clf_info(X, &n, &m, &t, NULL), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_data_csr(X, &nnz, &offsets, &indices, &values), CLF_OK);
    return clf_sparse_csr(clf_ctx_of(X), t, n, m, nnz, offsets, indices, values, NULL);
}

/* Train on the sample in the context: B (of m x k2 numbers) comes back. An iteration plans and compiles nothing after the first, waits at
 * most once per call, and never raises the objective. */
static inline alg_run trust_trained(clf_ctx *c, const algorithm *a, const trust_sample *s, clf_dtype type, bool sparse, int64_t k2, double *B) {
    const algo_plain *q = &s->plain;
    trust_watch w = {.c = c, .last = INFINITY};
    alg_run r = {.c = c, .p = a->defaults, .each = trust_each, .user = &w};
    r.X = clf_cast(clf_matrix(c, CLF_F64, q->n, q->m, s->x), type);
    r.y = clf_cast(clf_matrix(c, CLF_F64, q->n, 1, s->y), type);
    if (sparse) r.X = trust_sparse(r.X);
    r.p.lambda = q->lambda;
    r.p.iterations = 500;
    r.p.inner = 0;
    bool good = a->train(&r);
    if (!good) printf("\n    %s\n", r.why);
    CU_ASSERT_FATAL(good);
    clf_stats end = stats_of(c);
    CU_ASSERT(r.converged);
    CU_ASSERT_FALSE(w.rose);
    CU_ASSERT_EQUAL(end.plans, w.first.plans);
    CU_ASSERT_EQUAL(end.kernels_built, w.first.kernels_built);
    CU_ASSERT(end.waits - w.first.waits <= end.evaluations - w.first.evaluations);
    CU_ASSERT_EQUAL_FATAL(clf_read(clf_cast(r.model[0].value, CLF_F64), B, (size_t)(q->m * k2) * sizeof *B), CLF_OK);
    return r;
}

static inline void trust_refused(const algorithm *a, const double *x, int64_t n, int64_t m, const double *y, int64_t ny, alg_params p,
                                 const char *words) {
    clf_ctx *c = open_host();
    alg_run r = {.c = c, .p = p, .X = clf_matrix(c, CLF_F64, n, m, x), .y = clf_matrix(c, CLF_F64, ny, 1, y)};
    bool took = a->train(&r), said = !took && strstr(r.why, words) != NULL;
    if (!said) printf("\n    '%s' is not in '%s'", words, took ? "" : r.why);
    CU_ASSERT_FALSE(took);
    CU_ASSERT(said);
    clf_close(c);
}

/* The ways to run that must agree: how near the objective comes to the oracle's. */
typedef struct trust_way {
    const char *device, *fuse; /* device NULL: kernels of the first OpenCL device, if there is one */
    clf_dtype type;
    bool sparse;
    double near;
} trust_way;

static inline clf_ctx *trust_open(const trust_way *w) {
    clf_ctx *c = w->device ? open_on(w->device) : open_kernels();
    if (c && w->fuse) CU_ASSERT_EQUAL(clf_set(c, "fuse", w->fuse), CLF_OK);
    return c;
}

/* Scores X B of row i: m x k. */
static inline double trust_score(const trust_sample *s, const double *B, int64_t i, int64_t k, int64_t c) {
    double score = 0;
    for (int64_t j = 0; j < s->plain.m; j++) score += s->x[i * s->plain.m + j] * B[j * k + c];
    return score;
}

/* Train one way and hold the objective against the oracle's. False: there is no such device. */
static inline bool trust_holds(const trust_way *w, const algorithm *a, const trust_sample *s, int64_t k2, double *B) {
    clf_ctx *c = trust_open(w);
    if (!c) return false;
    alg_run r = trust_trained(c, a, s, w->type, w->sparse, k2, B);
    bool near = fabs(r.objective - s->plain.objective) <= w->near * fabs(s->plain.objective);
    if (!near) printf("\n    %s, %s: %.12g, the oracle %.12g\n", w->device ? w->device : "kernels", w->fuse, r.objective, s->plain.objective);
    CU_ASSERT(near);
    clf_close(c);
    return true;
}
#endif
