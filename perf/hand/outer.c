/* SPDX-License-Identifier: Apache-2.0
 * Outer chains: the product of U and t(V) is made only where X has an entry; the rank is known at run time. */
#include <math.h>
#include <string.h>
#include "perf/hand/split.h"

#define ALWAYS static inline __attribute__((always_inline))

ALWAYS double dot(const double *restrict u, const double *restrict v, int64_t k) {
    double t = 0;
#pragma omp simd reduction(+ : t)
    for (int64_t l = 0; l < k; l++) t += u[l] * v[l];
    return t;
}

/* sum of x * log(d + eps) over the entries [p, p + n) of row i, n <= 8: the logarithm of all eight in vectors, past the last one of 1. */
ALWAYS double loss_block(const hand_ml *a, const double *u, int64_t p, const int n) {
    const hand_csr *s = &a->s[0];
    double d[8], x[8], sum = 0;
    for (int q = 0; q < n; q++) {
        d[q] = dot(u, a->v + s->idx[p + q] * a->k, a->k) + a->eps;
        x[q] = s->val[p + q];
    }
    for (int q = n; q < 8; q++) d[q] = 1, x[q] = 0;
#pragma omp simd reduction(+ : sum)
    for (int q = 0; q < 8; q++) sum += x[q] * log(d[q]);
    return sum;
}

void hand_outer_loss(const hand_ml *a) {
    const hand_csr *s = &a->s[0];
    const int parts = hand_parts();
    double sum = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : sum)
    for (int part = 0; part < parts; part++) {
        const int64_t hi = hand_part(s, part + 1, parts);
        for (int64_t i = hand_part(s, part, parts); i < hi; i++) {
            const int64_t end = s->ptr[i + 1];
            int64_t p = s->ptr[i];
            for (; p + 8 <= end; p += 8) sum += loss_block(a, a->u + i * a->k, p, 8);
            if (p < end) sum += loss_block(a, a->u + i * a->k, p, (int)(end - p));
        }
    }
    a->out[0] = sum;
}

/* out = (S * (A %*% t(B))) %*% B, S by rows: a row of the result is the sum of the rows of B that its entries name. */
static void product(const hand_csr *s, const double *restrict ua, const double *restrict vb, int64_t k, double *restrict out) {
    const int parts = hand_parts();
#pragma omp parallel for schedule(dynamic, 1)
    for (int part = 0; part < parts; part++) {
        const int64_t hi = hand_part(s, part + 1, parts);
        for (int64_t i = hand_part(s, part, parts); i < hi; i++) {
            const double *restrict u = ua + i * k;
            double *restrict o = out + i * k;
            const int64_t end = s->ptr[i + 1];
            memset(o, 0, (size_t)k * sizeof *o);
            for (int64_t p = s->ptr[i]; p < end; p++) {
                const double *restrict v = vb + s->idx[p] * k;
                const double t = s->val[p] * dot(u, v, k);
#pragma omp simd
                for (int64_t l = 0; l < k; l++) o[l] += t * v[l];
            }
        }
    }
}

void hand_outer_right(const hand_ml *a) { product(&a->s[0], a->u, a->v, a->k, a->out); }
void hand_outer_left(const hand_ml *a) { product(&a->twin, a->v, a->u, a->k, a->out); }

/* Gradient of the side that rows of s belong to, each entry's residual made where it is used; returns the sum of their squares. */
static double descend(const hand_csr *s, const double *restrict ua, const double *restrict vb, int64_t k, double *restrict out) {
    const int parts = hand_parts();
    double loss = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : loss)
    for (int part = 0; part < parts; part++) {
        const int64_t hi = hand_part(s, part + 1, parts);
        for (int64_t i = hand_part(s, part, parts); i < hi; i++) {
            const double *restrict u = ua + i * k;
            double *restrict o = out + i * k;
            const int64_t end = s->ptr[i + 1];
            for (int64_t l = 0; l < k; l++) o[l] = 2 * HAND_LAMBDA * u[l];
            for (int64_t p = s->ptr[i]; p < end; p++) {
                const double *restrict v = vb + s->idx[p] * k;
                const double e = dot(u, v, k) - s->val[p], t = 2 * e;
                loss += e * e;
#pragma omp simd
                for (int64_t l = 0; l < k; l++) o[l] += t * v[l];
            }
        }
    }
    return loss;
}

void hand_factorize(const hand_ml *a) {
    const int64_t nk = a->n * a->k, mk = a->m * a->k;
    double loss = descend(&a->s[0], a->u, a->v, a->k, a->out), squares = 0;
    descend(&a->twin, a->v, a->u, a->k, a->out + nk);
#pragma omp parallel for simd reduction(+ : squares)
    for (int64_t i = 0; i < nk; i++) squares += a->u[i] * a->u[i];
#pragma omp parallel for simd reduction(+ : squares)
    for (int64_t i = 0; i < mk; i++) squares += a->v[i] * a->v[i];
    a->out[nk + mk] = loss + HAND_LAMBDA * squares;
}
