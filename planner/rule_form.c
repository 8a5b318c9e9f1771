/* SPDX-License-Identifier: Apache-2.0
 * Operators that move cells or change their type, one after the other. All are EXACT: cells stay what they are.
 *
 * Measure, where no other is named: such operators below what stands for a node. */
#include <string.h>

#include "planner/rules.h"

/* X[a:b, c:d][e:f, g:h] = X[...]. */
int32_t clf_rule_index_index(clf_rewriter *w, int32_t n) {
    clf_gnode x;
    memcpy(&x, &w->g.node[n], sizeof x);
    if (x.op != CLF_OP_INDEX || w->g.node[x.in[0]].op != CLF_OP_INDEX) return -1;
    const clf_gnode *q = &w->g.node[x.in[0]];
    x.attr[0] += q->attr[0];
    x.attr[1] += q->attr[1];
    x.in[0] = q->in[0];
    return clf_rewriter_put(w, &x);
}

/* t(X)[i, j] = t(X[j, i]). Measure: cells that are transposed. */
int32_t clf_rule_index_t(clf_rewriter *w, int32_t n) {
    clf_gnode x;
    memcpy(&x, &w->g.node[n], sizeof x);
    if (x.op != CLF_OP_INDEX || w->g.node[x.in[0]].op != CLF_OP_TRANSPOSE) return -1;
    int64_t row = x.attr[0];
    x.attr[0] = x.attr[1];
    x.attr[1] = row;
    x.in[0] = w->g.node[x.in[0]].in[0];
    clf_gnode_shape(&x, clf_cols(&w->g.node[n]), clf_rows(&w->g.node[n]));
    return clf_rewriter_transpose(w, clf_rewriter_put(w, &x));
}

/* Has every number of type a its like in type b, of the same kind? */
static bool widens(clf_dtype a, clf_dtype b) {
    if (clf_dtype_float(a) != clf_dtype_float(b)) return false;
    return clf_dtype_bytes(a) <= clf_dtype_bytes(b);
}

/* A cast of a cast, when the first one widens within its kind. */
int32_t clf_rule_casts(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op != CLF_OP_CAST || w->g.node[x->in[0]].op != CLF_OP_CAST) return -1;
    int32_t from = w->g.node[x->in[0]].in[0];
    bool wide = widens((clf_dtype)w->g.node[from].dtype, (clf_dtype)w->g.node[x->in[0]].dtype);
    return wide ? clf_rewriter_cast(w, from, (clf_dtype)x->dtype, x->scalar) : -1;
}

int32_t clf_rule_reshapes(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op != CLF_OP_RESHAPE) return -1;
    const clf_gnode *q = &w->g.node[x->in[0]];
    bool vector = q->op == CLF_OP_TRANSPOSE && (clf_rows(q) == 1 || clf_cols(q) == 1);
    if ((q->op != CLF_OP_RESHAPE && !vector) || w->g.node[q->in[0]].scalar) return -1;
    int32_t from = q->in[0];
    return clf_rewriter_like(w, n, &from, clf_rows(x), clf_cols(x));
}

/* matrix(v, 1, n) = t(v). A vector whose zeros annihilate is left: those of the reshaped one do not, and products look behind t.
 * Measure: reshapes. */
int32_t clf_rule_reshape_vector(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op != CLF_OP_RESHAPE || clf_rule_structural(&w->g, x->in[0])) return -1;
    const clf_gnode *v = &w->g.node[x->in[0]];
    bool turns = (clf_rows(v) == 1 || clf_cols(v) == 1) && clf_rows(v) == clf_cols(x) && clf_cols(v) == clf_rows(x);
    return turns && !clf_gnode_single(x) ? clf_rewriter_transpose(w, x->in[0]) : -1;
}

/* Cells of matrix(c, n, m), transposed, indexed or reshaped: a fill of another shape. */
int32_t clf_rule_moved_fill(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    bool moves = x->op == CLF_OP_TRANSPOSE || x->op == CLF_OP_INDEX || x->op == CLF_OP_RESHAPE || x->op == CLF_OP_REV;
    if (!moves || w->g.node[x->in[0]].op != CLF_OP_FILL) return -1;
    return clf_rewriter_like(w, x->in[0], w->g.node[x->in[0]].in, clf_rows(x), clf_cols(x));
}

int32_t clf_rule_t_diag(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op != CLF_OP_TRANSPOSE) return -1;
    const clf_gnode *q = &w->g.node[x->in[0]];
    return q->op == CLF_OP_DIAG && q->attr[0] ? x->in[0] : -1;
}
