/* SPDX-License-Identifier: Apache-2.0
 * The trust region Newton method of examples/trust_region.c by hand: the same iterations, one pass over X for each product with the
 * second derivative and one for each point. */
#ifndef CLF_PERF_HAND_ALG_TRUST_H
#define CLF_PERF_HAND_ALG_TRUST_H
#include "perf/hand/algorithm.h"

/* The cells of `rows` rows from row i on, k for each: z holds X V and becomes what t(X) is multiplied by; w, the weights of the rows, is
 * read by `curve` and written by `point`, which gives the loss of these rows. */
typedef double (*hand_cells)(const hand_alg *a, int64_t i, int64_t rows, double *restrict z, double *restrict w);

/** Train from zeros, a->iterations times; sharp as in the example; rest: what the loss has besides the rows'. */
bool hand_trust(hand_alg *a, int64_t k, hand_cells point, hand_cells curve, bool sharp, double rest);
#endif
