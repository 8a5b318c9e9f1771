/* SPDX-License-Identifier: Apache-2.0
 * Factors as the hand-written ALS-CG and GNMF hold them: rows of `kv` vectors of four numbers, rank 20 being five of them, zeros past the
 * rank; they stay zeros in all that is done with them. */
#ifndef CLF_PERF_HAND_FACTORS_H
#define CLF_PERF_HAND_FACTORS_H
#include <stdlib.h>
#include <string.h>
#include "perf/hand/algorithm.h"
#include "perf/hand/split.h"

#define ALWAYS static inline __attribute__((always_inline))
enum { LANES = 4, USUAL = 5, MOST = 64 }; /* numbers of a vector; the vectors of a row that are a constant; at most */
typedef double vec __attribute__((vector_size(32)));

ALWAYS double vec_sum(vec a) { return (a[0] + a[2]) + (a[1] + a[3]); }

/** The four sums of four vectors. */
ALWAYS vec vec_sums(vec a, vec b, vec c, vec d) {
    const vec ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
    const vec cd = __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
    return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}

/** Vectors of a row of rank k, and a row's numbers. */
static inline int64_t hand_vectors(int64_t k) { return (k + LANES - 1) / LANES; }

/** `rows` rows of zeros; NULL: memory is short. Freed by free. */
static inline vec *hand_rows(int64_t rows, int64_t kv) {
    const size_t bytes = (size_t)(rows * kv) * sizeof(vec);
    vec *f = aligned_alloc(sizeof(vec), bytes ? bytes : sizeof(vec));
    return f ? memset(f, 0, bytes) : NULL;
}

/** From n x k numbers. */
static inline void hand_pack(const double *from, int64_t n, int64_t k, vec *to) {
    for (int64_t i = 0; i < n; i++) memcpy(to + i * hand_vectors(k), from + i * k, (size_t)k * sizeof *from);
}
#endif
