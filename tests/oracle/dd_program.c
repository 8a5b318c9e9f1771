/* SPDX-License-Identifier: Apache-2.0
 * The interpreter: a kind of node is a function from its operands' cells. */
#include "tests/oracle/dd_program.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/random_make.h"

typedef struct frame {
    const rp_program *p;
    const dd_values *x;
    const rp_node *n;
    dd_cell *out;
} frame;

static const rp_matrix *shape(const frame *f, int k) { return &f->p->node[f->n->in[k]].m; }
static const dd_cell *cells(const frame *f, int k) { return f->x->cell[f->n->in[k]]; }

/* Operand k cast to t: memory of its own. NULL without memory. */
static dd_cell *converted(const frame *f, int k, clf_dtype t) {
    const rp_matrix *m = shape(f, k);
    dd_cell *x = malloc(((size_t)rp_count(m) + 1) * sizeof *x);
    for (int64_t i = 0; x && i < rp_count(m); i++) x[i] = dd_cast(cells(f, k)[i], m->t, t);
    return x;
}

/* ---- sources ---- */

static bool from_source(const frame *f) {
    const rp_matrix *m = &f->n->m;
    for (int64_t i = 0; i < rp_count(m); i++) f->out[i] = dd_real(m->t) ? dd_cell_of(m->v[i]) : dd_cell_whole((dd_wide)m->v[i]);
    return true;
}

/* ---- cell operators ---- */

static int64_t place(const rp_matrix *m, int64_t i, int64_t j) { return (m->rows == 1 ? 0 : i) * m->cols + (m->cols == 1 ? 0 : j); }

/* A product is 0 where an operand with annihilating zeros is, a quotient where the dividend is. */
static dd_cell met(const frame *f, const dd_cell *x, dd_cell r) {
    int places = f->n->op == CLF_MUL ? 2 : f->n->op == CLF_DIV ? 1 : 0;
    for (int k = 0; k < places; k++) r = dd_annihilated(r, x[k], f->x->zeros[f->n->in[k]]);
    return r;
}

static bool from_cells(const frame *f) {
    const rp_matrix *m[3] = {NULL, NULL, NULL};
    bool choice = rp_rule_of(f->n->op) == RP_SELECT; /* its condition keeps its type */
    for (int k = 0; k < f->n->nin; k++) m[k] = shape(f, k);
    clf_dtype t = rp_op_type(f->n->op, f->n->nin, m);
    for (int64_t i = 0; i < f->n->m.rows; i++)
        for (int64_t j = 0; j < f->n->m.cols; j++) {
            dd_cell x[3] = {{.kind = DD_KNOWN}, {.kind = DD_KNOWN}, {.kind = DD_KNOWN}};
            for (int k = 0; k < f->n->nin; k++) {
                dd_cell c = cells(f, k)[place(m[k], i, j)];
                x[k] = choice && k == 0 ? c : dd_cast(c, m[k]->t, t);
            }
            f->out[i * f->n->m.cols + j] = met(f, x, dd_op(f->n->op, t, x));
        }
    return true;
}

static bool from_outer(const frame *f) {
    const rp_matrix *m[2] = {shape(f, 0), shape(f, 1)};
    clf_dtype t = rp_op_type(f->n->op, 2, m);
    for (int64_t i = 0; i < f->n->m.rows; i++)
        for (int64_t j = 0; j < f->n->m.cols; j++) {
            dd_cell x[2] = {dd_cast(cells(f, 0)[i], m[0]->t, t), dd_cast(cells(f, 1)[j], m[1]->t, t)};
            f->out[i * f->n->m.cols + j] = met(f, x, dd_op(f->n->op, t, x));
        }
    return true;
}

static bool from_cast(const frame *f) { /* also as.scalar, as.matrix, matrix */
    const rp_matrix *m = shape(f, 0);
    for (int64_t i = 0; i < rp_count(m); i++) f->out[i] = dd_cast(cells(f, 0)[i], m->t, f->n->m.t);
    return true;
}

/* ---- folds ---- */

static bool from_fold(const frame *f) {
    const rp_matrix *m = shape(f, 0);
    clf_dtype t = rp_fold_value_type(f->n->op, m->t);
    dd_cell *x = converted(f, 0, t);
    bool rows = f->n->attr[0] == CLF_ROWS, cols = f->n->attr[0] == CLF_COLS;
    int64_t extent = rows ? m->cols : cols ? m->rows : rp_count(m), step = rows ? m->cols : 1;
    dd_tree tree = cols ? dd_tree_cols(t, m->rows, m->cols) : dd_tree_run(t, extent);
    if (f->x->sparse) tree = dd_tree_entries(tree, cols ? m->rows : 0, m->cols);
    for (int64_t i = 0; x && i < rp_count(&f->n->m); i++) f->out[i] = dd_fold(f->n->op, t, x + i * step, extent, cols ? m->cols : 1, tree);
    free(x);
    return x != NULL;
}

static bool from_cum(const frame *f) {
    const rp_matrix *m = &f->n->m;
    dd_cell *x = converted(f, 0, m->t);
    for (int64_t j = 0; x && j < m->cols; j++) dd_cumulate(f->n->op, m->t, x + j, f->out + j, m->rows, m->cols);
    free(x);
    return x != NULL;
}

static bool from_product(const frame *f) {
    const rp_matrix *a = shape(f, 0), *b = shape(f, 1);
    dd_cell *x = converted(f, 0, f->n->m.t), *y = converted(f, 1, f->n->m.t);
    dd_truth za = f->x->zeros[f->n->in[0]], zb = f->x->zeros[f->n->in[1]];
    for (int64_t i = 0; x && y && i < a->rows; i++)
        for (int64_t j = 0; j < b->cols; j++)
            f->out[i * b->cols + j] = dd_dot(f->n->m.t, x + i * a->cols, 1, y + j, b->cols, a->cols, za, zb);
    bool good = x && y;
    free(x);
    free(y);
    return good;
}

/* ---- data movement ---- */

static bool from_index(const frame *f) {
    const int64_t *a = f->n->attr, cols = shape(f, 0)->cols;
    for (int64_t i = 0; i < f->n->m.rows; i++)
        for (int64_t j = 0; j < f->n->m.cols; j++) f->out[i * f->n->m.cols + j] = cells(f, 0)[(i + a[0] - 1) * cols + j + a[2] - 1];
    return true;
}

static bool from_transpose(const frame *f) {
    for (int64_t i = 0; i < f->n->m.rows; i++)
        for (int64_t j = 0; j < f->n->m.cols; j++) f->out[i * f->n->m.cols + j] = cells(f, 0)[j * f->n->m.rows + i];
    return true;
}

static bool from_bind(const frame *f) {
    bool side = f->n->kind == RP_CBIND;
    for (int k = 0; k < 2; k++) {
        const rp_matrix *m = shape(f, k);
        int64_t down = k && !side ? shape(f, 0)->rows : 0, right = k && side ? shape(f, 0)->cols : 0;
        for (int64_t i = 0; i < m->rows; i++)
            for (int64_t j = 0; j < m->cols; j++)
                f->out[(i + down) * f->n->m.cols + j + right] = dd_cast(cells(f, k)[i * m->cols + j], m->t, f->n->m.t);
    }
    return true;
}

static bool from_diag(const frame *f) {
    const rp_matrix *m = shape(f, 0);
    bool column = m->cols == 1;
    dd_cell zero = {.kind = DD_KNOWN};
    for (int64_t i = 0; i < rp_count(&f->n->m); i++) f->out[i] = zero;
    for (int64_t i = 0; i < m->rows; i++) f->out[column ? i * m->rows + i : i] = cells(f, 0)[column ? i : i * m->cols + i];
    return true;
}

static bool from_rev(const frame *f) {
    const rp_matrix *m = shape(f, 0);
    for (int64_t i = 0; i < m->rows; i++)
        memcpy(f->out + i * m->cols, cells(f, 0) + (m->rows - 1 - i) * m->cols, (size_t)m->cols * sizeof *f->out);
    return true;
}

static bool (*const meaning[RP_KINDS])(const frame *f) = {
    [RP_LEAF] = from_source,  [RP_NUMBER] = from_source,
    [RP_FILL] = from_source,  [RP_SEQ] = from_source,
    [RP_RAND] = from_source,  [RP_CELL] = from_cells,
    [RP_OUTER] = from_outer,  [RP_CAST] = from_cast,
    [RP_FORM] = from_cast,    [RP_FOLD] = from_fold,
    [RP_CUM] = from_cum,      [RP_INDEX] = from_index,
    [RP_CBIND] = from_bind,   [RP_TRANSPOSE] = from_transpose,
    [RP_RBIND] = from_bind,   [RP_PRODUCT] = from_product,
    [RP_DIAG] = from_diag,    [RP_REV] = from_rev,
    [RP_RESHAPE] = from_cast,
};

/* ---- programs ---- */

static void mark(const rp_program *p, bool *needed) {
    for (int r = 0; r < p->nroot; r++) needed[p->root[r]] = true;
    for (int i = p->n - 1; i >= 0; i--)
        for (int k = 0; needed[i] && k < p->node[i].nin; k++) needed[p->node[i].in[k]] = true;
}

static void open_signs(const frame *f) {
    for (int64_t k = 0; k < rp_count(&f->n->m); k++) {
        dd_cell *c = &f->out[k];
        c->unsigned_zero = c->unsigned_zero || (c->kind == DD_KNOWN && c->e == 0 && c->v.hi == 0);
    }
}

bool dd_interpret(const rp_program *p, dd_values *out) {
    bool needed[RP_NODES] = {false};
    memset(out, 0, sizeof *out);
    mark(p, needed);
    out->sparse = rp_sparse(p);
    rp_open_signs(p, p->n, out->open);
    for (int i = 0; i < p->n; i++) {
        if (!needed[i]) continue;
        out->cell[i] = calloc((size_t)rp_count(&p->node[i].m) + 1, sizeof *out->cell[i]);
        frame f = {p, out, &p->node[i], out->cell[i]};
        if (!f.out || !meaning[f.n->kind] || !meaning[f.n->kind](&f)) return false;
        dd_zeros(p, out, i);
        if (out->open[i]) open_signs(&f);
    }
    return true;
}

void dd_release(dd_values *x) {
    for (int i = 0; i < RP_NODES; i++) free(x->cell[i]);
    memset(x, 0, sizeof *x);
}

dd_cell dd_load(const void *data, int64_t k, clf_dtype t) {
    switch (t) {
    case CLF_F32: return dd_cell_of((double)((const float *)data)[k]);
    case CLF_F64: return dd_cell_of(((const double *)data)[k]);
    case CLF_I32: return dd_cell_whole(((const int32_t *)data)[k]);
    case CLF_I64: return dd_cell_whole(((const int64_t *)data)[k]);
    default: return dd_cell_whole(((const uint8_t *)data)[k]);
    }
}

int64_t dd_check(const rp_program *p, const dd_values *x, int i, const void *data, dd_tally *tally) {
    const rp_matrix *m = &p->node[i].m;
    for (int64_t k = 0; k < rp_count(m); k++) {
        dd_cell want = x->cell[i][k], got = dd_load(data, k, m->t);
        tally->cells++;
        tally->known += want.kind != DD_UNKNOWN;
        tally->exact += dd_exact(want);
        tally->nans += want.kind == DD_NAN;
        if (!dd_agrees(want, got)) return k;
        if (want.kind == DD_KNOWN && want.e > 0) tally->worst = fmax(tally->worst, fabs(dd_sub(got.v, want.v).hi) / want.e);
    }
    return -1;
}
