/* SPDX-License-Identifier: Apache-2.0
 * examples/mlogreg.c by hand. Two classes keep the weight p*(1 - p) itself; more keep the probabilities. */
#include <math.h>
#include "perf/hand/alg_trust.h"

static double point_2(const hand_alg *a, int64_t i, int64_t rows, double *restrict z, double *restrict w) {
    const double *restrict y = a->y + i;
    double loss = 0;
#pragma omp simd reduction(+ : loss)
    for (int64_t r = 0; r < rows; r++) {
        const double s = z[r], one = y[r] == 1 ? 1 : 0, e = exp(-fabs(s)), large = 1 / (1 + e), p = s > 0 ? large : e * large;
        loss += log(1 + e) + (s > 0 ? s : 0) - one * s;
        w[r] = e * large * large;
        z[r] = one - p;
    }
    return loss;
}

static double curve_2(const hand_alg *a, int64_t i, int64_t rows, double *restrict z, double *restrict w) {
    (void)a, (void)i;
#pragma omp simd
    for (int64_t r = 0; r < rows; r++) z[r] *= w[r];
    return 0;
}

static double point_row(double label, int64_t k, double *restrict z, double *restrict w) {
    double top = 0, all = 0, own = 0;
    for (int64_t c = 0; c < k; c++) {
        top = z[c] > top ? z[c] : top;
        own = label == (double)(c + 1) ? z[c] : own;
    }
    for (int64_t c = 0; c < k; c++) all += w[c] = exp(z[c] - top);
    all += exp(-top);
    for (int64_t c = 0; c < k; c++) {
        w[c] /= all;
        z[c] = (label == (double)(c + 1) ? 1 : 0) - w[c];
    }
    return log(all) + top - own;
}

static double point_k(const hand_alg *a, int64_t i, int64_t rows, double *restrict z, double *restrict w) {
    const int64_t k = a->k - 1;
    double loss = 0;
    for (int64_t r = 0; r < rows; r++) loss += point_row(a->y[i + r], k, z + r * k, w + r * k);
    return loss;
}

static double curve_k(const hand_alg *a, int64_t i, int64_t rows, double *restrict z, double *restrict w) {
    const int64_t k = a->k - 1;
    (void)i;
    for (int64_t r = 0; r < rows; r++, z += k, w += k) {
        double sum = 0;
        for (int64_t c = 0; c < k; c++) sum += z[c] *= w[c];
        for (int64_t c = 0; c < k; c++) z[c] -= w[c] * sum;
    }
    return 0;
}

bool hand_alg_mlogreg(hand_alg *a) {
    const bool two = a->k == 2;
    return hand_trust(a, a->k - 1, two ? point_2 : point_k, two ? curve_2 : curve_k, false, 0);
}
