/* SPDX-License-Identifier: Apache-2.0
 * Types and shapes: what a node's result looks like, given its operands, or that they do not fit together. The rules are written from
 * the language contract. */
#include "tests/support/random_make.h"
#include "tests/support/type_rules.h"

static const rp_matrix *operand(const rp_program *p, const rp_node *n, int k) { return &p->node[n->in[k]].m; }

static bool result(rp_node *n, clf_dtype t, int64_t rows, int64_t cols) {
    n->m.t = t;
    n->m.scalar = false;
    n->m.rows = rows;
    n->m.cols = cols;
    return true;
}

static clf_dtype common(const rp_matrix *const *x, int from, int n) {
    rule_operand o[RULE_OPERANDS] = {{CLF_F64, false}};
    for (int k = from; k < n; k++) o[k - from] = (rule_operand){x[k]->t, x[k]->scalar};
    return rule_common(o, n - from);
}

clf_dtype rp_op_type(int op, int n, const rp_matrix *const *x) {
    rp_rule rule = rp_rule_of(op);
    clf_dtype t = rule == RP_FIRST ? x[0]->t : common(x, rule == RP_SELECT, n);
    if (rule == RP_ARITH && t == CLF_U8) return CLF_I32;
    return rule == RP_FLOAT && !rp_real(t) ? CLF_F64 : t;
}

static bool covers(const rp_matrix *big, const rp_matrix *x) {
    return (x->rows == big->rows || x->rows == 1) && (x->cols == big->cols || x->cols == 1);
}

static bool fit_cell(const rp_program *p, rp_node *n) {
    const rp_matrix *x[3] = {NULL, NULL, NULL}, *big = NULL;
    bool scalar = true;
    for (int i = 0; i < n->nin; i++) x[i] = operand(p, n, i);
    for (int i = 0; i < n->nin; i++) {
        bool all = true;
        for (int j = 0; j < n->nin; j++) all = all && covers(x[i], x[j]);
        if (all && !big) big = x[i];
        scalar = scalar && x[i]->scalar;
    }
    if (!big) return false;
    clf_dtype t = rp_op_type(n->op, n->nin, x);
    result(n, rp_rule_of(n->op) == RP_COMPARE ? CLF_U8 : t, big->rows, big->cols);
    n->m.scalar = scalar;
    return true;
}

static bool fit_outer(const rp_program *p, rp_node *n) {
    const rp_matrix *x[2] = {operand(p, n, 0), operand(p, n, 1)};
    if (x[0]->scalar || x[1]->scalar || x[0]->cols != 1 || (x[1]->rows != 1 && x[1]->cols != 1)) return false;
    clf_dtype t = rp_op_type(n->op, 2, x);
    return result(n, rp_rule_of(n->op) == RP_COMPARE ? CLF_U8 : t, x[0]->rows, x[1]->rows == 1 ? x[1]->cols : x[1]->rows);
}

static bool fit_cast(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    result(n, n->m.t, x->rows, x->cols);
    n->m.scalar = x->scalar;
    return true;
}

static bool fit_form(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    result(n, x->t, 1, 1);
    n->m.scalar = !x->scalar;
    return x->rows == 1 && x->cols == 1;
}

static clf_dtype fold_type(int f, clf_dtype value) {
    if (f == CLF_FOLD_CODE_ARGMIN || f == CLF_FOLD_CODE_ARGMAX || f == CLF_FOLD_CODE_NNZ) return CLF_I64;
    return f == CLF_FOLD_CODE_ANY || f == CLF_FOLD_CODE_ALL ? CLF_U8 : value;
}

static bool fit_fold(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    int64_t way = n->attr[0];
    result(n, fold_type(n->op, rp_fold_value_type(n->op, x->t)), way == CLF_ROWS ? x->rows : 1, way == CLF_COLS ? x->cols : 1);
    n->m.scalar = way == CLF_ALL;
    n->m.final = p->domain == RP_INTEGER && n->op == CLF_FOLD_CODE_MEAN;
    return true;
}

static bool fit_cum(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    return result(n, rp_fold_value_type(n->op, x->t), x->rows, x->cols);
}

static bool fit_index(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    const int64_t *a = n->attr;
    if (a[0] < 1 || a[1] < 1 || a[1] < a[0] - 1 || a[1] > x->rows || a[2] < 1 || a[3] < 1 || a[3] < a[2] - 1 || a[3] > x->cols)
        return false;
    return result(n, x->t, a[1] - a[0] + 1, a[3] - a[2] + 1);
}

static bool fit_transpose(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    return result(n, x->t, x->cols, x->rows);
}

static bool fit_cbind(const rp_program *p, rp_node *n) {
    const rp_matrix *a = operand(p, n, 0), *b = operand(p, n, 1);
    return a->rows == b->rows && result(n, rule_wider(a->t, b->t), a->rows, a->cols + b->cols);
}

static bool fit_rbind(const rp_program *p, rp_node *n) {
    const rp_matrix *a = operand(p, n, 0), *b = operand(p, n, 1);
    return a->cols == b->cols && result(n, rule_wider(a->t, b->t), a->rows + b->rows, a->cols);
}

static bool fit_product(const rp_program *p, rp_node *n) {
    const rp_matrix *a = operand(p, n, 0), *b = operand(p, n, 1);
    clf_dtype t = rule_wider(a->t, b->t);
    return a->cols == b->rows && result(n, rp_real(t) ? t : CLF_F64, a->rows, b->cols);
}

static bool fit_diag(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    return (x->cols == 1 || x->rows == x->cols) && result(n, x->t, x->rows, x->cols == 1 ? x->rows : 1);
}

static bool fit_rev(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    return result(n, x->t, x->rows, x->cols);
}

static bool fit_reshape(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    return rp_count(&n->m) == rp_count(x) && result(n, x->t, n->m.rows, n->m.cols);
}

static bool fit_order(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    if (n->attr[0] < 1 || n->attr[0] > x->cols) return false;
    return result(n, n->attr[2] ? CLF_I64 : x->t, x->rows, n->attr[2] ? 1 : x->cols);
}

static bool (*const fit[RP_KINDS])(const rp_program *p, rp_node *n) = {
    [RP_CELL] = fit_cell,   [RP_OUTER] = fit_outer,     [RP_CAST] = fit_cast,       [RP_FORM] = fit_form,
    [RP_FOLD] = fit_fold,   [RP_CUM] = fit_cum,         [RP_INDEX] = fit_index,     [RP_TRANSPOSE] = fit_transpose,
    [RP_CBIND] = fit_cbind, [RP_RBIND] = fit_rbind,     [RP_PRODUCT] = fit_product, [RP_DIAG] = fit_diag,
    [RP_REV] = fit_rev,     [RP_RESHAPE] = fit_reshape, [RP_ORDER] = fit_order,
};

bool rp_fit_node(const rp_program *p, rp_node *n) {
    if (rp_source(n->kind)) return true;
    for (int k = 0; k < n->nin; k++)
        if (operand(p, n, k)->final) return false;
    n->m.final = false;
    return fit[n->kind](p, n);
}
