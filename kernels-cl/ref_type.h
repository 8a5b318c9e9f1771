/* SPDX-License-Identifier: Apache-2.0
 * Included by ref_ops.c once per element type, with ELEM_T set: every operator and fold as a function over slots, and their tables.
 * State components are W numbers whatever their letter: f64 holds the counts and positions of a fold exactly up to 2^53. */
#define NAME(x) ELEM_PASTE4(ref_, x, _, ELEM_T)
#define IS_FLOAT ((E_T)0.5 != 0)
#define GET(x) (IS_FLOAT ? (E_T)(x).f : (E_T)(x).i)
#define GET_W(x) (IS_FLOAT ? (W_T)(x).f : (W_T)(x).i)

static clf_slot NAME(put)(E_T x) {
    if (IS_FLOAT) return (clf_slot){.f = (double)x};
    return (clf_slot){.i = (int64_t)x};
}
static clf_slot NAME(wide)(W_T x) {
    if (IS_FLOAT) return (clf_slot){.f = (double)x};
    return (clf_slot){.i = (int64_t)x};
}

static clf_slot NAME(load)(const void *base, int64_t index) { return NAME(put)(((const E_T *)base)[index]); }
static void NAME(store)(void *base, int64_t index, clf_slot x) { ((E_T *)base)[index] = GET(x); }

static clf_slot NAME(cast)(clf_slot x, clf_dtype to) {
    E_T a = GET(x);
    switch (to) {
    case CLF_F32: return (clf_slot){.f = (double)ELEM_CAST(ELEM_T, f32)(a)};
    case CLF_F64: return (clf_slot){.f = ELEM_CAST(ELEM_T, f64)(a)};
    case CLF_I32: return (clf_slot){.i = ELEM_CAST(ELEM_T, i32)(a)};
    case CLF_I64: return (clf_slot){.i = ELEM_CAST(ELEM_T, i64)(a)};
    default: return (clf_slot){.i = ELEM_CAST(ELEM_T, u8)(a)};
    }
}

#define CLF_OP(ID, name, arity, class_, flags, type_rule, shape_rule, flops, grad, text) \
    static clf_slot NAME(op_##ID)(const clf_slot *x) { \
        E_T a = GET(x[0]), b = GET(x[1]), c = GET(x[2]); \
        (void)a, (void)b, (void)c; \
        return NAME(put)(text); \
    }
#include "core/ops.def"
static clf_slot (*const NAME(ops)[])(const clf_slot *) = {
#define CLF_OP(ID, ...) NAME(op_##ID),
#include "core/ops.def"
};

#define STATE_IN(S, s) W_T s##0 = GET_W((S)->s[0]), s##1 = GET_W((S)->s[1]), s##2 = GET_W((S)->s[2]); (void)s##0, (void)s##1, (void)s##2
#define STATE_OUT(S, x) (S)->s[0] = NAME(wide)(x##0), (S)->s[1] = NAME(wide)(x##1), (S)->s[2] = NAME(wide)(x##2)
#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) \
    static void NAME(init_##ID)(clf_ref_state *S) { \
        W_T s0 = 0, s1 = 0, s2 = 0; \
        init; \
        STATE_OUT(S, s); \
    } \
    static void NAME(step_##ID)(clf_ref_state *S, clf_slot x, int64_t k) { \
        STATE_IN(S, s); \
        E_T v = GET(x), c = 0, d = 0; \
        (void)c, (void)d, (void)k; \
        step; \
        STATE_OUT(S, s); \
    } \
    static void NAME(merge_##ID)(clf_ref_state *S, const clf_ref_state *T) { \
        STATE_IN(S, s); \
        W_T t0 = GET_W(T->s[0]), t1 = GET_W(T->s[1]), t2 = GET_W(T->s[2]), c = 0, d = 0, q = 0; \
        int64_t n = 0; \
        (void)t0, (void)t1, (void)t2, (void)c, (void)d, (void)q, (void)n; \
        merge; \
        STATE_OUT(S, s); \
    } \
    static void NAME(repeat_##ID)(clf_ref_state *T, clf_slot x, int64_t n, int64_t k) { \
        W_T v = (W_T)GET(x), t0 = 0, t1 = 0, t2 = 0; \
        (void)k; \
        repeat; \
        STATE_OUT(T, t); \
    } \
    static clf_slot NAME(finish_##ID)(const clf_ref_state *S) { \
        STATE_IN(S, s); \
        W_T r; \
        finish; \
        if ((result)[0] == 'N' || (result)[0] == 'B') return (clf_slot){.i = (int64_t)r}; \
        return (result)[0] == 'W' ? NAME(wide)(r) : NAME(put)((E_T)r); \
    }
#include "core/folds.def"
static const ref_fold NAME(folds)[] = {
#define CLF_FOLD(ID, ...) {NAME(init_##ID), NAME(step_##ID), NAME(merge_##ID), NAME(finish_##ID), NAME(repeat_##ID)},
#include "core/folds.def"
};
static void NAME(dot)(clf_ref_state *S, clf_slot a, clf_slot b) { S->s[0] = NAME(put)(E_FMA(GET(a), GET(b), GET(S->s[0]))); }
#undef STATE_IN
#undef STATE_OUT
#undef NAME
#undef IS_FLOAT
#undef GET
#undef GET_W
