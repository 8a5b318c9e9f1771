/* SPDX-License-Identifier: Apache-2.0
 * Writing the holes of tile.chunk.cl. Names in the text: xA oK memory of access A and output K with base offsets xbA obK and row stride
 * xlA; xsA, xkA strides of the right side along terms and columns; vN value N; pK parameter K. */
#ifndef CLF_KERNELS_SKEL_TILE_TEXT_H
#define CLF_KERNELS_SKEL_TILE_TEXT_H
#include "kernels-cl/skel/cell_text.h"
#include "kernels-cl/skel/tile_plan.h"

typedef struct clf_ttext {
    clf_ctext x; /* first: holes get it */
    const clf_tile *p;
    clf_cell none; /* what x.p is: nothing is folded over rows or columns */
    bool left;     /* the text being written is of the left side */
    bool tail;     /* of a short vector of `r` cells */
} clf_ttext;

/** Values that vary with nothing. */
void clf_ttext_setup(clf_ctext *x);
/** Declare what the left side, or the result, wants at `row` and the vector from `col` on; x->tail: of `r` cells. */
void clf_ttext_values(clf_ttext *w, bool left, bool tail);
/** Store the results of a vector. */
void clf_ttext_stores(clf_ttext *w, bool tail);
#endif
