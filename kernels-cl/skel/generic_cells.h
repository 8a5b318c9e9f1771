/* SPDX-License-Identifier: Apache-2.0
 * A cplan over stored entries as one over cells, for cell.generic to translate: what is gathered becomes a load of an input that is not there,
 * a fold of rows one of everything. Which of them they are is found again by the numbers of inputs and outputs. */
#ifndef CLF_KERNELS_SKEL_GENERIC_CELLS_H
#define CLF_KERNELS_SKEL_GENERIC_CELLS_H
#include "kernels-cl/skel/generic_entries.h"
#include "kernels-cl/skel/generic_made.h"

/* An operand that is gathered, or a dot, and the input that stands for it. */
typedef struct clf_generic_gathered {
    int how, input, inner;
    int64_t base, down, across; /* where it begins; steps from row to row, from column to column */
    int second;                 /* a dot: the input of its second factor, which begins at `begins` */
    int64_t begins;
} clf_generic_gathered;

typedef struct clf_generic_cells {
    clf_generic_made m; /* over entries */
    clf_generic_entries *r;
    int e; /* the ENTRY axis of what it is made of */
    bool by_row, whole;
    clf_generic_gathered gather[CLF_GEN_INPUTS]; /* by the number of its input */
    int skip[CLF_GEN_OUTPUTS];                   /* by output, of a sum of products: whose zeros annihilate; -1: it is none */
    int factor[CLF_GEN_OUTPUTS];                 /* the output that stands for its second factor */
} clf_generic_cells;

/** Fills x, and csr and npair of r. False when there is none. */
bool clf_generic_cells_of(clf_generic_cells *x, clf_generic_entries *r, const clf_cplan *c);
#endif
