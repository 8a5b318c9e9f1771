/* SPDX-License-Identifier: Apache-2.0
 * Multinomial logistic regression: k classes, labels 1 to k, the last with score 0; the penalty is lambda/2 times the squares of B,
 * m x (k - 1). */
#include <math.h>
#include <stdlib.h>

#include "tests/oracle/algo_newton.h"

enum { CLASSES = 32 };

/* The probabilities of row i; gives minus the logarithm of its label's. */
static long double probabilities(const algo_plain *a, const double *b, int64_t i, long double *p) {
    int64_t label = (int64_t)a->y[i] - 1;
    long double all = 0, top = 0, own;
    for (int64_t c = 0; c < a->k; c++) {
        p[c] = 0;
        for (int64_t j = 0; c < a->k - 1 && j < a->m; j++) p[c] += (long double)a->x[i * a->m + j] * b[j * (a->k - 1) + c];
        if (p[c] > top) top = p[c];
    }
    own = p[label] - top;
    for (int64_t c = 0; c < a->k; c++) all += p[c] = expl(p[c] - top);
    for (int64_t c = 0; c < a->k; c++) p[c] /= all;
    return logl(all) - own;
}

/* Row i, column j of B's derivatives: parameter (j, c) stands at j * (k - 1) + c. */
static void derive(const algo_plain *a, int64_t i, const long double *p, long double *g, long double *h) {
    const int64_t k = a->k - 1, d = a->m * k;
    for (int64_t u = 0; u < d; u++) {
        const long double x = a->x[i * a->m + u / k];
        g[u] += x * (p[u % k] - (a->y[i] == (double)(u % k + 1)));
        for (int64_t v = 0; v <= u; v++) h[u * d + v] += x * a->x[i * a->m + v / k] * p[u % k] * ((u % k == v % k) - p[v % k]);
    }
}

static long double objective(const algo_plain *a, const double *b, long double *g, long double *h) {
    const int64_t d = a->m * (a->k - 1);
    long double loss = 0, squares = 0, p[CLASSES];
    for (int64_t i = 0; i < a->n; i++) {
        loss += probabilities(a, b, i, p);
        if (h) derive(a, i, p, g, h);
    }
    for (int64_t u = 0; u < d; u++) {
        squares += (long double)b[u] * b[u];
        if (h) g[u] += a->lambda * b[u], h[u * d + u] += a->lambda;
    }
    return loss + 0.5L * a->lambda * squares;
}

bool algo_mlogreg(algo_plain *a) { return a->k <= CLASSES && algo_newton(a, a->m * (a->k - 1), objective, a->model[0], &a->objective); }
