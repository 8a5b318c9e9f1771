/* SPDX-License-Identifier: Apache-2.0
 * The operators that sequences of calls are made of (calls.h). */
#include <dlfcn.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "perf/hand/calls.h"

#define C(name, expression) \
    void calls_##name(int64_t n, double *out, const double *x, const double *y, double b) { \
        (void)y, (void)b; \
        _Pragma("omp parallel for simd schedule(static)") for (int64_t i = 0; i < n; i++) out[i] = (expression); \
    }
CALLS_ALL(C)
#undef C

void calls_choose(int64_t n, double *out, const double *c, const double *x, const double *y) {
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) out[i] = c[i] != 0 ? x[i] : y[i];
}

double calls_sum(int64_t n, const double *x) {
    double s = 0;
#pragma omp parallel for simd reduction(+ : s) schedule(static)
    for (int64_t i = 0; i < n; i++) s += x[i];
    return s;
}

double calls_sumsq(int64_t n, const double *x) {
    double s = 0;
#pragma omp parallel for simd reduction(+ : s) schedule(static)
    for (int64_t i = 0; i < n; i++) s += x[i] * x[i];
    return s;
}

/* ---- matrices beside vectors, and their folds */

#define C(name, expression) \
    void calls_##name(int64_t n, int64_t k, double *out, const double *x, const double *v) { \
        _Pragma("omp parallel for schedule(static)") for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < k; j++) out[i * k + j] = \
            (expression); \
    }
CALLS_SIDES(C)
#undef C

#define FOLD(name, expression) \
    void calls_row_##name(int64_t n, int64_t k, double *out, const double *x) { \
        _Pragma("omp parallel for schedule(static)") for (int64_t i = 0; i < n; i++) { \
            double s = x[i * k]; \
            for (int64_t j = 1; j < k; j++) s = (expression); \
            out[i] = s; \
        } \
    }
FOLD(sums, s + x[i * k + j])
FOLD(mins, x[i * k + j] < s ? x[i * k + j] : s)
FOLD(maxs, x[i * k + j] > s ? x[i * k + j] : s)
#undef FOLD

void calls_put_column(int64_t n, int64_t k, int64_t j, double *x, const double *v) {
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < n; i++) x[i * k + j] = v[i];
}

void calls_col_sums(int64_t n, int64_t k, double *out, const double *x) {
    memset(out, 0, (size_t)k * sizeof *out);
#pragma omp parallel for schedule(static) reduction(+ : out[:k])
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < k; j++) out[j] += x[i * k + j];
}

void calls_turn(int64_t rows, int64_t cols, double *out, const double *x) {
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < cols; j++)
        for (int64_t i = 0; i < rows; i++) out[j * rows + i] = x[i * cols + j];
}

/* ---- products */

enum { ROW_MAJOR = 101, NO_TRANS = 111, TRANS = 112 }; /* the values of cblas.h */
typedef void (*gemv_fn)(int order, int trans, int rows, int cols, double alpha, const double *a, int lda, const double *x, int incx,
                        double beta, double *y, int incy);
typedef void (*gemm_fn)(int order, int trans_a, int trans_b, int rows, int cols, int inner, double alpha, const double *a, int lda,
                        const double *b, int ldb, double beta, double *c, int ldc);
typedef struct blas {
    gemv_fn gemv;
    gemm_fn gemm;
} blas;

static blas openblas(void) {
    void *library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return (blas){0};
    union {
        void *object;
        gemv_fn gemv;
        gemm_fn gemm;
        void (*threads)(int n);
    } gemv = {dlsym(library, "cblas_dgemv")}, gemm = {dlsym(library, "cblas_dgemm")}, set = {dlsym(library, "openblas_set_num_threads")};
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (set.object && cores > 0) set.threads((int)cores);
    if (!gemv.object || !gemm.object) return (blas){0};
    return (blas){gemv.gemv, gemm.gemm};
}

static bool dense(const hand_alg *a, int trans, int64_t k, const double *v, double *out) {
    static blas b;
    const int n = (int)a->n, m = (int)a->m, c = (int)k;
    if (!b.gemv) b = openblas();
    if (!b.gemv) return false;
    if (k == 1)
        b.gemv(ROW_MAJOR, trans, n, m, 1, a->x, m, v, 1, 0, out, 1);
    else
        b.gemm(ROW_MAJOR, trans, NO_TRANS, trans == TRANS ? m : n, c, trans == TRANS ? n : m, 1, a->x, m, v, c, 0, out, c);
    return true;
}

static void sparse_row(const hand_csr *s, int64_t i, int64_t k, const double *restrict v, double *restrict out) {
    for (int64_t j = 0; j < k; j++) out[j] = 0;
    for (int64_t p = s->ptr[i]; p < s->ptr[i + 1]; p++) {
        const double *restrict from = v + s->idx[p] * k;
#pragma omp simd
        for (int64_t j = 0; j < k; j++) out[j] += s->val[p] * from[j];
    }
}

bool calls_dense(bool turned, int64_t rows, int64_t cols, int64_t inner, const double *a, const double *b, double *out) {
    static blas lib;
    const int r = (int)rows, c = (int)cols, terms = (int)inner;
    if (!lib.gemm) lib = openblas();
    if (!lib.gemm) return false;
    lib.gemm(ROW_MAJOR, turned ? TRANS : NO_TRANS, NO_TRANS, r, c, terms, 1, a, turned ? r : terms, b, c, 0, out, c);
    return true;
}

static bool sparse(const hand_csr *s, int64_t k, const double *restrict v, double *restrict out) {
#pragma omp parallel for schedule(dynamic, 256)
    for (int64_t i = 0; i < s->rows; i++) {
        double sum = 0;
        if (k > 1) {
            sparse_row(s, i, k, v, out + i * k);
            continue;
        }
        for (int64_t p = s->ptr[i]; p < s->ptr[i + 1]; p++) sum += s->val[p] * v[s->idx[p]];
        out[i] = sum;
    }
    return true;
}

void calls_sparse(const hand_csr *x, int64_t k, const double *v, double *out) { sparse(x, k, v, out); }

bool calls_product(const hand_alg *a, int64_t k, const double *v, double *out) {
    return a->x ? dense(a, NO_TRANS, k, v, out) : sparse(&a->s, k, v, out);
}

bool calls_product_t(const hand_alg *a, int64_t k, const double *v, double *out) {
    return a->x ? dense(a, TRANS, k, v, out) : sparse(&a->twin, k, v, out);
}
