/* SPDX-License-Identifier: Apache-2.0
 * PageRank as a system of linear equations, (I - lambda t(T)) p = (1 - lambda) v, where T is X with rows of sum 1 and v in the place of
 * rows of zeros; Gauss's elimination with pivots in long double. No iteration, so it shares neither steps nor their order with the
 * example. y: where the surfer jumps, or NULL. model: the ranks. objective: 0, as nothing is left to change. */
#include <math.h>
#include <stdlib.h>

#include "tests/oracle/algo.h"

static void fill(const algo_plain *a, long double *at, long double *p) {
    int64_t n = a->n;
    long double total = 0;
    for (int64_t i = 0; i < n; i++) total += a->y ? a->y[i] : 1;
    for (int64_t i = 0; i < n; i++) {
        long double out = 0;
        p[i] = (1 - (long double)a->lambda) * (a->y ? a->y[i] : 1) / total;
        for (int64_t j = 0; j < n; j++) out += a->x[i * n + j];
        for (int64_t j = 0; j < n; j++) {
            long double go = out > 0 ? a->x[i * n + j] / out : (a->y ? a->y[j] : 1) / total;
            at[j * n + i] = (i == j) - a->lambda * go;
        }
    }
}

static void swap_rows(long double *at, long double *p, int64_t n, int64_t r, int64_t s) {
    long double t = p[r];
    p[r] = p[s], p[s] = t;
    for (int64_t j = 0; j < n; j++) t = at[r * n + j], at[r * n + j] = at[s * n + j], at[s * n + j] = t;
}

static void solve(long double *at, long double *p, int64_t n) {
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; i++)
            if (fabsl(at[i * n + k]) > fabsl(at[pivot * n + k])) pivot = i;
        swap_rows(at, p, n, k, pivot);
        for (int64_t i = k + 1; i < n; i++) {
            long double f = at[i * n + k] / at[k * n + k];
            p[i] -= f * p[k];
            for (int64_t j = k; j < n; j++) at[i * n + j] -= f * at[k * n + j];
        }
    }
    for (int64_t k = n - 1; k >= 0; k--) {
        for (int64_t j = k + 1; j < n; j++) p[k] -= at[k * n + j] * p[j];
        p[k] /= at[k * n + k];
    }
}

void algo_pagerank(algo_plain *a) {
    long double *at = calloc((size_t)(a->n * a->n), sizeof *at), *p = calloc((size_t)a->n, sizeof *p);
    if (!at || !p) abort();
    fill(a, at, p);
    solve(at, p, a->n);
    for (int64_t i = 0; i < a->n; i++) a->model[0][i] = (double)p[i];
    a->objective = 0;
    free(at);
    free(p);
}
