/* SPDX-License-Identifier: Apache-2.0
 * Loops of the row executor: inner products, sums of products over rows, gathers and scatters by column, scans. Compiled once per
 * instruction set, like tile_loops.c; bodies in rows_type.h, one copy per element type. */
#include "host/run/tile_isa.h"
#include "host/run/rows_vec.h"

/* Leaves of 512 of an extent below 2^63 need fewer levels than this. ROWS_MOST: inner products made together, of rows picked; ROWS_STATES:
 * of four rows by columns. ROWS_BLOCK: rows whose sums fit the registers, with one vector or two; ROWS_TILE: vectors of sums over rows that
 * do, for ROWS_PASS rows at a time; ROWS_WIDE: is there room for four rows, or cells, by as many vectors? ROWS_PICKED: of those made
 * together, inner products with one row. ROWS_HALVES: rows that entries pick go by halves of vectors, ROWS_HALVES_MOST to a row of an inner
 * product, ROWS_HALVES_SUMS of them together in sums over entries. */
enum { ROWS_DEPTH = 56, ROWS_PAGE = 4096, ROWS_MOST = 8, ROWS_STATES = 20, ROWS_PASS = 32, ROWS_SUMS = 16, ROWS_AHEAD = 8 };
#if defined(__AVX512F__)
enum { ROWS_BLOCK = 8, ROWS_TILE = 16, ROWS_WIDE = 1, ROWS_PICKED = 8 };
#else
enum { ROWS_BLOCK = 4, ROWS_TILE = 4, ROWS_WIDE = 0, ROWS_PICKED = 4 };
enum { ROWS_HALVES_MOST = 8, ROWS_HALVES_SUMS = 10 };
#endif
#ifdef V_HALVES
#define ROWS_HALVES 1
#else
#define ROWS_HALVES 0
#endif
/* In a loop's body: it stays one of scalars, but where the processor gathers fast. */
#if defined(__AVX512F__)
#define ROWS_ONE_BY_ONE ((void)0)
#else
#define ROWS_ONE_BY_ONE __asm__ volatile("")
#endif

#define ELEM_T f32
#include "host/run/rows_type.h"
#undef ELEM_T
#define ELEM_T f64
#include "host/run/rows_type.h"
#undef ELEM_T
#undef ROWS_HALVES
#define ROWS_HALVES 0
#define ELEM_T i32
#include "host/run/rows_type.h"
#undef ELEM_T
#define ELEM_T i64
#include "host/run/rows_type.h"
#undef ELEM_T
#define ELEM_T u8
#include "host/run/rows_type.h"
#undef ELEM_T

extern const clf_row_table TILE_SYMBOL(row_table);
const clf_row_table TILE_SYMBOL(row_table) = {
    .type = {&rows_fns_f32, &rows_fns_f64, &rows_fns_i32, &rows_fns_i64, &rows_fns_u8},
};
