/* SPDX-License-Identifier: Apache-2.0
 * Between the parts of the fold interpreter: a fold of n cells of value type t, `stride` apart. */
#ifndef CLF_TESTS_DD_FOLD_H
#define CLF_TESTS_DD_FOLD_H
#include "tests/oracle/dd_cell.h"

typedef dd_cell dd_fold_fn(clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree k);
dd_fold_fn dd_fold_min, dd_fold_max, dd_fold_argmin, dd_fold_argmax, dd_fold_any, dd_fold_all, dd_fold_nnz;
#endif
