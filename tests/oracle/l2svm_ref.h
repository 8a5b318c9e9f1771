/* SPDX-License-Identifier: Apache-2.0
 * L2SVM solved another way than the example does, in plain C: a reference for its result. */
#ifndef CLF_ORACLE_L2SVM_REF_H
#define CLF_ORACLE_L2SVM_REF_H
#include <stdint.h>

/** Minimise 0.5*sum(max(0, 1 - y*(x w))^2) + lambda/2*|w|^2 for lambda > 0. x: n x m, row-major; y: n numbers -1 or 1; w receives m
 *  numbers. Gives the minimum; NaN when memory is short or the minimum was not found. */
double clf_l2svm_ref(const double *x, const double *y, int64_t n, int64_t m, double lambda, double *w);
/** The objective at w. */
double clf_l2svm_ref_objective(const double *x, const double *y, int64_t n, int64_t m, double lambda, const double *w);
/** Score of row i at w: its sign is the prediction. */
double clf_l2svm_ref_score(const double *x, int64_t i, int64_t m, const double *w);
/** Columns to mean 0 and deviation 1 (divisor n), in place. */
void clf_l2svm_ref_standardise(double *x, int64_t n, int64_t m);
/** A data set of two overlapping clouds, x: n x m with a last column of ones, by a generator of its own. */
void clf_l2svm_ref_data(double *x, double *y, int64_t n, int64_t m, uint64_t seed);
#endif
