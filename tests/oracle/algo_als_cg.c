/* SPDX-License-Identifier: Apache-2.0
 * Alternating least squares on ratings, plain and sequential. start: U (n x k), V (m x k); model: U, V. Each half is solved by conjugate
 * gradients as SystemML's ALS-CG.dml does, or, by another function, exactly: each row of factors has k equations of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "tests/oracle/algo.h"

enum { MOST = 64 }; /* rank of the exact solution */

typedef struct half {
    const algo_plain *p;
    int columns; /* the factors of columns are solved for */
    int64_t n, m, k;
    double *f;
    const double *g;
} half;

static half half_of(const algo_plain *p, int columns) {
    return (half){p, columns, columns ? p->m : p->n, columns ? p->n : p->m, p->k, p->model[columns], p->model[!columns]};
}

static double rating(const half *h, int64_t i, int64_t j) { return h->columns ? h->p->x[j * h->p->m + i] : h->p->x[i * h->p->m + j]; }

static double dot(const double *a, const double *b, int64_t n) {
    double s = 0;
    for (int64_t i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}

double algo_als_loss(const algo_plain *p) {
    double loss = 0;
    for (int64_t i = 0; i < p->n; i++)
        for (int64_t j = 0; j < p->m; j++) {
            const double *u = p->model[0] + i * p->k, *v = p->model[1] + j * p->k, x = p->x[i * p->m + j];
            if (x == 0) continue;
            const double miss = x - dot(u, v, p->k);
            loss += miss * miss + p->lambda * (dot(u, u, p->k) + dot(v, v, p->k));
        }
    return loss;
}

/* out = the quadratic part's gradient at s; with x, the whole one's: (X != 0) * (s g' - x) g + lambda * count * s. */
static void gradient(const half *h, const double *s, int with_x, double *out) {
    memset(out, 0, (size_t)(h->n * h->k) * sizeof *out);
    for (int64_t i = 0; i < h->n; i++)
        for (int64_t j = 0; j < h->m; j++) {
            const double x = rating(h, i, j), *row = s + i * h->k, *g = h->g + j * h->k;
            if (x == 0) continue;
            const double miss = dot(row, g, h->k) - (with_x ? x : 0);
            for (int64_t l = 0; l < h->k; l++) out[i * h->k + l] += miss * g[l] + h->p->lambda * row[l];
        }
}

static void conjugate(const half *h, double *r, double *s, double *hs) {
    const int64_t n = h->n * h->k, most = h->p->inner > 0 ? h->p->inner : h->k;
    gradient(h, h->f, 1, r);
    for (int64_t i = 0; i < n; i++) s[i] = r[i] = -r[i];
    double rr = dot(r, r, n), first = rr;
    for (int64_t step = 0; step < most && rr > 1e-9 * first; step++) {
        gradient(h, s, 0, hs);
        const double curved = dot(s, hs, n), a = curved > 0 ? rr / curved : 0, before = rr;
        for (int64_t i = 0; i < n; i++) {
            h->f[i] += a * s[i];
            r[i] -= a * hs[i];
        }
        rr = dot(r, r, n);
        for (int64_t i = 0; i < n; i++) s[i] = r[i] + rr / before * s[i];
    }
}

/* a x = b by elimination, the largest of a column first; a: k x k, b becomes x. A row of zeros gives 0. */
static void eliminate(double a[MOST][MOST], double *b, int64_t k) {
    for (int64_t c = 0; c < k; c++) {
        int64_t at = c;
        for (int64_t i = c + 1; i < k; i++)
            if (fabs(a[i][c]) > fabs(a[at][c])) at = i;
        for (int64_t l = 0; l < k; l++) {
            const double swap = a[c][l];
            a[c][l] = a[at][l], a[at][l] = swap;
        }
        const double swap = b[c];
        b[c] = b[at], b[at] = swap;
        for (int64_t i = 0; i < k && a[c][c] != 0; i++) {
            const double by = i == c ? 0 : a[i][c] / a[c][c];
            for (int64_t l = c; l < k; l++) a[i][l] -= by * a[c][l];
            b[i] -= by * b[c];
        }
    }
    for (int64_t c = 0; c < k; c++) b[c] = a[c][c] != 0 ? b[c] / a[c][c] : 0;
}

static void exact(const half *h) {
    for (int64_t i = 0; i < h->n; i++) {
        double a[MOST][MOST] = {{0}}, *b = h->f + i * h->k;
        memset(b, 0, (size_t)h->k * sizeof *b);
        for (int64_t j = 0; j < h->m; j++) {
            const double x = rating(h, i, j), *g = h->g + j * h->k;
            for (int64_t p = 0; x != 0 && p < h->k; p++) {
                for (int64_t q = 0; q < h->k; q++) a[p][q] += g[p] * g[q];
                a[p][p] += h->p->lambda;
                b[p] += x * g[p];
            }
        }
        eliminate(a, b, h->k);
    }
}

static void begin(const algo_plain *p) {
    memcpy(p->model[0], p->start[0], (size_t)(p->n * p->k) * sizeof(double));
    memcpy(p->model[1], p->start[1], (size_t)(p->m * p->k) * sizeof(double));
}

bool algo_als_cg(algo_plain *p) {
    const int64_t most = (p->n > p->m ? p->n : p->m) * p->k;
    double *scratch = malloc((size_t)(3 * most) * sizeof *scratch);
    if (!scratch) return false;
    begin(p);
    for (int i = 0; i < 2 * p->iterations; i++) {
        const half h = half_of(p, i % 2);
        conjugate(&h, scratch, scratch + most, scratch + 2 * most);
    }
    p->objective = algo_als_loss(p);
    free(scratch);
    return true;
}

bool algo_als_exact(algo_plain *p) {
    if (p->k > MOST) return false;
    begin(p);
    for (int i = 0; i < 2 * p->iterations; i++) {
        const half h = half_of(p, i % 2);
        exact(&h);
    }
    p->objective = algo_als_loss(p);
    return true;
}
