/* SPDX-License-Identifier: Apache-2.0
 * Folds of all element types as one table. Compiled once per instruction set, like those. */
#include "host/run/tile_elem.h"
#include "host/run/tile_isa.h"

extern const clf_fold_fns *const TILE_SYMBOL(folds_f32)[CLF_NFOLDS], *const TILE_SYMBOL(folds_f64)[CLF_NFOLDS];
extern const clf_fold_fns *const TILE_SYMBOL(folds_i32)[CLF_NFOLDS], *const TILE_SYMBOL(folds_i64)[CLF_NFOLDS];
extern const clf_fold_fns *const TILE_SYMBOL(folds_u8)[CLF_NFOLDS];
extern const clf_fused_fns TILE_SYMBOL(mul_f32), TILE_SYMBOL(mul_f64), TILE_SYMBOL(mul3_f32), TILE_SYMBOL(mul3_f64);
extern const clf_fold_table TILE_SYMBOL(fold_table);
const clf_fold_table TILE_SYMBOL(fold_table) = {
    .fold = {TILE_SYMBOL(folds_f32), TILE_SYMBOL(folds_f64), TILE_SYMBOL(folds_i32), TILE_SYMBOL(folds_i64), TILE_SYMBOL(folds_u8)},
    .fused = {[CLF_FUSE_MUL] = {[CLF_FOLD_SUM] = {&TILE_SYMBOL(mul_f32), &TILE_SYMBOL(mul_f64)}},
              [CLF_FUSE_MUL3] = {[CLF_FOLD_SUM] = {&TILE_SYMBOL(mul3_f32), &TILE_SYMBOL(mul3_f64)}}},
};
