/* SPDX-License-Identifier: Apache-2.0
 * What tile.chunk knows of a cplan before any text is written: one DOT value whose factors lie along rows i and terms l, and along columns
 * j and l. Values below its first factor are its left side: cell operators over i and l, or a matrix used transposed; all others over i and
 * j are its result's, and stored. The text depends on the cplan's structure only. */
#ifndef CLF_KERNELS_SKEL_TILE_PLAN_H
#define CLF_KERNELS_SKEL_TILE_PLAN_H
#include "kernels-cl/skel/row_plan.h"

enum { CLF_TILE_VALUES = 192 };
/* Where a value is wanted. */
enum { CLF_TILE_LEFT = 1, CLF_TILE_RESULT = 2 };

typedef struct clf_tile {
    const clf_cplan *c;
    int dot, j, l;        /* the DOT value; axes of columns and terms; rows are axis 0 */
    int right;            /* access of its second factor */
    int64_t base, sl, sj; /* where that reads: base + sl*l + sj*j */
    int turned;           /* access of its first factor where that lies along rows in memory, term after term; else -1 */
    int64_t tl;           /* and its step of a term */
    clf_dtype type;       /* of the product */
    int lanes, runs;      /* of a vector; of a leaf's sum: 1, or lanes where the right side is used transposed */
    uint8_t want[CLF_TILE_VALUES];
    int64_t rows, cols, terms;
    int64_t mc, nc, band, across, chunks, cstride; /* rows, columns of a work-item; of its rows, packed together */
} clf_tile;

/** False when the skeleton cannot serve it. */
bool clf_tile_plan(clf_tile *p, const clf_cplan *c, int cores);
/** Of access a, of anything but the right side: element base, step of a row; false if it does not lie in rows without gaps. */
bool clf_tile_at(const clf_tile *p, const clf_access *a, int inner, int64_t *base, int64_t *si);
static inline uint32_t clf_tile_inner(const clf_tile *p, bool left) { return 1u << (left ? p->l : p->j); }
#endif
