/* SPDX-License-Identifier: Apache-2.0
 * What entry.chunk knows of a cplan before any text is written: where each value lives, in which sweep over a row's entries each fold
 * runs, and the sizes of everything.
 *
 * The axes are i (axis 0, rows), one ENTRY axis e under it, and any number of short RANGE axes. A walk goes by ENTRY when everything
 * meets in full folds or stays at its entry (tiles over row ends, rows found per entry), else by ROW. The writers of folds are those of
 * cell.chunk: they see `shadow`, the cplan with a FOLD sink for every fold that runs over entries, be it a sink, a FOLD or a DOT value.
 * The text depends on the cplan's structure, on the extents of the short axes and on small strides. */
#ifndef CLF_KERNELS_SKEL_ENTRY_PLAN_H
#define CLF_KERNELS_SKEL_ENTRY_PLAN_H
#include "kernels-cl/skel/cell_plan.h"

enum {
    CLF_ENTRY_VALUES = 96,
    CLF_ENTRY_TASKS = 64,
    CLF_ENTRY_EXTENT = 512,
    CLF_ENTRY_ACROSS = CLF_ENTRY_SIDE,
    CLF_ENTRY_STRIDE = 512,
    CLF_ENTRY_FILLED = 128,
    CLF_ENTRY_PLACES = 16,
    CLF_ENTRY_SPAN = 4096, /* rows of a block that can be gone on with */
    CLF_ENTRY_LINE = 8,    /* wide states in a line */
    CLF_ENTRY_SPREAD = 1 << 15, /* of them, beside what else is in a core's own cache */
    CLF_ENTRY_EIGHT = 8,   /* entries whose DOTs are made together */
    CLF_ENTRY_LEVELS = 24  /* of a row's leaves: more than 2^31 columns have */
};

typedef enum clf_entry_space {
    CLF_AT_ONCE,   /* no axis: once per work-item */
    CLF_AT_ROW,    /* a scalar of the row */
    CLF_AT_ENTRY,  /* one cell per stored entry: vectors */
    CLF_AT_ALONG,  /* one cell per position of a short axis: a private array, of the row or of the work-item */
    CLF_AT_SIDE    /* a load by column and short axis: read where a DOT runs over one of them */
} clf_entry_space;

/* One thing to do with values of entries or of a short axis; numbered like the shadow's sinks. */
typedef enum clf_entry_task_kind {
    CLF_DO_STORE,         /* one cell, a row's cell, or a row's cells along a short axis */
    CLF_DO_PATTERN,
    CLF_DO_FULL,          /* full fold over the stored entries */
    CLF_DO_TOTAL,         /* full fold over the rows: their cells wait in scratch for the last work-item */
    CLF_DO_FOLD,          /* fold over a row's entries */
    CLF_DO_DOT,           /* product of two cells per entry, summed over a row's entries */
    CLF_DO_ACROSS,        /* the same against each column of a side, lanes by entry */
    CLF_DO_ROWS_OF,       /* the same, a whole row of the side per entry, one lane */
    CLF_DO_SCATTER,       /* cells meet at their column */
    CLF_DO_SCATTER_DOT,   /* products meet at their column */
    CLF_DO_SCATTER_ROWS,  /* an entry's cell times a row's cells meet in the column's row, or in its column */
    CLF_DO_ALONG_FOLD,    /* fold over a short axis */
    CLF_DO_ALONG_DOT
} clf_entry_task_kind;
typedef struct clf_entry_task {
    uint8_t kind, sweep;
    int16_t value;       /* the FOLD or DOT value it makes; -1: it is a sink */
    int16_t place;       /* TOTAL: cells of a row that wait in front of its own */
    int16_t a, b;        /* operands; b -1 where there is one. ACROSS, ROWS_OF: b is the side; SCATTER_ROWS: b lies along */
    int8_t axis;         /* the short axis; -1 none */
    uint8_t skip;        /* DOT: whose zeros annihilate, a 1, b 2 */
    int16_t rest;        /* FULL, FOLD: what cells without entry are; -1 they take no part */
    bool turned;         /* SCATTER_ROWS: the result has a row for each cell of the short axis, not for each column of the entries */
} clf_entry_task;

/* Where an access reads: element base + si*i + se*column + sk*(position in axis k). */
typedef struct clf_entry_at { int64_t base, si, se, sk; int k; uint32_t axes; } clf_entry_at;

typedef struct clf_entry {
    clf_cell cell;
    clf_cplan shadow;
    clf_sink sink[CLF_ENTRY_TASKS];
    clf_coutput out[CLF_ENTRY_TASKS];
    const clf_cplan *c;
    int e, csr;                            /* the ENTRY axis, its operand */
    bool by_entry;
    bool rows;                             /* by entry: somebody asks for an entry's row */
    uint8_t space[CLF_ENTRY_VALUES];
    uint8_t ready[CLF_ENTRY_VALUES];       /* sweeps over the row that must be over before it can be computed */
    int16_t made[CLF_ENTRY_VALUES];        /* the task that makes it; -1 none */
    clf_entry_task task[CLF_ENTRY_TASKS];
    int ntask, sweeps, nscatter, ntotal;
    bool rests;                            /* a task has a rest */
    bool filled;                           /* one cell in CLF_ENTRY_FILLED: others' cells are looked up in rows of zeros (entry_locate.c) */
    int zeros;                             /* such rows of a work-item */
    bool direct;                           /* a work-item has one block, and they are few: see entry_meet.c */
    bool lines;                            /* direct, and each column's cells begin at a line */
    int pairs;                             /* DOTs per entry */
    int blocked;                           /* columns of a cut where a block at a time is done, by entry of entries (entry_block.c), else of
                                              rows (entry_cuts.c); 0: not */
    int64_t block_entries;                 /* of such a block: a power of two */
    int64_t block_rows;                    /* of such a block, at most */
    int row_leaves;                        /* rows of up to 2^row_leaves leaves go on from cut to cut; longer ones are done in one go */
    int64_t kept;                          /* 8-byte cells that a block of rows keeps between cuts */
    bool batch;                            /* by row: scalars of rows are computed a lane a row (entry_batch.c) */
    bool fetch[CLF_ENTRY_TASKS];           /* by access: a side too large for a core's own cache, asked for ahead */
} clf_entry;

/** False when the skeleton cannot serve it. */
bool clf_entry_plan(clf_entry *p, const clf_cplan *c, int cores);
/* entry_tasks.c */
/** The axes and accesses of p->c; spaces and tasks of its values and sinks when walking by entry or by row. */
bool clf_entry_axes(clf_entry *p);
bool clf_entry_walk(clf_entry *p, bool by_entry);
bool clf_entry_access(const clf_entry *p, const clf_access *a, clf_entry_at *out);
/** The short axis a value varies with; -1 none. */
int clf_entry_along(const clf_entry *p, uint32_t axes);
static inline int64_t clf_entry_extent(const clf_entry *p, int axis) { return p->c->axis[axis].n.n; }
/** Are a DOT over a short axis and its operands such that its result is one cell per entry? */
bool clf_entry_is_pair(const clf_entry *p, int v);
/** Is it read where another CSR operand has a cell at the entry? */
bool clf_entry_is_located(const clf_entry *p, int v);
/** Is it made entry by entry, row by row, in front of the loops over vectors, into its private tile? */
static inline bool clf_entry_in_tile(const clf_entry *p, int v) { return clf_entry_is_pair(p, v) || clf_entry_is_located(p, v); }
static inline bool clf_entry_late(uint8_t kind) {
    return kind == CLF_DO_ROWS_OF || kind == CLF_DO_SCATTER || kind == CLF_DO_SCATTER_DOT || kind == CLF_DO_SCATTER_ROWS;
}
/** Can a task take in cells without entry that are the value `rest`? (entry_rest.c) */
bool clf_entry_rest_fits(const clf_entry *p, int fold, int rest);
/** Of one cell a row of totals: leaves, and what is known of each of them (is it done, its wide state). */
enum { CLF_ENTRY_KNOWN = 4 };
static inline int64_t clf_entry_leaves(const clf_entry *p) { return p->cell.rows / CLF_LEAF + 1; }
/** Room for the cells of totals and behind them their leaves, in 8-byte units. */
static inline int64_t clf_entry_totals(const clf_entry *p) {
    return p->ntotal ? p->ntotal * (p->cell.rows + 16 + CLF_ENTRY_KNOWN * clf_entry_leaves(p)) : 0;
}
/** Room for rows of zeros behind them: one for each located operand, of every work-item. */
int64_t clf_entry_zeros(const clf_entry *p);
/** Room for the DOTs of a block of entries, or for what a block of rows keeps, of every work-item, behind those. */
static inline int64_t clf_entry_blocks(const clf_entry *p) {
    return p->blocked ? p->cell.chunks * (p->by_entry ? p->pairs * p->block_entries : p->kept) : 0;
}
/** From one column's cells to the next column's in what entries meet in; *n: how many there are. With `lines` a vector of them is never in
 *  two (scratch begins at one, too): measured, t(X) %*% P of 5 to 20 columns, a result of 1000 rows, in 0.8 to 0.9 of the time; of 8000 and
 *  more the memory that it takes loses more. */
int64_t clf_entry_spread(const clf_entry *p, int64_t *n);
/** As clf_skel.states and clf_skel.columns (entry_states.c). */
void clf_entry_states(const clf_entry *p, clf_grid grid, const void *scratch, clf_take_state take, void *user);
void clf_entry_columns(const clf_entry *p, clf_grid grid, const void *scratch, clf_take_columns take, void *user);
/** Leaves of a work-item that walks by entry. */
int64_t clf_entry_run(const clf_entry *p);
/** What the text depends on besides the cplan's structure; bit 1: direct, which follows from the number of cores; bit 28: lines. */
int clf_entry_variant(const clf_entry *p);
#endif
