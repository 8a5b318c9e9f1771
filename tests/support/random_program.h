/* SPDX-License-Identifier: Apache-2.0
 * Random typed programs and an interpreter for them that shares no code with the library (only the enums of operators, folds and
 * types). Values are small integers, so every plan must give every bit: a node whose cells leave that domain is not generated.
 * Everything follows from the seed. */
#ifndef CLF_TESTS_RANDOM_PROGRAM_H
#define CLF_TESTS_RANDOM_PROGRAM_H
#include "clfuse/clfuse.h"

enum { RP_NODES = 256 };
typedef struct rp_matrix {
    clf_dtype t;
    bool scalar;
    bool final;       /* not an integer: a result, never an operand */
    int64_t rows, cols;
    double *v;        /* row-major; integers are exact */
} rp_matrix;

typedef struct rp_node {
    int kind;
    int op;           /* clf_op_code or clf_fold_code */
    int nin, in[3];
    int64_t attr[4];
    rp_matrix m;
} rp_node;

typedef struct rp_options {
    int nodes;            /* at most RP_NODES */
    int64_t most_cells;
    int64_t rows, cols;   /* shape of every leaf; 0 0: any */
    bool cells_only;      /* operators that fuse: no structure, no products */
} rp_options;

typedef struct rp_program {
    uint64_t seed;
    int n, nroot;
    rp_node node[RP_NODES];
    int root[RP_NODES];
} rp_program;

void rp_generate(rp_program *p, uint64_t seed, const rp_options *o);
void rp_release(rp_program *p);
/** Record the program; handle[i] is node i. */
void rp_record(const rp_program *p, clf_ctx *c, clf_mat **handle);
/** The first cell where an evaluated handle differs from node i, -1 if none; -2: another shape or type, or an error. */
int64_t rp_compare(const rp_program *p, int i, clf_mat *m);
void rp_print(const rp_program *p);
#endif
