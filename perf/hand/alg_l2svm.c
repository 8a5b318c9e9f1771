/* SPDX-License-Identifier: Apache-2.0
 * L2SVM, fused by hand: the iterations of examples/l2svm.c. X is read twice an iteration, which cannot be less, for the direction needs
 * the whole gradient: X s is made together with the sums of the first step of the line search, and the new scores, the loss and the
 * gradient in one go. Further steps of the line search read three columns. Every thread sums into a gradient of its own. */
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "perf/hand/rows.h"

enum { LINE_STEPS = 30, BLOCK = 64 };

typedef struct svm {
    const hand_alg *a;
    double *w, *s, *g, *next; /* m numbers; next: one for each thread, too */
    double *xw, *xd;          /* n numbers */
    double objective;
    int threads;
} svm;

/* ---- passes */

/* Numbers i of the block at lo: what they add to both derivatives of the loss at step length b. */
ALWAYS void line_block(const svm *p, int64_t lo, int64_t hi, double b, double *first, double *second) {
    const double *restrict y = p->a->y, *restrict xw = p->xw, *restrict xd = p->xd;
    double u = 0, v = 0;
#pragma omp simd reduction(+ : u, v)
    for (int64_t i = lo; i < hi; i++) {
        const double slack = 1 - y[i] * (xw[i] + b * xd[i]);
        u += slack > 0 ? slack * y[i] * xd[i] : 0;
        v += slack > 0 ? xd[i] * xd[i] : 0;
    }
    *first += u;
    *second += v;
}

static void line(const svm *p, double b, double out[2]) {
    const int64_t n = p->a->n, blocks = (n + BLOCK - 1) / BLOCK;
    double u = 0, v = 0;
#pragma omp parallel for schedule(static) reduction(+ : u, v)
    for (int64_t k = 0; k < blocks; k++) line_block(p, k * BLOCK, k < blocks - 1 ? (k + 1) * BLOCK : n, b, &u, &v);
    out[0] = u;
    out[1] = v;
}

/* X s, and the sums of `line` at 0. */
static void project(svm *p, double out[2]) {
    const hand_alg *a = p->a;
    const int64_t n = a->n, blocks = (n + BLOCK - 1) / BLOCK;
    double u = 0, v = 0;
#pragma omp parallel for schedule(static) reduction(+ : u, v)
    for (int64_t k = 0; k < blocks; k++) {
        const int64_t lo = k * BLOCK, hi = lo + BLOCK < n ? lo + BLOCK : n;
        if (a->x)
            rows_dense_products(a, lo, hi, p->s, p->xd + lo);
        else
            rows_sparse_products(&a->s, lo, hi, p->s, p->xd + lo);
        line_block(p, lo, hi, 0, &u, &v);
    }
    out[0] = u;
    out[1] = v;
}

/* New scores of a block, its loss, and what the gradient takes of it. */
ALWAYS double move_block(const svm *p, int64_t lo, int64_t hi, double b, double *restrict q) {
    const double *restrict y = p->a->y, *restrict xd = p->xd;
    double *restrict xw = p->xw, r[BLOCK], loss = 0;
#pragma omp simd reduction(+ : loss)
    for (int64_t i = lo; i < hi; i++) {
        xw[i] += b * xd[i];
        const double slack = 1 - y[i] * xw[i], kept = slack > 0 ? slack : 0;
        loss += kept * kept;
        r[i - lo] = kept * y[i];
    }
    if (p->a->x)
        rows_dense_sums(p->a, lo, hi, r, q);
    else
        rows_sparse_sums(&p->a->s, lo, hi, r, q);
    return loss;
}

static void move(svm *p, double b) {
    const hand_alg *a = p->a;
    const int64_t n = a->n, m = a->m, blocks = (n + BLOCK - 1) / BLOCK;
    double loss = 0, ww = 0;
    memset(p->next, 0, (size_t)(m * p->threads) * sizeof *p->next);
    for (int64_t j = 0; j < m; j++) p->w[j] += b * p->s[j];
#pragma omp parallel reduction(+ : loss) num_threads(p->threads)
    {
        double *q = p->next + m * omp_get_thread_num();
#pragma omp for schedule(static)
        for (int64_t k = 0; k < blocks; k++) loss += move_block(p, k * BLOCK, k < blocks - 1 ? (k + 1) * BLOCK : n, b, q);
    }
    for (int t = 1; t < p->threads; t++)
        for (int64_t j = 0; j < m; j++) p->next[j] += p->next[t * m + j];
    for (int64_t j = 0; j < m; j++) {
        p->next[j] -= a->lambda * p->w[j];
        ww += p->w[j] * p->w[j];
    }
    p->objective = 0.5 * loss + 0.5 * a->lambda * ww;
}

/* ---- the algorithm */

static double dot(const double *x, const double *y, int64_t m) {
    double s = 0;
    for (int64_t j = 0; j < m; j++) s += x[j] * y[j];
    return s;
}

static double step_length(const svm *p, double v[2]) {
    const double ws = dot(p->w, p->s, p->a->m), ss = dot(p->s, p->s, p->a->m), lambda = p->a->lambda;
    double a = 0, first = 1, second = 0;
    for (int k = 0; k < LINE_STEPS && !(first * first <= p->a->tolerance * p->objective * second); k++) {
        if (k) line(p, a, v);
        first = lambda * (ws + a * ss) - v[0];
        second = lambda * ss + v[1];
        if (!(second > 0)) break;
        a -= first / second;
    }
    return a;
}

static void train(hand_alg *a, svm *p) {
    const int64_t m = a->m;
    double b = 0, promise = INFINITY, v[2];
    move(p, 0);
    memcpy(p->g, p->next, (size_t)m * sizeof *p->g);
    for (int i = 1; i <= a->iterations && promise > a->tolerance * p->objective; i++) {
        for (int64_t j = 0; j < m; j++) p->s[j] = p->g[j] + b * p->s[j];
        project(p, v);
        const double step = step_length(p, v), gg = dot(p->g, p->g, m);
        promise = step * dot(p->s, p->g, m);
        move(p, step);
        b = fmax(0, (dot(p->next, p->next, m) - dot(p->next, p->g, m)) / gg);
        memcpy(p->g, p->next, (size_t)m * sizeof *p->g);
        if (a->each) a->each(a->user, i, p->objective);
    }
    a->objective = p->objective;
}

bool hand_alg_l2svm(hand_alg *a) {
    const size_t n = (size_t)a->n, m = (size_t)a->m;
    const int threads = omp_get_max_threads();
    double *at = calloc((3 + (size_t)threads) * m + 2 * n, sizeof *at);
    if (!at) return false;
    double *tall = at + (3 + (size_t)threads) * m;
    svm p = {.a = a, .w = at, .s = at + m, .g = at + 2 * m, .next = at + 3 * m, .xw = tall, .xd = tall + n, .threads = threads};
    train(a, &p);
    free(at);
    return true;
}
