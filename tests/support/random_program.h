/* SPDX-License-Identifier: Apache-2.0
 * Random typed programs and an interpreter for them that shares no code with the library (of the tables only enums, names and texts
 * are read). Everything follows from the seed.
 *
 * Three domains. RP_INTEGER: cells are integers, every intermediate is exact (|value| < 2^53, 2^24 where f32 is involved), the makers
 * compute all cells and refuse a node whose cells leave the domain; so every plan must give every bit. RP_REAL: any operator, any
 * fold; makers check types and shapes only. RP_PRIME: f64 programs of + - * with leaves in [0, 2^31-1), to be read over that field.
 * Sources (LEAF NUMBER FILL SEQ RAND) have their cells in m.v in every domain; other nodes only in RP_INTEGER, NULL elsewhere. */
#ifndef CLF_TESTS_RANDOM_PROGRAM_H
#define CLF_TESTS_RANDOM_PROGRAM_H
#include <stdio.h>

#include "clfuse/clfuse.h"

typedef enum rp_domain { RP_INTEGER, RP_REAL, RP_PRIME } rp_domain;

/* What a node is, and what its fields mean. Operands are in[0..nin), ids below the node's own; the result's type and shape are m's. */
typedef enum rp_kind {
    RP_LEAF,      /* a matrix in memory; attr[0]: the door it comes through, see rp_doors */
    RP_NUMBER,    /* a scalar, f64 or i64: m.v[0] */
    RP_FILL,      /* num[0] everywhere */
    RP_SEQ,       /* a column: num[0] + i * num[1], f64 */
    RP_RAND,      /* clf_rand: min num[0], max num[1], attr[0] percent of non-zeros, seed attr[1]; f64 or f32 */
    RP_CELL,      /* op: clf_op_code; broadcasts */
    RP_OUTER,     /* op: a binary clf_op_code; in[0] n x 1; in[1] 1 x m, or m x 1, which is turned */
    RP_CAST,      /* to m.t */
    RP_FORM,      /* as.scalar (m.scalar) or as.matrix */
    RP_FOLD,      /* op: clf_fold_code; attr[0]: clf_dir */
    RP_CUM,       /* op: SUM PROD MIN MAX as clf_fold_code, down the columns */
    RP_INDEX,     /* attr: first row, last row, first column, last column; 1-based, both ends included */
    RP_TRANSPOSE,
    RP_CBIND,
    RP_RBIND,
    RP_PRODUCT,   /* in[0] %*% in[1] */
    RP_DIAG,      /* a column becomes a diagonal matrix; a square matrix that is no column gives its diagonal */
    RP_REV,       /* rows in reverse order */
    RP_RESHAPE,   /* to m.rows x m.cols, row-major */
    RP_ORDER,     /* attr[0] 1-based column, attr[1] decreasing, attr[2] positions instead of rows; RP_INTEGER only */
    RP_KINDS
} rp_kind;

enum { RP_NODES = 256 };
typedef struct rp_matrix {
    clf_dtype t;
    bool scalar;
    bool final;       /* RP_INTEGER: not an integer, a result that is never an operand */
    int64_t rows, cols;
    double *v;        /* row-major; integers are exact */
} rp_matrix;

typedef struct rp_node {
    int kind;         /* rp_kind */
    int op;
    int nin, in[3];
    int64_t attr[4];
    double num[2];
    rp_matrix m;
} rp_node;

typedef struct rp_options {
    int nodes;            /* at most RP_NODES */
    int64_t most_cells;
    int64_t rows, cols;   /* shape of every leaf; 0 0: any */
    bool cells_only;      /* operators that fuse: no structure, no products; and every third node is a root */
    bool ranges;          /* with cells_only: also RP_INDEX, RP_FILL, RP_SEQ, which fuse too */
    rp_domain domain;
    unsigned without;     /* kinds to leave out, 1u << rp_kind each */
    bool no_elementary;   /* RP_REAL: no operator whose bits depend on the mathematical library (F_ELEM) */
    bool special;         /* RP_REAL: cells now and then NaN, infinite, -0, tiny, huge, or at the end of an integer type */
    bool dense;           /* no sparse leaves; else a third of the programs have some (none in RP_PRIME) */
    bool sparse;          /* some sparse leaves in nearly every program */
    bool entries;         /* beside these often X * f(U %*% t(V)), where X has so many entries that two can share a loop over them */
    bool own_products;    /* only products of one operand whose zeros surely annihilate: neither routines for cells nor those for entries make
                             them alone */
} rp_options;

typedef struct rp_program {
    uint64_t seed;
    rp_domain domain;
    bool own_products;
    int n, nroot;
    rp_node node[RP_NODES];
    int root[RP_NODES + 8]; /* a node may be there more than once */
} rp_program;

static inline int64_t rp_count(const rp_matrix *m) { return m->rows * m->cols; }
const char *rp_kind_name(int kind);

void rp_generate(rp_program *p, uint64_t seed, const rp_options *o);
void rp_release(rp_program *p);
/** A copy with cells of its own. */
void rp_copy(const rp_program *p, rp_program *out);
/** Record the program; handle[i] is node i. */
void rp_record(const rp_program *p, clf_ctx *c, clf_mat **handle);
/** The same with parameters in place of LEAF and NUMBER: param[k] stands for arg[k], a handle with the cells; returns how many. */
int rp_record_fn(const rp_program *p, clf_ctx *c, clf_mat **handle, clf_mat **param, clf_mat **arg);
/** The first cell where an evaluated handle differs from node i, -1 if none; -2: another shape or type, or an error. Cells that the
 *  domain does not know are not compared. */
int64_t rp_compare(const rp_program *p, int i, clf_mat *m);
/** Cells as element type m->t, row-major: rp_count cells from m->v to out. */
void rp_store(const rp_matrix *m, void *out);
/** The same bytes in two results of node m, any NaN being equal to any other; signs: zeros have the same sign, too. */
bool rp_same_cells(const rp_matrix *m, const void *a, const void *b, bool signs);

/* Ways for a leaf to enter the library: dense by copy and by borrowing, then the sparse ones. */
enum { RP_DENSE_DOORS = 2 };
typedef struct rp_door {
    const char *name;
    int format;           /* clf_format */
    clf_mat *(*open)(clf_ctx *c, const rp_matrix *m);
    bool zeros;           /* some zeros are stored */
} rp_door;
extern const rp_door rp_doors[];
extern const int rp_ndoors;
bool rp_sparse_leaf(const rp_node *n);
/** Does the program have a sparse leaf? Then the sign of zeros is open. */
bool rp_sparse(const rp_program *p);
/** Of the first `upto` nodes: may the sign of a zero differ between plans? */
void rp_open_signs(const rp_program *p, int upto, bool *open);
/** Does a sparse leaf with these cells store cell k? */
bool rp_stored(const rp_matrix *m, int64_t k, bool zeros);
int64_t rp_stored_count(const rp_matrix *m, bool zeros);

/** Seed and nodes, one line each, on stdout. */
void rp_print(const rp_program *p);
/** The program in the language: one statement a node, then the roots. variable[i]: node i is an input. False when an operator has no
 *  spelling and its cells are not known either (the text then has its C call in a comment). */
bool rp_expression(const rp_program *p, FILE *out, bool variable[RP_NODES]);
/** Write the program (seedS.clf) and its inputs (seedS_nI.npy; sparse ones .mtx) to a folder, and the command that runs it. False when
 *  the program has no spelling, a sparse input's type is not what files are read as (f64), or a file cannot be written. */
bool rp_save(const rp_program *p, const char *folder, FILE *command);
/** Print the program and why it failed; save it next to the figures of the run, or here, and print the command. */
void rp_report(const rp_program *p, const char *why);
#endif
