/* SPDX-License-Identifier: Apache-2.0
 * The rivals: each workload fused by hand with OpenMP, all cores. Compiled with -O3 -march=native -ffast-math -fopenmp where gcc is at
 * hand, so that exp, log and erfc become vector calls; the library itself never uses -ffast-math. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "examples/tour.h"

#define INPUTS(d) \
    const double *restrict x = (d)->in[0], *restrict y = (d)->in[1], *restrict z = (d)->in[2]; \
    const int64_t n = (d)->rows * (d)->cols; \
    (void)y, (void)z

void tour_hand_read(tour_data *d) {
    INPUTS(d);
    double a = 0, b = 0, c = 0;
#pragma omp parallel for simd reduction(+ : a, b, c) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        a += x[i];
        b += y[i];
        c += z[i];
    }
    d->number[0] = a + b + c;
}

void tour_hand_xyz(tour_data *d) {
    INPUTS(d);
    double s = 0;
#pragma omp parallel for simd reduction(+ : s) schedule(static)
    for (int64_t i = 0; i < n; i++) s += x[i] * y[i] * z[i];
    d->number[0] = s;
}

void tour_hand_three(tour_data *d) {
    INPUTS(d);
    double xy = 0, xz = 0, xx = 0;
#pragma omp parallel for simd reduction(+ : xy, xz, xx) schedule(static)
    for (int64_t i = 0; i < n; i++) {
        xy += x[i] * y[i];
        xz += x[i] * z[i];
        xx += x[i] * x[i];
    }
    d->number[0] = xy;
    d->number[1] = xz;
    d->number[2] = xx;
}

void tour_hand_loss(tour_data *d) {
    INPUTS(d);
    double s = 0;
#pragma omp parallel for simd reduction(+ : s) schedule(static)
    for (int64_t i = 0; i < n; i++) s += z[i] * log(1 + exp(-x[i] * y[i]));
    d->number[0] = s;
}

void tour_hand_options(tour_data *d) {
    INPUTS(d);
    double *restrict call = d->out[0], *restrict put = d->out[1];
    const double root_half = 0.70710678118654752440;
#pragma omp parallel for simd schedule(static)
    for (int64_t i = 0; i < n; i++) {
        double spread = 0.3 * sqrt(z[i]), d1 = (log(x[i] / y[i]) + 0.065 * z[i]) / spread, d2 = d1 - spread;
        double strike = y[i] * exp(-0.02 * z[i]);
        double value = 0.5 * (x[i] * erfc(-d1 * root_half) - strike * erfc(-d2 * root_half));
        call[i] = value;
        put[i] = value - x[i] + strike;
    }
}

/* sum += the columns of rows [from, to), each row divided by its sum while it is in the cache. */
static void add_shares(const double *restrict x, int64_t from, int64_t to, int64_t m, double *restrict sum) {
    for (int64_t i = from; i < to; i++) {
        const double *restrict row = x + i * m;
        double s = 0;
#pragma omp simd reduction(+ : s)
        for (int64_t j = 0; j < m; j++) s += row[j];
        s = 1 / s;
#pragma omp simd
        for (int64_t j = 0; j < m; j++) sum[j] += row[j] * s;
    }
}

/* One pass; each thread has its own partial row for all its blocks of rows. */
void tour_hand_columns(tour_data *d) {
    enum { BLOCK = 256 };
    const double *x = d->in[0];
    const int64_t m = d->cols, rows = d->rows;
    double *sum = d->out[0];
    memset(sum, 0, (size_t)m * sizeof *sum);
#pragma omp parallel
    {
        double *mine = calloc((size_t)m, sizeof *mine);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < rows; i += BLOCK)
            if (mine) add_shares(x, i, i + BLOCK < rows ? i + BLOCK : rows, m, mine);
#pragma omp critical
        for (int64_t j = 0; mine && j < m; j++) sum[j] += mine[j];
        free(mine);
    }
}

/* ---- L2SVM ---- */

static double dot(const double *a, const double *b, int64_t n) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

/* xd = x s, one pass over x. */
static void project(tour_hand_svm *p) {
    const double *restrict x = p->x, *restrict s = p->s;
    double *restrict xd = p->xd;
    const int64_t m = p->m;
#pragma omp parallel for schedule(static)
    for (int64_t i = 0; i < p->n; i++) {
        double v = 0;
        for (int64_t j = 0; j < m; j++) v += x[i * m + j] * s[j];
        xd[i] = v;
    }
}

/* First and second derivative at step a, one pass over y, xw, xd. */
static void derivatives(const tour_hand_svm *p, double a, double ws, double ss, double *first, double *second) {
    const double *restrict y = p->y, *restrict xw = p->xw, *restrict xd = p->xd;
    double f = 0, h = 0;
#pragma omp parallel for simd reduction(+ : f, h) schedule(static)
    for (int64_t i = 0; i < p->n; i++) {
        double slack = 1 - y[i] * (xw[i] + a * xd[i]), on = slack > 0 ? 1 : 0;
        f += on * slack * y[i] * xd[i];
        h += on * xd[i] * xd[i];
    }
    *first = p->lambda * (ws + a * ss) - f;
    *second = p->lambda * ss + h;
}

/* Go by a: scores, loss and gradient in one pass over x. */
static void advance(tour_hand_svm *p, double a) {
    const double *restrict x = p->x, *restrict y = p->y, *restrict xd = p->xd;
    double *restrict xw = p->xw, *next = p->next, loss = 0;
    const int64_t m = p->m;
    for (int64_t j = 0; j < m; j++) p->w[j] += a * p->s[j], next[j] = -p->lambda * p->w[j];
#pragma omp parallel reduction(+ : loss)
    {
        double *restrict mine = calloc((size_t)m, sizeof *mine);
#pragma omp for schedule(static)
        for (int64_t i = 0; i < p->n; i++) {
            xw[i] += a * xd[i];
            double slack = 1 - y[i] * xw[i], force = slack * y[i];
            if (slack <= 0 || !mine) continue;
            loss += slack * slack;
            for (int64_t j = 0; j < m; j++) mine[j] += force * x[i * m + j];
        }
#pragma omp critical
        for (int64_t j = 0; mine && j < m; j++) next[j] += mine[j];
        free(mine);
    }
    p->objective = 0.5 * loss + 0.5 * p->lambda * dot(p->w, p->w, m);
}

static double step_length(const tour_hand_svm *p, double ws, double ss) {
    double a = 0, first = 1, second = 0;
    for (int k = 0; k < 30 && !(first * first <= p->tolerance * p->objective * second); k++) {
        derivatives(p, a, ws, ss, &first, &second);
        if (!(second > 0)) break;
        a -= first / second;
    }
    return a;
}

void tour_hand_train(tour_hand_svm *p) {
    const size_t row = (size_t)p->m * sizeof(double), column = (size_t)p->n * sizeof(double);
    double b = 0, promise = 1;
    memset(p->w, 0, row);
    memset(p->s, 0, row);
    memset(p->xw, 0, column);
    memset(p->xd, 0, column);
    advance(p, 0);
    memcpy(p->g, p->next, row);
    for (p->iterations = 0; p->iterations < p->max_iterations && promise > p->tolerance * p->objective; p->iterations++) {
        for (int64_t j = 0; j < p->m; j++) p->s[j] = p->g[j] + b * p->s[j];
        project(p);
        double a = step_length(p, dot(p->w, p->s, p->m), dot(p->s, p->s, p->m));
        promise = a * dot(p->s, p->g, p->m);
        advance(p, a);
        b = fmax(0, (dot(p->next, p->next, p->m) - dot(p->next, p->g, p->m)) / dot(p->g, p->g, p->m));
        memcpy(p->g, p->next, row);
    }
}
