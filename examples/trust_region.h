/* SPDX-License-Identifier: Apache-2.0
 * A trust region Newton method for linear models: minimises over B (m x k)
 *     loss(X B) + lambda/2*|B|^2        loss: smooth and convex, a sum over the rows
 * What a model adds are two texts in the library's language; mlogreg.c and glm.c are the examples. */
#ifndef EXAMPLES_TRUST_REGION_H
#define EXAMPLES_TRUST_REGION_H
#include "examples/algorithm.h"

enum { TRUST_VARS = 4 };
/* From X: a radius that moves no row far. To be asked with what else is asked of the data (alg_check). */
#define TRUST_RADIUS "0.5*sqrt(ncol(X))/max(sqrt(rowSums(X^2)))"

typedef struct trust_loss {
    /* From L = X B: `loss` (a scalar); D, n x k, minus its derivative by L; W2, n x k, what the curvature at this point needs. */
    const char *point;
    /* From W (the W2 of the point) and Z = X V: C, n x k, the second derivative of the loss in the direction Z. */
    const char *curve;
    /* When a step is good enough, by the square of the residual over that of the derivative: at 0.01; or, as Newton's method wants it near
     * the minimum, at the norm of the derivative, but at 0.25 at the latest. */
    bool sharp;
    int64_t k;
    clf_binding vars[TRUST_VARS]; /* of `point`, besides L */
    size_t nvars;
    double radius; /* of the first steps: TRUST_RADIUS */
} trust_loss;

/** Train from B = 0: r's objective, iterations, converged and model[0], B. Of the parameters lambda, tolerance, iterations and inner are
 *  read; it has converged when an iteration promises to lower the objective by less than tolerance times it. False: see why. */
bool trust_train(alg_run *r, const trust_loss *loss);
#endif
