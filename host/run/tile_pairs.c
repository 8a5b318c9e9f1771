/* SPDX-License-Identifier: Apache-2.0
 * Loops over two operators: a cheap one, and a sum, difference or product that alone reads its result; and loops over a cheap one ALONE
 * where an operand is uniform, the same for all cells. What is between two operators stays in a register, rounded to its type as if it had
 * been stored, so bits are those of two loops. A uniform operand is read once; as a register of copies it would be one more stream, and
 * take first-level cache from what varies. Texts are those of ops.def; compiled once per instruction set, as tile_loops.c is. */
#include "host/run/tile_isa.h"
#include "host/run/tile_elem.h"

/* Inner operators with their arity: all without a call. */
#define INNERS(DO1, DO2) \
    DO2(ADD) \
    DO2(SUB) \
    DO2(MUL) DO2(DIV) DO2(MIN) DO2(MAX) DO2(LT) DO2(LE) DO2(GT) DO2(GE) DO1(ABS) DO1(NEG) DO1(SQR) DO1(SQRT)

#define ONE(ID) ELEM_PASTE4(one_, ID, _, ELEM_T)
#define ONE_OP(ID, text) \
    static inline __attribute__((unused)) E_T ONE(ID)(E_T a, E_T b, E_T c) { \
        (void)a; \
        (void)b; \
        (void)c; \
        return text; \
    }
#define SECOND_1(p) ((void)(p), x)
#define SECOND_2(p) p
/* u: which of a, b, c are uniform, as bits 0, 1, 2. */
#define NAME(form, ID, u) ELEM_PASTE4(pair_##form##_, ID, _##u##_, ELEM_T)
#define PAIR(form, ID, arity, u, text) \
    static void NAME(form, ID, u)(int64_t n, void *o, const void *pa, const void *pb, const void *pc) { \
        E_T *r = o; \
        const E_T *x = pa, *y = SECOND_##arity(pb), *z = pc; \
        const E_T a0 = (u)&1 ? *x : (E_T)0, b0 = (u)&2 ? *y : (E_T)0, c0 = (u)&4 ? *z : (E_T)0; /* a matrix without cells has no first */ \
        n = clf_tile_pad(n); \
        TILE_IVDEP for (int64_t i = 0; i < n; i++) { \
            E_T a = (u)&1 ? a0 : x[i], m = ONE(ID)(a, (u)&2 ? b0 : y[i], a), c = (u)&4 ? c0 : z[i]; \
            (void)c; \
            r[i] = text; \
        } \
    }
#define FORMS(ID, arity, u) \
    PAIR(add, ID, arity, u, E_ADD(m, c)) \
    PAIR(sub, ID, arity, u, E_SUB(m, c)) PAIR(from, ID, arity, u, E_SUB(c, m)) PAIR(mul, ID, arity, u, E_MUL(m, c))
#define PAIRS_1(ID) FORMS(ID, 1, 0) FORMS(ID, 1, 4)
#define PAIRS_2(ID) \
    FORMS(ID, 2, 0) \
    FORMS(ID, 2, 1) \
    FORMS(ID, 2, 2) FORMS(ID, 2, 4) FORMS(ID, 2, 5) FORMS(ID, 2, 6) PAIR(alone, ID, 2, 1, m) PAIR(alone, ID, 2, 2, m)

#define ELEM_T f32
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) ONE_OP(ID, (text))
#include "core/ops.def"
INNERS(PAIRS_1, PAIRS_2)
#undef ELEM_T
#define ELEM_T f64
#define CLF_OP(ID, name, arity, cl, flags, rule, shape, flops, grad, text) ONE_OP(ID, (text))
#include "core/ops.def"
INNERS(PAIRS_1, PAIRS_2)
#undef ELEM_T

#define OF_TYPE_1(form, ID, T) \
    { [0] = pair_##form##_##ID##_0_##T, [4] = pair_##form##_##ID##_4_##T }
#define OF_TYPE_2(form, ID, T) \
    { \
        pair_##form##_##ID##_0_##T, pair_##form##_##ID##_1_##T, pair_##form##_##ID##_2_##T, NULL, pair_##form##_##ID##_4_##T, \
            pair_##form##_##ID##_5_##T, pair_##form##_##ID##_6_##T \
    }
#define ALONE(ID, T) \
    { [1] = pair_alone_##ID##_1_##T, [2] = pair_alone_##ID##_2_##T }
#define OF_TYPES(arity, form, ID) \
    { [CLF_F32] = OF_TYPE_##arity(form, ID, f32), [CLF_F64] = OF_TYPE_##arity(form, ID, f64) }
#define OF_FORMS(arity, ID) \
    [CLF_PAIR_ADD] = OF_TYPES(arity, add, ID), [CLF_PAIR_SUB] = OF_TYPES(arity, sub, ID), [CLF_PAIR_FROM] = OF_TYPES(arity, from, ID), \
    [CLF_PAIR_MUL] = OF_TYPES(arity, mul, ID)
#define ROW_1(ID) static const clf_pair_loops pairs_##ID = {{OF_FORMS(1, ID)}};
#define ROW_2(ID) \
    static const clf_pair_loops pairs_##ID = { \
        {OF_FORMS(2, ID), [CLF_PAIR_ALONE] = {[CLF_F32] = ALONE(ID, f32), [CLF_F64] = ALONE(ID, f64)}}};
INNERS(ROW_1, ROW_2)
#define ENTRY(ID) [CLF_OP_##ID] = &pairs_##ID,

extern const clf_pair_table TILE_SYMBOL(pair_table);
const clf_pair_table TILE_SYMBOL(pair_table) = {.inner = {INNERS(ENTRY, ENTRY)}};
