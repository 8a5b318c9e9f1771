/* SPDX-License-Identifier: Apache-2.0
 * Included by rows_loops.c once per element type, with ELEM_T set: the loops of clf_row_fns (tile_isa.h), by idea in files of their own. */
#define NAME(what) ELEM_PASTE4(rows_, what, _, ELEM_T)
#define V(what) ELEM_PASTE4(v_, what, _, ELEM_T)
#define VEC V(vec)
#define LANES ELEM_PASTE4(V_, LANES, _, ELEM_T)
/* Floats have loops of their own for blocks of rows and for the case that no zero annihilates; integers do with one. */
#define FAST ((E_T)0.5 != 0)

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

static const clf_row_fns NAME(fns) = {
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
#undef NAME
#undef V
#undef VEC
#undef LANES
#undef FAST
