/* SPDX-License-Identifier: Apache-2.0
 * PageRank by hand: the iterations of examples/pagerank.c. A rank is divided among its links when it is made, so the transposed graph is
 * used with the weights it has; new ranks and their sum come from one pass over it, rows in parts of equal work. */
#include <math.h>
#include <stdlib.h>
#include "perf/hand/algorithm.h"
#include "perf/hand/split.h"

typedef struct state {
    double *p, *q, *send, *w, *v; /* ranks; what links carry on; a rank's share of each unit of weight; lambda / weights; where jumps go */
} state;

static void prepare(const hand_alg *a, state *s) {
    const hand_csr *x = &a->s;
    double total = 0;
    for (int64_t i = 0; i < a->n; i++) total += a->y ? a->y[i] : 1;
    for (int64_t i = 0; i < a->n; i++) {
        double out = 0;
        for (int64_t l = x->ptr[i]; l < x->ptr[i + 1]; l++) out += x->val[l];
        s->w[i] = out > 0 ? a->lambda / out : 0;
        s->v[i] = s->p[i] = (a->y ? a->y[i] : 1) / total;
        s->send[i] = s->w[i] * s->p[i];
    }
}

static double follow(const hand_alg *a, state *s) {
    const hand_csr *g = &a->twin;
    const int parts = hand_parts();
    double sum = 0;
#pragma omp parallel for schedule(dynamic, 1) reduction(+ : sum)
    for (int part = 0; part < parts; part++) {
        const int64_t hi = hand_part(g, part + 1, parts);
        for (int64_t i = hand_part(g, part, parts); i < hi; i++) {
            double t = 0;
            for (int64_t l = g->ptr[i]; l < g->ptr[i + 1]; l++) t += g->val[l] * s->send[g->idx[l]];
            s->q[i] = t;
            sum += t;
        }
    }
    return sum;
}

static double jump(const hand_alg *a, state *s, double missing) {
    double *restrict p = s->p, *restrict send = s->send, change = 0;
    const double *restrict q = s->q, *restrict v = s->v, *restrict w = s->w;
#pragma omp parallel for simd schedule(static) reduction(+ : change)
    for (int64_t i = 0; i < a->n; i++) {
        const double next = q[i] + missing * v[i];
        change += fabs(next - p[i]);
        p[i] = next;
        send[i] = w[i] * next;
    }
    return change;
}

bool hand_alg_pagerank(hand_alg *a) {
    double *all = calloc((size_t)a->n * 5, sizeof *all);
    if (!all) return false;
    state s = {all, all + a->n, all + 2 * a->n, all + 3 * a->n, all + 4 * a->n};
    prepare(a, &s);
    for (int it = 1; it <= a->iterations; it++) {
        a->objective = jump(a, &s, 1 - follow(a, &s));
        if (a->each) a->each(a->user, it, a->objective);
    }
    free(all);
    return true;
}
