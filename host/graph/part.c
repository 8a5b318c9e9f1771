/* SPDX-License-Identifier: Apache-2.0
 * Matrices that need no step of a program, since what they are made of is in memory: cells in another shape are the same memory, and a
 * block of a sparse matrix is its entries, copied. (In cells a block is read where it is; a sparse matrix would all be spread out for it.)
 * Vectors are left to the rules (reshape-vector). */
#include "host/graph/part.h"

#include "host/graph/sparse_buf.h"
#include "host/run/run.h"

static bool is_matrix(const clf_gnode *g) { return !g->scalar && clf_rows(g) > 1 && clf_cols(g) > 1; }

clf_buf *clf_part_block(clf_ctx *c, const clf_buf *b, int64_t row, int64_t col, const clf_gnode *g) {
    clf_sparse s;
    clf_err err = {CLF_OK, ""};
    if (clf_csr_slice(clf_buf_csr(b), row, col, clf_rows(g), clf_cols(g), &c->mem, &s, &err) != CLF_OK) return NULL;
    clf_buf *block = clf_csr_buf_adopt(c, &s);
    if (!block) clf_sparse_release(&s, &c->mem);
    return block;
}

clf_status clf_part_leaf(clf_ctx *c, const clf_node *n, clf_node **out, clf_err *err) {
    *out = NULL;
    clf_node *from = n->g.nin ? n->in[0] : NULL;
    if (!from || !from->value || from->g.scalar) return CLF_OK;
    bool sparse = clf_buf_is_csr(from->value);
    if (n->g.op == CLF_OP_RESHAPE && !sparse && is_matrix(&n->g) && is_matrix(&from->g)) *out = clf_leaf_like(c, &n->g, from->value);
    if (n->g.op != CLF_OP_INDEX || !sparse) return CLF_OK;
    CLF_TRY(clf_leaves_check(c, 1, &from, err));
    clf_buf *b = clf_part_block(c, from->value, n->g.attr[0], n->g.attr[1], &n->g);
    if (b) *out = clf_leaf_like(c, &n->g, b);
    clf_buf_unref(b);
    return CLF_OK;
}
