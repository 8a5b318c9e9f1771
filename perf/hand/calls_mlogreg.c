/* SPDX-License-Identifier: Apache-2.0
 * Multinomial logistic regression as a sequence of calls. */
#include <stddef.h>

#include "perf/hand/calls_trust.h"

enum { TOP, ALL, U, SUMS, LABELS };

static void curve(calls_newton *p) {
    const int64_t n = p->a->n;
    calls_mul(p->tall, p->Z, p->W, p->Z, 0);
    calls_row_sums(n, p->k, p->column[SUMS], p->Z);
    calls_mul_over(n, p->k, p->C, p->W, p->column[SUMS]);
    calls_sub(p->tall, p->C, p->Z, p->C, 0);
}

/* Y: 1 where the label is the column's class. */
static void indicators(calls_newton *p) {
    for (int64_t j = 0; j < p->k; j++) {
        calls_equal(p->a->n, p->column[LABELS], p->a->y, NULL, (double)(j + 1));
        calls_put_column(p->a->n, p->k, j, p->Y, p->column[LABELS]);
    }
}

static double point(calls_newton *p) {
    const int64_t n = p->a->n;
    double *top = p->column[TOP], *all = p->column[ALL], *u = p->column[U];
    calls_row_maxs(n, p->k, top, p->L);
    calls_at_least(n, top, top, NULL, 0);
    calls_sub_over(n, p->k, p->E, p->L, top);
    calls_exp(p->tall, p->E, p->E, NULL, 0);
    calls_row_sums(n, p->k, all, p->E);
    calls_scale(n, u, top, NULL, -1);
    calls_exp(n, u, u, NULL, 0);
    calls_add(n, all, all, u, 0);
    calls_div_over(n, p->k, p->W2, p->E, all);
    calls_log(n, u, all, NULL, 0);
    calls_add(n, u, u, top, 0);
    indicators(p);
    calls_mul(p->tall, p->L, p->Y, p->L, 0);
    calls_sub(p->tall, p->E, p->Y, p->W2, 0);
    return calls_sum(n, u) - calls_sum(p->tall, p->L);
}

bool hand_calls_mlogreg(hand_alg *a) { return calls_trust(a, a->k - 1, point, curve, false, 0); }
