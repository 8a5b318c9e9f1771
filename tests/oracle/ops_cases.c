/* SPDX-License-Identifier: Apache-2.0
 * Inputs for the operator oracle: the full grid of special values for every operand, then random
 * values whose exponents cover the whole range, with small and equal operands mixed in. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/op.h"
#include "tests/oracle/ops_oracle.h"

enum { RANDOM_CASES = 1500 };

static const double float_grid[] = {
    0.0,          -0.0,          1.0,      -1.0,         0.5,     -0.5,      2.5,
    -2.5,         2.0,           3.0,      -3.0,         7.0,     0.1,       0.49999999999999994,
    0.49999997,   1.5,           -1.5,     1e-10,        1e10,    -1e10,     1e30,
    88.8,         -88.8,         -104.5,   709.9,        -709.9,  -746.0,    1.5707963267948966,
    0x1p24,       0x1.000002p24, 0x1p53,   0x1p63,       -0x1p63, -0x1.8p63, 1e300,
    -1e300,       FLT_MAX,       FLT_MIN,  FLT_TRUE_MIN, DBL_MAX, -DBL_MAX,  DBL_MIN,
    DBL_TRUE_MIN, -DBL_TRUE_MIN, INFINITY, -INFINITY,    NAN,
};
static const int64_t integer_grid[] = {
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    7,
    -7,
    8,
    100,
    127,
    128,
    255,
    256,
    INT32_MAX,
    INT32_MIN,
    INT32_MIN + 1,
    INT64_MAX,
    INT64_MIN,
    INT64_MAX - 1,
    0x5555555555555555,
    65536,
    3037000500,
};
enum { NFLOATS = sizeof float_grid / sizeof *float_grid, NINTEGERS = sizeof integer_grid / sizeof *integer_grid };

static uint64_t next_random(uint64_t *s) { /* xorshift64*: Vigna 2016 */
    *s ^= *s >> 12;
    *s ^= *s << 25;
    *s ^= *s >> 27;
    return *s * UINT64_C(2685821657736338717);
}

static clf_scalar of_float(clf_dtype t, double x) { return (clf_scalar){.dtype = t, .u.f = t == CLF_F32 ? (double)(float)x : x}; }
static clf_scalar of_integer(clf_dtype t, int64_t x) {
    int64_t y = t == CLF_I32 ? (int64_t)(int32_t)(uint32_t)x : t == CLF_U8 ? (int64_t)(uint8_t)x : x;
    return (clf_scalar){.dtype = t, .u.i = y};
}
static bool is_float(clf_dtype t) { return t == CLF_F32 || t == CLF_F64; }

static clf_scalar grid_value(clf_dtype t, size_t i) { return is_float(t) ? of_float(t, float_grid[i]) : of_integer(t, integer_grid[i]); }

static clf_scalar random_value(clf_dtype t, uint64_t *seed) {
    uint64_t r = next_random(seed), kind = next_random(seed) % 4;
    double unit = (double)(int64_t)r * 0x1p-63; /* (-1, 1) */
    if (!is_float(t)) return of_integer(t, kind == 0 ? (int64_t)(r % 19) - 9 : (int64_t)r >> (kind * 13));
    if (kind == 0) return of_float(t, (double)((int64_t)(r % 19) - 9));
    if (kind == 1) return of_float(t, unit * 20);
    int range = t == CLF_F32 ? 140 : 1060;
    return of_float(t, ldexp(unit, (int)(next_random(seed) % (unsigned)(2 * range)) - range));
}

size_t oracle_op_cases(int op, clf_dtype t, clf_scalar (*out)[3], size_t cap) {
    oracle_result ignored;
    clf_scalar zero[3] = {grid_value(t, 0), grid_value(t, 0), grid_value(t, 0)};
    if (!oracle_op(op, t, zero, &ignored)) return 0;
    int arity = clf_ops[op].arity;
    size_t values = is_float(t) ? NFLOATS : NINTEGERS, n = 0;
    uint64_t seed = UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(op + 1) + (uint64_t)t;
    for (size_t i = 0; i < values; i++)
        for (size_t j = 0; j < (arity > 1 ? values : 1); j++)
            for (size_t k = 0; k < (arity > 2 ? values : 1); k++, n++) {
                clf_scalar in[3] = {grid_value(t, i), grid_value(t, j), grid_value(t, k)};
                if (n < cap) memcpy(out[n], in, sizeof in);
            }
    for (int i = 0; i < RANDOM_CASES; i++, n++) {
        clf_scalar in[3] = {random_value(t, &seed), random_value(t, &seed), random_value(t, &seed)};
        if (i % 16 == 0) in[1] = in[0];
        if (n < cap) memcpy(out[n], in, sizeof in);
    }
    return n;
}
