/* SPDX-License-Identifier: Apache-2.0
 * How far the results of the coverage set may lie apart where an expression rounds. Its meaning is written down once more, in postfix,
 * and the interpreter of tests/oracle/dd_cell.h says for every cell of every result within what bound of its double-double value any
 * plan must lie. With u half a unit in the last place (2^-53, f32: 2^-24):
 *
 *   cells   each operator adds at most u * |its result|, an elementary function the units in the last place its oracle allows; errors of
 *           operands grow by the operator's derivative. A few operators, each good to a few units: below 100 eps (eps = 2 u) of the
 *           largest number on the way, which the suite asserts.
 *   sums    ((1 + u)^depth - 1) * sum of |terms|, depth being the length of the longest path through the reduction tree (lanes of a leaf
 *           one after the other, then levels; see core/fold.h), plus what the terms bring along. Over stored entries the tree is as
 *           deep, and what cells without entry add is merged on top: twice the depth and a few levels more.
 *   exact   operators on small integers, single IEEE operations on exact operands, and sums of multiples of one power of two have the
 *           bound 0: every bit counts, in every way of running. */
#ifndef CLF_TESTS_COVERAGE_BOUNDS_H
#define CLF_TESTS_COVERAGE_BOUNDS_H
#include "tests/oracle/dd_program.h"

typedef struct coverage_leaf {
    char name;
    bool sparse;
    int64_t rows, cols;
    const double *cells; /* f32 holds them exactly */
} coverage_leaf;

typedef struct coverage_bounds {
    rp_program p;
    dd_values x;
} coverage_bounds;

/** Is the meaning of expression id written down? */
bool coverage_meant(const char *id);
/** Bounds of all results. False when there is no meaning or no memory; release all the same. */
bool coverage_bounds_make(coverage_bounds *b, const char *id, const coverage_leaf *leaf, int n, clf_dtype t);
void coverage_bounds_release(coverage_bounds *b);
/** The first cell of result r that lies outside its bound, -1 if none, -2 if the result has another shape or type. */
int64_t coverage_outside(const coverage_bounds *b, int r, clf_mat *got, dd_tally *tally);
/** Largest bound of a cell of the results that are not aggregates of all cells, in units of eps * max(1, |cell|). */
double coverage_widest(const coverage_bounds *b, clf_dtype t);
#endif
