/* SPDX-License-Identifier: Apache-2.0
 * The references themselves, for one element type T; NAME(x) gives a function its name, F(x) a math function its suffix. */
#include <math.h>
#include <stdlib.h>
#include "perf/hand/hand.h"

#define INPUTS(a)                                                   \
    const T *restrict x = (a)->x, *restrict y = (a)->y, *restrict z = (a)->z; \
    const int64_t n = (a)->rows * (a)->cols;                        \
    (void)x, (void)y, (void)z, (void)n

void NAME(read)(hand_args *a) {
    INPUTS(a);
    T s = 0;
#pragma omp parallel for simd reduction(+ : s) schedule(static)
    for (int64_t i = 0; i < n; i++) s += x[i];
    a->r[0] = s;
}

void NAME(sum_xyz)(hand_args *a) {
    INPUTS(a);
    T s = 0;
#pragma omp parallel for simd reduction(+ : s) schedule(static)
    for (int64_t i = 0; i < n; i++) s += x[i] * y[i] * z[i];
    a->r[0] = s;
}

void NAME(sum_xyz_serial)(hand_args *a) {
    INPUTS(a);
    T s = 0;
    for (int64_t i = 0; i < n; i++) s += x[i] * y[i] * z[i];
    a->r[0] = s;
}

void NAME(three_aggs)(hand_args *a) {
    INPUTS(a);
    T p = 0, q = 0, r = 0;
#pragma omp parallel for simd reduction(+ : p, q, r) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        p += x[i] * y[i];
        q += x[i] * z[i];
        r += x[i] * x[i];
    }
    a->r[0] = p;
    a->r[1] = q;
    a->r[2] = r;
}

void NAME(tap)(hand_args *a) {
    INPUTS(a);
    T *restrict o = a->o[0];
    T s = 0;
#pragma omp parallel for simd reduction(+ : s) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        T v = x[i] * y[i] + z[i];
        o[i] = v;
        s += v;
    }
    a->r[0] = s;
}

void NAME(no_agg)(hand_args *a) {
    INPUTS(a);
    T *restrict o = a->o[0];
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) o[i] = x[i] * y[i] + z[i];
}

void NAME(row_agg)(hand_args *a) {
    INPUTS(a);
    T *restrict o = a->o[0];
    const int64_t m = a->cols;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < a->rows; i++) {
        const T *restrict u = x + i * m, *restrict v = y + i * m;
        T s = 0;
#pragma omp simd reduction(+ : s)
        for (int64_t j = 0; j < m; j++) s += u[j] * v[j];
        o[i] = s;
    }
}

/* p += the columns of rows [lo, hi): four rows at once, so that p is loaded and stored once for four. */
static void column_block(const T *restrict x, const T *restrict y, T *restrict p, int64_t lo, int64_t hi, int64_t m) {
    int64_t i = lo;
    for (; i + 4 <= hi; i += 4) {
        const T *restrict u = x + i * m, *restrict v = y + i * m;
#pragma omp simd
        for (int64_t j = 0; j < m; j++)
            p[j] += (u[j] * v[j] + u[j + m] * v[j + m]) + (u[j + 2 * m] * v[j + 2 * m] + u[j + 3 * m] * v[j + 3 * m]);
    }
    for (; i < hi; i++) {
#pragma omp simd
        for (int64_t j = 0; j < m; j++) p[j] += x[i * m + j] * y[i * m + j];
    }
}

void NAME(col_agg)(hand_args *a) {
    INPUTS(a);
    T *restrict o = a->o[0];
    const int64_t m = a->cols;
    const int64_t block = 64;
    for (int64_t j = 0; j < m; j++) o[j] = 0;
#pragma omp parallel
    {
        T *restrict p = calloc((size_t)m, sizeof *p);
#pragma omp for schedule(static)
        for (int64_t b = 0; b < (a->rows + block - 1) / block; b++)
            if (p) column_block(x, y, p, b * block, (b + 1) * block < a->rows ? (b + 1) * block : a->rows, m);
#pragma omp critical
        for (int64_t j = 0; p && j < m; j++) o[j] += p[j];
        free(p);
    }
}

void NAME(sigmoid_loss)(hand_args *a) {
    INPUTS(a);
    T s = 0;
#pragma omp parallel for simd reduction(+ : s) schedule(static)
    for (int64_t i = 0; i < n; i++) s += z[i] * F(log)(1 + F(exp)(-x[i] * y[i]));
    a->r[0] = s;
}

void NAME(black_scholes)(hand_args *a) {
    INPUTS(a);
    T *restrict call = a->o[0], *restrict put = a->o[1];
    const T rate = (T)0.02, vol = (T)0.3, drift = (T)0.065, root_half = (T)0.70710678118654752440;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        T spread = vol * F(sqrt)(z[i]);
        T d1 = (F(log)(x[i] / y[i]) + drift * z[i]) / spread;
        T d2 = d1 - spread;
        T strike = y[i] * F(exp)(-rate * z[i]);
        T c = x[i] * ((T)0.5 * F(erfc)(-d1 * root_half)) - strike * ((T)0.5 * F(erfc)(-d2 * root_half));
        call[i] = c;
        put[i] = c - x[i] + strike;
    }
}
