/* SPDX-License-Identifier: Apache-2.0
 * Hand-written references of the suite ml: Row chains on a dense X, sparse rows, Outer chains. f64, all cores, run-time sizes (only the
 * few columns of a tall-skinny side are constants where registers depend on them). Where two ways of blocking compete, both are here and
 * the bench takes the better one. */
#ifndef CLF_PERF_HAND_ML_H
#define CLF_PERF_HAND_ML_H
#include <stdint.h>

typedef struct hand_csr {
    int64_t rows, cols, nnz;
    const int64_t *ptr;
    const int32_t *idx;
    const double *val;
} hand_csr;

/* X is n x m: s[0] when sparse (has values), else x. Y and Z are s[1] and s[2]; twin is the transpose of s[0]. u and w are n x k, v is
 * m x k. */
typedef struct hand_ml {
    int64_t n, m, k;
    const double *x, *u, *v, *w;
    hand_csr s[3], twin;
    double eps;
    double *out; /* one number, n x k or m x k */
} hand_ml;
typedef void (*hand_ml_fn)(const hand_ml *a);

/* dense.c: t(X) %*% (W * (X %*% V)), and with T = W * (X %*% V): t(X) %*% (T - W * rowSums(T)); by one row or four rows at once */
void hand_mvchain_1(const hand_ml *a), hand_mvchain_4(const hand_ml *a);
void hand_mmchain_k2_1(const hand_ml *a), hand_mmchain_k2_4(const hand_ml *a);
void hand_mmchain_k8_1(const hand_ml *a), hand_mmchain_k8_4(const hand_ml *a);
void hand_mmchain_k32_1(const hand_ml *a), hand_mmchain_k32_4(const hand_ml *a);
void hand_mlogreg_k8_1(const hand_ml *a), hand_mlogreg_k8_4(const hand_ml *a);
/* csr.c: X %*% v and t(X) %*% (w * (X %*% v)), with one loop left to the compiler or with four sums; sum(X*Y*Z) */
void hand_spmv_1(const hand_ml *a), hand_spmv_4(const hand_ml *a);
void hand_sp_mvchain_1(const hand_ml *a), hand_sp_mvchain_4(const hand_ml *a);
void hand_sp3_sum(const hand_ml *a);
/* outer.c: sum(X * log(U %*% t(V) + eps)), (X * (U %*% t(V))) %*% V, t(X * (U %*% t(V))) %*% U */
void hand_outer_loss(const hand_ml *a), hand_outer_right(const hand_ml *a), hand_outer_left(const hand_ml *a);
/* outer.c: sum((X != 0) * (X - U %*% t(V))^2) + HAND_LAMBDA * (sum(U^2) + sum(V^2)) and its gradients: out is n x k, m x k, the number */
#define HAND_LAMBDA 0.02
void hand_factorize(const hand_ml *a);
#endif
