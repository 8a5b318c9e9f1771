/* SPDX-License-Identifier: Apache-2.0
 * Random programs through the public interface: recording and comparing. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/fmt.h"
#include "tests/support/random_make.h"

void rp_store(const rp_matrix *m, void *out) {
    for (int64_t i = 0; i < rp_count(m); i++) switch (m->t) {
        case CLF_F32: ((float *)out)[i] = (float)m->v[i]; break;
        case CLF_F64: ((double *)out)[i] = m->v[i]; break;
        case CLF_I32: ((int32_t *)out)[i] = (int32_t)m->v[i]; break;
        case CLF_I64: ((int64_t *)out)[i] = (int64_t)m->v[i]; break;
        case CLF_U8: ((uint8_t *)out)[i] = (uint8_t)m->v[i]; break;
        }
}

static void *stored(const rp_matrix *m) {
    void *data = calloc((size_t)rp_count(m) + 1, sizeof(double));
    if (data) rp_store(m, data);
    return data;
}

/* ---- doors ---- */

static clf_mat *open_copy(clf_ctx *c, const rp_matrix *m) {
    void *data = stored(m);
    clf_mat *h = clf_matrix(c, m->t, m->rows, m->cols, data);
    free(data);
    return h;
}

static void forget(void *user, void *data) {
    (void)user;
    free(data);
}

static clf_mat *open_borrowed(clf_ctx *c, const rp_matrix *m) {
    void *data = stored(m);
    clf_mat *h = clf_borrow(c, m->t, m->rows, m->cols, data, forget, NULL);
    if (clf_status_of(h, NULL) != CLF_OK) free(data);
    return h;
}

const rp_door rp_doors[] = {
    {"dense, copied", CLF_DENSE, open_copy, false},
    {"dense, borrowed", CLF_DENSE, open_borrowed, false},
    {"CSR", CLF_CSR, rp_open_csr, false},
    {"CSR, 4-byte offsets, borrowed", CLF_CSR, rp_open_lent, false},
    {"CSR, some zeros stored", CLF_CSR, rp_open_zeros, true},
    {"CSC", CLF_CSR, rp_open_csc, false},
    {"COO, some zeros stored", CLF_CSR, rp_open_coo, true},
};
const int rp_ndoors = sizeof rp_doors / sizeof *rp_doors;

/* ---- recording ---- */

static clf_mat *rec_leaf(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)h;
    return rp_doors[n->attr[0]].open(c, &n->m);
}
static clf_mat *rec_number(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)h;
    return n->m.t == CLF_F64 ? clf_num(c, n->m.v[0]) : clf_int(c, (int64_t)n->m.v[0]);
}
static clf_mat *rec_fill(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)h;
    return clf_fill(c, n->m.t, n->m.rows, n->m.cols, n->num[0]);
}
static clf_mat *rec_seq(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)h;
    return clf_seq(c, n->num[0], n->num[0] + (double)(n->m.rows - 1) * n->num[1], n->num[1]);
}
static clf_mat *rec_rand(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)h;
    return clf_rand(c, n->m.t, n->m.rows, n->m.cols, n->num[0], n->num[1], (double)n->attr[0] / 100, (uint64_t)n->attr[1]);
}
static clf_mat *rec_cell(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_apply((clf_op_code)n->op, h[n->in[0]], n->nin > 1 ? h[n->in[1]] : NULL, n->nin > 2 ? h[n->in[2]] : NULL);
}
static clf_mat *rec_outer(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_outer((clf_op_code)n->op, h[n->in[0]], h[n->in[1]]);
}
static clf_mat *rec_cast(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_cast(h[n->in[0]], n->m.t);
}
static clf_mat *rec_form(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return n->m.scalar ? clf_as_scalar(h[n->in[0]]) : clf_as_matrix(h[n->in[0]]);
}
static clf_mat *rec_fold(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_fold((clf_fold_code)n->op, (clf_dir)n->attr[0], h[n->in[0]]);
}
static clf_mat *rec_cum(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_cum((clf_fold_code)n->op, h[n->in[0]]);
}
static clf_mat *rec_index(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_index(h[n->in[0]], n->attr[0], n->attr[1], n->attr[2], n->attr[3]);
}
static clf_mat *rec_transpose(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_t(h[n->in[0]]);
}
static clf_mat *rec_cbind(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_cbind(h[n->in[0]], h[n->in[1]]);
}
static clf_mat *rec_rbind(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_rbind(h[n->in[0]], h[n->in[1]]);
}
static clf_mat *rec_product(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_matmul(h[n->in[0]], h[n->in[1]]);
}
static clf_mat *rec_diag(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_diag(h[n->in[0]]);
}
static clf_mat *rec_rev(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_rev(h[n->in[0]]);
}
static clf_mat *rec_reshape(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_reshape(h[n->in[0]], n->m.rows, n->m.cols);
}
static clf_mat *rec_order(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_order(h[n->in[0]], n->attr[0], n->attr[1] != 0, n->attr[2] != 0);
}

static clf_mat *(*const record[RP_KINDS])(clf_ctx *c, const rp_node *n, clf_mat **h) = {
    [RP_LEAF] = rec_leaf,           [RP_NUMBER] = rec_number, [RP_FILL] = rec_fill,       [RP_SEQ] = rec_seq,
    [RP_RAND] = rec_rand,           [RP_CELL] = rec_cell,     [RP_OUTER] = rec_outer,     [RP_CAST] = rec_cast,
    [RP_FORM] = rec_form,           [RP_FOLD] = rec_fold,     [RP_CUM] = rec_cum,         [RP_INDEX] = rec_index,
    [RP_TRANSPOSE] = rec_transpose, [RP_CBIND] = rec_cbind,   [RP_RBIND] = rec_rbind,     [RP_PRODUCT] = rec_product,
    [RP_DIAG] = rec_diag,           [RP_REV] = rec_rev,       [RP_RESHAPE] = rec_reshape, [RP_ORDER] = rec_order,
};

void rp_record(const rp_program *p, clf_ctx *c, clf_mat **handle) {
    for (int i = 0; i < p->n; i++) handle[i] = record[p->node[i].kind](c, &p->node[i], handle);
}

/* A sparse parameter for a sparse leaf: parameters decide what zeros mean. */
static clf_mat *param_for(clf_ctx *c, const rp_node *x) {
    if (!rp_sparse_leaf(x)) return clf_param(c, x->m.t, x->m.rows, x->m.cols, x->m.scalar);
    return clf_param_sparse(c, x->m.t, x->m.rows, x->m.cols, rp_stored_count(&x->m, rp_doors[x->attr[0]].zeros));
}

/* Beside sparse leaves of reals numbers stay: whether X > 1 keeps zeros follows from the number. */
int rp_record_fn(const rp_program *p, clf_ctx *c, clf_mat **handle, clf_mat **param, clf_mat **arg) {
    int n = 0;
    bool numbers = p->domain != RP_REAL || !rp_sparse(p);
    for (int i = 0; i < p->n; i++) {
        const rp_node *x = &p->node[i];
        handle[i] = NULL;
        if (x->kind == RP_LEAF || (x->kind == RP_NUMBER && numbers)) {
            arg[n] = record[x->kind](c, x, handle);
            handle[i] = param[n++] = param_for(c, x);
        } else
            handle[i] = record[x->kind](c, x, handle);
    }
    return n;
}

/* ---- comparing ---- */

static double load(const void *data, int64_t i, clf_dtype t) {
    switch (t) {
    case CLF_F32: return (double)((const float *)data)[i];
    case CLF_F64: return ((const double *)data)[i];
    case CLF_I32: return (double)((const int32_t *)data)[i];
    case CLF_I64: return (double)((const int64_t *)data)[i];
    default: return (double)((const uint8_t *)data)[i];
    }
}

int64_t rp_compare(const rp_program *p, int i, clf_mat *h) {
    const rp_matrix *want = &p->node[i].m;
    int64_t rows, cols;
    clf_dtype t;
    bool scalar;
    const void *data;
    if (clf_info(h, &rows, &cols, &t, &scalar) != CLF_OK || rows != want->rows || cols != want->cols || t != want->t ||
        scalar != want->scalar)
        return -2;
    if (clf_data(h, &data) != CLF_OK) return -2;
    for (int64_t k = 0; want->v && k < rp_count(want); k++) {
        double x = load(data, k, t);
        if (x != want->v[k] && !(isnan(x) && isnan(want->v[k]))) return k;
    }
    return -1;
}
