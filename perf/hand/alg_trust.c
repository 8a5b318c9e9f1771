/* SPDX-License-Identifier: Apache-2.0
 * The iterations of examples/trust_region.c by hand. What has the size of the model is a few short loops. */
#include <float.h>
#include <math.h>
#include "perf/hand/alg_pass.h"

typedef struct state {
    double *B, *N, *W, *S, *R, *V, *H, *B2, *N2, *W2; /* as in the example's programs; H: the product with the second derivative */
    int64_t size;
    double nn, radius, rest;
    bool sharp, small; /* small: the last step promised no more than rounding hides */
} state;

static double dot(int64_t n, const double *restrict a, const double *restrict b) {
    double s = 0;
#pragma omp simd reduction(+ : s)
    for (int64_t i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

static double longest_row(const hand_alg *a) {
    double most = 0;
#pragma omp parallel for schedule(static) reduction(max : most)
    for (int64_t i = 0; i < a->n; i++) {
        const double *row = a->x ? a->x + i * a->m : a->s.val + a->s.ptr[i];
        double s = dot(a->x ? a->m : a->s.ptr[i + 1] - a->s.ptr[i], row, row);
        if (s > most) most = s;
    }
    return sqrt(most);
}

/* One turn of the conjugate gradients; false: it ended at the radius. */
static bool turn(state *t, double lambda, double *rr) {
    const int64_t size = t->size;
    double *restrict S = t->S, *restrict R = t->R, *restrict V = t->V, *restrict H = t->H, next = 0;
    for (int64_t j = 0; j < size; j++) H[j] += lambda * V[j];
    const double curve = dot(size, V, H), sv = dot(size, S, V), vv = dot(size, V, V), ss = dot(size, S, S), radius2 = t->radius * t->radius;
    const double along = *rr / curve, room = radius2 > ss ? radius2 - ss : 0;
    const bool inside = curve > 0 && ss + along * (2 * sv + along * vv) <= radius2;
    const double a = inside ? along : room / (sv + sqrt(sv * sv + vv * room));
    for (int64_t j = 0; j < size; j++) {
        S[j] += a * V[j];
        R[j] -= a * H[j];
        next += R[j] * R[j];
    }
    for (int64_t j = 0; j < size; j++) V[j] = R[j] + next / *rr * V[j];
    *rr = next;
    return inside;
}

static bool solve(state *t, const hand_alg *a, int64_t k, hand_cells curve) {
    const size_t bytes = (size_t)t->size * sizeof(double);
    const int64_t limit = a->inner > 0 ? a->inner : t->size;
    const double loose = t->sharp ? fmin(0.25, sqrt(t->nn)) : 0.01, enough = t->nn * (t->small ? fmin(loose, 1e-4) : loose);
    double rr = t->nn;
    bool inside = true, good = true;
    memset(t->S, 0, bytes);
    memcpy(t->R, t->N, bytes);
    memcpy(t->V, t->N, bytes);
    for (int64_t i = 0; i < limit && inside && rr > enough && good; i++) {
        hand_pass(a, k, t->V, t->W, curve, t->H, &good);
        if (good) inside = turn(t, a->lambda, &rr);
    }
    return good;
}

static double next_radius(double radius, double length, double gain, double alpha) {
    const double there = fmin(alpha * length, 4 * radius);
    if (gain < 1e-4) return fmin(fmax(alpha, 0.25) * length, 0.5 * radius);
    if (gain < 0.25) return fmax(0.25 * radius, fmin(there, 0.5 * radius));
    return fmax(gain < 0.75 ? 0.25 * radius : radius, there);
}

/* Loss and derivative at B + S into B2, N2, W2. */
static bool look(state *t, const hand_alg *a, int64_t k, hand_cells point, double *objective) {
    bool good;
    for (int64_t j = 0; j < t->size; j++) t->B2[j] = t->B[j] + t->S[j];
    *objective = hand_pass(a, k, t->B2, t->W2, point, t->N2, &good) + t->rest + 0.5 * a->lambda * dot(t->size, t->B2, t->B2);
    for (int64_t j = 0; j < t->size; j++) t->N2[j] -= a->lambda * t->B2[j];
    return good;
}

static void swap(double **a, double **b) {
    double *c = *a;
    *a = *b;
    *b = c;
}

static void take(state *t) {
    swap(&t->B, &t->B2);
    swap(&t->N, &t->N2);
    swap(&t->W, &t->W2);
    t->nn = dot(t->size, t->N, t->N);
}

static double hidden(const hand_alg *a) { return fmax(a->tolerance, 16 * DBL_EPSILON) * fabs(a->objective); }

static bool iterate(state *t, hand_alg *a, int64_t k, hand_cells point, hand_cells curve, int iteration) {
    double objective;
    if (!solve(t, a, k, curve) || !look(t, a, k, point, &objective)) return false;
    const double slope = dot(t->size, t->S, t->N), promise = 0.5 * (slope + dot(t->size, t->S, t->R)),
                 length = sqrt(dot(t->size, t->S, t->S));
    const double gain = (a->objective - objective) / promise, excess = objective - a->objective + slope;
    if (iteration == 1) t->radius = fmin(t->radius, length);
    if (promise > hidden(a)) t->radius = next_radius(t->radius, length, gain, excess <= 0 ? 4 : fmax(0.25, 0.5 * slope / excess));
    if (gain > 1e-4) {
        a->objective = objective;
        take(t);
    }
    t->small = promise <= hidden(a);
    if (a->each) a->each(a->user, iteration, a->objective);
    return true;
}

bool hand_trust(hand_alg *a, int64_t k, hand_cells point, hand_cells curve, bool sharp, double rest) {
    const int64_t size = a->m * k, cells = a->n * k;
    double *all = calloc((size_t)(8 * size + 2 * cells), sizeof *all);
    if (!all) return false;
    state t = {.size = size, .rest = rest, .sharp = sharp};
    double **const small[] = {&t.B, &t.N, &t.S, &t.R, &t.V, &t.H, &t.B2, &t.N2};
    for (int i = 0; i < 8; i++) *small[i] = all + i * size;
    t.W = all + 8 * size, t.W2 = t.W + cells;
    t.radius = 0.5 * sqrt((double)a->m) / longest_row(a);
    bool good = look(&t, a, k, point, &a->objective);
    take(&t);
    for (int i = 1, careful = 0; i <= a->iterations && good && !(t.small && careful); i++) {
        careful = t.small;
        good = iterate(&t, a, k, point, curve, i);
    }
    free(all);
    return good;
}
