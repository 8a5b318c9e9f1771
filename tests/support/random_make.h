/* SPDX-License-Identifier: Apache-2.0
 * Inside the random programs. A node is made in three steps, each a table by rp_kind in a file of its own: pick (operands and
 * attributes, at random), fit (type and shape of the result, or they do not fit together), eval (the cells, RP_INTEGER). */
#ifndef CLF_TESTS_RANDOM_MAKE_H
#define CLF_TESTS_RANDOM_MAKE_H
#include "tests/support/random_program.h"

typedef struct rp_gen {
    rp_program *p;
    const rp_options *o;
    uint64_t state;
    bool sparse;          /* this program may have sparse leaves, and products with them */
    int64_t extent[3];    /* what this program's leaves are mostly made of, so that operands fit together */
    bool read[RP_NODES];  /* some node has it as operand */
} rp_gen;

/** 0..n-1 */
int rp_pick(rp_gen *g, int n);
/** In [0, 1). */
double rp_uniform(rp_gen *g);

/* What an operator means on integers, and how operand types give its own. */
typedef enum rp_rule { RP_ARITH, RP_FLOAT, RP_COMPARE, RP_SELECT, RP_FIRST } rp_rule;
int rp_arity(int op);
rp_rule rp_rule_of(int op);
/** Does it take integers to integers? */
bool rp_stays_whole(int op);
/** What it is on integers, in operator type t; NAN: outside the domain. */
double rp_whole(int op, const double *x, clf_dtype t);

/** May a program of o have this operator, this fold, this kind? */
bool rp_op_allowed(const rp_options *o, int op);
bool rp_fold_allowed(const rp_options *o, int fold);
bool rp_kind_allowed(const rp_options *o, int kind);

/** Operands and attributes; of sources everything, also m. False: nothing fits. */
bool rp_pick_node(rp_gen *g, rp_node *n);
/** A leaf of this type and shape, and its cells; false when it is too large. */
bool rp_leaf_of(rp_gen *g, rp_node *n, clf_dtype t, int64_t rows, int64_t cols);
/** Several nodes at once, random_outer.c: a sparse leaf times a product of thin matrices, and what follows. False: the program is as it was. */
bool rp_plant_outer(rp_gen *g);
/** Several nodes at once, random_rules.c: what a rewrite rule looks for. False: the program is as it was. */
bool rp_plant_rule(rp_gen *g);
/** n->m without cells. False when the operands do not fit together. */
bool rp_fit_node(const rp_program *p, rp_node *n);
/** Cells of a node that fits, into new memory. False outside the domain. */
bool rp_eval_node(const rp_program *p, rp_node *n);
/** Fit, and eval where the domain knows cells; cells of sources stay. False: n has no cells of its own. */
bool rp_make_node(const rp_program *p, rp_node *n, int64_t most_cells);

/* Sparse leaves, random_sparse.c. */
/** Most cells become 0. */
void rp_thin_out(rp_gen *g, rp_matrix *m);
clf_mat *rp_open_csr(clf_ctx *c, const rp_matrix *m);
clf_mat *rp_open_lent(clf_ctx *c, const rp_matrix *m);
clf_mat *rp_open_zeros(clf_ctx *c, const rp_matrix *m);
clf_mat *rp_open_csc(clf_ctx *c, const rp_matrix *m);
clf_mat *rp_open_coo(clf_ctx *c, const rp_matrix *m);
/** Do zeros of one operand of the product annihilate for sure, and surely not those of the other? */
bool rp_one_annihilates(const rp_program *p, const rp_node *product);
/** RP_REAL: n makes more of a zero's sign than a zero's sign only where it is settled. */
bool rp_signs_fit(const rp_program *p, const rp_node *n);

static inline bool rp_source(int kind) { return kind <= RP_RAND; }
static inline bool rp_real(clf_dtype t) { return t == CLF_F32 || t == CLF_F64; }
/** Where integers of a type are exact and in range. */
double rp_limit(clf_dtype t);
/** The type in which operator op runs on these operands. */
clf_dtype rp_op_type(int op, int n, const rp_matrix *const *x);
/** The type whose values a fold takes. */
clf_dtype rp_fold_value_type(int fold, clf_dtype t);
/** One fold of n values with stride, of value type t; false when it leaves the domain. */
bool rp_fold(int fold, clf_dtype t, const double *v, int64_t n, int64_t stride, double *out);
/** 128 bits of Philox4x32-10. */
void rp_philox(uint64_t counter, uint64_t key, uint32_t out[4]);
#endif
