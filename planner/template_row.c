/* SPDX-License-Identifier: Apache-2.0
 * Template Row (spec 1.4): everything that can be computed while one row of a matrix is at hand. Its loop runs over rows; what varies
 * with columns is computed inside a row, what is one number a row (row aggregates, products with a vector) is used further in the
 * same row, and results that meet over rows (column and full aggregates, t(A) %*% B) close it. Columns put side by side and sums
 * cumulated along a row are rows like any other. */
#include "planner/skel.h"
#include "planner/template.h"

enum {
    SKINNY = CLF_NARROW_PRODUCT, /* columns of a product that is computed row by row rather than by the library */
    PARTIAL_CELLS = 1 << 20,     /* largest result that meets over rows: every block of rows has a copy */
    TALL = 16,                   /* times as many rows as columns of either side: rows are shared out rather than cells */
    TALL_CELLS = 1 << 17         /* of its result at most: blocks of sums stay in a core's own cache */
};

static bool structural(const clf_graph *g, int32_t q) { return g->node[q].zeros == CLF_ZEROS_STRUCTURAL; }

bool clf_product_annihilates(const clf_graph *g, int32_t n) {
    return structural(g, clf_node_operand(g, n, 0)) || structural(g, clf_node_operand(g, n, 1));
}

clf_product clf_product_form(const clf_graph *g, int32_t n) {
    bool ta, tb, must = clf_product_annihilates(g, n);
    const clf_gnode *a = &g->node[clf_product_operand(g, n, 0, &ta)], *b = &g->node[clf_product_operand(g, n, 1, &tb)];
    int64_t rows = clf_rows(a);
    if (rows < 2 && !must) return CLF_PRODUCT_NONE;
    if (!ta) {
        int64_t k = clf_cols(&g->node[n]);
        if (clf_cols(a) < 1 || k < 1) return CLF_PRODUCT_NONE;
        return must || k <= SKINNY ? CLF_PRODUCT_ROWS : CLF_PRODUCT_WIDE;
    }
    if (tb || a->scalar || b->scalar) return CLF_PRODUCT_NONE;
    int64_t m = clf_cols(a), k = clf_cols(b);
    if (m < 1 || k < 1) return CLF_PRODUCT_NONE;
    if (m == 1 && k == 1) return CLF_PRODUCT_INNER;
    bool wide = m > SKINNY && k > SKINNY, alike = a->dtype == b->dtype && clf_dtype_float((clf_dtype)a->dtype);
    bool tall = alike && m <= TALL_CELLS / k && m <= rows / TALL && k <= rows / TALL;
    if (wide && alike && !must && !tall) return CLF_PRODUCT_WIDE; /* as tiles take it */
    return must || ((!wide || tall) && m <= PARTIAL_CELLS / k) ? CLF_PRODUCT_COLS : CLF_PRODUCT_NONE;
}

bool clf_product_turned(const clf_graph *g, int32_t n) {
    bool turned;
    (void)clf_product_operand(g, n, 0, &turned);
    return clf_product_loop(g, n) == CLF_PRODUCT_WIDE && turned;
}

bool clf_node_is_row_cat(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    return x->op == CLF_OP_CBIND && clf_rows(x) > 1 && clf_cols(&g->node[x->in[0]]) > 0 && clf_cols(&g->node[x->in[1]]) > 0;
}

int64_t clf_node_loop_rows(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    if (x->op == CLF_OP_FOLD) return clf_rows(&g->node[x->in[0]]);
    if (x->op == CLF_OP_MATMUL && !clf_product_turned(g, n)) return clf_rows(&g->node[clf_node_operand(g, n, 0)]);
    return clf_rows(x);
}

/* A row of its own, other than cell by cell. */
static bool shapes_rows(const clf_graph *g, int32_t n) { return clf_node_is_row_cum(&g->node[n]) || clf_node_is_row_cat(g, n); }

/* One value or one vector a row. */
static bool makes_rows(const clf_graph *g, int32_t q) {
    const clf_gnode *x = &g->node[q];
    clf_product p = clf_product_loop(g, q);
    if (p == CLF_PRODUCT_ROWS || p == CLF_PRODUCT_WIDE) return true;
    if (x->op == CLF_OP_FOLD) return x->attr[1] == CLF_WAY_ROWS && clf_cols(&g->node[x->in[0]]) > 1;
    return clf_node_is_cellwise(x) || shapes_rows(g, q);
}

static bool open(const clf_graph *g, int32_t n) {
    clf_product p = clf_product_loop(g, n);
    return (p != CLF_PRODUCT_NONE && p != CLF_PRODUCT_WIDE) || shapes_rows(g, n);
}

/* Does making q cell by cell take a product? What is not seen in so many nodes is taken for none. */
static bool takes_product(const clf_graph *g, int32_t q) {
    enum { SEEN = 32, WAITING = 8 };
    int32_t wait[WAITING] = {q};
    int depth = 1;
    for (int seen = 0; depth && seen < SEEN; seen++) {
        const clf_gnode *x = &g->node[wait[--depth]];
        if (x->op == CLF_OP_MATMUL) return true;
        for (int k = 0; k < x->nin && clf_node_is_cellwise(x) && depth < WAITING; k++)
            if (!clf_gnode_single(&g->node[x->in[k]])) wait[depth++] = x->in[k];
    }
    return false;
}

/* t(A) %*% A: a loop makes A once for either side, along an axis each. That is not worth it where it takes a product. */
static bool made_twice(const clf_graph *g, int32_t n, int32_t q) {
    bool gram = clf_node_operand(g, n, 0) == clf_node_operand(g, n, 1);
    return gram && clf_cols(&g->node[q]) > 1 && takes_product(g, q);
}

static bool fuse(const clf_graph *g, int32_t n, int k) {
    const clf_gnode *x = &g->node[n];
    clf_product p = clf_product_loop(g, n);
    bool takes = x->op == CLF_OP_MATMUL ? p != CLF_PRODUCT_NONE : clf_node_is_cellwise(x) || x->op == CLF_OP_FOLD || shapes_rows(g, n);
    if (x->op == CLF_OP_INDEX || !takes) return false;
    if (clf_product_whole(g, n, k)) return false;
    int32_t q = clf_node_operand(g, n, k);
    int64_t rows = clf_node_loop_rows(g, n);
    if (x->op != CLF_OP_MATMUL && clf_template_cell.fuse(g, n, k)) return false; /* Cell's */
    if (p == CLF_PRODUCT_COLS && made_twice(g, n, q)) return false;
    return rows > 1 && makes_rows(g, q) && clf_node_loop_rows(g, q) == rows && clf_rows(&g->node[q]) == rows;
}

static clf_closing close(const clf_graph *g, int32_t n) {
    clf_product p = clf_product_loop(g, n);
    bool meets = p == CLF_PRODUCT_COLS || p == CLF_PRODUCT_INNER || (g->node[n].op == CLF_OP_FOLD && g->node[n].attr[1] != CLF_WAY_ROWS);
    return meets ? CLF_CLOSED_VALID : p == CLF_PRODUCT_WIDE ? CLF_OPEN_INVALID : CLF_OPEN_VALID;
}

const clf_template clf_template_row = {"Row", open, fuse, fuse, close};
