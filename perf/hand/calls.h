/* SPDX-License-Identifier: Apache-2.0
 * Algorithms as a sequence of calls of which none is fused: what a program on a library of matrix operations does. Each operation is a
 * loop of its own on all cores, dense products are those of OpenBLAS, results go where they may be overwritten. Our own plan without
 * fusion is held against this. The same iterations as those of hand_alg. */
#ifndef CLF_PERF_HAND_CALLS_H
#define CLF_PERF_HAND_CALLS_H
#include "perf/hand/algorithm.h"

bool hand_calls_l2svm(hand_alg *a), hand_calls_kmeans(hand_alg *a), hand_calls_mlogreg(hand_alg *a);
bool hand_calls_glm_probit(hand_alg *a), hand_calls_glm_poisson(hand_alg *a);
bool hand_calls_gnmf(hand_alg *a), hand_calls_pagerank(hand_alg *a), hand_calls_autoencoder(hand_alg *a);

/* ---- for the files of this kind */

/** out = X V (n x k), V being m x k; or t(X) V (m x k), V being n x k. False: there is no OpenBLAS. */
bool calls_product(const hand_alg *a, int64_t k, const double *v, double *out);
bool calls_product_t(const hand_alg *a, int64_t k, const double *v, double *out);
/** out = x V for a sparse x. */
void calls_sparse(const hand_csr *x, int64_t k, const double *v, double *out);
/** out = A B or t(A) B (rows x cols), of `inner` terms; matrices as they lie. False: there is no OpenBLAS. */
bool calls_dense(bool turned, int64_t rows, int64_t cols, int64_t inner, const double *a, const double *b, double *out);

/* Operators over n numbers; out may be an operand. */
#define CALLS_ALL(C) \
    C(add, x[i] + y[i]) C(mul, x[i] * y[i]) C(add_scaled, x[i] + b * y[i]) C(scale, b * x[i]) C(from, b - x[i]) \
    C(above, x[i] > b) C(at_least, x[i] > b ? x[i] : b) C(exp, exp(x[i])) C(log, log(x[i])) C(sign, (x[i] > 0) - (x[i] < 0)) \
    C(shift, x[i] + b) C(equal, x[i] == b) C(sub, x[i] - y[i]) C(div, x[i] / y[i]) C(inverse, b / x[i]) C(abs, fabs(x[i])) \
    C(below, x[i] < b) C(not_below, x[i] >= b) C(tail, 0.5 * erfc(x[i] * 0.70710678118654752440)) \
    C(sigmoid, 1 / (1 + exp(-x[i])))
#define C(name, expression) void calls_##name(int64_t n, double *out, const double *x, const double *y, double b);
CALLS_ALL(C)
#undef C
/** out (cols x rows) = t(x). */
void calls_turn(int64_t rows, int64_t cols, double *out, const double *x);
/** out = c ? x : y. */
void calls_choose(int64_t n, double *out, const double *c, const double *x, const double *y);
double calls_sum(int64_t n, const double *x), calls_sumsq(int64_t n, const double *x);

/* n x k numbers beside a column of n (over), or a row of k (along); out may be x. */
#define CALLS_SIDES(C) \
    C(add_along, x[i * k + j] + v[j]) C(over_sub, v[i] - x[i * k + j]) C(sub_over, x[i * k + j] - v[i]) C(mul_over, x[i * k + j] * v[i]) \
    C(div_over, x[i * k + j] / v[i])
#define C(name, expression) void calls_##name(int64_t n, int64_t k, double *out, const double *x, const double *v);
CALLS_SIDES(C)
#undef C
/** Column j of x (n x k). */
void calls_put_column(int64_t n, int64_t k, int64_t j, double *x, const double *v);
/** The sum, the least or the largest of each row; the sum of each column. */
void calls_row_sums(int64_t n, int64_t k, double *out, const double *x), calls_row_mins(int64_t n, int64_t k, double *out, const double *x);
void calls_row_maxs(int64_t n, int64_t k, double *out, const double *x), calls_col_sums(int64_t n, int64_t k, double *out, const double *x);
#endif
