/* SPDX-License-Identifier: Apache-2.0
 * Random planning graphs, one operator after the other. See plan_random.h. */
#include "tests/support/plan_random.h"

#include <string.h>

#include "core/fold.h"

uint64_t plan_random_below(uint64_t *state, uint64_t n) { /* splitmix64 */
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (z ^ z >> 31) % n;
}

static int draw(plan_random *p, int n) { return (int)plan_random_below(&p->state, (uint64_t)n); }

/* ---- nodes ---- */

static int32_t put(plan_random *p, int op, clf_dtype t, int64_t rows, int64_t cols, int nin, int32_t a, int32_t b, int32_t c) {
    clf_gnode *x = &p->node[p->g.n];
    *x = (clf_gnode){.op = (uint16_t)op, .dtype = (uint8_t)t, .rank = 2, .nin = (uint8_t)nin, .in = {a, b, c}, .nnz = rows * cols};
    clf_gnode_shape(x, rows, cols);
    return p->g.n++;
}

static int32_t put_slot(plan_random *p, int op, clf_dtype t, int64_t rows, int64_t cols) {
    int32_t n = put(p, op, t, rows, cols, 0, -1, -1, -1);
    p->node[n].attr[0] = p->g.nslot++;
    p->node[n].scalar = op == CLF_OP_CONST;
    p->node[n].rank = op == CLF_OP_CONST ? 0 : 2;
    return n;
}

static const clf_gnode *at(const plan_random *p, int32_t n) { return &p->node[n]; }
static bool is_slot(const clf_gnode *x) { return x->op == CLF_OP_LEAF || x->op == CLF_OP_CONST; }

/* A leaf, mostly one that is there already. */
static int32_t leaf(plan_random *p) {
    const int64_t shape[][2] = {
        {p->rows, p->cols}, {p->rows, p->cols}, {p->rows, p->cols}, {p->rows, p->cols}, {p->rows, p->cols}, {p->rows, 1}, {p->rows, 1},
        {1, p->cols},       {p->cols, p->cols}, {p->cols, 1},       {p->rows, p->wide}, {p->wide, p->cols}, {1, 1}};
    int s = draw(p, p->alike ? 7 : (int)(sizeof shape / sizeof *shape) + 1);
    bool scalar = s == (int)(sizeof shape / sizeof *shape), fresh = draw(p, 10) < 2;
    for (int32_t n = 0; n < p->g.n && !fresh; n++) {
        const clf_gnode *x = at(p, n);
        if (!is_slot(x) || x->scalar != scalar) continue;
        if (scalar || (clf_rows(x) == shape[s][0] && clf_cols(x) == shape[s][1])) return n;
    }
    if (scalar) return put_slot(p, CLF_OP_CONST, CLF_F64, 1, 1);
    return put_slot(p, CLF_OP_LEAF, draw(p, 20) ? CLF_F64 : CLF_F32, shape[s][0], shape[s][1]);
}

/* Any operand: mostly what an operator made, rather a late one, seldom a single value. */
static int32_t operand(plan_random *p) {
    for (int tries = 0; tries < 6 && p->ops && draw(p, 10) < 8; tries++) {
        int32_t back = draw(p, p->g.n), n = p->g.n - 1 - (back > 3 ? draw(p, back + 1) : back);
        bool single = clf_gnode_single(at(p, n));
        if (!is_slot(at(p, n)) && !p->behind[n] && (!single || draw(p, 10) < 2)) return n;
    }
    return leaf(p);
}

/* ---- kinds of operators: false where the operands drawn do not fit ---- */

static bool cell(plan_random *p) {
    int op = draw(p, CLF_NOPS), arity = clf_ops[op].arity;
    int32_t in[3] = {-1, -1, -1};
    const clf_gnode *x[3];
    clf_dtype t[3], result;
    bool scalar[3], all = true;
    clf_dim dim[2];
    clf_err err = {CLF_OK, ""};
    for (int k = 0; k < arity; k++) in[k] = operand(p);
    for (int k = 0; k < arity; k++) {
        x[k] = at(p, in[k]);
        t[k] = (clf_dtype)x[k]->dtype;
        scalar[k] = x[k]->scalar;
        all = all && scalar[k];
    }
    if (clf_shape_cell(clf_ops[op].name, arity, x, false, dim, &err) != CLF_OK) return false;
    (void)clf_op_type((clf_op)op, arity, t, scalar, &result);
    int32_t n = put(p, op, result, dim[0].n, dim[1].n, arity, in[0], in[1], in[2]);
    p->node[n].scalar = all;
    p->node[n].rank = all ? 0 : 2;
    return true;
}

static bool cast(plan_random *p) {
    static const clf_dtype to[] = {CLF_F64, CLF_F64, CLF_F64, CLF_F32, CLF_I64, CLF_I32};
    int32_t a = operand(p), n = put(p, CLF_OP_CAST, to[draw(p, 6)], clf_rows(at(p, a)), clf_cols(at(p, a)), 1, a, -1, -1);
    p->node[n].scalar = at(p, a)->scalar;
    p->node[n].rank = at(p, a)->rank;
    return true;
}

static bool fold(plan_random *p) {
    int32_t a = operand(p);
    const clf_gnode *x = at(p, a);
    if (x->scalar) return false;
    int f = draw(p, 5) ? CLF_FOLD_SUM : draw(p, CLF_NFOLDS), way = draw(p, 3);
    int64_t rows = way == CLF_WAY_ROWS ? clf_rows(x) : 1, cols = way == CLF_WAY_COLS ? clf_cols(x) : 1;
    clf_dtype t = clf_fold_result_type((clf_fold_id)f, clf_fold_value_type((clf_fold_id)f, (clf_dtype)x->dtype));
    int32_t n = put(p, CLF_OP_FOLD, t, rows, cols, 1, a, -1, -1);
    p->node[n].scalar = way == CLF_WAY_ALL;
    p->node[n].rank = way == CLF_WAY_ALL ? 0 : 2;
    p->node[n].attr[0] = f;
    p->node[n].attr[1] = way;
    return true;
}

/* The operand of a product, through a transpose nobody else sees. */
static int32_t turned(plan_random *p, int32_t a) {
    int32_t n = put(p, CLF_OP_TRANSPOSE, (clf_dtype)at(p, a)->dtype, clf_cols(at(p, a)), clf_rows(at(p, a)), 1, a, -1, -1);
    p->behind[n] = 1;
    return n;
}

static bool product(plan_random *p) {
    int32_t a = operand(p), b = operand(p);
    bool ta = draw(p, 2), tb = !ta && draw(p, 2);
    const clf_gnode *x = at(p, a), *y = at(p, b);
    int64_t m = ta ? clf_cols(x) : clf_rows(x), inner = ta ? clf_rows(x) : clf_cols(x), k = tb ? clf_rows(y) : clf_cols(y);
    bool fits = inner == (tb ? clf_cols(y) : clf_rows(y)) && (double)m * (double)k <= 1e9;
    if (!fits || x->scalar || y->scalar || x->dtype != CLF_F64 || y->dtype != CLF_F64) return false;
    if (ta) a = turned(p, a);
    if (tb) b = turned(p, b);
    (void)put(p, CLF_OP_MATMUL, CLF_F64, m, k, 2, a, b, -1);
    return true;
}

static bool cat(plan_random *p) {
    int32_t a = operand(p), b = operand(p);
    const clf_gnode *x = at(p, a), *y = at(p, b);
    bool rows = !draw(p, 4), fits = rows ? clf_cols(x) == clf_cols(y) : clf_rows(x) == clf_rows(y);
    if (!fits || x->scalar || y->scalar || x->dtype != y->dtype) return false;
    (void)put(p, rows ? CLF_OP_RBIND : CLF_OP_CBIND, (clf_dtype)x->dtype, rows ? clf_rows(x) + clf_rows(y) : clf_rows(x),
              rows ? clf_cols(x) : clf_cols(x) + clf_cols(y), 2, a, b, -1);
    return true;
}

static bool cumulate(plan_random *p) {
    int32_t a = operand(p);
    if (at(p, a)->scalar || at(p, a)->dtype != CLF_F64) return false;
    int32_t n = put(p, CLF_OP_CUM, CLF_F64, clf_rows(at(p, a)), clf_cols(at(p, a)), 1, a, -1, -1);
    p->node[n].attr[0] = CLF_FOLD_SUM;
    p->node[n].attr[1] = clf_cols(at(p, a)) > 1 && draw(p, 3) ? CLF_WAY_ROWS : CLF_WAY_ALL; /* as rewriting makes them */
    return true;
}

static bool turn(plan_random *p) {
    int32_t a = operand(p);
    const clf_gnode *x = at(p, a);
    bool t = draw(p, 3);
    if (x->scalar) return false;
    (void)put(p, t ? CLF_OP_TRANSPOSE : CLF_OP_REV, (clf_dtype)x->dtype, t ? clf_cols(x) : clf_rows(x), t ? clf_rows(x) : clf_cols(x), 1, a,
              -1, -1);
    return true;
}

static bool range(plan_random *p) {
    int32_t a = operand(p);
    const clf_gnode *x = at(p, a);
    const int64_t size[] = {p->rows, p->cols, 1};
    int64_t rows = draw(p, 2) ? clf_rows(x) : size[draw(p, 3)], cols = draw(p, 2) ? clf_cols(x) : size[draw(p, 3)];
    if (x->scalar || rows > clf_rows(x) || cols > clf_cols(x)) return false;
    int32_t n = put(p, CLF_OP_INDEX, (clf_dtype)x->dtype, rows, cols, 1, a, -1, -1);
    p->node[n].attr[0] = clf_rows(x) - rows;
    p->node[n].attr[1] = draw(p, 2) ? clf_cols(x) - cols : 0;
    return true;
}

static bool made_up(plan_random *p) {
    const int64_t shape[][2] = {{p->rows, p->cols}, {p->rows, 1}, {1, p->cols}, {p->cols, 1}, {1, 1}};
    int s = draw(p, 5);
    if (draw(p, 2)) {
        int32_t a = operand(p);
        if (!clf_gnode_single(at(p, a)) || !at(p, a)->scalar) a = put_slot(p, CLF_OP_CONST, CLF_F64, 1, 1);
        (void)put(p, CLF_OP_FILL, (clf_dtype)at(p, a)->dtype, shape[s][0], shape[s][1], 1, a, -1, -1);
        return true;
    }
    int32_t n = put(p, CLF_OP_SEQ, CLF_F64, shape[s][0], 1, 0, -1, -1, -1);
    p->node[n].attr[0] = clf_attr_of(1);
    p->node[n].attr[1] = clf_attr_of(0.5);
    return true;
}

/* ---- whole graphs ---- */

static void choose_sizes(plan_random *p) {
    static const int64_t sizes[][3] = {{1000, 40, 100},  {1000, 40, 100}, {12, 5, 80},     {1000000, 10, 100},
                                       {3000000, 2, 70}, {1, 40, 100},    {5000, 300, 300}};
    const int64_t *s = sizes[draw(p, (int)(sizeof sizes / sizeof *sizes))];
    p->rows = s[0];
    p->cols = s[1];
    p->wide = s[2];
    p->alike = draw(p, 3) == 0;
}

/* Whatever nothing takes, and now and then something that is taken. */
static void choose_roots(plan_random *p) {
    bool taken[PLAN_RANDOM_NODES] = {false};
    int often = draw(p, 3);
    for (int32_t n = 0; n < p->g.n; n++)
        for (int k = 0; k < at(p, n)->nin; k++) taken[at(p, n)->in[k]] = true;
    for (int32_t n = p->g.n; n-- > 0 && p->g.nroot < PLAN_RANDOM_ROOTS;) {
        bool made = !is_slot(at(p, n)) && !p->behind[n];
        if (made && (!taken[n] || draw(p, 10) < often)) p->root[p->g.nroot++] = n;
    }
}

void plan_random_make(plan_random *p, uint64_t seed, int ops) {
    static bool (*const kind[])(plan_random *) = {cell,    cell,    cell,    cell, cell, cell,     fold, fold,  fold,   product,
                                                  product, product, product, cast, cat,  cumulate, turn, range, made_up};
    memset(p, 0, sizeof *p);
    p->state = seed * UINT64_C(0xD1342543DE82EF95) + 1;
    p->g = (clf_graph){.node = p->node, .root = p->root};
    choose_sizes(p);
    for (int tries = 0; tries < 400 && p->ops < ops && p->g.n < PLAN_RANDOM_NODES - 8; tries++)
        p->ops += kind[draw(p, (int)(sizeof kind / sizeof *kind))](p);
    choose_roots(p);
}

/* ---- sparse ones ---- */

static bool structural(const plan_random *p, int32_t n) { return at(p, n)->zeros == CLF_ZEROS_STRUCTURAL; }

/* Zero wherever some operand's structural zero is: the operand, by what recording would find. -1: none. */
static int32_t zero_with(const plan_random *p, const clf_gnode *x) {
    bool keeps =
        x->op == CLF_OP_CAST || x->op == CLF_OP_TRANSPOSE || (clf_op_is_cell(x->op) && x->nin == 1 && (clf_ops[x->op].flags & F_ZERO));
    unsigned one = keeps ? 1u : clf_op_annihilators(x->op);
    for (int k = 0; k < x->nin; k++)
        if ((one >> k & 1) && structural(p, x->in[k])) return x->in[k];
    return -1;
}

/* Multiplying keeps zeros, as few operators do. */
static void multiply(const plan_random *p, clf_gnode *x) {
    bool fits = clf_op_is_cell(x->op) && x->nin == 2 && x->dtype == CLF_F64;
    for (int k = 0; k < x->nin; k++) fits = fits && at(p, x->in[k])->dtype == CLF_F64;
    if (fits) x->op = CLF_OP_MUL;
}

void plan_random_sparse(plan_random *p) {
    static const int64_t in_1000[] = {600, 600, 300, 100, 10, 1};
    for (int32_t n = 0; n < p->g.n; n++) {
        clf_gnode *x = &p->node[n];
        int64_t cells = clf_rows(x) * clf_cols(x);
        if (x->op == CLF_OP_LEAF && clf_rows(x) > 1 && clf_cols(x) > 1 && draw(p, 4)) {
            x->format = CLF_CSR;
            x->zeros = CLF_ZEROS_STRUCTURAL;
            x->nnz = cells * in_1000[draw(p, 6)] / 1000;
        }
        if (draw(p, 2)) multiply(p, x);
        int32_t q = is_slot(x) ? -1 : zero_with(p, x);
        if (q < 0) continue;
        x->zeros = CLF_ZEROS_STRUCTURAL;
        x->nnz = at(p, q)->nnz < cells ? at(p, q)->nnz : cells;
    }
}
