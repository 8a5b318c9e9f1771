/* SPDX-License-Identifier: Apache-2.0
 * Generating and interpreting random programs. A kind of node is one row of `kinds`: how it is made (choosing operands, checking that
 * they fit, computing all cells), recorded and printed. */
#include "tests/support/random_program.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct gen {
    rp_program *p;
    const rp_options *o;
    uint64_t state;
} gen;

static const double LARGEST = 1 << 20; /* cells stay below, exact in f32 */
static const double LARGEST_SUM = 1 << 23;

static uint64_t next(gen *g) {
    g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t x = g->state ^ g->state >> 31;
    return x * UINT64_C(0x9E3779B97F4A7C15) >> 24;
}
static int pick(gen *g, int n) { return (int)(next(g) % (uint64_t)n); }

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

/* ---- operators ---- */

typedef enum rule { ARITH, COMPARE, SELECT, FIRST } rule;
static double o_add(double a, double b, double c) { (void)c; return a + b; }
static double o_sub(double a, double b, double c) { (void)c; return a - b; }
static double o_mul(double a, double b, double c) { (void)c; return a * b; }
static double o_min(double a, double b, double c) { (void)c; return a < b ? a : b; }
static double o_max(double a, double b, double c) { (void)c; return a > b ? a : b; }
static double o_lt(double a, double b, double c) { (void)c; return a < b; }
static double o_le(double a, double b, double c) { (void)c; return a <= b; }
static double o_gt(double a, double b, double c) { (void)c; return a > b; }
static double o_ge(double a, double b, double c) { (void)c; return a >= b; }
static double o_eq(double a, double b, double c) { (void)c; return a == b; }
static double o_ne(double a, double b, double c) { (void)c; return a != b; }
static double o_and(double a, double b, double c) { (void)c; return a != 0 && b != 0; }
static double o_or(double a, double b, double c) { (void)c; return a != 0 || b != 0; }
static double o_xor(double a, double b, double c) { (void)c; return (a != 0) != (b != 0); }
static double o_neg(double a, double b, double c) { (void)b, (void)c; return -a; }
static double o_not(double a, double b, double c) { (void)b, (void)c; return a == 0; }
static double o_abs(double a, double b, double c) { (void)b, (void)c; return a < 0 ? -a : a; }
static double o_sign(double a, double b, double c) { (void)b, (void)c; return a > 0 ? 1 : a < 0 ? -1 : 0; }
static double o_self(double a, double b, double c) { (void)b, (void)c; return a; }
static double o_sqr(double a, double b, double c) { (void)b, (void)c; return a * a; }
static double o_false(double a, double b, double c) { (void)a, (void)b, (void)c; return 0; }
static double o_ifelse(double a, double b, double c) { return a != 0 ? b : c; }
static double o_replace(double a, double b, double c) { return a == b ? c : a; }

static const struct { int op, arity; rule type; double (*f)(double, double, double); const char *name; } cells[] = {
    {CLF_ADD, 2, ARITH, o_add, "+"},       {CLF_SUB, 2, ARITH, o_sub, "-"},      {CLF_MUL, 2, ARITH, o_mul, "*"},
    {CLF_MIN, 2, ARITH, o_min, "min"},     {CLF_MAX, 2, ARITH, o_max, "max"},    {CLF_LT, 2, COMPARE, o_lt, "<"},
    {CLF_LE, 2, COMPARE, o_le, "<="},      {CLF_GT, 2, COMPARE, o_gt, ">"},      {CLF_GE, 2, COMPARE, o_ge, ">="},
    {CLF_EQ, 2, COMPARE, o_eq, "=="},      {CLF_NE, 2, COMPARE, o_ne, "!="},     {CLF_AND, 2, COMPARE, o_and, "&"},
    {CLF_OR, 2, COMPARE, o_or, "|"},       {CLF_XOR, 2, COMPARE, o_xor, "xor"},  {CLF_NEG, 1, ARITH, o_neg, "-"},
    {CLF_NOT, 1, COMPARE, o_not, "!"},     {CLF_ABS, 1, ARITH, o_abs, "abs"},    {CLF_SIGN, 1, ARITH, o_sign, "sign"},
    {CLF_ROUND, 1, ARITH, o_self, "round"}, {CLF_FLOOR, 1, ARITH, o_self, "floor"}, {CLF_CEIL, 1, ARITH, o_self, "ceil"},
    {CLF_SQR, 1, ARITH, o_sqr, "sqr"},     {CLF_ISNAN, 1, COMPARE, o_false, "is.nan"}, {CLF_IFELSE, 3, SELECT, o_ifelse, "ifelse"},
    {CLF_REPLACE, 3, FIRST, o_replace, "replace"},
};
enum { CELLS = sizeof cells / sizeof *cells };

/* ---- matrices ---- */

static const int64_t extents[] = {0, 1, 2, 3, 7, 64, 65, 513};

static int64_t count(const rp_matrix *m) { return m->rows * m->cols; }

static bool shape(gen *g, rp_node *n, clf_dtype t, bool scalar, int64_t rows, int64_t cols) {
    if (rows * cols > g->o->most_cells) return false;
    n->m = (rp_matrix){t, scalar, false, rows, cols, calloc((size_t)(rows * cols) + 1, sizeof(double))};
    return n->m.v != NULL;
}

static double at(const rp_matrix *m, int64_t i, int64_t j) { return m->v[(m->rows == 1 ? 0 : i) * m->cols + (m->cols == 1 ? 0 : j)]; }

static bool in_domain(const rp_matrix *m) {
    for (int64_t i = 0; i < count(m); i++)
        if (!(fabs(m->v[i]) <= LARGEST)) return false;
    return true;
}

static const rp_matrix *operand(gen *g, rp_node *n, int k) {
    int i = pick(g, g->p->n), recent = g->p->n > 6 && pick(g, 2) ? g->p->n - 1 - pick(g, 6) : i; /* lately made ones more often */
    n->in[k] = recent;
    n->nin = k + 1;
    return &g->p->node[recent].m;
}

/* ---- kinds: make one node, or refuse ---- */

static bool make_leaf(gen *g, rp_node *n) {
    int64_t rows = g->o->rows, cols = g->o->cols;
    if (!rows && !cols) {
        rows = extents[pick(g, 8)];
        cols = extents[pick(g, 8)];
    } else if (pick(g, 4) == 0) {
        if (pick(g, 2)) rows = 1;
        else cols = 1;
    }
    clf_dtype t = (clf_dtype)pick(g, 5);
    if (!shape(g, n, t, false, rows, cols)) return false;
    int span = pick(g, 3) ? 4 : 1;
    for (int64_t i = 0; i < count(&n->m); i++) n->m.v[i] = t == CLF_U8 ? pick(g, span + 1) : pick(g, 2 * span + 1) - span;
    return true;
}

static bool make_number(gen *g, rp_node *n) {
    if (!shape(g, n, pick(g, 2) ? CLF_F64 : CLF_I64, true, 1, 1)) return false;
    n->m.v[0] = pick(g, 9) - 4;
    return true;
}

static bool make_fill(gen *g, rp_node *n) {
    if (!shape(g, n, (clf_dtype)pick(g, 5), false, extents[pick(g, 8)], extents[pick(g, 8)])) return false;
    n->attr[0] = pick(g, 4);
    for (int64_t i = 0; i < count(&n->m); i++) n->m.v[i] = (double)n->attr[0];
    return true;
}

static bool make_seq(gen *g, rp_node *n) {
    int64_t rows = extents[1 + pick(g, 7)];
    if (!shape(g, n, CLF_F64, false, rows, 1)) return false;
    n->attr[0] = pick(g, 5) - 2;
    n->attr[1] = pick(g, 3) + 1;
    for (int64_t i = 0; i < rows; i++) n->m.v[i] = (double)(n->attr[0] + i * n->attr[1]);
    return true;
}

static bool fits(const rp_matrix *x, const rp_matrix *big) {
    return (x->rows == big->rows || x->rows == 1) && (x->cols == big->cols || x->cols == 1);
}

static bool make_cell(gen *g, rp_node *n) {
    int c = pick(g, CELLS), k = cells[c].arity;
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
    clf_dtype t = cells[c].type == FIRST ? x[0]->t : common(x, cells[c].type == SELECT, k);
    if (cells[c].type == ARITH && t == CLF_U8) t = CLF_I32;
    if (!shape(g, n, cells[c].type == COMPARE ? CLF_U8 : t, scalar, big->rows, big->cols)) return false;
    for (int64_t i = 0; i < big->rows; i++)
        for (int64_t j = 0; j < big->cols; j++) {
            double v[3] = {0, 0, 0};
            for (int a = 0; a < k; a++) v[a] = cells[c].type == SELECT && a == 0 ? at(x[a], i, j) : convert(at(x[a], i, j), x[a]->t, t);
            n->m.v[i * big->cols + j] = cells[c].f(v[0], v[1], v[2]);
        }
    return in_domain(&n->m);
}

static bool make_cast(gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    clf_dtype t = (clf_dtype)pick(g, 5);
    if (x->final || !shape(g, n, t, x->scalar, x->rows, x->cols)) return false;
    for (int64_t i = 0; i < count(x); i++) n->m.v[i] = convert(x->v[i], x->t, t);
    return true;
}

static bool make_form(gen *g, rp_node *n) { /* 1x1 matrix to scalar, and back */
    const rp_matrix *x = operand(g, n, 0);
    if (x->final || count(x) != 1 || x->rows != 1 || !shape(g, n, x->t, !x->scalar, 1, 1)) return false;
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

static bool make_fold(gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    int f = pick(g, CLF_FOLD_CODES), way = pick(g, 3);
    n->op = f;
    n->attr[0] = way;
    if (x->final || f == CLF_FOLD_CODE_VAR || !shape(g, n, fold_type(f, x->t), way == CLF_ALL, way == CLF_ROWS ? x->rows : 1, way == CLF_COLS ? x->cols : 1)) return false;
    n->m.final = f == CLF_FOLD_CODE_MEAN;
    bool good = true;
    for (int64_t i = 0; i < count(&n->m) && good; i++) {
        if (way == CLF_ALL) good = fold(f, n->m.t, x->v, count(x), 1, n->m.v);
        else if (way == CLF_ROWS) good = fold(f, n->m.t, x->v + i * x->cols, x->cols, 1, &n->m.v[i]);
        else good = fold(f, n->m.t, x->v + i, x->rows, x->cols, &n->m.v[i]);
    }
    return good && in_domain(&n->m);
}

static bool make_index(gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    if (x->final || x->rows < 1 || x->cols < 1) return false;
    int64_t *a = n->attr;
    a[0] = 1 + pick(g, (int)x->rows);
    a[1] = a[0] + pick(g, (int)(x->rows - a[0] + 1));
    a[2] = 1 + pick(g, (int)x->cols);
    a[3] = a[2] + pick(g, (int)(x->cols - a[2] + 1));
    if (!shape(g, n, x->t, false, a[1] - a[0] + 1, a[3] - a[2] + 1)) return false;
    for (int64_t i = 0; i < n->m.rows; i++)
        for (int64_t j = 0; j < n->m.cols; j++) n->m.v[i * n->m.cols + j] = x->v[(i + a[0] - 1) * x->cols + j + a[2] - 1];
    return true;
}

static bool make_transpose(gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    if (x->final || !shape(g, n, x->t, false, x->cols, x->rows)) return false;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++) n->m.v[j * x->rows + i] = x->v[i * x->cols + j];
    return true;
}

static bool make_bind(gen *g, rp_node *n) {
    const rp_matrix *a = operand(g, n, 0), *b = operand(g, n, 1);
    bool side = pick(g, 2);
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

static bool make_product(gen *g, rp_node *n) {
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

static bool make_diag(gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    bool column = x->cols == 1;
    if (x->final || (!column && x->rows != x->cols) || !shape(g, n, x->t, false, x->rows, column ? x->rows : 1)) return false;
    for (int64_t i = 0; i < x->rows; i++) n->m.v[column ? i * x->rows + i : i] = x->v[column ? i : i * x->cols + i];
    return true;
}

static bool make_rev(gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    if (x->final || !shape(g, n, x->t, false, x->rows, x->cols)) return false;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->cols; j++) n->m.v[i * x->cols + j] = x->v[(x->rows - 1 - i) * x->cols + j];
    return true;
}

static bool make_reshape(gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    int64_t cols = extents[1 + pick(g, 7)];
    if (x->final || count(x) % cols != 0 || !shape(g, n, x->t, false, count(x) / cols, cols)) return false;
    for (int64_t i = 0; i < count(x); i++) n->m.v[i] = x->v[i];
    return true;
}

static bool make_cum(gen *g, rp_node *n) {
    static const int folds[] = {CLF_FOLD_CODE_SUM, CLF_FOLD_CODE_MIN, CLF_FOLD_CODE_MAX};
    const rp_matrix *x = operand(g, n, 0);
    n->op = folds[pick(g, 3)];
    if (x->final || !shape(g, n, fold_type(n->op, x->t), false, x->rows, x->cols)) return false;
    for (int64_t i = 0; i < count(x); i++) {
        double before = i < x->cols ? x->v[i] : n->m.v[i - x->cols], v = x->v[i];
        if (i < x->cols) n->m.v[i] = v;
        else n->m.v[i] = n->op == CLF_FOLD_CODE_SUM ? before + v : n->op == CLF_FOLD_CODE_MIN ? fmin(before, v) : fmax(before, v);
    }
    return in_domain(&n->m);
}

/* ---- recording ---- */

static void store(const rp_matrix *m, void *out) {
    for (int64_t i = 0; i < count(m); i++) switch (m->t) {
        case CLF_F32: ((float *)out)[i] = (float)m->v[i]; break;
        case CLF_F64: ((double *)out)[i] = m->v[i]; break;
        case CLF_I32: ((int32_t *)out)[i] = (int32_t)m->v[i]; break;
        case CLF_I64: ((int64_t *)out)[i] = (int64_t)m->v[i]; break;
        case CLF_U8: ((uint8_t *)out)[i] = (uint8_t)m->v[i]; break;
        }
}

static clf_mat *rec_leaf(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)h;
    double *data = calloc((size_t)count(&n->m) + 1, sizeof *data);
    store(&n->m, data);
    clf_mat *m = clf_matrix(c, n->m.t, n->m.rows, n->m.cols, data);
    free(data);
    return m;
}
static clf_mat *rec_number(clf_ctx *c, const rp_node *n, clf_mat **h) { (void)h; return n->m.t == CLF_F64 ? clf_num(c, n->m.v[0]) : clf_int(c, (int64_t)n->m.v[0]); }
static clf_mat *rec_fill(clf_ctx *c, const rp_node *n, clf_mat **h) { (void)h; return clf_fill(c, n->m.t, n->m.rows, n->m.cols, (double)n->attr[0]); }
static clf_mat *rec_seq(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)h;
    return clf_seq(c, (double)n->attr[0], (double)(n->attr[0] + (n->m.rows - 1) * n->attr[1]), (double)n->attr[1]);
}
static clf_mat *rec_cell(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return clf_apply((clf_op_code)cells[n->op].op, h[n->in[0]], n->nin > 1 ? h[n->in[1]] : NULL, n->nin > 2 ? h[n->in[2]] : NULL);
}
static clf_mat *rec_cast(clf_ctx *c, const rp_node *n, clf_mat **h) { (void)c; return clf_cast(h[n->in[0]], n->m.t); }
static clf_mat *rec_form(clf_ctx *c, const rp_node *n, clf_mat **h) { (void)c; return n->m.scalar ? clf_as_scalar(h[n->in[0]]) : clf_as_matrix(h[n->in[0]]); }
static clf_mat *rec_fold(clf_ctx *c, const rp_node *n, clf_mat **h) { (void)c; return clf_fold((clf_fold_code)n->op, (clf_dir)n->attr[0], h[n->in[0]]); }
static clf_mat *rec_index(clf_ctx *c, const rp_node *n, clf_mat **h) { (void)c; return clf_index(h[n->in[0]], n->attr[0], n->attr[1], n->attr[2], n->attr[3]); }
static clf_mat *rec_transpose(clf_ctx *c, const rp_node *n, clf_mat **h) { (void)c; return clf_t(h[n->in[0]]); }
static clf_mat *rec_bind(clf_ctx *c, const rp_node *n, clf_mat **h) {
    (void)c;
    return n->attr[0] ? clf_cbind(h[n->in[0]], h[n->in[1]]) : clf_rbind(h[n->in[0]], h[n->in[1]]);
}
static clf_mat *rec_product(clf_ctx *c, const rp_node *n, clf_mat **h) { (void)c; return clf_matmul(h[n->in[0]], h[n->in[1]]); }
static clf_mat *rec_diag(clf_ctx *c, const rp_node *n, clf_mat **h) { (void)c; return clf_diag(h[n->in[0]]); }
static clf_mat *rec_rev(clf_ctx *c, const rp_node *n, clf_mat **h) { (void)c; return clf_rev(h[n->in[0]]); }
static clf_mat *rec_reshape(clf_ctx *c, const rp_node *n, clf_mat **h) { (void)c; return clf_reshape(h[n->in[0]], n->m.rows, n->m.cols); }
static clf_mat *rec_cum(clf_ctx *c, const rp_node *n, clf_mat **h) { (void)c; return clf_cum((clf_fold_code)n->op, h[n->in[0]]); }

static const struct {
    const char *name;
    int weight;
    bool fuses;
    bool (*make)(gen *g, rp_node *n);
    clf_mat *(*record)(clf_ctx *c, const rp_node *n, clf_mat **h);
} kinds[] = {
    {"leaf", 6, true, make_leaf, rec_leaf},          {"number", 3, true, make_number, rec_number}, {"fill", 1, false, make_fill, rec_fill},
    {"seq", 1, false, make_seq, rec_seq},            {"", 40, true, make_cell, rec_cell},          {"cast", 4, true, make_cast, rec_cast},
    {"as.scalar/as.matrix", 3, true, make_form, rec_form}, {"fold", 12, true, make_fold, rec_fold}, {"index", 5, false, make_index, rec_index},
    {"t", 4, false, make_transpose, rec_transpose},  {"bind", 4, false, make_bind, rec_bind},      {"%*%", 5, false, make_product, rec_product},
    {"diag", 1, false, make_diag, rec_diag},         {"rev", 1, false, make_rev, rec_rev},         {"matrix", 2, false, make_reshape, rec_reshape},
    {"cum", 2, false, make_cum, rec_cum},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int random_kind(gen *g) {
    int total = 0, at_weight;
    for (int k = 0; k < KINDS; k++) total += kinds[k].weight;
    for (;;) {
        at_weight = pick(g, total);
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
    gen g = {p, o, seed * UINT64_C(0x9E3779B97F4A7C15) + 12345};
    for (int tries = 0; p->n < o->nodes && tries < 400 * o->nodes; tries++) {
        rp_node *n = &p->node[p->n];
        memset(n, 0, sizeof *n);
        n->kind = random_kind(&g);
        if (kinds[n->kind].make(&g, n)) p->n++;
        else free(n->m.v);
    }
    p->root[p->nroot++] = p->n - 1;
    while (pick(&g, 2) && p->nroot < 5) p->root[p->nroot++] = pick(&g, p->n);
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
    if (clf_info(h, &rows, &cols, &t, &scalar) != CLF_OK || rows != want->rows || cols != want->cols || t != want->t || scalar != want->scalar) return -2;
    if (clf_data(h, &data) != CLF_OK) return -2;
    for (int64_t k = 0; k < count(want); k++)
        if (load(data, k, t) != want->v[k]) return k;
    return -1;
}

void rp_print(const rp_program *p) {
    static const char *const way[] = {"all", "rows", "cols"};
    printf("    seed %" PRIu64 "\n", p->seed);
    for (int i = 0; i < p->n; i++) {
        const rp_node *n = &p->node[i];
        printf("    n%d = %s%s", i, kinds[n->kind].name, kinds[n->kind].make == make_cell ? cells[n->op].name : "");
        if (kinds[n->kind].make == make_fold || kinds[n->kind].make == make_cum) printf(" %d %s", n->op, way[n->attr[0]]);
        printf("(");
        for (int k = 0; k < n->nin; k++) printf("%sn%d", k ? ", " : "", n->in[k]);
        if (kinds[n->kind].make == make_index) printf(", %" PRId64 ":%" PRId64 ", %" PRId64 ":%" PRId64, n->attr[0], n->attr[1], n->attr[2], n->attr[3]);
        printf(")  # %s%s %" PRId64 "x%" PRId64 "\n", clf_dtype_name(n->m.t), n->m.scalar ? " scalar" : "", n->m.rows, n->m.cols);
    }
    printf("    roots");
    for (int r = 0; r < p->nroot; r++) printf(" n%d", p->root[r]);
    printf("\n");
}
