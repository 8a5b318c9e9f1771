/* SPDX-License-Identifier: Apache-2.0
 * One run of a tile program: its geometry, the memory it works in, and the states of its sinks.
 *
 * A run is cut into parts, contiguous in row-major order; a part starts at a leaf of every full fold and at a block of every
 * column fold, so its partial states are whole subtrees of the reduction tree. Workers take parts; the caller merges them in
 * order. Cells of a part pass in tiles of three shapes:
 *   FLAT   512 cells, rows ignored: when everything is as long as the matrix and contiguous
 *   ROWS   several whole rows, at most 512 cells
 *   PIECE  at most 512 columns of one row
 * Strips are tiles several times as large (tile_strip.c). */
#ifndef CLF_RUN_TILE_RUN_H
#define CLF_RUN_TILE_RUN_H
#include "host/run/col_tree.h"
#include "host/run/tile_prog.h"

/* Subtrees of consecutive leaves, not yet merged: node i covers leaves index[i] .. index[i] + 2^level[i] - 1. Runs of leaves that
 * start anywhere hold at most two nodes a level. */
enum { CLF_TREE_NODES = 96 };
typedef struct clf_tree {
    int top;
    int64_t index[CLF_TREE_NODES];
    uint8_t level[CLF_TREE_NODES];
    clf_fold_state node[CLF_TREE_NODES];
} clf_tree;
/** Where the next state may be made, to be pushed. */
static inline clf_fold_state *clf_tree_room(clf_tree *t) { return &t->node[t->top]; }
void clf_tree_push(clf_tree *t, const clf_fold_fns *f, int64_t index, int level, const clf_fold_state *s);
/** Merge what is left, from the top; the empty tree gives the empty state. */
void clf_tree_close(clf_tree *t, const clf_fold_fns *f, clf_fold_state *out);

/* A full fold in one part. */
typedef struct clf_full { clf_lane_state lanes; clf_tree tree; } clf_full;

/* A column fold: lane states of the block in progress and finished subtrees by level (per worker), one state per part. */
typedef struct clf_cols {
    void *lane[3];
    clf_word *level[3]; /* depth * cols words */
    uint64_t held;      /* bit l: level l is held */
    int64_t start_row;  /* of the block in progress */
} clf_cols;

typedef enum clf_tile_mode { CLF_TM_FLAT, CLF_TM_ROWS, CLF_TM_PIECE } clf_tile_mode;

/* What every worker of a run sees. */
typedef struct clf_tile_job {
    const clf_tile *t;
    const clf_bind *bind;
    clf_tile_mode mode;
    bool stream;                 /* results go past the caches */
    int64_t rows, cols;          /* FLAT: one row of all cells */
    int64_t tail, cells;         /* where others run the rest: cells of the row behind the last whole one; cells of all */
    int64_t tile_rows;           /* ROWS: rows of a tile, strips apart */
    int64_t part_rows, parts;    /* FLAT: part_rows counts cells */
    int64_t strip, in_place;     /* cells of a strip, 0: none; cells up to which its loads are read in place */
    int64_t over;                /* cells behind a tile that sinks may read */
    int64_t col_block;           /* rows of a block of column folds */
    int workers;
    clf_tile_place *place;       /* per source that is a load */
    char *scalar, *col;          /* registers of SCALAR slots, tables of COL slots */
    size_t col_bytes;            /* of one table */
    char *worker;                /* workers * worker_bytes */
    size_t worker_bytes, slots_bytes, regs_bytes;
    clf_full *full;              /* parts * nfull */
    clf_word *part_cols;         /* (parts + col_levels) * ncols * 3 * cols */
    int col_levels;              /* where others run the rest of column folds: places of their trees; else 0 */
    clf_col_tree *col_tree;      /* ncols; their states are in part_cols, behind those of the parts */
    int col_depth;
    size_t lane_bytes;           /* of one component of one column fold */
    char *at;                    /* all of the above */
    size_t bytes;
    bool cached;                 /* `at` is the program's own scratch */
} clf_tile_job;

/* What one worker has: the slot pointers, its registers, its sink states. */
typedef struct clf_tile_frame {
    const clf_tile_job *job;
    void **slot;
    char *regs;
    clf_tree *row_tree;          /* per row fold */
    clf_cols *cols;              /* per column fold */
    int64_t part;
    int64_t limit;               /* first cell behind the part */
    /* the tile: cells [cell, cell + n), columns from col of `rows` rows from row */
    int64_t cell, n, row, col, rows;
} clf_tile_frame;

static inline void *clf_tile_reg(const clf_tile_frame *f, int32_t slot)
{
    return f->regs + (size_t)f->job->t->home[slot] * CLF_REG_BYTES;
}

/** Most cells of a tile whose first is that: of a strip, where there are some and it can be read in place. */
static inline int64_t clf_tile_most(const clf_tile_job *j, int64_t cell) {
    int64_t left = (j->in_place - cell) & -(int64_t)CLF_TILE, most = left < j->strip ? left : j->strip;
    return most > CLF_TILE ? most : CLF_TILE;
}
/** Choose the strip, once loads are placed. */
void clf_tile_choose_strip(clf_tile_job *j);
/** Feed the tile to a sink. */
void clf_tile_drink(clf_tile_frame *f, const clf_tile_sink *s);
void clf_tile_part_begin(clf_tile_frame *f);
void clf_tile_part_end(clf_tile_frame *f);
/** The states of a column fold in a part; NULL where it has fewer components. */
void clf_tile_part_words(const clf_tile_job *j, const clf_tile_sink *s, int64_t part, clf_word *out[3]);

/* tile_rest.c: what parts, and others who run the rest, have left of folds */
/** The states of full folds in all parts become those of the first one; those of column folds whose rest others run, of their trees. */
void clf_tile_meet(const clf_tile_job *j);
/** Merge what is left of a column fold whose rest others have run: where its states are. */
void clf_tile_close_cols(const clf_tile_job *j, const clf_tile_sink *s, clf_word *out[3]);
/** Merge the parts and write the results of full and column folds. */
void clf_tile_finish(const clf_tile_job *j, clf_tile_frame *f);
#endif
