/* SPDX-License-Identifier: Apache-2.0
 * A production of random programs: what rewrite rules look for, around a matrix of the program. Single random nodes come to these forms
 * too rarely for the rules to be tried. A pattern that does not fit, or leaves the domain, leaves the program as it was. */
#include <stdlib.h>

#include "tests/support/random_make.h"

enum { MOST_PLANTED = 10 };

/* Operands and attributes are n's; p grows by it. -1 when it does not fit, or an operand is missing. */
static int add(rp_gen *g, rp_node n) {
    rp_program *p = g->p;
    for (int k = 0; k < n.nin; k++)
        if (n.in[k] < 0) return -1;
    if (!rp_kind_allowed(g->o, n.kind) || (n.kind == RP_CELL && !rp_op_allowed(g->o, n.op))) return -1;
    if (n.kind == RP_FOLD && !rp_fold_allowed(g->o, n.op)) return -1;
    p->node[p->n] = n;
    if (!rp_make_node(p, &p->node[p->n], g->o->most_cells)) return -1;
    for (int k = 0; k < n.nin; k++) g->read[n.in[k]] = true;
    return p->n++;
}

static int cell(rp_gen *g, int op, int a, int b) { return add(g, (rp_node){.kind = RP_CELL, .op = op, .nin = 2, .in = {a, b}}); }

static int unary(rp_gen *g, int op, int a) { return add(g, (rp_node){.kind = RP_CELL, .op = op, .nin = 1, .in = {a}}); }

static int one_in(rp_gen *g, int kind, int a) { return a < 0 ? -1 : add(g, (rp_node){.kind = kind, .nin = 1, .in = {a}}); }

static int product(rp_gen *g, int a, int b) { return add(g, (rp_node){.kind = RP_PRODUCT, .nin = 2, .in = {a, b}}); }

static int fold(rp_gen *g, int op, int way, int a) {
    return add(g, (rp_node){.kind = RP_FOLD, .op = op, .attr = {way}, .nin = 1, .in = {a}});
}

static int filled(rp_gen *g, int kind, clf_dtype t, int64_t rows, int64_t cols, double x) {
    rp_node n = {.kind = kind, .num = {x}, .m = {t, kind == RP_NUMBER, false, rows, cols, NULL}};
    if (rows * cols > g->o->most_cells || !rp_kind_allowed(g->o, kind) || (g->o->domain == RP_PRIME && x < 0)) return -1;
    n.m.v = malloc(((size_t)(rows * cols) + 1) * sizeof *n.m.v);
    for (int64_t k = 0; n.m.v && k < rows * cols; k++) n.m.v[k] = x;
    if (!n.m.v) return -1;
    g->p->node[g->p->n] = n;
    return g->p->n++;
}

static int number(rp_gen *g, double x) { return filled(g, RP_NUMBER, CLF_F64, 1, 1, x); }

static int leaf(rp_gen *g, int64_t rows, int64_t cols) {
    rp_node n = {.kind = RP_LEAF, .attr = {rp_pick(g, RP_DENSE_DOORS)}};
    if (!rp_leaf_of(g, &n, CLF_F64, rows, cols)) return -1;
    g->p->node[g->p->n] = n;
    return g->p->n++;
}

static const rp_matrix *m_of(const rp_gen *g, int x) { return &g->p->node[x].m; }

static int way(rp_gen *g) { return rp_pick(g, 3); }

/* ---- patterns: x is a matrix of the program ---- */

static int squares(rp_gen *g, int x) {
    int how = rp_pick(g, 3);
    int q = how == 0 ? unary(g, CLF_SQR, x) : how == 1 ? cell(g, CLF_MUL, x, x) : cell(g, CLF_POW, x, number(g, 1 + rp_pick(g, 2)));
    return q < 0 || rp_pick(g, 3) == 0 ? q : fold(g, CLF_FOLD_CODE_SUM, way(g), q);
}

static int counted(rp_gen *g, int x) {
    int zero = number(g, 0), q = rp_pick(g, 2) ? cell(g, CLF_NE, x, zero) : cell(g, CLF_NE, zero, x);
    if (q < 0) return -1;
    return rp_pick(g, 2) ? fold(g, CLF_FOLD_CODE_SUM, way(g), q) : cell(g, CLF_MUL, q, x);
}

/* Means by powers of two only: of whole numbers that is the same number whether scaled before the division or behind it. */
static int scaled(rp_gen *g, int x) {
    static const double by[] = {2, -1, 3};
    int f = rp_pick(g, 4), how = rp_pick(g, 3), side = rp_pick(g, 4);
    int a = f ? number(g, by[how]) : one_in(g, RP_FORM, fold(g, CLF_FOLD_CODE_MAX, CLF_ALL, x));
    int q = side == 0 ? unary(g, CLF_NEG, x) : side == 1 ? cell(g, CLF_MUL, x, a) : cell(g, CLF_MUL, a, x);
    if (q < 0) return -1;
    int along = way(g); /* before the call: compilers take arguments in different orders */
    bool mean = rp_pick(g, 3) == 0 && (side == 0 || (f && by[how] != 3));
    return fold(g, mean ? CLF_FOLD_CODE_MEAN : CLF_FOLD_CODE_SUM, along, q);
}

static int refolded(rp_gen *g, int x) {
    static const int f[] = {CLF_FOLD_CODE_SUM, CLF_FOLD_CODE_MIN, CLF_FOLD_CODE_MAX,
                            CLF_FOLD_CODE_NNZ, CLF_FOLD_CODE_ANY, CLF_FOLD_CODE_SUMSQ};
    int op = f[rp_pick(g, 6)];
    if (rp_pick(g, 2)) return fold(g, op, way(g), one_in(g, RP_TRANSPOSE, x));
    int outer = op == CLF_FOLD_CODE_NNZ || op == CLF_FOLD_CODE_SUMSQ ? CLF_FOLD_CODE_SUM : op;
    return fold(g, outer, CLF_ALL, fold(g, op, 1 + rp_pick(g, 2), x));
}

static int diagonal(rp_gen *g, int x) {
    bool left = rp_pick(g, 2);
    int v = leaf(g, left ? m_of(g, x)->rows : m_of(g, x)->cols, 1);
    if (v >= 0 && g->sparse) g->p->node[v].attr[0] = RP_DENSE_DOORS + rp_pick(g, rp_ndoors - RP_DENSE_DOORS);
    int d = one_in(g, RP_DIAG, v);
    return d < 0 ? -1 : left ? product(g, d, x) : product(g, x, d);
}

static int times_fill(rp_gen *g, int x) {
    bool left = rp_pick(g, 2);
    int64_t other = 1 + 2 * rp_pick(g, 2), along = left ? m_of(g, x)->rows : m_of(g, x)->cols;
    int f = filled(g, RP_FILL, CLF_F64, left ? other : along, left ? along : other, 1 + rp_pick(g, 2));
    return f < 0 ? -1 : left ? product(g, f, x) : product(g, x, f);
}

static void make_sparse(rp_gen *g, int x, int64_t gap) {
    const rp_matrix *m = m_of(g, x);
    g->p->node[x].attr[0] = RP_DENSE_DOORS + rp_pick(g, rp_ndoors - RP_DENSE_DOORS);
    for (int64_t k = 0; k < m->rows * m->cols; k += gap) m->v[k] = 0;
}

/* A tall sparse matrix whose columns have many entries, times a transpose, which may be one of a sparse matrix, or a transpose times it. */
static int side(rp_gen *g, int x) {
    (void)x;
    if (!g->sparse) return -1;
    int64_t rows = 40 + rp_pick(g, 40), cols = 2 + rp_pick(g, 2), other = 5 + rp_pick(g, 3);
    bool left = rp_pick(g, 2);
    int s = leaf(g, rows, cols), c = s < 0 ? -1 : left ? leaf(g, rows, other) : leaf(g, other, cols);
    if (c < 0) return -1;
    make_sparse(g, s, 3);
    if (rp_pick(g, 2)) make_sparse(g, c, 2); /* before it is turned, which is evaluated at once */
    int t = one_in(g, RP_TRANSPOSE, c);
    if (t < 0) return -1;
    return left ? product(g, t, s) : product(g, s, t);
}

static int turned(rp_gen *g, int x) {
    int y = leaf(g, m_of(g, x)->rows, 1 + rp_pick(g, 3)), t = one_in(g, RP_TRANSPOSE, y);
    return t < 0 ? -1 : one_in(g, RP_TRANSPOSE, product(g, t, x));
}

/* Truth values of a matrix, or its numbers in another type, transposed in front of or behind a matrix of as many rows, or columns. */
static int masked(rp_gen *g, int x) {
    static const int by[] = {CLF_GT, CLF_LE, CLF_NE};
    const rp_matrix *m = m_of(g, x);
    bool left = rp_pick(g, 2);
    int q = rp_pick(g, 3) ? cell(g, by[rp_pick(g, 3)], x, number(g, rp_pick(g, 2)))
                          : add(g, (rp_node){.kind = RP_CAST, .nin = 1, .in = {x}, .m = {.t = CLF_I32}});
    int t = one_in(g, RP_TRANSPOSE, q), y = t < 0 ? -1 : left ? leaf(g, m->rows, 1 + rp_pick(g, 3)) : leaf(g, 1 + rp_pick(g, 3), m->cols);
    return y < 0 ? -1 : left ? product(g, t, y) : product(g, y, t);
}

static int chained(rp_gen *g, int x) {
    int a = leaf(g, m_of(g, x)->cols, 2 + rp_pick(g, 7)), b = a < 0 ? -1 : leaf(g, m_of(g, a)->cols, 1 + rp_pick(g, 3));
    int q = a < 0 ? -1 : product(g, x, a);
    if (q < 0 || b < 0) return -1;
    return rp_pick(g, 3) ? product(g, q, b) : product(g, x, product(g, a, b));
}

static int thin_norm(rp_gen *g, int x) {
    (void)x;
    int64_t rows = 8 + rp_pick(g, 10), cols = 8 + rp_pick(g, 10);
    int u = leaf(g, rows, 1), v = leaf(g, 1, cols), q = u < 0 || v < 0 ? -1 : product(g, u, v);
    return q < 0 ? -1 : fold(g, CLF_FOLD_CODE_SUM, CLF_ALL, unary(g, CLF_SQR, q));
}

static int changed_little(rp_gen *g, int x) {
    static const int twice[] = {CLF_NEG, CLF_NOT}, equal[] = {CLF_MIN, CLF_MAX, CLF_AND, CLF_OR};
    static const struct {
        int op;
        double by;
    } neutral[] = {{CLF_MUL, 1}, {CLF_MUL, -1}, {CLF_DIV, 1}, {CLF_SUB, 0}, {CLF_ADD, 0}};
    int how = rp_pick(g, 4), i = rp_pick(g, 5), op = twice[rp_pick(g, 2)];
    if (how == 0) return cell(g, neutral[i].op, x, number(g, neutral[i].by));
    if (how == 1) {
        int q = unary(g, op, x);
        return q < 0 ? -1 : unary(g, op, q);
    }
    if (how == 2) return cell(g, equal[rp_pick(g, 4)], x, x);
    int c = number(g, rp_pick(g, 3)), y = unary(g, CLF_NEG, x);
    return add(g, (rp_node){.kind = RP_CELL, .op = CLF_IFELSE, .nin = 3, .in = {c, x, y}});
}

static int moved(rp_gen *g, int x) {
    const rp_matrix *m = m_of(g, x);
    int64_t rows = m->rows, cols = m->cols;
    if (rows < 2 || cols < 2) return -1;
    int q = rp_pick(g, 2) ? add(g, (rp_node){.kind = RP_INDEX, .attr = {1, rows - 1, 2, cols}, .nin = 1, .in = {x}})
                          : one_in(g, RP_TRANSPOSE, x);
    if (q < 0) return -1;
    m = m_of(g, q);
    return add(g, (rp_node){.kind = RP_INDEX, .attr = {m->rows, m->rows, 1, m->cols}, .nin = 1, .in = {q}});
}

static int recast(rp_gen *g, int x) {
    rp_node a = {.kind = RP_CAST, .nin = 1, .in = {x}, .m = {.t = (clf_dtype)rp_pick(g, 5)}}, b = {.kind = RP_CAST, .nin = 1};
    b.m.t = (clf_dtype)rp_pick(g, 5);
    b.in[0] = add(g, a);
    return b.in[0] < 0 ? -1 : add(g, b);
}

static int reshaped(rp_gen *g, int x) {
    rp_node n = {.kind = RP_RESHAPE, .nin = 1, .in = {x}, .m = {.rows = rp_count(m_of(g, x)), .cols = 1}};
    int q = add(g, n);
    if (q < 0) return -1;
    n = (rp_node){.kind = RP_RESHAPE, .nin = 1, .in = {q}, .m = {.rows = 1, .cols = rp_count(m_of(g, q))}};
    return add(g, n);
}

static int nothing(rp_gen *g, int x) {
    if (!g->sparse) return -1;
    int e = leaf(g, m_of(g, x)->rows, m_of(g, x)->cols);
    if (e < 0) return -1;
    g->p->node[e].attr[0] = RP_DENSE_DOORS + rp_pick(g, rp_ndoors - RP_DENSE_DOORS);
    for (int64_t k = 0; k < rp_count(m_of(g, e)); k++) g->p->node[e].m.v[k] = 0;
    int how = rp_pick(g, 3);
    if (how == 0) return cell(g, CLF_MUL, e, x);
    if (how == 1) {
        int along = way(g);
        return fold(g, rp_pick(g, 2) ? CLF_FOLD_CODE_SUM : CLF_FOLD_CODE_MAX, along, e);
    }
    return product(g, e, leaf(g, m_of(g, e)->cols, 2));
}

static int constants(rp_gen *g, int x) {
    static const int ops[] = {CLF_ADD, CLF_MUL, CLF_SUB, CLF_MAX};
    const rp_matrix *m = m_of(g, x);
    int64_t rows = m->rows, cols = m->cols;
    bool fills = rp_pick(g, 2);
    int a = fills ? filled(g, RP_FILL, CLF_F64, rows, cols, 1 + rp_pick(g, 2)) : number(g, 1 + rp_pick(g, 2));
    int q = cell(g, ops[rp_pick(g, 4)], a, number(g, 1));
    return q < 0 ? -1 : cell(g, CLF_MUL, q, x);
}

/* Cells of transposes, transposed, aggregated or multiplied. */
static int of_transposes(rp_gen *g, int x) {
    static const int by[] = {CLF_ADD, CLF_MUL, CLF_MAX, CLF_GT};
    const rp_matrix *m = m_of(g, x);
    int64_t rows = m->rows, cols = m->cols;
    int t = one_in(g, RP_TRANSPOSE, x), other = rp_pick(g, 3), op = by[rp_pick(g, 4)];
    int y = other == 0 ? number(g, 1 + rp_pick(g, 2)) : other == 1 ? leaf(g, cols, 1) : one_in(g, RP_TRANSPOSE, leaf(g, rows, cols));
    int q = t < 0 || y < 0 ? -1 : cell(g, op, t, y), how = rp_pick(g, 4);
    if (q < 0 || how == 0) return one_in(g, RP_TRANSPOSE, q);
    if (how == 1) return fold(g, CLF_FOLD_CODE_SUM, way(g), q);
    if (how == 2) return product(g, q, leaf(g, rows, 1 + rp_pick(g, 3)));
    return product(g, leaf(g, 1 + rp_pick(g, 3), cols), q);
}

/* Sums, means and the diagonal of a product of many terms. Means of 32 or 1024 whole numbers have no rounding. */
static int of_product(rp_gen *g, int x) {
    enum { SIDE = 32, TERMS = 33 };
    (void)x;
    bool turned = rp_pick(g, 2);
    int a = leaf(g, SIDE, TERMS), b = leaf(g, turned ? SIDE : TERMS, turned ? TERMS : SIDE), along = way(g), how = rp_pick(g, 3);
    if (a < 0 || b < 0) return -1;
    int p = product(g, a, turned ? one_in(g, RP_TRANSPOSE, b) : b);
    if (p < 0 || how == 0) return one_in(g, RP_DIAG, p);
    return fold(g, how == 1 ? CLF_FOLD_CODE_SUM : CLF_FOLD_CODE_MEAN, along, p);
}

static int (*const patterns[])(rp_gen *g, int x) = {squares, counted,   scaled,    refolded,       diagonal,  times_fill, turned,
                                                    masked,  chained,   thin_norm, changed_little, moved,     recast,     reshaped,
                                                    nothing, constants, side,      of_transposes,  of_product};

bool rp_plant_rule(rp_gen *g) {
    rp_program *p = g->p;
    int before = p->n;
    if (!before || before + MOST_PLANTED > RP_NODES) return false;
    for (int tries = 0; tries < 3; tries++) {
        int x = rp_pick(g, before);
        if (p->node[x].m.scalar || p->node[x].m.final) continue;
        if (patterns[rp_pick(g, sizeof patterns / sizeof *patterns)](g, x) >= 0) return true;
        while (p->n > before) free(p->node[--p->n].m.v);
    }
    return false;
}
