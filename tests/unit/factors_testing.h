/* SPDX-License-Identifier: Apache-2.0
 * What the suites of the factorisations (ALS-CG, GNMF) share: ratings made without the library, a training in a context, its model as
 * numbers, the oracle's run from the same start, and what an iteration costs the context. */
#ifndef CLF_TESTS_FACTORS_TESTING_H
#define CLF_TESTS_FACTORS_TESTING_H
#include <math.h>
#include <string.h>

#include "examples/algorithm.h"
#include "tests/oracle/algo.h"
#include "tests/unit/api_testing.h"

typedef struct factors {
    int64_t n, m, k;
    double *x, *u, *v;
    double objective;
    int iterations;
} factors;

static inline double factors_random(uint64_t *state) { /* in [0, 1) */
    uint64_t h = *state += 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
    h = (h ^ h >> 27) * 0x94D049BB133111EBu;
    return (double)((h ^ h >> 31) >> 40) * 0x1p-24;
}

static inline factors factors_of(int64_t n, int64_t m, int64_t k) {
    factors f = {.n = n, .m = m, .k = k};
    f.x = calloc((size_t)(n * m + (n + m) * k), sizeof(double));
    CU_ASSERT_PTR_NOT_NULL_FATAL(f.x);
    f.u = f.x + n * m;
    f.v = f.u + n * k;
    return f;
}

/* Ratings of about rank 3 in `share` of the cells, multiples of 1/64 from 1/64 on: the same numbers in f32. */
static inline factors factors_data(int64_t n, int64_t m, int64_t k, double share, uint64_t seed) {
    factors f = factors_of(n, m, k);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double level = 2 + sin((double)i) * cos((double)(3 * j)) + sin(0.7 * (double)i) * sin((double)j) + factors_random(&seed);
            if (factors_random(&seed) < share) f.x[i * m + j] = floor(level * 64 + 1) / 64;
        }
    return f;
}

static inline clf_mat *factors_dense(clf_ctx *c, clf_dtype t, const factors *f) {
    return clf_cast(clf_matrix(c, CLF_F64, f->n, f->m, f->x), t);
}

static inline clf_mat *factors_sparse(clf_ctx *c, clf_dtype t, const factors *f) {
    const int64_t *offset, nothing = 0;
    const int32_t *index;
    const void *value;
    int64_t nnz = nothing;
    clf_mat *dense = factors_dense(c, t, f);
    CU_ASSERT_EQUAL_FATAL(clf_data_csr(dense, &nnz, &offset, &index, &value), CLF_OK);
    return clf_sparse_csr(c, t, f->n, f->m, nnz, offset, index, value, NULL);
}

static inline void factors_read(clf_mat *a, clf_dtype t, double *out, int64_t n) {
    const void *cells;
    CU_ASSERT_EQUAL_FATAL(clf_data(a, &cells), CLF_OK);
    for (int64_t i = 0; i < n; i++) out[i] = t == CLF_F32 ? (double)((const float *)cells)[i] : ((const double *)cells)[i];
}

static inline alg_run factors_run(const algorithm *a, clf_ctx *c, clf_mat *X, const alg_params *p) {
    alg_run r = {.c = c, .X = X, .p = *p};
    bool good = a->train(&r);
    if (!good) printf("\n    %s: %s\n", a->name, r.why);
    CU_ASSERT_FATAL(good);
    return r;
}

/* Train in c; factors and objective into f. */
static inline alg_run factors_train(const algorithm *a, clf_ctx *c, clf_mat *X, const alg_params *p, factors *f) {
    alg_run r = factors_run(a, c, X, p);
    factors_read(r.model[0].value, r.type, f->u, f->n * f->k);
    factors_read(r.model[1].value, r.type, f->v, f->m * f->k);
    f->objective = r.objective;
    f->iterations = r.iterations;
    return r;
}

/* What the oracle makes of f->x, in as many iterations, from the start that the example has in c. */
static inline factors factors_oracle(const algorithm *a, clf_ctx *c, clf_mat *X, const alg_params *p, const factors *f,
                                     bool (*oracle)(algo_plain *)) {
    factors want = factors_of(f->n, f->m, f->k), start = factors_of(f->n, f->m, f->k);
    alg_params none = *p;
    none.iterations = 0;
    factors_train(a, c, X, &none, &start);
    algo_plain o = {.n = f->n,
                    .m = f->m,
                    .k = f->k,
                    .x = f->x,
                    .start = {start.u, start.v},
                    .lambda = p->lambda,
                    .inner = p->inner,
                    .iterations = f->iterations,
                    .model = {want.u, want.v}};
    CU_ASSERT_FATAL(oracle(&o));
    want.objective = o.objective;
    free(start.x);
    return want;
}

/* Objectives, and predictions u v', the same within a share. */
static inline void factors_same(const factors *got, const factors *want, double objective, double prediction) {
    double worst = 0, largest = 0;
    for (int64_t i = 0; i < got->n; i++)
        for (int64_t j = 0; j < got->m; j++) {
            double a = 0, b = 0;
            for (int64_t l = 0; l < got->k; l++) {
                a += got->u[i * got->k + l] * got->v[j * got->k + l];
                b += want->u[i * want->k + l] * want->v[j * want->k + l];
            }
            worst = fmax(worst, fabs(a - b));
            largest = fmax(largest, fabs(b));
        }
    bool good = fabs(got->objective - want->objective) <= objective * want->objective && worst <= prediction * largest;
    if (!good)
        printf("\n    objective %.12g, wanted %.12g (%.2g off); predictions %.2g off\n", got->objective, want->objective,
               fabs(got->objective - want->objective) / want->objective, worst / largest);
    CU_ASSERT(good);
}

/* What is watched at the end of every iteration. */
typedef struct factors_watch {
    clf_ctx *c;
    clf_stats first, last;
    clf_mem_stats early, late;
    double objective[64];
    int n;
} factors_watch;
static inline void factors_look(void *user, int iteration, double objective) {
    factors_watch *w = user;
    w->late = (clf_mem_stats){.struct_size = sizeof w->late};
    w->last = stats_of(w->c);
    clf_get_mem_stats(w->c, &w->late);
    if (iteration == 1) w->first = w->last;
    if (iteration == 2) w->early = w->late;
    if (w->n < 64) w->objective[w->n++] = objective;
}

/* After the first iteration nothing is planned or compiled, from the second on memory stays as it is; a call waits at most once, and once
 * more for each product of a library between its kernels. parts: calls of an iteration whose plan has a part on the host between kernels. */
static inline void factors_steady(const algorithm *a, clf_ctx *c, clf_mat *X, const alg_params *p, int calls, int parts) {
    factors_watch w = {.c = c};
    alg_run r = {.c = c, .X = X, .p = *p, .each = factors_look, .user = &w};
    CU_ASSERT_FATAL(a->train(&r));
    CU_ASSERT_EQUAL(r.calls, calls);
    CU_ASSERT_EQUAL(w.n, p->iterations);
    CU_ASSERT_EQUAL(w.first.plans, w.last.plans);
    CU_ASSERT_EQUAL(w.first.kernels_built, w.last.kernels_built);
    CU_ASSERT_EQUAL(w.early.data, w.late.data);
    CU_ASSERT(w.late.peak - w.early.peak < 4096);
    const uint64_t evaluations = w.last.evaluations - w.first.evaluations, products = w.last.launches_library - w.first.launches_library;
    CU_ASSERT_EQUAL(evaluations, (uint64_t)(calls - calls % p->iterations) / (uint64_t)p->iterations * (uint64_t)(p->iterations - 1));
    CU_ASSERT(w.last.waits - w.first.waits <= evaluations + products + (uint64_t)parts * (uint64_t)(p->iterations - 1));
}

/* Training says no, with these words. */
static inline void factors_refused(const algorithm *a, clf_dtype t, int64_t n, int64_t m, const double *x, const alg_params *p,
                                   const char *words) {
    clf_ctx *c = open_host();
    alg_run r = {.c = c, .X = clf_cast(clf_matrix(c, CLF_F64, n, m, x), t), .p = *p};
    bool took = a->train(&r);
    bool said = !took && strstr(r.why, words) != NULL;
    if (!said) printf("\n    '%s' is not in '%s'\n", words, took ? "" : r.why);
    CU_ASSERT(said);
    clf_close(c);
}

static inline const char *factors_file(const char *name, char path[4096]) {
    const char *folder = getenv("CLF_TEST_DATA");
    if (folder && *folder)
        snprintf(path, 4096, "%s/%s", folder, name);
    else
        snprintf(path, 4096, "%s/../../shared/data/%s", CLF_TESTS_DIR, name);
    FILE *f = fopen(path, "r");
    if (f) fclose(f);
    if (!f) printf("skipped, no %s: ", name);
    return f ? path : NULL;
}

/* All cells of a table, against the oracle. */
static inline void factors_real(const algorithm *a, const alg_params *p, bool (*oracle)(algo_plain *), double objective, double prediction) {
    char path[4096];
    if (!factors_file("winequality.csv", path)) return;
    clf_ctx *c = open_host();
    clf_mat *X = clf_load(c, path);
    int64_t n, m;
    CU_ASSERT_EQUAL_FATAL(clf_info(X, &n, &m, NULL, NULL), CLF_OK);
    factors f = factors_of(n, m, p->rank);
    factors_read(X, CLF_F64, f.x, n * m);
    factors_train(a, c, X, p, &f);
    factors want = factors_oracle(a, c, X, p, &f, oracle);
    factors_same(&f, &want, objective, prediction);
    free(f.x);
    free(want.x);
    clf_close(c);
}
#endif
