/* SPDX-License-Identifier: Apache-2.0
 * What a fold is for one element type, as code: which types it exists for, the C types of its state, and the texts of folds.def as functions
 * on one lane or one wide state. tile_folds.h builds leaves, columns and trees of them.
 *
 * ELEM_T names the type where a macro is used. */
#ifndef CLF_RUN_TILE_FOLD_TEXTS_H
#define CLF_RUN_TILE_FOLD_TEXTS_H
#include <string.h>

#include "core/fold.h"
#include "host/run/tile_elem.h"

/* Per fold: its state letters (X: none), whether the result is W or N, whether step uses the position, and its value types.
 * clf_folds has the same facts as text; test_tile compares. */
#define STATE_SUM(i) STATE_##i(V, X, X)
#define STATE_SUMSQ(i) STATE_##i(V, X, X)
#define STATE_MIN(i) STATE_##i(V, X, X)
#define STATE_MAX(i) STATE_##i(V, X, X)
#define STATE_PROD(i) STATE_##i(V, X, X)
#define STATE_MEAN(i) STATE_##i(V, N, X)
#define STATE_VAR(i) STATE_##i(N, V, V)
#define STATE_ARGMIN(i) STATE_##i(V, N, X)
#define STATE_ARGMAX(i) STATE_##i(V, N, X)
#define STATE_ANY(i) STATE_##i(N, X, X)
#define STATE_ALL(i) STATE_##i(N, X, X)
#define STATE_NNZ(i) STATE_##i(N, X, X)
#define STATE_0(a, b, c) a
#define STATE_1(a, b, c) b
#define STATE_2(a, b, c) c
#define RESULT_SUM W
#define RESULT_SUMSQ W
#define RESULT_MIN W
#define RESULT_MAX W
#define RESULT_PROD W
#define RESULT_MEAN W
#define RESULT_VAR W
#define RESULT_ARGMIN N
#define RESULT_ARGMAX N
#define RESULT_ANY N
#define RESULT_ALL N
#define RESULT_NNZ N
enum {
    USES_K_SUM = 0,
    USES_K_SUMSQ = 0,
    USES_K_MIN = 0,
    USES_K_MAX = 0,
    USES_K_PROD = 0,
    USES_K_MEAN = 0,
    USES_K_VAR = 0,
    USES_K_ARGMIN = 1,
    USES_K_ARGMAX = 1,
    USES_K_ANY = 0,
    USES_K_ALL = 0,
    USES_K_NNZ = 0
};

/* C types of component i of fold F in a lane (L) and when wide (S), and of the result (R). An absent one is an unused word. */
#define TYPE_LV E_T
#define TYPE_LN int64_t
#define TYPE_LX int64_t
#define TYPE_SV W_T
#define TYPE_SN int64_t
#define TYPE_SX int64_t
#define TYPE_RW W_T
#define TYPE_RN int64_t
#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)
#define TYPE_L(F, i) JOIN(TYPE_L, STATE_##F(i))
#define TYPE_S(F, i) JOIN(TYPE_S, STATE_##F(i))
#define TYPE_R(F) JOIN(TYPE_R, RESULT_##F)
#define BYTES_V sizeof(E_T)
#define BYTES_N sizeof(int64_t)
#define BYTES_X 0
#define BYTES(F, i) JOIN(BYTES_, STATE_##F(i))
#define NAME(what, F) ELEM_PASTE4(what, F, _, ELEM_T)

/* A wide state as locals; from a clf_fold_state, and into one. */
#define STATE_VARS(F, a0, a1, a2) \
    NAME(S0_, F) a0; \
    NAME(S1_, F) a1; \
    NAME(S2_, F) a2;
#define STATE_LOAD(F, p, a0, a1, a2) \
    STATE_VARS(F, a0, a1, a2) \
    memcpy(&a0, &(p)->s[0], 8), memcpy(&a1, &(p)->s[1], 8), memcpy(&a2, &(p)->s[2], 8);
#define STATE_STORE(p, a0, a1, a2) memcpy(&(p)->s[0], &a0, 8), memcpy(&(p)->s[1], &a1, 8), memcpy(&(p)->s[2], &a2, 8);

/* The texts as functions on one lane or one wide state. */
#define FOLD_TEXTS(F, INIT, STEP, MERGE, FINISH, REPEAT) \
    typedef TYPE_L(F, 0) NAME(L0_, F); \
    typedef TYPE_L(F, 1) NAME(L1_, F); \
    typedef TYPE_L(F, 2) NAME(L2_, F); \
    typedef TYPE_S(F, 0) NAME(S0_, F); \
    typedef TYPE_S(F, 1) NAME(S1_, F); \
    typedef TYPE_S(F, 2) NAME(S2_, F); \
    typedef TYPE_R(F) NAME(R_, F); \
    ELEM_FN void NAME(init1_, F)(NAME(L0_, F) * p0, NAME(L1_, F) * p1, NAME(L2_, F) * p2) { \
        NAME(L0_, F) s0; \
        NAME(L1_, F) s1 = 0; \
        NAME(L2_, F) s2 = 0; \
        INIT; \
        *p0 = s0; \
        *p1 = s1; \
        *p2 = s2; \
    } \
    ELEM_FN void NAME(step1_, F)(NAME(L0_, F) * p0, NAME(L1_, F) * p1, NAME(L2_, F) * p2, E_T v, int64_t k) { \
        NAME(L0_, F) s0 = *p0; \
        NAME(L1_, F) s1 = *p1; \
        NAME(L2_, F) s2 = *p2; \
        E_T c = 0, d = 0; \
        (void)c; \
        (void)d; \
        (void)k; \
        STEP; \
        *p0 = s0; \
        *p1 = s1; \
        *p2 = s2; \
    } \
    ELEM_FN void NAME(merge1_, F)(NAME(S0_, F) * p0, NAME(S1_, F) * p1, NAME(S2_, F) * p2, NAME(S0_, F) t0, NAME(S1_, F) t1, \
                                  NAME(S2_, F) t2) { \
        NAME(S0_, F) s0 = *p0; \
        NAME(S1_, F) s1 = *p1; \
        NAME(S2_, F) s2 = *p2; \
        W_T c = 0, d = 0, q = 0; \
        int64_t n = 0; \
        (void)c; \
        (void)d; \
        (void)q; \
        (void)n; \
        (void)t0; \
        (void)t1; \
        (void)t2; \
        MERGE; \
        *p0 = s0; \
        *p1 = s1; \
        *p2 = s2; \
    } \
    ELEM_FN void NAME(repeat1_, F)(NAME(S0_, F) * p0, NAME(S1_, F) * p1, NAME(S2_, F) * p2, W_T v, int64_t n, int64_t k) { \
        NAME(S0_, F) t0; \
        NAME(S1_, F) t1 = 0; \
        NAME(S2_, F) t2 = 0; \
        (void)k; \
        REPEAT; \
        *p0 = t0; \
        *p1 = t1; \
        *p2 = t2; \
    } \
    static void NAME(repeat_, F)(const void *px, int64_t n, int64_t k, clf_fold_state *out) { \
        STATE_VARS(F, t0, t1, t2) \
        NAME(repeat1_, F)(&t0, &t1, &t2, *(const E_T *)px, n, k); \
        STATE_STORE(out, t0, t1, t2) \
    } \
    ELEM_FN NAME(R_, F) NAME(finish1_, F)(NAME(S0_, F) s0, NAME(S1_, F) s1, NAME(S2_, F) s2) { \
        NAME(R_, F) r; \
        (void)s0; \
        (void)s1; \
        (void)s2; \
        FINISH; \
        return r; \
    }

/* Lowering casts integers before these folds, so they exist for fewer types: WIDE f32 f64 i64, REAL f32 f64, ANY all. */
#define TYPES_SUM WIDE
#define TYPES_SUMSQ WIDE
#define TYPES_PROD WIDE
#define TYPES_MEAN REAL
#define TYPES_VAR REAL
#define TYPES_MIN ANY
#define TYPES_MAX ANY
#define TYPES_ARGMIN ANY
#define TYPES_ARGMAX ANY
#define TYPES_ANY ANY
#define TYPES_ALL ANY
#define TYPES_NNZ ANY
#define WHEN_WIDE_f32(...) __VA_ARGS__
#define WHEN_WIDE_f64(...) __VA_ARGS__
#define WHEN_WIDE_i32(...)
#define WHEN_WIDE_i64(...) __VA_ARGS__
#define WHEN_WIDE_u8(...)
#define WHEN_REAL_f32(...) __VA_ARGS__
#define WHEN_REAL_f64(...) __VA_ARGS__
#define WHEN_REAL_i32(...)
#define WHEN_REAL_i64(...)
#define WHEN_REAL_u8(...)
#define WHEN_ANY_f32(...) __VA_ARGS__
#define WHEN_ANY_f64(...) __VA_ARGS__
#define WHEN_ANY_i32(...) __VA_ARGS__
#define WHEN_ANY_i64(...) __VA_ARGS__
#define WHEN_ANY_u8(...) __VA_ARGS__
#define WHEN(ID) ELEM_PASTE4(WHEN_, JOIN(TYPES_, ID), _, ELEM_T)
#endif
