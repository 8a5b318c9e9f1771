/* SPDX-License-Identifier: Apache-2.0
 * The linear program a cplan becomes for the host executor.
 *
 * Every value has a level by the axes it varies with: SCALAR (none), ROW (the row axis only), COL (the column axis only), CELL
 * (all). Scalars and COL values are computed once per run, ROW values once per block of rows, CELL values once per tile. A value
 * lives in a slot; a slot is a pointer in the frame of a worker: to a register (CLF_TILE cells and some padding), into the
 * operand's own memory, into the result's own memory, or into the table of a COL value. Registers of CELL values are shared by
 * liveness, so that the working set stays in the first cache. */
#ifndef CLF_RUN_TILE_PROG_H
#define CLF_RUN_TILE_PROG_H
#include "host/run/tile_isa.h"

/* Registers lie 24 lines apart within a page: a load waits for an earlier store to the same place of another page. */
enum { CLF_REG_BYTES = CLF_TILE * 8 + 24 * 64, CLF_NOSLOT = -1, CLF_LONG_ROW = 64 };
typedef enum clf_level { CLF_LV_SCALAR, CLF_LV_ROW, CLF_LV_COL, CLF_LV_CELL, CLF_NLEVELS } clf_level;
typedef enum clf_source_kind { CLF_SRC_LOAD, CLF_SRC_PARAM, CLF_SRC_INDEX } clf_source_kind;

/* A value that comes from outside: an access, a parameter, a position. */
typedef struct clf_tile_source {
    uint8_t kind, level, dtype, log2;
    int32_t slot, arg; /* arg: access or parameter */
} clf_tile_source;

/* One loop; sink >= 0: hand slot a to that sink instead. */
typedef struct clf_tile_instr {
    clf_loop_fn fn;
    int32_t dst, a, b, c;
    int32_t sink;
} clf_tile_instr;

/* A ROW value that CELL code reads, spread over the tile. */
typedef struct clf_tile_spread { int32_t from, to; uint8_t log2; } clf_tile_spread;

typedef enum clf_tile_sink_kind { CLF_TS_STORE, CLF_TS_FULL, CLF_TS_ROWS, CLF_TS_COLS } clf_tile_sink_kind;
typedef struct clf_tile_sink {
    uint8_t kind, level, log2; /* level: of a STORE, by the axes it keeps; log2: of the stored element */
    uint8_t dtype, out_dtype, fuse, lanes;
    uint32_t keep;             /* axes of the result */
    bool direct;               /* the value may be computed in the result's own memory */
    int32_t slot, b, c, out;   /* b, c: further operands of a fused producer */
    int32_t spare;             /* a register for the product where the leaf is not whole */
    clf_loop_fn mul;
    clf_rows_fn rows, long_rows; /* long: of CLF_LONG_ROW cells or more */
    int32_t index;             /* among the sinks of its kind */
    const clf_fold_fns *fold;
    const clf_fused_fns *fused; /* NULL: no producer */
    clf_leaf_fn leaf;
    clf_col_fn col_step;
    clf_loop_fn cast;          /* from the fold's word to the result's type */
} clf_tile_sink;

typedef struct clf_tile_scratch { _Atomic int busy; void *at; size_t bytes; } clf_tile_scratch;

struct clf_tile {
    clf_mem *mem;
    clf_isa_table isa;
    clf_cplan c;              /* a copy: axes, inputs, accesses, outputs; no values or sinks */
    clf_arena arena;          /* the arrays of this structure and of c */
    int nslot, nreg, nown;    /* nreg shared registers, nown others, per worker */
    int nscalar, ncol;        /* scalar slots, column slots: kept per run */
    int nsource, nspread, nsink, nfull, nrows, ncols;
    int ninstr[CLF_NLEVELS];
    bool only_folds;          /* CELL code is folds of loaded cells alone */
    bool rowwise;             /* ROW or COL values, or sinks by row or column: tiles may not cross rows */
    double cell_ns;           /* estimated time of a cell, one core */
    double cell_bytes_in, cell_bytes_out;
    clf_tile_source *source;
    clf_tile_instr *instr[CLF_NLEVELS];
    clf_tile_spread *spread;
    clf_tile_sink *sink;
    int32_t *home;            /* per slot: register number in its pool */
    uint8_t *slot_level;      /* which pool: CLF_LV_SCALAR and CLF_LV_COL per run, others per worker */
    uint8_t *slot_log2;
    clf_tile_scratch scratch;
};

/* tile_strip.c */
/** Note whether the CELL code, which is complete, only folds loaded cells. */
void clf_tile_note_strips(clf_tile *t);
/* tile_pairing.c */
/** The loop for cell value v and the operand of it at that side together; NULL: there is none. */
clf_loop_fn clf_tile_pair_loop(const clf_tile *t, const clf_cplan *c, int32_t v, int side);
/** The loop for cell value v, one operand of which is the same for all cells; NULL: there is none. */
clf_loop_fn clf_tile_uniform_loop(const clf_tile *t, const clf_cplan *c, int32_t v);
/** side[v]: the operand of v that v's loop computes, too, or -1; those become folded. uses: how often needed values and sinks read. */
void clf_tile_pair_up(const clf_tile *t, const clf_cplan *c, const int32_t *uses, uint8_t *folded, int8_t *side);

/* One load, placed for the extents of a run: element offset = base + row * i + col * j. */
typedef struct clf_tile_place { const char *at; int64_t row, col, elems; } clf_tile_place;
#endif
