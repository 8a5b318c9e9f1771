/* SPDX-License-Identifier: Apache-2.0
 * What each kind of operator does with its adjoint: a row a structural operator, one for all cell operators. Matrix products are here.
 *
 * Operators that compute with the adjoint take the sum of its ordinary parts at once and the sparse part by itself; the others, and
 * products, take part by part, so that in sum(U %*% t(V)) - sum(X * log(U %*% t(V))) the ones of the first sum never meet the entries of
 * X in cells. */
#include "host/graph/grad.h"

static const struct {
    clf_grad_step *step; /* NULL: nothing passes */
    bool apart;          /* part by part */
} forms[CLF_NALLOPS] = {
    [CLF_OP_FILL] = {clf_grad_fill, true},   [CLF_OP_CAST] = {clf_grad_cast, true},           [CLF_OP_FOLD] = {clf_grad_fold, false},
    [CLF_OP_CUM] = {clf_grad_cum, false},    [CLF_OP_TRANSPOSE] = {clf_grad_transpose, true}, [CLF_OP_MATMUL] = {clf_grad_matmul, true},
    [CLF_OP_INDEX] = {clf_grad_index, true}, [CLF_OP_CBIND] = {clf_grad_bind, true},          [CLF_OP_RBIND] = {clf_grad_bind, true},
    [CLF_OP_DIAG] = {clf_grad_diag, true},   [CLF_OP_RESHAPE] = {clf_grad_reshape, true},     [CLF_OP_REV] = {clf_grad_rev, true},
    [CLF_OP_ORDER] = {clf_grad_order, true},
};

bool clf_grad_passes(const clf_grad_node *n, int k) {
    if (n->g.op == CLF_OP_FOLD) return clf_grad_fold_text((int)n->g.attr[0]) != NULL;
    if (!clf_op_is_cell(n->g.op)) return forms[n->g.op].step != NULL;
    clf_grad_piece text = clf_grad_cell_text(n->g.op, k);
    return text.len != 1 || *text.text != '0';
}

/* ---- products: of P = A %*% B, A gets g %*% t(B) and B gets t(A) %*% g ---- */

/* Where an operand's derivative goes: of a transpose to what it is of, in its orientation, unless the transpose itself is asked for. */
static int32_t target(const clf_sweep *w, int32_t operand, bool *turned) {
    const clf_grad_node *n = &w->node[operand];
    *turned = n->g.op == CLF_OP_TRANSPOSE && !n->wanted;
    return *turned ? n->in[0] : operand;
}

/* g %*% t(b), or its transpose. Beside a single number g, b is a column. */
static clf_mat *product(clf_sweep *w, clf_mat *g, clf_mat *b, bool turned) {
    clf_gnode have = clf_grad_look(g);
    if (clf_gnode_single(&have)) return clf_grad_temp(w, clf_mul(turned ? b : clf_grad_turn(w, b), g));
    return clf_grad_temp(w, turned ? clf_matmul(b, clf_grad_turn(w, g)) : clf_matmul(g, clf_grad_turn(w, b)));
}

static clf_status to_left(clf_sweep *w, const clf_grad_node *n, clf_mat *g, int part) {
    bool turned;
    int32_t at = target(w, n->in[0], &turned);
    clf_mat *b = clf_grad_mat(w, n->in[1]);
    if (!(part & (CLF_PART_ROW | CLF_PART_SPARSE))) b = clf_grad_temp(w, clf_row_sums(b)); /* g is the same in all columns */
    return clf_grad_add(w, at, product(w, g, b, turned));
}

static clf_status to_right(clf_sweep *w, const clf_grad_node *n, clf_mat *g, int part) {
    bool turned;
    int32_t at = target(w, n->in[1], &turned);
    clf_mat *a = clf_grad_turn(w, clf_grad_mat(w, n->in[0]));
    clf_gnode have = clf_grad_look(g);
    if (!(part & (CLF_PART_COLUMN | CLF_PART_SPARSE))) a = clf_grad_temp(w, clf_row_sums(a)); /* g is the same in all rows */
    if (!clf_gnode_single(&have)) g = clf_grad_turn(w, g);
    return clf_grad_add(w, at, product(w, g, a, !turned));
}

clf_status clf_grad_matmul(clf_sweep *w, int32_t i, clf_mat *g) {
    const clf_grad_node *n = &w->node[i];
    int part = clf_grad_part(g, &n->g);
    if (w->node[n->in[0]].live) CLF_TRY(to_left(w, n, g, part));
    return w->node[n->in[1]].live ? to_right(w, n, g, part) : CLF_OK;
}

/* ---- one node ---- */

static clf_status in_parts(clf_sweep *w, int32_t i, clf_grad_step *step, const unsigned *set, int n) {
    for (int s = 0; s < n; s++) {
        clf_mat *g = clf_grad_sum(w, &w->node[i], set[s]);
        if (g) CLF_TRY(step(w, i, g));
    }
    return CLF_OK;
}

clf_status clf_grad_backward(clf_sweep *w, int32_t i) {
    static const unsigned apart[CLF_PARTS] = {1, 2, 4, 8, 16}, two[2] = {15, 16};
    int op = w->node[i].g.op;
    bool any = false;
    for (int k = 0; k < w->node[i].g.nin; k++) any = any || (w->node[w->node[i].in[k]].live && clf_grad_passes(&w->node[i], k));
    if (!any) return CLF_OK;
    clf_grad_step *step = clf_op_is_cell(op) ? clf_grad_cell : forms[op].step;
    return forms[op].apart ? in_parts(w, i, step, apart, CLF_PARTS) : in_parts(w, i, step, two, 2);
}
