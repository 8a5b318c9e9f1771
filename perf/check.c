/* SPDX-License-Identifier: Apache-2.0
 * The oracle: results against the cell function evaluated in double and summed in long double.
 *
 * The bound in units of epsilon: the cell function's own roundings; a sum adds the longest chain of additions that the reduction tree
 * allows: 64 in a leaf (32 lanes of f32), the lanes' three or four, and one a level of the tree over leaves; a column sum adds a block
 * of rows and the tree over at most 1,024 blocks (64 for wide matrices). All inputs are positive, so the bounds are relative. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "perf/bench.h"

static double load(const void *p, int64_t i, clf_dtype t) {
    return t == CLF_F64 ? ((const double *)p)[i] : t == CLF_F32 ? (double)((const float *)p)[i] : NAN;
}

static double bound(const bench_case *k, bench_kind kind, clf_dtype t, int64_t rows, int64_t cols) {
    double eps = t == CLF_F64 ? DBL_EPSILON : (double)FLT_EPSILON, chain = 0;
    double cells = (double)rows * (double)cols;
    if (kind == BENCH_SUM) chain = 64 + 4 + ceil(log2(cells / 512 + 1));
    if (kind == BENCH_ROWS) chain = 64 + 4 + ceil(log2((double)cols / 512 + 1));
    if (kind == BENCH_COLS) chain = fmax(16, 2.0 * (double)rows / (cols <= 4096 ? 1024 : 64)) + 4 + 10;
    return (k->roundings + chain + 1) * eps;
}

typedef struct sums {
    long double v[BENCH_VALUES], s[BENCH_VALUES];
} sums;

static double worse(double a, double b) { return isnan(a) || isnan(b) ? (double)NAN : a > b ? a : b; }

static double relative(double got, long double want, long double scale) {
    return (double)(fabsl((long double)got - want) / (scale > 0 ? scale : 1));
}

/* One row: cell results are compared at once, row sums at its end; total and column sums are carried on. err[o] grows. */
static void check_row(const bench_case *k, const bench_data *d, int64_t i, const void *const *outs, const clf_dtype *types, sums *all,
                      long double *columns, double *err) {
    sums row = {0};
    for (int64_t j = 0; j < k->cols; j++) {
        double in[3] = {0}, value[BENCH_VALUES] = {0}, scale[BENCH_VALUES] = {0};
        for (int n = 0; n < k->nin; n++) in[n] = load(d->in[n], i * k->cols + j, d->dtype);
        k->cell(in, value, scale);
        for (int o = 0; o < BENCH_OUTS && k->out[o].name; o++) {
            int v = k->out[o].value;
            if (k->out[o].kind == BENCH_CELLS)
                err[o] = worse(err[o], relative(load(outs[o], i * k->cols + j, types[o]), value[v], scale[v]));
            if (k->out[o].kind == BENCH_COLS) columns[j] += value[v];
        }
        for (int v = 0; v < BENCH_VALUES; v++) row.v[v] += value[v], row.s[v] += scale[v];
    }
    for (int o = 0; o < BENCH_OUTS && k->out[o].name; o++)
        if (k->out[o].kind == BENCH_ROWS)
            err[o] = worse(err[o], relative(load(outs[o], i, types[o]), row.v[k->out[o].value], row.s[k->out[o].value]));
    for (int v = 0; v < BENCH_VALUES; v++) all->v[v] += row.v[v], all->s[v] += row.s[v];
}

double bench_check(const bench_case *k, const bench_data *d, int64_t rows, const void *const *outs, const clf_dtype *types,
                   double *max_rel) {
    double err[BENCH_OUTS] = {0}, share = 0;
    sums all = {0};
    long double *columns = calloc((size_t)k->cols, sizeof *columns);
    if (!columns) return NAN;
#pragma omp parallel
    {
        double mine[BENCH_OUTS] = {0};
        sums part = {0};
        long double *cols = calloc((size_t)k->cols, sizeof *cols);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < rows; i++)
            if (cols) check_row(k, d, i, outs, types, &part, cols, mine);
#pragma omp critical
        {
            for (int o = 0; o < BENCH_OUTS; o++) err[o] = worse(err[o], cols ? mine[o] : (double)NAN);
            for (int v = 0; v < BENCH_VALUES; v++) all.v[v] += part.v[v], all.s[v] += part.s[v];
            for (int64_t j = 0; cols && j < k->cols; j++) columns[j] += cols[j];
        }
        free(cols);
    }
    *max_rel = 0;
    for (int o = 0; o < BENCH_OUTS && k->out[o].name; o++) {
        int v = k->out[o].value;
        if (k->out[o].kind == BENCH_SUM) err[o] = relative(load(outs[o], 0, types[o]), all.v[v], all.s[v]);
        for (int64_t j = 0; k->out[o].kind == BENCH_COLS && j < k->cols; j++)
            err[o] = worse(err[o], relative(load(outs[o], j, types[o]), columns[j], columns[j]));
        share = worse(share, err[o] / bound(k, k->out[o].kind, d->dtype, rows, k->cols));
        *max_rel = worse(*max_rel, err[o]);
    }
    free(columns);
    return share;
}
