/* SPDX-License-Identifier: Apache-2.0
 * Choices: the operands and attributes of a new node; of a source also type, shape and cells. Lately made nodes are preferred, so that
 * programs are deep; what need not fit together is refused later. */
#include <math.h>
#include <stdlib.h>

#include "tests/support/random_make.h"

static uint64_t next(rp_gen *g) {
    g->state = g->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t x = g->state ^ g->state >> 31;
    return x * UINT64_C(0x9E3779B97F4A7C15) >> 11;
}
int rp_pick(rp_gen *g, int n) { return (int)((next(g) >> 13) % (uint64_t)n); }
double rp_uniform(rp_gen *g) { return (double)next(g) * 0x1p-53; }

/* Any node, a lately made one, or one that nobody has read. */
static int choose(rp_gen *g) {
    int all = g->p->n, i = rp_pick(g, all), way = rp_pick(g, 3);
    if (way == 1 && all > 6) return all - 1 - rp_pick(g, 6);
    for (int tries = 0; way == 2 && tries < 6 && g->read[i]; tries++) i = rp_pick(g, all);
    return i;
}

static const rp_matrix *operand(rp_gen *g, rp_node *n, int k) {
    int i = choose(g);
    n->in[k] = i;
    n->nin = k + 1;
    return &g->p->node[i].m;
}

static bool meet(const rp_matrix *a, const rp_matrix *b) {
    return (a->rows == b->rows || a->rows == 1 || b->rows == 1) && (a->cols == b->cols || a->cols == 1 || b->cols == 1);
}

/* ---- sources ---- */

static bool source(rp_node *n, clf_dtype t, bool scalar, int64_t rows, int64_t cols, int64_t most) {
    if (rows * cols > most) return false;
    n->m = (rp_matrix){t, scalar, false, rows, cols, calloc((size_t)(rows * cols) + 1, sizeof(double))};
    return n->m.v != NULL;
}

static clf_dtype any_type(rp_gen *g) { return g->o->domain == RP_PRIME ? CLF_F64 : (clf_dtype)rp_pick(g, 5); }

enum { WIDE = 1000 };

/* Of the widest span some are multiples of 256: their low byte is 0, they are not. */
static double integer_cell(rp_gen *g, clf_dtype t, int span) {
    if (t == CLF_U8) return rp_pick(g, (span < 255 ? span : 255) + 1);
    int x = rp_pick(g, 2 * span + 1) - span;
    return span == WIDE && x % 4 == 0 ? x / 4 * 256 : x;
}

/* Integers at the ends of their range: what follows wraps. */
static double special_integer(rp_gen *g, clf_dtype t) {
    static const double end[] = {0x1p31 - 1, -0x1p31, 46341, -0x1p16, 0x1p30}, far[] = {-0x1p63, 0x1p62, 3037000500.0, -0x1p32, 0x1p53};
    if (t == CLF_U8) return 255 - rp_pick(g, 2);
    return t == CLF_I32 ? end[rp_pick(g, 5)] : far[rp_pick(g, 5)];
}

static double special_cell(rp_gen *g, clf_dtype t) {
    static const double any[] = {NAN, INFINITY, -INFINITY, -0.0, 0x1p31, -0x1p63, 1e30, -3e38, 0x1p-1040, 0x1.8p-140};
    double x = any[rp_pick(g, sizeof any / sizeof *any)];
    return t == CLF_F32 ? (double)(float)x : x;
}

/* Three families: around zero, positive, and of very different sizes; a tenth are zeros. */
static double real_cell(rp_gen *g, clf_dtype t, int family) {
    bool special = g->o->special && family != 1 && rp_pick(g, 20) == 0;
    if (!rp_real(t)) return special ? special_integer(g, t) : integer_cell(g, t, 4);
    if (special) return special_cell(g, t);
    double u = rp_uniform(g), x = family == 0 ? 8 * u - 4 : family == 1 ? 4 * u + 0x1p-10 : ldexp(2 * u - 1, rp_pick(g, 21) - 10);
    if (family != 1 && rp_pick(g, 10) == 0) x = 0;
    return t == CLF_F32 ? (double)(float)x : x;
}

static double field_cell(rp_gen *g) {
    static const double edge[] = {0, 1, 2147483646, 1073741823};
    return rp_pick(g, 8) ? floor(rp_uniform(g) * 2147483647.0) : edge[rp_pick(g, 4)];
}

static void fill_cells(rp_gen *g, rp_matrix *m) {
    static const int spans[] = {1, 4, 4, 4, 30, WIDE};
    int span = spans[rp_pick(g, 6)], family = rp_pick(g, 3);
    for (int64_t i = 0; i < rp_count(m); i++) {
        if (g->o->domain == RP_PRIME)
            m->v[i] = field_cell(g);
        else
            m->v[i] = g->o->domain == RP_REAL ? real_cell(g, m->t, family) : integer_cell(g, m->t, span);
    }
}

bool rp_leaf_of(rp_gen *g, rp_node *n, clf_dtype t, int64_t rows, int64_t cols) {
    if (!source(n, t, false, rows, cols, g->o->most_cells)) return false;
    fill_cells(g, &n->m);
    return true;
}

/* (What is drawn for arguments is drawn before the call: compilers take arguments in different orders.) */
static void draw_shape(rp_gen *g, int64_t *rows, int64_t *cols) {
    *cols = g->extent[rp_pick(g, 3)];
    *rows = g->extent[rp_pick(g, 3)];
}

/* A quarter of the leaves have the cells of an earlier one: equal data under another name. */
static bool twin_leaf(rp_gen *g, rp_node *n) {
    const rp_node *twin = &g->p->node[rp_pick(g, g->p->n)];
    if (twin->kind != RP_LEAF || !source(n, twin->m.t, false, twin->m.rows, twin->m.cols, g->o->most_cells)) return false;
    for (int64_t i = 0; i < rp_count(&n->m); i++) n->m.v[i] = twin->m.v[i];
    return true;
}

static bool pick_leaf(rp_gen *g, rp_node *n) {
    int64_t rows = g->o->rows, cols = g->o->cols;
    bool sparse = g->sparse && rp_pick(g, 2);
    n->attr[0] = sparse ? RP_DENSE_DOORS + rp_pick(g, rp_ndoors - RP_DENSE_DOORS) : rp_pick(g, RP_DENSE_DOORS);
    if (g->p->n > 0 && rp_pick(g, 8) == 0 && twin_leaf(g, n)) return true;
    if (!rows && !cols) {
        rows = g->extent[rp_pick(g, 3)];
        cols = g->extent[rp_pick(g, 3)];
    } else if (rp_pick(g, 4) == 0) {
        if (rp_pick(g, 2))
            rows = 1;
        else
            cols = 1;
    }
    if (!rp_leaf_of(g, n, sparse && rp_pick(g, 2) ? CLF_F64 : any_type(g), rows, cols)) return false;
    if (sparse) rp_thin_out(g, &n->m);
    return true;
}

static bool pick_number(rp_gen *g, rp_node *n) {
    clf_dtype t = g->o->domain == RP_PRIME || rp_pick(g, 2) ? CLF_F64 : CLF_I64;
    if (!source(n, t, true, 1, 1, 1)) return false;
    if (g->o->domain == RP_INTEGER)
        n->m.v[0] = rp_pick(g, 9) - 4;
    else
        fill_cells(g, &n->m);
    return true;
}

static bool pick_fill(rp_gen *g, rp_node *n) {
    int64_t rows, cols;
    draw_shape(g, &rows, &cols);
    if (!source(n, any_type(g), false, rows, cols, g->o->most_cells)) return false;
    n->num[0] = rp_pick(g, 4);
    for (int64_t i = 0; i < rp_count(&n->m); i++) n->m.v[i] = n->num[0];
    return true;
}

static bool pick_seq(rp_gen *g, rp_node *n) {
    int64_t rows = g->extent[rp_pick(g, 3)];
    if (rows < 1 || !source(n, CLF_F64, false, rows, 1, g->o->most_cells)) return false;
    n->num[0] = rp_pick(g, 5) - (g->o->domain == RP_PRIME ? 0 : 2);
    n->num[1] = rp_pick(g, 3) + 1;
    for (int64_t i = 0; i < rows; i++) n->m.v[i] = n->num[0] + (double)i * n->num[1];
    return true;
}

static double uniform(uint32_t hi, uint32_t lo) { return (double)(((uint64_t)hi << 32 | lo) >> 11) * 0x1p-53; }

static bool pick_rand(rp_gen *g, rp_node *n) {
    int64_t rows, cols;
    draw_shape(g, &rows, &cols);
    if (!source(n, rp_pick(g, 2) ? CLF_F64 : CLF_F32, false, rows, cols, g->o->most_cells)) return false;
    n->num[0] = rp_pick(g, 7) - 3;
    n->num[1] = n->num[0] + (g->o->domain == RP_REAL ? rp_pick(g, 3) : 0); /* integers only: all that are not zero are alike */
    n->attr[0] = 10 * rp_pick(g, 11);
    n->attr[1] = rp_pick(g, 1 << 20);
    for (int64_t i = 0; i < rp_count(&n->m); i++) {
        uint32_t w[4];
        rp_philox((uint64_t)i, (uint64_t)n->attr[1], w);
        double x = n->num[0] + uniform(w[0], w[1]) * (n->num[1] - n->num[0]);
        if (!(uniform(w[2], w[3]) < (double)n->attr[0] / 100)) x = 0;
        n->m.v[i] = n->m.t == CLF_F32 ? (double)(float)x : x;
    }
    return true;
}

/* ---- operators ---- */

static int random_op(rp_gen *g, int arity) {
    for (int tries = 0; tries < 1000; tries++) {
        int op = rp_pick(g, CLF_OP_CODES);
        if (rp_op_allowed(g->o, op) && (!arity || rp_arity(op) == arity)) return op;
    }
    return CLF_ADD;
}

/* A sparse leaf, or what is made of one at once: t(X), X * y. */
static bool choose_sparse(rp_gen *g, rp_node *n, int k) {
    const rp_program *p = g->p;
    for (int tries = 0; g->sparse && tries < 8; tries++) {
        int i = rp_pick(g, p->n);
        const rp_node *x = &p->node[i];
        if (!rp_sparse_leaf(x) && !(x->nin && rp_sparse_leaf(&p->node[x->in[0]]))) continue;
        n->in[k] = i;
        n->nin = k + 1;
        return true;
    }
    return false;
}

/* X * (U %*% t(V)): an operand of the sparse one's shape, lately made. */
static bool pick_masked(rp_gen *g, rp_node *n) {
    static const int ops[] = {CLF_MUL, CLF_MUL, CLF_DIV};
    n->op = ops[rp_pick(g, 3)];
    if (!rp_op_allowed(g->o, n->op) || !choose_sparse(g, n, 0)) return false;
    const rp_matrix *x = &g->p->node[n->in[0]].m;
    for (int tries = 0; tries < 12; tries++) {
        const rp_matrix *y = operand(g, n, 1);
        if (y->rows == x->rows && y->cols == x->cols) return true;
    }
    return meet(x, &g->p->node[n->in[1]].m);
}

static bool pick_cell(rp_gen *g, rp_node *n) {
    if (g->sparse && rp_pick(g, 5) == 0) return pick_masked(g, n);
    n->op = random_op(g, 0);
    const rp_matrix *first = operand(g, n, 0);
    for (int k = 1; k < rp_arity(n->op); k++)
        for (int tries = 0; tries < 6; tries++)
            if (meet(first, operand(g, n, k))) break;
    return true;
}

static bool pick_outer(rp_gen *g, rp_node *n) {
    n->op = random_op(g, 2);
    for (int tries = 0; tries < 20; tries++)
        if (operand(g, n, 0)->cols == 1 && g->p->node[n->in[0]].m.rows != 1) break;
    for (int tries = 0; tries < 20; tries++) {
        const rp_matrix *v = operand(g, n, 1);
        if (v->rows == 1 || v->cols == 1) break;
    }
    return true;
}

static bool pick_any(rp_gen *g, rp_node *n) {
    operand(g, n, 0);
    return true;
}

static bool pick_cast(rp_gen *g, rp_node *n) {
    operand(g, n, 0);
    n->m.t = any_type(g);
    return true;
}

static bool pick_form(rp_gen *g, rp_node *n) {
    for (int tries = 0; tries < 10; tries++)
        if (rp_count(operand(g, n, 0)) == 1) break;
    return true;
}

static bool pick_fold(rp_gen *g, rp_node *n) {
    operand(g, n, 0);
    n->op = rp_pick(g, CLF_FOLD_CODES);
    n->attr[0] = rp_pick(g, 3);
    return rp_fold_allowed(g->o, n->op);
}

static bool pick_cum(rp_gen *g, rp_node *n) {
    static const int folds[] = {CLF_FOLD_CODE_SUM, CLF_FOLD_CODE_PROD, CLF_FOLD_CODE_MIN, CLF_FOLD_CODE_MAX};
    n->op = folds[rp_pick(g, 4)];
    operand(g, n, 0);
    return true;
}

/* One time in eight an empty range, where the notation has one. */
static void range(rp_gen *g, int64_t extent, int64_t *first, int64_t *last) {
    *first = 1 + rp_pick(g, (int)extent);
    *last = *first + rp_pick(g, (int)(extent - *first + 1));
    if (*first > 1 && rp_pick(g, 8) == 0) *last = *first - 1;
}

/* A part of x that is as large as some other node, so that the two meet. */
static bool range_like_another(rp_gen *g, rp_node *n, const rp_matrix *x) {
    const rp_matrix *y = &g->p->node[choose(g)].m;
    if (y->rows < 1 || y->cols < 1 || y->rows > x->rows || y->cols > x->cols || (y->rows == x->rows && y->cols == x->cols)) return false;
    n->attr[0] = 1 + rp_pick(g, (int)(x->rows - y->rows + 1));
    n->attr[1] = n->attr[0] + y->rows - 1;
    n->attr[2] = 1 + rp_pick(g, (int)(x->cols - y->cols + 1));
    n->attr[3] = n->attr[2] + y->cols - 1;
    return true;
}

static bool pick_index(rp_gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    if (x->rows < 1 || x->cols < 1) return false;
    for (int tries = 0; tries < 4; tries++)
        if (range_like_another(g, n, x)) return true;
    range(g, x->rows, &n->attr[0], &n->attr[1]);
    range(g, x->cols, &n->attr[2], &n->attr[3]);
    return true;
}

static bool pick_two(rp_gen *g, rp_node *n) {
    operand(g, n, 0);
    operand(g, n, 1);
    return true;
}

static bool pick_product(rp_gen *g, rp_node *n) {
    bool sparse = g->sparse && rp_pick(g, 3) && choose_sparse(g, n, 0), both = sparse && rp_pick(g, 2);
    const rp_matrix *a = sparse ? &g->p->node[n->in[0]].m : operand(g, n, 0);
    for (int tries = 0; tries < 30 && both; tries++)
        if (choose_sparse(g, n, 1) && g->p->node[n->in[1]].m.rows == a->cols) return true;
    for (int tries = 0; tries < (sparse ? 30 : 10); tries++)
        if (operand(g, n, 1)->rows == a->cols) break;
    return true;
}

static bool pick_reshape(rp_gen *g, rp_node *n) {
    static const int64_t cols[] = {1, 2, 3, 7, 64, 65};
    const rp_matrix *x = operand(g, n, 0);
    int64_t c = rp_pick(g, 4) ? cols[rp_pick(g, 6)] : x->rows;
    if (c < 1 || rp_count(x) % c != 0) return false;
    n->m.rows = rp_count(x) / c;
    n->m.cols = c;
    return true;
}

static bool pick_order(rp_gen *g, rp_node *n) {
    const rp_matrix *x = operand(g, n, 0);
    if (x->cols < 1) return false;
    n->attr[0] = 1 + rp_pick(g, (int)x->cols);
    n->attr[1] = rp_pick(g, 2);
    n->attr[2] = rp_pick(g, 2);
    return true;
}

static bool (*const pick[RP_KINDS])(rp_gen *g, rp_node *n) = {
    [RP_LEAF] = pick_leaf,       [RP_NUMBER] = pick_number, [RP_FILL] = pick_fill,     [RP_SEQ] = pick_seq,         [RP_RAND] = pick_rand,
    [RP_CELL] = pick_cell,       [RP_OUTER] = pick_outer,   [RP_CAST] = pick_cast,     [RP_FORM] = pick_form,       [RP_FOLD] = pick_fold,
    [RP_CUM] = pick_cum,         [RP_INDEX] = pick_index,   [RP_TRANSPOSE] = pick_any, [RP_CBIND] = pick_two,       [RP_RBIND] = pick_two,
    [RP_PRODUCT] = pick_product, [RP_DIAG] = pick_any,      [RP_REV] = pick_any,       [RP_RESHAPE] = pick_reshape, [RP_ORDER] = pick_order,
};

bool rp_pick_node(rp_gen *g, rp_node *n) { return pick[n->kind](g, n); }
