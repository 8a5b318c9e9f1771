/* SPDX-License-Identifier: Apache-2.0
 * examples/glm.c by hand. */
#include <math.h>
#include "perf/hand/alg_trust.h"

static double probit(const hand_alg *a, int64_t i, int64_t rows, double *restrict z, double *restrict w) {
    const double *restrict y = a->y + i;
    double loss = 0;
#pragma omp simd reduction(+ : loss)
    for (int64_t r = 0; r < rows; r++) {
        const double x = fabs(z[r]), xx = x * x, q = 0.5 * erfc(x * 0.70710678118654752440), f = 0.39894228040143267794 * exp(-0.5 * xx);
        const double u = 1 / fmax(xx, 1), far = x / (1 - u * (1 - u * (3 - u * (15 - 105 * u))));
        const double h = x < 30 ? f / fmax(q, 1e-300) : far, n = f / (1 - q), s = y[r] > 0 ? 1 : -1;
        const int likely = s * z[r] >= 0;
        loss += log(likely ? 1 / (1 - q) : h) + (likely ? 0 : 0.5 * xx + 0.91893853320467274178);
        w[r] = h * n;
        z[r] = s * (likely ? n : h);
    }
    return loss;
}

static double poisson(const hand_alg *a, int64_t i, int64_t rows, double *restrict z, double *restrict w) {
    const double *restrict y = a->y + i;
    double loss = 0;
#pragma omp simd reduction(+ : loss)
    for (int64_t r = 0; r < rows; r++) {
        const double mean = exp(z[r]), count = y[r];
        loss += mean - count * z[r];
        w[r] = mean;
        z[r] = count - mean;
    }
    return loss;
}

static double curve(const hand_alg *a, int64_t i, int64_t rows, double *restrict z, double *restrict w) {
    (void)a, (void)i;
#pragma omp simd
    for (int64_t r = 0; r < rows; r++) z[r] *= w[r];
    return 0;
}

bool hand_alg_glm_probit(hand_alg *a) { return hand_trust(a, 1, probit, curve, true, 0); }

bool hand_alg_glm_poisson(hand_alg *a) {
    double rest = 0; /* of the deviance */
#pragma omp parallel for simd reduction(+ : rest) schedule(static)
    for (int64_t i = 0; i < a->n; i++) rest += (a->y[i] > 0 ? a->y[i] * log(fmax(a->y[i], 1e-300)) : 0) - a->y[i];
    return hand_trust(a, 1, poisson, curve, true, rest);
}
