/* SPDX-License-Identifier: Apache-2.0
 * The order of axes of a loop over rows, and what it makes the loop compute twice. Between bill.c, which prices it, and lowering. */
#ifndef CLF_PLANNER_AXES_H
#define CLF_PLANNER_AXES_H
#include "planner/cover.h"
#include "planner/cplan.h"

/* Numbers of columns whose axes are made first, in order. */
typedef struct clf_axes {
    int n;
    int64_t width[CLF_MAX_AXES];
} clf_axes;

/** Those of a part's products t(A) %*% B of more than one column each, without stored entries. */
void clf_axes_order(const clf_graph *g, const clf_part *part, clf_axes *out);
/** Does t(A) %*% B compute B along another axis than B's usual one? */
bool clf_axes_moves(const clf_axes *a, const clf_graph *g, int32_t product);
/** Mark nodes of part `number`, which is entered and has no driver, that its loop computes along two axes: CLF_AXES_TWICE. mark: a byte per
 *  node whose other bits are left as they are; the caller clears CLF_AXES_TWICE of the part's nodes. False: there is none. */
enum { CLF_AXES_FIRST = 64, CLF_AXES_OTHER = 128, CLF_AXES_TWICE = CLF_AXES_FIRST | CLF_AXES_OTHER };
bool clf_axes_twice(const clf_graph *g, const clf_cover *c, int32_t number, uint8_t *mark);
#endif
