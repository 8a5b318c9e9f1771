/* SPDX-License-Identifier: Apache-2.0
 * What cell.generic runs: a cplan as instructions over tiles of 512 cells, for one kernel that serves all cplans of a float type. So all
 * that is a cplan's own is data: instructions, bases of accesses, which input an access reads.
 *
 * An instruction is operator | target << 8 | a << 16 | b << 24 | c << 32. Operators are those of ops.def, then the four below, then the
 * folds. Places: registers (tiles in scratch), scalars (one vector, the same in every cell), accesses and outputs (memory in place). What
 * varies with no axis stands in a scalar and is computed once by each work-item, by the first `nonce` instructions. */
#ifndef CLF_KERNELS_SKEL_GENERIC_PLAN_H
#define CLF_KERNELS_SKEL_GENERIC_PLAN_H
#include "kernels-cl/skel/cell_plan.h"

/* How much of everything the kernel has. */
enum {
    CLF_GEN_INPUTS = 8,
    CLF_GEN_OUTPUTS = 4,
    CLF_GEN_PARAMS = 8,
    CLF_GEN_CODE = 40,
    CLF_GEN_FOLDS = 4,
    CLF_GEN_STATE = 3, /* words of a fold's state */
    CLF_GEN_REGS = 12,
    CLF_GEN_SCALARS = 16,
    CLF_GEN_SCALAR_CELLS = 32,
    CLF_GEN_ACCESSES = 8,
    CLF_GEN_SCALAR0 = CLF_GEN_REGS,
    CLF_GEN_ACCESS0 = CLF_GEN_SCALAR0 + CLF_GEN_SCALARS,
    CLF_GEN_OUTPUT0 = CLF_GEN_ACCESS0 + CLF_GEN_ACCESSES,
    CLF_GEN_PLACES = CLF_GEN_OUTPUT0 + CLF_GEN_OUTPUTS
};
/* Operators beyond those of ops.def. */
enum { CLF_GEN_LOAD = CLF_NOPS, CLF_GEN_PARAM, CLF_GEN_COPY, CLF_GEN_FOLD0 };

typedef struct clf_generic {
    clf_cell cell;
    clf_dtype t;
    int ncode, nonce, nfold, nreg, naccess;
    int64_t code[CLF_GEN_CODE], base[CLF_GEN_ACCESSES];
    int64_t reads;  /* 4 bits an access: its input, 8 where it goes along the cells */
    int64_t folds;  /* 16 bits a fold: its row of folds.def, its output from bit 8 on */
    int64_t stores; /* a bit for each output that is written cell by cell */
    int64_t states, areas, area, tails, words; /* scratch, in 8-byte units: states, registers of a work-item, tiles of the last strip, all */
} clf_generic;

/** False when the kernel cannot serve it. */
bool clf_generic_plan(clf_generic *g, const clf_cplan *c, int cores);
#endif
