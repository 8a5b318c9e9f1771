/* SPDX-License-Identifier: Apache-2.0
 * Folds over cells of type ELEM_T: the reduction tree of core/fold.h below and inside a leaf, of what tile_fold_texts.h makes of each fold.
 * Included by tile_folds_<type>.c, which are compiled once per instruction set, like tile_loops.c.
 *
 * Lanes are small local arrays stepped in the same order everywhere; the compiler keeps them in vector registers. A leaf's last
 * group of lanes may be partial: all lanes are stepped, and those beyond the end keep what they had. */
#include "host/run/tile_isa.h"
#include "host/run/tile_elem.h"
#include "host/run/tile_first.h"
#include "host/run/tile_fold_texts.h"
#include "host/run/tile_gaps.h"
#include <string.h>

#define LANES_f32 16
#define LANES_f64 8
#define LANES_i32 8
#define LANES_i64 8
#define LANES_u8 8
#define LANES ELEM_PASTE(LANES_, ELEM_T)

/* Locals of a leaf; stepping one group of lanes from cell i; folding the lanes. VALUE(i) is the value of cell i. */
#define LEAF_LOCALS(F) \
    NAME(L0_, F) l0[LANES]; \
    NAME(L1_, F) l1[LANES]; \
    NAME(L2_, F) l2[LANES];
#define LEAF_INIT(F) \
    for (int l = 0; l < LANES; l++) NAME(init1_, F)(&l0[l], &l1[l], &l2[l]);
#define LEAF_GROUP(F, VALUE) \
    for (int l = 0; l < LANES; l++) NAME(step1_, F)(&l0[l], &l1[l], &l2[l], VALUE(i + l), k + i + l);
#define LEAF_REST(F, VALUE) \
    for (int l = 0; l < LANES; l++) { \
        NAME(L0_, F) a0 = l0[l]; \
        NAME(L1_, F) a1 = l1[l]; \
        NAME(L2_, F) a2 = l2[l]; \
        NAME(step1_, F)(&a0, &a1, &a2, VALUE(i + l), k + i + l); \
        l0[l] = i + l < n ? a0 : l0[l]; \
        l1[l] = i + l < n ? a1 : l1[l]; \
        l2[l] = i + l < n ? a2 : l2[l]; \
    }
#define LEAF_FOLD(F) \
    NAME(S0_, F) w0[LANES]; \
    NAME(S1_, F) w1[LANES]; \
    NAME(S2_, F) w2[LANES]; \
    for (int l = 0; l < LANES; l++) w0[l] = l0[l], w1[l] = l1[l], w2[l] = l2[l]; \
    LEAF_MEET(F, 8) \
    LEAF_MEET(F, 4) \
    LEAF_MEET(F, 2) \
    LEAF_MEET(F, 1)
/* Written out: as a loop over halves it is not unrolled, and each half waits for the last one's stores. */
#define LEAF_MEET(F, h) \
    for (int l = 0; LANES > (h) && l < (h); l++) NAME(merge1_, F)(&w0[l], &w1[l], &w2[l], w0[l + (h)], w1[l + (h)], w2[l + (h)]);
/* Where the only operand comes from memory, ask for what is read a page later: one stream keeps a core waiting. */
#define AHEAD_NONE
#define AHEAD_PAGE __builtin_prefetch((const char *)(x + i) + 4096);
/* Of several operands, the next block of one, then of the other: taking turns at each line, memory would open a page for each. */
#define AHEAD_BLOCK(p) \
    for (int l = 0; l < 8; l++) __builtin_prefetch((const char *)((p) + i) + 512 + 64 * l);
#define AHEAD_AT_BLOCK(FETCH) \
    if (i % (8 * LANES) == 0 && n >= 8 * LANES) { \
        FETCH \
    }
#define AHEAD_2 AHEAD_AT_BLOCK(AHEAD_BLOCK(x) AHEAD_BLOCK(y))
#define AHEAD_3 AHEAD_AT_BLOCK(AHEAD_BLOCK(x) AHEAD_BLOCK(y) AHEAD_BLOCK(z))
#define LEAF_RUN(F, VALUE, AHEAD) \
    LEAF_LOCALS(F) \
    LEAF_INIT(F) \
    int64_t i = 0; \
    for (; i + LANES <= n; i += LANES) { \
        AHEAD LEAF_GROUP(F, VALUE) \
    } \
    if (i < n) { \
        LEAF_REST(F, VALUE) \
    } \
    LEAF_FOLD(F)

#define FOLD_LEAF(F, what, VALUE, AHEAD) \
    static void NAME(what, F)(int64_t n, int64_t k, const void *pa, const void *pb, const void *pc, clf_fold_state *out) { \
        const E_T *x = pa, *y = pb, *z = pc; \
        (void)y; \
        (void)z; \
        LEAF_RUN(F, VALUE, AHEAD) \
        STATE_STORE(out, w0[0], w1[0], w2[0]) \
    }
#define VALUE_PLAIN(j) x[j]
#define VALUE_MUL(j) E_MUL(x[j], y[j])
#define VALUE_MUL3(j) E_MUL(E_MUL(x[j], y[j]), z[j])

/* Short rows, SIDE of them side by side: a lane is a vector of rows, and lanes meet without a shuffle. The last ones go again with rows
 * before them. Rows done: all, or none where they are too few. SHORT_ROW: rows of fewer cells; SHORT_PRODUCT: where a cell is a product. */
enum { SIDE = 8, SHORT_ROW = 32, SHORT_PRODUCT = 17 };
/* Of rows that are read by turns the hardware foresees no run: what comes a page later is asked for. */
#define SIDE_AHEAD(p) \
    if (p) TILE_PREFETCH((const char *)((p) + at) + 4096, SIDE * n * (int64_t)sizeof *(p));
#define SIDE_EACH for (int r = 0; r < SIDE; r++)
#define SIDE_MEET(F, h) \
    for (int l = 0; LANES > (h) && l < (h); l++) \
        SIDE_EACH NAME(merge1_, F)(&w0[l][r], &w1[l][r], &w2[l][r], w0[l + (h)][r], w1[l + (h)][r], w2[l + (h)][r]);
#define FOLD_SIDE(F, what, VALUE) \
    static int64_t NAME(what, F)(int64_t rows, int64_t n, const E_T *x, const E_T *y, const E_T *z, clf_word *out) { \
        for (int64_t next = 0; next < rows && SIDE <= rows; next += SIDE) { \
            const int64_t row = next + SIDE <= rows ? next : rows - SIDE, at = row * n; \
            SIDE_AHEAD(x) \
            SIDE_AHEAD(y) \
            SIDE_AHEAD(z) \
            NAME(L0_, F) l0[LANES][SIDE]; \
            NAME(L1_, F) l1[LANES][SIDE]; \
            NAME(L2_, F) l2[LANES][SIDE]; \
            NAME(S0_, F) w0[LANES][SIDE]; \
            NAME(S1_, F) w1[LANES][SIDE]; \
            NAME(S2_, F) w2[LANES][SIDE]; \
            for (int l = 0; l < LANES; l++) SIDE_EACH NAME(init1_, F)(&l0[l][r], &l1[l][r], &l2[l][r]); \
            for (int64_t i = 0; i < n; i++) { \
                SIDE_EACH NAME(step1_, F)(&l0[i % LANES][r], &l1[i % LANES][r], &l2[i % LANES][r], VALUE(at + r * n + i), i); \
            } \
            for (int l = 0; l < LANES; l++) SIDE_EACH w0[l][r] = l0[l][r], w1[l][r] = l1[l][r], w2[l][r] = l2[l][r]; \
            SIDE_MEET(F, 8) \
            SIDE_MEET(F, 4) \
            SIDE_MEET(F, 2) \
            SIDE_MEET(F, 1) \
            SIDE_EACH { \
                NAME(R_, F) v = NAME(finish1_, F)(w0[0][r], w1[0][r], w2[0][r]); \
                memcpy(&out[row + r], &v, 8); \
            } \
        } \
        return SIDE <= rows ? rows : 0; \
    }

#define FOLD_ROWS(F, what, side, SHORT, VALUE, AHEAD) \
    static void NAME(what, F)(int64_t rows, int64_t n, const void *pa, const void *pb, const void *pc, clf_word *out) { \
        const E_T *x = pa, *y = pb, *z = pc; \
        const int64_t k = 0; \
        int64_t row = n < SHORT ? NAME(side, F)(rows, n, x, y, z, out) : 0; \
        x += row * n, y += y ? row * n : 0, z += z ? row * n : 0; \
        for (; row < rows; row++, x += n, y += y ? n : 0, z += z ? n : 0) { \
            LEAF_RUN(F, VALUE, AHEAD) \
            NAME(R_, F) r = NAME(finish1_, F)(w0[0], w1[0], w2[0]); \
            memcpy(&out[row], &r, 8); \
        } \
    }

/* Lanes at rest in a clf_lane_state. */
#define LANES_AT(F, s) \
    NAME(L0_, F) *l0 = (void *)s[0]; \
    NAME(L1_, F) *l1 = (void *)s[1]; \
    NAME(L2_, F) *l2 = (void *)s[2];
#define LANES_CAT(F, s) \
    const NAME(L0_, F) *l0 = (const void *)s[0]; \
    const NAME(L1_, F) *l1 = (const void *)s[1]; \
    const NAME(L2_, F) *l2 = (const void *)s[2];
#define FOLD_PIECES(F) \
    static void NAME(begin_, F)(clf_lane_state * p) { \
        LANES_AT(F, p->s) \
        LEAF_INIT(F) \
    } \
    static void NAME(pieces_, F)(clf_lane_state * p, int64_t n, int64_t lane, int64_t k, const void *px) { \
        const E_T *x = px; \
        LANES_AT(F, p->s) \
        int64_t i = 0; \
        for (int64_t l = lane; l > 0 && l < LANES && i < n; l++, i++) NAME(step1_, F)(&l0[l], &l1[l], &l2[l], x[i], k + i); \
        for (; i + LANES <= n; i += LANES) { \
            LEAF_GROUP(F, VALUE_PLAIN) \
        } \
        for (int64_t l = 0; i < n; l++, i++) NAME(step1_, F)(&l0[l], &l1[l], &l2[l], x[i], k + i); \
    } \
    static void NAME(end_, F)(const clf_lane_state *p, clf_fold_state *out) { \
        LANES_CAT(F, p->s) \
        LEAF_FOLD(F) \
        STATE_STORE(out, w0[0], w1[0], w2[0]) \
    }

/* Wide states at rest: n of them as three arrays of words, absent ones NULL and taken as one dummy word. */
#define WORDS_LOAD(F, s, i, a0, a1, a2) \
    NAME(S0_, F) a0; \
    NAME(S1_, F) a1 = 0; \
    NAME(S2_, F) a2 = 0; \
    memcpy(&a0, &s[0][i], 8); \
    if (BYTES(F, 1) != 0) memcpy(&a1, &s[1][i], 8); \
    if (BYTES(F, 2) != 0) memcpy(&a2, &s[2][i], 8);
#define WORDS_STORE(F, s, i, a0, a1, a2) \
    memcpy(&s[0][i], &a0, 8); \
    if (BYTES(F, 1) != 0) memcpy(&s[1][i], &a1, 8); \
    if (BYTES(F, 2) != 0) memcpy(&s[2][i], &a2, 8);
#define FOLD_WIDE(F) \
    static void NAME(merge_, F)(clf_fold_state * s, const clf_fold_state *t) { \
        STATE_LOAD(F, s, s0, s1, s2) \
        STATE_LOAD(F, t, t0, t1, t2) \
        NAME(merge1_, F)(&s0, &s1, &s2, t0, t1, t2); \
        STATE_STORE(s, s0, s1, s2) \
    } \
    static void NAME(finish_, F)(int64_t n, clf_word * out, clf_word *const s[3]) { \
        TILE_IVDEP for (int64_t i = 0; i < n; i++) { \
            WORDS_LOAD(F, s, i, s0, s1, s2) \
            NAME(R_, F) r = NAME(finish1_, F)(s0, s1, s2); \
            memcpy(&out[i], &r, 8); \
        } \
    } \
    static void NAME(col_merge_, F)(int64_t n, clf_word *const ps[3], clf_word *const pt[3]) { \
        clf_word *const s[3] = {ps[0], ps[1], ps[2]}, *const t[3] = {pt[0], pt[1], pt[2]}; \
        TILE_IVDEP for (int64_t i = 0; i < n; i++) { \
            WORDS_LOAD(F, s, i, s0, s1, s2) \
            WORDS_LOAD(F, t, i, t0, t1, t2) \
            NAME(merge1_, F)(&s0, &s1, &s2, t0, t1, t2); \
            WORDS_STORE(F, s, i, s0, s1, s2) \
        } \
    }

/* Lane states of columns at rest: element i of each component's array, absent ones NULL. */
#define LANE_LOAD(F, i) \
    NAME(L0_, F) a0 = l0[i]; \
    NAME(L1_, F) a1 = 0; \
    NAME(L2_, F) a2 = 0; \
    if (BYTES(F, 1) != 0) a1 = l1[i]; \
    if (BYTES(F, 2) != 0) a2 = l2[i];
#define LANE_STORE(F, i) \
    l0[i] = a0; \
    if (BYTES(F, 1) != 0) l1[i] = a1; \
    if (BYTES(F, 2) != 0) l2[i] = a2;
#define FOLD_COLUMNS(F) \
    static void NAME(col_begin_, F)(int64_t n, void *const s[3]) { \
        LANES_AT(F, s) \
        for (int64_t i = 0; i < n; i++) { \
            NAME(L0_, F) a0; \
            NAME(L1_, F) a1; \
            NAME(L2_, F) a2; \
            NAME(init1_, F)(&a0, &a1, &a2); \
            LANE_STORE(F, i) \
        } \
    } \
    static void NAME(col_end_, F)(int64_t cols, int64_t lanes, void *const s[3], clf_word *const out[3]) { \
        LANES_AT(F, s) \
        for (int64_t j = 0; j < cols; j++) { \
            NAME(S0_, F) w0[CLF_MAX_LANES]; \
            NAME(S1_, F) w1[CLF_MAX_LANES]; \
            NAME(S2_, F) w2[CLF_MAX_LANES]; \
            for (int64_t l = 0; l < lanes; l++) { \
                LANE_LOAD(F, l *cols + j) \
                w0[l] = a0, w1[l] = a1, w2[l] = a2; \
            } \
            for (int64_t h = lanes / 2; h > 0; h /= 2) \
                for (int64_t l = 0; l < h; l++) NAME(merge1_, F)(&w0[l], &w1[l], &w2[l], w0[l + h], w1[l + h], w2[l + h]); \
            WORDS_STORE(F, out, j, w0[0], w1[0], w2[0]) \
        } \
    }

/* Step n columns, or n cells of several rows where the position does not matter. */
#define FOLD_COL_STEP(F, what, VALUE) \
    static void NAME(what, F)(int64_t n, int64_t k, const void *pa, const void *pb, const void *pc, void *const s[3]) { \
        const E_T *x = pa, *y = pb, *z = pc; \
        (void)y; \
        (void)z; \
        LANES_AT(F, s) \
        TILE_IVDEP for (int64_t i = 0; i < n; i++) { \
            LANE_LOAD(F, i) \
            NAME(step1_, F)(&a0, &a1, &a2, VALUE(i), k); \
            LANE_STORE(F, i) \
        } \
    }

/* The same of columns anywhere: value e is stepped into column idx[e]. */
#define FOLD_COL_SCATTER(F) \
    static void NAME(col_scatter_, F)(int64_t n, int64_t k, const void *px, const int32_t *idx, void *const s[3]) { \
        const E_T *x = px; \
        LANES_AT(F, s) \
        for (int64_t e = 0; e < n; e++) { \
            const int64_t i = idx[e]; \
            LANE_LOAD(F, i) \
            NAME(step1_, F)(&a0, &a1, &a2, x[e], k); \
            LANE_STORE(F, i) \
        } \
    }

/* Sums with a producer taken in. */
#define FOLD_FUSED(what, VALUE, AHEAD) \
    FOLD_LEAF(SUM, what##_leaf_, VALUE, AHEAD_NONE) \
    FOLD_LEAF(SUM, what##_leaf_ahead_, VALUE, AHEAD) \
    FOLD_SIDE(SUM, what##_side_, VALUE) \
    FOLD_ROWS(SUM, what##_rows_, what##_side_, SHORT_PRODUCT, VALUE, AHEAD_NONE) \
    FOLD_ROWS(SUM, what##_rows_ahead_, what##_side_, SHORT_PRODUCT, VALUE, AHEAD) \
    FOLD_COL_STEP(SUM, what##_col_, VALUE) \
    extern const clf_fused_fns TILE_SYMBOL(ELEM_PASTE(what##_, ELEM_T)); \
    const clf_fused_fns TILE_SYMBOL(ELEM_PASTE(what##_, ELEM_T)) = { \
        .leaf = NAME(what##_leaf_, SUM), \
        .leaf_ahead = NAME(what##_leaf_ahead_, SUM), \
        .rows = NAME(what##_rows_, SUM), \
        .rows_ahead = NAME(what##_rows_ahead_, SUM), \
        .col_step = NAME(what##_col_, SUM), \
    };

#define RESULT_INT_W ((W_T)0.5 == 0)
#define RESULT_INT_N true
#define FOLD_FNS(F) \
    static const clf_fold_fns NAME(fns_, F) = { \
        .leaf = NAME(leaf_, F), \
        .leaf_ahead = NAME(leaf_ahead_, F), \
        .rows = NAME(rows_, F), \
        .rows_ahead = NAME(rows_ahead_, F), \
        .begin = NAME(begin_, F), \
        .step = NAME(pieces_, F), \
        .end = NAME(end_, F), \
        .merge = NAME(merge_, F), \
        .finish = NAME(finish_, F), \
        .repeat = NAME(repeat_, F), \
        .block = NAME(block_, F), \
        .gaps = NAME(gaps_, F), \
        .col_begin = NAME(col_begin_, F), \
        .col_step = NAME(col_step_, F), \
        .col_scatter = NAME(col_scatter_, F), \
        .col_end = NAME(col_end_, F), \
        .col_merge = NAME(col_merge_, F), \
        .comp_bytes = {BYTES(F, 0), BYTES(F, 1), BYTES(F, 2)}, \
        .result_int = JOIN(RESULT_INT_, RESULT_##F), \
        .uses_k = USES_K_##F, \
    };

/* Leaves, and rows of a cell each: positions go by values, which the table has before them. */
#define RUNS_STEPPED(F) \
    FOLD_LEAF(F, leaf_, VALUE_PLAIN, AHEAD_NONE) \
    FOLD_LEAF(F, leaf_ahead_, VALUE_PLAIN, AHEAD_PAGE) \
    FOLD_SIDE(F, side_, VALUE_PLAIN) \
    FOLD_ROWS(F, rows_, side_, SHORT_ROW, VALUE_PLAIN, AHEAD_NONE) \
    FOLD_ROWS(F, rows_ahead_, side_, SHORT_ROW, VALUE_PLAIN, AHEAD_PAGE)
#define RUNS_SUM RUNS_STEPPED
#define RUNS_SUMSQ RUNS_STEPPED
#define RUNS_MIN RUNS_STEPPED
#define RUNS_MAX RUNS_STEPPED
#define RUNS_PROD RUNS_STEPPED
#define RUNS_MEAN RUNS_STEPPED
#define RUNS_VAR RUNS_STEPPED
#define RUNS_ARGMIN(F) FIRST_ALL(F, MIN)
#define RUNS_ARGMAX(F) FIRST_ALL(F, MAX)
#define RUNS_ANY RUNS_STEPPED
#define RUNS_ALL RUNS_STEPPED
#define RUNS_NNZ RUNS_STEPPED

#define FOLD_ALL(F, INIT, STEP, MERGE, FINISH, REPEAT) \
    FOLD_TEXTS(F, INIT, STEP, MERGE, FINISH, REPEAT) \
    FOLD_GAPS(F) \
    JOIN(RUNS_, F)(F) \
    FOLD_PIECES(F) \
    FOLD_WIDE(F) \
    FOLD_COLUMNS(F) \
    FOLD_COL_STEP(F, col_step_, VALUE_PLAIN) \
    FOLD_COL_SCATTER(F) \
    FOLD_FNS(F)

#define FOLD_FOR_TYPE(ID, INIT, STEP, MERGE, FINISH, REPEAT) WHEN(ID)(FOLD_ALL(ID, INIT, STEP, MERGE, FINISH, REPEAT))

#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) FOLD_FOR_TYPE(ID, init, step, merge, finish, repeat)
#include "core/folds.def"

/* Sums of products of floats take the products in. */
#if TILE_FLOAT
FOLD_FUSED(mul, VALUE_MUL, AHEAD_2)
FOLD_FUSED(mul3, VALUE_MUL3, AHEAD_3)
#endif

#define TABLE_ROW(ID) WHEN(ID)([CLF_FOLD_##ID] = &NAME(fns_, ID), )
extern const clf_fold_fns *const TILE_SYMBOL(ELEM_PASTE(folds_, ELEM_T))[CLF_NFOLDS];
const clf_fold_fns *const TILE_SYMBOL(ELEM_PASTE(folds_, ELEM_T))[CLF_NFOLDS] = {
#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) TABLE_ROW(ID)
#include "core/folds.def"
};
