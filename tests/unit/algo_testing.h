/* SPDX-License-Identifier: Apache-2.0
 * What suites of the examples' algorithms share: training with what each iteration did noted, and cells as doubles. */
#ifndef CLF_TESTS_ALGO_TESTING_H
#define CLF_TESTS_ALGO_TESTING_H
#include <math.h>

#include "examples/algorithm.h"
#include "tests/oracle/algo.h"
#include "tests/unit/api_testing.h"

/* What `each` was told, and the counters after the second iteration, when all plans are made, and after the last. */
typedef struct watch {
    clf_ctx *c;
    int n;
    double objective[256];
    clf_stats second, last;
} watch;

static inline void watch_iteration(void *user, int iteration, double objective) {
    watch *w = user;
    CU_ASSERT_EQUAL(iteration, w->n + 1);
    if (w->n < 256) w->objective[w->n] = objective;
    w->n = iteration;
    w->last = stats_of(w->c);
    if (iteration <= 2) w->second = w->last;
}

/* Nothing is planned or compiled any more, and an iteration waits at most `waits` times. */
static inline void watch_steady(const watch *w, int waits) {
    CU_ASSERT(w->n >= 3);
    CU_ASSERT_EQUAL(w->last.plans, w->second.plans);
    CU_ASSERT_EQUAL(w->last.kernels_built, w->second.kernels_built);
    CU_ASSERT(w->last.waits - w->second.waits <= (uint64_t)(waits * (w->n - 2)));
}

/* All cells of a matrix as doubles, row-major; the caller frees them. */
static inline double *cells_of(clf_mat *x) {
    int64_t rows = 0, cols = 0;
    clf_dtype type = CLF_F64;
    CU_ASSERT_EQUAL_FATAL(clf_info(x, &rows, &cols, &type, NULL), CLF_OK);
    clf_mat *wide = clf_cast(x, CLF_F64);
    size_t bytes = (size_t)(rows * cols) * sizeof(double);
    double *out = malloc(bytes ? bytes : 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CU_ASSERT_EQUAL_FATAL(clf_read(wide, out, bytes), CLF_OK);
    clf_free(wide);
    return out;
}

/* The same matrix stored as entries, whose zeros are structural. */
static inline clf_mat *entries_of(clf_mat *x) {
    int64_t rows, cols, nnz;
    const int64_t *offsets;
    const int32_t *indices;
    const void *values;
    clf_dtype type;
    CU_ASSERT_EQUAL_FATAL(clf_info(x, &rows, &cols, &type, NULL), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_data_csr(x, &nnz, &offsets, &indices, &values), CLF_OK);
    return clf_sparse_csr(clf_ctx_of(x), type, rows, cols, nnz, offsets, indices, values, NULL);
}

static inline double *zeros_of(int64_t n) {
    double *out = calloc((size_t)n, sizeof *out);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    return out;
}

/* The greatest difference, as a share of the greatest magnitude of b. */
static inline double apart(const double *a, const double *b, int64_t n) {
    double most = 0, d = 0;
    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, fabs(b[i]));
        d = fmax(d, fabs(a[i] - b[i]));
        if (!(fabs(a[i] - b[i]) <= INFINITY)) return INFINITY; /* NaN */
    }
    return most > 0 ? d / most : d;
}

static inline double relative(double a, double b) { return fabs(a - b) / fabs(b); }

/* A training that must succeed. */
static inline alg_run trained(const char *name, clf_ctx *c, clf_mat *X, clf_mat *y, const alg_params *p, watch *w) {
    alg_run r = {.c = c, .X = X, .y = y, .p = *p, .each = w ? watch_iteration : NULL, .user = w};
    if (w) *w = (watch){.c = c};
    bool good = algorithm_named(name)->train(&r);
    if (!good) printf("\n    %s: %s\n", name, r.why);
    CU_ASSERT_FATAL(good);
    if (w) CU_ASSERT_EQUAL(w->n, r.iterations);
    return r;
}

/* One that must not, and says these words. */
static inline void refused(const char *name, clf_ctx *c, clf_mat *X, clf_mat *y, const alg_params *p, const char *words) {
    alg_run r = {.c = c, .X = X, .y = y, .p = *p};
    bool took = algorithm_named(name)->train(&r), said = !took && strstr(r.why, words) != NULL;
    if (!said) printf("\n    '%s' is not in '%s'\n", words, took ? "" : r.why);
    CU_ASSERT(said);
}

/* A file of the shared data, or false: its test is skipped. */
static inline bool find_data(const char *name, char *path, size_t n) {
    const char *folder = getenv("CLF_TEST_DATA");
    if (folder && *folder)
        snprintf(path, n, "%s/%s", folder, name);
    else
        snprintf(path, n, "%s/../../shared/data/%s", CLF_TESTS_DIR, name);
    FILE *f = fopen(path, "r");
    if (f) fclose(f);
    if (!f) printf("skipped, no %s: ", name);
    return f != NULL;
}
#endif
