/* SPDX-License-Identifier: Apache-2.0
 * Cells with error bounds for the nodes of a random program. Types and shapes come from the generator (its own rules), values from
 * dd_cell.h; nothing of the library is used. */
#ifndef CLF_TESTS_DD_PROGRAM_H
#define CLF_TESTS_DD_PROGRAM_H
#include "tests/oracle/dd_cell.h"
#include "tests/support/random_program.h"

typedef struct dd_values {
    dd_cell *cell[RP_NODES]; /* rp_count(&node.m) cells, row-major; NULL: no root needs the node */
    dd_truth zeros[RP_NODES]; /* do its zeros annihilate? */
    bool number[RP_NODES];    /* known when the program is recorded, the same in all cells */
    bool open[RP_NODES];      /* the sign of its zeros is open: they may come from a sparse leaf */
    bool sparse;              /* some leaf is */
} dd_values;

/** Cells of all nodes that the roots need. False without memory or with a kind that has no meaning here (RP_ORDER). */
bool dd_interpret(const rp_program *p, dd_values *out);
void dd_release(dd_values *x);
/** dd_zeros.c: zeros and number of node i, whose operands have theirs, and their cells. */
void dd_zeros(const rp_program *p, dd_values *v, int i);

/* How results compare with bounds. */
typedef struct dd_tally {
    int64_t cells, known, exact; /* known: not DD_UNKNOWN; exact: known, with the bound 0 */
    int64_t nans;                /* of the known ones: NaN */
    double worst;                /* largest |error| / bound where the bound is not 0 */
} dd_tally;

/** The first of the cells of node i (data: elements of its type) that lies outside its bound, -1 if none. */
int64_t dd_check(const rp_program *p, const dd_values *x, int i, const void *data, dd_tally *tally);
/** Element k of data of type t as an exact cell. */
dd_cell dd_load(const void *data, int64_t k, clf_dtype t);
#endif
