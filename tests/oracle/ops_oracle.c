/* SPDX-License-Identifier: Apache-2.0
 * Meaning of the cell operators, three forms of each:
 *   exact    floats, every rounding step written out (one IEEE operation in double, then rounded to the type; for f32 that equals
 *            the operation in f32, since 53 >= 2*24 + 2)
 *   real     elementary functions in long double, with a bound in ulp
 *   integer  128-bit integers, wrapped to the type afterwards
 * Operators without a row are the steps of their text over those that have one (op_steps.h).
 * Choices that the contract leaves open and all executors share: min and max of equal operands give the second one; sign of a zero
 * is that zero. */
#include "tests/oracle/ops_oracle.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "core/op.h"
#include "tests/support/op_steps.h"

__extension__ typedef __int128 wide;
typedef double exact_fn(clf_dtype t, const double *x);
typedef long double real_fn(const long double *x);
typedef wide integer_fn(const wide *x);

static double rnd(clf_dtype t, double x) { return t == CLF_F32 ? (double)(float)x : x; }
static bool truth(double x) { return !(x == 0.0); }

/* ---- floats, exact ------------------------------------------------------------------------------------------------------- */

/* clang-format off */
#define EXACT(name, ...)                                      \
    static double x_##name(clf_dtype t, const double *x) {    \
        (void)t, (void)x;                                     \
        __VA_ARGS__                                           \
    }
EXACT(add, return rnd(t, x[0] + x[1]);)
EXACT(sub, return rnd(t, x[0] - x[1]);)
EXACT(mul, return rnd(t, x[0] * x[1]);)
EXACT(div, return rnd(t, x[0] / x[1]);)
EXACT(idiv, return floor(x_div(t, x));)
EXACT(mod, return rnd(t, x[0] - rnd(t, x_idiv(t, x) * x[1]));)
EXACT(min, if (isnan(x[0]) || isnan(x[1])) return NAN; return x[1] <= x[0] ? x[1] : x[0];)
EXACT(max, if (isnan(x[0]) || isnan(x[1])) return NAN; return x[1] >= x[0] ? x[1] : x[0];)
EXACT(lt, return isless(x[0], x[1]) ? 1 : 0;)
EXACT(le, return islessequal(x[0], x[1]) ? 1 : 0;)
EXACT(gt, return isgreater(x[0], x[1]) ? 1 : 0;)
EXACT(ge, return isgreaterequal(x[0], x[1]) ? 1 : 0;)
EXACT(eq, return x[0] == x[1] ? 1 : 0;)
EXACT(ne, return x[0] == x[1] ? 0 : 1;)
EXACT(and, return truth(x[0]) && truth(x[1]) ? 1 : 0;)
EXACT(or, return truth(x[0]) || truth(x[1]) ? 1 : 0;)
EXACT(xor, return truth(x[0]) != truth(x[1]) ? 1 : 0;)
EXACT(not, return truth(x[0]) ? 0 : 1;)
EXACT(neg, return copysign(x[0], signbit(x[0]) ? 1.0 : -1.0);)
EXACT(abs, return copysign(x[0], 1.0);)
EXACT(sign, if (isnan(x[0]) || x[0] == 0) return x[0]; return copysign(1.0, x[0]);)
EXACT(round, double r = floor(x[0]); r = x[0] - r >= 0.5 ? r + 1 : r; return r == 0 ? 0.0 : r;)
EXACT(floor, return floor(x[0]);)
EXACT(ceil, return ceil(x[0]);)
EXACT(sqr, return rnd(t, x[0] * x[0]);)
EXACT(sqrt, return rnd(t, sqrt(x[0]));)
EXACT(isnan, return isnan(x[0]) ? 1 : 0;)
EXACT(isinf, return isinf(x[0]) ? 1 : 0;)
EXACT(ifelse, return truth(x[0]) ? x[1] : x[2];)
EXACT(replace, bool hit = isnan(x[1]) ? isnan(x[0]) : x[0] == x[1]; return hit ? x[2] : x[0];)

static int64_t whole(double x) {
    if (isnan(x)) return 0;
    if (x >= 0x1p63) return INT64_MAX;
    return x < -0x1p63 ? INT64_MIN : (int64_t)x;
}
static double from_whole(clf_dtype t, int64_t n) { return t == CLF_F32 ? (double)(float)n : (double)n; }
EXACT(bitand, return from_whole(t, whole(x[0]) & whole(x[1]));)
EXACT(bitor, return from_whole(t, whole(x[0]) | whole(x[1]));)
/* clang-format on */

/* ---- floats, elementary -------------------------------------------------------------------------------------------------- */

/* clang-format off */
#define REAL(name, expr) \
    static long double r_##name(const long double *x) { return (expr); }
/* An infinite base by hand: the x87 powl of glibc gives Inf for (-Inf)^-2^63. */
static long double power(long double a, long double b) {
    if (!isinf(a) || isnan(b) || b == 0) return powl(a, b);
    bool odd = isfinite(b) && fmodl(b, 2) != 0 && floorl(b) == b;
    return copysignl(b > 0 ? INFINITY : 0, signbit(a) && odd ? -1 : 1);
}
REAL(pow, power(x[0], x[1]))
REAL(atan2, atan2l(x[0], x[1]))
REAL(logb, logl(x[0]) / logl(x[1]))
REAL(exp, expl(x[0]))
REAL(expm1, expm1l(x[0]))
REAL(log, logl(x[0]))
REAL(log1p, log1pl(x[0]))
REAL(log2, log2l(x[0]))
REAL(log10, log10l(x[0]))
REAL(sin, sinl(x[0]))
REAL(cos, cosl(x[0]))
REAL(tan, tanl(x[0]))
REAL(asin, asinl(x[0]))
REAL(acos, acosl(x[0]))
REAL(atan, atanl(x[0]))
REAL(sinh, sinhl(x[0]))
REAL(cosh, coshl(x[0]))
REAL(tanh, tanhl(x[0]))
REAL(erf, erfl(x[0]))
REAL(sigmoid, 1.0L / (1.0L + expl(-x[0])))
REAL(pnorm, 0.5L * erfcl(-x[0] * 0.707106781186547524400844362104849039L))
/* clang-format on */

/* ---- integers ------------------------------------------------------------------------------------------------------------ */

#define INTEGER(name, expr) \
    static wide i_##name(const wide *x) { return (expr); }
static wide floor_div(wide a, wide b) {
    if (b == 0) return 0;
    wide q = a / b;
    return q * b != a && (a < 0) != (b < 0) ? q - 1 : q;
}
/* clang-format off */
INTEGER(add, x[0] + x[1])
INTEGER(sub, x[0] - x[1])
INTEGER(mul, x[0] * x[1])
INTEGER(idiv, floor_div(x[0], x[1]))
INTEGER(mod, x[1] == 0 ? 0 : x[0] - floor_div(x[0], x[1]) * x[1])
INTEGER(min, x[0] < x[1] ? x[0] : x[1])
INTEGER(max, x[0] < x[1] ? x[1] : x[0])
INTEGER(lt, x[0] < x[1])
INTEGER(le, !(x[1] < x[0]))
INTEGER(gt, x[1] < x[0])
INTEGER(ge, !(x[0] < x[1]))
INTEGER(eq, x[0] == x[1])
INTEGER(ne, !(x[0] == x[1]))
INTEGER(and, x[0] && x[1])
INTEGER(or, x[0] || x[1])
INTEGER(xor, !x[0] != !x[1])
INTEGER(bitand, x[0] & x[1])
INTEGER(bitor, x[0] | x[1])
INTEGER(neg, 0 - x[0])
INTEGER(not, !x[0])
INTEGER(abs, x[0] < 0 ? 0 - x[0] : x[0])
INTEGER(sign, x[0] < 0 ? -1 : x[0] > 0 ? 1 : 0)
INTEGER(same, x[0])
INTEGER(sqr, x[0] * x[0])
INTEGER(never, (wide)0 * x[0])
INTEGER(ifelse, x[0] ? x[1] : x[2])
INTEGER(replace, x[0] == x[1] ? x[2] : x[0])
/* clang-format on */

/* ---- the table ----------------------------------------------------------------------------------------------------------- */

/* ulps: bound at every argument, OpenCL's; clib: added where the vector forms of the C library, which stay below 4 ulp, may exceed it
 * (found: exp 3.1 in f64; log 3.97 and log1p 2.11 in f32); ulps_sqr: added, times the first argument squared (pnorm rounds the
 * argument of erfc, whose relative condition there is the square of that argument); flushes: results under the least normal number
 * may be zero (sigmoid: exp overflows first). */
typedef struct oracle_row {
    exact_fn *exact;
    integer_fn *integer;
    real_fn *real;
    double ulps, clib, ulps_sqr;
    bool flushes;
} oracle_row;

/* clang-format off */
static const oracle_row rows[CLF_NOPS] = {
    [CLF_OP_ADD] = {.exact = x_add, .integer = i_add},
    [CLF_OP_SUB] = {.exact = x_sub, .integer = i_sub},
    [CLF_OP_MUL] = {.exact = x_mul, .integer = i_mul},
    [CLF_OP_DIV] = {.exact = x_div},
    [CLF_OP_POW] = {.real = r_pow, .ulps = 16},
    [CLF_OP_MOD] = {.exact = x_mod, .integer = i_mod},
    [CLF_OP_IDIV] = {.exact = x_idiv, .integer = i_idiv},
    [CLF_OP_MIN] = {.exact = x_min, .integer = i_min},
    [CLF_OP_MAX] = {.exact = x_max, .integer = i_max},
    [CLF_OP_LT] = {.exact = x_lt, .integer = i_lt},
    [CLF_OP_LE] = {.exact = x_le, .integer = i_le},
    [CLF_OP_GT] = {.exact = x_gt, .integer = i_gt},
    [CLF_OP_GE] = {.exact = x_ge, .integer = i_ge},
    [CLF_OP_EQ] = {.exact = x_eq, .integer = i_eq},
    [CLF_OP_NE] = {.exact = x_ne, .integer = i_ne},
    [CLF_OP_AND] = {.exact = x_and, .integer = i_and},
    [CLF_OP_OR] = {.exact = x_or, .integer = i_or},
    [CLF_OP_XOR] = {.exact = x_xor, .integer = i_xor},
    [CLF_OP_BITAND] = {.exact = x_bitand, .integer = i_bitand},
    [CLF_OP_BITOR] = {.exact = x_bitor, .integer = i_bitor},
    [CLF_OP_ATAN2] = {.real = r_atan2, .ulps = 6},
    [CLF_OP_LOGB] = {.real = r_logb, .ulps = 14, .clib = 4}, /* two logarithms of 3 ulp (up to 6 eps each) and a division */
    [CLF_OP_NEG] = {.exact = x_neg, .integer = i_neg},
    [CLF_OP_NOT] = {.exact = x_not, .integer = i_not},
    [CLF_OP_ABS] = {.exact = x_abs, .integer = i_abs},
    [CLF_OP_SIGN] = {.exact = x_sign, .integer = i_sign},
    [CLF_OP_ROUND] = {.exact = x_round, .integer = i_same},
    [CLF_OP_FLOOR] = {.exact = x_floor, .integer = i_same},
    [CLF_OP_CEIL] = {.exact = x_ceil, .integer = i_same},
    [CLF_OP_SQR] = {.exact = x_sqr, .integer = i_sqr},
    [CLF_OP_SQRT] = {.exact = x_sqrt},
    [CLF_OP_EXP] = {.real = r_exp, .ulps = 3, .clib = 1},
    [CLF_OP_EXPM1] = {.real = r_expm1, .ulps = 3, .clib = 1},
    [CLF_OP_LOG] = {.real = r_log, .ulps = 3, .clib = 1},
    [CLF_OP_LOG1P] = {.real = r_log1p, .ulps = 2, .clib = 2},
    [CLF_OP_LOG2] = {.real = r_log2, .ulps = 3, .clib = 1},
    [CLF_OP_LOG10] = {.real = r_log10, .ulps = 3, .clib = 1},
    [CLF_OP_SIN] = {.real = r_sin, .ulps = 4},
    [CLF_OP_COS] = {.real = r_cos, .ulps = 4},
    [CLF_OP_TAN] = {.real = r_tan, .ulps = 5},
    [CLF_OP_ASIN] = {.real = r_asin, .ulps = 4},
    [CLF_OP_ACOS] = {.real = r_acos, .ulps = 4},
    [CLF_OP_ATAN] = {.real = r_atan, .ulps = 5},
    [CLF_OP_SINH] = {.real = r_sinh, .ulps = 4},
    [CLF_OP_COSH] = {.real = r_cosh, .ulps = 4},
    [CLF_OP_TANH] = {.real = r_tanh, .ulps = 5},
    [CLF_OP_SIGMOID] = {.real = r_sigmoid, .ulps = 9, .clib = 2, .flushes = true}, /* exp of 3 ulp (6 eps), a sum, a division */
    [CLF_OP_ERF] = {.real = r_erf, .ulps = 16},
    [CLF_OP_PNORM] = {.real = r_pnorm, .ulps = 34, .ulps_sqr = 2, .flushes = true}, /* erfc of 16 ulp (32 eps) */
    [CLF_OP_ISNAN] = {.exact = x_isnan, .integer = i_never},
    [CLF_OP_ISINF] = {.exact = x_isinf, .integer = i_never},
    [CLF_OP_IFELSE] = {.exact = x_ifelse, .integer = i_ifelse},
    [CLF_OP_REPLACE] = {.exact = x_replace, .integer = i_replace},
};
/* clang-format on */

static int64_t wrapped(clf_dtype t, wide x) {
    switch (t) {
    case CLF_I32: return (int32_t)(uint32_t)x;
    case CLF_U8: return (uint8_t)x;
    default: return (int64_t)(uint64_t)x;
    }
}

long double oracle_ulp(clf_dtype t, long double x) {
    int digits = t == CLF_F32 ? FLT_MANT_DIG : DBL_MANT_DIG, least = (t == CLF_F32 ? FLT_MIN_EXP : DBL_MIN_EXP) - 1;
    int e = x == 0 || !isfinite(x) ? least : ilogbl(x);
    return ldexpl(1.0L, (e < least ? least : e) - (digits - 1));
}

static void eval_real(const oracle_row *row, clf_dtype t, const clf_scalar *in, oracle_result *out) {
    long double x[3] = {in[0].u.f, in[1].u.f, in[2].u.f};
    out->exact = row->real(x);
    out->any_zero = true;
    out->clib = row->clib * oracle_ulp(t, out->exact);
    out->tol = (row->ulps + (isfinite(x[0]) ? row->ulps_sqr * x[0] * x[0] : 0)) * oracle_ulp(t, out->exact);
    if (row->flushes) out->tol += t == CLF_F32 ? (long double)FLT_MIN : (long double)DBL_MIN;
}

static clf_scalar scalar_of(const oracle_result *r) {
    clf_scalar s = {.dtype = r->dtype};
    if (r->dtype == CLF_F32 || r->dtype == CLF_F64)
        s.u.f = (double)r->exact;
    else
        s.u.i = r->integer;
    return s;
}

static bool row_op(const oracle_row *row, clf_dtype t, const clf_scalar in[3], oracle_result *out) {
    *out = (oracle_result){.dtype = t};
    if (t == CLF_F32 || t == CLF_F64) {
        double x[3] = {in[0].u.f, in[1].u.f, in[2].u.f};
        if (row->exact)
            out->exact = row->exact(t, x);
        else if (row->real)
            eval_real(row, t, in, out);
        return row->exact || row->real;
    }
    wide n[3] = {in[0].u.i, in[1].u.i, in[2].u.i};
    if (row->integer) out->integer = wrapped(t, row->integer(n));
    return row->integer != NULL;
}

bool oracle_steps(const op_steps *steps, clf_dtype t, const clf_scalar in[3], oracle_result *out) {
    clf_scalar stack[OP_STACK + 3] = {{.dtype = t}};
    int depth = 0;
    for (int i = 0; i < steps->n; i++) {
        const op_step *s = &steps->step[i];
        oracle_result r = {.dtype = t, .exact = rnd(t, s->number), .integer = (int64_t)s->number};
        if (s->kind == OP_CALL && (!row_op(&rows[s->which], t, &stack[depth -= s->arity], &r) || r.tol != 0)) return false;
        stack[depth++] = s->kind == OP_OPERAND ? in[s->which] : scalar_of(&r);
    }
    *out = (oracle_result){.dtype = t, .exact = stack[0].u.f};
    if (t != CLF_F32 && t != CLF_F64) *out = (oracle_result){.dtype = t, .integer = stack[0].u.i};
    return steps->n > 0;
}

bool oracle_op(int op, clf_dtype t, const clf_scalar in[3], oracle_result *out) {
    if (op < 0 || op >= CLF_NOPS) return false;
    const oracle_row *row = &rows[op];
    op_steps steps;
    if (row->exact || row->real || row->integer) return row_op(row, t, in, out);
    return op_steps_of(&steps, op) && oracle_steps(&steps, t, in, out);
}

bool oracle_agrees(const oracle_result *want, clf_scalar got) {
    if (got.dtype != want->dtype) return false;
    if (got.dtype != CLF_F32 && got.dtype != CLF_F64) return got.u.i == want->integer;
    long double g = got.u.f, e = want->exact, most = got.dtype == CLF_F32 ? (long double)FLT_MAX : (long double)DBL_MAX;
    if (isnan(e) || isnan(g)) return isnan(e) && isnan(g);
    if (e == 0 && g == 0) return want->any_zero || signbit(e) == signbit(g);
    if (want->tol == 0) return g == (long double)rnd(got.dtype, (double)e);
    if (isinf(e)) return g == e;
    if (isinf(g)) return signbit(g) == signbit(e) && fabsl(e) + want->tol > most;
    return fabsl(g - e) <= want->tol;
}
