/* SPDX-License-Identifier: Apache-2.0
 * GNMF by hand, on a sparse X and its transpose: an update is one pass over the entries, row by row: the row's product with the other
 * factors, its update, and what it adds to the k x k product that the objective and the next update need. start: W, H. */
#include "perf/hand/factors.h"

typedef struct side {
    int64_t n, kv;
    vec *f, *ff; /* factors, and t(F) %*% F */
} side;

/* p = the sum of the rows of g that the entries of row i name. */
ALWAYS void product(const hand_csr *x, int64_t i, const vec *restrict g, const int64_t kv, vec *restrict p) {
    const int64_t end = x->ptr[i + 1];
    int64_t e = x->ptr[i];
    vec odd[MOST];
    for (int64_t l = 0; l < kv; l++) p[l] = odd[l] = (vec){0};
    for (; e + 2 <= end; e += 2) {
        const vec *restrict a = g + x->idx[e] * kv, *restrict b = g + x->idx[e + 1] * kv;
        for (int64_t l = 0; l < kv; l++) {
            p[l] += x->val[e] * a[l];
            odd[l] += x->val[e + 1] * b[l];
        }
    }
    for (int64_t l = 0; l < kv; l++) p[l] += odd[l];
    for (int64_t l = 0; e < end && l < kv; l++) p[l] += x->val[e] * g[x->idx[e] * kv + l];
}

/* f = f * p / (f gg + 1e-15); ff += f' f; gives f p. */
ALWAYS double update_row(vec *restrict f, const vec *restrict p, const vec *restrict gg, vec *restrict ff, const int64_t kv) {
    vec under[MOST], cross = {0};
    for (int64_t l = 0; l < kv; l++) under[l] = (vec){1e-15, 1e-15, 1e-15, 1e-15};
    for (int64_t q = 0; q < LANES * kv; q++)
        for (int64_t l = 0; l < kv; l++) under[l] += ((const double *)f)[q] * gg[q * kv + l];
    for (int64_t l = 0; l < kv; l++) {
        f[l] = f[l] * p[l] / under[l];
        cross += f[l] * p[l];
    }
    for (int64_t q = 0; q < LANES * kv; q++)
        for (int64_t l = 0; l < kv; l++) ff[q * kv + l] += ((const double *)f)[q] * f[l];
    return vec_sum(cross);
}

ALWAYS double update_rows(const hand_csr *x, const side *a, const side *g, int64_t lo, int64_t hi, const int64_t kv, vec *ff) {
    double cross = 0;
    for (int64_t i = lo; i < hi; i++) {
        vec p[MOST];
        product(x, i, g->f, kv, p);
        cross += update_row(a->f + i * kv, p, g->ff, ff, kv);
    }
    return cross;
}

static double update(const hand_csr *x, side *a, const side *g) {
    const int parts = hand_parts();
    const int64_t square = LANES * a->kv * a->kv;
    double cross = 0;
    memset(a->ff, 0, (size_t)square * sizeof *a->ff);
#pragma omp parallel reduction(+ : cross)
    {
        vec ff[square];
        memset(ff, 0, sizeof ff);
#pragma omp for schedule(dynamic, 1)
        for (int part = 0; part < parts; part++) {
            const int64_t lo = hand_part(x, part, parts), hi = hand_part(x, part + 1, parts);
            cross += a->kv == USUAL ? update_rows(x, a, g, lo, hi, USUAL, ff) : update_rows(x, a, g, lo, hi, a->kv, ff);
        }
#pragma omp critical
        for (int64_t l = 0; l < square; l++) a->ff[l] += ff[l];
    }
    return cross;
}

static side side_of(int64_t n, int64_t k, const double *start) {
    const int64_t kv = hand_vectors(k);
    vec *f = hand_rows(n + LANES * kv, kv);
    if (f) hand_pack(start, n, k, f);
    return (side){n, kv, f, f ? f + n * kv : NULL};
}

static void gram(const side *a) {
    for (int64_t i = 0; i < a->n; i++)
        for (int64_t q = 0; q < LANES * a->kv; q++)
            for (int64_t l = 0; l < a->kv; l++) a->ff[q * a->kv + l] += ((const double *)(a->f + i * a->kv))[q] * a->f[i * a->kv + l];
}

static void run(hand_alg *a, side *w, side *h) {
    double squares = 0;
    for (int64_t e = 0; e < a->s.nnz; e++) squares += a->s.val[e] * a->s.val[e];
    gram(w);
    for (int i = 1; i <= a->iterations; i++) {
        update(&a->twin, h, w);
        const double cross = update(&a->s, w, h);
        double norm = 0;
        for (int64_t l = 0; l < LANES * w->kv * w->kv; l++) norm += vec_sum(w->ff[l] * h->ff[l]);
        a->objective = squares - 2 * cross + norm;
        if (a->each) a->each(a->user, i, a->objective);
    }
}

bool hand_alg_gnmf(hand_alg *a) {
    if (hand_vectors(a->k) > MOST) return false;
    side w = side_of(a->n, a->k, a->start[0]), h = side_of(a->m, a->k, a->start[1]);
    if (w.f && h.f) run(a, &w, &h);
    free(w.f);
    free(h.f);
    return w.f && h.f;
}
