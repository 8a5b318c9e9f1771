/* SPDX-License-Identifier: Apache-2.0
 * Sparse matrices for loops that are split: even ones; in bands with empty rows between; of a row that has nearly all entries, so that one
 * of two may have no row at all; of rows of very different length; of one row; and next to empty. Of so many columns that positions take
 * 64 bits; and of so many entries beside these that products with a wide side go by blocks on a CPU. */
#ifndef CLF_TESTS_SPLIT_MATRIX_H
#define CLF_TESTS_SPLIT_MATRIX_H
#include "tests/unit/api_testing.h"

enum { ROWS = 1500, COLS = 700, WIDE = 12000, VAST = 3000000, SPLIT_ENTRIES = 60000 };

typedef enum kind { EVEN, BANDS, HUGE_FIRST, HUGE_LAST, UNEVEN, ALONE, FEW, KINDS, BEYOND_INT = KINDS, BLOCKS } kind;

typedef struct sparse {
    int64_t rows, cols, nnz, ptr[ROWS + 1];
    int32_t idx[SPLIT_ENTRIES], ptr32[ROWS + 1];
    double val[SPLIT_ENTRIES]; /* of either type */
} sparse;

static inline int64_t length_of(kind k, int64_t row) {
    switch (k) {
    case EVEN:
    case BEYOND_INT: return 20 + row % 5;
    case BANDS: return row / 100 % 2 ? 30 : 0;
    case HUGE_FIRST: return row ? row % 7 == 0 : WIDE - 300;
    case HUGE_LAST: return row + 1 < ROWS ? row % 9 == 0 : WIDE;
    case UNEVEN: return row % 3 ? 0 : 2000 / (row / 3 + 1) + 3;
    case ALONE: return WIDE;
    case BLOCKS: return 39;
    default: return row == 40;
    }
}

static inline int64_t width_of(kind k) {
    static const int64_t of[] = {COLS, COLS, WIDE, WIDE, WIDE, WIDE, COLS, VAST, WIDE};
    return of[k];
}

static inline void put_number(clf_dtype t, void *to, int64_t i, double v) {
    if (t == CLF_F32)
        ((float *)to)[i] = (float)v;
    else
        ((double *)to)[i] = v;
}

static inline double number(int64_t i) { return i % 311 == 5 ? -0.0 : (double)(i * 37 % 1009) * 0.37 - 150; }

/* Columns of a row are evenly apart, from another one on in every row. */
static inline sparse *matrix_of(kind k, clf_dtype t) {
    static sparse s;
    s.rows = k == ALONE ? 1 : ROWS;
    s.cols = width_of(k);
    s.nnz = 0;
    for (int64_t i = 0; i < s.rows; i++) {
        int64_t n = length_of(k, i), step = n ? s.cols / n : 1, first = n ? i % (s.cols - (n - 1) * step) : 0;
        s.ptr[i] = s.nnz;
        s.ptr32[i] = (int32_t)s.nnz;
        CU_ASSERT_FATAL(s.nnz + n <= SPLIT_ENTRIES);
        for (int64_t e = 0; e < n; e++, s.nnz++) {
            s.idx[s.nnz] = (int32_t)(first + e * step);
            put_number(t, s.val, s.nnz, number(s.nnz + 1));
        }
    }
    s.ptr[s.rows] = s.nnz;
    s.ptr32[s.rows] = (int32_t)s.nnz;
    return &s;
}
#endif
