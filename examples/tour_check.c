/* SPDX-License-Identifier: Apache-2.0
 * References of the tour: plain serial loops, cells in double, sums in long double.
 *
 * What an error may be, in units of the machine's epsilon: the roundings of a cell, and for sums one for each addition on the longest
 * way through the reduction tree: 64 in a leaf of 512 cells, 3 across the lanes, one a level of the tree over leaves; a column's sum has
 * blocks of rows, at most 1,024, and the tree over them. Errors are relative to the sum of the terms' sizes. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "examples/tour.h"

/* Roundings of a cell, each elementary function counted with the few units that a math library promises, times what the formula makes of
 * them (a logarithm near 1 and a difference of two prices magnify). */
enum { OF_XYZ = 2, OF_THREE = 1, OF_LOSS = 24, OF_OPTIONS = 96, OF_COLUMNS = 2 };

static double sum_bound(const tour_data *d, int cell) {
    return (cell + 64 + 3 + ceil(log2((double)(d->rows * d->cols) / 512 + 1)) + 1) * DBL_EPSILON;
}

static double distance(const void *out, int64_t i, long double want, long double scale) {
    return (double)(fabsl(((const double *)out)[i] - want) / scale);
}

/* NaN wins, so that no wrong result hides behind it. */
static double worse(double a, double b) { return isnan(a) || isnan(b) ? (double)NAN : fmax(a, b); }

double tour_error_xyz(const tour_data *d, const void *const *outs, double *bound) {
    const double *x = d->in[0], *y = d->in[1], *z = d->in[2];
    long double s = 0;
    for (int64_t i = 0; i < d->rows * d->cols; i++) s += x[i] * y[i] * z[i];
    *bound = sum_bound(d, OF_XYZ);
    return distance(outs[0], 0, s, s);
}

double tour_error_three(const tour_data *d, const void *const *outs, double *bound) {
    const double *x = d->in[0], *y = d->in[1], *z = d->in[2];
    long double xy = 0, xz = 0, xx = 0;
    for (int64_t i = 0; i < d->rows * d->cols; i++) {
        xy += x[i] * y[i];
        xz += x[i] * z[i];
        xx += x[i] * x[i];
    }
    *bound = sum_bound(d, OF_THREE);
    return worse(worse(distance(outs[0], 0, xy, xy), distance(outs[1], 0, xz, xz)), distance(outs[2], 0, xx, xx));
}

double tour_error_loss(const tour_data *d, const void *const *outs, double *bound) {
    const double *x = d->in[0], *y = d->in[1], *z = d->in[2];
    long double s = 0;
    for (int64_t i = 0; i < d->rows * d->cols; i++) s += z[i] * log1p(exp(-x[i] * y[i]));
    *bound = sum_bound(d, OF_LOSS);
    return distance(outs[0], 0, s, s);
}

static double normal(double v) { return 0.5 * erfc(-v * 0.70710678118654752440); }

double tour_error_options(const tour_data *d, const void *const *outs, double *bound) {
    const double *x = d->in[0], *y = d->in[1], *z = d->in[2];
    double error = 0;
    for (int64_t i = 0; i < d->rows * d->cols; i++) {
        double spread = 0.3 * sqrt(z[i]), d1 = (log(x[i] / y[i]) + 0.065 * z[i]) / spread, strike = y[i] * exp(-0.02 * z[i]);
        double call = x[i] * normal(d1) - strike * normal(d1 - spread);
        error = worse(error, distance(outs[0], i, call, x[i] + strike));
        error = worse(error, distance(outs[1], i, call - x[i] + strike, x[i] + strike));
    }
    *bound = OF_OPTIONS * DBL_EPSILON;
    return error;
}

/* Row sums in long double; then each column by itself. */
double tour_error_columns(const tour_data *d, const void *const *outs, double *bound) {
    const double *x = d->in[0];
    const int64_t m = d->cols;
    long double *sums = malloc((size_t)d->rows * sizeof *sums);
    double error = sums ? 0 : NAN;
    for (int64_t i = 0; sums && i < d->rows; i++) {
        sums[i] = 0;
        for (int64_t j = 0; j < m; j++) sums[i] += x[i * m + j];
    }
    for (int64_t j = 0; sums && j < m; j++) {
        long double s = 0;
        for (int64_t i = 0; i < d->rows; i++) s += x[i * m + j] / sums[i];
        error = worse(error, distance(outs[0], j, s, s));
    }
    free(sums);
    *bound = (OF_COLUMNS + 64 + 3 + fmax(16, 2.0 * (double)d->rows / 1024) + 14) * DBL_EPSILON; /* a row's sum, then a column's */
    return error;
}
