/* SPDX-License-Identifier: Apache-2.0
 * Hand-written algorithms of the suite algorithms: what a good programmer writes for the algorithms of examples/, fused by hand, all
 * cores, run-time sizes. The same iterations from the same start as the example's, so that times per iteration compare. */
#ifndef CLF_PERF_HAND_ALGORITHM_H
#define CLF_PERF_HAND_ALGORITHM_H
#include <stdbool.h>
#include "perf/hand/ml.h"

typedef struct hand_alg {
    int64_t n, m, k;               /* X is n x m; k: rank, clusters, classes, hidden units */
    const double *x, *y;           /* dense X, or NULL; labels or NULL */
    hand_csr s, twin;              /* sparse X and its transpose, when x is NULL */
    const double *start[4];        /* where the example starts from, if that is random */
    double lambda, tolerance, step;
    int iterations, inner;         /* iterations: exactly as many, unless the algorithm knows that it has converged */
    int64_t batch;
    void (*each)(void *user, int iteration, double objective);
    void *user;
    double objective;              /* at the end */
} hand_alg;
/* False: memory is short. */
typedef bool (*hand_alg_fn)(hand_alg *a);
bool hand_alg_als_cg(hand_alg *a), hand_alg_gnmf(hand_alg *a); /* sparse X and twin; start: factors of rows, of columns */
bool hand_alg_l2svm(hand_alg *a);
bool hand_alg_kmeans(hand_alg *a), hand_alg_autoencoder(hand_alg *a), hand_alg_pagerank(hand_alg *a);
bool hand_alg_mlogreg(hand_alg *a), hand_alg_glm_probit(hand_alg *a), hand_alg_glm_poisson(hand_alg *a);
#endif
