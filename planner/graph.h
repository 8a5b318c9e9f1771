/* SPDX-License-Identifier: Apache-2.0
 * The graph a planning run works on: nodes with dense 32-bit ids in topological order (inputs first), depth-first from the roots.
 * Plain data in one arena; made by host/graph/freeze.c, rewritten by planner/rewrite.c, read by everything after. */
#ifndef CLF_PLANNER_GRAPH_H
#define CLF_PLANNER_GRAPH_H
#include "planner/cplan.h"

/* What attr[] means, by operator. Doubles are stored by clf_attr_f64.
 *  LEAF, CONST, PARAM   [0] slot: index into the values bound at run time; CONST [1] clf_number
 *  cell operators       of constants alone, on scalars: [0] slot of their number [1] clf_number; else 0
 *  FILL                 value is input 0 (a scalar)
 *  SEQ                  [0] from, [1] by (doubles)
 *  RAND                 [0] min [1] max [2] sparsity (doubles) [3] seed
 *  FOLD                 [0] clf_fold_id [1] clf_way        CUM [0] clf_fold_id [1] CLF_WAY_ROWS: along rows, else down columns
 *  INDEX                [0] first row [1] first column (0-based; extents are the node's shape)
 *  TRANSPOSE            [0] 1: a matrix of its own in memory, which products do not look behind (rule_turned.c)
 *  DIAG                 [0] 1: to a matrix, 0: from a matrix
 *  ORDER                [0] column (0-based) [1] decreasing [2] indices wanted */
enum { CLF_NATTR = 4 };
typedef enum clf_way { CLF_WAY_ALL = 0, CLF_WAY_ROWS = 1, CLF_WAY_COLS = 2 } clf_way;

/* What planning knows of a constant: a few numbers that rewrites ask for, so that programs which differ in other numbers have one plan. */
typedef enum clf_number {
    CLF_NUMBER_UNKNOWN, CLF_NUMBER_ZERO, CLF_NUMBER_MINUS_ZERO, CLF_NUMBER_ONE, CLF_NUMBER_TWO, CLF_NUMBER_MINUS_ONE,
    CLF_NUMBER_FINITE,  /* finite and none of these */
    CLF_NUMBER_NO_NUMBER /* NaN or an infinity */
} clf_number;

/* The meaning of a node's zeros (design section 6), fixed at recording from leaf formats and operators, never by how it is stored.
 * STRUCTURAL zeros annihilate: 0 * y = 0 and 0 / y = 0 whatever y is, NaN and Inf too, and so in products. A STRUCTURAL zero is any cell
 * that equals 0, stored or not. */
typedef enum clf_zeros { CLF_ZEROS_VALUE, CLF_ZEROS_STRUCTURAL } clf_zeros;

typedef struct clf_gnode {
    uint16_t op;       /* clf_op */
    uint8_t dtype;
    uint8_t scalar;    /* a scalar, not a 1x1 matrix */
    uint8_t nin;
    uint8_t rank;      /* 0 for scalars, else 2 today */
    uint8_t zeros;     /* clf_zeros */
    uint8_t format;    /* clf_format: how a LEAF is stored; dense for the rest, whose storage the planner chooses */
    int32_t in[3];
    clf_dim dim[2];    /* rows, columns (1, 1 for scalars) */
    int64_t nnz;       /* cells that may differ from zero: exact for leaves, an estimate otherwise; rows * columns where nothing is known */
    int64_t attr[CLF_NATTR];
} clf_gnode;

typedef struct clf_graph {
    int32_t n, nroot, nslot;
    clf_gnode *node;
    int32_t *root;
    double bytes; /* of all that is given and all that is wanted; 0: not added up (clf_rewrite does) */
} clf_graph;

static inline int64_t clf_rows(const clf_gnode *n) { return n->dim[0].n; }
static inline int64_t clf_cols(const clf_gnode *n) { return n->dim[1].n; }
/* Member by member: a node's bytes are its value, so padding must stay zero. */
static inline void clf_gnode_shape(clf_gnode *n, int64_t rows, int64_t cols) {
    n->dim[0].n = rows;
    n->dim[1].n = cols;
    n->dim[0].sym = n->dim[1].sym = -1;
}
/** Have they the same extents? */
static inline bool clf_gnode_alike(const clf_gnode *a, const clf_gnode *b) {
    return clf_rows(a) == clf_rows(b) && clf_cols(a) == clf_cols(b);
}
/** As doubles, which do not overflow: cells, bytes of one, bytes of all. */
static inline double clf_gnode_cells(const clf_gnode *n) { return (double)clf_rows(n) * (double)clf_cols(n); }
static inline double clf_gnode_width(const clf_gnode *n) { return (double)clf_dtype_bytes((clf_dtype)n->dtype); }
static inline double clf_gnode_bytes(const clf_gnode *n) { return clf_gnode_cells(n) * clf_gnode_width(n); }
static inline bool clf_gnode_single(const clf_gnode *n) { return clf_rows(n) == 1 && clf_cols(n) == 1; }
/** Is n a fold of all cells of its operand? One down a single column is, too, in every template: its bits depend on no plan. */
static inline bool clf_folds_all(const clf_gnode *n) {
    return n->op == CLF_OP_FOLD && (n->attr[1] == CLF_WAY_ALL || (n->attr[1] == CLF_WAY_COLS && clf_cols(n) == 1));
}
/** What is known of x as an f64. */
clf_number clf_number_of(double x);
double clf_attr_f64(int64_t a);
int64_t clf_attr_of(double x);

/** One line a node: %3 = ADD f64 100x20 (%1 %2). */
void clf_graph_print(const clf_graph *g, clf_str *out);
/** Inputs earlier, shapes and types consistent with the operator's rules. */
clf_status clf_graph_check(const clf_graph *g, clf_err *err);
/** Numbers of non-zeros that plans do not tell apart: 0, all cells (-1), else quarter octaves. */
int64_t clf_nnz_class(int64_t nnz, double cells);
/** The structure as bytes: everything but slots' contents, numbers of non-zeros by their class. Equal bytes, equal plans. Appended to key. */
void clf_graph_key(const clf_graph *g, clf_str *key);
/** Shape of a cell operator's result. outer: n x 1 with 1 x m is allowed. errors: CLF_E_SHAPE naming both shapes. */
clf_status clf_shape_cell(const char *op, int n, const clf_gnode *const *in, bool outer, clf_dim out[2], clf_err *err);
#endif
