/* SPDX-License-Identifier: Apache-2.0
 * Folds as data, and THE reduction tree (design section 6), a function of the logical extent only.
 *
 * Full fold of N cells (row-major position p), and row fold of a row of N cells (p = column):
 *   leaf p/512; in a leaf, lane p mod L (L = 8, or 16 when the VALUE type is f32), each lane steps its values in ascending p
 *   from the empty state; lanes are widened, then folded pairwise: lane i merges lane i + L/2, then L/4, ... down to lane 0;
 *   leaves are merged in a binary tree over their index: tree(n) = merge(tree(k leaves), tree(n-k leaves)), k the largest power
 *   of two below n. That equals a carry stack over leaves in order, closed from the top. Hence any aligned run of 2^j leaves
 *   is a subtree, and work-items, tiles and devices may take whole runs.
 * Column fold of R rows in a matrix with C columns:
 *   L = CLF_COL_LANES(C, value type): lanes = l/gcd(C, l) for C <= 128 with l = 8 (16 for f32); 1 for C > 128.
 *   rows form blocks of B = clf_col_block(R, C) rows (a power of two >= 16, at most 1024 blocks for C <= 4096, at most 64 for more);
 *   in a block, row i goes to lane (i mod L), ascending; lanes fold as above (L is a power of two); blocks merge in the same
 *   binary tree over their index.
 * State of gaps: what the cells without stored entry of a row or column of N cells are together, where they differ: each position p is
 *   `repeat` of its value widened, k = p, n = 1, or n = 0 where an entry is stored; positions merge in the same binary tree over their
 *   index. An aligned run of 2^j positions without entry is a subtree whatever else the row holds, so it is made once for all rows: E
 *   entries cost O(E log N), and a sum of gaps is never a difference of sums.
 * An empty extent gives finish(init). */
#ifndef CLF_CORE_FOLD_H
#define CLF_CORE_FOLD_H
#include "core/dtype.h"

typedef enum clf_fold_id {
#define CLF_FOLD(ID, ...) CLF_FOLD_##ID,
#include "core/folds.def"
    CLF_NFOLDS
} clf_fold_id;

typedef struct clf_fold_row {
    const char *id, *name, *state;                      /* "SUM" "sum" "V" */
    const char *init, *step, *merge, *finish, *repeat;  /* texts */
    char result;                                        /* V N B */
    int flops;
} clf_fold_row;
extern const clf_fold_row clf_folds[CLF_NFOLDS];

enum { CLF_LEAF = 512 };
static inline int clf_lanes(clf_dtype value) { return value == CLF_F32 ? 16 : 8; }
/** Greatest common divisor of non-negative numbers. */
static inline int64_t clf_gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}
int clf_col_lanes(int64_t cols, clf_dtype value);
int64_t clf_col_block(int64_t rows, int64_t cols);
/** Rows of one block where values of stored entries meet by column: those of 256 even blocks, or 16 where that is fewer; for more than
 *  4096 cells of the result the least power of two of that, such that there are 16 blocks at most. So blocks of wide results consist of
 *  whole blocks of narrow ones, and those of many rows are as even as work-items on any number of cores ask for. */
int64_t clf_scatter_block(int64_t rows, int64_t cells);
/** Type the values are cast to before folding (see folds.def), and the type of the result. */
clf_dtype clf_fold_value_type(clf_fold_id f, clf_dtype in);
clf_dtype clf_fold_result_type(clf_fold_id f, clf_dtype value);
static inline clf_dtype clf_wide(clf_dtype value) { return clf_dtype_float(value) ? CLF_F64 : CLF_I64; }
int clf_fold_find(const char *name); /* -1 if none */
#endif
