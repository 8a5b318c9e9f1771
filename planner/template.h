/* SPDX-License-Identifier: Apache-2.0
 * Fusion templates: exploration rules that say which operators may share one loop (spec 1.3, 1.4). A template is one file and one
 * row of clf_templates; nothing after selection knows its name, except explain. */
#ifndef CLF_PLANNER_TEMPLATE_H
#define CLF_PLANNER_TEMPLATE_H
#include "planner/graph.h"

typedef enum clf_closing { CLF_OPEN_VALID, CLF_OPEN_INVALID, CLF_CLOSED_VALID, CLF_CLOSED_INVALID } clf_closing;
typedef enum clf_edge { CLF_EDGE_READ, CLF_EDGE_FUSE, CLF_EDGE_TAP } clf_edge;

typedef struct clf_template {
    const char *name;
    bool (*open)(const clf_graph *g, int32_t n);           /* may start a loop at n, all inputs read */
    bool (*fuse)(const clf_graph *g, int32_t n, int k);    /* may take in n, continuing the open loop of its input k */
    bool (*merge)(const clf_graph *g, int32_t n, int k);   /* may also take in the open loop of input k, next to a fused one */
    clf_closing (*close)(const clf_graph *g, int32_t n);
} clf_template;
extern const clf_template *const clf_templates[]; /* NULL-ended */
enum { CLF_TEMPLATE_CELL, CLF_TEMPLATE_MAGG, CLF_TEMPLATE_ROW, CLF_TEMPLATE_OUTER }; /* their places in the table */
extern const clf_template clf_template_cell, clf_template_magg, clf_template_row, clf_template_outer;

/* Facts on nodes that templates and selectors share. Planning asks for them all the time, so what is a look at the node is inline. */
/** Bound by the caller? */
static inline bool clf_node_is_slot(const clf_gnode *n) { return n->op == CLF_OP_LEAF || n->op == CLF_OP_CONST || n->op == CLF_OP_PARAM; }
/** One value per cell of its own shape? */
static inline bool clf_node_is_cellwise(const clf_gnode *n) {
    return clf_op_is_cell(n->op) || n->op == CLF_OP_CAST || n->op == CLF_OP_FILL || n->op == CLF_OP_SEQ || n->op == CLF_OP_INDEX;
}
/** Does it cumulate along rows, not down columns? */
static inline bool clf_node_is_row_cum(const clf_gnode *n) { return n->op == CLF_OP_CUM && n->attr[1] == CLF_WAY_ROWS; }
/** Puts columns side by side that exist, row by row: as a loop does it. */
bool clf_node_is_row_cat(const clf_graph *g, int32_t n);
/** A product reads its operand through a transpose that is no matrix of its own: the node whose memory it needs, and whether transposed. */
static inline int32_t clf_product_operand(const clf_graph *g, int32_t n, int k, bool *transposed) {
    int32_t p = g->node[n].in[k];
    *transposed = g->node[p].op == CLF_OP_TRANSPOSE && !g->node[p].attr[0];
    return *transposed ? g->node[p].in[0] : p;
}
/** Input k as a loop reads it: a product's operand is what is behind its transpose. */
static inline int32_t clf_node_operand(const clf_graph *g, int32_t n, int k) {
    bool t;
    return g->node[n].op == CLF_OP_MATMUL ? clf_product_operand(g, n, k, &t) : g->node[n].in[k];
}
/* How a product runs as a loop over rows. */
typedef enum clf_product {
    CLF_PRODUCT_NONE,  /* not at all: the library's */
    CLF_PRODUCT_ROWS,  /* A %*% B: a row of A with the whole of B gives a row */
    CLF_PRODUCT_WIDE,  /* the same with so many columns that only a consumer in the loop pays: the Outer template's; so is a wide
                        * t(A) %*% B of dense sides, whose loop goes over columns of A (clf_product_turned) */
    CLF_PRODUCT_COLS,  /* t(A) %*% B: rows of both meet in the result; of wide sides where rows are many for the columns */
    CLF_PRODUCT_INNER  /* t(x) %*% y of two columns: a sum */
} clf_product;
/** Of product n; and of any node. */
clf_product clf_product_form(const clf_graph *g, int32_t n);
static inline clf_product clf_product_loop(const clf_graph *g, int32_t n) {
    return g->node[n].op == CLF_OP_MATMUL ? clf_product_form(g, n) : CLF_PRODUCT_NONE;
}
/** Does product n go over columns of its left side, which lies along the sums in memory? */
bool clf_product_turned(const clf_graph *g, int32_t n);
/** Is operand k of n a side of a product that is needed whole, before its loop begins: the right one of a product that takes its left side
 *  row by row, which every row wants all of, or the left one of a turned product, of which every row wants a column? */
static inline bool clf_product_whole(const clf_graph *g, int32_t n, int k) {
    clf_product f = clf_product_loop(g, n);
    if (f != CLF_PRODUCT_ROWS && f != CLF_PRODUCT_WIDE) return false;
    return k || clf_product_turned(g, n);
}
/** Terms of an inner product of n's. */
static inline int64_t clf_product_terms(const clf_graph *g, int32_t n) {
    bool turned;
    const clf_gnode *a = &g->node[clf_product_operand(g, n, 0, &turned)];
    return turned ? clf_rows(a) : clf_cols(a);
}
/** Does an operand of product n have structural zeros? The library's products of cells know nothing of them. */
bool clf_product_annihilates(const clf_graph *g, int32_t n);
/** Entries of the sparse leaf that q is, or, if q has several rows and columns, is made of by operators that are zero wherever the leaf is;
 *  -1: it is nothing of the kind. */
int64_t clf_entries_of(const clf_graph *g, int32_t q);
/** What they take in memory: values, columns and where rows begin. */
double clf_entries_bytes(const clf_graph *g, int32_t q);
/** Are both operands of product n of that kind, and of its type? Then a step of its own goes over pairs of entries that meet
 *  (host/run/product_entries.c), and makes cells of neither. */
bool clf_product_of_entries(const clf_graph *g, int32_t n);
/** Pairs that meet, if the entries of each side are spread evenly over what is summed; half of them where one side is the other's transpose,
 *  for the result is symmetric. */
double clf_product_pairs(const clf_graph *g, int32_t n);
/** Rows of the loop n runs in. */
int64_t clf_node_loop_rows(const clf_graph *g, int32_t n);
/** The loop a node runs in: its own shape, or its input's for folds. */
static inline void clf_node_space(const clf_graph *g, int32_t n, int64_t space[2]) {
    const clf_gnode *x = &g->node[n];
    if (x->op == CLF_OP_FOLD || clf_product_loop(g, n) == CLF_PRODUCT_INNER) x = &g->node[clf_node_operand(g, n, 0)];
    space[0] = clf_rows(x);
    space[1] = clf_cols(x);
}
/** Do a and b run over the same cells? */
static inline bool clf_same_space(const clf_graph *g, int32_t a, int32_t b) {
    int64_t x[2], y[2];
    clf_node_space(g, a, x);
    clf_node_space(g, b, y);
    return x[0] == y[0] && x[1] == y[1];
}

/* The memo table: per node its entries, contiguous. An entry says how each input is taken. */
typedef struct clf_entry {
    uint8_t template_;
    uint8_t edge[3];   /* clf_edge */
    uint8_t close;     /* clf_closing */
} clf_entry;
typedef struct clf_memo {
    const clf_graph *g;
    int32_t nentry, cap;
    clf_entry *entry;
    int32_t *first;    /* entries of node n: first[n] .. first[n+1]-1 */
    int32_t *readers;  /* of node n: operands that are it, and results */
} clf_memo;
/** Explore bottom-up; linear in operators (at most 8 entries a template and node). */
clf_status clf_explore(const clf_graph *g, clf_arena *arena, clf_memo *out, clf_err *err);
void clf_memo_print(const clf_memo *m, clf_str *out);
/** May input k of n be fused in some entry? */
bool clf_memo_fusable(const clf_memo *m, int32_t n, int k);
#endif
