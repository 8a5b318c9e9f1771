/* SPDX-License-Identifier: Apache-2.0
 * Terms that follow from the graph alone: of one operand, operator or result in a loop over all cells. See bill.h.
 *
 * What has the loop's rows streams once. What has not, yet varies with columns (a row vector, the right side of a product), is read whole
 * by every row: again for each group of rows, from wherever its bytes stay. What meets over rows exists once a block of rows: those copies
 * are written and read again. */
#include "core/fold.h"
#include "planner/bill.h"

enum {
    ROWS_A_PASS = 4, /* rows that share one pass over what all of them read */
    LONG_ROW = 128,  /* columns beyond which kernels keep one row at a time of what they compute */
    NARROW = 4       /* columns up to which a product of a row of stored entries is one inner product each */
};

/* ---- operands and results ---- */

clf_term clf_term_operand(const clf_graph *g, int32_t n, int k) {
    int32_t q = clf_node_operand(g, n, k);
    const clf_gnode *x = &g->node[q], *to = &g->node[n];
    double rows = (double)clf_node_loop_rows(g, n), bytes = clf_gnode_bytes(&g->node[q]);
    if (to->op == CLF_OP_INDEX) bytes = clf_gnode_bytes(&g->node[n]);
    bool whole = clf_product_whole(g, n, k), column = whole && !k; /* of a turned product each row wants a column of its own */
    bool own = column || (!whole && (clf_rows(x) == clf_node_loop_rows(g, n) || to->op == CLF_OP_INDEX));
    if (own || clf_gnode_single(x) || rows <= ROWS_A_PASS) return (clf_term){CLF_TERM_READ, q, bytes, 0, 0};
    double again = rows / ROWS_A_PASS - 1, bands = rows / CLF_TILE_BAND - 1;
    if (k != 1 || clf_product_loop(g, n) != CLF_PRODUCT_WIDE) bands = again;
    return (clf_term){CLF_TERM_AGAIN, q, bytes, again, bands > 0 ? bands : 0};
}

clf_term clf_term_result(const clf_graph *g, int32_t n) { return (clf_term){CLF_TERM_WRITE, n, clf_gnode_bytes(&g->node[n]), 0, 0}; }

bool clf_term_meets(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    bool fold = x->op == CLF_OP_FOLD && x->attr[1] == CLF_WAY_COLS && clf_cols(x) > 1;
    return fold || clf_product_loop(g, n) == CLF_PRODUCT_COLS;
}

int64_t clf_term_block(const clf_graph *g, int32_t n, bool scatter) {
    int64_t cells = clf_rows(&g->node[n]) * clf_cols(&g->node[n]), rows = clf_node_loop_rows(g, n);
    return scatter ? clf_scatter_block(rows, cells) : clf_col_block(rows, cells);
}

/* The copies of all blocks of rows but one. */
clf_term clf_term_meeting(const clf_graph *g, int32_t n, bool scatter) {
    int64_t block = clf_term_block(g, n, scatter), rows = clf_node_loop_rows(g, n);
    double copies = block > 0 && rows > block ? (double)rows / (double)block - 1 : 0;
    return (clf_term){CLF_TERM_MEET, n, clf_gnode_bytes(&g->node[n]), copies, 0};
}

bool clf_bill_long_row(const clf_graph *g, int32_t q) { return clf_cols(&g->node[q]) > LONG_ROW; }

double clf_bill_waiting(const clf_graph *g, int32_t n) { return (double)clf_node_loop_rows(g, n) - 1; }

/* ---- operators ---- */

/* Is something of n begun and ended in every row: a fold, a scan, an operand of one value a row? */
static bool by_rows(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    bool one = x->op == CLF_OP_CUM || x->op == CLF_OP_CBIND || (x->op == CLF_OP_FOLD && !clf_folds_all(x));
    for (int k = 0; k < x->nin && clf_op_is_cell(x->op); k++)
        one = one || (clf_cols(&g->node[x->in[k]]) == 1 && clf_rows(&g->node[x->in[k]]) > 1 && clf_cols(x) > 1);
    return one;
}

int clf_terms_node(const clf_graph *g, int32_t n, double share, clf_term t[3]) {
    int count = 0;
    double rows = (double)clf_node_loop_rows(g, n);
    const clf_product loop = clf_product_loop(g, n);
    const bool product = g->node[n].op == CLF_OP_MATMUL && loop != CLF_PRODUCT_INNER;
    const double pace = product && loop != CLF_PRODUCT_WIDE ? CLF_PACE_ROWS : CLF_PACE_USUAL;
    t[count++] = (clf_term){CLF_TERM_NODE, n, share, loop == CLF_PRODUCT_WIDE, pace};
    if (by_rows(g, n)) t[count++] = (clf_term){CLF_TERM_ROWS, n, rows, 0, CLF_PACE_ROWS};
    if (product) t[count++] = (clf_term){CLF_TERM_DOTS, n, rows, 0, pace};
    return count;
}

/* What n begins in rows of stored entries. */
double clf_term_begun(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    double rows = (double)clf_node_loop_rows(g, n), cols = (double)clf_cols(x);
    if (x->op == CLF_OP_MATMUL && clf_product_loop(g, n) != CLF_PRODUCT_INNER) return cols <= NARROW ? rows * cols : rows;
    return by_rows(g, n) ? rows : 0;
}

bool clf_bill_cellwise(const clf_graph *g, int32_t n) { return clf_op_is_cell(g->node[n].op) || clf_node_is_cellwise(&g->node[n]); }

clf_tile_place clf_bill_tile_place(const clf_graph *g, int32_t product, int32_t n) {
    const clf_gnode *p = &g->node[product];
    int64_t cols = clf_cols(p), terms = clf_product_terms(g, product), has = clf_cols(&g->node[n]);
    bool left = n < product && !clf_product_turned(g, product); /* what a turned one goes over is in memory */
    if (clf_product_loop(g, product) != CLF_PRODUCT_WIDE || !clf_dtype_float((clf_dtype)p->dtype) || terms < 2) return CLF_TILE_NOWHERE;
    if (n == product) return CLF_TILE_STORED;
    if (!clf_bill_cellwise(g, n)) return CLF_TILE_NOWHERE;
    if (has == cols) return n > product ? CLF_TILE_STORED : CLF_TILE_BESIDE;
    return has == 1 || (left && has == terms) ? CLF_TILE_BESIDE : CLF_TILE_NOWHERE;
}
