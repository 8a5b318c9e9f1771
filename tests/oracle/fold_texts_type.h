/* SPDX-License-Identifier: Apache-2.0
 * Included once per element type with ELEM_T set: the texts of every row of folds.def as functions fold_<part>_<ID>_<type>. */
#define FOLD_NAME(part, ID) ELEM_PASTE4(fold_##part##_, ID, _, ELEM_T)
#define FOLD_COMPONENT(i, ID, T) ELEM_PASTE4(FOLD_T, i, _, FOLD_STATE_##ID)(T)
#define FOLD_LOAD(side, p, ID, T)                                                                     \
    FOLD_COMPONENT(0, ID, T) side##0 = FOLD_GET(FOLD_COMPONENT(0, ID, T), (p)->c[0]);                 \
    FOLD_COMPONENT(1, ID, T) side##1 = FOLD_GET(FOLD_COMPONENT(1, ID, T), (p)->c[1]);                 \
    FOLD_COMPONENT(2, ID, T) side##2 = FOLD_GET(FOLD_COMPONENT(2, ID, T), (p)->c[2]);                 \
    (void)side##0, (void)side##1, (void)side##2
#define FOLD_SAVE(side, p) (p)->c[0] = FOLD_PUT(side##0), (p)->c[1] = FOLD_PUT(side##1), (p)->c[2] = FOLD_PUT(side##2)

#define CLF_FOLD(ID, name, state, init_, step_, merge_, finish_, repeat_, result, flops)              \
    static void FOLD_NAME(init, ID)(fold_state * p)                                                    \
    {                                                                                                  \
        FOLD_LOAD(s, p, ID, E_T);                                                                      \
        init_;                                                                                         \
        FOLD_SAVE(s, p);                                                                               \
    }                                                                                                  \
    static void FOLD_NAME(step, ID)(fold_state * p, clf_scalar value, int64_t k)                       \
    {                                                                                                  \
        E_T v = FOLD_GET(E_T, value), c = 0, d = 0;                                                    \
        (void)k, (void)c, (void)d;                                                                     \
        FOLD_LOAD(s, p, ID, E_T);                                                                      \
        step_;                                                                                         \
        FOLD_SAVE(s, p);                                                                               \
    }                                                                                                  \
    static void FOLD_NAME(merge, ID)(fold_state * p, const fold_state *later)                          \
    {                                                                                                  \
        W_T c = 0, d = 0, q = 0;                                                                       \
        int64_t n = 0;                                                                                 \
        (void)c, (void)d, (void)q, (void)n;                                                            \
        FOLD_LOAD(s, p, ID, W_T);                                                                      \
        FOLD_LOAD(t, later, ID, W_T);                                                                  \
        merge_;                                                                                        \
        FOLD_SAVE(s, p);                                                                               \
    }                                                                                                  \
    static clf_scalar FOLD_NAME(finish, ID)(const fold_state *p)                                       \
    {                                                                                                  \
        FOLD_RESULT_##ID r;                                                                            \
        FOLD_LOAD(s, p, ID, W_T);                                                                      \
        finish_;                                                                                       \
        return FOLD_PUT(r);                                                                            \
    }                                                                                                  \
    static void FOLD_NAME(repeat, ID)(fold_state * p, clf_scalar value, int64_t n, int64_t k)          \
    {                                                                                                  \
        W_T v = FOLD_GET(W_T, value);                                                                  \
        (void)v, (void)k, (void)n;                                                                     \
        FOLD_LOAD(t, p, ID, W_T);                                                                      \
        repeat_;                                                                                       \
        FOLD_SAVE(t, p);                                                                               \
    }
#include "core/folds.def"
#undef FOLD_NAME
#undef FOLD_COMPONENT
#undef FOLD_LOAD
#undef FOLD_SAVE
