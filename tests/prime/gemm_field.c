/* SPDX-License-Identifier: Apache-2.0
 * Stands for device/gemm.c: the same blocked product with cells of the prime field, and with blocks so small that the little matrices of
 * the test need several of each. f32 has no field and is what it was. */
#include <string.h>
#include "device/gemm.h"

enum { LINE = 64, MR = 3, KC = 11, NC = 16 };
#define UNROLL

static inline double field_madd(double sum, double a, double b) {
    return (double)(((uint64_t)sum + (uint64_t)a * (uint64_t)b % CLF_ARITH_PRIME) % CLF_ARITH_PRIME);
}

#define T double
#define NR 8
#define NAME(x) x##_f64
#define MADD(sum, row, a) \
    for (int l = 0; l < NR; l++) (sum)[l] = field_madd((sum)[l], (row)[l], a)
#include "device/gemm_body.h"
#undef T
#undef NR
#undef NAME
#undef MADD

#define T float
#define NR 16
#define NAME(x) x##_f32
#include "device/gemm_body.h"
