/* SPDX-License-Identifier: Apache-2.0
 * KMeans as a sequence of calls, from the centres it is given. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "perf/hand/calls.h"

typedef struct kmeans {
    const hand_alg *a;
    double *C, *turned, *sums, *next; /* k x m, the same as m x k, sums of rows as m x k, new centres */
    double *length, *size;            /* k numbers */
    double *D, *P;                    /* n x k */
    double *d, *t;                    /* n numbers */
} kmeans;

/* Small: not worth a thread. */
static void turn(int64_t n, int64_t m, double *out, const double *x) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) out[j * n + i] = x[i * m + j];
}

static bool distances(kmeans *p) {
    const int64_t n = p->a->n, m = p->a->m, k = p->a->k;
    turn(k, m, p->turned, p->C);
    for (int64_t c = 0; c < k; c++) p->length[c] = calls_sumsq(m, p->C + c * m);
    if (!calls_product(p->a, k, p->turned, p->D)) return false;
    calls_scale(n * k, p->D, p->D, NULL, -2);
    calls_add_along(n, k, p->D, p->D, p->length);
    calls_row_mins(n, k, p->d, p->D);
    return true;
}

/* Rows shared out among the nearest centres, and what is nearest to each summed up. */
static bool centres(kmeans *p) {
    const int64_t n = p->a->n, m = p->a->m, k = p->a->k;
    calls_over_sub(n, k, p->P, p->D, p->d);
    calls_sign(n * k, p->P, p->P, NULL, 0);
    calls_shift(n * k, p->P, p->P, NULL, 1);
    calls_row_sums(n, k, p->t, p->P);
    calls_div_over(n, k, p->P, p->P, p->t);
    calls_col_sums(n, k, p->size, p->P);
    if (!calls_product_t(p->a, k, p->P, p->sums)) return false;
    turn(m, k, p->next, p->sums);
    for (int64_t c = 0; c < k; c++)
        for (int64_t j = 0; j < m && p->size[c] > 0; j++) p->C[c * m + j] = p->next[c * m + j] / p->size[c];
    return true;
}

static bool train(hand_alg *a, kmeans *p, double squares) {
    memcpy(p->C, a->start[0], (size_t)(a->k * a->m) * sizeof *p->C);
    for (int i = 1; i <= a->iterations; i++) {
        if (!distances(p)) return false;
        a->objective = fmax(squares + calls_sum(a->n, p->d), 0);
        if (!centres(p)) return false;
        if (a->each) a->each(a->user, i, a->objective);
    }
    return true;
}

bool hand_calls_kmeans(hand_alg *a) {
    const size_t n = (size_t)a->n, m = (size_t)a->m, k = (size_t)a->k;
    double *at = malloc((4 * k * m + 2 * k + 2 * n * k + 2 * n) * sizeof *at);
    if (!at || !a->start[0]) return free(at), false;
    double *tall = at + 4 * k * m + 2 * k;
    kmeans p = {.a = a,
                .C = at,
                .turned = at + k * m,
                .sums = at + 2 * k * m,
                .next = at + 3 * k * m,
                .length = at + 4 * k * m,
                .size = at + 4 * k * m + k,
                .D = tall,
                .P = tall + n * k,
                .d = tall + 2 * n * k,
                .t = tall + 2 * n * k + n};
    const double squares = a->x ? calls_sumsq(a->n * a->m, a->x) : calls_sumsq(a->s.nnz, a->s.val);
    const bool good = train(a, &p, squares);
    free(at);
    return good;
}
