/* SPDX-License-Identifier: Apache-2.0
 * The reduction tree of core/fold.h once more, naively: recursion over leaves and halves, one state at a time, on the texts of folds.def. */
#ifndef CLF_TESTS_TILE_NAIVE_H
#define CLF_TESTS_TILE_NAIVE_H
#include "tests/unit/tile_testing.h"

#define ST_SUM V, X, X
#define ST_SUMSQ V, X, X
#define ST_MIN V, X, X
#define ST_MAX V, X, X
#define ST_PROD V, X, X
#define ST_MEAN V, N, X
#define ST_VAR N, V, V
#define ST_ARGMIN V, N, X
#define ST_ARGMAX V, N, X
#define ST_ANY N, X, X
#define ST_ALL N, X, X
#define ST_NNZ N, X, X
#define LT_V E_T
#define LT_N int64_t
#define LT_X int
#define WT_V W_T
#define WT_N int64_t
#define WT_X int
#define RT_W W_T
#define RT_N int64_t
#define RR_SUM W
#define RR_SUMSQ W
#define RR_MIN W
#define RR_MAX W
#define RR_PROD W
#define RR_MEAN W
#define RR_VAR W
#define RR_ARGMIN N
#define RR_ARGMAX N
#define RR_ANY N
#define RR_ALL N
#define RR_NNZ N
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define NM(what, ID) CAT_4(what, ID, _, ELEM_T)
#define CAT_4(a, b, c, d) CAT_4_(a, b, c, d)
#define CAT_4_(a, b, c, d) a##b##c##d
#define FIELDS(...) FIELDS_(__VA_ARGS__)
#define FIELDS_(a, b, c) \
    CAT(LT_, a) s0; \
    CAT(LT_, b) s1; \
    CAT(LT_, c) s2; \
    CAT(WT_, a) w0; \
    CAT(WT_, b) w1; \
    CAT(WT_, c) w2;
#define WFIELDS(...) WFIELDS_(__VA_ARGS__)
#define WFIELDS_(a, b, c) \
    CAT(WT_, a) s0 = x.w0, t0 = y.w0; \
    CAT(WT_, b) s1 = x.w1, t1 = y.w1; \
    CAT(WT_, c) s2 = x.w2, t2 = y.w2;
#define LFIELDS(...) LFIELDS_(__VA_ARGS__)
#define LFIELDS_(a, b, c) \
    CAT(LT_, a) s0 = x->s0; \
    CAT(LT_, b) s1 = x->s1; \
    CAT(LT_, c) s2 = x->s2;

/* kind 0: cells first .. first + n - 1 of x, leaves of 512. kind 1: a column: n rows `stride` apart, blocks of `block`. */
typedef struct extent {
    const void *x;
    int64_t first, n, stride, leaf;
    int lanes;
} extent;
typedef clf_scalar (*naive_fn)(const extent *e);

#define NAIVE(ID, INIT, STEP, MERGE, FINISH) \
    typedef struct NM(st_, ID) { \
        FIELDS(ST_##ID) \
    } NM(st_, ID); \
    static void NM(init_, ID)(NM(st_, ID) * x) { \
        memset(x, 0, sizeof *x); \
        LFIELDS(ST_##ID) \
        INIT; \
        x->s0 = s0, x->s1 = s1, x->s2 = s2; \
    } \
    static void NM(step_, ID)(NM(st_, ID) * x, E_T v, int64_t k) { \
        E_T c, d; \
        (void)c, (void)d, (void)k; \
        LFIELDS(ST_##ID) \
        STEP; \
        x->s0 = s0, x->s1 = s1, x->s2 = s2; \
    } \
    static NM(st_, ID) NM(merge_, ID)(NM(st_, ID) x, NM(st_, ID) y) { \
        W_T c, d, q; \
        int64_t n; \
        WFIELDS(ST_##ID) \
        (void)c, (void)d, (void)q, (void)n, (void)t0, (void)t1, (void)t2; \
        MERGE; \
        x.w0 = s0, x.w1 = s1, x.w2 = s2; \
        return x; \
    } \
    static NM(st_, ID) NM(leaf_, ID)(const extent *e, int64_t leaf) { \
        NM(st_, ID) l[16]; \
        for (int i = 0; i < e->lanes; i++) NM(init_, ID)(&l[i]); \
        for (int64_t p = leaf * e->leaf; p < e->n && p < (leaf + 1) * e->leaf; p++) \
            NM(step_, ID)(&l[p % e->lanes], ((const E_T *)e->x)[e->first + p * e->stride], p); \
        for (int i = 0; i < e->lanes; i++) l[i].w0 = l[i].s0, l[i].w1 = l[i].s1, l[i].w2 = l[i].s2; \
        for (int h = e->lanes / 2; h > 0; h /= 2) \
            for (int i = 0; i < h; i++) l[i] = NM(merge_, ID)(l[i], l[i + h]); \
        return l[0]; \
    } \
    static NM(st_, ID) NM(tree_, ID)(const extent *e, int64_t first, int64_t n) { \
        if (n <= 1) return NM(leaf_, ID)(e, first); \
        int64_t k = 1; \
        while (k * 2 < n) k *= 2; \
        return NM(merge_, ID)(NM(tree_, ID)(e, first, k), NM(tree_, ID)(e, first + k, n - k)); \
    } \
    static clf_scalar NM(naive_, ID)(const extent *e) { \
        NM(st_, ID) x = NM(tree_, ID)(e, 0, (e->n + e->leaf - 1) / e->leaf), y = x; \
        WFIELDS(ST_##ID) \
        CAT(RT_, RR_##ID) r; \
        (void)s1, (void)s2, (void)t0, (void)t1, (void)t2, (void)s0; \
        FINISH; \
        return _Generic(r, double : clf_scalar_f64((double)r), int64_t : clf_scalar_i64((int64_t)r)); \
    }
#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) NAIVE(ID, init, step, merge, finish)
#define ELEM_T f32
#include "core/folds.def"
#undef ELEM_T
#define ELEM_T f64
#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) NAIVE(ID, init, step, merge, finish)
#include "core/folds.def"
#undef ELEM_T
#define ELEM_T i32
#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) NAIVE(ID, init, step, merge, finish)
#include "core/folds.def"
#undef ELEM_T
#define ELEM_T i64
#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) NAIVE(ID, init, step, merge, finish)
#include "core/folds.def"
#undef ELEM_T
#define ELEM_T u8
#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) NAIVE(ID, init, step, merge, finish)
#include "core/folds.def"
#undef ELEM_T

static const naive_fn naive[CLF_NFOLDS][CLF_NDTYPES] = {
#define CLF_FOLD(ID, ...) {naive_##ID##_f32, naive_##ID##_f64, naive_##ID##_i32, naive_##ID##_i64, naive_##ID##_u8},
#include "core/folds.def"
};

static inline int64_t results_of(uint32_t keep, int64_t r, int64_t c) { return keep == 0 ? 1 : keep == 1 ? r : c; }

/* What a fold of the r x c matrix x should give, as memory. */
static inline void *naive_fold(clf_fold_id f, clf_dtype t, uint32_t keep, int64_t r, int64_t c, const void *x) {
    clf_dtype out = clf_fold_result_type(f, t);
    int64_t n = results_of(keep, r, c);
    char *want = calloc((size_t)n + 1, 8);
    for (int64_t i = 0; i < n; i++) {
        extent e = {x, 0, r * c, 1, 512, clf_lanes(t)};
        if (keep == 1) e = (extent){x, i * c, c, 1, 512, clf_lanes(t)};
        if (keep == 2) e = (extent){x, i, r, c, clf_col_block(r, c), clf_col_lanes(c, t)};
        clf_scalar_store(want, (size_t)i, clf_scalar_to(naive[f][t](&e), out));
    }
    return want;
}
#endif
