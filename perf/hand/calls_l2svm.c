/* SPDX-License-Identifier: Apache-2.0
 * L2SVM as a sequence of calls. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "perf/hand/calls.h"

enum { LINE_STEPS = 30 };

typedef struct svm {
    const hand_alg *a;
    double *w, *s, *g, *next, *tmp;       /* m numbers */
    double *xw, *xd, *slack, *active, *t; /* n numbers */
    double objective;
} svm;

static double dot(int64_t n, double *tmp, const double *x, const double *y) {
    calls_mul(n, tmp, x, y, 0);
    return calls_sum(n, tmp);
}

/* First and second derivative of the loss along the direction, at step length a. */
static void line(svm *p, double a, double out[2]) {
    const int64_t n = p->a->n;
    calls_add_scaled(n, p->slack, p->xw, p->xd, a);
    calls_mul(n, p->slack, p->a->y, p->slack, 0);
    calls_from(n, p->slack, p->slack, NULL, 1);
    calls_above(n, p->active, p->slack, NULL, 0);
    calls_mul(n, p->slack, p->active, p->slack, 0);
    calls_mul(n, p->slack, p->slack, p->a->y, 0);
    calls_mul(n, p->slack, p->slack, p->xd, 0);
    out[0] = calls_sum(n, p->slack);
    calls_mul(n, p->t, p->xd, p->xd, 0);
    calls_mul(n, p->t, p->active, p->t, 0);
    out[1] = calls_sum(n, p->t);
}

static double step_length(svm *p, double ws, double ss) {
    const double lambda = p->a->lambda;
    double a = 0, first = 1, second = 0, v[2];
    for (int k = 0; k < LINE_STEPS && !(first * first <= p->a->tolerance * p->objective * second); k++) {
        line(p, a, v);
        first = lambda * (ws + a * ss) - v[0];
        second = lambda * ss + v[1];
        if (!(second > 0)) break;
        a -= first / second;
    }
    return a;
}

static bool move(svm *p, double a) {
    const int64_t n = p->a->n, m = p->a->m;
    calls_add_scaled(m, p->w, p->w, p->s, a);
    calls_add_scaled(n, p->xw, p->xw, p->xd, a);
    calls_mul(n, p->slack, p->a->y, p->xw, 0);
    calls_from(n, p->slack, p->slack, NULL, 1);
    calls_at_least(n, p->slack, p->slack, NULL, 0);
    const double loss = calls_sumsq(n, p->slack);
    calls_mul(n, p->slack, p->slack, p->a->y, 0);
    if (!calls_product_t(p->a, 1, p->slack, p->next)) return false;
    calls_add_scaled(m, p->next, p->next, p->w, -p->a->lambda);
    p->objective = 0.5 * loss + 0.5 * p->a->lambda * calls_sumsq(m, p->w);
    return true;
}

static bool direction(svm *p, double b) {
    calls_add_scaled(p->a->m, p->s, p->g, p->s, b);
    return calls_product(p->a, 1, p->s, p->xd);
}

static bool train(hand_alg *a, svm *p) {
    const int64_t m = a->m;
    double b = 0, promise = INFINITY;
    if (!move(p, 0)) return false;
    memcpy(p->g, p->next, (size_t)m * sizeof *p->g);
    for (int i = 1; i <= a->iterations && promise > a->tolerance * p->objective; i++) {
        if (!direction(p, b)) return false;
        const double step = step_length(p, dot(m, p->tmp, p->w, p->s), calls_sumsq(m, p->s));
        promise = step * dot(m, p->tmp, p->s, p->g);
        const double gg = calls_sumsq(m, p->g);
        if (!move(p, step)) return false;
        b = fmax(0, (calls_sumsq(m, p->next) - dot(m, p->tmp, p->next, p->g)) / gg);
        memcpy(p->g, p->next, (size_t)m * sizeof *p->g);
        if (a->each) a->each(a->user, i, p->objective);
    }
    a->objective = p->objective;
    return true;
}

bool hand_calls_l2svm(hand_alg *a) {
    const size_t n = (size_t)a->n, m = (size_t)a->m;
    double *at = calloc(5 * (n + m), sizeof *at);
    if (!at) return false;
    double *tall = at + 5 * m;
    svm p = {.a = a,
             .w = at,
             .s = at + m,
             .g = at + 2 * m,
             .next = at + 3 * m,
             .tmp = at + 4 * m,
             .xw = tall,
             .xd = tall + n,
             .slack = tall + 2 * n,
             .active = tall + 3 * n,
             .t = tall + 4 * n};
    const bool good = train(a, &p);
    free(at);
    return good;
}
