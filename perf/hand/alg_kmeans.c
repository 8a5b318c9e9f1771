/* SPDX-License-Identifier: Apache-2.0
 * KMeans, fused by hand: the iterations of examples/kmeans.c from start[0] (k x m centres), one pass over X each. Of short rows a vector
 * has one dimension of eight centres, four rows share it, and they are added to the sums of all centres times 0 or 1, without a branch;
 * longer rows are taken along their length, and added to the nearest. Each thread has sums of its own. */
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include "perf/hand/algorithm.h"
#include "perf/hand/split.h"

#define ALWAYS static inline __attribute__((always_inline))
enum { LANES = 8, ROWS = 4, SHORT = 48, BLOCK = 256, MOST = 64 /* centres */ };
#define FAR 1e300
typedef double lanes __attribute__((vector_size(64), may_alias));
typedef int64_t bits __attribute__((vector_size(64), may_alias));
typedef double loose __attribute__((vector_size(64), may_alias, aligned(8)));

typedef struct state {
    const hand_alg *a;
    int64_t kp;            /* centres, rounded up to whole vectors */
    double *c, *ct, *norm; /* kp x m of which k are used, m x kp, kp: those beyond k are further than any */
    double *own, *rest;    /* of every thread: sums (kp x m), rows (kp), the same the other way round (m x kp, kp); a number */
    int threads;
} state;

static double *sums_of(const state *s, int thread) { return s->own + thread * 2 * s->kp * (s->a->m + 1); }
static double *size_of(const state *s, int thread) { return sums_of(s, thread) + s->kp * s->a->m; }

static void turn(state *s) {
    const hand_alg *a = s->a;
    for (int64_t k = 0; k < s->kp; k++) {
        double q = k < a->k ? 0 : FAR;
        for (int64_t j = 0; j < a->m; j++) {
            double x = k < a->k ? s->c[k * a->m + j] : 0;
            s->ct[j * s->kp + k] = x;
            q += x * x;
        }
        s->norm[k] = q;
    }
}

/* d: products of a row with all centres. Adds the row to where it belongs; ties are shared. Gives the least distance without |x|^2. */
ALWAYS double choose(const state *s, const double *restrict d, int64_t *restrict which, double *restrict share, int *restrict ties) {
    double least = DBL_MAX;
    int n = 0;
    for (int64_t k = 0; k < s->a->k; k++) least = fmin(least, s->norm[k] - 2 * d[k]);
    for (int64_t k = 0; k < s->a->k; k++)
        if (s->norm[k] - 2 * d[k] <= least) which[n++] = k;
    *share = 1.0 / n;
    *ties = n;
    return least;
}

ALWAYS void add_dense(const state *s, const double *restrict x, const double *restrict d, double *sums, double *size, double *rest) {
    const int64_t m = s->a->m;
    int64_t which[MOST];
    double share;
    int n;
    *rest += choose(s, d, which, &share, &n);
    for (int q = 0; q < n; q++) {
        double *restrict to = sums + which[q] * m;
        size[which[q]] += share;
        for (int64_t j = 0; j < m; j++) to[j] += share * x[j];
    }
}

/* Shares of a row in eight centres each; gives its least distance without |x|^2. */
ALWAYS double shares(const state *s, lanes *d) {
    const lanes *norm = (const lanes *)s->norm;
    double least = DBL_MAX, ties = 0;
    for (int64_t g = 0; g < s->kp / LANES; g++) {
        d[g] = norm[g] - 2 * d[g];
        for (int l = 0; l < LANES; l++) least = d[g][l] < least ? d[g][l] : least;
    }
    for (int64_t g = 0; g < s->kp / LANES; g++) {
        const lanes one = {1, 1, 1, 1, 1, 1, 1, 1};
        d[g] = (lanes)((d[g] <= least) & (bits)one);
        for (int l = 0; l < LANES; l++) ties += d[g][l];
    }
    for (int64_t g = 0; g < s->kp / LANES; g++) d[g] *= 1 / ties;
    return least;
}

/* Four short rows; groups: kp / LANES. sums is m x kp here. */
ALWAYS void short_rows(const state *s, const double *restrict x, const int groups, lanes *restrict sums, lanes *restrict size,
                       double *rest) {
    const int64_t m = s->a->m;
    const lanes *restrict ct = (const lanes *)s->ct;
    lanes d[ROWS][MOST / LANES];
    for (int g = 0; g < groups; g++) {
        lanes d0 = {0}, d1 = {0}, d2 = {0}, d3 = {0};
        for (int64_t j = 0; j < m; j++) {
            const lanes c = ct[j * groups + g];
            d0 += x[j] * c, d1 += x[m + j] * c, d2 += x[2 * m + j] * c, d3 += x[3 * m + j] * c;
        }
        d[0][g] = d0, d[1][g] = d1, d[2][g] = d2, d[3][g] = d3;
    }
    for (int r = 0; r < ROWS; r++) *rest += shares(s, d[r]);
    for (int g = 0; g < groups; g++) {
        const lanes d0 = d[0][g], d1 = d[1][g], d2 = d[2][g], d3 = d[3][g];
        size[g] += (d0 + d1) + (d2 + d3);
        for (int64_t j = 0; j < m; j++) sums[j * groups + g] += (x[j] * d0 + x[m + j] * d1) + (x[2 * m + j] * d2 + x[3 * m + j] * d3);
    }
}

/* Two long rows against n centres. */
ALWAYS void long_rows(const double *restrict x, const double *restrict c, int64_t m, const int n, double *d, double *e) {
    lanes a[4] = {{0}}, b[4] = {{0}};
    int64_t j = 0;
    for (int q = 0; q < n; q++) d[q] = e[q] = 0;
    for (; j + LANES <= m; j += LANES) {
        const lanes u = *(const loose *)(x + j), v = *(const loose *)(x + m + j);
        for (int q = 0; q < n; q++) {
            const lanes w = *(const loose *)(c + q * m + j);
            a[q] += u * w, b[q] += v * w;
        }
    }
    for (; j < m; j++)
        for (int q = 0; q < n; q++) d[q] += x[j] * c[q * m + j], e[q] += x[m + j] * c[q * m + j];
    for (int q = 0; q < n; q++)
        for (int l = 0; l < LANES; l++) d[q] += a[q][l], e[q] += b[q][l];
}

static void long_pair(const state *s, const double *x, double *sums, double *size, double *rest) {
    const int64_t m = s->a->m, k = s->a->k;
    double d[MOST], e[MOST];
    int64_t q = 0;
    for (; q + 4 <= k; q += 4) long_rows(x, s->c + q * m, m, 4, d + q, e + q);
    for (; q < k; q++) long_rows(x, s->c + q * m, m, 1, d + q, e + q);
    add_dense(s, x, d, sums, size, rest);
    add_dense(s, x + m, e, sums, size, rest);
}

static void one_row(const state *s, const double *x, double *sums, double *size, double *rest) {
    const int64_t m = s->a->m, k = s->a->k;
    double d[MOST] = {0};
    for (int64_t q = 0; q < k; q++)
        for (int64_t j = 0; j < m; j++) d[q] += x[j] * s->c[q * m + j];
    add_dense(s, x, d, sums, size, rest);
}

/* Rows lo to hi - 1, as many as go by ROWS; gives the first that is left. */
ALWAYS int64_t short_block(const state *s, int64_t lo, int64_t hi, const int groups, lanes *sums, lanes *size, double *rest) {
    for (; lo + ROWS <= hi; lo += ROWS) short_rows(s, s->a->x + lo * s->a->m, groups, sums, size, rest);
    return lo;
}

static void dense_pass(state *s, int thread) {
    const hand_alg *a = s->a;
    double *sums = sums_of(s, thread), *size = size_of(s, thread), rest = 0;
    lanes *turned = (lanes *)(size + s->kp), *held = turned + s->kp / LANES * a->m;
#pragma omp for schedule(static)
    for (int64_t b = 0; b < (a->n + BLOCK - 1) / BLOCK; b++) {
        const int64_t end = (b + 1) * BLOCK < a->n ? (b + 1) * BLOCK : a->n;
        int64_t i = b * BLOCK;
        if (a->m <= SHORT && s->kp == LANES)
            i = short_block(s, i, end, 1, turned, held, &rest);
        else if (a->m <= SHORT)
            i = short_block(s, i, end, (int)(s->kp / LANES), turned, held, &rest);
        else
            for (; i + 2 <= end; i += 2) long_pair(s, a->x + i * a->m, sums, size, &rest);
        for (; i < end; i++) one_row(s, a->x + i * a->m, sums, size, &rest);
    }
    for (int64_t k = 0; k < a->k; k++) {
        size[k] += ((double *)held)[k];
        for (int64_t j = 0; j < a->m; j++) sums[k * a->m + j] += ((double *)turned)[j * s->kp + k];
    }
    s->rest[thread] = rest;
}

static void sparse_row(const state *s, int64_t i, double *sums, double *size, double *rest) {
    const hand_csr *x = &s->a->s;
    const int64_t m = s->a->m, kp = s->kp;
    double d[MOST] = {0}, share;
    int64_t which[MOST];
    int n;
    for (int64_t p = x->ptr[i]; p < x->ptr[i + 1]; p++) {
        const double *restrict c = s->ct + x->idx[p] * kp;
        for (int64_t k0 = 0; k0 < kp; k0 += LANES)
#pragma omp simd
            for (int l = 0; l < LANES; l++) d[k0 + l] += x->val[p] * c[k0 + l];
    }
    *rest += choose(s, d, which, &share, &n);
    for (int q = 0; q < n; q++) {
        double *restrict to = sums + which[q] * m;
        size[which[q]] += share;
        for (int64_t p = x->ptr[i]; p < x->ptr[i + 1]; p++) to[x->idx[p]] += share * x->val[p];
    }
}

static void sparse_pass(state *s, int thread) {
    const hand_alg *a = s->a;
    double *sums = sums_of(s, thread), *size = size_of(s, thread), rest = 0;
    const int parts = hand_parts();
#pragma omp for schedule(dynamic, 1)
    for (int part = 0; part < parts; part++) {
        const int64_t hi = hand_part(&a->s, part + 1, parts);
        for (int64_t i = hand_part(&a->s, part, parts); i < hi; i++) sparse_row(s, i, sums, size, &rest);
    }
    s->rest[thread] = rest;
}

/* Sums of all threads into those of the first; gives the sum of least distances without |x|^2. */
static double pass(state *s) {
    const hand_alg *a = s->a;
    double rest = 0;
    memset(s->own, 0, (size_t)(s->threads * 2 * s->kp * (a->m + 1)) * sizeof(double));
    turn(s);
#pragma omp parallel num_threads(s->threads)
    {
        if (a->x)
            dense_pass(s, omp_get_thread_num());
        else
            sparse_pass(s, omp_get_thread_num());
    }
    for (int t = 0; t < s->threads; t++) {
        rest += s->rest[t];
        for (int64_t q = 0; t && q < s->kp * (a->m + 1); q++) s->own[q] += sums_of(s, t)[q];
    }
    return rest;
}

static double squares(const hand_alg *a) {
    const double *restrict x = a->x ? a->x : a->s.val;
    const int64_t n = a->x ? a->n * a->m : a->s.nnz;
    double q = 0;
#pragma omp parallel for simd reduction(+ : q)
    for (int64_t i = 0; i < n; i++) q += x[i] * x[i];
    return q;
}

static void iterate(state *s, hand_alg *a) {
    const double xx = squares(a);
    memcpy(s->c, a->start[0], (size_t)(a->k * a->m) * sizeof(double));
    for (int it = 1; it <= a->iterations; it++) {
        a->objective = xx + pass(s);
        if (a->each) a->each(a->user, it, a->objective);
        const double *size = size_of(s, 0);
        for (int64_t k = 0; k < a->k; k++)
            for (int64_t j = 0; j < a->m && size[k] > 0; j++) s->c[k * a->m + j] = s->own[k * a->m + j] / size[k];
    }
}

bool hand_alg_kmeans(hand_alg *a) {
    state s = {.a = a, .kp = (a->k + LANES - 1) / LANES * LANES, .threads = omp_get_max_threads()};
    const int64_t cells = s.kp * a->m, own = 2 * s.threads * (cells + s.kp), rest = (s.threads + 7) / 8 * 8;
    if (s.kp > MOST) return false; /* more than the arrays on the stack hold; nobody measures that */
    double *all = aligned_alloc(64, (size_t)(2 * cells + s.kp + own + rest) * sizeof(double));
    if (!all) return false;
    s.c = all, s.ct = s.c + cells, s.norm = s.ct + cells, s.own = s.norm + s.kp, s.rest = s.own + own;
    iterate(&s, a);
    free(all);
    return true;
}
