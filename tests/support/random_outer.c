/* SPDX-License-Identifier: Apache-2.0
 * Productions of random programs: a sparse leaf meets a product of two thin matrices, X * f(U %*% t(V)), and a sum, a product or nothing
 * follows; a product t(A) %*% B, wide both ways, meets cells, as gradients meet weights, or its rows are many, as those of a Gram matrix, and
 * computed. Single random nodes come to these forms too rarely
 * for the loops that are made of them to be tried. */
#include <stdlib.h>

#include "tests/support/random_make.h"

enum { MOST_PLANTED = 13 };

/* Operands and attributes are n's; p grows by it. -1 when it does not fit. */
static int add(rp_gen *g, rp_node n) {
    rp_program *p = g->p;
    p->node[p->n] = n;
    if (!rp_make_node(p, &p->node[p->n], g->o->most_cells)) return -1;
    for (int k = 0; k < n.nin; k++) g->read[n.in[k]] = true;
    return p->n++;
}

static int cell(rp_gen *g, int op, int a, int b) {
    return add(g, (rp_node){.kind = RP_CELL, .op = op, .nin = b < 0 ? 1 : 2, .in = {a, b < 0 ? 0 : b}});
}

static int thin(rp_gen *g, clf_dtype t, int64_t rows, int64_t rank) {
    rp_node n = {.kind = RP_LEAF, .attr = {rp_pick(g, RP_DENSE_DOORS)}};
    if (!rp_leaf_of(g, &n, t, rows, rank)) return -1;
    g->p->node[g->p->n] = n;
    return g->p->n++;
}

static bool wide_fits(const rp_gen *g) { return g->o->most_cells >= 95 * 95; }

static int new_driver(rp_gen *g) {
    static const int64_t extents[] = {2, 3, 7, 20, 64, 65};
    rp_node n = {.kind = RP_LEAF, .attr = {RP_DENSE_DOORS + rp_pick(g, rp_ndoors - RP_DENSE_DOORS)}};
    int64_t rows = extents[rp_pick(g, 6)], cols = extents[rp_pick(g, 6)];
    for (int tries = 0; rows * cols > g->o->most_cells && tries < 6; tries++) rows = extents[rp_pick(g, 6)];
    if (wide_fits(g)) rows = 65 + rp_pick(g, 30), cols = 65 + rp_pick(g, 30); /* as left products on the twin are */
    if (g->o->entries) rows = 400 + rp_pick(g, 300), cols = 180 + rp_pick(g, 40);
    if (!rp_leaf_of(g, &n, rp_pick(g, 4) ? CLF_F64 : CLF_F32, rows, cols)) return -1;
    rp_thin_out(g, &n.m);
    g->p->node[g->p->n] = n;
    return g->p->n++;
}

/* A sparse leaf with rows and columns, of the program or a new one. */
static int choose_driver(rp_gen *g) {
    for (int tries = 0; tries < 12 && !wide_fits(g); tries++) {
        int i = rp_pick(g, g->p->n);
        const rp_node *x = &g->p->node[i];
        if (rp_sparse_leaf(x) && x->m.rows > 1 && x->m.cols > 1) return i;
    }
    return new_driver(g);
}

/* What becomes of the product before it meets the driver. */
static int changed(rp_gen *g, int product) {
    static const int ops[] = {CLF_ABS, CLF_SQR, CLF_NEG, CLF_SIGN};
    int way = rp_pick(g, 8);
    return way < 4 && rp_op_allowed(g->o, ops[way]) ? cell(g, ops[way], product, -1) : product;
}

/* X * p, p * X, X / p or (X != 0) * p. */
static int masked(rp_gen *g, int x, int product) {
    int way = rp_pick(g, 6);
    if (way == 0 && rp_op_allowed(g->o, CLF_DIV)) return cell(g, CLF_DIV, x, product);
    if (way == 1) return cell(g, CLF_MUL, product, x);
    if (way > 2) return cell(g, CLF_MUL, x, product);
    int zero = add(g, (rp_node){.kind = RP_CELL, .op = CLF_SUB, .nin = 2, .in = {x, x}});
    int there = zero < 0 ? -1 : cell(g, CLF_NE, x, zero);
    return there < 0 ? -1 : cell(g, CLF_MUL, there, product);
}

/* A sum, m %*% V, t(m) %*% U, or nothing. */
static int finished(rp_gen *g, int m, int u, int v) {
    int way = wide_fits(g) && !g->o->entries && rp_pick(g, 2) ? 4 : rp_pick(g, 7);
    if (way < 3) return add(g, (rp_node){.kind = RP_FOLD, .op = CLF_FOLD_CODE_SUM, .attr = {way}, .nin = 1, .in = {m}});
    if (way == 3) return add(g, (rp_node){.kind = RP_PRODUCT, .nin = 2, .in = {m, v}});
    if (way > 4) return m;
    int turned = add(g, (rp_node){.kind = RP_TRANSPOSE, .nin = 1, .in = {m}});
    return turned < 0 ? -1 : add(g, (rp_node){.kind = RP_PRODUCT, .nin = 2, .in = {turned, u}});
}

static int grow(rp_gen *g) {
    static const int64_t ranks[] = {1, 2, 3, 5, 8, 17};
    int x = choose_driver(g), u = -1, v = -1, t = -1, m = -1;
    if (x < 0) return -1;
    rp_matrix shape = g->p->node[x].m;
    clf_dtype type = rp_real(shape.t) ? shape.t : CLF_F64;
    int64_t rank = ranks[rp_pick(g, 6)];
    if ((u = thin(g, type, shape.rows, rank)) < 0 || (v = thin(g, type, shape.cols, rank)) < 0) return -1;
    if ((t = add(g, (rp_node){.kind = RP_TRANSPOSE, .nin = 1, .in = {v}})) < 0) return -1;
    if ((m = add(g, (rp_node){.kind = RP_PRODUCT, .nin = 2, .in = {u, t}})) < 0) return -1;
    if ((m = changed(g, m)) < 0 || (m = masked(g, x, m)) < 0) return -1;
    return finished(g, m, u, v);
}

/* W - f(t(A) %*% B), or a sum of that. */
static int grow_turned(rp_gen *g) {
    static const int64_t extents[] = {1, 2, 5, 17, 40};
    int64_t terms = extents[rp_pick(g, 5)], rows = 65 + rp_pick(g, 12), cols = 65 + rp_pick(g, 12);
    clf_dtype type = rp_pick(g, 4) ? CLF_F64 : CLF_F32;
    int a = thin(g, type, terms, rows), b = a < 0 ? -1 : thin(g, type, terms, cols), w = b < 0 ? -1 : thin(g, type, rows, cols);
    int t = w < 0 ? -1 : add(g, (rp_node){.kind = RP_TRANSPOSE, .nin = 1, .in = {a}});
    int p = t < 0 ? -1 : add(g, (rp_node){.kind = RP_PRODUCT, .nin = 2, .in = {t, b}});
    if (p < 0 || (p = changed(g, p)) < 0) return -1;
    if (rp_op_allowed(g->o, CLF_SUB) && (p = cell(g, CLF_SUB, w, p)) < 0) return -1;
    return rp_pick(g, 3) ? p : add(g, (rp_node){.kind = RP_FOLD, .op = CLF_FOLD_CODE_SUM, .attr = {rp_pick(g, 3)}, .nin = 1, .in = {p}});
}

/* t(A) %*% f(B), or a sum of that: so many rows that they, not cells of the result, are what cores share. */
static int grow_tall(rp_gen *g) {
    enum { COLS = 66, ROWS = 16 * COLS };
    int64_t rows = ROWS + rp_pick(g, 40), cols = COLS - rp_pick(g, 2);
    clf_dtype type = rp_pick(g, 4) ? CLF_F64 : CLF_F32;
    int a = thin(g, type, rows, COLS), b = a < 0 || !rp_pick(g, 3) ? a : thin(g, type, rows, cols);
    int t = b < 0 ? -1 : add(g, (rp_node){.kind = RP_TRANSPOSE, .nin = 1, .in = {a}});
    int w = t < 0 || !rp_op_allowed(g->o, CLF_MUL) ? -1 : thin(g, type, rows, 1);
    if (t < 0 || (w >= 0 && (b = cell(g, CLF_MUL, w, b)) < 0)) return -1;
    int p = add(g, (rp_node){.kind = RP_PRODUCT, .nin = 2, .in = {t, b}});
    if (p < 0 || rp_pick(g, 3)) return p;
    return add(g, (rp_node){.kind = RP_FOLD, .op = CLF_FOLD_CODE_SUM, .attr = {rp_pick(g, 3)}, .nin = 1, .in = {p}});
}

static bool tall_fits(const rp_gen *g) { return g->o->most_cells >= 1200 * 66 && !g->o->entries; }

bool rp_plant_outer(rp_gen *g) {
    rp_program *p = g->p;
    int before = p->n;
    bool room = before > 0 && before + MOST_PLANTED <= RP_NODES;
    if (!room || !rp_kind_allowed(g->o, RP_PRODUCT) || !rp_kind_allowed(g->o, RP_TRANSPOSE)) return false;
    bool turned = wide_fits(g) && !g->o->entries && !rp_pick(g, 3);
    bool tall = tall_fits(g) && rp_pick(g, 2);
    if ((tall ? grow_tall(g) : turned ? grow_turned(g) : grow(g)) >= 0) return true;
    while (p->n > before) free(p->node[--p->n].m.v);
    return false;
}
