/* SPDX-License-Identifier: Apache-2.0
 * Cplans over the cells of a plane, which the cell skeletons serve: at most two ranges, rows i and columns j, dense inputs, values that are
 * cell operators, sinks that keep cells or fold all of them. */
#ifndef CLF_KERNELS_SKEL_PLANE_H
#define CLF_KERNELS_SKEL_PLANE_H
#include "planner/cplan.h"

typedef struct clf_plane {
    uint32_t i, j; /* bits of the axes; i is 0 with one axis, both without */
    int64_t rows, cols, n;
} clf_plane;

/** False when it is none, or has more cells than a schedule can count. */
bool clf_plane_of(const clf_cplan *c, clf_plane *out);
#endif
