/* SPDX-License-Identifier: Apache-2.0
 * Generalised linear models: half the deviance and lambda/2 times the squares of the weights, with the observed second derivative (the
 * example has the expected one) and the normal distribution from long double erfc, which is a number as far as these tests go. */
#include <math.h>

#include "tests/oracle/algo_newton.h"

typedef struct cell {
    long double loss, first, second; /* by the score */
} cell;

static cell probit(long double y, long double score) {
    const long double sign = y > 0 ? 1 : -1, z = sign * score, phi = 0.5L * erfcl(-z * sqrtl(0.5L));
    const long double ratio = expl(-z * z / 2) / sqrtl(8 * atanl(1)) / phi;
    return (cell){-logl(phi), -sign * ratio, ratio * (ratio + z)};
}

static cell poisson(long double y, long double score) {
    const long double mean = expl(score);
    return (cell){mean - y * score + (y > 0 ? y * logl(y) : 0) - y, mean - y, mean};
}

static long double sum(const algo_plain *a, cell (*at)(long double, long double), const double *b, long double *g, long double *h) {
    long double loss = 0;
    for (int64_t i = 0; i < a->n; i++) {
        const double *x = a->x + i * a->m;
        long double score = 0;
        for (int64_t j = 0; j < a->m; j++) score += (long double)x[j] * b[j];
        const cell r = at(a->y[i], score);
        loss += r.loss;
        for (int64_t u = 0; h && u < a->m; u++) {
            g[u] += r.first * x[u];
            for (int64_t v = 0; v <= u; v++) h[u * a->m + v] += r.second * x[u] * x[v];
        }
    }
    for (int64_t u = 0; u < a->m; u++) {
        loss += 0.5L * a->lambda * b[u] * b[u];
        if (h) g[u] += a->lambda * b[u], h[u * a->m + u] += a->lambda;
    }
    return loss;
}

static long double probit_objective(const algo_plain *a, const double *b, long double *g, long double *h) {
    return sum(a, probit, b, g, h);
}
static long double poisson_objective(const algo_plain *a, const double *b, long double *g, long double *h) {
    return sum(a, poisson, b, g, h);
}

bool algo_glm_probit(algo_plain *a) { return algo_newton(a, a->m, probit_objective, a->model[0], &a->objective); }
bool algo_glm_poisson(algo_plain *a) { return algo_newton(a, a->m, poisson_objective, a->model[0], &a->objective); }
