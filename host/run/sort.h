/* SPDX-License-Identifier: Apache-2.0
 * Stable sort of rows by a 64-bit key, on a pool's threads. */
#ifndef CLF_RUN_SORT_H
#define CLF_RUN_SORT_H
#include "host/run/pool.h"

typedef struct clf_keyed {
    uint64_t key;
    int64_t row;
} clf_keyed;

/** Sort a[0..n) by ascending key; what has the same key keeps its order. pool may be NULL.
 *  cost: as many bytes again, and some. errors: false, with a in any order: out of memory. */
bool clf_sort(clf_keyed *a, int64_t n, clf_pool *pool, clf_mem *mem);
#endif
