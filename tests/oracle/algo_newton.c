/* SPDX-License-Identifier: Apache-2.0
 * Newton's method for a strictly convex objective: the step solves the d x d system by Cholesky, and is halved until the objective
 * falls. It ends where no step lowers it. Invariant: the objective never rises. */
#include "tests/oracle/algo_newton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 500, HALVINGS = 60 };

/* Solve h s = g in place: s is in g. False when h is not positive definite. */
static bool solve(long double *h, long double *g, int64_t d) {
    for (int64_t i = 0; i < d; i++) {
        for (int64_t j = 0; j <= i; j++) {
            long double s = h[i * d + j];
            for (int64_t l = 0; l < j; l++) s -= h[i * d + l] * h[j * d + l];
            if (i == j && !(s > 0)) return false;
            h[i * d + j] = i == j ? sqrtl(s) : s / h[j * d + j];
        }
    }
    for (int64_t i = 0; i < d; i++) {
        for (int64_t l = 0; l < i; l++) g[i] -= h[i * d + l] * g[l];
        g[i] /= h[i * d + i];
    }
    for (int64_t i = d; i-- > 0;) {
        for (int64_t l = i + 1; l < d; l++) g[i] -= h[l * d + i] * g[l];
        g[i] /= h[i * d + i];
    }
    return true;
}

/* b less the step s, or a part of it, if that lowers the objective. */
static bool descend(const algo_plain *a, int64_t d, algo_objective f, double *b, const long double *s, double *at, long double *objective) {
    long double part = 1;
    for (int i = 0; i < HALVINGS; i++, part /= 2) {
        for (int64_t j = 0; j < d; j++) at[j] = (double)(b[j] - part * s[j]);
        long double there = f(a, at, NULL, NULL);
        if (!(there < *objective)) continue;
        *objective = there;
        memcpy(b, at, (size_t)d * sizeof *b);
        return true;
    }
    return false;
}

bool algo_newton(const algo_plain *a, int64_t d, algo_objective f, double *b, double *objective) {
    long double *g = malloc((size_t)(d + d * d) * sizeof *g), *h = g + d, now;
    double *at = malloc((size_t)d * sizeof *at);
    bool good = g && at;
    memset(b, 0, (size_t)d * sizeof *b);
    for (int i = 0; i < STEPS && good; i++) {
        memset(g, 0, (size_t)(d + d * d) * sizeof *g);
        now = f(a, b, g, h);
        good = solve(h, g, d);
        bool lower = good && descend(a, d, f, b, g, at, &now);
        *objective = (double)now;
        if (!lower) break;
    }
    free(g);
    free(at);
    return good;
}
