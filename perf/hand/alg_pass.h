/* SPDX-License-Identifier: Apache-2.0
 * out = t(X) %*% f(X %*% V) in one pass over X, dense or sparse: blocks of rows small enough to stay near the core are read twice, once
 * for their scores and once for the sum; f works on a block, so that its exp and log are vector calls. Every thread sums into a copy of
 * its own. */
#ifndef CLF_PERF_HAND_ALG_PASS_H
#define CLF_PERF_HAND_ALG_PASS_H
#include <stdlib.h>
#include <string.h>
#include "perf/hand/alg_trust.h"
#include "perf/hand/split.h"

enum { HAND_BLOCK_CELLS = 4096, HAND_BLOCK_ROWS = 256 };

/** f's sum; out is m x k, w n x k. False in *good: memory is short. */
double hand_pass(const hand_alg *a, int64_t k, const double *v, double *w, hand_cells f, double *out, bool *good);
#endif
