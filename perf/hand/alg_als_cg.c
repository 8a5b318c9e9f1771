/* SPDX-License-Identifier: Apache-2.0
 * ALS-CG by hand: one pass over the ratings for the gradient and the loss, one for a step of conjugate gradients (direction, its product
 * with the quadratic form, its curvature, row by row), one over the factors for what the step length decides. start: U, V. */
#include "perf/hand/factors.h"

typedef struct side {
    const hand_csr *x;
    vec *f, *r, *s, *h; /* factors, residual, direction, its product */
    double lambda;
    int64_t kv;
} side;

ALWAYS vec times(const vec *restrict u, const vec *restrict g, const int64_t kv) {
    vec t = {0};
    for (int64_t l = 0; l < kv; l++) t += u[l] * g[l];
    return t;
}

/* o = (u g' - x) g for the ratings of row i, four at a time, x or 0; gives the sum of the squares of what is in brackets. */
ALWAYS double row(const hand_csr *x, int64_t i, const vec *restrict u, const vec *restrict g, const int64_t kv, const int with_x,
                  vec *restrict out) {
    const int64_t end = x->ptr[i + 1];
    int64_t p = x->ptr[i];
    vec o[MOST], squares = {0};
    double more = 0;
    for (int64_t l = 0; l < kv; l++) o[l] = (vec){0};
    for (; p + LANES <= end; p += LANES) {
        const vec *restrict a = g + x->idx[p] * kv, *restrict b = g + x->idx[p + 1] * kv, *restrict c = g + x->idx[p + 2] * kv,
                            *restrict d = g + x->idx[p + 3] * kv;
        vec t = vec_sums(times(u, a, kv), times(u, b, kv), times(u, c, kv), times(u, d, kv));
        if (with_x) t -= (vec){x->val[p], x->val[p + 1], x->val[p + 2], x->val[p + 3]};
        squares += t * t;
        for (int64_t l = 0; l < kv; l++) o[l] += (t[0] * a[l] + t[1] * b[l]) + (t[2] * c[l] + t[3] * d[l]);
    }
    for (; p < end; p++) {
        const vec *restrict a = g + x->idx[p] * kv;
        const double t = vec_sum(times(u, a, kv)) - (with_x ? x->val[p] : 0);
        more += t * t;
        for (int64_t l = 0; l < kv; l++) o[l] += t * a[l];
    }
    for (int64_t l = 0; l < kv; l++) out[l] = o[l];
    return vec_sum(squares) + more;
}

/* lambda, as often as row i has ratings. */
ALWAYS double weight(const side *a, int64_t i) { return a->lambda * (double)(a->x->ptr[i + 1] - a->x->ptr[i]); }

/* r = minus half the gradient; its squared norm; the loss without the other side's squares. */
ALWAYS double begin_rows(const side *a, const vec *g, int64_t lo, int64_t hi, const int64_t kv, double *norm) {
    double loss = 0;
    for (int64_t i = lo; i < hi; i++) {
        const vec *restrict f = a->f + i * kv;
        vec o[MOST], *restrict r = a->r + i * kv;
        loss += row(a->x, i, f, g, kv, 1, o);
        for (int64_t l = 0; l < kv; l++) r[l] = -o[l] - weight(a, i) * f[l];
        loss += weight(a, i) * vec_sum(times(f, f, kv));
        *norm += vec_sum(times(r, r, kv));
    }
    return loss;
}

/* s = r + b s, h = (pattern * (s g')) g + lambda * count * s, and sum(s * h). */
ALWAYS double step_rows(const side *a, const vec *g, double b, int64_t lo, int64_t hi, const int64_t kv) {
    double curved = 0;
    for (int64_t i = lo; i < hi; i++) {
        const vec *restrict r = a->r + i * kv;
        vec *restrict s = a->s + i * kv, *restrict h = a->h + i * kv, d[MOST], o[MOST];
        for (int64_t l = 0; l < kv; l++) d[l] = r[l] + b * s[l];
        row(a->x, i, d, g, kv, 0, o);
        for (int64_t l = 0; l < kv; l++) o[l] += weight(a, i) * d[l];
        for (int64_t l = 0; l < kv; l++) s[l] = d[l], h[l] = o[l];
        curved += vec_sum(times(d, o, kv));
    }
    return curved;
}

static double begin(const side *a, const vec *g, double *norm) {
    const int parts = hand_parts();
    double loss = 0, rr = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : loss, rr)
    for (int part = 0; part < parts; part++) {
        const int64_t lo = hand_part(a->x, part, parts), hi = hand_part(a->x, part + 1, parts);
        loss += a->kv == USUAL ? begin_rows(a, g, lo, hi, USUAL, &rr) : begin_rows(a, g, lo, hi, a->kv, &rr);
    }
    *norm = rr;
    return loss;
}

static double curvature(const side *a, const vec *g, double b) {
    const int parts = hand_parts();
    double curved = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : curved)
    for (int part = 0; part < parts; part++) {
        const int64_t lo = hand_part(a->x, part, parts), hi = hand_part(a->x, part + 1, parts);
        curved += a->kv == USUAL ? step_rows(a, g, b, lo, hi, USUAL) : step_rows(a, g, b, lo, hi, a->kv);
    }
    return curved;
}

static double move(const side *a, double step) {
    const int64_t n = a->x->rows * a->kv * LANES;
    double *restrict f = (double *)a->f, *restrict r = (double *)a->r, rr = 0;
    const double *restrict s = (const double *)a->s, *restrict h = (const double *)a->h;
#pragma omp parallel for simd schedule(static) reduction(+ : rr)
    for (int64_t i = 0; i < n; i++) {
        f[i] += step * s[i];
        r[i] -= step * h[i];
        rr += r[i] * r[i];
    }
    return rr;
}

static void solve(const side *a, const vec *g, int64_t most, double norm) {
    const double stop = 1e-9 * norm;
    double b = 0;
    for (int64_t i = 0; i < most && norm > stop; i++) {
        const double curved = curvature(a, g, b), before = norm;
        norm = move(a, curved > 0 ? norm / curved : 0);
        b = norm / before;
    }
}

/* lambda * sum(count * f^2) */
static double weighed(const side *a) {
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (int64_t i = 0; i < a->x->rows; i++) sum += weight(a, i) * vec_sum(times(a->f + i * a->kv, a->f + i * a->kv, a->kv));
    return sum;
}

static side side_of(const hand_alg *a, const hand_csr *x, const double *start) {
    const int64_t kv = hand_vectors(a->k), n = x->rows * kv;
    vec *f = hand_rows(4 * x->rows, kv);
    if (f) hand_pack(start, x->rows, a->k, f);
    return f ? (side){x, f, f + n, f + 2 * n, f + 3 * n, a->lambda, kv} : (side){.x = x};
}

static void run(hand_alg *a, const side *u, const side *v) {
    const int64_t most = a->inner > 0 ? a->inner : a->k;
    double norm, other;
    begin(u, v->f, &norm);
    for (int i = 1; i <= a->iterations; i++) {
        solve(u, v->f, most, norm);
        begin(v, u->f, &other);
        solve(v, u->f, most, other);
        a->objective = begin(u, v->f, &norm) + weighed(v);
        if (a->each) a->each(a->user, i, a->objective);
    }
}

bool hand_alg_als_cg(hand_alg *a) {
    if (hand_vectors(a->k) > MOST) return false;
    side u = side_of(a, &a->s, a->start[0]), v = side_of(a, &a->twin, a->start[1]);
    if (u.f && v.f) run(a, &u, &v);
    free(u.f);
    free(v.f);
    return u.f && v.f;
}
