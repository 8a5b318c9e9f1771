/* SPDX-License-Identifier: Apache-2.0
 * What work costs on a device, in integer picoseconds: the terms of design section 7. Every term is a function of one operand or one
 * operator and of the profile, never of what else shares the step, so bounds that add some of them stay below the sum of all.
 *
 *     step = launch + max(sum of reads and writes, sum of compute) + transfers and waits
 *
 * and of the smaller sum the part that the device cannot do meanwhile (clf_cost_both): nothing of it where loads run ahead of a compiled
 * loop, nearly all where an interpreter fetches one tile after the other. Looking up what stored entries name hides behind neither on a
 * CPU (clf_cost_look). Where registers are scarce, computing takes longer in a loop that keeps many values at a time (clf_cost_kept); where
 * a GPU's groups are too few for it, leave a last wave half empty or want much local memory, moving and computing do (clf_cost_occupancy).
 * Both are known of whole loops only and lower no cost, so no bound has them.
 *
 * An operand's bandwidth follows from the bytes of all that the program is given and gives (clf_graph), for in each run those pass between
 * two uses of one; what a loop reads again, or anywhere, from its own bytes: it stays where there is room for it. All terms are rounded up,
 * except where a search wants a bound and takes fewer of them. Sums saturate at CLF_PS_MOST, which no plan reaches. */
#ifndef CLF_PLANNER_COST_H
#define CLF_PLANNER_COST_H
#include "device/profile.h"
#include "planner/graph.h"

typedef int64_t clf_ps;
#define CLF_PS_MOST (INT64_MAX / 4)

/** a + b, saturating; both in 0 .. CLF_PS_MOST. */
static inline clf_ps clf_ps_add(clf_ps a, clf_ps b) { return a + b > CLF_PS_MOST ? CLF_PS_MOST : a + b; }

/** One operand streamed once, one result written once. bytes >= 0. Whoever goes through `among` bytes in all finds none of them nearer than
 *  those would be. */
clf_ps clf_cost_read(const clf_profile *dev, double bytes, double among);
clf_ps clf_cost_write(const clf_profile *dev, double bytes, double among);
/** n accesses of `granule` bytes each, spread over `footprint` bytes; and what of that takes its time whatever is computed meanwhile: where
 *  no other threads of a core go on, the first line of each. That is how it was measured, as what it adds to visiting entries. */
clf_ps clf_cost_gather(const clf_profile *dev, double n, double granule, double footprint);
clf_ps clf_cost_look(const clf_profile *dev, double n, double footprint);
/** Values of `granule` bytes picked one by one into lanes; rows of several come as vectors, for nothing. */
clf_ps clf_cost_pick(const clf_profile *dev, double n, double granule);
/** Evaluations of cell operators (or steps of folds, class ADD) in a loop. */
clf_ps clf_cost_cells(const clf_profile *dev, bool f64, clf_op_class class_, double evaluations);
/** Multiply-adds of a product in a loop. */
clf_ps clf_cost_fma(const clf_profile *dev, bool f64, double n);
/** Does the device have loops that keep a tile of a product's sums in registers? */
static inline bool clf_cost_tiles(const clf_profile *dev, bool f64) { return dev->tile_fma_per_s[f64] > 0; }
/** What folds cost once a row, and products once a row, or pair of a row and a row of a side that an entry picks, beside their cells. */
clf_ps clf_cost_rows(const clf_profile *dev, double rows);
clf_ps clf_cost_dots(const clf_profile *dev, double n);
clf_ps clf_cost_pairs(const clf_profile *dev, double n);
/** Rows of a side, each times a stored entry and added to the same sums, beside their multiply-adds. */
clf_ps clf_cost_sides(const clf_profile *dev, double n);
/** Stored entries that a loop visits, beside its operators, and those passed while others are looked for. */
clf_ps clf_cost_entries(const clf_profile *dev, double entries);
/** Sums made at places that stored entries name. */
clf_ps clf_cost_scatter(const clf_profile *dev, double entries);
/** Folds and products begun in rows of stored entries, beside what they cost in a row of cells. */
clf_ps clf_cost_entry_rows(const clf_profile *dev, double rows);
/** Those that end a range of cells without entry, which is folded in as a whole. */
clf_ps clf_cost_gaps(const clf_profile *dev, double entries);
clf_ps clf_cost_locate(const clf_profile *dev, double entries);
/** Computing of a loop that keeps so many values at a time. */
clf_ps clf_cost_kept(const clf_profile *dev, clf_ps computed, int32_t values);
/** The occupancy of a loop over so many cells (or stored entries) that makes so many sums: of the groups that the device runs at a time
 *  while it is full, the part that runs on average until the last wave has ended. Above 0, 1 at most. */
double clf_cost_occupancy(const clf_profile *dev, double cells, int32_t sums);
/** What takes ps on a full device at this occupancy; never less. */
clf_ps clf_cost_at(clf_ps ps, double occupancy);
/** Moving and computing in one loop: never less than the larger, never more than the sum; falls with neither. In whole 256ths, so that it
 *  is integers from here on; searches spend their time here. */
static inline clf_ps clf_cost_apart(const clf_profile *dev, clf_ps less) {
    clf_ps alone = (clf_ps)((1 - dev->overlap) * 256 + 0.5), whole = less / 256 * alone, rest = (less % 256 * alone + 255) / 256;
    return whole + rest;
}
static inline clf_ps clf_cost_both(const clf_profile *dev, clf_ps moved, clf_ps computed) {
    clf_ps more = moved > computed ? moved : computed, less = moved > computed ? computed : moved;
    return clf_ps_add(more, clf_cost_apart(dev, less));
}
/** An m x k times k x n product of the library's. */
clf_ps clf_cost_library(const clf_profile *dev, bool f64, double m, double n, double k);
/** The same of a matrix of rows x cols, as it lies, and a vector; over: summed over the rows, not along them; among: as of clf_cost_read. */
clf_ps clf_cost_library_vector(const clf_profile *dev, bool f64, double rows, double cols, bool over, double among);
/** A product of stored entries: so many of the left side, so many pairs with those of the right one, which takes `right` bytes; rows of the
 *  result take `row` bytes. */
clf_ps clf_cost_entry_product(const clf_profile *dev, double entries, double pairs, double right, double row);
/** An m x k times k x n product by a library on the device itself. */
clf_ps clf_cost_gemm(const clf_profile *dev, bool f64, double m, double n, double k);
/** One more step in flight (clf_step_kind), without its work. */
clf_ps clf_cost_launch(const clf_profile *dev, int kind);
/** To the device or back; 0 where memory is shared. */
clf_ps clf_cost_transfer(const clf_profile *dev, double bytes);
/** Until a step in flight has ended, beside its launch: for those on the host, or on another device, who read its results. */
clf_ps clf_cost_wait(const clf_profile *dev);
/** CSR of n entries to cells, and back; the twin of a CSR. */
clf_ps clf_cost_convert(const clf_profile *dev, int how, double rows, double cols, double entries, size_t width);

/* Node n computed over all cells of its loop, in a loop: its compute alone, no operand. A product: its multiply-adds. share: of the
 * cells that are visited (1: all; nnz/cells where stored entries drive). */
clf_ps clf_cost_node(const clf_profile *dev, const clf_graph *g, int32_t n, double share);
/* A product as a loop in tiles computes it; where the device has none, or they are no better, as clf_cost_node. */
clf_ps clf_cost_tiled(const clf_profile *dev, const clf_graph *g, int32_t n, double share);
/* Is n, or a sum that it needs, of 8 bytes? */
bool clf_node_is_wide(const clf_graph *g, int32_t n);
/* Is n a product that a library on the device itself computes? Not with a vector: that has work for a few work-items only. */
bool clf_cost_gemm_takes(const clf_profile *dev, const clf_graph *g, int32_t n);
/* The same in a step of its own: a library product, a callout. */
clf_ps clf_cost_alone(const clf_profile *dev, const clf_graph *g, int32_t n);
#endif
