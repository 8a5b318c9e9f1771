/* SPDX-License-Identifier: Apache-2.0
 * L2SVM (l2svm.c) among the algorithms: features as they are, labels of two values. */
#include "examples/algorithm.h"
#include "examples/l2svm.h"

static bool train(alg_run *r) {
    const l2svm_options o = {.lambda = r->p.lambda, .tolerance = r->p.tolerance, .max_iterations = r->p.iterations};
    l2svm p;
    if (!alg_check(r, NULL, 0, NULL)) return false;
    if (!l2svm_prepare(&p, r->c, r->X, r->y, &o)) return alg_fail(r, "%s", p.why);
    p.each = r->each;
    p.user = r->user;
    if (!l2svm_train(&p)) return alg_fail(r, "%s", p.why);
    r->objective = p.objective;
    r->iterations = p.iterations;
    r->calls = p.passes;
    r->converged = p.converged;
    r->model[0].name = "w";
    r->model[0].value = p.w;
    return true;
}

const algorithm alg_l2svm = {
    .name = "l2svm",
    .about = "linear support vector machine, squared hinge loss, labels of two values",
    .labels = true,
    .generate = "X = rand(rows=n, cols=m, min=-1, max=1, seed=seed); v = rand(rows=m, cols=1, min=-1, max=1, seed=seed+1)\n"
                "y = 2*(X %*% v + rand(rows=n, cols=1, min=-1, max=1, seed=seed+2) > 0) - 1",
    .rows = 100000,
    .cols = 100,
    .defaults = {.lambda = 1e-3, .tolerance = 1e-12, .iterations = 20, .seed = 1},
    .train = train,
};
