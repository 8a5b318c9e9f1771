/* SPDX-License-Identifier: Apache-2.0
 * The interpreter of RP_INTEGER: cells of a node from the cells of its operands. Every value is checked against the range in which
 * its type is exact; a node that leaves it is refused. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random_make.h"

static const rp_matrix *operand(const rp_program *p, const rp_node *n, int k) { return &p->node[n->in[k]].m; }

static double at(const rp_matrix *m, int64_t i, int64_t j) { return m->v[(m->rows == 1 ? 0 : i) * m->cols + (m->cols == 1 ? 0 : j)]; }

/* Integers from one type to another; NAN where the target does not hold them exactly. */
static double convert(double x, clf_dtype from, clf_dtype to) {
    if (to == CLF_U8 && rp_real(from)) return x < 0 ? 0 : x > 255 ? 255 : x;
    if (to == CLF_U8) return (double)((int64_t)x & 255);
    return fabs(x) <= rp_limit(to) ? x : NAN;
}

static bool eval_cell(const rp_program *p, rp_node *n) {
    const rp_matrix *x[3] = {NULL, NULL, NULL};
    for (int k = 0; k < n->nin; k++) x[k] = operand(p, n, k);
    clf_dtype t = rp_op_type(n->op, n->nin, x);
    for (int64_t i = 0; i < n->m.rows; i++)
        for (int64_t j = 0; j < n->m.cols; j++) {
            double v[3] = {0, 0, 0};
            for (int k = 0; k < n->nin; k++) {
                bool truth = rp_rule_of(n->op) == RP_SELECT && k == 0;
                v[k] = truth ? at(x[k], i, j) : convert(at(x[k], i, j), x[k]->t, t);
                if (isnan(v[k])) return false;
            }
            n->m.v[i * n->m.cols + j] = rp_whole(n->op, v, t);
        }
    return true;
}

static bool eval_outer(const rp_program *p, rp_node *n) {
    const rp_matrix *x[2] = {operand(p, n, 0), operand(p, n, 1)};
    clf_dtype t = rp_op_type(n->op, 2, x);
    for (int64_t i = 0; i < n->m.rows; i++)
        for (int64_t j = 0; j < n->m.cols; j++) {
            double v[3] = {convert(x[0]->v[i], x[0]->t, t), convert(x[1]->v[j], x[1]->t, t), 0};
            if (isnan(v[0]) || isnan(v[1])) return false;
            n->m.v[i * n->m.cols + j] = rp_whole(n->op, v, t);
        }
    return true;
}

static bool eval_cast(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    for (int64_t i = 0; i < rp_count(x); i++) n->m.v[i] = convert(x->v[i], x->t, n->m.t);
    return true;
}

static bool eval_same(const rp_program *p, rp_node *n) { /* as.scalar, as.matrix, matrix */
    const rp_matrix *x = operand(p, n, 0);
    memcpy(n->m.v, x->v, (size_t)rp_count(x) * sizeof *x->v);
    return true;
}

static bool eval_fold(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    clf_dtype t = rp_fold_value_type(n->op, x->t);
    for (int64_t i = 0; i < rp_count(x); i++)
        if (isnan(convert(x->v[i], x->t, t))) return false;
    bool good = true;
    for (int64_t i = 0; i < rp_count(&n->m) && good; i++) {
        if (n->attr[0] == CLF_ALL)
            good = rp_fold(n->op, t, x->v, rp_count(x), 1, n->m.v);
        else if (n->attr[0] == CLF_ROWS)
            good = rp_fold(n->op, t, x->v + i * x->cols, x->cols, 1, &n->m.v[i]);
        else
            good = rp_fold(n->op, t, x->v + i, x->rows, x->cols, &n->m.v[i]);
    }
    return good;
}

static double step(int fold, double a, double b) {
    switch (fold) {
    case CLF_FOLD_CODE_SUM: return a + b;
    case CLF_FOLD_CODE_PROD: return a * b;
    case CLF_FOLD_CODE_MIN: return a < b ? a : b;
    default: return a > b ? a : b;
    }
}

static bool eval_cum(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    for (int64_t i = 0; i < rp_count(x); i++) {
        n->m.v[i] = i < x->cols ? x->v[i] : step(n->op, n->m.v[i - x->cols], x->v[i]);
        if (!(fabs(n->m.v[i]) <= rp_limit(n->m.t))) return false;
    }
    return true;
}

static bool eval_index(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    for (int64_t i = 0; i < n->m.rows; i++)
        for (int64_t j = 0; j < n->m.cols; j++) n->m.v[i * n->m.cols + j] = x->v[(i + n->attr[0] - 1) * x->cols + j + n->attr[2] - 1];
    return true;
}

static bool eval_transpose(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++) n->m.v[j * x->rows + i] = x->v[i * x->cols + j];
    return true;
}

static bool eval_cbind(const rp_program *p, rp_node *n) {
    const rp_matrix *a = operand(p, n, 0), *b = operand(p, n, 1);
    for (int64_t i = 0; i < n->m.rows; i++)
        for (int64_t j = 0; j < n->m.cols; j++)
            n->m.v[i * n->m.cols + j] =
                j < a->cols ? convert(a->v[i * a->cols + j], a->t, n->m.t) : convert(b->v[i * b->cols + j - a->cols], b->t, n->m.t);
    return true;
}

static bool eval_rbind(const rp_program *p, rp_node *n) {
    const rp_matrix *a = operand(p, n, 0), *b = operand(p, n, 1);
    int64_t na = rp_count(a);
    for (int64_t i = 0; i < rp_count(&n->m); i++) n->m.v[i] = i < na ? convert(a->v[i], a->t, n->m.t) : convert(b->v[i - na], b->t, n->m.t);
    return true;
}

static bool eval_product(const rp_program *p, rp_node *n) {
    const rp_matrix *a = operand(p, n, 0), *b = operand(p, n, 1);
    double most = rp_limit(n->m.t);
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < b->cols; j++) {
            double sum = 0, size = 0;
            for (int64_t k = 0; k < a->cols; k++) {
                double x = a->v[i * a->cols + k], y = b->v[k * b->cols + j];
                if (!(fabs(x) <= most && fabs(y) <= most)) return false;
                sum += x * y;
                size += fabs(x * y);
            }
            if (!(size <= most)) return false;
            n->m.v[i * b->cols + j] = sum;
        }
    return true;
}

static bool eval_diag(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    bool column = x->cols == 1;
    for (int64_t i = 0; i < x->rows; i++) n->m.v[column ? i * x->rows + i : i] = x->v[column ? i : i * x->cols + i];
    return true;
}

static bool eval_rev(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++) n->m.v[i * x->cols + j] = x->v[(x->rows - 1 - i) * x->cols + j];
    return true;
}

typedef struct sort_item {
    double key;
    int64_t row;
} sort_item;

static int by_key(const void *a, const void *b) {
    const sort_item *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static bool eval_order(const rp_program *p, rp_node *n) {
    const rp_matrix *x = operand(p, n, 0);
    sort_item *item = calloc((size_t)x->rows + 1, sizeof *item);
    if (!item) return false;
    for (int64_t i = 0; i < x->rows; i++) {
        double key = x->v[i * x->cols + n->attr[0] - 1];
        item[i] = (sort_item){n->attr[1] ? -key : key, i};
    }
    qsort(item, (size_t)x->rows, sizeof *item, by_key);
    for (int64_t i = 0; i < x->rows; i++) {
        if (n->attr[2])
            n->m.v[i] = (double)(item[i].row + 1);
        else
            memcpy(n->m.v + i * x->cols, x->v + item[i].row * x->cols, (size_t)x->cols * sizeof *x->v);
    }
    free(item);
    return true;
}

static bool (*const eval[RP_KINDS])(const rp_program *p, rp_node *n) = {
    [RP_CELL] = eval_cell,   [RP_OUTER] = eval_outer,  [RP_CAST] = eval_cast,       [RP_FORM] = eval_same,
    [RP_FOLD] = eval_fold,   [RP_CUM] = eval_cum,      [RP_INDEX] = eval_index,     [RP_TRANSPOSE] = eval_transpose,
    [RP_CBIND] = eval_cbind, [RP_RBIND] = eval_rbind,  [RP_PRODUCT] = eval_product, [RP_DIAG] = eval_diag,
    [RP_REV] = eval_rev,     [RP_RESHAPE] = eval_same, [RP_ORDER] = eval_order,
};

static bool in_domain(const rp_matrix *m) {
    for (int64_t i = 0; i < rp_count(m); i++)
        if (!(fabs(m->v[i]) <= rp_limit(m->t))) return false;
    return true;
}

/* Integers have no negative zero. */
static void plain_zeros(rp_matrix *m) {
    for (int64_t i = 0; i < rp_count(m) && !rp_real(m->t); i++) m->v[i] += 0.0;
}

bool rp_eval_node(const rp_program *p, rp_node *n) {
    n->m.v = calloc((size_t)rp_count(&n->m) + 1, sizeof *n->m.v);
    if (n->m.v && eval[n->kind](p, n) && in_domain(&n->m)) {
        plain_zeros(&n->m);
        return true;
    }
    free(n->m.v);
    n->m.v = NULL;
    return false;
}

bool rp_make_node(const rp_program *p, rp_node *n, int64_t most_cells) {
    if (rp_source(n->kind)) return true;
    n->m.v = NULL;
    if (!rp_fit_node(p, n) || rp_count(&n->m) > most_cells) return false;
    if (p->domain == RP_REAL && !rp_signs_fit(p, n)) return false;
    if (p->own_products && n->kind == RP_PRODUCT && !rp_one_annihilates(p, n)) return false;
    return p->domain != RP_INTEGER || rp_eval_node(p, n);
}
