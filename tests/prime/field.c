/* SPDX-License-Identifier: Apache-2.0
 * The interpreter of field.h: one function per kind of node, reached by a table. Cells are in [0, prime). */
#include "tests/prime/field.h"

#include <stdlib.h>
#include <string.h>

/* One node on its way: its operands and where its cells go. */
typedef struct at {
    const field_run *r;
    const rp_node *n;
    const rp_matrix *x[2];
    const uint64_t *a[2];
    double d[2];
    uint64_t *out;
} at;

static uint64_t add(const field_run *r, uint64_t a, uint64_t b) { return (a + b) % r->prime; }
static uint64_t sub(const field_run *r, uint64_t a, uint64_t b) { return (a + r->prime - b) % r->prime; }
static uint64_t mul(const field_run *r, uint64_t a, uint64_t b) { return a * b % r->prime; }

static const uint64_t *cell_of(const rp_matrix *m, const uint64_t *v, int64_t i, int64_t j) {
    return v + (m->rows == 1 ? 0 : i) * m->cols + (m->cols == 1 ? 0 : j);
}

/* ---- sources: whole numbers, maybe not reduced ---- */

static bool source(at *s, double *degree) {
    for (int64_t i = 0; i < rp_count(&s->n->m); i++) {
        double v = s->n->m.v[i];
        if (v < 0 || v != (double)(uint64_t)v) return false;
        s->out[i] = (uint64_t)v % s->r->prime;
    }
    *degree = s->n->kind == RP_LEAF;
    return true;
}

/* ---- cells ---- */

static bool apply(const at *s, uint64_t a, uint64_t b, uint64_t *out) {
    switch (s->n->op) {
    case CLF_ADD: *out = add(s->r, a, b); return true;
    case CLF_SUB: *out = sub(s->r, a, b); return true;
    case CLF_MUL: *out = mul(s->r, a, b); return true;
    case CLF_NEG: *out = sub(s->r, 0, a); return true;
    case CLF_SQR: *out = mul(s->r, a, a); return true;
    default: return false;
    }
}

static double grown(int op, double a, double b) {
    if (op == CLF_MUL) return a + b;
    if (op == CLF_SQR) return 2 * a;
    return a > b ? a : b;
}

static bool each_cell(at *s, double *degree) {
    const rp_matrix *m = &s->n->m;
    int k = s->n->nin;
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < m->cols; j++) {
            uint64_t a = *cell_of(s->x[0], s->a[0], i, j), b = k > 1 ? *cell_of(s->x[1], s->a[1], i, j) : 0;
            if (!apply(s, a, b, &s->out[i * m->cols + j])) return false;
        }
    *degree = grown(s->n->op, s->d[0], k > 1 ? s->d[1] : 0);
    return true;
}

static bool outer(at *s, double *degree) {
    const rp_matrix *m = &s->n->m;
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < m->cols; j++)
            if (!apply(s, s->a[0][i], s->a[1][j], &s->out[i * m->cols + j])) return false;
    *degree = grown(s->n->op, s->d[0], s->d[1]);
    return true;
}

/* ---- folds ---- */

static uint64_t folded(const at *s, const uint64_t *v, int64_t n, int64_t stride) {
    const field_run *r = s->r;
    uint64_t sum = 0, squares = 0, product = 1 % r->prime;
    for (int64_t i = 0; i < n; i++, v += stride) {
        sum = add(r, sum, *v);
        squares = add(r, squares, mul(r, *v, *v));
        product = mul(r, product, *v);
    }
    if (s->n->op == CLF_FOLD_CODE_SUMSQ && r->plant == FIELD_SQUARE_LATE) return mul(r, sum, sum);
    return s->n->op == CLF_FOLD_CODE_SUM ? sum : s->n->op == CLF_FOLD_CODE_SUMSQ ? squares : product;
}

static bool fold(at *s, double *degree) {
    const rp_matrix *x = s->x[0];
    int op = s->n->op, way = (int)s->n->attr[0];
    int64_t n = way == CLF_ALL ? rp_count(x) : way == CLF_ROWS ? x->cols : x->rows;
    if (op != CLF_FOLD_CODE_SUM && op != CLF_FOLD_CODE_SUMSQ && op != CLF_FOLD_CODE_PROD) return false;
    for (int64_t i = 0; i < rp_count(&s->n->m); i++)
        s->out[i] = folded(s, s->a[0] + (way == CLF_ROWS ? i * x->cols : i), n, way == CLF_COLS ? x->cols : 1);
    *degree = op == CLF_FOLD_CODE_SUM ? s->d[0] : op == CLF_FOLD_CODE_SUMSQ ? 2 * s->d[0] : (double)n * s->d[0];
    return true;
}

static bool product(at *s, double *degree) {
    const rp_matrix *a = s->x[0], *b = s->x[1];
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < b->cols; j++) {
            uint64_t sum = 0;
            for (int64_t k = 0; k < a->cols; k++) sum = add(s->r, sum, mul(s->r, s->a[0][i * a->cols + k], s->a[1][k * b->cols + j]));
            s->out[i * b->cols + j] = sum;
        }
    *degree = s->d[0] + s->d[1];
    return true;
}

/* ---- structure: cells that only move ---- */

static bool same(at *s, double *degree) {
    memcpy(s->out, s->a[0], (size_t)rp_count(&s->n->m) * sizeof *s->out);
    *degree = s->d[0];
    return true;
}

/* Where cell (i, j) of the result comes from: the number of the operand and its cell there, or -1 for a zero. */
typedef int64_t origin(const at *s, int64_t i, int64_t j, int *from);

static int64_t from_index(const at *s, int64_t i, int64_t j, int *from) {
    (void)from;
    return (i + s->n->attr[0] - 1) * s->x[0]->cols + j + s->n->attr[2] - 1;
}
static int64_t from_transpose(const at *s, int64_t i, int64_t j, int *from) {
    (void)from;
    return j * s->x[0]->cols + i;
}
static int64_t from_cbind(const at *s, int64_t i, int64_t j, int *from) {
    *from = j >= s->x[0]->cols;
    return *from ? i * s->x[1]->cols + j - s->x[0]->cols : i * s->x[0]->cols + j;
}
static int64_t from_rbind(const at *s, int64_t i, int64_t j, int *from) {
    *from = i >= s->x[0]->rows;
    return (*from ? i - s->x[0]->rows : i) * s->n->m.cols + j;
}
static int64_t from_rev(const at *s, int64_t i, int64_t j, int *from) {
    (void)from;
    return (s->n->m.rows - 1 - i) * s->n->m.cols + j;
}
static int64_t from_diag(const at *s, int64_t i, int64_t j, int *from) {
    (void)from;
    if (s->x[0]->cols != 1) return i * s->x[0]->cols + i;
    return i == j ? i : -1;
}

static bool moved(at *s, origin *f, double *degree) {
    const rp_matrix *m = &s->n->m;
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t j = 0; j < m->cols; j++) {
            int from = 0;
            int64_t cell = f(s, i, j, &from);
            s->out[i * m->cols + j] = cell < 0 ? 0 : s->a[from][cell];
        }
    *degree = s->n->nin > 1 && s->d[1] > s->d[0] ? s->d[1] : s->d[0];
    return true;
}

static const struct {
    bool (*eval)(at *s, double *degree);
    origin *move;
} kinds[RP_KINDS] = {
    [RP_LEAF] = {source, NULL},      [RP_NUMBER] = {source, NULL},    [RP_FILL] = {source, NULL},
    [RP_SEQ] = {source, NULL},       [RP_CELL] = {each_cell, NULL},   [RP_OUTER] = {outer, NULL},
    [RP_CAST] = {same, NULL},        [RP_FORM] = {same, NULL},        [RP_FOLD] = {fold, NULL},
    [RP_INDEX] = {NULL, from_index}, [RP_CBIND] = {NULL, from_cbind}, [RP_TRANSPOSE] = {NULL, from_transpose},
    [RP_RBIND] = {NULL, from_rbind}, [RP_PRODUCT] = {product, NULL},  [RP_DIAG] = {NULL, from_diag},
    [RP_REV] = {NULL, from_rev},     [RP_RESHAPE] = {same, NULL},
};

/* ---- planted errors: a node read as another ---- */

static const rp_node *made_by(const field_run *r, int i, int op) {
    const rp_node *n = &r->p->node[i];
    return n->kind == RP_CELL && n->op == op ? n : NULL;
}

/* Cell (i, j) of what node k holds. */
static uint64_t value(const field_run *r, int k, int64_t i, int64_t j) { return *cell_of(&r->p->node[k].m, r->cell[k], i, j); }

/* n = a * b + c, the product on either side. */
static bool plant_distribute(field_run *r, const rp_node *n, uint64_t *out) {
    if (n->kind != RP_CELL || n->op != CLF_ADD) return false;
    int left = made_by(r, n->in[0], CLF_MUL) ? 0 : 1;
    const rp_node *ab = made_by(r, n->in[left], CLF_MUL);
    if (!ab) return false;
    for (int64_t i = 0; i < n->m.rows; i++)
        for (int64_t j = 0; j < n->m.cols; j++)
            out[i * n->m.cols + j] = mul(r, value(r, ab->in[0], i, j), add(r, value(r, ab->in[1], i, j), value(r, n->in[1 - left], i, j)));
    return true;
}

/* n = sum(a * b) over all cells. */
static bool plant_separate(field_run *r, const rp_node *n, uint64_t *out) {
    const rp_node *ab = n->kind == RP_FOLD && n->op == CLF_FOLD_CODE_SUM && n->attr[0] == CLF_ALL ? made_by(r, n->in[0], CLF_MUL) : NULL;
    uint64_t sum[2] = {0, 0};
    if (!ab) return false;
    for (int64_t i = 0; i < ab->m.rows; i++)
        for (int64_t j = 0; j < ab->m.cols; j++)
            for (int k = 0; k < 2; k++) sum[k] = add(r, sum[k], value(r, ab->in[k], i, j));
    out[0] = mul(r, sum[0], sum[1]);
    return true;
}

/* n = -(a - b). */
static bool plant_sign(field_run *r, const rp_node *n, uint64_t *out) {
    if (n->kind != RP_CELL || n->op != CLF_NEG || !made_by(r, n->in[0], CLF_SUB)) return false;
    memcpy(out, r->cell[n->in[0]], (size_t)rp_count(&n->m) * sizeof *out);
    return true;
}

static bool planted(field_run *r, const rp_node *n, uint64_t *out) {
    switch (r->plant) {
    case FIELD_MUL_OF_SUM: return plant_distribute(r, n, out);
    case FIELD_SUM_OF_MUL: return plant_separate(r, n, out);
    case FIELD_SIGN_LOST: return plant_sign(r, n, out);
    default: return false;
    }
}

/* ---- the whole program ---- */

static bool eval_node(field_run *r, int i) {
    const rp_node *n = &r->p->node[i];
    at s = {.r = r, .n = n, .out = calloc((size_t)rp_count(&n->m) + 1, sizeof(uint64_t))};
    r->cell[i] = s.out;
    if (!s.out || n->nin > 2 || n->m.t != CLF_F64) return false;
    for (int k = 0; k < n->nin; k++) {
        s.x[k] = &r->p->node[n->in[k]].m;
        s.a[k] = r->cell[n->in[k]];
        s.d[k] = r->degree[n->in[k]];
    }
    bool known =
        kinds[n->kind].move ? moved(&s, kinds[n->kind].move, &r->degree[i]) : kinds[n->kind].eval && kinds[n->kind].eval(&s, &r->degree[i]);
    if (known) planted(r, n, s.out);
    return known;
}

bool field_eval(field_run *r, const rp_program *p, uint64_t prime, field_plant plant) {
    *r = (field_run){.p = p, .prime = prime, .plant = plant};
    for (int i = 0; i < p->n; i++)
        if (!eval_node(r, i)) {
            field_release(r);
            return false;
        }
    return true;
}

void field_release(field_run *r) {
    for (int i = 0; r->p && i < r->p->n; i++) {
        free(r->cell[i]);
        r->cell[i] = NULL;
    }
}

int64_t field_compare(const field_run *r, int i, clf_mat *m) {
    const rp_matrix *want = &r->p->node[i].m;
    int64_t rows, cols;
    clf_dtype t;
    bool scalar;
    const void *data;
    if (clf_info(m, &rows, &cols, &t, &scalar) != CLF_OK || rows != want->rows || cols != want->cols || t != want->t ||
        scalar != want->scalar || clf_data(m, &data) != CLF_OK)
        return -2;
    for (int64_t k = 0; k < rp_count(want); k++) {
        double v = (double)r->cell[i][k];
        if (memcmp((const char *)data + (size_t)k * sizeof v, &v, sizeof v) != 0) return k;
    }
    return -1;
}

double field_degree(const field_run *r) {
    double most = 0;
    for (int i = 0; i < r->p->nroot; i++)
        if (r->degree[r->p->root[i]] > most) most = r->degree[r->p->root[i]];
    return most;
}
