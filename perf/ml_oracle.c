/* SPDX-License-Identifier: Apache-2.0
 * Results of the suite ml the naive way, in long double and by other algorithms than the references where there are any: what the
 * references and the library are held against. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "perf/ml.h"

typedef long double wide;

/* Row i of X times column c of V. */
static wide row_times(const hand_ml *a, int64_t i, int64_t c) {
    wide t = 0;
    const hand_csr *s = &a->s[0];
    if (s->val)
        for (int64_t p = s->ptr[i]; p < s->ptr[i + 1]; p++) t += (wide)s->val[p] * a->v[s->idx[p] * a->k + c];
    else
        for (int64_t j = 0; j < a->m; j++) t += (wide)a->x[i * a->m + j] * a->v[j * a->k + c];
    return t;
}

/* sum[j][c] += x_ij * h[c], and for its size size[j][c] += x_ij * g[c]. */
static void spread(const hand_ml *a, int64_t i, const wide *h, const wide *g, wide *sum, wide *size) {
    const hand_csr *s = &a->s[0];
    int64_t begin = s->val ? s->ptr[i] : 0, end = s->val ? s->ptr[i + 1] : a->m;
    for (int64_t p = begin; p < end; p++) {
        const int64_t j = s->val ? s->idx[p] : p;
        const double x = s->val ? s->val[p] : a->x[i * a->m + j];
        for (int64_t c = 0; c < a->k; c++) {
            sum[j * a->k + c] += x * h[c];
            if (size) size[j * a->k + c] += x * g[c];
        }
    }
}

/* h = w * (x V), or p - w * sum(p) with p = w * (x V), whose terms have the size p + w * sum(p). */
static void weighted(const hand_ml *a, int64_t i, bool logreg, wide *h, wide *g) {
    wide total = 0;
    for (int64_t c = 0; c < a->k; c++) total += h[c] = a->w[i * a->k + c] * row_times(a, i, c);
    for (int64_t c = 0; logreg && c < a->k; c++) {
        g[c] = h[c] + a->w[i * a->k + c] * total;
        h[c] -= a->w[i * a->k + c] * total;
    }
}

static void chain(const hand_ml *a, bool logreg, double *want, double *scale) {
    const int64_t cells = a->m * a->k;
    for (int64_t j = 0; j < cells; j++) want[j] = scale[j] = 0;
#pragma omp parallel
    {
        wide *sum = calloc((size_t)cells, sizeof *sum), *size = logreg ? calloc((size_t)cells, sizeof *size) : NULL;
        wide *h = calloc(2 * (size_t)a->k, sizeof *h), *g = h ? h + a->k : NULL;
#pragma omp for schedule(static)
        for (int64_t i = 0; i < a->n; i++) {
            if (!sum || !h || (logreg && !size)) continue;
            weighted(a, i, logreg, h, g);
            spread(a, i, h, g, sum, size);
        }
#pragma omp critical
        for (int64_t j = 0; j < cells; j++) {
            want[j] += sum ? (double)sum[j] : (double)NAN;
            scale[j] += size ? (double)size[j] : sum ? (double)sum[j] : (double)NAN;
        }
        free(sum);
        free(size);
        free(h);
    }
}

void ml_oracle_mlogreg(const hand_ml *a, double *want, double *scale) { chain(a, true, want, scale); }
void ml_oracle_sp_chain(const hand_ml *a, double *want, double *scale) { chain(a, false, want, scale); }
void ml_oracle_chain(const hand_ml *a, double *want, double *scale) { chain(a, false, want, scale); }

void ml_oracle_spmv(const hand_ml *a, double *want, double *scale) {
    for (int64_t i = 0; i < a->n; i++) want[i] = scale[i] = (double)row_times(a, i, 0);
}

/* V is turned round first, so that both run along memory; four sums, or each addition waits for the one before. */
void ml_oracle_product(const hand_ml *a, double *want, double *scale) {
    double *turned = malloc((size_t)(a->m * a->k) * sizeof *turned);
    for (int64_t q = 0; turned && q < a->m * a->k; q++) turned[q % a->k * a->m + q / a->k] = a->v[q];
#pragma omp parallel for schedule(static)
    for (int64_t q = 0; q < a->n * a->k; q++) {
        const double *x = a->x + q / a->k * a->m, *y = turned ? turned + q % a->k * a->m : NULL;
        wide t[4] = {0};
        int64_t j = 0;
        for (; y && j + 4 <= a->m; j += 4)
            for (int64_t l = 0; l < 4; l++) t[l] += (wide)x[j + l] * y[j + l];
        for (; y && j < a->m; j++) t[0] += (wide)x[j] * y[j];
        want[q] = scale[q] = y ? (double)((t[0] + t[1]) + (t[2] + t[3])) : (double)NAN;
    }
    free(turned);
}

/* Row i of Y and Z as dense rows, met by the entries of X. */
static wide three(const hand_ml *a, int64_t i, double *y, double *z) {
    const hand_csr *s = a->s;
    wide sum = 0;
    for (int64_t p = s[1].ptr[i]; p < s[1].ptr[i + 1]; p++) y[s[1].idx[p]] = s[1].val[p];
    for (int64_t p = s[2].ptr[i]; p < s[2].ptr[i + 1]; p++) z[s[2].idx[p]] = s[2].val[p];
    for (int64_t p = s[0].ptr[i]; p < s[0].ptr[i + 1]; p++) sum += (wide)s[0].val[p] * y[s[0].idx[p]] * z[s[0].idx[p]];
    memset(y, 0, (size_t)a->m * sizeof *y);
    memset(z, 0, (size_t)a->m * sizeof *z);
    return sum;
}

void ml_oracle_sp3(const hand_ml *a, double *want, double *scale) {
    wide sum = 0;
    double *y = calloc((size_t)a->m, sizeof *y), *z = calloc((size_t)a->m, sizeof *z);
    for (int64_t i = 0; y && z && i < a->n; i++) sum += three(a, i, y, z);
    want[0] = scale[0] = y && z ? (double)sum : (double)NAN;
    free(y);
    free(z);
}

static wide product(const double *u, const double *v, int64_t k) {
    wide t = 0;
    for (int64_t l = 0; l < k; l++) t += (wide)u[l] * v[l];
    return t;
}

void ml_oracle_loss(const hand_ml *a, double *want, double *scale) {
    const hand_csr *s = &a->s[0];
    wide sum = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : sum)
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t p = s->ptr[i]; p < s->ptr[i + 1]; p++)
            sum += s->val[p] * logl(product(a->u + i * a->k, a->v + s->idx[p] * a->k, a->k) + a->eps);
    want[0] = scale[0] = (double)sum;
}

/* (S * (U %*% t(V))) %*% V, S by rows. */
static void times(const hand_csr *s, const double *u, const double *v, int64_t k, double *want, double *scale) {
#pragma omp parallel
    {
        wide *sum = calloc((size_t)k, sizeof *sum);
#pragma omp for schedule(dynamic, 64)
        for (int64_t i = 0; i < s->rows; i++) {
            for (int64_t c = 0; sum && c < k; c++) sum[c] = 0;
            for (int64_t p = s->ptr[i]; sum && p < s->ptr[i + 1]; p++) {
                const double *b = v + s->idx[p] * k;
                const wide t = s->val[p] * product(u + i * k, b, k);
                for (int64_t c = 0; c < k; c++) sum[c] += t * b[c];
            }
            for (int64_t c = 0; c < k; c++) want[i * k + c] = scale[i * k + c] = sum ? (double)sum[c] : (double)NAN;
        }
        free(sum);
    }
}

void ml_oracle_right(const hand_ml *a, double *want, double *scale) { times(&a->s[0], a->u, a->v, a->k, want, scale); }
void ml_oracle_left(const hand_ml *a, double *want, double *scale) { times(&a->twin, a->v, a->u, a->k, want, scale); }

/* One side's gradient of the factorisation's loss: sums of 2 (u v - x) v, and 2 lambda u. The parts' squares add up to the loss. */
static wide gradient(const hand_csr *s, const double *u, const double *v, int64_t k, double lambda, double *want, double *scale,
                     wide *size) {
    wide loss = 0, most = 0;
#pragma omp parallel for schedule(dynamic, 64) reduction(+ : loss, most)
    for (int64_t i = 0; i < s->rows; i++)
        for (int64_t c = -1; c < k; c++) {
            wide sum = c < 0 ? 0 : 2 * (wide)lambda * u[i * k + c], all = sum;
            for (int64_t p = s->ptr[i]; p < s->ptr[i + 1]; p++) {
                const double *b = v + s->idx[p] * k;
                const wide d = product(u + i * k, b, k), e = d - s->val[p];
                sum += c < 0 ? e * e : 2 * e * b[c];
                all += c < 0 ? (d + s->val[p]) * (d + s->val[p]) : 2 * (d + s->val[p]) * b[c];
            }
            if (c >= 0) want[i * k + c] = (double)sum, scale[i * k + c] = (double)all;
            loss += c < 0 ? sum : 0;
            most += c < 0 ? all : 0;
        }
    *size = most;
    return loss;
}

void ml_oracle_factor(const hand_ml *a, double *want, double *scale) {
    const int64_t nk = a->n * a->k, mk = a->m * a->k;
    wide size, squares = 0;
    gradient(&a->twin, a->v, a->u, a->k, HAND_LAMBDA, want + nk, scale + nk, &size);
    wide loss = gradient(&a->s[0], a->u, a->v, a->k, HAND_LAMBDA, want, scale, &size);
    for (int64_t i = 0; i < nk; i++) squares += (wide)a->u[i] * a->u[i];
    for (int64_t i = 0; i < mk; i++) squares += (wide)a->v[i] * a->v[i];
    want[nk + mk] = (double)(loss + HAND_LAMBDA * squares);
    scale[nk + mk] = (double)(size + HAND_LAMBDA * squares);
}

/* Terms are positive, so the errors of a sum are bounded by its longest chain of additions: in a row, two products with leaves of 512 and
 * a tree over them; down the columns, a block of at most an eighth of the rows and the tree over blocks; and a dozen other roundings. */
double ml_check(const hand_ml *a, ml_result r, const double *got, const double *want, const double *scale, double *rel) {
    const int64_t cells = ml_data_outs(a, r);
    double worst = 0;
    for (int64_t i = 0; i < cells; i++) {
        double e = want[i] == got[i] ? 0 : fabs(got[i] - want[i]) / scale[i];
        worst = isnan(e) || isnan(worst) ? (double)NAN : fmax(worst, e);
    }
    *rel = worst;
    return worst / ((2 * (512 + 24) + (double)a->n / (r == ML_M_K || r == ML_FACTOR ? 8 : 1e9) + 36) * DBL_EPSILON);
}
