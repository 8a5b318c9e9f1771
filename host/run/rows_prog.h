/* SPDX-License-Identifier: Apache-2.0
 * The linear program a row-form cplan becomes for the host executor.
 *
 * Every value has a shape by the axes it varies with: SCALAR (none), ROW (the rows), VEC (one other axis), MAT (rows and one other
 * axis). SCALAR and VEC values are computed once per run, ROW and MAT values once per batch of rows, whole batches at a time: a MAT
 * value over a RANGE axis is rows x extent cells, row-major; over the ENTRY axis it is the batch's stored entries, packed. A value
 * lives in a slot, a pointer in a worker's frame: to registers, or into the operand's own memory. A PAIR, the second operand of a DOT
 * that varies with two inner axes, is read where it stands. */
#ifndef CLF_RUN_ROWS_PROG_H
#define CLF_RUN_ROWS_PROG_H
#include "host/run/rows.h"
#include "host/run/tile_isa.h"

enum {
    CLF_ROWS_CELLS = 4096, /* cells of a batch, about; also of a filled scalar */
    CLF_ROWS_MOST = 512,   /* rows of a batch */
    CLF_ROWS_NONE = -1
};
typedef enum clf_row_shape { CLF_RS_SCALAR, CLF_RS_ROW, CLF_RS_VEC, CLF_RS_MAT, CLF_RS_PAIR } clf_row_shape;

typedef struct clf_row_slot {
    uint8_t shape, log2;
    int8_t axis;     /* VEC, MAT */
    bool padded;     /* loops read or write whole vectors of it */
    bool repeat;     /* VEC: read by loops over MAT cells, so repeated for every row of a batch */
    int32_t reg;     /* MAT: register among those of its axis; others: number among their shape */
} clf_row_slot;

typedef enum clf_row_kind {
    CLF_RI_LOAD, CLF_RI_PARAM, CLF_RI_INDEX, CLF_RI_OP, CLF_RI_SPREAD, CLF_RI_FOLD, CLF_RI_SCAN, CLF_RI_DOT, CLF_RI_CAT, CLF_RI_SINK
} clf_row_kind;

/* One step, over the cells of its result's shape. */
typedef struct clf_row_instr {
    uint8_t kind, shape, dtype, from; /* dtype: of the result; from: of what is folded, spread or multiplied */
    int8_t axis;          /* of the result */
    int8_t over;          /* FOLD SCAN DOT */
    uint8_t skip;         /* DOT */
    bool keep[3];         /* OP: operand q is a filled scalar */
    int32_t dst, in[3];   /* FOLD: in[1] may be what the cells without entry are, a number a row, or a column */
    int32_t arg;          /* LOAD, DOT with a PAIR or a gather: the access; PARAM; SINK; FOLD: fold */
    int32_t pack;         /* DOT: number of its packed right side; NONE */
    int32_t value;        /* DOT, CAT: the cplan's value */
    int32_t gaps;         /* FOLD: what the cells without entry are varies by columns: number; NONE */
    clf_loop_fn fn;       /* OP; FOLD: from the fold's word to the result */
    const clf_fold_fns *fold;
} clf_row_instr;

typedef enum clf_row_sink_kind {
    CLF_RK_STORE,  /* cells of the value, at the rows' own place */
    CLF_RK_FULL,   /* all cells to one */
    CLF_RK_COLS,   /* over rows, a column each */
    CLF_RK_MEET,   /* over rows, at the columns of stored entries */
    CLF_RK_DOT
} clf_row_sink_kind;
typedef enum clf_row_dot { CLF_RD_OUTER, CLF_RD_EACH, CLF_RD_SCATTER, CLF_RD_SCATTER_EACH } clf_row_dot;
typedef struct clf_row_sink {
    uint8_t kind, shape, dot, skip, dtype, out_dtype, log2, lanes;
    uint8_t meet;         /* FOLD that meets at columns: clf_fold_id */
    int8_t axis;          /* of the value; DOT: of x's cells, the j of q[j][k]; -1 none */
    int8_t axis_k;        /* DOT: of h's cells; -1: h has one a row */
    int32_t slot, h, out; /* h: DOT's second value; FULL, MEET: the rest, or NONE */
    int32_t index;        /* among the FULL sinks, or among those with states per column */
    int32_t gaps;         /* MEET: the rest varies with the rows: number; NONE */
    bool swapped;         /* DOT: k comes before j in the output */
    const clf_fold_fns *fold; /* DOT: of the wide sum, for merging only */
    clf_loop_fn widen;    /* DOT: from a lane to a word */
    clf_loop_fn cast;     /* from a word to the output */
} clf_row_sink;

/* A rest that differs from one cell folded to the next: by row (of folds that keep columns) or by column. */
typedef struct clf_row_gap {
    const clf_fold_fns *fold;
    int32_t slot;
    bool by_row;
} clf_row_gap;

typedef struct clf_row_scratch { _Atomic int busy; void *at; size_t bytes; } clf_row_scratch;

struct clf_rows {
    clf_mem *mem;
    clf_isa_table isa;
    clf_cplan c;             /* a copy: axes, inputs, accesses, outputs, values; no sinks */
    clf_arena arena;
    int nslot, nscalar, nvec, nrow, npack;
    int nreg[CLF_MAX_AXES];  /* MAT registers by axis */
    int nfirst, nbatch;      /* instructions once per run, per batch */
    int nsink, nfull, nmeet; /* nmeet: sinks with states per column */
    int ngaps;
    int entry;               /* the ENTRY axis; -1 none */
    bool split;              /* batches may end inside a row */
    clf_row_slot *slot;
    clf_row_instr *first, *batch;
    clf_row_sink *sink;
    clf_row_gap *gaps;
    clf_row_scratch scratch;
};
#endif
