/* SPDX-License-Identifier: Apache-2.0
 * Generalised linear models (examples/glm.c) as a sequence of calls. */
#include <math.h>
#include <stddef.h>
#include "perf/hand/calls_trust.h"

enum { X, Q, F, U, H, N, LIKELY, LOSS };
static const double far = 30; /* where the tail is no more a number */

static void curve(calls_newton *p) { calls_mul(p->tall, p->C, p->W, p->Z, 0); }

/* h = the density over the smaller tail. */
static void hazard(calls_newton *p) {
    const int64_t n = p->a->n;
    double **c = p->column, *u = c[U], *t = p->Y;
    calls_inverse(n, u, t, NULL, 1); /* t: squares of x */
    calls_scale(n, t, u, NULL, 105);
    calls_from(n, t, t, NULL, 15);
    calls_mul(n, t, u, t, 0);
    calls_from(n, t, t, NULL, 3);
    calls_mul(n, t, u, t, 0);
    calls_from(n, t, t, NULL, 1);
    calls_mul(n, t, u, t, 0);
    calls_from(n, t, t, NULL, 1);
    calls_div(n, t, c[X], t, 0);
    calls_div(n, c[H], c[F], c[Q], 0);
    calls_below(n, u, c[X], NULL, far);
    calls_choose(n, c[H], u, c[H], t);
}

static double probit(calls_newton *p) {
    const int64_t n = p->a->n;
    double **c = p->column, *rest = c[U], *t = p->Y;
    calls_abs(n, c[X], p->L, NULL, 0);
    calls_tail(n, c[Q], c[X], NULL, 0);
    calls_mul(n, t, c[X], c[X], 0);
    calls_scale(n, c[LOSS], t, NULL, 0.5);
    calls_scale(n, c[F], c[LOSS], NULL, -1);
    calls_exp(n, c[F], c[F], NULL, 0);
    calls_scale(n, c[F], c[F], NULL, 0.39894228040143267794);
    hazard(p);
    calls_from(n, c[Q], c[Q], NULL, 1);
    calls_div(n, c[N], c[F], c[Q], 0);
    calls_mul(n, p->W2, c[H], c[N], 0);
    calls_mul(n, c[LIKELY], p->a->y, p->L, 0);
    calls_not_below(n, c[LIKELY], c[LIKELY], NULL, 0);
    calls_choose(n, p->E, c[LIKELY], c[N], c[H]);
    calls_mul(n, p->E, p->a->y, p->E, 0);
    calls_shift(n, c[LOSS], c[LOSS], NULL, 0.91893853320467274178);
    calls_scale(n, rest, c[LIKELY], NULL, -1);
    calls_shift(n, rest, rest, NULL, 1);
    calls_mul(n, c[LOSS], rest, c[LOSS], 0);
    calls_inverse(n, c[Q], c[Q], NULL, 1);
    calls_choose(n, c[H], c[LIKELY], c[Q], c[H]);
    calls_log(n, c[H], c[H], NULL, 0);
    calls_add(n, c[LOSS], c[H], c[LOSS], 0);
    return calls_sum(n, c[LOSS]);
}

static double poisson(calls_newton *p) {
    const int64_t n = p->a->n;
    calls_exp(n, p->W2, p->L, NULL, 0);
    calls_sub(n, p->E, p->a->y, p->W2, 0);
    calls_mul(n, p->L, p->a->y, p->L, 0);
    calls_sub(n, p->L, p->W2, p->L, 0);
    return calls_sum(n, p->L) + p->rest;
}

bool hand_calls_glm_probit(hand_alg *a) { return calls_trust(a, 1, probit, curve, true, 0); }

bool hand_calls_glm_poisson(hand_alg *a) {
    double rest = 0; /* of the deviance */
    for (int64_t i = 0; i < a->n; i++) rest += (a->y[i] > 0 ? a->y[i] * log(fmax(a->y[i], 1e-300)) : 0) - a->y[i];
    return calls_trust(a, 1, poisson, curve, true, rest);
}
