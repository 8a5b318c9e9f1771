/* SPDX-License-Identifier: Apache-2.0
 * What recording knows of a node's zeros: whether they annihilate (design section 6), and about how many cells are not 0.
 * Functions of the operator and its inputs' facts alone, so equal nodes have equal facts. The first is meaning, the second a guess that
 * only costs are made of. */
#ifndef CLF_GRAPH_FACTS_H
#define CLF_GRAPH_FACTS_H
#include "core/op.h"
#include "host/graph/ctx.h"

/** Fill in format and nnz of a leaf over buf: the entries of CSR; of cells the estimate given, at most all of them. */
void clf_facts_leaf(clf_gnode *g, int64_t nnz, const clf_buf *buf);
/** zeros, nnz, pattern and known of a recorded cell operator, whose text runs in type t, or of a structural operator. The shape is set. */
void clf_facts_cell(clf_node *w, clf_dtype t);
void clf_facts_form(clf_ctx *c, clf_node *w);

/* An operand at a cell of which something is known. */
typedef struct clf_zeros_operand {
    bool known;
    clf_scalar value;
} clf_zeros_operand;
/** Is op's result, in type t, exactly 0 (either sign) whatever the unknown operands are? Decided by running the operator on the known
 *  operands and, for each unknown one, on zeros, ones, fractions, large and tiny numbers, infinities and NaN. */
bool clf_zeros_forced(clf_op op, clf_dtype t, int n, const clf_zeros_operand *x);
/** op's result, in type t, of known operands. */
clf_scalar clf_zeros_value(clf_op op, clf_dtype t, int n, const clf_zeros_operand *x);
#endif
