/* SPDX-License-Identifier: Apache-2.0
 * The rest of the reference executor's FOLD sinks: what cells without entry add to what the stored entries gave (cplan.h, clf_sink).
 * Entries are counted from the matrix itself, apart from the loop that folds them. */
#include <inttypes.h>

#include "kernels-cl/ref_run.h"

/* The matrix and how its cells without entry are told apart. axis: the rest varies with it, -1 none. */
typedef struct rest {
    const clf_csr *m;
    int64_t rows;
    int axis, parent;
    clf_fold_id fold;
    clf_dtype value;
    int64_t *column; /* 2 a column: its entries, and its first row without one */
} rest;

static clf_status open_rest(clf_ref_job *r, const clf_sink *s, rest *t) {
    const clf_cplan *c = r->c;
    int entry = clf_ref_entry_of(c, clf_sink_loop(c, s));
    uint32_t axes = c->value[s->value[1]].axes;
    *t = (rest){.m = r->bind->in[c->access[c->axis[entry].owner].input],
                .axis = -1,
                .parent = c->axis[entry].parent,
                .fold = (clf_fold_id)s->fold,
                .value = clf_ref_type(r, s->value[0])};
    for (int a = 0; a < c->naxes; a++)
        if (axes >> a & 1u) t->axis = a;
    t->rows = r->n[t->parent];
    if (t->rows > t->m->rows) return clf_fail(r->err, CLF_E_SHAPE, "%" PRId64 " rows of a CSR matrix with %" PRId64, t->rows, t->m->rows);
    if (t->axis >= 0 && t->axis != t->parent && r->n[t->axis] != t->m->cols)
        return clf_fail(r->err, CLF_E_SHAPE, "%" PRId64 " values for the %" PRId64 " columns of a CSR matrix", r->n[t->axis], t->m->cols);
    return CLF_OK;
}

static clf_status count_columns(clf_ref_job *r, rest *t) {
    t->column = clf_mem_new(r->mem, (size_t)t->m->cols, 2 * sizeof *t->column);
    if (!t->column) return clf_fail(r->err, CLF_E_NOMEM, "no memory to count %" PRId64 " columns", t->m->cols);
    for (int64_t i = 0; i < t->rows; i++)
        for (int64_t e = t->m->ptr[i]; e < t->m->ptr[i + 1]; e++) {
            int64_t j = t->m->idx[e];
            if (j < 0 || j >= t->m->cols) return clf_fail(r->err, CLF_E_SHAPE, "column %" PRId64 " of %" PRId64, j, t->m->cols);
            t->column[2 * j]++;
            t->column[2 * j + 1] += t->column[2 * j + 1] == i;
        }
    return CLF_OK;
}

static void close_rest(clf_ref_job *r, rest *t) { clf_mem_free(r->mem, t->column, (size_t)t->m->cols, 2 * sizeof *t->column); }

/* Make the root frame what the rest needs, or again what the sink does. */
static void root_rest(clf_ref_job *r, const clf_sink *s) {
    const clf_sink only = {.value = {s->value[1], -1, -1, -1}, .key = {-1, -1}, .guard = -1, .order = -1};
    clf_ref_root(r, &only);
}

static clf_status value_at(clf_ref_job *r, const clf_sink *s, const rest *t, int64_t p, clf_slot *out) {
    if (t->axis >= 0) CLF_TRY(clf_ref_axis_set(r, t->axis, p));
    CLF_TRY(clf_ref_eval(r));
    *out = clf_ref_value(r, s->value[1]);
    return t->axis >= 0 ? clf_ref_axis_set(r, t->axis, -1) : CLF_OK;
}

/* The binary tree over rows or columns, by its carry stack. */
static clf_status whole_by_axis(clf_ref_job *r, const clf_sink *s, rest *t, clf_ref_state *missing, int64_t *n) {
    clf_ref_state stack[64];
    int top = 0;
    bool rows = t->axis == t->parent;
    int64_t extent = rows ? t->rows : t->m->cols;
    if (!rows) CLF_TRY(count_columns(r, t));
    *n = 0;
    for (int64_t p = 0; p < extent; p++) {
        clf_slot v;
        int64_t here = rows ? t->m->cols - (t->m->ptr[p + 1] - t->m->ptr[p]) : t->rows - t->column[2 * p];
        CLF_TRY(value_at(r, s, t, p, &v));
        clf_ref_repeat(t->fold, t->value, &stack[top++], v, here, 0);
        *n += here;
        for (int64_t k = p + 1; k % 2 == 0; k /= 2, top--) clf_ref_merge(t->fold, t->value, &stack[top - 2], &stack[top - 1]);
    }
    for (; top > 1; top--) clf_ref_merge(t->fold, t->value, &stack[top - 2], &stack[top - 1]);
    if (top) *missing = stack[0];
    return CLF_OK;
}

static clf_status whole(clf_ref_job *r, const clf_sink *s, rest *t, clf_ref_state *missing, int64_t *n) {
    clf_slot v;
    if (__builtin_mul_overflow(t->rows, t->m->cols, n)) return clf_fail(r->err, CLF_E_LIMIT, "the number of cells overflows");
    if (t->axis >= 0) return whole_by_axis(r, s, t, missing, n);
    *n -= t->m->ptr[t->rows] - t->m->ptr[0];
    CLF_TRY(value_at(r, s, t, 0, &v));
    clf_ref_repeat(t->fold, t->value, missing, v, *n, 0);
    return CLF_OK;
}

clf_status clf_ref_rest_whole(clf_ref_job *r, const clf_sink *s, clf_ref_state *missing, bool *some) {
    rest t;
    int64_t n = 0;
    CLF_TRY(open_rest(r, s, &t));
    root_rest(r, s);
    clf_status st = whole(r, s, &t, missing, &n);
    clf_ref_root(r, s);
    close_rest(r, &t);
    *some = n > 0;
    return st;
}

static bool stored(const clf_csr *m, int64_t i, int64_t j) {
    for (int64_t e = m->ptr[i]; e < m->ptr[i + 1]; e++)
        if (m->idx[e] == j) return true;
    return false;
}

/* What the cells without entry of column j are together, v being theirs by row. */
static void gaps_of_column(const rest *t, const clf_slot *v, int64_t j, clf_ref_state *state) {
    clf_ref_tree tree;
    clf_ref_tree_begin(&tree, t->fold, t->value, 1, 1);
    int64_t n = 0;
    for (int64_t i = 0; i < t->rows; i++) {
        bool gap = !stored(t->m, i, j);
        clf_ref_tree_repeat(&tree, v[i], gap);
        n += gap;
    }
    if (n > 0) clf_ref_merge(t->fold, t->value, state, clf_ref_tree_close(&tree));
}

static clf_status columns_by_row(clf_ref_job *r, const clf_sink *s, rest *t, clf_ref_state *state) {
    clf_status st = CLF_OK;
    clf_slot *v = clf_mem_new(r->mem, (size_t)t->rows, sizeof *v);
    if (!v) return clf_fail(r->err, CLF_E_NOMEM, "no memory for the rest of %" PRId64 " rows", t->rows);
    for (int64_t i = 0; i < t->rows && st == CLF_OK; i++) st = value_at(r, s, t, i, &v[i]);
    for (int64_t j = 0; j < t->m->cols && st == CLF_OK; j++) gaps_of_column(t, v, j, &state[j]);
    clf_mem_free(r->mem, v, (size_t)t->rows, sizeof *v);
    return st;
}

static clf_status columns(clf_ref_job *r, const clf_sink *s, rest *t, clf_ref_state *state) {
    if (t->axis >= 0 && t->axis == t->parent) return columns_by_row(r, s, t, state);
    CLF_TRY(count_columns(r, t));
    for (int64_t j = 0; j < t->m->cols; j++) {
        clf_slot v;
        clf_ref_state missing;
        int64_t n = t->rows - t->column[2 * j];
        if (n == 0) continue;
        CLF_TRY(value_at(r, s, t, j, &v));
        clf_ref_repeat(t->fold, t->value, &missing, v, n, t->column[2 * j + 1]);
        clf_ref_merge(t->fold, t->value, &state[j], &missing);
    }
    return CLF_OK;
}

clf_status clf_ref_rest_columns(clf_ref_job *r, const clf_sink *s, clf_ref_state *state) {
    rest t;
    CLF_TRY(open_rest(r, s, &t));
    root_rest(r, s);
    clf_status st = columns(r, s, &t, state);
    clf_ref_root(r, s);
    close_rest(r, &t);
    return st;
}
