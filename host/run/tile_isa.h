/* SPDX-License-Identifier: Apache-2.0
 * The loops of the host executor as one table per instruction set. tile_loops.c and tile_folds.c are compiled once for each
 * (host/run/isa.cmake); the texts of ops.def and folds.def are the loop bodies.
 *
 * Loops over cells run over clf_tile_pad(n) elements: whole vectors only, so that a cell's bits never depend on its place in a
 * tile. Operands must be readable and results writable that far. A result may be the same memory as an operand of the same
 * element size. */
#ifndef CLF_RUN_TILE_ISA_H
#define CLF_RUN_TILE_ISA_H
#include "core/fold.h"
#include "core/op.h"
#include "host/run/tile.h"

enum { CLF_TILE = CLF_LEAF, CLF_TILE_PAD = 16, CLF_MAX_LANES = 16 };
static inline int64_t clf_tile_pad(int64_t n) { return (n + CLF_TILE_PAD - 1) & -(int64_t)CLF_TILE_PAD; }

typedef void (*clf_loop_fn)(int64_t n, void *o, const void *a, const void *b, const void *c);

/* One component of a wide fold state (or a fold's result): f for W of floats, i for W of integers and for N. */
typedef union clf_word { double f; int64_t i; } clf_word;
typedef struct clf_fold_state { clf_word s[3]; } clf_fold_state;
/* A leaf in progress: the lanes of each component, in the component's own type. */
typedef struct clf_lane_state { _Alignas(64) char s[3][CLF_MAX_LANES * 8]; } clf_lane_state;

typedef void (*clf_leaf_fn)(int64_t n, int64_t k, const void *a, const void *b, const void *c, clf_fold_state *out);
typedef void (*clf_col_fn)(int64_t n, int64_t k, const void *a, const void *b, const void *c, void *const s[3]);
/* Folds over one value type. k: position of the first cell. */
typedef struct clf_fold_fns {
    /* A whole leaf of n <= 512 cells; reads up to the next multiple of the lanes. b and c are for fused producers. */
    clf_leaf_fn leaf;
    /* Each of `rows` rows of cols <= 512 cells, finished; reads up to CLF_TILE_PAD - 1 cells past the end. */
    void (*rows)(int64_t rows, int64_t cols, const void *x, clf_word *out);
    /* A leaf in pieces: begin, step from any lane, end. */
    void (*begin)(clf_lane_state *s);
    void (*step)(clf_lane_state *s, int64_t n, int64_t lane, int64_t k, const void *x);
    void (*end)(const clf_lane_state *s, clf_fold_state *out);
    void (*merge)(clf_fold_state *s, const clf_fold_state *t);
    /* n states as arrays, finished in place: r[i] from (s[0][i], s[1][i], s[2][i]). */
    void (*finish)(int64_t n, clf_word *r, clf_word *const s[3]);
    /* Column folds: lane states are arrays of lanes * cols, lane-major. */
    void (*col_begin)(int64_t n, void *const s[3]);
    clf_col_fn col_step;
    void (*col_end)(int64_t cols, int64_t lanes, void *const s[3], clf_word *const out[3]);
    void (*col_merge)(int64_t n, clf_word *const s[3], clf_word *const t[3]);
    uint8_t comp_bytes[3]; /* element size of each lane component; 0: absent */
    bool result_int;       /* finish gives .i */
    bool uses_k;           /* step looks at the position */
} clf_fold_fns;

/* Producers that a fold can take in: value = f(a, b, c) with no tile between. */
enum { CLF_FUSE_NONE, CLF_FUSE_MUL, CLF_FUSE_MUL3, CLF_NFUSED };

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
/* ... and of tile_folds.c. */
typedef struct clf_fold_table {
    const clf_fold_fns *fold[CLF_NFOLDS][CLF_NDTYPES]; /* NULL: lowering casts the value first */
    clf_leaf_fn fused[CLF_NFUSED][CLF_NFOLDS][CLF_NDTYPES]; /* NULL: not fused */
    clf_col_fn fused_col[CLF_NFUSED][CLF_NFOLDS][CLF_NDTYPES]; /* for the same */
} clf_fold_table;
typedef struct clf_isa_table {
    const clf_cell_table *cell;
    const clf_fold_table *fold;
} clf_isa_table;

/** The loops for an instruction set that clf_isa_pick returned. */
clf_isa_table clf_isa_loops(clf_isa isa);
#endif
