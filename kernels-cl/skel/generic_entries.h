/* SPDX-License-Identifier: Apache-2.0
 * What entry.generic runs: cell operators at the stored entries of a CSR operand, and what is folded of them: everything, each row, products
 * with another cell summed by row (X %*% v); cells may also be stored, with the operand's pattern.
 *
 * It is cell.generic over entries instead of cells. Operands that stand at an entry's row or column, and dots of a row of one matrix with a
 * row of another there (U %*% t(V)), are gathered into tiles of one block, filled before the block's instructions. How many entries there
 * are is the operand's, read in the kernel; a work-item takes a run of leaves, or, where rows are folded, whole rows, an even share of rows
 * and entries. The trees are those of entry.chunk.
 *
 * A sum of products by row takes two folds: CLF_GEN_DOT_FOLD plus the zeros that annihilate, its other factor's fold from bit 12 on; and
 * that, which is nothing of itself. */
#ifndef CLF_KERNELS_SKEL_GENERIC_ENTRIES_H
#define CLF_KERNELS_SKEL_GENERIC_ENTRIES_H
#include "kernels-cl/skel/generic_plan.h"

enum { CLF_GEN_PAIRS = 2, CLF_GEN_DOT_FOLD = CLF_NFOLDS, CLF_GEN_NO_FOLD = 255 };
/* How an access is gathered, 4 bits each: by the entry's row, by its column, by both; a dot. */
enum { CLF_GEN_BY_ROW = 1, CLF_GEN_BY_COLUMN = 2, CLF_GEN_PAIR = 4 };
/* 32 bits a dot: the input of its second factor, its access, CLF_GEN_THERE, cells of a row from bit 16 on; in the first also whether
 * anything asks for an entry's row. */
enum { CLF_GEN_THERE = 64, CLF_GEN_ASKS_ROWS = 128 };

typedef struct clf_generic_entries {
    clf_generic g;
    int csr, npair;
    int64_t rows;
    int64_t gathers;
    int64_t across[CLF_GEN_ACCESSES];  /* step from column to column */
    int64_t links;
    int64_t second[CLF_GEN_PAIRS];     /* where the second factor of a dot begins */
    int64_t tiles, area;               /* scratch, in 8-byte units: where those of work-items begin, each */
} clf_generic_entries;

/** False when the kernel cannot serve it. */
bool clf_generic_entries_plan(clf_generic_entries *r, const clf_cplan *c, int cores);
#endif
