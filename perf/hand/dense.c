/* SPDX-License-Identifier: Apache-2.0
 * Row chains on a dense X, fused by hand: each row of X is read once, its products with V made and spent while it is in the cache. Every
 * thread sums into a private copy of the result. */
#include <stdlib.h>
#include <string.h>
#include "perf/hand/ml.h"

#define ALWAYS static inline __attribute__((always_inline))

/* ---- one column: four rows at once read and write the private sum once for four */

ALWAYS void chain_rows(const hand_ml *a, int64_t i, double *restrict q, const int rows) {
    const int64_t m = a->m;
    const double *restrict v = a->v, *restrict w = a->w + i;
    const double *restrict x0 = a->x + i * m, *restrict x1 = x0 + m, *restrict x2 = x1 + m, *restrict x3 = x2 + m;
    double t0 = 0, t1 = 0, t2 = 0, t3 = 0;
    if (rows == 1) {
#pragma omp simd reduction(+ : t0)
        for (int64_t j = 0; j < m; j++) t0 += x0[j] * v[j];
        t0 *= w[0];
#pragma omp simd
        for (int64_t j = 0; j < m; j++) q[j] += t0 * x0[j];
        return;
    }
#pragma omp simd reduction(+ : t0, t1, t2, t3)
    for (int64_t j = 0; j < m; j++) {
        t0 += x0[j] * v[j];
        t1 += x1[j] * v[j];
        t2 += x2[j] * v[j];
        t3 += x3[j] * v[j];
    }
    t0 *= w[0], t1 *= w[1], t2 *= w[2], t3 *= w[3];
#pragma omp simd
    for (int64_t j = 0; j < m; j++) q[j] += (t0 * x0[j] + t1 * x1[j]) + (t2 * x2[j] + t3 * x3[j]);
}

/* ---- two columns: V and the sum are kept as two vectors along the columns of X */

ALWAYS void pair_row(const hand_ml *a, int64_t i, const double *restrict vt, double *restrict q) {
    const int64_t m = a->m;
    const double *restrict x = a->x + i * m, *restrict v0 = vt, *restrict v1 = vt + m;
    double *restrict q0 = q, *restrict q1 = q + m, s0 = 0, s1 = 0;
#pragma omp simd reduction(+ : s0, s1)
    for (int64_t j = 0; j < m; j++) {
        s0 += x[j] * v0[j];
        s1 += x[j] * v1[j];
    }
    s0 *= a->w[2 * i], s1 *= a->w[2 * i + 1];
#pragma omp simd
    for (int64_t j = 0; j < m; j++) {
        q0[j] += s0 * x[j];
        q1[j] += s1 * x[j];
    }
}

ALWAYS void pair_rows(const hand_ml *a, int64_t i, const double *restrict vt, double *restrict q) {
    const int64_t m = a->m;
    const double *restrict x0 = a->x + i * m, *restrict x1 = x0 + m, *restrict x2 = x1 + m, *restrict x3 = x2 + m;
    const double *restrict v0 = vt, *restrict v1 = vt + m, *restrict w = a->w + 2 * i;
    double *restrict q0 = q, *restrict q1 = q + m;
    double s0 = 0, s1 = 0, s2 = 0, s3 = 0, t0 = 0, t1 = 0, t2 = 0, t3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, t0, t1, t2, t3)
    for (int64_t j = 0; j < m; j++) {
        s0 += x0[j] * v0[j], t0 += x0[j] * v1[j];
        s1 += x1[j] * v0[j], t1 += x1[j] * v1[j];
        s2 += x2[j] * v0[j], t2 += x2[j] * v1[j];
        s3 += x3[j] * v0[j], t3 += x3[j] * v1[j];
    }
    s0 *= w[0], s1 *= w[2], s2 *= w[4], s3 *= w[6];
    t0 *= w[1], t1 *= w[3], t2 *= w[5], t3 *= w[7];
#pragma omp simd
    for (int64_t j = 0; j < m; j++) {
        q0[j] += (s0 * x0[j] + s1 * x1[j]) + (s2 * x2[j] + s3 * x3[j]);
        q1[j] += (t0 * x0[j] + t1 * x1[j]) + (t2 * x2[j] + t3 * x3[j]);
    }
}

/* ---- 8 * vectors columns: a row of V is `vectors` vectors, and the products of `rows` rows stay in registers */

typedef double v8 __attribute__((vector_size(64), aligned(8), may_alias));
typedef enum wide_kind { PLAIN, MLOGREG } wide_kind;

/* t = w * t, or t = p - w * sum(p) with p = w * t. */
ALWAYS void weigh(v8 *t, const double *w, const int vectors, wide_kind kind) {
    double sum = 0;
#pragma GCC unroll 4
    for (int c = 0; c < vectors; c++) {
        t[c] *= ((const v8 *)w)[c];
        if (kind == MLOGREG)
            for (int l = 0; l < 8; l++) sum += t[c][l];
    }
    for (int c = 0; kind == MLOGREG && c < vectors; c++) t[c] -= ((const v8 *)w)[c] * sum;
}

ALWAYS void wide_rows(const hand_ml *a, int64_t i, double *restrict q, const int rows, const int vectors, wide_kind kind) {
    const int64_t m = a->m, k = 8 * vectors;
    const double *restrict x = a->x + i * m, *restrict v = a->v;
    v8 t[16] = {{0}};
    for (int64_t j = 0; j < m; j++) {
#pragma GCC unroll 4
        for (int r = 0; r < rows; r++)
#pragma GCC unroll 4
            for (int c = 0; c < vectors; c++) t[r * vectors + c] += x[r * m + j] * *(const v8 *)(v + j * k + 8 * c);
    }
    for (int r = 0; r < rows; r++) weigh(t + r * vectors, a->w + (i + r) * k, vectors, kind);
    for (int64_t j = 0; j < m; j++) {
#pragma GCC unroll 4
        for (int c = 0; c < vectors; c++) {
            v8 s = *(v8 *)(q + j * k + 8 * c);
#pragma GCC unroll 4
            for (int r = 0; r < rows; r++) s += x[r * m + j] * t[r * vectors + c];
            *(v8 *)(q + j * k + 8 * c) = s;
        }
    }
}

/* ---- rows over threads */

/* Blocks of `rows` rows, then single ones; ONE and MANY are one row's and one block's work on the private sum q. */
#define CHAIN(name, rows, PREPARE, MANY, ONE, FINISH) \
    void hand_##name(const hand_ml *a) { \
        const int64_t n = a->n, size = a->m * a->k, blocks = n / (rows); \
        const double *vt = PREPARE(a); \
        memset(a->out, 0, (size_t)size * sizeof *a->out); \
        _Pragma("omp parallel") { \
            double *q = aligned_alloc(64, ((size_t)size * sizeof *q + 63) / 64 * 64); \
            memset(q, 0, (size_t)size * sizeof *q); \
            _Pragma("omp for schedule(static) nowait") for (int64_t b = 0; b < blocks; b++) MANY(a, b *(rows), vt, q); \
            _Pragma("omp single nowait") for (int64_t i = blocks * (rows); i < n; i++) ONE(a, i, vt, q); \
            _Pragma("omp critical") FINISH(a, q); \
            free(q); \
        } \
        if (vt != a->v) free((void *)vt); \
    }

ALWAYS const double *as_is(const hand_ml *a) { return a->v; }

static const double *transposed(const hand_ml *a) {
    double *t = malloc((size_t)(a->m * a->k) * sizeof *t);
    for (int64_t j = 0; j < a->m; j++)
        for (int64_t c = 0; c < a->k; c++) t[c * a->m + j] = a->v[j * a->k + c];
    return t;
}

static void add(const hand_ml *a, const double *restrict q) {
    double *restrict out = a->out;
    for (int64_t j = 0; j < a->m * a->k; j++) out[j] += q[j];
}

static void add_transposed(const hand_ml *a, const double *q) {
    for (int64_t j = 0; j < a->m; j++)
        for (int64_t c = 0; c < a->k; c++) a->out[j * a->k + c] += q[c * a->m + j];
}

#define CHAIN_1(a, i, vt, q) chain_rows(a, i, q, 1)
#define CHAIN_4(a, i, vt, q) chain_rows(a, i, q, 4)
CHAIN(mvchain_1, 1, as_is, CHAIN_1, CHAIN_1, add)
CHAIN(mvchain_4, 4, as_is, CHAIN_4, CHAIN_1, add)
CHAIN(mmchain_k2_1, 1, transposed, pair_row, pair_row, add_transposed)
CHAIN(mmchain_k2_4, 4, transposed, pair_rows, pair_row, add_transposed)

#define WIDE(name, vectors, kind) \
    ALWAYS void name##_1(const hand_ml *a, int64_t i, const double *vt, double *q) { \
        (void)vt; \
        wide_rows(a, i, q, 1, vectors, kind); \
    } \
    ALWAYS void name##_4(const hand_ml *a, int64_t i, const double *vt, double *q) { \
        (void)vt; \
        wide_rows(a, i, q, 4, vectors, kind); \
    } \
    CHAIN(name##_1, 1, as_is, name##_1, name##_1, add) \
    CHAIN(name##_4, 4, as_is, name##_4, name##_1, add)
WIDE(mmchain_k8, 1, PLAIN)
WIDE(mmchain_k32, 4, PLAIN)
WIDE(mlogreg_k8, 1, MLOGREG)
