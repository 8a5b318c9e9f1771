/* SPDX-License-Identifier: Apache-2.0
 * What the rewrite pass asks of the builder. Private to planner/rewrite*.c. */
#ifndef CLF_PLANNER_REWRITER_H
#define CLF_PLANNER_REWRITER_H
#include "planner/rewrite.h"

/** Room for a graph of about n nodes; w has its arenas. False when out of memory. */
bool clf_rewriter_begin(clf_rewriter *w, int32_t n);
#endif
