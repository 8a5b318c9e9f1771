/* SPDX-License-Identifier: Apache-2.0
 * The trust region Newton method of examples/trust_region.c (Lin, Weng and Keerthi, JMLR 9, 2008) as a sequence of calls, every operation on
 * its own. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "perf/hand/calls_trust.h"

enum { SMALL = 9, WIDE_COLUMNS = 7 };

typedef calls_newton newton;

static double dot(newton *p, const double *x, const double *y) {
    calls_mul(p->cells, p->t, x, y, 0);
    return calls_sum(p->cells, p->t);
}

/* ---- the model */

static bool curve(newton *p) {
    if (!calls_product(p->a, p->k, p->V, p->Z)) return false;
    p->curve(p);
    if (!calls_product_t(p->a, p->k, p->C, p->HV)) return false;
    calls_add_scaled(p->cells, p->HV, p->HV, p->V, p->a->lambda);
    return true;
}

/* Loss, derivative and curvature at B + S. */
static bool look(newton *p) {
    calls_add(p->cells, p->B2, p->B, p->S, 0);
    if (!calls_product(p->a, p->k, p->B2, p->L)) return false;
    const double value = p->point(p);
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
    const double loose = p->sharp ? fmin(0.25, sqrt(p->steep)) : 0.01, enough = p->steep * (p->small ? fmin(loose, 1e-4) : loose);
    double rr = p->steep;
    bool inside = true;
    memset(p->S, 0, bytes);
    memcpy(p->R, p->N, bytes);
    memcpy(p->V, p->N, bytes);
    for (int64_t i = 0; i < limit && rr > enough && inside; i++) {
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

static double hidden(const newton *p) { return fmax(p->a->tolerance, 16 * DBL_EPSILON) * fabs(p->objective); }

/* False: there is no OpenBLAS. */
static bool iterate(newton *p, bool first) {
    if (!conjugate_gradients(p) || !look(p)) return false;
    const double slope = dot(p, p->S, p->N), promise = 0.5 * (slope + dot(p, p->S, p->R)), length = sqrt(calls_sumsq(p->cells, p->S));
    const double gain = (p->objective - p->next_objective) / promise, excess = p->next_objective - p->objective + slope;
    if (first) p->radius = fmin(p->radius, length);
    if (promise > hidden(p)) p->radius = next_radius(p->radius, length, gain, excess <= 0 ? 4 : fmax(0.25, 0.5 * slope / excess));
    if (gain > 1e-4) take(p);
    p->small = promise <= hidden(p);
    return true;
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
    p->radius = 0.5 * sqrt((double)a->m) / longest_row(a);
    if (!look(p)) return false;
    take(p);
    for (int i = 1, careful = 0; i <= a->iterations && !(p->small && careful); i++) {
        careful = p->small;
        if (!iterate(p, i == 1)) return false;
        if (a->each) a->each(a->user, i, p->objective);
    }
    a->objective = p->objective;
    return true;
}

bool calls_trust(hand_alg *a, int64_t k, calls_point point, calls_curve curve_cells, bool sharp, double rest) {
    newton p = {.a = a, .k = k, .cells = a->m * k, .tall = a->n * k, .point = point, .curve = curve_cells, .sharp = sharp, .rest = rest};
    double **const small[SMALL] = {&p.B, &p.B2, &p.S, &p.R, &p.V, &p.HV, &p.N, &p.N2, &p.t};
    double **const wide[WIDE_COLUMNS] = {&p.Z, &p.C, &p.W, &p.W2, &p.L, &p.E, &p.Y};
    const size_t cells = (size_t)p.cells, tall = (size_t)p.tall, n = (size_t)a->n;
    double *all = calloc(SMALL * cells + WIDE_COLUMNS * tall + CALLS_COLUMNS * n, sizeof *all), *at = all;
    if (!all) return false;
    for (int i = 0; i < SMALL; i++, at += cells) *small[i] = at;
    for (int i = 0; i < WIDE_COLUMNS; i++, at += tall) *wide[i] = at;
    for (int i = 0; i < CALLS_COLUMNS; i++, at += n) p.column[i] = at;
    const bool good = train(&p);
    free(all);
    return good;
}
