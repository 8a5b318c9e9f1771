/* SPDX-License-Identifier: Apache-2.0
 * Makers: one node of a random program each, with its cells. */
#include "tests/support/random_make.h"

#include <math.h>
#include <stdlib.h>

static const double LARGEST = 1 << 20; /* cells stay below, exact in f32 */
static const double LARGEST_SUM = 1 << 23;

static uint64_t next(rp_gen *g) {
    g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t x = g->state ^ g->state >> 31;
    return x * UINT64_C(0x9E3779B97F4A7C15) >> 24;
}
int rp_pick(rp_gen *g, int n) { return (int)(next(g) % (uint64_t)n); }

/* ---- types ---- */

static bool real(clf_dtype t) { return t == CLF_F32 || t == CLF_F64; }

static clf_dtype wider(clf_dtype a, clf_dtype b) {
    if (a == CLF_F64 || b == CLF_F64) return CLF_F64;
    if (a == CLF_F32 || b == CLF_F32) return a == CLF_I64 || b == CLF_I64 ? CLF_F64 : CLF_F32;
    if (a == CLF_I64 || b == CLF_I64) return CLF_I64;
    return a == CLF_I32 || b == CLF_I32 ? CLF_I32 : CLF_U8;
}

static clf_dtype common(const rp_matrix *const *x, int from, int n) {
    bool matrix = false, have = false;
    clf_dtype t = CLF_F64;
    for (int k = from; k < n; k++) matrix = matrix || !x[k]->scalar;
    for (int k = from; k < n; k++) {
        if (matrix && x[k]->scalar) continue;
        t = have ? wider(t, x[k]->t) : x[k]->t;
        have = true;
    }
    for (int k = from; k < n; k++)
        if (matrix && x[k]->scalar && real(x[k]->t) && !real(t)) t = CLF_F64;
    return t;
}

/* Integers from one type to another. */
static double convert(double x, clf_dtype from, clf_dtype to) {
    if (to != CLF_U8) return x;
    if (real(from)) return x < 0 ? 0 : x > 255 ? 255 : x;
    return (double)((int64_t)x & 255);
}

static int cell_count(void) {
    int n = 0;
    while (rp_cells[n].arity) n++;
    return n;
}

/* ---- matrices ---- */

static const int64_t extents[] = {0, 1, 2, 3, 7, 64, 65, 513};

static bool shape(rp_gen *g, rp_node *n, clf_dtype t, bool scalar, int64_t rows, int64_t cols) {
    if (rows * cols > g->o->most_cells) return false;
    n->m = (rp_matrix){t, scalar, false, rows, cols, calloc((size_t)(rows * cols) + 1, sizeof(double))};
    return n->m.v != NULL;
}

static double at(const rp_matrix *m, int64_t i, int64_t j) { return m->v[(m->rows == 1 ? 0 : i) * m->cols + (m->cols == 1 ? 0 : j)]; }

static bool in_domain(const rp_matrix *m) {
    for (int64_t i = 0; i < rp_count(m); i++)
        if (!(fabs(m->v[i]) <= LARGEST)) return false;
    return true;
}

static const rp_matrix *operand(rp_gen *g, rp_node *n, int k) {
    int i = rp_pick(g, g->p->n), recent = g->p->n > 6 && rp_pick(g, 2) ? g->p->n - 1 - rp_pick(g, 6) : i; /* lately made ones more often */
    n->in[k] = recent;
    n->nin = k + 1;
    return &g->p->node[recent].m;
}

/* ---- kinds: make one node, or refuse ---- */

bool rp_make_leaf(rp_gen *g, rp_node *n) {
    int64_t rows = g->o->rows, cols = g->o->cols;
    if (!rows && !cols) {
        rows = extents[rp_pick(g, 8)];
        cols = extents[rp_pick(g, 8)];
    } else if (rp_pick(g, 4) == 0) {
        if (rp_pick(g, 2))
            rows = 1;
        else
            cols = 1;
    }
    clf_dtype t = (clf_dtype)rp_pick(g, 5);
    if (!shape(g, n, t, false, rows, cols)) return false;
    int span = rp_pick(g, 3) ? 4 : 1;
    for (int64_t i = 0; i < rp_count(&n->m); i++) n->m.v[i] = t == CLF_U8 ? rp_pick(g, span + 1) : rp_pick(g, 2 * span + 1) - span;
    return true;
}

bool rp_make_number(rp_gen *g, rp_node *n) {
    if (!shape(g, n, rp_pick(g, 2) ? CLF_F64 : CLF_I64, true, 1, 1)) return false;
    n->m.v[0] = rp_pick(g, 9) - 4;
    return true;
}

bool rp_make_fill(rp_gen *g, rp_node *n) {
    if (!shape(g, n, (clf_dtype)rp_pick(g, 5), false, extents[rp_pick(g, 8)], extents[rp_pick(g, 8)])) return false;
    n->attr[0] = rp_pick(g, 4);
    for (int64_t i = 0; i < rp_count(&n->m); i++) n->m.v[i] = (double)n->attr[0];
    return true;
}

bool rp_make_seq(rp_gen *g, rp_node *n) {
    int64_t rows = extents[1 + rp_pick(g, 7)];
    if (!shape(g, n, CLF_F64, false, rows, 1)) return false;
    n->attr[0] = rp_pick(g, 5) - 2;
    n->attr[1] = rp_pick(g, 3) + 1;
    for (int64_t i = 0; i < rows; i++) n->m.v[i] = (double)(n->attr[0] + i * n->attr[1]);
    return true;
}

static bool fits(const rp_matrix *x, const rp_matrix *big) {
    return (x->rows == big->rows || x->rows == 1) && (x->cols == big->cols || x->cols == 1);
}

bool rp_make_cell(rp_gen *g, rp_node *n) {
    int c = rp_pick(g, cell_count()), k = rp_cells[c].arity;
    const rp_matrix *x[3], *big = NULL;
    bool scalar = true;
    n->op = c;
    for (int i = 0; i < k; i++) {
        x[i] = operand(g, n, i);
        if (x[i]->final) return false;
        scalar = scalar && x[i]->scalar;
    }
    for (int i = 0; i < k && !big; i++) {
        bool all = true;
        for (int j = 0; j < k; j++) all = all && fits(x[j], x[i]);
        if (all) big = x[i];
    }
    if (!big) return false;
    clf_dtype t = rp_cells[c].type == FIRST ? x[0]->t : common(x, rp_cells[c].type == SELECT, k);
    if (rp_cells[c].type == ARITH && t == CLF_U8) t = CLF_I32;
    if (!shape(g, n, rp_cells[c].type == COMPARE ? CLF_U8 : t, scalar, big->rows, big->cols)) return false;
    for (int64_t i = 0; i < big->rows; i++)
        for (int64_t j = 0; j < big->cols; j++) {
            double v[3] = {0, 0, 0};
            for (int a = 0; a < k; a++) v[a] = rp_cells[c].type == SELECT && a == 0 ? at(x[a], i, j) : convert(at(x[a], i, j), x[a]->t, t);
            n->m.v[i * big->cols + j] = rp_cells[c].f(v[0], v[1], v[2]);
        }
    return in_domain(&n->m);
}

bool rp_make_cast(rp_gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    clf_dtype t = (clf_dtype)rp_pick(g, 5);
    if (x->final || !shape(g, n, t, x->scalar, x->rows, x->cols)) return false;
    for (int64_t i = 0; i < rp_count(x); i++) n->m.v[i] = convert(x->v[i], x->t, t);
    return true;
}

bool rp_make_form(rp_gen *g, rp_node *n) { /* 1x1 matrix to scalar, and back */
    const rp_matrix *x = operand(g, n, 0);
    if (x->final || rp_count(x) != 1 || x->rows != 1 || !shape(g, n, x->t, !x->scalar, 1, 1)) return false;
    n->m.v[0] = x->v[0];
    return true;
}

/* One fold of n values with stride; false when it leaves the domain. */
static bool fold(int f, clf_dtype t, const double *v, int64_t n, int64_t stride, double *out) {
    double sum = 0, size = 0, least = INFINITY, most = -INFINITY, prod = 1, growth = 1;
    int64_t nnz = 0, first_least = 0, first_most = 0;
    for (int64_t i = 0; i < n; i++) {
        double x = v[i * stride];
        sum += f == CLF_FOLD_CODE_SUMSQ ? x * x : x;
        size += f == CLF_FOLD_CODE_SUMSQ ? x * x : fabs(x);
        prod *= x;
        growth *= fabs(x) > 1 ? fabs(x) : 1;
        nnz += x != 0;
        if (x < least) least = x, first_least = i + 1;
        if (x > most) most = x, first_most = i + 1;
    }
    if (size > LARGEST_SUM) return false;
    switch (f) {
    case CLF_FOLD_CODE_SUM:
    case CLF_FOLD_CODE_SUMSQ: *out = sum; return true;
    case CLF_FOLD_CODE_MIN: *out = least; return n > 0;
    case CLF_FOLD_CODE_MAX: *out = most; return n > 0;
    case CLF_FOLD_CODE_PROD: *out = prod; return growth <= LARGEST;
    case CLF_FOLD_CODE_MEAN: *out = t == CLF_F32 ? (double)(float)(sum / (double)n) : sum / (double)n; return n > 0;
    case CLF_FOLD_CODE_ARGMIN: *out = (double)first_least; return true;
    case CLF_FOLD_CODE_ARGMAX: *out = (double)first_most; return true;
    case CLF_FOLD_CODE_ANY: *out = nnz > 0; return true;
    case CLF_FOLD_CODE_ALL: *out = nnz == n; return true;
    case CLF_FOLD_CODE_NNZ: *out = (double)nnz; return true;
    default: return false;
    }
}

static clf_dtype fold_type(int f, clf_dtype t) {
    switch (f) {
    case CLF_FOLD_CODE_SUM:
    case CLF_FOLD_CODE_SUMSQ:
    case CLF_FOLD_CODE_PROD: return real(t) ? t : CLF_I64;
    case CLF_FOLD_CODE_MEAN: return real(t) ? t : CLF_F64;
    case CLF_FOLD_CODE_ARGMIN:
    case CLF_FOLD_CODE_ARGMAX:
    case CLF_FOLD_CODE_NNZ: return CLF_I64;
    case CLF_FOLD_CODE_ANY:
    case CLF_FOLD_CODE_ALL: return CLF_U8;
    default: return t;
    }
}

bool rp_make_fold(rp_gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    int f = rp_pick(g, CLF_FOLD_CODES), way = rp_pick(g, 3);
    n->op = f;
    n->attr[0] = way;
    if (x->final || f == CLF_FOLD_CODE_VAR ||
        !shape(g, n, fold_type(f, x->t), way == CLF_ALL, way == CLF_ROWS ? x->rows : 1, way == CLF_COLS ? x->cols : 1))
        return false;
    n->m.final = f == CLF_FOLD_CODE_MEAN;
    bool good = true;
    for (int64_t i = 0; i < rp_count(&n->m) && good; i++) {
        if (way == CLF_ALL)
            good = fold(f, n->m.t, x->v, rp_count(x), 1, n->m.v);
        else if (way == CLF_ROWS)
            good = fold(f, n->m.t, x->v + i * x->cols, x->cols, 1, &n->m.v[i]);
        else
            good = fold(f, n->m.t, x->v + i, x->rows, x->cols, &n->m.v[i]);
    }
    return good && in_domain(&n->m);
}

bool rp_make_index(rp_gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    if (x->final || x->rows < 1 || x->cols < 1) return false;
    int64_t *a = n->attr;
    a[0] = 1 + rp_pick(g, (int)x->rows);
    a[1] = a[0] + rp_pick(g, (int)(x->rows - a[0] + 1));
    a[2] = 1 + rp_pick(g, (int)x->cols);
    a[3] = a[2] + rp_pick(g, (int)(x->cols - a[2] + 1));
    if (!shape(g, n, x->t, false, a[1] - a[0] + 1, a[3] - a[2] + 1)) return false;
    for (int64_t i = 0; i < n->m.rows; i++)
        for (int64_t j = 0; j < n->m.cols; j++) n->m.v[i * n->m.cols + j] = x->v[(i + a[0] - 1) * x->cols + j + a[2] - 1];
    return true;
}

bool rp_make_transpose(rp_gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    if (x->final || !shape(g, n, x->t, false, x->cols, x->rows)) return false;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++) n->m.v[j * x->rows + i] = x->v[i * x->cols + j];
    return true;
}

bool rp_make_bind(rp_gen *g, rp_node *n) {
    const rp_matrix *a = operand(g, n, 0), *b = operand(g, n, 1);
    bool side = rp_pick(g, 2);
    n->attr[0] = side;
    if (a->final || b->final || (side ? a->rows != b->rows : a->cols != b->cols)) return false;
    if (!shape(g, n, wider(a->t, b->t), false, side ? a->rows : a->rows + b->rows, side ? a->cols + b->cols : a->cols)) return false;
    for (int64_t i = 0; i < n->m.rows; i++)
        for (int64_t j = 0; j < n->m.cols; j++) {
            bool first = side ? j < a->cols : i < a->rows;
            const rp_matrix *x = first ? a : b;
            n->m.v[i * n->m.cols + j] = x->v[(first || side ? i : i - a->rows) * x->cols + (first || !side ? j : j - a->cols)];
        }
    return true;
}

bool rp_make_product(rp_gen *g, rp_node *n) {
    const rp_matrix *a = operand(g, n, 0), *b = operand(g, n, 1);
    clf_dtype t = wider(a->t, b->t);
    if (a->final || b->final || a->cols != b->rows || a->rows * b->cols * a->cols > 300000) return false;
    if (!shape(g, n, real(t) ? t : CLF_F64, false, a->rows, b->cols)) return false;
    for (int64_t i = 0; i < a->rows; i++)
        for (int64_t j = 0; j < b->cols; j++) {
            double sum = 0, size = 0;
            for (int64_t k = 0; k < a->cols; k++) {
                sum += a->v[i * a->cols + k] * b->v[k * b->cols + j];
                size += fabs(a->v[i * a->cols + k] * b->v[k * b->cols + j]);
            }
            if (size > LARGEST_SUM) return false;
            n->m.v[i * b->cols + j] = sum;
        }
    return in_domain(&n->m);
}

bool rp_make_diag(rp_gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    bool column = x->cols == 1;
    if (x->final || (!column && x->rows != x->cols) || !shape(g, n, x->t, false, x->rows, column ? x->rows : 1)) return false;
    for (int64_t i = 0; i < x->rows; i++) n->m.v[column ? i * x->rows + i : i] = x->v[column ? i : i * x->cols + i];
    return true;
}

bool rp_make_rev(rp_gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    if (x->final || !shape(g, n, x->t, false, x->rows, x->cols)) return false;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++) n->m.v[i * x->cols + j] = x->v[(x->rows - 1 - i) * x->cols + j];
    return true;
}

bool rp_make_reshape(rp_gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    int64_t cols = extents[1 + rp_pick(g, 7)];
    if (x->final || rp_count(x) % cols != 0 || !shape(g, n, x->t, false, rp_count(x) / cols, cols)) return false;
    for (int64_t i = 0; i < rp_count(x); i++) n->m.v[i] = x->v[i];
    return true;
}

bool rp_make_cum(rp_gen *g, rp_node *n) {
    static const int folds[] = {CLF_FOLD_CODE_SUM, CLF_FOLD_CODE_MIN, CLF_FOLD_CODE_MAX};
    const rp_matrix *x = operand(g, n, 0);
    n->op = folds[rp_pick(g, 3)];
    if (x->final || !shape(g, n, fold_type(n->op, x->t), false, x->rows, x->cols)) return false;
    for (int64_t i = 0; i < rp_count(x); i++) {
        double before = i < x->cols ? x->v[i] : n->m.v[i - x->cols], v = x->v[i];
        if (i < x->cols)
            n->m.v[i] = v;
        else
            n->m.v[i] = n->op == CLF_FOLD_CODE_SUM ? before + v : n->op == CLF_FOLD_CODE_MIN ? fmin(before, v) : fmax(before, v);
    }
    return in_domain(&n->m);
}
