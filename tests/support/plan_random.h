/* SPDX-License-Identifier: Apache-2.0
 * Random graphs of few operators, straight for the planner: nothing in them is ever evaluated, so leaves may be huge. All tables: cell
 * operators of all classes, folds of all ways, products of all forms, transposes, columns put together, sums cumulated, ranges, fills and
 * sequences, scalars. Few different sizes, so that many operators could share a loop. Everything follows from the seed. */
#ifndef CLF_TESTS_PLAN_RANDOM_H
#define CLF_TESTS_PLAN_RANDOM_H
#include "planner/graph.h"

enum { PLAN_RANDOM_NODES = 64, PLAN_RANDOM_ROOTS = 16 };
typedef struct plan_random {
    uint64_t state;
    clf_gnode node[PLAN_RANDOM_NODES];
    int32_t root[PLAN_RANDOM_ROOTS];
    clf_graph g;
    int ops;                           /* operators; a transpose that only products see is none */
    uint8_t behind[PLAN_RANDOM_NODES]; /* such a transpose */
    bool alike;                        /* leaves are of one matrix' shape, or columns of it */
    int64_t rows, cols, wide;          /* sizes of this graph; a dimension is one of them, or 1 */
} plan_random;

/** A graph of `ops` operators, or fewer where nothing fits. */
void plan_random_make(plan_random *p, uint64_t seed, int ops);
/** Store some of its matrices as CSR, with structural zeros, and say whose zeros are then structural, too. */
void plan_random_sparse(plan_random *p);
/** The next number below n. */
uint64_t plan_random_below(uint64_t *state, uint64_t n);
#endif
