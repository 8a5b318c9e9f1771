/* SPDX-License-Identifier: Apache-2.0
 * Random programs: generating, recording, comparing, printing. A kind of node is one row of `kinds`: how it is made, recorded and
 * printed. */
#include "tests/support/random_program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random_make.h"

/* ---- recording ---- */

static void store(const rp_matrix *m, void *out) {
    for (int64_t i = 0; i < rp_count(m); i++) switch (m->t) {
        case CLF_F32: ((float *)out)[i] = (float)m->v[i]; break;
        case CLF_F64: ((double *)out)[i] = m->v[i]; break;
        case CLF_I32: ((int32_t *)out)[i] = (int32_t)m->v[i]; break;
        case CLF_I64: ((int64_t *)out)[i] = (int64_t)m->v[i]; break;
        case CLF_U8: ((uint8_t *)out)[i] = (uint8_t)m->v[i]; break;
        }
}

static clf_mat *rec_leaf(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)h;
    double *data = calloc((size_t)rp_count(&n->m) + 1, sizeof *data);
    store(&n->m, data);
    clf_mat *m = clf_matrix(c, n->m.t, n->m.rows, n->m.cols, data);
    free(data);
    return m;
}
static clf_mat *rec_number(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)h;
    return n->m.t == CLF_F64 ? clf_num(c, n->m.v[0]) : clf_int(c, (int64_t)n->m.v[0]);
}
static clf_mat *rec_fill(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)h;
    return clf_fill(c, n->m.t, n->m.rows, n->m.cols, (double)n->attr[0]);
}
static clf_mat *rec_seq(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)h;
    return clf_seq(c, (double)n->attr[0], (double)(n->attr[0] + (n->m.rows - 1) * n->attr[1]), (double)n->attr[1]);
}
static clf_mat *rec_cell(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_apply((clf_op_code)rp_cells[n->op].op, h[n->in[0]], n->nin > 1 ? h[n->in[1]] : NULL, n->nin > 2 ? h[n->in[2]] : NULL);
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
static clf_mat *rec_index(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_index(h[n->in[0]], n->attr[0], n->attr[1], n->attr[2], n->attr[3]);
}
static clf_mat *rec_transpose(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_t(h[n->in[0]]);
}
static clf_mat *rec_bind(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return n->attr[0] ? clf_cbind(h[n->in[0]], h[n->in[1]]) : clf_rbind(h[n->in[0]], h[n->in[1]]);
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
static clf_mat *rec_cum(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_cum((clf_fold_code)n->op, h[n->in[0]]);
}

static const struct {
    const char *name;
    int weight;
    bool fuses;
    bool (*make)(rp_gen *g, rp_node *n);
    clf_mat *(*record)(clf_ctx *c, const rp_node *n, clf_mat **h);
} kinds[] = {
    {"leaf", 6, true, rp_make_leaf, rec_leaf},
    {"number", 3, true, rp_make_number, rec_number},
    {"fill", 1, false, rp_make_fill, rec_fill},
    {"seq", 1, false, rp_make_seq, rec_seq},
    {"", 40, true, rp_make_cell, rec_cell},
    {"cast", 4, true, rp_make_cast, rec_cast},
    {"as.scalar/as.matrix", 3, true, rp_make_form, rec_form},
    {"fold", 12, true, rp_make_fold, rec_fold},
    {"index", 5, false, rp_make_index, rec_index},
    {"t", 4, false, rp_make_transpose, rec_transpose},
    {"bind", 4, false, rp_make_bind, rec_bind},
    {"%*%", 5, false, rp_make_product, rec_product},
    {"diag", 1, false, rp_make_diag, rec_diag},
    {"rev", 1, false, rp_make_rev, rec_rev},
    {"matrix", 2, false, rp_make_reshape, rec_reshape},
    {"cum", 2, false, rp_make_cum, rec_cum},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int random_kind(rp_gen *g) {
    int total = 0, at_weight;
    for (int k = 0; k < KINDS; k++) total += kinds[k].weight;
    for (;;) {
        at_weight = rp_pick(g, total);
        for (int k = 0; k < KINDS; k++) {
            at_weight -= kinds[k].weight;
            if (at_weight >= 0) continue;
            if (g->p->n < 2) return 0; /* leaves first */
            if (kinds[k].fuses || !g->o->cells_only) return k;
            break;
        }
    }
}

void rp_generate(rp_program *p, uint64_t seed, const rp_options *o) {
    memset(p, 0, sizeof *p);
    p->seed = seed;
    rp_gen g = {p, o, seed * UINT64_C(0x9E3779B97F4A7C15) + 12345};
    for (int tries = 0; p->n < o->nodes && tries < 400 * o->nodes; tries++) {
        rp_node *n = &p->node[p->n];
        memset(n, 0, sizeof *n);
        n->kind = random_kind(&g);
        if (kinds[n->kind].make(&g, n))
            p->n++;
        else
            free(n->m.v);
    }
    p->root[p->nroot++] = p->n - 1;
    while (rp_pick(&g, 2) && p->nroot < 5) p->root[p->nroot++] = rp_pick(&g, p->n);
    if (o->cells_only)
        for (int i = 0; i < p->n; i += 3) p->root[p->nroot++] = i;
}

void rp_release(rp_program *p) {
    for (int i = 0; i < p->n; i++) free(p->node[i].m.v);
    p->n = 0;
}

void rp_record(const rp_program *p, clf_ctx *c, clf_mat **handle) {
    for (int i = 0; i < p->n; i++) handle[i] = kinds[p->node[i].kind].record(c, &p->node[i], handle);
}

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
    for (int64_t k = 0; k < rp_count(want); k++)
        if (load(data, k, t) != want->v[k]) return k;
    return -1;
}

void rp_print(const rp_program *p) {
    static const char *const way[] = {"all", "rows", "cols"};
    printf("    seed %" PRIu64 "\n", p->seed);
    for (int i = 0; i < p->n; i++) {
        const rp_node *n = &p->node[i];
        printf("    n%d = %s%s", i, kinds[n->kind].name, kinds[n->kind].make == rp_make_cell ? rp_cells[n->op].name : "");
        if (kinds[n->kind].make == rp_make_fold || kinds[n->kind].make == rp_make_cum) printf(" %d %s", n->op, way[n->attr[0]]);
        printf("(");
        for (int k = 0; k < n->nin; k++) printf("%sn%d", k ? ", " : "", n->in[k]);
        if (kinds[n->kind].make == rp_make_index)
            printf(", %" PRId64 ":%" PRId64 ", %" PRId64 ":%" PRId64, n->attr[0], n->attr[1], n->attr[2], n->attr[3]);
        printf(")  # %s%s %" PRId64 "x%" PRId64 "\n", clf_dtype_name(n->m.t), n->m.scalar ? " scalar" : "", n->m.rows, n->m.cols);
    }
    printf("    roots");
    for (int r = 0; r < p->nroot; r++) printf(" n%d", p->root[r]);
    printf("\n");
}
