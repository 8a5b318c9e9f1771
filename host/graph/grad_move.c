/* SPDX-License-Identifier: Apache-2.0
 * Derivatives of operators that move cells and compute nothing: the adjoint's cells move back. A part that is the same along an axis
 * stays so where the operator treats all of that axis alike; else it is spread out first. */
#include "host/graph/grad.h"

static clf_mat *cells(clf_sweep *w, const clf_grad_node *n, clf_mat *g) {
    return clf_grad_spread(w, g, (clf_dtype)n->g.dtype, clf_rows(&n->g), clf_cols(&n->g));
}

/* as.scalar and as.matrix too: the part's type and kind are set where it is added. */
clf_status clf_grad_cast(clf_sweep *w, int32_t i, clf_mat *g) { return clf_grad_add(w, w->node[i].in[0], g); }

clf_status clf_grad_fill(clf_sweep *w, int32_t i, clf_mat *g) {
    const clf_grad_node *n = &w->node[i];
    return clf_grad_add(w, n->in[0], clf_grad_reduce(w, g, &n->g, &w->node[n->in[0]].g));
}

clf_status clf_grad_transpose(clf_sweep *w, int32_t i, clf_mat *g) {
    clf_gnode have = clf_grad_look(g);
    return clf_grad_add(w, w->node[i].in[0], clf_gnode_single(&have) ? g : clf_grad_turn(w, g));
}

clf_status clf_grad_rev(clf_sweep *w, int32_t i, clf_mat *g) {
    bool alike = !(clf_grad_part(g, &w->node[i].g) & (CLF_PART_COLUMN | CLF_PART_SPARSE));
    return clf_grad_add(w, w->node[i].in[0], alike ? g : clf_grad_temp(w, clf_rev(g)));
}

clf_status clf_grad_reshape(clf_sweep *w, int32_t i, clf_mat *g) {
    const clf_grad_node *n = &w->node[i];
    const clf_gnode *x = &w->node[n->in[0]].g;
    bool alike = clf_grad_part(g, &n->g) == CLF_PART_NUMBER;
    return clf_grad_add(w, n->in[0], alike ? g : clf_grad_temp(w, clf_reshape(cells(w, n, g), clf_rows(x), clf_cols(x))));
}

/* To a matrix: what lies on the diagonal. From a matrix: the column becomes its diagonal. */
clf_status clf_grad_diag(clf_sweep *w, int32_t i, clf_mat *g) {
    const clf_grad_node *n = &w->node[i];
    int part = clf_grad_part(g, &n->g);
    if (!n->g.attr[0])
        g = clf_grad_temp(w, clf_diag(cells(w, n, g)));
    else if (part == CLF_PART_ROW)
        g = clf_grad_turn(w, g);
    else if (part >= CLF_PART_CELLS)
        g = clf_grad_temp(w, clf_diag(cells(w, n, g)));
    return clf_grad_add(w, n->in[0], g);
}

/* Sorting what was sorted by the rows' former positions undoes it. */
clf_status clf_grad_order(clf_sweep *w, int32_t i, clf_mat *g) {
    const clf_grad_node *n = &w->node[i];
    clf_mat *was = clf_grad_temp(w, clf_order(clf_grad_mat(w, n->in[0]), n->g.attr[0] + 1, n->g.attr[1] != 0, true));
    clf_mat *both = clf_grad_temp(w, clf_cbind(was, cells(w, n, g)));
    clf_mat *back = clf_grad_temp(w, clf_order(both, 1, false, false));
    return clf_grad_add(w, n->in[0], clf_grad_temp(w, clf_index(back, 1, 0, 2, 0)));
}

/* ---- parts of a matrix ---- */

/* m with zeros before and behind it along an axis. */
static clf_mat *pad(clf_sweep *w, clf_mat *m, bool columns, int64_t before, int64_t behind) {
    clf_mat *(*join)(clf_mat *, clf_mat *) = columns ? clf_cbind : clf_rbind;
    clf_gnode g = clf_grad_look(m);
    int64_t extent[2] = {before, behind};
    for (int side = 0; side < 2; side++) {
        if (!extent[side]) continue;
        clf_mat *zero = clf_grad_temp(
            w, clf_fill(w->c, (clf_dtype)g.dtype, columns ? clf_rows(&g) : extent[side], columns ? extent[side] : clf_cols(&g), 0));
        m = clf_grad_temp(w, side ? join(m, zero) : join(zero, m));
    }
    return m;
}

/* The cells of one axis of an index, in their place in x. */
static clf_mat *put_back(clf_sweep *w, clf_mat *g, const clf_gnode *n, const clf_gnode *x, int axis) {
    int64_t first = n->attr[axis], extent = n->dim[axis].n, all = x->dim[axis].n;
    if (extent == all) return g;
    clf_gnode have = clf_grad_look(g);
    g = clf_grad_spread(w, g, (clf_dtype)n->dtype, axis ? clf_rows(&have) : extent, axis ? extent : clf_cols(&have));
    return pad(w, g, axis == 1, first, all - first - extent);
}

clf_status clf_grad_index(clf_sweep *w, int32_t i, clf_mat *g) {
    const clf_grad_node *n = &w->node[i];
    const clf_gnode *x = &w->node[n->in[0]].g;
    g = put_back(w, g, &n->g, x, 0);
    return clf_grad_add(w, n->in[0], put_back(w, g, &n->g, x, 1));
}

/* cbind and rbind: to each operand its own columns or rows. */
clf_status clf_grad_bind(clf_sweep *w, int32_t i, clf_mat *g) {
    const clf_grad_node *n = &w->node[i];
    bool columns = n->g.op == CLF_OP_CBIND;
    bool alike = !(clf_grad_part(g, &n->g) & ((columns ? CLF_PART_ROW : CLF_PART_COLUMN) | CLF_PART_SPARSE));
    int64_t first = 1;
    for (int k = 0; k < 2; k++) {
        const clf_grad_node *x = &w->node[n->in[k]];
        int64_t last = first - 1 + (columns ? clf_cols(&x->g) : clf_rows(&x->g));
        clf_mat *own = g;
        if (!alike && last >= first) own = clf_grad_temp(w, columns ? clf_index(g, 1, 0, first, last) : clf_index(g, first, last, 1, 0));
        if (x->live && last >= first) CLF_TRY(clf_grad_add(w, n->in[k], own));
        first = last + 1;
    }
    return CLF_OK;
}
