/* SPDX-License-Identifier: Apache-2.0
 * Rows lo to hi of X, dense or sparse, times a column: t = X v, and q += t(X) r. Four dense rows at once, so that v and q are loaded once
 * for four. t and r begin with the number of row lo. */
#ifndef CLF_PERF_HAND_ROWS_H
#define CLF_PERF_HAND_ROWS_H
#include "perf/hand/algorithm.h"

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS void rows_dense_products(const hand_alg *a, int64_t lo, int64_t hi, const double *restrict v, double *restrict t) {
    const int64_t m = a->m;
    int64_t i = lo;
    for (; i + 4 <= hi; i += 4) {
        const double *restrict x0 = a->x + i * m, *restrict x1 = x0 + m, *restrict x2 = x1 + m, *restrict x3 = x2 + m;
        double t0 = 0, t1 = 0, t2 = 0, t3 = 0;
#pragma omp simd reduction(+ : t0, t1, t2, t3)
        for (int64_t j = 0; j < m; j++) {
            t0 += x0[j] * v[j];
            t1 += x1[j] * v[j];
            t2 += x2[j] * v[j];
            t3 += x3[j] * v[j];
        }
        t[i - lo] = t0, t[i - lo + 1] = t1, t[i - lo + 2] = t2, t[i - lo + 3] = t3;
    }
    for (; i < hi; i++) {
        double t0 = 0;
#pragma omp simd reduction(+ : t0)
        for (int64_t j = 0; j < m; j++) t0 += a->x[i * m + j] * v[j];
        t[i - lo] = t0;
    }
}

ALWAYS void rows_dense_sums(const hand_alg *a, int64_t lo, int64_t hi, const double *restrict r, double *restrict q) {
    const int64_t m = a->m;
    int64_t i = lo;
    for (; i + 4 <= hi; i += 4) {
        const double *restrict x0 = a->x + i * m, *restrict x1 = x0 + m, *restrict x2 = x1 + m, *restrict x3 = x2 + m;
        const double r0 = r[i - lo], r1 = r[i - lo + 1], r2 = r[i - lo + 2], r3 = r[i - lo + 3];
#pragma omp simd
        for (int64_t j = 0; j < m; j++) q[j] += (r0 * x0[j] + r1 * x1[j]) + (r2 * x2[j] + r3 * x3[j]);
    }
    for (; i < hi; i++) {
#pragma omp simd
        for (int64_t j = 0; j < m; j++) q[j] += r[i - lo] * a->x[i * m + j];
    }
}

ALWAYS void rows_sparse_products(const hand_csr *s, int64_t lo, int64_t hi, const double *restrict v, double *restrict t) {
    for (int64_t i = lo; i < hi; i++) {
        double sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t p = s->ptr[i]; p < s->ptr[i + 1]; p++) sum += s->val[p] * v[s->idx[p]];
        t[i - lo] = sum;
    }
}

ALWAYS void rows_sparse_sums(const hand_csr *s, int64_t lo, int64_t hi, const double *restrict r, double *restrict q) {
    for (int64_t i = lo; i < hi; i++)
        for (int64_t p = s->ptr[i]; p < s->ptr[i + 1] && r[i - lo] != 0; p++) q[s->idx[p]] += r[i - lo] * s->val[p];
}
#endif
