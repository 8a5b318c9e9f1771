/* SPDX-License-Identifier: Apache-2.0
 * Lloyd's iterations with distances taken as they are defined, sums in long double. start[0]: k x m centres. model: centres, and the
 * nearest centre of each row, counted from 1. A row as near to several centres counts for each with its share; a centre without rows
 * stays. An iteration tells the objective of its centres, then moves them, unless it was the last. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/algo.h"

static long double distance(const algo_plain *a, int64_t i, const double *c) {
    long double s = 0;
    for (int64_t j = 0; j < a->m; j++) {
        long double d = (long double)a->x[i * a->m + j] - c[j];
        s += d * d;
    }
    return s;
}

/* Which centres are nearest, as flags; gives how many. */
static int nearest(const algo_plain *a, int64_t i, const double *c, bool *is, long double *least) {
    int count = 0;
    *least = INFINITY;
    for (int64_t k = 0; k < a->k; k++) {
        long double d = distance(a, i, c + k * a->m);
        if (d < *least) *least = d;
    }
    for (int64_t k = 0; k < a->k; k++) {
        is[k] = distance(a, i, c + k * a->m) <= *least;
        count += is[k];
    }
    return count;
}

static double evaluate(const algo_plain *a, const double *c, bool *is, long double *sums, long double *size) {
    long double all = 0, least;
    memset(sums, 0, (size_t)(a->k * a->m) * sizeof *sums);
    memset(size, 0, (size_t)a->k * sizeof *size);
    for (int64_t i = 0; i < a->n; i++) {
        int shares = nearest(a, i, c, is, &least);
        all += least;
        for (int64_t k = 0; k < a->k; k++) {
            if (!is[k]) continue;
            size[k] += 1.0L / shares;
            for (int64_t j = 0; j < a->m; j++) sums[k * a->m + j] += (long double)a->x[i * a->m + j] / shares;
        }
    }
    return (double)all;
}

void algo_kmeans(algo_plain *a) {
    double *c = a->model[0], before = NAN;
    bool *is = calloc((size_t)a->k, sizeof *is);
    long double *sums = calloc((size_t)(a->k * a->m), sizeof *sums), *size = calloc((size_t)a->k, sizeof *size);
    if (!is || !sums || !size) abort();
    memcpy(c, a->start[0], (size_t)(a->k * a->m) * sizeof *c);
    for (int it = 1;; it++, before = a->objective) {
        a->objective = evaluate(a, c, is, sums, size);
        if (fabs(before - a->objective) <= a->tolerance * a->objective || it == a->iterations) break;
        for (int64_t k = 0; k < a->k; k++)
            for (int64_t j = 0; j < a->m && size[k] > 0; j++) c[k * a->m + j] = (double)(sums[k * a->m + j] / size[k]);
    }
    for (int64_t i = 0; i < a->n; i++) {
        long double least;
        int64_t k = 0;
        nearest(a, i, c, is, &least);
        while (!is[k]) k++;
        a->model[1][i] = (double)(k + 1);
    }
    free(is);
    free(sums);
    free(size);
}
