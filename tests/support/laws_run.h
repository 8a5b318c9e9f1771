/* SPDX-License-Identifier: Apache-2.0
 * Evaluating programs for the laws, and comparing results bit by bit. */
#ifndef CLF_TESTS_LAWS_RUN_H
#define CLF_TESTS_LAWS_RUN_H
#include "tests/support/random_program.h"

typedef struct law_results {
    clf_mat *h[RP_NODES];
    const void *data[RP_NODES]; /* NULL where not evaluated */
} law_results;

/** Record p in c and evaluate n of its nodes together. False, with a line on stdout, when that fails. */
bool law_evaluate(const rp_program *p, clf_ctx *c, const int *node, int n, law_results *x);
bool law_evaluate_all(const rp_program *p, clf_ctx *c, law_results *x);

typedef struct law_relation {
    double by;     /* real cells of b are those of a times this */
    bool any_zero; /* whatever the signs of zeros */
} law_relation;

/** Element i of a and element j of b; any NaN equals any other. */
bool law_related(clf_dtype t, const void *a, int64_t i, const void *b, int64_t j, law_relation r);
/** False; the two cells on stdout, unless what is NULL. */
bool law_differs(const char *what, int node, clf_dtype t, const void *a, int64_t i, const void *b, int64_t j);
/** n cells of node i of p, from cell `from` on, against those of b from 0 on; beside sparse leaves the sign of zeros is open. */
bool law_same_run(const char *what, const rp_program *p, int i, const void *a, int64_t from, const void *b, int64_t n, law_relation r);
#endif
