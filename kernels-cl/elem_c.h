/* SPDX-License-Identifier: Apache-2.0
 * The element prelude for C: every macro that the texts of ops.def and folds.def use, for all element types.
 *
 * Included once. The macros resolve when they are USED, by the type that ELEM_T then names:
 *
 *   #define ELEM_T f64
 *   static double f(double a, double b) { return E_ADD(a, b); }
 *   #undef ELEM_T
 *   #define ELEM_T u8
 *   ...
 *
 * E_* work on ELEM_T, W_* on the wide type of it (f64 for floats, i64 for integers), N_* on i64; E_T, W_T and N_T are the C
 * types. ELEM_CAST(from, to)(x) converts between any two types.
 *
 * Every function is plain C that compilers turn into vector code inside a loop. Meaning, which elem.clh must share bit for bit:
 *   fma      a * b + c, rounded once; integers wrap
 *   min      (a < b or a is NaN) ? a : b       (so min(0, -0) is -0 and min(-0, 0) is 0)
 *   max      (a > b or a is NaN) ? a : b
 *   sign     1, -1, or the operand itself when it is a zero or NaN
 *   round    floor(a + 0.5) without the sum, which would round where a is large: floor(a), and one more from a half on; never -0
 *   %/%      floor(a / b); integers: floor division, 0 when b is 0
 *   %%       a - floor(a / b) * b; integers: the remainder with b's sign, 0 when b is 0
 *   truth    x != 0 (NaN is true); LT LE EQ NE AND OR XOR NOT ISNAN ISINF give 0 or 1 of the same type
 *   bitwAnd  floats: both cast to i64, and back
 *   casts    float to integer truncates toward zero and saturates, NaN gives 0; narrowing integers wraps
 * Integer arithmetic wraps. Operators of rule FLOAT never meet integers; their integer forms go through double and only exist
 * so that one X-macro can name all types. */
#ifndef CLF_KERNELS_ELEM_C_H
#define CLF_KERNELS_ELEM_C_H
#include <math.h>
#include <stdint.h>
#include <string.h>

#define ELEM_FN static inline __attribute__((always_inline))
#define ELEM_PASTE_(a, b) a##b
#define ELEM_PASTE(a, b) ELEM_PASTE_(a, b)
#define ELEM_PASTE4_(a, b, c, d) a##b##c##d
#define ELEM_PASTE4(a, b, c, d) ELEM_PASTE4_(a, b, c, d)

#define ELEM_C_f32 float
#define ELEM_C_f64 double
#define ELEM_C_i32 int32_t
#define ELEM_C_i64 int64_t
#define ELEM_C_u8 uint8_t
#define ELEM_W_f32 f64
#define ELEM_W_f64 f64
#define ELEM_W_i32 i64
#define ELEM_W_i64 i64
#define ELEM_W_u8 i64
/* All element types, in the order of clf_dtype. */
#define ELEM_TYPES(X) X(f32) X(f64) X(i32) X(i64) X(u8)

/* ---- casts ------------------------------------------------------------------------------------------------------------- */

#define ELEM_CAST(from, to) ELEM_PASTE4(clf_cast_, from, _, to)
#define ELEM_CAST_PLAIN(from, to) \
    ELEM_FN ELEM_C_##to clf_cast_##from##_##to(ELEM_C_##from x) { return (ELEM_C_##to)x; }
/* LO: the least value of the target, exact in every float type. BELOW: the greatest float under the target's range end END. */
#define ELEM_CAST_SATURATE(from, to, LO, BELOW, END, MAX)                        \
    ELEM_FN ELEM_C_##to clf_cast_##from##_##to(ELEM_C_##from x)                  \
    {                                                                            \
        ELEM_C_##from y = x > (LO) ? x : (LO); /* NaN too */                     \
        y = y < (BELOW) ? y : (BELOW);                                           \
        ELEM_C_##to r = (ELEM_C_##to)y;                                          \
        r = x >= (END) ? (ELEM_C_##to)(MAX) : r;                                 \
        return x == x ? r : (ELEM_C_##to)0;                                      \
    }
ELEM_CAST_PLAIN(f32, f32)
ELEM_CAST_PLAIN(f32, f64)
ELEM_CAST_PLAIN(f64, f32)
ELEM_CAST_PLAIN(f64, f64)
ELEM_CAST_SATURATE(f32, i32, -0x1p31f, 0x1.fffffep30f, 0x1p31f, INT32_MAX)
ELEM_CAST_SATURATE(f64, i32, -0x1p31, 0x1.fffffffcp30, 0x1p31, INT32_MAX)
ELEM_CAST_SATURATE(f32, i64, -0x1p63f, 0x1.fffffep62f, 0x1p63f, INT64_MAX)
ELEM_CAST_SATURATE(f64, i64, -0x1p63, 0x1.fffffffffffffp62, 0x1p63, INT64_MAX)
ELEM_CAST_SATURATE(f32, u8, 0.0f, 255.0f, 256.0f, UINT8_MAX)
ELEM_CAST_SATURATE(f64, u8, 0.0, 255.0, 256.0, UINT8_MAX)
#define ELEM_CAST_INT(from)     \
    ELEM_CAST_PLAIN(from, f32)  \
    ELEM_CAST_PLAIN(from, f64)  \
    ELEM_CAST_PLAIN(from, i32)  \
    ELEM_CAST_PLAIN(from, i64)  \
    ELEM_CAST_PLAIN(from, u8)
ELEM_CAST_INT(i32)
ELEM_CAST_INT(i64)
ELEM_CAST_INT(u8)
#undef ELEM_CAST_INT
#undef ELEM_CAST_SATURATE
#undef ELEM_CAST_PLAIN

/* A count as a double: as clf_count_<lanes> of prelude/elem.clh, and why. */
ELEM_FN double clf_count(int64_t n)
{
#if defined(__SSE2__) && !defined(__AVX512DQ__)
    const uint64_t low = ((uint64_t)n & 0xffffffffu) | 0x4330000000000000u, high = ((uint64_t)n >> 32) ^ 0x4530000080000000u;
    double l, h;
    memcpy(&l, &low, sizeof l);
    memcpy(&h, &high, sizeof h);
    return (h - 0x1.00000801p84) + l;
#else
    return (double)n;
#endif
}

/* ---- functions: clf_e_<name>_<type> ------------------------------------------------------------------------------------- */

#define ELEM_FN1(name, T, expr) ELEM_FN ELEM_C_##T clf_e_##name##_##T(ELEM_C_##T a) { return (ELEM_C_##T)(expr); }
#define ELEM_FN2(name, T, expr) \
    ELEM_FN ELEM_C_##T clf_e_##name##_##T(ELEM_C_##T a, ELEM_C_##T b) { return (ELEM_C_##T)(expr); }
#define ELEM_FN3(name, T, expr) \
    ELEM_FN ELEM_C_##T clf_e_##name##_##T(ELEM_C_##T a, ELEM_C_##T b, ELEM_C_##T c) { return (ELEM_C_##T)(expr); }

/* What is written alike for floats and integers; COUNT: a count as such a cell. */
#define ELEM_COMMON(T, COUNT)                 \
    ELEM_FN2(lt, T, a < b)                    \
    ELEM_FN2(le, T, a <= b)                   \
    ELEM_FN2(eq, T, a == b)                   \
    ELEM_FN2(ne, T, a != b)                   \
    ELEM_FN2(and, T, (a != 0) & (b != 0))     \
    ELEM_FN2(or, T, (a != 0) | (b != 0))      \
    ELEM_FN2(xor, T, (a != 0) ^ (b != 0))     \
    ELEM_FN1(not, T, a == 0)                  \
    ELEM_FN3(sel, T, a != 0 ? b : c)          \
    ELEM_FN ELEM_C_##T clf_e_ofn_##T(int64_t n) { return (ELEM_C_##T)COUNT(n); } \
    ELEM_FN int64_t clf_e_ton_##T(ELEM_C_##T a) { return a != 0; }

/* + - * fma of floats. With CLF_ARITH_PRIME (tests/prime), f64 cells are the integers modulo that prime < 2^31, kept in [0, p). */
#define ELEM_RING(T, S)     \
    ELEM_FN2(add, T, a + b) \
    ELEM_FN2(sub, T, a - b) \
    ELEM_FN2(mul, T, a * b) \
    ELEM_FN3(fma, T, __builtin_fma##S(a, b, c)) \
    ELEM_FN1(neg, T, -a)
#define ELEM_RING_f32 ELEM_RING(f32, f)
#ifndef CLF_ARITH_PRIME
#define ELEM_RING_f64 ELEM_RING(f64, )
#else
#define ELEM_RING_f64                                                              \
    ELEM_FN2(add, f64, a + b >= CLF_ARITH_PRIME ? a + b - CLF_ARITH_PRIME : a + b) \
    ELEM_FN2(sub, f64, a < b ? a - b + CLF_ARITH_PRIME : a - b)                    \
    ELEM_FN2(mul, f64, (uint64_t)a * (uint64_t)b % CLF_ARITH_PRIME)                \
    ELEM_FN3(fma, f64, ((uint64_t)a * (uint64_t)b + (uint64_t)c) % CLF_ARITH_PRIME) \
    ELEM_FN1(neg, f64, a == 0 ? 0 : CLF_ARITH_PRIME - a)
#endif

/* S: the suffix of the C library's functions for this float type. */
#define ELEM_FLOAT(T, S)                                                                    \
    ELEM_COMMON(T, clf_count)                                                               \
    ELEM_RING_##T                                                                           \
    ELEM_FN2(div, T, a / b)                                                                 \
    ELEM_FN2(min, T, a != a ? a : (a < b ? a : b))                                          \
    ELEM_FN2(max, T, a != a ? a : (a > b ? a : b))                                          \
    ELEM_FN2(idiv, T, floor##S(a / b))                                                      \
    ELEM_FN2(mod, T, a - floor##S(a / b) * b)                                               \
    ELEM_FN2(bitand, T, clf_cast_##T##_i64(a) & clf_cast_##T##_i64(b))                      \
    ELEM_FN2(bitor, T, clf_cast_##T##_i64(a) | clf_cast_##T##_i64(b))                       \
    ELEM_FN1(abs, T, fabs##S(a))                                                            \
    ELEM_FN1(sign, T, a > 0 ? (ELEM_C_##T)1 : (a < 0 ? (ELEM_C_##T)-1 : a))                 \
    ELEM_FN1(round, T, floor##S(a) + (a - floor##S(a) >= (ELEM_C_##T)0.5 ? (ELEM_C_##T)1 : (ELEM_C_##T)0)) \
    ELEM_FN1(floor, T, floor##S(a))                                                         \
    ELEM_FN1(ceil, T, ceil##S(a))                                                           \
    ELEM_FN1(sqrt, T, sqrt##S(a))                                                           \
    ELEM_FN1(isnan, T, a != a)                                                              \
    ELEM_FN1(isinf, T, fabs##S(a) == (ELEM_C_##T)INFINITY)                                  \
    ELEM_FN2(pow, T, pow##S(a, b))                                                          \
    ELEM_FN2(atan2, T, atan2##S(a, b))                                                      \
    ELEM_FN1(exp, T, exp##S(a))                                                             \
    ELEM_FN1(expm1, T, expm1##S(a))                                                         \
    ELEM_FN1(log, T, log##S(a))                                                             \
    ELEM_FN1(log1p, T, log1p##S(a))                                                         \
    ELEM_FN1(log2, T, log2##S(a))                                                           \
    ELEM_FN1(log10, T, log10##S(a))                                                         \
    ELEM_FN1(sin, T, sin##S(a))                                                             \
    ELEM_FN1(cos, T, cos##S(a))                                                             \
    ELEM_FN1(tan, T, tan##S(a))                                                             \
    ELEM_FN1(asin, T, asin##S(a))                                                           \
    ELEM_FN1(acos, T, acos##S(a))                                                           \
    ELEM_FN1(atan, T, atan##S(a))                                                           \
    ELEM_FN1(sinh, T, sinh##S(a))                                                           \
    ELEM_FN1(cosh, T, cosh##S(a))                                                           \
    ELEM_FN1(tanh, T, tanh##S(a))                                                           \
    ELEM_FN1(erf, T, erf##S(a))                                                             \
    ELEM_FN1(erfc, T, erfc##S(a))
ELEM_FLOAT(f32, f)
ELEM_FLOAT(f64, )
#undef ELEM_FLOAT
#undef ELEM_RING_f32
#undef ELEM_RING_f64
#undef ELEM_RING

/* A function of reals on integers: through double. */
#define ELEM_VIA1(name, T) ELEM_FN1(name, T, clf_cast_f64_##T(clf_e_##name##_f64((double)a)))
#define ELEM_VIA2(name, T) ELEM_FN2(name, T, clf_cast_f64_##T(clf_e_##name##_f64((double)a, (double)b)))
/* Remainders take b's sign; b of 0 and -1 take the divisor 1, whose remainder is 0 and which cannot overflow. */
#define ELEM_SIGNED(T, U)                                                                   \
    ELEM_FN1(abs, T, a < 0 ? (U)0 - (U)a : (U)a)                                            \
    ELEM_FN1(sign, T, (a > 0) - (a < 0))                                                    \
    ELEM_FN ELEM_C_##T clf_e_mod_##T(ELEM_C_##T a, ELEM_C_##T b)                            \
    {                                                                                       \
        ELEM_C_##T d = b == 0 || b == (ELEM_C_##T)-1 ? (ELEM_C_##T)1 : b;                   \
        ELEM_C_##T r = (ELEM_C_##T)(a % d);                                                 \
        return r != 0 && (r < 0) != (d < 0) ? (ELEM_C_##T)(r + d) : r;                      \
    }                                                                                       \
    ELEM_FN ELEM_C_##T clf_e_idiv_##T(ELEM_C_##T a, ELEM_C_##T b)                           \
    {                                                                                       \
        ELEM_C_##T d = b == 0 || b == (ELEM_C_##T)-1 ? (ELEM_C_##T)1 : b;                   \
        ELEM_C_##T r = (ELEM_C_##T)(a % d), q = (ELEM_C_##T)(a / d);                        \
        q = (ELEM_C_##T)(r != 0 && (r < 0) != (d < 0) ? q - 1 : q);                         \
        q = b == (ELEM_C_##T)-1 ? clf_e_neg_##T(a) : q;                                     \
        return b == 0 ? (ELEM_C_##T)0 : q;                                                  \
    }
/* U: an unsigned type at least as wide as int, in which arithmetic wraps. */
#define ELEM_INT(T, U)                                        \
    ELEM_COMMON(T, )                                          \
    ELEM_FN2(add, T, (U)a + (U)b)                             \
    ELEM_FN2(sub, T, (U)a - (U)b)                             \
    ELEM_FN2(mul, T, (U)a * (U)b)                             \
    ELEM_FN3(fma, T, (U)a * (U)b + (U)c)                      \
    ELEM_FN2(min, T, a < b ? a : b)                           \
    ELEM_FN2(max, T, a > b ? a : b)                           \
    ELEM_FN2(bitand, T, a & b)                                \
    ELEM_FN2(bitor, T, a | b)                                 \
    ELEM_FN1(neg, T, (U)0 - (U)a)                             \
    ELEM_FN1(round, T, a)                                     \
    ELEM_FN1(floor, T, a)                                     \
    ELEM_FN1(ceil, T, a)                                      \
    ELEM_FN1(isnan, T, a != a)                                \
    ELEM_FN1(isinf, T, a != a)                                \
    ELEM_VIA2(div, T) ELEM_VIA2(pow, T) ELEM_VIA2(atan2, T)   \
    ELEM_VIA1(sqrt, T) ELEM_VIA1(exp, T) ELEM_VIA1(expm1, T)  \
    ELEM_VIA1(log, T) ELEM_VIA1(log1p, T) ELEM_VIA1(log2, T)  \
    ELEM_VIA1(log10, T) ELEM_VIA1(sin, T) ELEM_VIA1(cos, T)   \
    ELEM_VIA1(tan, T) ELEM_VIA1(asin, T) ELEM_VIA1(acos, T)   \
    ELEM_VIA1(atan, T) ELEM_VIA1(sinh, T) ELEM_VIA1(cosh, T)  \
    ELEM_VIA1(tanh, T) ELEM_VIA1(erf, T) ELEM_VIA1(erfc, T)
ELEM_INT(i32, uint32_t)
ELEM_INT(i64, uint64_t)
ELEM_INT(u8, uint32_t)
ELEM_SIGNED(i32, uint32_t)
ELEM_SIGNED(i64, uint64_t)
/* Unsigned: 255 is a divisor like any other. */
ELEM_FN1(abs, u8, a)
ELEM_FN1(sign, u8, a != 0)
ELEM_FN2(mod, u8, b == 0 ? 0 : a % (b == 0 ? 1 : b))
ELEM_FN2(idiv, u8, b == 0 ? 0 : a / (b == 0 ? 1 : b))
#undef ELEM_INT
#undef ELEM_SIGNED
#undef ELEM_VIA1
#undef ELEM_VIA2

/* v to the power n >= 0 by squaring, low bits first. */
#define ELEM_POWN(T)                                                       \
    ELEM_FN ELEM_C_##T clf_e_pown_##T(ELEM_C_##T v, int64_t n)             \
    {                                                                      \
        ELEM_C_##T r = 1;                                                  \
        for (; n > 0; n >>= 1, v = clf_e_mul_##T(v, v))                    \
            r = (n & 1) != 0 ? clf_e_mul_##T(r, v) : r;                    \
        return r;                                                          \
    }
ELEM_POWN(f64)
ELEM_POWN(i64)
#undef ELEM_POWN
#undef ELEM_COMMON
#undef ELEM_FN1
#undef ELEM_FN2
#undef ELEM_FN3

#define ELEM_HIGHEST_f32 ((float)INFINITY)
#define ELEM_HIGHEST_f64 ((double)INFINITY)
#define ELEM_HIGHEST_i32 INT32_MAX
#define ELEM_HIGHEST_i64 INT64_MAX
#define ELEM_HIGHEST_u8 ((uint8_t)UINT8_MAX)
#define ELEM_LOWEST_f32 (-(float)INFINITY)
#define ELEM_LOWEST_f64 (-(double)INFINITY)
#define ELEM_LOWEST_i32 INT32_MIN
#define ELEM_LOWEST_i64 INT64_MIN
#define ELEM_LOWEST_u8 ((uint8_t)0)
#define ELEM_NAN_f64 ((double)NAN)
#define ELEM_NAN_i64 ((int64_t)0)

/* ---- the macros of the tables -------------------------------------------------------------------------------------------- */

#define ELEM_W ELEM_PASTE(ELEM_W_, ELEM_T)
#define E_T ELEM_PASTE(ELEM_C_, ELEM_T)
#define W_T ELEM_PASTE(ELEM_C_, ELEM_W)
#define N_T int64_t
#define E_F_(name) ELEM_PASTE4(clf_e_, name, _, ELEM_T)
#define W_F_(name) ELEM_PASTE4(clf_e_, name, _, ELEM_W)

#define E_C(x) ((E_T)(x))
#define E_HIGHEST ELEM_PASTE(ELEM_HIGHEST_, ELEM_T)
#define E_LOWEST ELEM_PASTE(ELEM_LOWEST_, ELEM_T)
#define E_OFN(n) E_F_(ofn)(n)
#define E_ADD(a, b) E_F_(add)(a, b)
#define E_SUB(a, b) E_F_(sub)(a, b)
#define E_MUL(a, b) E_F_(mul)(a, b)
#define E_FMA(a, b, c) E_F_(fma)(a, b, c)
#define E_DIV(a, b) E_F_(div)(a, b)
#define E_POW(a, b) E_F_(pow)(a, b)
#define E_MOD(a, b) E_F_(mod)(a, b)
#define E_IDIV(a, b) E_F_(idiv)(a, b)
#define E_MIN(a, b) E_F_(min)(a, b)
#define E_MAX(a, b) E_F_(max)(a, b)
#define E_LT(a, b) E_F_(lt)(a, b)
#define E_LE(a, b) E_F_(le)(a, b)
#define E_EQ(a, b) E_F_(eq)(a, b)
#define E_NE(a, b) E_F_(ne)(a, b)
#define E_AND(a, b) E_F_(and)(a, b)
#define E_OR(a, b) E_F_(or)(a, b)
#define E_XOR(a, b) E_F_(xor)(a, b)
#define E_BITAND(a, b) E_F_(bitand)(a, b)
#define E_BITOR(a, b) E_F_(bitor)(a, b)
#define E_ATAN2(a, b) E_F_(atan2)(a, b)
#define E_SEL(c, a, b) E_F_(sel)(c, a, b)
#define E_NEG(a) E_F_(neg)(a)
#define E_NOT(a) E_F_(not)(a)
#define E_ABS(a) E_F_(abs)(a)
#define E_SIGN(a) E_F_(sign)(a)
#define E_ROUND(a) E_F_(round)(a)
#define E_FLOOR(a) E_F_(floor)(a)
#define E_CEIL(a) E_F_(ceil)(a)
#define E_SQRT(a) E_F_(sqrt)(a)
#define E_EXP(a) E_F_(exp)(a)
#define E_EXPM1(a) E_F_(expm1)(a)
#define E_LOG(a) E_F_(log)(a)
#define E_LOG1P(a) E_F_(log1p)(a)
#define E_LOG2(a) E_F_(log2)(a)
#define E_LOG10(a) E_F_(log10)(a)
#define E_SIN(a) E_F_(sin)(a)
#define E_COS(a) E_F_(cos)(a)
#define E_TAN(a) E_F_(tan)(a)
#define E_ASIN(a) E_F_(asin)(a)
#define E_ACOS(a) E_F_(acos)(a)
#define E_ATAN(a) E_F_(atan)(a)
#define E_SINH(a) E_F_(sinh)(a)
#define E_COSH(a) E_F_(cosh)(a)
#define E_TANH(a) E_F_(tanh)(a)
#define E_ERF(a) E_F_(erf)(a)
#define E_ERFC(a) E_F_(erfc)(a)
#define E_ISNAN(a) E_F_(isnan)(a)
#define E_ISINF(a) E_F_(isinf)(a)

#define W_C(x) ((W_T)(x))
#define W_HIGHEST ELEM_PASTE(ELEM_HIGHEST_, ELEM_W)
#define W_LOWEST ELEM_PASTE(ELEM_LOWEST_, ELEM_W)
#define W_NAN ELEM_PASTE(ELEM_NAN_, ELEM_W)
#define W_OFN(n) W_F_(ofn)(n)
#define W_ADD(a, b) W_F_(add)(a, b)
#define W_SUB(a, b) W_F_(sub)(a, b)
#define W_MUL(a, b) W_F_(mul)(a, b)
#define W_DIV(a, b) W_F_(div)(a, b)
#define W_MIN(a, b) W_F_(min)(a, b)
#define W_MAX(a, b) W_F_(max)(a, b)
#define W_LT(a, b) W_F_(lt)(a, b)
#define W_LE(a, b) W_F_(le)(a, b)
#define W_EQ(a, b) W_F_(eq)(a, b)
#define W_NE(a, b) W_F_(ne)(a, b)
#define W_AND(a, b) W_F_(and)(a, b)
#define W_OR(a, b) W_F_(or)(a, b)
#define W_NOT(a) W_F_(not)(a)
#define W_ISNAN(a) W_F_(isnan)(a)
#define W_SEL(c, a, b) W_F_(sel)(c, a, b)
#define W_POWN(v, n) W_F_(pown)(v, n)

#define N_C(x) ((int64_t)(x))
#define N_OFE(a) E_F_(ton)(a)
#define N_OFW(a) W_F_(ton)(a)
#define N_ADD(a, b) clf_e_add_i64(a, b)
#define N_SUB(a, b) clf_e_sub_i64(a, b)
#define N_MUL(a, b) clf_e_mul_i64(a, b)
#define N_MIN(a, b) clf_e_min_i64(a, b)
#define N_MAX(a, b) clf_e_max_i64(a, b)
#define N_LT(a, b) clf_e_lt_i64(a, b)
#define N_LE(a, b) clf_e_le_i64(a, b)
#define N_SEL(c, a, b) clf_e_sel_i64(c, a, b)
#endif
