/* SPDX-License-Identifier: Apache-2.0
 * The loops of the host executor as one table per instruction set. tile_loops.c and its like are compiled once for each
 * (host/run/isa.cmake); the texts of ops.def and folds.def are the loop bodies.
 *
 * Loops over cells run over clf_tile_pad(n) elements: whole vectors only, so that a cell's bits never depend on its place in a
 * tile. Operands must be readable and results writable that far. A result may be the same memory as an operand of the same
 * element size. */
#ifndef CLF_RUN_TILE_ISA_H
#define CLF_RUN_TILE_ISA_H
#include "core/fold.h"
#include "core/op.h"
#include "host/run/gaps.h"
#include "host/run/tile.h"

/* CLF_STREAM_BYTES: results above this are written past the caches. */
enum { CLF_STREAM_BYTES = 16 << 20, CLF_TILE = CLF_LEAF, CLF_TILE_PAD = 16, CLF_MAX_LANES = 16 };
static inline int64_t clf_tile_pad(int64_t n) { return (n + CLF_TILE_PAD - 1) & -(int64_t)CLF_TILE_PAD; }

typedef void (*clf_loop_fn)(int64_t n, void *o, const void *a, const void *b, const void *c);

/* One component of a wide fold state (or a fold's result): f for W of floats, i for W of integers and for N. */
typedef union clf_word { double f; int64_t i; } clf_word;
typedef struct clf_fold_state { clf_word s[3]; } clf_fold_state;
/* A leaf in progress: the lanes of each component, in the component's own type. */
typedef struct clf_lane_state { _Alignas(64) char s[3][CLF_MAX_LANES * 8]; } clf_lane_state;

typedef void (*clf_leaf_fn)(int64_t n, int64_t k, const void *a, const void *b, const void *c, clf_fold_state *out);
/* Each of `rows` rows of cols <= 512 cells, finished; reads up to CLF_TILE_PAD - 1 cells past the end. */
typedef void (*clf_rows_fn)(int64_t rows, int64_t cols, const void *a, const void *b, const void *c, clf_word *out);
typedef void (*clf_col_fn)(int64_t n, int64_t k, const void *a, const void *b, const void *c, void *const s[3]);
/* Folds over one value type. k: position of the first cell. */
typedef struct clf_fold_fns {
    /* A whole leaf of n <= 512 cells; reads up to the next multiple of the lanes. b and c are for fused producers. */
    clf_leaf_fn leaf;
    clf_rows_fn rows;
    /* The same of cells that come from memory: they are asked for a page ahead. */
    clf_leaf_fn leaf_ahead;
    clf_rows_fn rows_ahead;
    /* A leaf in pieces: begin, step from any lane, end. */
    void (*begin)(clf_lane_state *s);
    void (*step)(clf_lane_state *s, int64_t n, int64_t lane, int64_t k, const void *x);
    void (*end)(const clf_lane_state *s, clf_fold_state *out);
    void (*merge)(clf_fold_state *s, const clf_fold_state *t);
    /* n cells that are *x, the first at position k. */
    void (*repeat)(const void *x, int64_t n, int64_t k, clf_fold_state *out);
    /* Positions with gaps (gaps.h), n > 0 of them: a block of CLF_GAPS from position k on that has no entry; all of them. */
    void (*block)(const void *x, int64_t k, clf_fold_state *out);
    void (*gaps)(const clf_gaps_row *r, clf_fold_state *out);
    /* n states as arrays, finished in place: r[i] from (s[0][i], s[1][i], s[2][i]). */
    void (*finish)(int64_t n, clf_word *r, clf_word *const s[3]);
    /* Column folds: lane states are arrays of lanes * cols, lane-major. */
    void (*col_begin)(int64_t n, void *const s[3]);
    clf_col_fn col_step;
    /* n values at position k, each into a column of its own. */
    void (*col_scatter)(int64_t n, int64_t k, const void *x, const int32_t *column, void *const s[3]);
    void (*col_end)(int64_t cols, int64_t lanes, void *const s[3], clf_word *const out[3]);
    void (*col_merge)(int64_t n, clf_word *const s[3], clf_word *const t[3]);
    uint8_t comp_bytes[3]; /* element size of each lane component; 0: absent */
    bool result_int;       /* finish gives .i */
    bool uses_k;           /* step looks at the position */
} clf_fold_fns;

/* Producers that a fold can take in: value = f(a, b, c) with no tile between. */
enum { CLF_FUSE_NONE, CLF_FUSE_MUL, CLF_FUSE_MUL3, CLF_NFUSED };
typedef struct clf_fused_fns {
    clf_leaf_fn leaf, leaf_ahead; /* ahead: operands come from memory, and are asked for block by block */
    clf_rows_fn rows, rows_ahead;
    clf_col_fn col_step;
} clf_fused_fns;

/* Table of one build of tile_loops.c ... */
typedef struct clf_cell_table {
    clf_loop_fn op[CLF_NOPS][CLF_NDTYPES];      /* NULL: the operator does not exist for the type */
    clf_loop_fn cast[CLF_NDTYPES][CLF_NDTYPES]; /* [from][to] */
    /* By log2 of the element size. fill: n copies of *a. gather: n cells, `stride` elements apart. */
    void (*fill[4])(int64_t n, void *o, const void *a);
    void (*gather[4])(int64_t n, void *o, const void *a, int64_t stride);
    /* Each of `rows` elements of a, cols times. */
    void (*expand[4])(int64_t rows, int64_t cols, void *o, const void *a);
    void (*iota)(int64_t n, int64_t *o, int64_t from);
    /* Copy past the caches; fence before another thread may look. */
    void (*stream)(size_t bytes, void *o, const void *a);
    void (*fence)(void);
} clf_cell_table;
/* ... of tile_pairs.c: two operators as one loop, (a inner b) outer c; FROM: c - (a inner b); ALONE: the inner one, c is not read but must
 * point somewhere. Loops differ by which operands are uniform: bits 0, 1, 2 for a, b, c. NULL: no such loop. */
enum { CLF_PAIR_ADD, CLF_PAIR_SUB, CLF_PAIR_FROM, CLF_PAIR_MUL, CLF_PAIR_ALONE, CLF_NPAIRS, CLF_UNIFORM_MASKS = 8 };
typedef struct clf_pair_loops {
    clf_loop_fn form[CLF_NPAIRS][CLF_NDTYPES][CLF_UNIFORM_MASKS];
} clf_pair_loops;
typedef struct clf_pair_table {
    const clf_pair_loops *inner[CLF_NOPS];
} clf_pair_table;
/* ... and of tile_fold_table.c. */
typedef struct clf_fold_table {
    const clf_fold_fns *const *fold[CLF_NDTYPES]; /* CLF_NFOLDS; NULL: lowering casts the value first */
    const clf_fused_fns *fused[CLF_NFUSED][CLF_NFOLDS][CLF_NDTYPES]; /* NULL: not fused */
} clf_fold_table;

/* rows x cols inner products of n terms each. Row r of the left side is x + r * ldx; where off is given, terms of row r are stored
 * entries: x[off[r]] .. x[off[r + 1] - 1], with columns idx. What y is depends on the loop. Strides count elements. */
typedef struct clf_dots {
    int64_t rows, cols, n;
    const void *x, *y;
    int64_t ldx, ldy, sy;
    const int64_t *off;
    const int32_t *idx;
    void *out; /* row r at out + r * ldo */
    int64_t ldo;
    int skip;  /* zeros that annihilate: 1 those of x, 2 those of y */
} clf_dots;
typedef void (*clf_dots_fn)(const clf_dots *d);

/* Sums over rows in order, one lane: q[j][k] = fma(x[r][j], h[r][k], q[j][k]) for r ascending. off, idx as above: j is a column. */
typedef struct clf_outer_dot {
    int64_t rows, nj, nk;
    const void *x, *h;
    int64_t ldx, ldh;
    const int64_t *off;
    const int32_t *idx;
    void *q;
    int64_t ldq;
    int skip;
} clf_outer_dot;
typedef void (*clf_outer_dot_fn)(const clf_outer_dot *u);

/* Inner products and sums of products of one element type. */
typedef struct clf_row_fns {
    clf_dots_fn along;     /* column k: y + r * sy + k * ldy, contiguous */
    clf_dots_fn packed;    /* entries: y[e]; one column */
    clf_dots_fn gathered;  /* entries: y[idx[e] * ldy + k * sy] */
    clf_dots_fn gathered_whole; /* entries: y[idx[e] * ldy + k]; readable up to whole vectors of k */
    clf_dots_fn picked;    /* one result per entry e, of x's row and y + idx[e] * ldy, steps sy; out[e] */
    clf_dots_fn whole;     /* one lane: y[l * ldy + k]; readable up to whole vectors of k */
    clf_dots_fn picked_whole; /* entries, one lane: y[idx[e] * ldy + k] */
    clf_outer_dot_fn columns;  /* nk vectors q + k * ldq of nj cells: small nk */
    clf_outer_dot_fn cells;    /* q + j * ldq, whole vectors of k; h readable as far */
    clf_outer_dot_fn each;     /* one axis on both sides: q[j] and h[r * ldh + j] */
    clf_outer_dot_fn scatter;  /* entries: q[idx[e] * ldq + k], h[r][k]; whole vectors of q where ldq counts them */
    clf_outer_dot_fn scatter_each; /* entries: q[idx[e]], h[e]: both sides by entry */
    void (*scatter_sum)(int64_t n, const int32_t *idx, const void *x, void *q);
    /* Each of `rows` rows of n cells cumulated; NULL: no loop. */
    void (*scan[CLF_NFOLDS])(int64_t rows, int64_t n, const void *x, void *o);
    /* o[e] = a[idx[e] * stride]; a[r] for each entry of row r. */
    void (*gather)(int64_t n, void *o, const void *a, const int32_t *idx, int64_t stride);
    void (*expand)(int64_t rows, const int64_t *off, void *o, const void *a);
    int lanes;
} clf_row_fns;
/* ... and of rows_table.c. */
typedef struct clf_row_table {
    const clf_row_fns *type[CLF_NDTYPES];
} clf_row_table;

typedef struct clf_isa_table {
    const clf_cell_table *cell;
    const clf_fold_table *fold;
    const clf_row_table *row;
    const clf_pair_table *pair;
} clf_isa_table;

/** The loops for an instruction set that clf_isa_pick returned. */
clf_isa_table clf_isa_loops(clf_isa isa);
#endif
