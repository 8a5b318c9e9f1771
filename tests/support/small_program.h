/* SPDX-License-Identifier: Apache-2.0
 * All small programs over twelve operators, and an interpreter for them that shares no code with the library.
 *
 * The operators: + * - max < ifelse abs neg sum rowSums colSums t, which open, fuse, broadcast, close and block loops. The leaves: X and
 * Y (rows x cols), a column c, a row r and a scalar s. A program is a set of at most SP_OPS distinct operator nodes; every node without
 * a reader is a result. Cells are small integers, so every plan must give every bit.
 *
 * Up to renaming: nodes that do not depend on each other appear in one order only, the operands of commutative operators too, and the
 * first of X and Y is X. A wiring says which operands are operators and which are leaves; filled with leaves it is a program. */
#ifndef CLF_TESTS_SMALL_PROGRAM_H
#define CLF_TESTS_SMALL_PROGRAM_H
#include <stdint.h>

#include "clfuse/clfuse.h"

enum { SP_X, SP_Y, SP_COLUMN, SP_ROW, SP_SCALAR, SP_LEAVES, SP_BASIS = 12, SP_OPS = 5, SP_CELLS = 65 * 65 };

typedef struct sp_node {
    int op, in[3];
} sp_node; /* in: a leaf, or SP_LEAVES + node */
typedef struct sp_program {
    int n;
    sp_node node[SP_OPS];
} sp_program;

typedef struct sp_value {
    clf_dtype t;
    bool scalar;
    int64_t rows, cols;
    double v[SP_CELLS];
} sp_value;

/* The cells of a program: leaves, then nodes. */
typedef struct sp_cells {
    sp_value value[SP_LEAVES + SP_OPS];
} sp_cells;

/** Leaves of these extents; rows, cols <= 65. */
void sp_leaves(sp_cells *c, int64_t rows, int64_t cols);
/** Compute all nodes of p. False when shapes do not fit: not a program. */
bool sp_compute(const sp_program *p, sp_cells *c);
/** Record leaf l into handle[l], node i into handle[SP_LEAVES + i]. */
void sp_record_leaf(const sp_cells *c, int l, clf_ctx *ctx, clf_mat **handle);
void sp_record_node(const sp_program *p, int i, clf_mat **handle);
/** Does node i read node `of`? */
bool sp_reads(const sp_program *p, int i, int of);
/** Does nobody read node i? */
bool sp_is_result(const sp_program *p, int i);
/** The first cell of `data` that is not v's, -1 if none. */
int64_t sp_differs(const sp_value *v, const void *data);
/** One line in our language. */
void sp_print(const sp_program *p);

/** Call `each` for every program of exactly n operators, until it returns false. pairs: of the fillings of a wiring with more than two
 *  leaves only 25, in which every pair of places sees every pair of leaves. */
void sp_enumerate(int n, bool pairs, bool (*each)(void *user, const sp_program *p), void *user);
/** A random program of n operators whose shapes fit. */
void sp_random(sp_program *p, int n, uint64_t seed, sp_cells *scratch);
#endif
