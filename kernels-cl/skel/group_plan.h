/* SPDX-License-Identifier: Apache-2.0
 * What cell.group knows of a cplan before any text is written: its walks, the groups of each, and what they leave in scratch.
 *
 * Sinks share a walk when they go over the same tree; each walk computes the values its own sinks need, so a cplan with folds over all
 * cells and over rows reads its operands twice. Kept cells go with the first walk over cells. Without folds a walk is a map: its leaves
 * are MAP_CELLS for each work-item, dealt to the whole group.
 * A work-item of a walk over cells, rows or columns takes `width` cells side by side: it stands in that many neighbouring slots, each of
 * which is one lane of a leaf, or one lane of one of neighbouring columns. Slots, not work-items, are what leaves and blocks are dealt to.
 * Where rows are apart it takes several only where they are whole runs of `width` cells, so that all of a step are of one row.
 * Invariant: nothing here changes a result; groups own aligned power-of-two runs of leaves or blocks, whole subtrees of fold.h. */
#ifndef CLF_KERNELS_SKEL_GROUP_PLAN_H
#define CLF_KERNELS_SKEL_GROUP_PLAN_H
#include "planner/skel.h"

/* FLAT, ROWS, COLS may fold; the maps of what rows, columns and nothing keep may not. */
typedef enum clf_walk_id { CLF_WALK_FLAT, CLF_WALK_ROWS, CLF_WALK_COLS, CLF_WALK_I, CLF_WALK_J, CLF_WALK_ONCE, CLF_NWALKS } clf_walk_id;
enum { CLF_FOLD_WALKS = 3, CLF_GROUP_VALUES = 1024 /* of a cplan */ };

typedef struct clf_walk {
    int nsink, states;               /* sinks; components of all its folds' states, 0: a map */
    int width, lanes;                /* cells side by side; slots that a leaf or block is dealt to */
    int64_t lines, len, leaf, units; /* lines of len cells in leaves; COLS: columns of len rows in blocks; units a group takes at once */
    int64_t inner, tiles;            /* COLS: columns side by side in a group, groups side by side; else 1 */
    int64_t parts, groups, end, at;  /* groups a line; of the walk; of it and all before; words of scratch before its states */
    struct {
        int64_t inner, units, run, end;
    } merge; /* see cell.group.merge.cl */
} clf_walk;

typedef struct clf_group {
    const clf_cplan *c;
    uint32_t i, j; /* bits of the axes; i is 0 with one axis */
    int64_t rows, cols, n;
    int local, width, index_bits;  /* width: of the widest walk */
    clf_walk walk[CLF_NWALKS];
    int64_t groups, merges, words; /* of all walks; groups of the merge, 0: none is needed; scratch */
    int64_t grain, extent;         /* as clf_sched; grain == extent: not to be cut */
    bool flat;
} clf_group;

/** False when the skeleton cannot serve it. local: work-items of a group, a power of two from 64; 0: there is no room for one. width: 1, 2
 *  or 4 cells that a work-item may take side by side. */
bool clf_group_plan(clf_group *p, const clf_cplan *c, int local, int width);
/** The walk that serves a sink. */
clf_walk_id clf_group_walk(const clf_group *p, const clf_sink *s);
/* Where an access reads: element base + si*i + sj*j. linear: and that runs through memory as the cells do. */
typedef struct clf_group_at { int64_t base, si, sj; uint32_t axes; bool linear; } clf_group_at;
bool clf_group_access(const clf_group *p, const clf_access *a, clf_group_at *out);
/** Values that sinks of walk k need; used: one a value. */
void clf_group_used(const clf_group *p, clf_walk_id k, uint8_t *used);
/** Does a walk over all cells that needs these have to know rows and columns apart? */
bool clf_group_apart(const clf_group *p, const uint8_t *used);
/** Is every run of cells that starts at a multiple of p->width as far from the operand's start as a vector of them may be? */
bool clf_group_aligned(const clf_group *p, const clf_group_at *at);
/** Lane states that a work-item of the walk holds of fold s: 2 where its tree has twice the lanes. */
int clf_group_held(const clf_group *p, const clf_sink *s);
#endif
