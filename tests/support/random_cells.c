/* SPDX-License-Identifier: Apache-2.0
 * What the cell operators mean on integers held as doubles, written from the language contract. Every operator of the library has a
 * row here (a test compares); those without a function leave the integers. */
#include <math.h>

#include "tests/support/random_make.h"

#define INTEGER(name, expr) \
    static double o_##name(const double *x, clf_dtype t) { \
        (void)t; \
        return (expr); \
    }
INTEGER(add, x[0] + x[1])
INTEGER(sub, x[0] - x[1])
INTEGER(mul, x[0] * x[1])
INTEGER(min, x[0] < x[1] ? x[0] : x[1])
INTEGER(max, x[0] > x[1] ? x[0] : x[1])
INTEGER(lt, x[0] < x[1])
INTEGER(le, x[0] <= x[1])
INTEGER(gt, x[0] > x[1])
INTEGER(ge, x[0] >= x[1])
INTEGER(eq, x[0] == x[1])
INTEGER(ne, x[0] != x[1])
INTEGER(and, x[0] != 0 && x[1] != 0)
INTEGER(or, x[0] != 0 || x[1] != 0)
INTEGER(xor, (x[0] != 0) != (x[1] != 0))
INTEGER(bitand, (double)((int64_t)x[0] & (int64_t)x[1]))
INTEGER(bitor, (double)((int64_t)x[0] | (int64_t)x[1]))
INTEGER(neg, -x[0])
INTEGER(not, x[0] == 0)
INTEGER(abs, x[0] < 0 ? -x[0] : x[0])
INTEGER(sign, x[0] > 0 ? 1 : x[0] < 0 ? -1 : 0)
INTEGER(self, x[0])
INTEGER(sqr, x[0] * x[0])
INTEGER(never, 0 * x[0])
INTEGER(ifelse, x[0] != 0 ? x[1] : x[2])
INTEGER(replace, x[0] == x[1] ? x[2] : x[0])

/* Floor division of whole numbers; by 0 integers give 0, reals leave the domain. */
static double o_idiv(const double *x, clf_dtype t) {
    int64_t a = (int64_t)x[0], b = (int64_t)x[1];
    if (b == 0) return rp_real(t) ? NAN : 0;
    return (double)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

/* The remainder has the divisor's sign. */
static double o_mod(const double *x, clf_dtype t) {
    int64_t a = (int64_t)x[0], b = (int64_t)x[1];
    if (b == 0) return rp_real(t) ? NAN : 0;
    return (double)(a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0));
}

/* clang-format off */
const rp_cell rp_cells[CLF_OP_CODES] = {
    [CLF_ADD] = {2, RP_ARITH, o_add},         [CLF_SUB] = {2, RP_ARITH, o_sub},         [CLF_MUL] = {2, RP_ARITH, o_mul},
    [CLF_DIV] = {2, RP_FLOAT, NULL},          [CLF_POW] = {2, RP_FLOAT, NULL},          [CLF_MOD] = {2, RP_ARITH, o_mod},
    [CLF_IDIV] = {2, RP_ARITH, o_idiv},       [CLF_MIN] = {2, RP_ARITH, o_min},         [CLF_MAX] = {2, RP_ARITH, o_max},
    [CLF_LT] = {2, RP_COMPARE, o_lt},         [CLF_LE] = {2, RP_COMPARE, o_le},         [CLF_GT] = {2, RP_COMPARE, o_gt},
    [CLF_GE] = {2, RP_COMPARE, o_ge},         [CLF_EQ] = {2, RP_COMPARE, o_eq},         [CLF_NE] = {2, RP_COMPARE, o_ne},
    [CLF_AND] = {2, RP_COMPARE, o_and},       [CLF_OR] = {2, RP_COMPARE, o_or},         [CLF_XOR] = {2, RP_COMPARE, o_xor},
    [CLF_BITAND] = {2, RP_ARITH, o_bitand},   [CLF_BITOR] = {2, RP_ARITH, o_bitor},     [CLF_ATAN2] = {2, RP_FLOAT, NULL},
    [CLF_LOGB] = {2, RP_FLOAT, NULL},         [CLF_NEG] = {1, RP_ARITH, o_neg},         [CLF_NOT] = {1, RP_COMPARE, o_not},
    [CLF_ABS] = {1, RP_ARITH, o_abs},         [CLF_SIGN] = {1, RP_ARITH, o_sign},       [CLF_ROUND] = {1, RP_ARITH, o_self},
    [CLF_FLOOR] = {1, RP_ARITH, o_self},      [CLF_CEIL] = {1, RP_ARITH, o_self},       [CLF_SQR] = {1, RP_ARITH, o_sqr},
    [CLF_SQRT] = {1, RP_FLOAT, NULL},         [CLF_EXP] = {1, RP_FLOAT, NULL},          [CLF_EXPM1] = {1, RP_FLOAT, NULL},
    [CLF_LOG] = {1, RP_FLOAT, NULL},          [CLF_LOG1P] = {1, RP_FLOAT, NULL},        [CLF_LOG2] = {1, RP_FLOAT, NULL},
    [CLF_LOG10] = {1, RP_FLOAT, NULL},        [CLF_SIN] = {1, RP_FLOAT, NULL},          [CLF_COS] = {1, RP_FLOAT, NULL},
    [CLF_TAN] = {1, RP_FLOAT, NULL},          [CLF_ASIN] = {1, RP_FLOAT, NULL},         [CLF_ACOS] = {1, RP_FLOAT, NULL},
    [CLF_ATAN] = {1, RP_FLOAT, NULL},         [CLF_SINH] = {1, RP_FLOAT, NULL},         [CLF_COSH] = {1, RP_FLOAT, NULL},
    [CLF_TANH] = {1, RP_FLOAT, NULL},         [CLF_SIGMOID] = {1, RP_FLOAT, NULL},      [CLF_ERF] = {1, RP_FLOAT, NULL},
    [CLF_PNORM] = {1, RP_FLOAT, NULL},        [CLF_ISNAN] = {1, RP_COMPARE, o_never},   [CLF_ISINF] = {1, RP_COMPARE, o_never},
    [CLF_IFELSE] = {3, RP_SELECT, o_ifelse},  [CLF_REPLACE] = {3, RP_FIRST, o_replace},
};
