/* SPDX-License-Identifier: Apache-2.0
 * Multinomial logistic regression as a sequence of calls: the trust region Newton method of examples/trust_region.c (Lin, Weng and
 * Keerthi, JMLR 9, 2008), every operation on its own. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "perf/hand/calls.h"

enum { SMALL = 9, WIDE_COLUMNS = 7, COLUMNS = 5 };

typedef struct newton {
    hand_alg *a;
    int64_t k, cells, tall;                       /* columns of B; m * k; n * k */
    double *B, *B2, *S, *R, *V, *HV, *N, *N2, *t; /* m x k */
    double *Z, *C, *W, *W2, *L, *E, *Y;           /* n x k */
    double *top, *all, *u, *sums, *labels;        /* n */
    double radius, steep, next_steep, objective, next_objective;
} newton;

static double dot(newton *p, const double *x, const double *y) {
    calls_mul(p->cells, p->t, x, y, 0);
    return calls_sum(p->cells, p->t);
}

/* ---- the model */

static bool curve(newton *p) {
    const int64_t n = p->a->n;
    if (!calls_product(p->a, p->k, p->V, p->Z)) return false;
    calls_mul(p->tall, p->Z, p->W, p->Z, 0);
    calls_row_sums(n, p->k, p->sums, p->Z);
    calls_mul_over(n, p->k, p->C, p->W, p->sums);
    calls_sub(p->tall, p->C, p->Z, p->C, 0);
    if (!calls_product_t(p->a, p->k, p->C, p->HV)) return false;
    calls_add_scaled(p->cells, p->HV, p->HV, p->V, p->a->lambda);
    return true;
}

/* Y: 1 where the label is the column's class. */
static void indicators(newton *p) {
    for (int64_t j = 0; j < p->k; j++) {
        calls_equal(p->a->n, p->labels, p->a->y, NULL, (double)(j + 1));
        calls_put_column(p->a->n, p->k, j, p->Y, p->labels);
    }
}

static double loss(newton *p) {
    const int64_t n = p->a->n;
    calls_row_maxs(n, p->k, p->top, p->L);
    calls_at_least(n, p->top, p->top, NULL, 0);
    calls_sub_over(n, p->k, p->E, p->L, p->top);
    calls_exp(p->tall, p->E, p->E, NULL, 0);
    calls_row_sums(n, p->k, p->all, p->E);
    calls_scale(n, p->u, p->top, NULL, -1);
    calls_exp(n, p->u, p->u, NULL, 0);
    calls_add(n, p->all, p->all, p->u, 0);
    calls_div_over(n, p->k, p->W2, p->E, p->all);
    calls_log(n, p->u, p->all, NULL, 0);
    calls_add(n, p->u, p->u, p->top, 0);
    indicators(p);
    calls_mul(p->tall, p->L, p->Y, p->L, 0);
    return calls_sum(n, p->u) - calls_sum(p->tall, p->L);
}

/* Loss, derivative and curvature at B + S. */
static bool look(newton *p) {
    calls_add(p->cells, p->B2, p->B, p->S, 0);
    if (!calls_product(p->a, p->k, p->B2, p->L)) return false;
    const double value = loss(p);
    calls_sub(p->tall, p->E, p->Y, p->W2, 0);
    if (!calls_product_t(p->a, p->k, p->E, p->N2)) return false;
    calls_add_scaled(p->cells, p->N2, p->N2, p->B2, -p->a->lambda);
    p->next_objective = value + 0.5 * p->a->lambda * calls_sumsq(p->cells, p->B2);
    p->next_steep = calls_sumsq(p->cells, p->N2);
    return true;
}

/* ---- the method */

static void swap(double **x, double **y) {
    double *z = *x;
    *x = *y;
    *y = z;
}

static void take(newton *p) {
    swap(&p->B, &p->B2);
    swap(&p->N, &p->N2);
    swap(&p->W, &p->W2);
    p->steep = p->next_steep;
    p->objective = p->next_objective;
}

static bool conjugate_gradients(newton *p) {
    const size_t bytes = (size_t)p->cells * sizeof(double);
    const int64_t limit = p->a->inner > 0 ? p->a->inner : p->cells;
    double rr = p->steep;
    bool inside = true;
    memset(p->S, 0, bytes);
    memcpy(p->R, p->N, bytes);
    memcpy(p->V, p->N, bytes);
    for (int64_t i = 0; i < limit && rr > 0.01 * p->steep && inside; i++) {
        if (!curve(p)) return false;
        const double c = dot(p, p->V, p->HV), sv = dot(p, p->S, p->V), vv = calls_sumsq(p->cells, p->V);
        const double ss = calls_sumsq(p->cells, p->S), radius2 = p->radius * p->radius, try = rr / c, room = fmax(radius2 - ss, 0);
        inside = c > 0 && ss + try * (2 * sv + try * vv) <= radius2;
        const double a = inside ? try : room
            / (sv + sqrt(sv * sv + vv * room));
        calls_add_scaled(p->cells, p->S, p->S, p->V, a);
        calls_add_scaled(p->cells, p->R, p->R, p->HV, -a);
        const double rr2 = calls_sumsq(p->cells, p->R);
        calls_add_scaled(p->cells, p->V, p->R, p->V, rr2 / rr);
        rr = rr2;
    }
    return true;
}

static double next_radius(double radius, double length, double gain, double alpha) {
    const double there = fmin(alpha * length, 4 * radius);
    if (!(gain >= 1e-4)) return fmin(fmax(alpha, 0.25) * length, 0.5 * radius);
    if (gain < 0.25) return fmax(0.25 * radius, fmin(there, 0.5 * radius));
    return fmax(gain < 0.75 ? 0.25 * radius : radius, there);
}

/* An iteration; what it promised, or NaN when there is no OpenBLAS. */
static double iterate(newton *p, bool first) {
    if (!conjugate_gradients(p) || !look(p)) return NAN;
    const double slope = dot(p, p->S, p->N), promise = 0.5 * (slope + dot(p, p->S, p->R)), length = sqrt(calls_sumsq(p->cells, p->S));
    const double gain = (p->objective - p->next_objective) / promise, excess = p->next_objective - p->objective + slope;
    if (first) p->radius = fmin(p->radius, length);
    p->radius = next_radius(p->radius, length, gain, excess <= 0 ? 4 : fmax(0.25, 0.5 * slope / excess));
    if (gain > 1e-4) take(p);
    return promise;
}

static double longest_row(const hand_alg *a) {
    double most = 0;
    for (int64_t i = 0; i < a->n; i++) {
        const double *x = a->x ? a->x + i * a->m : a->s.val + a->s.ptr[i];
        const int64_t entries = a->x ? a->m : a->s.ptr[i + 1] - a->s.ptr[i];
        double sum = 0;
        for (int64_t j = 0; j < entries; j++) sum += x[j] * x[j];
        most = fmax(most, sum);
    }
    return sqrt(most);
}

static bool train(newton *p) {
    hand_alg *a = p->a;
    const double least = fmax(a->tolerance, 16 * DBL_EPSILON);
    double promise = INFINITY;
    p->radius = 0.5 * sqrt((double)a->m) / longest_row(a);
    if (!look(p)) return false;
    take(p);
    for (int i = 1; i <= a->iterations && promise > least * fabs(p->objective); i++) {
        promise = iterate(p, i == 1);
        if (isnan(promise)) return false;
        if (a->each) a->each(a->user, i, p->objective);
    }
    a->objective = p->objective;
    return true;
}

bool hand_calls_mlogreg(hand_alg *a) {
    newton p = {.a = a, .k = a->k - 1, .cells = a->m * (a->k - 1), .tall = a->n * (a->k - 1)};
    double **const small[SMALL] = {&p.B, &p.B2, &p.S, &p.R, &p.V, &p.HV, &p.N, &p.N2, &p.t};
    double **const wide[WIDE_COLUMNS] = {&p.Z, &p.C, &p.W, &p.W2, &p.L, &p.E, &p.Y};
    double **const column[COLUMNS] = {&p.top, &p.all, &p.u, &p.sums, &p.labels};
    const size_t cells = (size_t)p.cells, tall = (size_t)p.tall, n = (size_t)a->n;
    double *all = calloc(SMALL * cells + WIDE_COLUMNS * tall + COLUMNS * n, sizeof *all), *at = all;
    if (!all) return false;
    for (int i = 0; i < SMALL; i++, at += cells) *small[i] = at;
    for (int i = 0; i < WIDE_COLUMNS; i++, at += tall) *wide[i] = at;
    for (int i = 0; i < COLUMNS; i++, at += n) *column[i] = at;
    const bool good = train(&p);
    free(all);
    return good;
}
