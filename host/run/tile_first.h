/* SPDX-License-Identifier: Apache-2.0
 * Positions of extreme values (argmin, argmax) over cells of type ELEM_T: what is most extreme, as min and max fold it, and then the first
 * cell that has it; the cells are near by then. The texts of folds.def step value and position together, which says the same but takes a
 * branch a cell. Included by tile_folds.h. */

#define SAME_f32 int32_t
#define SAME_f64 int64_t
#define SAME_i32 int32_t
#define SAME_i64 int64_t
#define SAME_u8 int8_t
/* An integer as large as an element: a comparison then decides it without being widened. */
#define SAME_T ELEM_PASTE(SAME_, ELEM_T)

/* Is v the most extreme value, which is NaN if there is one? */
#define IS_MOST(v, most) (((v) == (most)) | ((v) != (v)))

enum { FIRST_CELLS = 16 };

/* Of n > 0 cells, one of which is it. */
ELEM_FN int64_t ELEM_PASTE(first_, ELEM_T)(int64_t n, const E_T *x, E_T most) {
    int64_t i = 0;
    for (; i + FIRST_CELLS < n; i += FIRST_CELLS) {
        SAME_T any = 0;
        for (int l = 0; l < FIRST_CELLS; l++) any |= (SAME_T)IS_MOST(x[i + l], most);
        if (any) break;
    }
    while (i + 1 < n && !IS_MOST(x[i], most)) i++;
    return i;
}

/* F: the fold of positions, M: that of values. */
#define FIRST_LEAF(F, M, leaf) \
    static void NAME(leaf, F)(int64_t n, int64_t k, const void *pa, const void *pb, const void *pc, clf_fold_state *out) { \
        NAME(leaf, M)(n, k, pa, pb, pc, out); \
        STATE_LOAD(F, out, w0, w1, w2) \
        w1 = n > 0 ? k + ELEM_PASTE(first_, ELEM_T)(n, pa, (E_T)w0) : -1; \
        w2 = 0; \
        STATE_STORE(out, w0, w1, w2) \
    }

/* Short rows, SIDE of them side by side, from the last cell to the first: fewer cells than an i8 can count. */
#define FIRST_SIDE(F, M) \
    static int64_t NAME(side_, F)(int64_t rows, int64_t n, const E_T *x, clf_word *out) { \
        for (int64_t next = 0; next < rows && SIDE <= rows; next += SIDE) { \
            const int64_t row = next + SIDE <= rows ? next : rows - SIDE, at = row * n; \
            SIDE_AHEAD(x) \
            NAME(L0_, M) most[SIDE]; \
            NAME(L1_, M) l1 = 0; \
            NAME(L2_, M) l2 = 0; \
            SAME_T place[SIDE]; \
            SIDE_EACH NAME(init1_, M)(&most[r], &l1, &l2); \
            for (int64_t i = 0; i < n; i++) { \
                SIDE_EACH NAME(step1_, M)(&most[r], &l1, &l2, x[at + r * n + i], i); \
            } \
            SIDE_EACH place[r] = 0; \
            for (int64_t i = n; i > 0; i--) { \
                SIDE_EACH place[r] = IS_MOST(x[at + r * n + i - 1], most[r]) ? (SAME_T)i : place[r]; \
            } \
            SIDE_EACH { \
                const NAME(R_, F) v = place[r]; \
                memcpy(&out[row + r], &v, 8); \
            } \
        } \
        return SIDE <= rows ? rows : 0; \
    }

#define FIRST_ROWS(F, what, leaf) \
    static void NAME(what, F)(int64_t rows, int64_t n, const void *pa, const void *pb, const void *pc, clf_word *out) { \
        const E_T *x = pa; \
        for (int64_t row = n < SHORT_ROW ? NAME(side_, F)(rows, n, x, out) : 0; row < rows; row++) { \
            clf_fold_state s; \
            NAME(leaf, F)(n, 0, x + row * n, pb, pc, &s); \
            STATE_LOAD(F, &s, w0, w1, w2) \
            const NAME(R_, F) v = NAME(finish1_, F)(w0, w1, w2); \
            memcpy(&out[row], &v, 8); \
        } \
    }

#define FIRST_ALL(F, M) \
    FIRST_LEAF(F, M, leaf_) \
    FIRST_LEAF(F, M, leaf_ahead_) \
    FIRST_SIDE(F, M) \
    FIRST_ROWS(F, rows_, leaf_) \
    FIRST_ROWS(F, rows_ahead_, leaf_ahead_)
