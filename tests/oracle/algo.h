/* SPDX-License-Identifier: Apache-2.0
 * The algorithms of examples/ in plain sequential C, written apart from them and from the library: what their results are held against.
 * One file each, algo_<name>.c, with one function. */
#ifndef CLF_ORACLE_ALGO_H
#define CLF_ORACLE_ALGO_H
#include <stdbool.h>
#include <stdint.h>

/* Everything row-major and dense; what a function does not need is NULL or 0. */
typedef struct algo_plain {
    int64_t n, m, k;
    const double *x, *y;
    const double *start[4];     /* random starts, as the example made them */
    double lambda, tolerance, step;
    int iterations, inner;
    int64_t batch;
    /* results */
    double objective;
    double *model[8];           /* the caller's memory, in the order of the example's model */
} algo_plain;

/* algo_als_cg.c: halves by conjugate gradients, or solved exactly; the loss at the model. False: memory is short, the rank too large. */
bool algo_als_cg(algo_plain *p), algo_als_exact(algo_plain *p);
double algo_als_loss(const algo_plain *p);
bool algo_gnmf(algo_plain *p);
void algo_kmeans(algo_plain *a), algo_autoencoder(algo_plain *a), algo_pagerank(algo_plain *a);
bool algo_mlogreg(algo_plain *a), algo_glm_probit(algo_plain *a), algo_glm_poisson(algo_plain *a); /* the minimum; model: B */
#endif
