/* SPDX-License-Identifier: Apache-2.0
 * Derivatives against difference quotients. */
#ifndef CLF_TESTS_GRAD_CHECK_H
#define CLF_TESTS_GRAD_CHECK_H
#include "clfuse/clfuse.h"

enum { GRAD_MOST = 8, GRAD_CELLS = 64 };

/* A variable of f64: its shape and cells. */
typedef struct grad_var {
    const char *name;
    int64_t rows, cols;
    bool scalar;
    double v[GRAD_CELLS];
    bool rough[GRAD_CELLS]; /* no derivative there: not compared */
    bool idle;              /* by convention its derivative is 0, whatever differences say */
} grad_var;

/* What a check saw: comparisons, how many derivatives were not 0, and the worst error as a share of its tolerance. */
typedef struct grad_seen {
    long compared, other_than_zero;
    double worst;
    double derivative[GRAD_MOST][GRAD_CELLS];
} grad_seen;

/** The parameters of n variables. */
void grad_params(clf_ctx *c, int n, const grad_var *v, clf_mat **param);
/** Compare the derivatives of a loss recorded over the parameters by all of them, in every cell. Central differences at steps h and 2h,
 *  h = 2^-13 max(1, |x|), extrapolated (Richardson); the tolerance is a 64th of the extrapolation's correction, of which its error is a
 *  share of h^2, and the roundings of two evaluations over h. False, with a line that says where, when one differs, or when the
 *  tolerance is no smaller than 1e-6 (1 + |derivative|). */
bool grad_check(clf_ctx *c, const char *what, clf_mat *loss, int n, const grad_var *v, clf_mat *const *param, grad_seen *seen);
/** The same for a loss written in the language. */
bool grad_check_text(clf_ctx *c, const char *text, int n, const grad_var *v, grad_seen *seen);
#endif
