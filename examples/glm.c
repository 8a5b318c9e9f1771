/* SPDX-License-Identifier: Apache-2.0
 * Generalised linear models (SystemML's GLM.dml): Fisher scoring by the trust region method of trust_region.c, whose parameters are read.
 * Minimises half the deviance + lambda/2*|B|^2; eta = X B.
 *     glm_probit    labels of two values: P(y is the larger one) = Phi(eta), Phi the normal distribution
 *     glm_poisson   counts, of mean exp(eta); numbers that are not whole are taken as rates
 * W, the weights of iteratively reweighted least squares, are the expected second derivative, so that a turn of the conjugate
 * gradients is t(X) %*% (W * (X %*% V)), one pass over X. Constant columns need no care: nothing is divided by a deviation. */
#include <math.h>

#include "examples/trust_region.h"

/* y: -1 or 1; z = y*eta. q: the smaller tail, h: density over it. Far out, where q is no more a number, h has a series of its own
 * (Abramowitz and Stegun, Handbook of Mathematical Functions, 26.2.12), and no logarithm is taken of q: log(q) = log(density/h). */
static const char probit_point[] = "x = abs(L); q = pnorm(-x); f = 0.39894228040143268*exp(-0.5*x^2); u = 1/x^2\n"
                                   "h = ifelse(x < far, f/q, x/(1 - u*(1 - u*(3 - u*(15 - 105*u))))); n = f/(1 - q); W2 = h*n\n"
                                   "likely = y*L >= 0; D = y*ifelse(likely, n, h)\n"
                                   "loss = sum(log(ifelse(likely, 1/(1 - q), h)) + ifelse(likely, 0, 0.5*x^2 + 0.91893853320467274))";
/* rest: what the deviance has that does not depend on B. */
static const char poisson_point[] = "W2 = exp(L); D = y - W2; loss = sum(W2 - y*L) + rest";
static const char curve[] = "C = W*Z";

static bool finish(alg_run *r, const char *point, clf_mat *y, const char *name, double number, double radius) {
    clf_mat *scalar = clf_num(r->c, number);
    trust_loss loss = {
        .point = point, .curve = curve, .sharp = true, .k = 1, .vars = {{"y", y}, {name, scalar}}, .nvars = 2, .radius = radius};
    bool good = trust_train(r, &loss);
    clf_free(scalar);
    clf_free(y);
    return good;
}

static bool train_probit(alg_run *r) {
    clf_binding vars[] = {{"y", r->y}, {"hi", NULL}};
    double label[4]; /* the least, the largest, how many are one of both; the radius */
    if (!alg_check(r, "lo = min(y); hi = max(y); lo; hi; sum(y == lo | y == hi); " TRUST_RADIUS, 4, label)) return false;
    if (label[0] == label[1]) return alg_fail(r, "a single class: every label is %g", label[0]);
    if (label[2] < (double)r->n)
        return alg_fail(r, "more than two classes: %.0f of %lld labels are neither %g nor %g", (double)r->n - label[2], (long long)r->n,
                        label[0], label[1]);
    vars[1].value = clf_num(r->c, label[1]);
    clf_mat *y = clf_cast(clf_expr(r->c, "2*(y == hi) - 1", vars, 2), r->type);
    clf_free(vars[1].value);
    return finish(r, probit_point, y, "far", r->type == CLF_F32 ? 10 : 30, label[3]);
}

static bool train_poisson(alg_run *r) {
    double count[4]; /* the least, the largest, the rest; the radius */
    if (!alg_check(r, "min(y); max(y); sum(ifelse(y > 0, y*log(y), 0) - y); " TRUST_RADIUS, 4, count)) return false;
    if (count[0] < 0) return alg_fail(r, "a count is %g: counts must not be negative", count[0]);
    if (count[1] == 0) return alg_fail(r, "every count is 0: nothing to fit");
    return finish(r, poisson_point, clf_cast(r->y, r->type), "rest", count[2], count[3]);
}

#define GLM_DEFAULTS \
    { .lambda = 1e-3, .tolerance = 1e-12, .iterations = 20, .inner = 10, .seed = 1 }
#define GLM_SCORES \
    "X = rand(rows=n, cols=m, min=-1, max=1, seed=seed); v = 3/sqrt(m)*rand(rows=m, cols=1, min=-1, max=1, seed=seed+1)\n" \
    "noise = rand(rows=n, cols=1, seed=seed+2)\n"

const algorithm alg_glm_probit = {
    .name = "glm_probit",
    .about = "generalised linear model, binomial with probit link, labels of two values",
    .labels = true,
    .generate = GLM_SCORES "y = 2*(X %*% v + 4*noise - 2 > 0) - 1",
    .rows = 100000,
    .cols = 100,
    .defaults = GLM_DEFAULTS,
    .train = train_probit,
};

const algorithm alg_glm_poisson = {
    .name = "glm_poisson",
    .about = "generalised linear model, Poisson with log link, labels are counts",
    .labels = true,
    .generate = GLM_SCORES "y = floor(-log(1 - noise)*exp(X %*% v) + 0.5)",
    .rows = 100000,
    .cols = 100,
    .defaults = GLM_DEFAULTS,
    .train = train_poisson,
};
