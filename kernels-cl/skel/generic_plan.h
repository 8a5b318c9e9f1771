/* SPDX-License-Identifier: Apache-2.0
 * What cell.generic runs: a cplan as instructions over blocks of cells, for one kernel that serves all cplans of a float type. So all
 * that is a cplan's own is data: instructions, bases of accesses, which input an access reads.
 *
 * An instruction leaves a block in the accumulator and is case | target << 16 | a << 24 | b << 32 | c << 40. The case of an operator of
 * ops.def is 4 times its number, plus 1 + k where the accumulator is its operand k; behind these come the four below, then the folds,
 * which take the accumulator and leave it. Places: registers (blocks in scratch), scalars (blocks of one value), accesses and outputs
 * (memory in place, or a tile in which a row or column is repeated); no target where only the next operator reads the value. What varies
 * with no axis stands in a scalar and is computed once by each work-item, by the first `nonce` instructions.
 *
 * The divider is busy long after its instruction is through, longer than a core looks ahead. So quotients and square roots of operands
 * alone are computed ahead, those of the next block behind the last instruction that reads this one's, in halves with other instructions
 * between them, which run meanwhile: case 4 * op + 3, whose result goes to the register c, not to the accumulator, and whose operands are
 * the accesses' places a block on; which half, say the bits from 48 on. Of a work-item's first block, and where the next one is not there
 * to be read in place, they are computed in front, by instructions nonce to `later`.
 *
 * Two operators are one instruction where the second has the first and what was in the accumulator before it as operands: acc - a * b.
 * What waits for the other operand so waits in the accumulator, and is neither stored nor read again. */
#ifndef CLF_KERNELS_SKEL_GENERIC_PLAN_H
#define CLF_KERNELS_SKEL_GENERIC_PLAN_H
#include "kernels-cl/skel/cell_plan.h"

/* How much of everything the kernel has. */
enum {
    CLF_GEN_INPUTS = 8,
    CLF_GEN_OUTPUTS = 4,
    CLF_GEN_PARAMS = 8,
    CLF_GEN_CODE = 40,
    CLF_GEN_VALUES = 64,
    CLF_GEN_FOLDS = 4,
    CLF_GEN_STATE = 3, /* words of a fold's state */
    CLF_GEN_REGS = 12,
    CLF_GEN_SCALARS = 16,
    CLF_GEN_BLOCK_WORDS = 64,         /* the most that a block takes, in 8-byte units */
    CLF_GEN_TILE = 2 * CLF_LEAF + 16, /* cells of a tile in which something is repeated, that of a vector beyond its end */
    CLF_GEN_FOLD_TILE = 2 * CLF_LEAF + 128, /* cells of a tile of what is folded: those left over, those of a strip, those beyond */
    CLF_GEN_ACCESSES = 8,
    CLF_GEN_SCALAR0 = CLF_GEN_REGS,
    CLF_GEN_ACCESS0 = CLF_GEN_SCALAR0 + CLF_GEN_SCALARS,
    CLF_GEN_OUTPUT0 = CLF_GEN_ACCESS0 + CLF_GEN_ACCESSES,
    CLF_GEN_FOLD_TILE0 = CLF_GEN_OUTPUT0 + CLF_GEN_OUTPUTS,
    CLF_GEN_AHEAD0 = CLF_GEN_FOLD_TILE0 + CLF_GEN_FOLDS, /* accesses, a block on */
    CLF_GEN_PLACES = CLF_GEN_AHEAD0 + CLF_GEN_ACCESSES,
    CLF_GEN_NOWHERE = 63
};
/* Cases beyond those of operators: one cell everywhere, a parameter, what is at a, what is in the accumulator; folds, then pairs. */
enum {
    CLF_GEN_LOAD = 4 * CLF_NOPS,
    CLF_GEN_PARAM,
    CLF_GEN_COPY,
    CLF_GEN_KEEP,
    CLF_GEN_FOLD0,
    CLF_GEN_PAIR0 = CLF_GEN_FOLD0 + CLF_NFOLDS
};
/* Pairs: the second operator, of which the accumulator is operand `acc`, and the first one, of operands in memory. */
typedef struct clf_generic_outer { clf_op op; int acc; } clf_generic_outer;
enum { CLF_GEN_OUTER = 4, CLF_GEN_INNER = 11 };
extern const clf_generic_outer clf_generic_outers[CLF_GEN_OUTER];
extern const clf_op clf_generic_inners[CLF_GEN_INNER];
/** The case of a pair; -1: there is none. acc: which operand of `outer` the accumulator is. */
int clf_generic_pair(int outer, int acc, int inner);
/** Computed by a loop of its own, over operands in memory; the others unrolled. */
bool clf_generic_long(int op);
/** May be computed ahead: it keeps the divider busy. */
static inline bool clf_generic_divides(int op) { return op == CLF_OP_DIV || op == CLF_OP_SQRT; }

typedef struct clf_generic {
    clf_cell cell;
    clf_dtype t;
    int ncode, nonce, later, nfold, nreg, naccess;
    int64_t code[CLF_GEN_CODE];
    int64_t base[CLF_GEN_ACCESSES], step[CLF_GEN_ACCESSES]; /* step: from row to row, of columns */
    int64_t reads;  /* 8 bits an access: its input, plus CLF_GEN_ALONG or another where it is no scalar */
    int64_t folds;  /* 16 bits a fold: its row of folds.def, its output from bit 8 on (see generic_entries.h, too) */
    bool repeats;   /* some access is a row or a column */
    int rowwise;    /* folds are those of each row or column: their values pass through tiles, and a work-item takes whole rows */
    int64_t lanes, block, levels; /* of folds of columns: of each, rows of a block, states of a stack */
    int64_t stores; /* a bit for each output that is written cell by cell */
    int64_t run;    /* cells of a work-item */
    int64_t states, areas, area, tails, words; /* scratch, in 8-byte units: states, registers of a work-item, tiles of short strips, all */
} clf_generic;

/* What folds keep, where their values pass through tiles, and room behind a row of states of columns. */
enum { CLF_GEN_OF_ROWS = 1, CLF_GEN_OF_COLUMNS, CLF_GEN_COL_ROOM = 16 };

/* How an access goes with the cells: along them all, along each row, one for each row. */
enum { CLF_GEN_ALONG = 8, CLF_GEN_ROW = 16, CLF_GEN_COLUMN = 32 };

/** Cells in row-major order and a work-item's share of them, after clf_cell_plan; false when the kernel cannot serve it. */
bool clf_generic_fits(clf_generic *g, const clf_cplan *c, int cores);
/** The values that some sink needs. */
void clf_generic_used(const clf_cplan *c, bool *used);
/** How an access goes with the cells, 0 where it is one cell; -1: in no way that the kernel knows. */
int clf_generic_way(const clf_cell *p, const clf_cell_at *at);
static inline int clf_generic_arity(const clf_value *v) { return clf_op_is_cell(v->op) ? clf_ops[v->op].arity : 0; }

/** What it takes of scratch, after its chunks have changed. */
void clf_generic_lay_out(clf_generic *g);
/** False when the kernel cannot serve it. */
bool clf_generic_plan(clf_generic *g, const clf_cplan *c, int cores);
/** The same where operands are made block by block, so that nothing is computed ahead; rowwise: folds of everything are to be folds of
 * rows, whichever cells these are. */
bool clf_generic_plan_made(clf_generic *g, const clf_cplan *c, int cores, bool rowwise);
#endif
