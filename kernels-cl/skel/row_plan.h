/* SPDX-License-Identifier: Apache-2.0
 * What row.chunk knows of a cplan in row form (dense: every axis a range) before any text is written.
 *
 * A pass takes `ru` rows through a list of sweeps, each over one inner axis:
 *   CELLS    vectors along the axis: cell operators, folds, dots with lanes, stores, column folds, dots into columns
 *   PRODUCT  one DOT value against a matrix (axes l, k): a row of results, kept
 *   SCAN     one SCAN value: a row of results, kept
 *   CAT      one CAT value: a row put together, kept
 *   OUTER    one DOT sink that keeps two inner axes; where both are wide, its sums are not taken row by row but in tiles, of CLF_ROW_DEEP
 *            rows at a time (row_tiles.c), for which its sides stand in deep buffers, of that many rows; sides that are alike in one
 * A kept value stands in a row buffer, one per row of the pass, from the sweep that computes it on; all others are computed again in
 * every sweep that reads them, which gives the same bits. Values with an elementary function that two sweeps read are kept.
 * Axes of at most CLF_ROW_NARROW positions are constants of the text. */
#ifndef CLF_KERNELS_SKEL_ROW_PLAN_H
#define CLF_KERNELS_SKEL_ROW_PLAN_H
#include "kernels-cl/skel/cell_plan.h"
#include "kernels-cl/skel/strides.h"

enum {
    CLF_ROW_NARROW = 128,
    CLF_ROW_PAGE = 4096, /* bytes */
    CLF_ROW_VALUES = 192,
    CLF_ROW_SINKS = 48, /* no fewer than operands in a kernel (clf_limits) */
    CLF_ROW_SWEEPS = 48,
    CLF_ROW_PAD = 16,        /* slack behind a buffer, in elements: whole vectors may be written at its end */
    CLF_ROW_STACKS = 4,      /* of leaves of full folds */
    CLF_ROW_DEEP = 64,       /* rows of a deep buffer */
    CLF_ROW_TRANSPOSED = 4,  /* up to this many columns a second factor is used column by column */
    CLF_ROW_COLUMNS = 7      /* and the sums of a long outer product kept so: fewer than a vector has, which would be padded */
};
typedef enum clf_row_kind { CLF_ROW_CELLS, CLF_ROW_PRODUCT, CLF_ROW_SCAN, CLF_ROW_CAT, CLF_ROW_OUTER } clf_row_kind;
typedef struct clf_row_sweep {
    uint8_t kind;
    int8_t axis;   /* CELLS, SCAN, CAT: along; PRODUCT: the folded one; OUTER: the first one kept */
    int16_t what;  /* PRODUCT, SCAN, CAT: value; OUTER: sink */
} clf_row_sweep;

typedef struct clf_row_value {
    uint32_t axes;    /* as in the cplan, and i where a fold below it runs once per row */
    int16_t ready;    /* the first sweep that may compute it or (FOLD, DOT, SCAN, CAT) read it */
    int16_t at;       /* FOLD, DOT, SCAN, CAT and kept values: the sweep that computes it; else -1 */
    uint8_t kept;
    uint8_t deep;     /* and its row buffer has CLF_ROW_DEEP rows */
} clf_row_value;

/* A second factor (LOAD over l and k) of a product: element base + sl*l + sk*k. */
typedef struct clf_row_factor { int64_t base, sl, sk; int l, k, lanes; } clf_row_factor;

typedef enum clf_row_layout {
    CLF_ROW_NOCOLS,
    CLF_ROW_LANES,    /* one or more rows of lanes over one axis */
    CLF_ROW_ONE,      /* a single cell */
    CLF_ROW_BY_ROWS,  /* OUTER: rows of the second axis, padded */
    CLF_ROW_BY_COLS   /* OUTER: columns, padded, when the second axis is short */
} clf_row_layout;
typedef struct clf_row_sink {
    int16_t at;       /* its sweep; -1: per row at the end of a pass, or once */
    uint8_t layout;   /* clf_row_layout */
    uint8_t tiled;    /* an OUTER sink in tiles */
    uint8_t symmetric; /* a tiled one of two values that are alike: half of its sums, of the one that runs along j */
    uint8_t stack;    /* of a full fold: its number */
    int8_t j, k;      /* axes kept by column sinks; -1. OUTER: j > k where it is turned, the result's second axis being the first here */
    int lanes;
    int64_t slots;    /* states of a block once lanes are folded, padding with them */
    int64_t block;    /* rows */
} clf_row_sink;

typedef struct clf_row {
    const clf_cplan *c;
    int64_t rows;
    int width;                        /* lanes of a vector: 8 or 16 */
    int at_once;                      /* short rows, as the profile has it: 1, 2 or 4 */
    int ru;                           /* rows of a pass */
    bool run;                         /* one, since rows are so short that several would be read in short runs by turns */
    bool batch;                       /* or one after the other in each sweep, since much is computed once a row (row_batch.c) */
    bool turned;                      /* or a lane each (row_turn.c) */
    int nsweep;
    clf_row_sweep sweep[CLF_ROW_SWEEPS];
    clf_row_value value[CLF_ROW_VALUES];
    clf_row_sink sink[CLF_ROW_SINKS];
    int nfull, nstack;                /* full folds; the stacks of leaves they share, those that run along the same inner axis one */
    int8_t stack_axis[CLF_ROW_STACKS]; /* -1: rows alone */
    int ncol;
    int64_t block, wide, chunk, chunks; /* rows of the smallest and largest column block, of a chunk; chunks */
    int64_t ent, levels, cbase, cstride; /* scratch, in 8-byte units */
} clf_row;

static inline const clf_value *clf_row_val(const clf_row *p, int v) { return &p->c->value[v]; }
static inline clf_dtype clf_row_type(const clf_row *p, int v) { return (clf_dtype)p->c->value[v].dtype; }
static inline bool clf_row_one_inner(uint32_t axes) { return ((axes & ~1u) & ((axes & ~1u) - 1)) == 0; }
static inline int64_t clf_row_ceil(int64_t a, int64_t b) { return a / b + (a % b != 0); }
/* The first of as few equal shares of n as hold at most `most` each. */
static inline int clf_row_share(int64_t n, int most) { return (int)clf_row_ceil(n, clf_row_ceil(n, most)); }
static inline int64_t clf_row_round(int64_t a, int64_t to) { return clf_row_ceil(a, to) * to; }

/** Sweeps for all values and sinks (row_sweeps.c); false: none fit. */
bool clf_row_place(clf_row *p);
/** Rows at once, chunks and scratch (row_cut.c). */
void clf_row_cut(clf_row *p, int cores);
/** False when the skeleton cannot serve it. at_once: of short rows, 1, 2 or 4. */
bool clf_row_plan(clf_row *p, const clf_cplan *c, int cores, int at_once);
/** The same as a profile says. */
static inline bool clf_row_plan_on(clf_row *p, const clf_cplan *c, const clf_profile *on) {
    return clf_row_plan(p, c, on->cores, on->rows_at_once > 0 ? (int)on->rows_at_once : 1);
}
/** The inner axis among `axes`; -1: none. */
int clf_row_inner(uint32_t axes);
static inline int64_t clf_row_extent(const clf_row *p, int axis) { return p->c->axis[axis].n.n; }
/** Is the axis' extent a constant of the text? */
static inline bool clf_row_narrow(const clf_row *p, int axis) { return clf_row_extent(p, axis) <= CLF_ROW_NARROW; }
/** Long rows are read once for all columns of a product, up to so many. */
static inline bool clf_row_at_once(int64_t columns, int64_t cells) { return columns > 4 && columns <= 6 && cells > CLF_ROW_NARROW / 2; }
/** Elements of a row buffer along the axis. */
int64_t clf_row_padded(const clf_row *p, int axis);
/** The second factor of a product; false: `v` is no product but a dot along its axis. */
bool clf_row_factor_of(const clf_row *p, int v, clf_row_factor *out);
/** Is the product taken with whole rows of its factor (one lane), and then by how many vectors? */
int clf_row_vectors(const clf_row *p, int v);
/** Does the factor have to be copied column by column first? */
bool clf_row_copies(const clf_row *p, int v);
/** Are rows so short, and so much done inside each, that they are better taken a lane each? (row_turn.c) */
bool clf_row_turns(const clf_row *p);
/** Is the outer product of sink s, over axes j and k, wide enough for tiles, and are its sides such that deep buffers can hold them? */
bool clf_row_tiles(const clf_row *p, int s, int j, int k);
/** Is `second` along axis k what `first` is along axis j? (row_alike.c) */
bool clf_row_alike(const clf_row *p, int first, int second, int j, int k);
/** Does some outer product go in tiles? */
bool clf_row_any_tiled(const clf_row *p);
/** Do full folds run along an inner axis? */
static inline bool clf_row_folds_cells(const clf_row *p) { return p->nstack > 1 || (p->nstack == 1 && p->stack_axis[0] >= 0); }
/** Cells of a row that stack k takes. */
int64_t clf_row_stack_cells(const clf_row *p, int k);
/** Are the sink's accumulators private? */
bool clf_row_private(const clf_row *p, int s);
/** What a work-item needs of scratch for sink s, for value v, in 8-byte units. */
int64_t clf_row_sink_units(const clf_row *p, int s);
int64_t clf_row_value_units(const clf_row *p, int v);
/** Levels of the stack of leaves of a row along the axis. */
int clf_row_leaf_levels(const clf_row *p, int axis);
/** Values that sweep t computes or reads, as one byte each: 1 computed, 2 read from a row buffer. */
void clf_row_needs(const clf_row *p, int t, uint8_t *need);
/** As clf_skel.states and clf_skel.columns (row_states.c). */
void clf_row_states(const clf_row *p, clf_grid grid, const void *scratch, clf_take_state take, void *user);
void clf_row_columns(const clf_row *p, clf_grid grid, const void *scratch, clf_take_columns take, void *user);
/** Adds what a whole run reads, writes and computes (row_facts.c). */
void clf_row_facts(const clf_row *p, clf_facts *out);
/** clf_strides_of for an access that streams; false for others. */
bool clf_row_strides(const clf_cplan *c, const clf_access *a, clf_strides *out);
/** Where an access reads, apart from inner axes: base + si*i. */
bool clf_row_at(const clf_row *p, const clf_access *a, int64_t *base, int64_t *si);
#endif
