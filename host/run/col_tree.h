/* SPDX-License-Identifier: Apache-2.0
 * States of a fold that keeps columns, of a run whose last rows others take: subtrees of blocks of rows in their order, merged as
 * core/fold.h has it: neighbours of one level as soon as both are there, the rest from the top. All blocks from the first one on are there,
 * so no level has two. What comes last may be an incomplete subtree, merged already: nothing is merged with its end. */
#ifndef CLF_RUN_COL_TREE_H
#define CLF_RUN_COL_TREE_H
#include "host/run/tile_isa.h"

enum { CLF_COL_LEVELS = 16 }; /* of at most 1,024 blocks (core/fold.h) */
typedef struct clf_col_tree {
    int top;
    int64_t index[CLF_COL_LEVELS];
    uint8_t level[CLF_COL_LEVELS];
} clf_col_tree;

/* Where the states of all columns of a subtree stand: the fold's component k of that at place t from base[k] + t * step on; NULL where it has
 * fewer. */
typedef struct clf_col_places {
    const clf_fold_fns *fold;
    clf_word *base[3];
    size_t step; /* words */
    int64_t cells;
} clf_col_places;

/** Places that subtrees of so many blocks ask for. */
int clf_col_tree_places(int64_t blocks);
/** States of n cells, of the components that there are. */
void clf_col_copy(int64_t n, clf_word *const to[3], clf_word *const from[3]);
/** The words of place t. */
void clf_col_place(const clf_col_places *p, int t, clf_word *out[3]);
/** The blocks index .. index + 2^level - 1, whose states are at place tree->top. */
void clf_col_tree_push(clf_col_tree *tree, const clf_col_places *p, int64_t index, int level);
/** Merge what is left, to place 0. */
void clf_col_tree_close(clf_col_tree *tree, const clf_col_places *p);
#endif
