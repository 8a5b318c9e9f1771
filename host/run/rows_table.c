/* SPDX-License-Identifier: Apache-2.0
 * The row executor's loops of all element types as one table. Compiled once per instruction set, like those. */
#include "host/run/tile_elem.h"
#include "host/run/tile_isa.h"

extern const clf_row_fns TILE_SYMBOL(rows_f32), TILE_SYMBOL(rows_f64), TILE_SYMBOL(rows_i32), TILE_SYMBOL(rows_i64), TILE_SYMBOL(rows_u8);
extern const clf_row_table TILE_SYMBOL(row_table);
const clf_row_table TILE_SYMBOL(row_table) = {
    .type = {&TILE_SYMBOL(rows_f32), &TILE_SYMBOL(rows_f64), &TILE_SYMBOL(rows_i32), &TILE_SYMBOL(rows_i64), &TILE_SYMBOL(rows_u8)},
};
