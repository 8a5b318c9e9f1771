/* SPDX-License-Identifier: Apache-2.0
 * Loops of the row executor for the element type ELEM_T: inner products, sums of products over rows, gathers and scatters by column, scans.
 * Included by rows_<type>.c, which are compiled once per instruction set, like tile_loops.c; bodies by idea in files of their own. */
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
/* Only floats have vectors of two registers. */
#if defined(V_HALVES) && TILE_FLOAT
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

#define NAME(what) ELEM_PASTE4(rows_, what, _, ELEM_T)
#define V(what) ELEM_PASTE4(v_, what, _, ELEM_T)
#define VEC V(vec)
#define LANES ELEM_PASTE4(V_, LANES, _, ELEM_T)
/* Floats have loops of their own for blocks of rows and for the case that no zero annihilates; integers do with one. */
#define FAST TILE_FLOAT

#if ROWS_HALVES
#include "host/run/rows_half.h"
#endif
#include "host/run/rows_dot.h"
#include "host/run/rows_gathered.h"
#include "host/run/rows_side.h"
#include "host/run/rows_along.h"
#include "host/run/rows_whole.h"
#include "host/run/rows_outer.h"
#include "host/run/rows_scan.h"

extern const clf_row_fns TILE_SYMBOL(ELEM_PASTE(rows_, ELEM_T));
const clf_row_fns TILE_SYMBOL(ELEM_PASTE(rows_, ELEM_T)) = {
    .along = NAME(along),
    .packed = NAME(packed),
    .gathered = NAME(gathered),
    .gathered_whole = NAME(gathered_whole),
    .picked = NAME(picked),
    .whole = NAME(whole),
    .picked_whole = NAME(picked_whole),
    .columns = NAME(columns),
    .cells = NAME(cells),
    .each = NAME(each),
    .scatter = NAME(scatter),
    .scatter_each = NAME(scatter_each),
    .scatter_sum = NAME(scatter_sum),
    .scan = {[CLF_FOLD_SUM] = NAME(scan_SUM),
             [CLF_FOLD_SUMSQ] = NAME(scan_SUMSQ),
             [CLF_FOLD_MIN] = NAME(scan_MIN),
             [CLF_FOLD_MAX] = NAME(scan_MAX),
             [CLF_FOLD_PROD] = NAME(scan_PROD)},
    .gather = NAME(gather),
    .expand = NAME(expand),
    .lanes = LANES,
};
