/* SPDX-License-Identifier: Apache-2.0
 * The fold table as data, its type rules, and the two sizes of the column tree that depend on the shape (fold.h draws the tree). */
#include "core/fold.h"

#include <string.h>

const clf_fold_row clf_folds[CLF_NFOLDS] = {
#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) \
    {#ID, name, state, #init, #step, #merge, #finish, #repeat, result[0], flops},
#include "core/folds.def"
};

/* Column folds: narrow matrices fill a vector with several rows, at most this wide. Scattered ones clear and merge whole results, so
 * they have fewer blocks. */
enum { NARROW_COLS = 128, SHORT_ROW_COLS = 4096, MIN_BLOCK = 16, MAX_BLOCKS = 1024, MAX_BLOCKS_LONG_ROW = 64 };
enum { MAX_SCATTER = 256, MAX_SCATTER_LONG_ROW = 16 };

int clf_col_lanes(int64_t cols, clf_dtype value) {
    int lanes = clf_lanes(value);
    return cols > NARROW_COLS ? 1 : (int)(lanes / clf_gcd(cols, lanes));
}

int64_t clf_col_block(int64_t rows, int64_t cols) {
    int64_t most = cols <= SHORT_ROW_COLS ? MAX_BLOCKS : MAX_BLOCKS_LONG_ROW, block = MIN_BLOCK;
    while ((rows - 1) / block >= most) block *= 2; /* (rows - 1)/block + 1 blocks */
    return block;
}

int64_t clf_scatter_block(int64_t rows, int64_t cells) {
    int64_t block = (rows - 1) / MAX_SCATTER + 1;
    if (block < MIN_BLOCK) block = MIN_BLOCK;
    while (cells > SHORT_ROW_COLS && (rows - 1) / block >= MAX_SCATTER_LONG_ROW) block *= 2;
    return block;
}

clf_dtype clf_fold_value_type(clf_fold_id f, clf_dtype in) {
    if (clf_dtype_float(in)) return in;
    switch (f) {
    case CLF_FOLD_SUM:
    case CLF_FOLD_SUMSQ:
    case CLF_FOLD_PROD: return CLF_I64;
    case CLF_FOLD_MEAN:
    case CLF_FOLD_VAR: return CLF_F64;
    default: return in;
    }
}

clf_dtype clf_fold_result_type(clf_fold_id f, clf_dtype value) {
    switch (clf_folds[f].result) {
    case 'N': return CLF_I64;
    case 'B': return CLF_U8;
    default: return value;
    }
}

int clf_fold_find(const char *name) {
    for (int i = 0; i < CLF_NFOLDS; i++)
        if (strcmp(clf_folds[i].name, name) == 0) return i;
    return -1;
}
