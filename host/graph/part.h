/* SPDX-License-Identifier: Apache-2.0
 * What of a recorded matrix is in memory already (part.c). Private to host/graph. */
#ifndef CLF_GRAPH_PART_H
#define CLF_GRAPH_PART_H
#include "host/graph/ctx.h"

/** A leaf that has n's cells while what n is made of stays as it is, if there is one without a program; else, and when memory is out,
 *  *out is NULL. owns: caller, one reference. errors: as clf_leaves_check of what n is made of. */
clf_status clf_part_leaf(clf_ctx *c, const clf_node *n, clf_node **out, clf_err *err);
/** A block of the CSR matrix in b, from a row and a column on (from 0), of g's shape. owns: caller, one reference; NULL: out of memory. */
clf_buf *clf_part_block(clf_ctx *c, const clf_buf *b, int64_t row, int64_t col, const clf_gnode *g);
#endif
