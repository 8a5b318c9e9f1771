/* SPDX-License-Identifier: Apache-2.0
 * What row.generic runs: t(X) %*% (w * (X %*% v)) and its like, cell operators on values of rows between products of a matrix with a vector
 * and sums over its rows.
 *
 * It is cell.generic over rows instead of cells, in which some operands are dots of rows with a vector and some results are not stored but
 * multiply the rows: both stand in tiles of one block, filled before and taken behind the block's instructions. The trees are those of
 * row.chunk: leaves of a row for dots, blocks of rows with one lane for columns. */
#ifndef CLF_KERNELS_SKEL_GENERIC_ROWS_H
#define CLF_KERNELS_SKEL_GENERIC_ROWS_H
#include "kernels-cl/skel/generic_plan.h"

enum { CLF_GEN_DOTS = 4, CLF_GEN_COLS = 2, CLF_GEN_LEVELS = 48 /* of leaves of a row */ };

typedef struct clf_generic_rows {
    clf_generic g;
    int ndot, ncol;
    int64_t inner;                                             /* columns */
    int64_t vector[CLF_GEN_DOTS];                              /* where the second factor of a dot begins */
    int64_t base[CLF_GEN_COLS], step[CLF_GEN_COLS];            /* of the matrix whose columns are summed */
    int64_t dots, cols;                                        /* 8 bits each: CLF_GEN_LINK, access or output << 3, input */
    int64_t block, levels, padded;                             /* rows of a block of columns, depth of its stack, columns with room behind */
    int64_t tiles, area;                                       /* scratch, in 8-byte units: where those of work-items begin, each */
} clf_generic_rows;
enum { CLF_GEN_LINK = 128 };

/** False when the kernel cannot serve it. */
bool clf_generic_rows_plan(clf_generic_rows *r, const clf_cplan *c, int cores);
#endif
