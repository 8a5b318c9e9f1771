/* SPDX-License-Identifier: Apache-2.0
 * The fold oracle: what every aggregate of a list of values is, straight from its definition (two passes for the variance), in
 * long double or exact integers. Shares no code or text with the library. */
#ifndef CLF_TESTS_FOLDS_ORACLE_H
#define CLF_TESTS_FOLDS_ORACLE_H
#include "tests/oracle/ops_oracle.h"

/** Fold `fold` (a clf_fold_id) of n values of type t, the type after the cast that lowering makes (sums of integers: i64; means:
 *  floats). `chain`: the longest run of values that one accumulator of type t takes before it is widened, for the error bound
 *  (Higham 2002, section 4.2). `exact`: the caller knows that no step rounds (small integers), so every bit counts; the variance
 *  keeps its bound. Compare with oracle_agrees. */
void oracle_fold(int fold, clf_dtype t, const clf_scalar *v, size_t n, size_t chain, bool exact, oracle_result *out);
#endif
