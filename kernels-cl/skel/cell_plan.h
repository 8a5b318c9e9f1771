/* SPDX-License-Identifier: Apache-2.0
 * What cell.chunk knows of a cplan before any text is written: how its cells are walked, and the sizes of everything.
 *
 * With two axes i is axis 0 and j axis 1; with one, j is axis 0. Kinds:
 *   FLAT    nothing depends on rows: cells in row-major order, strips of 512, folds over all cells only
 *   GROUP   column folds of a narrow matrix: a strip is the `lanes` rows that fill whole vectors, so that a column's accumulator
 *           is one lane and rows need no tails; row vectors are repeated into a private tile
 *   NARROW  at most 128 columns, a constant in the text; a strip is a row
 *   ROWS    a strip is a row of any length
 * The text depends on the cplan's structure and on clf_cell_variant only. */
#ifndef CLF_KERNELS_SKEL_CELL_PLAN_H
#define CLF_KERNELS_SKEL_CELL_PLAN_H
#include "planner/skel.h"

typedef enum clf_cell_kind { CLF_CELL_FLAT, CLF_CELL_GROUP, CLF_CELL_NARROW, CLF_CELL_ROWS } clf_cell_kind;
typedef struct clf_cell {
    const clf_cplan *c;
    uint32_t i, j;           /* bits of the axes; i is 0 with one axis */
    int64_t rows, cols, n;
    clf_cell_kind kind;
    uint32_t live;           /* FLAT: the axes that matter (an extent of 1 does not) */
    int width;               /* lanes of a vector: 8 or 16 */
    int ru;                  /* strips at once: 4 or 1 */
    int nfull, nrow, ncol;   /* folds by what they keep */
    int lanes;               /* most lanes of a column fold */
    int64_t strip, strips, full, block, chunk, chunks;
    int64_t ent, levels, cp, aw, cstride, cbase; /* scratch, in 8-byte units */
} clf_cell;

/* Where an access reads: element base + si*i + sj*j. */
typedef struct clf_cell_at { int64_t base, si, sj; uint32_t axes; } clf_cell_at;

/** False when the skeleton cannot serve it. */
bool clf_cell_plan(clf_cell *p, const clf_cplan *c, int cores);
/** The same cells in row-major order whatever depends on rows or columns alone, for who reads such operands in a way of his own. */
void clf_cell_flatten(clf_cell *p, int cores);
bool clf_cell_access(const clf_cell *p, const clf_access *a, clf_cell_at *out);
/** 0: once per work-item; 1: once per row, a scalar; 2: a vector. */
int clf_cell_level(const clf_cell *p, uint32_t axes);
/** A fold sink over everything, over each row, over each column. */
typedef enum clf_cell_fold { CLF_CELL_NOFOLD, CLF_CELL_FULLFOLD, CLF_CELL_ROWFOLD, CLF_CELL_COLFOLD } clf_cell_fold;
clf_cell_fold clf_cell_fold_of(const clf_cell *p, const clf_sink *s);
int clf_cell_variant(const clf_cell *p);
/** Components of a fold's state; a product's is a sum. */
static inline int clf_cell_states(const clf_sink *s) {
    int n = 0;
    if (s->kind == CLF_SINK_DOT) return 1;
    while (clf_folds[s->fold].state[n]) n++;
    return n;
}
#endif
