/* SPDX-License-Identifier: Apache-2.0
 * The cases beyond the caches. Ratios promised at least: the order is f32, f64. */
#include <math.h>
#include "perf/bench.h"

static void cell_xyz(const double in[3], double v[BENCH_VALUES], double s[BENCH_VALUES]) { v[0] = s[0] = in[0] * in[1] * in[2]; }

static void cell_three(const double in[3], double v[BENCH_VALUES], double s[BENCH_VALUES]) {
    v[0] = s[0] = in[0] * in[1];
    v[1] = s[1] = in[0] * in[2];
    v[2] = s[2] = in[0] * in[0];
}

static void cell_fma(const double in[3], double v[BENCH_VALUES], double s[BENCH_VALUES]) { v[0] = s[0] = in[0] * in[1] + in[2]; }

static void cell_xy(const double in[3], double v[BENCH_VALUES], double s[BENCH_VALUES]) { v[0] = s[0] = in[0] * in[1]; }

static void cell_loss(const double in[3], double v[BENCH_VALUES], double s[BENCH_VALUES]) {
    v[0] = s[0] = in[2] * log(1 + exp(-in[0] * in[1]));
}

static double normal(double d) { return 0.5 * erfc(-d * 0.70710678118654752440); }

/* Prices are differences of two terms: errors are measured against the terms' size. */
static void cell_option(const double in[3], double v[BENCH_VALUES], double s[BENCH_VALUES]) {
    double spread = 0.3 * sqrt(in[2]), d1 = (log(in[0] / in[1]) + 0.065 * in[2]) / spread, strike = in[1] * exp(-0.02 * in[2]);
    v[0] = in[0] * normal(d1) - strike * normal(d1 - spread);
    v[1] = v[0] - in[0] + strike;
    s[0] = s[1] = in[0] + strike;
}

/* clang-format off */
#define HAND(name) {hand_##name##_f32, hand_##name##_f64}
#define AGG(name, fn, kind, m) {#name "_" #m, "r = " fn "(X*Y)", 2, m, {{"r", kind, 0}}, cell_xy, 1, HAND(name), {0.92, 0.88}}

static const char options_program[] = "spread = 0.3*sqrt(Z); d1 = (log(X/Y) + 0.065*Z)/spread; strike = Y*exp(-0.02*Z)\n"
                                      "call = X*pnorm(d1) - strike*pnorm(d1 - spread); put = call - X + strike";

const bench_case bench_cases[] = {
    {"sum_xyz", "s = sum(X*Y*Z)", 3, 1000, {{"s", BENCH_SUM, 0}}, cell_xyz, 2, HAND(sum_xyz), {0.92, 0.95}},
    {"three_aggs", "p = sum(X*Y); q = sum(X*Z); r = sum(X^2)", 3, 1000,
     {{"p", BENCH_SUM, 0}, {"q", BENCH_SUM, 1}, {"r", BENCH_SUM, 2}}, cell_three, 1, HAND(three_aggs), {0.92, 0.95}},
    {"tap", "A = X*Y + Z; s = sum(A)", 3, 1000, {{"s", BENCH_SUM, 0}, {"A", BENCH_CELLS, 0}}, cell_fma, 2, HAND(tap), {0.92, 0.95}},
    {"no_agg", "A = X*Y + Z", 3, 1000, {{"A", BENCH_CELLS, 0}}, cell_fma, 2, HAND(no_agg), {0.92, 1.10}},
    AGG(row_agg, "rowSums", BENCH_ROWS, 10),
    AGG(row_agg, "rowSums", BENCH_ROWS, 100),
    AGG(row_agg, "rowSums", BENCH_ROWS, 1000),
    AGG(row_agg, "rowSums", BENCH_ROWS, 10000),
    AGG(col_agg, "colSums", BENCH_COLS, 10),
    AGG(col_agg, "colSums", BENCH_COLS, 100),
    AGG(col_agg, "colSums", BENCH_COLS, 1000),
    AGG(col_agg, "colSums", BENCH_COLS, 10000),
    {"sigmoid_loss", "s = sum(Z*log(1 + exp(-X*Y)))", 3, 1000, {{"s", BENCH_SUM, 0}}, cell_loss, 24, HAND(sigmoid_loss), {0.92, 1.15}},
    {"black_scholes", options_program, 3, 1000,
     {{"call", BENCH_CELLS, 0}, {"put", BENCH_CELLS, 1}}, cell_option, 96, HAND(black_scholes), {0.92, 1.0}},
    {.name = NULL},
};
/* clang-format on */
