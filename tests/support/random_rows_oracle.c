/* SPDX-License-Identifier: Apache-2.0
 * What a random row form over exact data gives, by plain loops over whole matrices in double arithmetic: no lanes, leaves or blocks. Every
 * value is a table over the positions of its axes; a stored entry is a cell of a dense matrix with a mark. Where no sum of magnitudes
 * reaches the type's exact range nothing rounds, so every order of additions gives this; what may round, or is the empty minimum of
 * integers, is not told. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/fmt.h"
#include "tests/support/random_rows.h"

typedef struct table {
    double *at;
    bool exact; /* every cell is what exact arithmetic gives */
} table;

typedef struct oracle {
    const random_rows *r;
    const clf_cplan *c;
    int entry; /* the ENTRY axis; -1 */
    int64_t n[CLF_MAX_AXES], pos[CLF_MAX_AXES];
    int64_t *number; /* of the entry at a cell of the main input; -1 none */
    double limit;
    table *v;
} oracle;

/* ---- positions ------------------------------------------------------------------------------------------------------------- */

static bool inside(const oracle *o, uint32_t set) {
    return o->entry < 0 || !(set >> o->entry & 1u) || o->number[o->pos[0] * o->n[o->entry] + o->pos[o->entry]] >= 0;
}

/* To the first or next position of the axes in the set, the last the fastest; entries that are not stored are passed over. */
static bool turn(oracle *o, uint32_t set, bool start) {
    if (start)
        for (int a = 0; a < o->c->naxes; a++) {
            if (!(set >> a & 1u)) continue;
            if (o->n[a] == 0) return false;
            o->pos[a] = 0;
        }
    while (!start || !inside(o, set)) {
        int a = o->c->naxes - 1;
        start = false;
        for (; a >= 0; a--) {
            if (!(set >> a & 1u)) continue;
            if (++o->pos[a] < o->n[a]) break;
            o->pos[a] = 0;
        }
        if (a < 0) return false;
        if (inside(o, set)) return true;
    }
    return true;
}

static int64_t place(const oracle *o, uint32_t set) {
    int64_t p = 0;
    for (int a = 0; a < o->c->naxes; a++)
        if (set >> a & 1u) p = p * o->n[a] + o->pos[a];
    return p;
}

static int64_t positions(const oracle *o, uint32_t set) {
    int64_t n = 1;
    for (int a = 0; a < o->c->naxes; a++) n *= set >> a & 1u ? o->n[a] : 1;
    return n;
}

static double value(const oracle *o, int v) { return o->v[v].at[place(o, o->c->value[v].axes)]; }

/* ---- folds ----------------------------------------------------------------------------------------------------------------- */

typedef struct acc {
    double sum, size, best;
    int64_t n, at, nnz;
} acc;

static bool better(clf_fold_id f, double x, double best) { return f == CLF_FOLD_MIN || f == CLF_FOLD_ARGMIN ? x < best : x > best; }

static void take(acc *a, clf_fold_id f, double x, int64_t k) {
    double term = f == CLF_FOLD_SUMSQ ? x * x : x;
    if (a->n == 0 || better(f, x, a->best) || (x == a->best && k < a->at)) a->best = x, a->at = k;
    a->sum += term;
    a->size += fabs(term);
    a->nnz += x != 0;
    a->n++;
}

/* The result; *exact becomes false where it cannot be told. */
static double finish(const oracle *o, const acc *a, clf_fold_id f, bool *exact) {
    switch (f) {
    case CLF_FOLD_SUM:
    case CLF_FOLD_SUMSQ: *exact &= a->size < o->limit; return a->sum;
    case CLF_FOLD_MIN:
    case CLF_FOLD_MAX: *exact &= a->n > 0 || clf_dtype_float(o->r->type); return a->n ? a->best : f == CLF_FOLD_MIN ? INFINITY : -INFINITY;
    case CLF_FOLD_ARGMIN:
    case CLF_FOLD_ARGMAX: return a->n ? (double)(a->at + 1) : 0;
    case CLF_FOLD_ANY: return a->nnz > 0;
    case CLF_FOLD_ALL: return a->nnz == a->n;
    case CLF_FOLD_NNZ: return (double)a->nnz;
    default: *exact = false; return 0;
    }
}

/* ---- values ---------------------------------------------------------------------------------------------------------------- */

static double cell_of(const oracle *o, const clf_value *x, bool *exact) {
    double a = value(o, x->in[0]), b = x->in[1] >= 0 ? value(o, x->in[1]) : 0, c = x->in[2] >= 0 ? value(o, x->in[2]) : 0;
    switch ((int)x->op) {
    case CLF_OP_ADD: return a + b;
    case CLF_OP_SUB: return a - b;
    case CLF_OP_MUL: return a * b;
    case CLF_OP_MIN: return a < b ? a : b;
    case CLF_OP_MAX: return a > b ? a : b;
    case CLF_OP_NEG: return -a;
    case CLF_OP_ABS: return fabs(a);
    case CLF_OP_LT: return a < b;
    case CLF_OP_EQ: return a == b;
    case CLF_OP_NE: return a != b;
    case CLF_OP_NOT: return a == 0;
    case CLF_OP_IFELSE: return a != 0 ? b : c;
    default: *exact = false; return 0;
    }
}

static double load_of(const oracle *o, int access) {
    const clf_access *a = &o->c->access[access];
    const clf_cinput *in = &o->c->in[a->input];
    if (a->protocol == CLF_ENTRIES) {
        const clf_csr *m = o->r->j.in[a->input];
        return clf_scalar_as_f64(clf_scalar_load(m->val, (size_t)o->number[o->pos[0] * m->cols + o->pos[o->entry]], o->r->type));
    }
    if (a->protocol == CLF_LOCATE) {
        const clf_csr *m = o->r->j.in[a->input];
        for (int64_t e = m->ptr[o->pos[0]]; e < m->ptr[o->pos[0] + 1]; e++)
            if (m->idx[e] == o->pos[o->entry]) return clf_scalar_as_f64(clf_scalar_load(m->val, (size_t)e, o->r->type));
        return 0;
    }
    int64_t p = 0;
    for (int d = 0; d < a->rank; d++) p = p * in->dim[d].n + (a->at[d].axis >= 0 ? o->pos[a->at[d].axis] : 0) * a->at[d].mul + a->at[d].add;
    return clf_scalar_as_f64(clf_scalar_load(o->r->j.in[a->input], (size_t)p, (clf_dtype)in->dtype));
}

static bool skipped(int skip, double a, double b) { return (skip & 1 && a == 0) || (skip & 2 && b == 0); }

static double folded_of(oracle *o, const clf_value *x, bool *exact) {
    acc a = {0};
    int64_t k = 0;
    int rest = clf_rest_axis(o->c, x); /* goes with the columns */
    for (o->pos[x->axis] = 0; o->pos[x->axis] < o->n[x->axis]; o->pos[x->axis]++) {
        bool stored = inside(o, 1u << x->axis);
        if (!stored && (x->op != CLF_V_FOLD || x->in[1] < 0)) continue;
        if (rest >= 0) o->pos[rest] = o->pos[x->axis];
        double y = value(o, x->in[stored ? 0 : 1]);
        if (x->op == CLF_V_FOLD)
            take(&a, (clf_fold_id)x->arg, y, x->axis == o->entry ? o->pos[x->axis] : k++);
        else if (!skipped(x->arg, y, value(o, x->in[1])))
            take(&a, CLF_FOLD_SUM, y * value(o, x->in[1]), 0);
    }
    return finish(o, &a, x->op == CLF_V_FOLD ? (clf_fold_id)x->arg : CLF_FOLD_SUM, exact);
}

static double scanned_of(oracle *o, const clf_value *x, bool *exact) {
    acc a = {0};
    int64_t last = o->pos[x->axis];
    for (o->pos[x->axis] = 0; o->pos[x->axis] <= last; o->pos[x->axis]++) take(&a, (clf_fold_id)x->arg, value(o, x->in[0]), 0);
    o->pos[x->axis] = last;
    return finish(o, &a, (clf_fold_id)x->arg, exact);
}

static double cat_of(const oracle *o, const clf_value *x) {
    int64_t first = clf_cat_axis(x, 0) < 0 ? 1 : o->n[clf_cat_axis(x, 0)], p = o->pos[x->axis];
    int q = p >= first, along = clf_cat_axis(x, q);
    oracle there = *o;
    if (along >= 0) there.pos[along] = q ? p - first : p;
    return value(&there, x->in[q]);
}

static double compute(oracle *o, const clf_value *x, bool *exact) {
    if (clf_op_is_cell(x->op)) return cell_of(o, x, exact);
    switch (x->op) {
    case CLF_V_LOAD: return load_of(o, x->arg);
    case CLF_V_PARAM: return clf_scalar_as_f64(o->r->j.param[x->arg]);
    case CLF_V_INDEX: return (double)o->pos[x->arg];
    case CLF_V_CAST: return value(o, x->in[0]);
    case CLF_V_SCAN: return scanned_of(o, x, exact);
    case CLF_V_CAT: return cat_of(o, x);
    default: return folded_of(o, x, exact);
    }
}

static void fill_table(oracle *o, int v) {
    const clf_value *x = &o->c->value[v];
    table *t = &o->v[v];
    t->at = calloc((size_t)positions(o, x->axes) + 1, sizeof *t->at);
    t->exact = true;
    for (int q = 0; q < 3; q++) t->exact &= x->in[q] < 0 || o->v[x->in[q]].exact;
    for (bool live = turn(o, x->axes, true); live; live = turn(o, x->axes, false)) {
        double y = compute(o, x, &t->exact);
        t->at[place(o, x->axes)] = y;
        t->exact &= fabs(y) < o->limit;
    }
}

/* ---- sinks ----------------------------------------------------------------------------------------------------------------- */

/* Position of the fold: the number of the entry over all of them, else row-major in the folded axes: the column of one row's entries. */
static int64_t fold_position(const oracle *o, uint32_t folded) {
    bool entries = o->entry >= 0 && folded == (1u | 1u << o->entry);
    return entries ? o->number[o->pos[0] * o->n[o->entry] + o->pos[o->entry]] : place(o, folded);
}

static bool same_cell(const oracle *o, int out, int64_t k, double want) {
    double got = clf_scalar_as_f64(clf_scalar_load(o->r->j.want[out], (size_t)k, (clf_dtype)o->c->out[out].dtype));
    if (got == want) return true;
    fprintf(stderr, "  output %d cell %lld: %.17g, plain loops give %.17g\n", out, (long long)k, got, want);
    return false;
}

static bool same_store(oracle *o, const clf_sink *s) {
    for (bool live = turn(o, s->keep, true); live; live = turn(o, s->keep, false)) {
        int64_t k = s->kind == CLF_SINK_PATTERN ? o->number[o->pos[0] * o->n[o->entry] + o->pos[o->entry]] : place(o, s->keep);
        if (!same_cell(o, s->out[0], k, value(o, s->value[0]))) return false;
    }
    return true;
}

/* Cells without entry. A rest by columns has an axis of its own for them. */
static void take_rest(oracle *o, const clf_sink *s, acc *a) {
    for (int64_t k = 0; k < o->n[0] * o->n[o->entry]; k++) {
        if (o->number[k] >= 0) continue;
        o->pos[0] = k / o->n[o->entry];
        for (int c = 1; c < o->c->naxes; c++)
            if (c == o->entry || (o->c->value[s->value[1]].axes >> c & 1u)) o->pos[c] = k % o->n[o->entry];
        take(&a[place(o, s->keep)], (clf_fold_id)s->fold, value(o, s->value[1]), s->keep ? o->pos[0] : k);
    }
}

/* FOLD and DOT: 1 equal, 0 untold, -1 not. */
static int same_folds(oracle *o, const clf_sink *s) {
    uint32_t loop = clf_sink_loop(o->c, s), folded = loop & ~s->keep;
    clf_fold_id f = s->kind == CLF_SINK_DOT ? CLF_FOLD_SUM : (clf_fold_id)s->fold;
    int64_t cells = positions(o, s->keep);
    acc *a = calloc((size_t)cells + 1, sizeof *a);
    int told = 1;
    for (bool live = turn(o, loop, true); live; live = turn(o, loop, false)) {
        double x = value(o, s->value[0]), y = s->kind == CLF_SINK_DOT ? value(o, s->value[1]) : 0;
        if (s->kind == CLF_SINK_DOT && skipped(s->fold, x, y)) continue;
        take(&a[place(o, s->keep)], f, s->kind == CLF_SINK_DOT ? x * y : x, fold_position(o, folded));
    }
    if (s->kind == CLF_SINK_FOLD && s->value[1] >= 0) take_rest(o, s, a);
    for (int64_t k = 0; k < cells && told == 1; k++) {
        bool exact = true;
        double want = finish(o, &a[k], f, &exact);
        told = !exact ? 0 : same_cell(o, s->out[0], k, want) ? 1 : -1;
    }
    free(a);
    return told;
}

static int same_sink(oracle *o, const clf_sink *s) {
    if (!o->v[s->value[0]].exact || (s->value[1] >= 0 && !o->v[s->value[1]].exact)) return 0;
    if (s->kind == CLF_SINK_STORE || s->kind == CLF_SINK_PATTERN) return same_store(o, s) ? 1 : -1;
    return same_folds(o, s);
}

/* ---- the whole ------------------------------------------------------------------------------------------------------------- */

static void number_entries(oracle *o, const clf_csr *m) {
    o->n[o->entry] = m->cols;
    o->number = malloc((size_t)(m->rows * m->cols + 1) * sizeof *o->number);
    for (int64_t k = 0; k < m->rows * m->cols; k++) o->number[k] = -1;
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t e = m->ptr[i]; e < m->ptr[i + 1]; e++) o->number[i * m->cols + m->idx[e]] = e;
}

int random_rows_oracle(const random_rows *r) {
    const clf_cplan *c = &r->j.c;
    oracle o = {.r = r, .c = c, .entry = -1, .v = calloc((size_t)c->nvalue + 1, sizeof(table))};
    int told = 0;
    o.limit = r->type == CLF_F32 ? 0x1p24 : r->type == CLF_I32 ? 0x1p31 : 0x1p53;
    for (int a = 0; a < c->naxes; a++) {
        o.n[a] = c->axis[a].n.n;
        if (c->axis[a].kind == CLF_AXIS_ENTRY) o.entry = a;
    }
    if (o.entry >= 0) number_entries(&o, r->j.in[c->access[c->axis[o.entry].owner].input]);
    for (int v = 0; v < c->nvalue; v++) fill_table(&o, v);
    for (int s = 0; s < c->nsink && told >= 0; s++) {
        int one = same_sink(&o, &c->sink[s]);
        told = one < 0 ? -1 : told + one;
    }
    for (int v = 0; v < c->nvalue; v++) free(o.v[v].at);
    free(o.v);
    free(o.number);
    return told;
}
