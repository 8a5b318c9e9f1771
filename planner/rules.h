/* SPDX-License-Identifier: Apache-2.0
 * Rules by the file they are in, and what they share. Private to planner/rule*.c; rules.c lists them. */
#ifndef CLF_PLANNER_RULES_H
#define CLF_PLANNER_RULES_H
#include "planner/rewrite.h"

/* ---- what rules share ---- */

/** What is known of the number that node q is in every cell: of a constant, or of a matrix filled with one, as its type holds it. */
clf_number clf_rule_number(const clf_graph *g, int32_t q);
/** The scalar x of a type. */
int32_t clf_rule_num(clf_rewriter *w, double x, clf_dtype t);
static inline bool clf_rule_structural(const clf_graph *g, int32_t q) { return g->node[q].zeros == CLF_ZEROS_STRUCTURAL; }
static inline bool clf_rule_same_shape(const clf_gnode *a, const clf_gnode *b) {
    return clf_rows(a) == clf_rows(b) && clf_cols(a) == clf_cols(b);
}
static inline bool clf_rule_has_cells(const clf_gnode *x) { return clf_rows(x) > 0 && clf_cols(x) > 0; }

static inline bool clf_rule_is_full(const clf_gnode *x) { return clf_rows(x) > 1 && clf_cols(x) > 1; }
static inline bool clf_rule_by_cells(const clf_gnode *x) { return clf_op_is_cell(x->op) || x->op == CLF_OP_CAST || x->op == CLF_OP_FILL; }

/* rule_turn.c: transposing what is computed cell by cell */

/* First in the notes of a rule that turns; ids + 1, 0: none. */
typedef struct clf_turning {
    int32_t turned; /* the node's transpose */
    int32_t from;   /* on the way down: the node to go back to */
} clf_turning;

/** The transpose of node q, made of the transposes of what q is computed from: down through cell operators, each node turned once in a
 *  pass. each: the size of the rule's notes. -1: out of memory. */
int32_t clf_rule_turn(clf_rewriter *w, int32_t q, size_t each);
/** t(q), if q is computed cell by cell from matrices that are transposed, all of them, and else from vectors and single numbers: no
 *  matrix is transposed for it, and t(q)'s are no longer. -1: q is another. The rule has no notes of its own. */
int32_t clf_rule_unturned(clf_rewriter *w, int32_t q);

/* ---- by file ---- */

/* rule_cell.c: cell operators */
int32_t clf_rule_constant(clf_rewriter *w, int32_t n);
int32_t clf_rule_filled(clf_rewriter *w, int32_t n);
int32_t clf_rule_square(clf_rewriter *w, int32_t n);
int32_t clf_rule_power(clf_rewriter *w, int32_t n);
int32_t clf_rule_masked_self(clf_rewriter *w, int32_t n);
int32_t clf_rule_neutral(clf_rewriter *w, int32_t n);
int32_t clf_rule_minus_one(clf_rewriter *w, int32_t n);
int32_t clf_rule_twice(clf_rewriter *w, int32_t n);
int32_t clf_rule_both_equal(clf_rewriter *w, int32_t n);
int32_t clf_rule_ifelse(clf_rewriter *w, int32_t n);
/* rule_fold.c: aggregates of cell operators */
int32_t clf_rule_sumsq(clf_rewriter *w, int32_t n);
int32_t clf_rule_sumsq_f32(clf_rewriter *w, int32_t n);
int32_t clf_rule_nnz(clf_rewriter *w, int32_t n);
int32_t clf_rule_sum_scaled(clf_rewriter *w, int32_t n);
int32_t clf_rule_sum_negated(clf_rewriter *w, int32_t n);
/* rule_refold.c: aggregates of transposes, of aggregates and of single cells */
int32_t clf_rule_fold_of_t(clf_rewriter *w, int32_t n);
int32_t clf_rule_fold_of_t_exact(clf_rewriter *w, int32_t n);
int32_t clf_rule_fold_of_fold(clf_rewriter *w, int32_t n);
int32_t clf_rule_fold_of_fold_exact(clf_rewriter *w, int32_t n);
int32_t clf_rule_fold_single(clf_rewriter *w, int32_t n);
int32_t clf_rule_fold_single_exact(clf_rewriter *w, int32_t n);
/* rule_form.c: operators that move cells */
int32_t clf_rule_index_index(clf_rewriter *w, int32_t n);
int32_t clf_rule_index_t(clf_rewriter *w, int32_t n);
int32_t clf_rule_casts(clf_rewriter *w, int32_t n);
int32_t clf_rule_reshapes(clf_rewriter *w, int32_t n);
int32_t clf_rule_reshape_vector(clf_rewriter *w, int32_t n);
int32_t clf_rule_moved_fill(clf_rewriter *w, int32_t n);
int32_t clf_rule_t_diag(clf_rewriter *w, int32_t n);
/* rule_product.c: products that are none, and their orientation */
int32_t clf_rule_diag_sparse(clf_rewriter *w, int32_t n);
int32_t clf_rule_diag(clf_rewriter *w, int32_t n);
int32_t clf_rule_product_fill(clf_rewriter *w, int32_t n);
int32_t clf_rule_cast_t(clf_rewriter *w, int32_t n);
int32_t clf_rule_t_product(clf_rewriter *w, int32_t n);
int32_t clf_rule_gram(clf_rewriter *w, int32_t n);
/* rule_turn.c */
int32_t clf_rule_t_cells(clf_rewriter *w, int32_t n);
int32_t clf_rule_product_t_cells(clf_rewriter *w, int32_t n);
/* rule_reduce.c: products of which less is asked for */
int32_t clf_rule_fold_product(clf_rewriter *w, int32_t n);
int32_t clf_rule_diag_product(clf_rewriter *w, int32_t n);
/* rule_chain.c */
int32_t clf_rule_chain(clf_rewriter *w, int32_t n);
int32_t clf_rule_chain_sparse(clf_rewriter *w, int32_t n);
/* rule_empty.c */
int32_t clf_rule_empty_cells(clf_rewriter *w, int32_t n);
int32_t clf_rule_empty_product(clf_rewriter *w, int32_t n);
int32_t clf_rule_empty_fold(clf_rewriter *w, int32_t n);
/* rule_cum.c */
int32_t clf_rule_cum(clf_rewriter *w, int32_t n);
/* rule_turned.c */
int32_t clf_rule_turned_side(clf_rewriter *w, int32_t n);
int32_t clf_rule_turned_result(clf_rewriter *w, int32_t n);
/* rule_left.c */
int32_t clf_rule_left(clf_rewriter *w, int32_t n);
#endif
