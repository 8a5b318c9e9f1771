/* SPDX-License-Identifier: Apache-2.0
 * Inside the random programs: a maker chooses the operands of one node, checks that they fit and computes all cells, or refuses. */
#ifndef CLF_TESTS_RANDOM_MAKE_H
#define CLF_TESTS_RANDOM_MAKE_H
#include "tests/support/random_program.h"

typedef struct rp_gen {
    rp_program *p;
    const rp_options *o;
    uint64_t state;
} rp_gen;

typedef enum rp_rule { ARITH, COMPARE, SELECT, FIRST } rp_rule;
typedef struct rp_cell {
    int op, arity;
    rp_rule type;
    double (*f)(double, double, double);
    const char *name;
} rp_cell;
extern const rp_cell rp_cells[]; /* ends with arity 0 */

int rp_pick(rp_gen *g, int n);
static inline int64_t rp_count(const rp_matrix *m) { return m->rows * m->cols; }

bool rp_make_leaf(rp_gen *g, rp_node *n);
bool rp_make_number(rp_gen *g, rp_node *n);
bool rp_make_fill(rp_gen *g, rp_node *n);
bool rp_make_seq(rp_gen *g, rp_node *n);
bool rp_make_cell(rp_gen *g, rp_node *n);
bool rp_make_cast(rp_gen *g, rp_node *n);
bool rp_make_form(rp_gen *g, rp_node *n);
bool rp_make_fold(rp_gen *g, rp_node *n);
bool rp_make_index(rp_gen *g, rp_node *n);
bool rp_make_transpose(rp_gen *g, rp_node *n);
bool rp_make_bind(rp_gen *g, rp_node *n);
bool rp_make_product(rp_gen *g, rp_node *n);
bool rp_make_diag(rp_gen *g, rp_node *n);
bool rp_make_rev(rp_gen *g, rp_node *n);
bool rp_make_reshape(rp_gen *g, rp_node *n);
bool rp_make_cum(rp_gen *g, rp_node *n);
#endif
