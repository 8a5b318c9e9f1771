/* SPDX-License-Identifier: Apache-2.0
 * Sparse leaves of random programs: where their entries stand, how they enter the library, which zeros they store; and what that means for
 * the rest of a program. Zeros of a sparse leaf annihilate, so the sign of a zero that comes from one is open: plans may skip what would
 * have made it negative. Reals therefore divide by no such zero (rp_open_signs), and zeros are compared without their sign. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random_make.h"

bool rp_sparse_leaf(const rp_node *n) { return n->kind == RP_LEAF && n->attr[0] >= RP_DENSE_DOORS; }

bool rp_sparse(const rp_program *p) {
    for (int i = 0; i < p->n; i++)
        if (rp_sparse_leaf(&p->node[i])) return true;
    return false;
}

/* ---- cells ---- */

/* Where entries may stand: anywhere, not in the first and last rows, half of them in one row. */
void rp_thin_out(rp_gen *g, rp_matrix *m) {
    static const double densities[] = {0, 0.01, 0.1, 0.1, 0.5, 0.5};
    double density = densities[rp_pick(g, 6)];
    int way = rp_pick(g, 4);
    int64_t full = m->rows ? rp_pick(g, (int)m->rows) : 0;
    for (int64_t i = 0; i < m->rows; i++) {
        bool end = way == 1 && (i < (m->rows + 3) / 4 || i >= m->rows - m->rows / 4);
        double here = end ? 0 : way == 2 ? (i == full ? 0.9 : density / 4) : density;
        for (int64_t j = 0; j < m->cols; j++)
            if (!(rp_uniform(g) < here)) m->v[i * m->cols + j] = 0;
    }
}

/* ---- doors ---- */

bool rp_stored(const rp_matrix *m, int64_t k, bool zeros) { return m->v[k] != 0 || (zeros && (uint64_t)k * 2654435761U % 7 < 2); }

int64_t rp_stored_count(const rp_matrix *m, bool zeros) {
    int64_t n = 0;
    for (int64_t k = 0; k < rp_count(m); k++) n += rp_stored(m, k, zeros);
    return n;
}

typedef struct arrays {
    int64_t nnz, *ptr;
    int32_t *ptr4, *row, *idx;
    void *val;
} arrays;

static void forget(void *user, void *values) {
    arrays *a = user;
    (void)values;
    free(a->ptr);
    free(a->ptr4);
    free(a->row);
    free(a->idx);
    free(a->val);
    free(a);
}

/* Entries in the order of rows or of columns. */
static arrays *arrays_of(const rp_matrix *m, bool by_cols, bool zeros) {
    int64_t n = rp_stored_count(m, zeros), outer = by_cols ? m->cols : m->rows, inner = by_cols ? m->rows : m->cols;
    arrays *a = calloc(1, sizeof *a);
    rp_matrix kept = {.t = m->t, .rows = n, .cols = 1, .v = calloc((size_t)n + 1, sizeof *kept.v)};
    a->ptr = calloc((size_t)outer + 1, sizeof *a->ptr);
    a->ptr4 = calloc((size_t)outer + 1, sizeof *a->ptr4);
    a->row = calloc((size_t)n + 1, sizeof *a->row);
    a->idx = calloc((size_t)n + 1, sizeof *a->idx);
    a->val = calloc((size_t)n + 1, sizeof(double));
    for (int64_t i = 0; i < outer; i++) {
        for (int64_t j = 0; j < inner; j++) {
            int64_t k = by_cols ? j * m->cols + i : i * m->cols + j;
            if (!rp_stored(m, k, zeros)) continue;
            a->row[a->nnz] = (int32_t)i;
            a->idx[a->nnz] = (int32_t)j;
            kept.v[a->nnz++] = m->v[k];
        }
        a->ptr[i + 1] = a->nnz;
        a->ptr4[i + 1] = (int32_t)a->nnz;
    }
    rp_store(&kept, a->val);
    free(kept.v);
    return a;
}

static clf_mat *open_csr(clf_ctx *c, const rp_matrix *m, bool zeros) {
    arrays *a = arrays_of(m, false, zeros);
    clf_mat *h = clf_sparse_csr(c, m->t, m->rows, m->cols, a->nnz, a->ptr, a->idx, a->val, NULL);
    forget(a, NULL);
    return h;
}

clf_mat *rp_open_csr(clf_ctx *c, const rp_matrix *m) { return open_csr(c, m, false); }
clf_mat *rp_open_zeros(clf_ctx *c, const rp_matrix *m) { return open_csr(c, m, true); }

clf_mat *rp_open_lent(clf_ctx *c, const rp_matrix *m) {
    arrays *a = arrays_of(m, false, false);
    clf_sparse_options o = {.struct_size = sizeof o, .offset_bytes = 4, .borrow = true, .release = forget, .user = a};
    clf_mat *h = clf_sparse_csr(c, m->t, m->rows, m->cols, a->nnz, a->ptr4, a->idx, a->val, &o);
    if (clf_status_of(h, NULL) != CLF_OK) forget(a, NULL);
    return h;
}

clf_mat *rp_open_csc(clf_ctx *c, const rp_matrix *m) {
    arrays *a = arrays_of(m, true, false);
    clf_mat *h = clf_sparse_csc(c, m->t, m->rows, m->cols, a->nnz, a->ptr, a->idx, a->val, NULL);
    forget(a, NULL);
    return h;
}

/* Columns first: triples need no order. */
clf_mat *rp_open_coo(clf_ctx *c, const rp_matrix *m) {
    arrays *a = arrays_of(m, true, true);
    clf_mat *h = clf_sparse_coo(c, m->t, m->rows, m->cols, a->nnz, a->idx, a->row, a->val, NULL);
    forget(a, NULL);
    return h;
}

/* ---- what follows ---- */

/* Cell operators that are 0 where a set of operands is, whatever the others: for gating only, the full rule is tests/oracle/dd_zeros.c. */
static bool keeps_zeros(const rp_node *n, const bool *sure) {
    switch (n->op) {
    case CLF_MUL:
    case CLF_AND: return sure[n->in[0]] || sure[n->in[1]];
    case CLF_ADD:
    case CLF_SUB:
    case CLF_OR:
    case CLF_XOR: return sure[n->in[0]] && sure[n->in[1]];
    case CLF_DIV:
    case CLF_NEG:
    case CLF_ABS:
    case CLF_SIGN:
    case CLF_SQR: return sure[n->in[0]];
    default: return false;
    }
}

/* Nodes whose zeros annihilate for sure. */
static void sure_zeros(const rp_program *p, int upto, bool *sure) {
    for (int i = 0; i < upto; i++) {
        const rp_node *n = &p->node[i];
        bool all = n->nin > 0;
        for (int k = 0; k < n->nin; k++) all = all && sure[n->in[k]];
        switch (n->kind) {
        case RP_LEAF: sure[i] = rp_sparse_leaf(n); break;
        case RP_CELL:
        case RP_OUTER: sure[i] = keeps_zeros(n, sure); break;
        case RP_CAST:
        case RP_FORM:
        case RP_INDEX:
        case RP_TRANSPOSE:
        case RP_CBIND:
        case RP_RBIND:
        case RP_DIAG:
        case RP_REV: sure[i] = all; break;
        default: sure[i] = false;
        }
    }
}

/* Nodes whose zeros may annihilate: not those that surely have ordinary ones. */
static void may_annihilate(const rp_program *p, int upto, bool *open) {
    for (int i = 0; i < upto; i++) {
        const rp_node *n = &p->node[i];
        bool ordinary = n->kind == RP_FOLD || n->kind == RP_PRODUCT || n->kind == RP_CUM;
        open[i] = rp_sparse_leaf(n);
        for (int k = 0; k < n->nin && !ordinary; k++) open[i] = open[i] || open[n->in[k]];
    }
}

bool rp_one_annihilates(const rp_program *p, const rp_node *product) {
    bool sure[RP_NODES], open[RP_NODES];
    int upto = p->n < RP_NODES ? p->n : RP_NODES;
    sure_zeros(p, upto, sure);
    may_annihilate(p, upto, open);
    return (sure[product->in[0]] && !open[product->in[1]]) || (sure[product->in[1]] && !open[product->in[0]]);
}

/* Sums start from +0 and never give -0; what chooses or multiplies keeps the sign it meets. */
static bool passes_sign(const rp_node *n) {
    if (!rp_real(n->m.t) || n->kind == RP_PRODUCT) return false;
    if (n->kind == RP_FOLD) return n->op == CLF_FOLD_CODE_MIN || n->op == CLF_FOLD_CODE_MAX || n->op == CLF_FOLD_CODE_PROD;
    return !((n->kind == RP_CELL || n->kind == RP_OUTER) && (n->op == CLF_ABS || n->op == CLF_SQR));
}

void rp_open_signs(const rp_program *p, int upto, bool *open) {
    for (int i = 0; i < upto; i++) {
        const rp_node *n = &p->node[i];
        open[i] = rp_sparse_leaf(n);
        for (int k = 0; k < n->nin; k++) open[i] = open[i] || (open[n->in[k]] && passes_sign(n));
    }
}

/* Operands whose zeros' sign makes more than a zero's sign. */
static unsigned sign_matters(const rp_node *n) {
    if (n->kind != RP_CELL && n->kind != RP_OUTER) return 0;
    switch (n->op) {
    case CLF_DIV:
    case CLF_MOD:
    case CLF_IDIV: return 2;
    case CLF_POW: return 1;
    case CLF_ATAN2:
    case CLF_LOGB: return 3;
    default: return 0;
    }
}

bool rp_signs_fit(const rp_program *p, const rp_node *n) {
    bool open[RP_NODES];
    unsigned matters = sign_matters(n);
    if (!matters) return true;
    rp_open_signs(p, p->n < RP_NODES ? p->n : RP_NODES, open);
    for (int k = 0; k < n->nin; k++)
        if ((matters >> k & 1) && open[n->in[k]]) return false;
    return true;
}

bool rp_same_cells(const rp_matrix *m, const void *a, const void *b, bool signs) {
    size_t each = clf_dtype_bytes(m->t), n = (size_t)rp_count(m);
    if (n == 0 || memcmp(a, b, n * each) == 0) return true;
    for (size_t i = 0; i < n; i++) {
        const char *x = (const char *)a + i * each, *y = (const char *)b + i * each;
        double u = m->t == CLF_F32 ? (double)*(const float *)(const void *)x : m->t == CLF_F64 ? *(const double *)(const void *)x : 1;
        double v = m->t == CLF_F32 ? (double)*(const float *)(const void *)y : m->t == CLF_F64 ? *(const double *)(const void *)y : 1;
        if ((isnan(u) && isnan(v)) || (!signs && u == 0 && v == 0)) continue;
        if (memcmp(x, y, each) != 0) return false;
    }
    return true;
}
