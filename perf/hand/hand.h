/* SPDX-License-Identifier: Apache-2.0
 * Hand-written references of the bench: what a good programmer writes for one expression, fused by hand, all cores, run-time sizes.
 * Built with -O3 -march=native -ffast-math -fopenmp; a test checks that exp, log and erfc became vector calls. */
#ifndef CLF_PERF_HAND_H
#define CLF_PERF_HAND_H
#include <stdint.h>

/* Inputs x y z and outputs o are rows x cols, row-major (o of a row or column aggregate: one value per row or column); r: scalars. */
typedef struct hand_args {
    const void *x, *y, *z;
    void *o[2];
    double r[3];
    int64_t rows, cols;
} hand_args;
typedef void (*hand_fn)(hand_args *a);

#define HAND_ALL(H) \
    H(sum_xyz) H(sum_xyz_serial) H(three_aggs) H(tap) H(no_agg) H(row_agg) H(col_agg) H(sigmoid_loss) H(black_scholes) H(read)
#define H(name) void hand_##name##_f64(hand_args *a); void hand_##name##_f32(hand_args *a);
HAND_ALL(H)
#undef H
#endif
