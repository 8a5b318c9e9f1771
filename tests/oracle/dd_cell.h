/* SPDX-License-Identifier: Apache-2.0
 * Cells of the interpreter with running error bounds. A cell says what a correct plan may compute there:
 *
 *   DD_KNOWN    a number within e of v. e == 0: exactly v, a number of the cell's type
 *   DD_INF      the infinity v.hi (e is 0)
 *   DD_NAN      NaN
 *   DD_UNKNOWN  anything: a discontinuity lies within a bound, or the type's limits are near
 *
 * So v is a point of reference, not "the" value, and whatever separates v from the true result (long double is good to 2^-63) is part
 * of e. Where all operands have e == 0 and the operator is one IEEE operation (or a few, in a fixed order), the result is computed in
 * the type itself and has e == 0 again: contraction is off everywhere, so no plan may differ. `unsigned_zero` marks a zero whose sign
 * is open. Integer cells always have e == 0; an i64 needs both parts of v.
 * Bounds are computed in double and rounded; DD_UP makes up for that.
 *
 * Rules that associate anew (A %*% B %*% v, sum(rowSums(X)), sum((U %*% V)^2)) may add up what a sum or product was made of in another
 * order than this cell's operator: `terms` is the sum of its terms' absolute values, their operators' inside included, if that is more than
 * |v| + e, and `steps` bounds the roundings on a path through all of them. A sum over such cells is within its bound in every order. */
#ifndef CLF_TESTS_DD_CELL_H
#define CLF_TESTS_DD_CELL_H
#include <stdbool.h>
#include <stdint.h>

#include "clfuse/clfuse.h"
#include "tests/oracle/dd_num.h"
#include "tests/support/op_steps.h"

__extension__ typedef __int128 dd_wide;
typedef enum dd_kind { DD_KNOWN, DD_INF, DD_NAN, DD_UNKNOWN } dd_kind;
typedef struct dd_cell {
    dd v;
    double e, terms;
    int64_t steps;
    uint8_t kind;
    bool unsigned_zero;
} dd_cell;
typedef enum dd_truth { DD_FALSE, DD_TRUE, DD_MAYBE } dd_truth;

static const double DD_UP = 1 + 0x1p-40;

static inline bool dd_real(clf_dtype t) { return t == CLF_F32 || t == CLF_F64; }
static inline double dd_unit(clf_dtype t) { return t == CLF_F32 ? 0x1p-24 : 0x1p-53; }
static inline double dd_least(clf_dtype t) { return t == CLF_F32 ? 0x1p-149 : 0x1p-1074; }
static inline double dd_most(clf_dtype t) { return t == CLF_F32 ? 0x1.fffffep127 : 0x1.fffffffffffffp1023; }
/** One unit in the last place of x. */
double dd_ulp(clf_dtype t, double x);

static inline bool dd_exact(dd_cell x) { return x.kind != DD_UNKNOWN && x.e == 0; }
static inline bool dd_finite(dd_cell x) { return x.kind == DD_KNOWN; }
static inline double dd_size(dd_cell x) { return fabs(x.v.hi) + x.e; } /* at least what |x| may be, to within DD_UP */
static inline double dd_terms(dd_cell x) { return fmax(x.terms, dd_size(x)); }
static inline bool dd_added(dd_cell x) { return x.terms > dd_size(x) * DD_UP; } /* terms of x cancel */

static inline dd_cell dd_unknown(void) { return (dd_cell){.kind = DD_UNKNOWN}; }
static inline dd_cell dd_nan(void) { return (dd_cell){.kind = DD_NAN}; }
/** A double as it stands, of any class. */
dd_cell dd_cell_of(double x);
dd_cell dd_cell_whole(dd_wide x);
/** An integer cell, or a real one that is whole and in range. */
dd_wide dd_whole(dd_cell x);
/** The double that stands for an exact cell of a real type. */
double dd_native(dd_cell x);

/** v, where plans differ from it by up to e before they round to t (once; e is then the final bound's part). */
dd_cell dd_rounded(clf_dtype t, dd v, double e);
/** The same without rounding: unknown when the limits of t are near. */
dd_cell dd_bounded(clf_dtype t, dd v, double e);
/** Doubles at or outside the ends of what x may be; x is known or an infinity. */
double dd_low(dd_cell x);
double dd_high(dd_cell x);
/** x converted as casts are: to integers truncated and saturated, NaN to 0; integers narrowed wrap; to floats rounded. */
dd_cell dd_cast(dd_cell x, clf_dtype from, clf_dtype to);

dd_truth dd_truth_of(dd_cell x);        /* x != 0; a NaN is true */
dd_truth dd_less(dd_cell a, dd_cell b); /* a < b, false with a NaN */
dd_truth dd_less_equal(dd_cell a, dd_cell b);
dd_truth dd_equal(dd_cell a, dd_cell b);
dd_cell dd_of_truth(dd_truth t);
/** Either of two: known when they agree within their bounds. */
dd_cell dd_either(dd_cell a, dd_cell b);

/** Is what a plan computed, given as an element of type t, within the bound? */
bool dd_agrees(dd_cell want, dd_cell got);

/* dd_ops.c, dd_elem.c: cell operator op (clf_op_code) on operands of the operator's type t. The result is of type t, or a truth. */
dd_cell dd_op(int op, clf_dtype t, const dd_cell *x);
/** The same of a text's steps. */
dd_cell dd_steps(const op_steps *steps, clf_dtype t, const dd_cell *x);
/** The same for n exact operands, computed in the type by the oracle of operators; elementary functions within its bound. */
dd_cell dd_exactly(int op, clf_dtype t, const dd_cell *x, int n);
/** An elementary function; false when op is none. */
bool dd_elementary(int op, clf_dtype t, const dd_cell *x, dd_cell *out);

/* dd_fold.c: n cells of value type t with a stride, in the tree of core/fold.h: lanes of up to `chain` cells, then `merges` levels. */
typedef struct dd_tree {
    int64_t chain, merges;
} dd_tree;
dd_tree dd_tree_run(clf_dtype t, int64_t n);                   /* full and row folds of n cells */
dd_tree dd_tree_cols(clf_dtype t, int64_t rows, int64_t cols); /* column folds */
/** The same where an operand of the program is sparse: over stored entries, by column in blocks of rows (rows > 0), and what the cells
 *  without entry add, folded row by row or as gaps, merged on top. `dense`: the tree of all cells. */
dd_tree dd_tree_entries(dd_tree dense, int64_t rows, int64_t cols);
dd_cell dd_fold(int fold, clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree tree);
/** Sum of products of n pairs in any order, fused or not (BLAS). Do zeros of a, of b annihilate? */
dd_cell dd_dot(clf_dtype t, const dd_cell *a, int64_t sa, const dd_cell *b, int64_t sb, int64_t n, dd_truth za, dd_truth zb);
/** x, computed from operand `a`; 0 where a is, if a's zeros annihilate. */
dd_cell dd_annihilated(dd_cell x, dd_cell a, dd_truth annihilate);
/** out[i] = the fold of x[0..i], sequentially or as any tree. */
void dd_cumulate(int fold, clf_dtype t, const dd_cell *x, dd_cell *out, int64_t n, int64_t stride);
#endif
