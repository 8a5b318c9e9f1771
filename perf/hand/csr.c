/* SPDX-License-Identifier: Apache-2.0
 * Sparse rows. A row's product is a chain of gathers: either the compiler makes vectors of it, or four sums run side by side. */
#include <stdlib.h>
#include <string.h>
#include "perf/hand/split.h"

#define ALWAYS static inline __attribute__((always_inline))
typedef double (*row_dot)(const hand_csr *s, int64_t i, const double *v);

ALWAYS double dot_1(const hand_csr *s, int64_t i, const double *restrict v) {
    const int32_t *restrict idx = s->idx;
    const double *restrict val = s->val;
    const int64_t end = s->ptr[i + 1];
    double t = 0;
#pragma omp simd reduction(+ : t)
    for (int64_t p = s->ptr[i]; p < end; p++) t += val[p] * v[idx[p]];
    return t;
}

ALWAYS double dot_4(const hand_csr *s, int64_t i, const double *restrict v) {
    const int32_t *restrict idx = s->idx;
    const double *restrict val = s->val;
    const int64_t end = s->ptr[i + 1];
    double t0 = 0, t1 = 0, t2 = 0, t3 = 0;
    int64_t p = s->ptr[i];
    for (; p + 4 <= end; p += 4) {
        t0 += val[p] * v[idx[p]];
        t1 += val[p + 1] * v[idx[p + 1]];
        t2 += val[p + 2] * v[idx[p + 2]];
        t3 += val[p + 3] * v[idx[p + 3]];
    }
    for (; p < end; p++) t0 += val[p] * v[idx[p]];
    return (t0 + t1) + (t2 + t3);
}

ALWAYS void spmv(const hand_ml *a, const row_dot dot) {
    const hand_csr *s = &a->s[0];
    double *restrict out = a->out;
    const int parts = hand_parts();
#pragma omp parallel for schedule(dynamic, 1)
    for (int part = 0; part < parts; part++) {
        const int64_t hi = hand_part(s, part + 1, parts);
        for (int64_t i = hand_part(s, part, parts); i < hi; i++) out[i] = dot(s, i, a->v);
    }
}

/* The second product scatters into a private sum of each thread. */
ALWAYS void chain(const hand_ml *a, const row_dot dot) {
    const hand_csr *s = &a->s[0];
    double *restrict out = a->out;
    const int parts = hand_parts();
    memset(out, 0, (size_t)a->m * sizeof *out);
#pragma omp parallel
    {
        double *restrict q = calloc((size_t)a->m, sizeof *q);
#pragma omp for schedule(dynamic, 1) nowait
        for (int part = 0; part < parts; part++) {
            const int64_t hi = hand_part(s, part + 1, parts);
            for (int64_t i = hand_part(s, part, parts); i < hi; i++) {
                const double t = a->w[i] * dot(s, i, a->v);
                const int64_t end = s->ptr[i + 1];
                for (int64_t p = s->ptr[i]; p < end; p++) q[s->idx[p]] += t * s->val[p];
            }
        }
#pragma omp critical
        for (int64_t j = 0; j < a->m; j++) out[j] += q[j];
        free(q);
    }
}

void hand_spmv_1(const hand_ml *a) { spmv(a, dot_1); }
void hand_spmv_4(const hand_ml *a) { spmv(a, dot_4); }
void hand_sp_mvchain_1(const hand_ml *a) { chain(a, dot_1); }
void hand_sp_mvchain_4(const hand_ml *a) { chain(a, dot_4); }

/* A plain merge: whoever is behind moves on. */
static double merge_row(const hand_csr *x, const hand_csr *y, const hand_csr *z, int64_t i) {
    int64_t a = x->ptr[i], b = y->ptr[i], c = z->ptr[i];
    const int64_t ae = x->ptr[i + 1], be = y->ptr[i + 1], ce = z->ptr[i + 1];
    double sum = 0;
    while (a < ae && b < be && c < ce) {
        const int32_t ja = x->idx[a], jb = y->idx[b], jc = z->idx[c];
        if (ja == jb && jb == jc)
            sum += x->val[a++] * y->val[b++] * z->val[c++];
        else if (ja <= jb && ja <= jc)
            a++;
        else if (jb <= jc)
            b++;
        else
            c++;
    }
    return sum;
}

void hand_sp3_sum(const hand_ml *a) {
    const int parts = hand_parts();
    double sum = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : sum)
    for (int part = 0; part < parts; part++) {
        const int64_t hi = hand_part(&a->s[0], part + 1, parts);
        for (int64_t i = hand_part(&a->s[0], part, parts); i < hi; i++) sum += merge_row(&a->s[0], &a->s[1], &a->s[2], i);
    }
    a->out[0] = sum;
}
