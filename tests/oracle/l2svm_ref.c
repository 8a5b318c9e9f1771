/* SPDX-License-Identifier: Apache-2.0
 * L2SVM by Newton's method. The objective is strictly convex and piecewise quadratic: on the rows with a positive slack it is a least
 * squares problem, so each step solves the m x m normal equations of those rows (Cholesky) and then goes to the exact minimum along
 * the line (bisection on the rising derivative). It ends when a step no longer lowers the objective. No conjugate gradients, no
 * library: what this and the example share is the formula only.
 * Invariant: the objective never rises, so the last point is the best one. */
#include "tests/oracle/l2svm_ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 200, HALVINGS = 200 };

double clf_l2svm_ref_score(const double *x, int64_t i, int64_t m, const double *w) {
    long double s = 0;
    for (int64_t j = 0; j < m; j++) s += (long double)x[i * m + j] * w[j];
    return (double)s;
}

double clf_l2svm_ref_objective(const double *x, const double *y, int64_t n, int64_t m, double lambda, const double *w) {
    long double loss = 0, ww = 0;
    for (int64_t i = 0; i < n; i++) {
        double slack = 1 - y[i] * clf_l2svm_ref_score(x, i, m, w);
        if (slack > 0) loss += (long double)slack * slack;
    }
    for (int64_t j = 0; j < m; j++) ww += (long double)w[j] * w[j];
    return (double)(0.5L * loss + 0.5L * lambda * ww);
}

/* h (m x m) and g (m): second and first derivative at w. */
static void derivatives(const double *x, const double *y, int64_t n, int64_t m, double lambda, const double *w, long double *h,
                        long double *g) {
    memset(h, 0, (size_t)(m * m) * sizeof *h);
    for (int64_t j = 0; j < m; j++) {
        h[j * m + j] = lambda;
        g[j] = (long double)lambda * w[j];
    }
    for (int64_t i = 0; i < n; i++) {
        const double *row = x + i * m;
        double slack = 1 - y[i] * clf_l2svm_ref_score(x, i, m, w);
        if (!(slack > 0)) continue;
        for (int64_t j = 0; j < m; j++) {
            g[j] -= (long double)slack * y[i] * row[j];
            for (int64_t k = 0; k <= j; k++) h[j * m + k] += (long double)row[j] * row[k];
        }
    }
}

/* Solve h d = -g by Cholesky; h and g are overwritten. False when h is not positive definite. */
static int solve(long double *h, long double *g, int64_t m, double *d) {
    for (int64_t j = 0; j < m; j++) {
        for (int64_t k = 0; k <= j; k++) {
            long double s = h[j * m + k];
            for (int64_t l = 0; l < k; l++) s -= h[j * m + l] * h[k * m + l];
            if (j == k && !(s > 0)) return 0;
            h[j * m + k] = j == k ? sqrtl(s) : s / h[k * m + k];
        }
    }
    for (int64_t j = 0; j < m; j++) {
        for (int64_t k = 0; k < j; k++) g[j] -= h[j * m + k] * g[k];
        g[j] /= h[j * m + j];
    }
    for (int64_t j = m - 1; j >= 0; j--) {
        for (int64_t k = j + 1; k < m; k++) g[j] -= h[k * m + j] * g[k];
        g[j] /= h[j * m + j];
    }
    for (int64_t j = 0; j < m; j++) d[j] = (double)-g[j];
    return 1;
}

/* Derivative along the line w + t*d, given scores at w (a) and along d (b). */
static long double slope(const double *a, const double *b, const double *y, int64_t n, long double wd, long double dd, double lambda,
                         double t) {
    long double s = lambda * (wd + t * dd);
    for (int64_t i = 0; i < n; i++) {
        double slack = 1 - y[i] * (a[i] + t * b[i]);
        if (slack > 0) s -= (long double)slack * y[i] * b[i];
    }
    return s;
}

/* Step to the minimum along d: where the slope, which only rises, changes its sign. */
static double line(const double *a, const double *b, const double *y, int64_t n, long double wd, long double dd, double lambda) {
    double lo = 0, hi = 1;
    while (slope(a, b, y, n, wd, dd, lambda, hi) < 0 && hi < 1e12) lo = hi, hi *= 2;
    for (int k = 0; k < HALVINGS; k++) {
        double mid = lo + (hi - lo) / 2;
        if (mid == lo || mid == hi) break;
        if (slope(a, b, y, n, wd, dd, lambda, mid) < 0)
            lo = mid;
        else
            hi = mid;
    }
    return lo;
}

typedef struct space {
    long double *h, *g;
    double *d, *next, *a, *b;
} space;

static int take(space *s, int64_t n, int64_t m) {
    s->h = calloc((size_t)(m * m), sizeof *s->h);
    s->g = calloc((size_t)m, sizeof *s->g);
    s->d = calloc((size_t)m, sizeof *s->d);
    s->next = calloc((size_t)m, sizeof *s->next);
    s->a = calloc((size_t)n, sizeof *s->a);
    s->b = calloc((size_t)n, sizeof *s->b);
    return s->h && s->g && s->d && s->next && s->a && s->b;
}

static void give(space *s) {
    free(s->h);
    free(s->g);
    free(s->d);
    free(s->next);
    free(s->a);
    free(s->b);
}

/* One Newton step from w; false when it does not lower the objective any more. */
static int step(space *s, const double *x, const double *y, int64_t n, int64_t m, double lambda, double *w, double *best) {
    derivatives(x, y, n, m, lambda, w, s->h, s->g);
    if (!solve(s->h, s->g, m, s->d)) return 0;
    long double wd = 0, dd = 0;
    for (int64_t j = 0; j < m; j++) {
        wd += (long double)w[j] * s->d[j];
        dd += (long double)s->d[j] * s->d[j];
    }
    for (int64_t i = 0; i < n; i++) {
        s->a[i] = clf_l2svm_ref_score(x, i, m, w);
        s->b[i] = clf_l2svm_ref_score(x, i, m, s->d);
    }
    double t = line(s->a, s->b, y, n, wd, dd, lambda);
    for (int64_t j = 0; j < m; j++) s->next[j] = w[j] + t * s->d[j];
    double f = clf_l2svm_ref_objective(x, y, n, m, lambda, s->next);
    if (!(f < *best)) return 0;
    *best = f;
    memcpy(w, s->next, (size_t)m * sizeof *w);
    return 1;
}

double clf_l2svm_ref(const double *x, const double *y, int64_t n, int64_t m, double lambda, double *w) {
    space s = {0};
    double best = NAN;
    if (take(&s, n, m)) {
        int k = 0;
        memset(w, 0, (size_t)m * sizeof *w);
        best = clf_l2svm_ref_objective(x, y, n, m, lambda, w);
        while (k < STEPS_MAX && step(&s, x, y, n, m, lambda, w, &best)) k++;
        if (k == STEPS_MAX) best = NAN;
    }
    give(&s);
    return best;
}

void clf_l2svm_ref_standardise(double *x, int64_t n, int64_t m) {
    for (int64_t j = 0; j < m; j++) {
        long double mean = 0, var = 0;
        for (int64_t i = 0; i < n; i++) mean += x[i * m + j];
        mean /= n;
        for (int64_t i = 0; i < n; i++) var += (x[i * m + j] - mean) * (x[i * m + j] - mean);
        var = sqrtl(var / n);
        for (int64_t i = 0; i < n; i++) x[i * m + j] = (double)((x[i * m + j] - mean) / var);
    }
}

/* xorshift64*, in [-1, 1). */
static double number(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (double)(*state * 0x2545F4914F6CDD1Du >> 11) * 0x1p-52 - 1;
}

void clf_l2svm_ref_data(double *x, double *y, int64_t n, int64_t m, uint64_t seed) {
    uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
    for (int64_t i = 0; i < n; i++) {
        double score = 1.5 * number(&state);
        for (int64_t j = 0; j < m; j++) {
            x[i * m + j] = j + 1 < m ? (1 + (double)j) * number(&state) : 1;
            score += x[i * m + j] * (j % 3 == 0 ? 0.5 : j % 3 == 1 ? -0.25 : 0.1);
        }
        y[i] = score > 0 ? 1 : -1;
    }
}
