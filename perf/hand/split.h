/* SPDX-License-Identifier: Apache-2.0
 * Rows of a sparse matrix in parts of equal work: stored entries, and one for the row itself. */
#ifndef CLF_PERF_HAND_SPLIT_H
#define CLF_PERF_HAND_SPLIT_H
#include <omp.h>
#include "perf/hand/ml.h"

/** Parts for the threads at hand: several for each, handed out as they come free. */
static inline int hand_parts(void) { return 8 * omp_get_max_threads(); }

/** First row of part `part` of `parts`; the end of the last part is the number of rows. */
static inline int64_t hand_part(const hand_csr *s, int part, int parts) {
    int64_t lo = 0, hi = s->rows, want = (s->nnz + s->rows) / parts * part;
    if (part == parts) return s->rows;
    while (lo < hi) {
        int64_t mid = lo + (hi - lo) / 2;
        if (s->ptr[mid] + mid < want)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}
#endif
