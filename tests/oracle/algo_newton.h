/* SPDX-License-Identifier: Apache-2.0
 * Newton's method with the whole second derivative: what the oracles of MLogreg and GLM find their minimum with. */
#ifndef CLF_ORACLE_ALGO_NEWTON_H
#define CLF_ORACLE_ALGO_NEWTON_H
#include "tests/oracle/algo.h"

/* The objective at b (d numbers); g and h (d x d, the lower half), where not NULL and zero before, become its first and second
 * derivative. */
typedef long double (*algo_objective)(const algo_plain *a, const double *b, long double *g, long double *h);

/** Minimise from b = 0. False: memory is short, or the second derivative is not positive definite. */
bool algo_newton(const algo_plain *a, int64_t d, algo_objective f, double *b, double *objective);
#endif
