/* SPDX-License-Identifier: Apache-2.0
 * PageRank (examples/pagerank.c) as a sequence of calls: the graph is turned round and its weights divided once, before the iterations. */
#include <stdlib.h>
#include "perf/hand/calls.h"

typedef struct ranks {
    hand_csr g;
    double *p, *q, *v, *t; /* ranks, new ones, where jumps go, what is left to them */
} ranks;

static void prepare(const hand_alg *a, ranks *r, double *val) {
    const hand_csr *x = &a->s;
    double total = 0;
    for (int64_t i = 0; i < a->n; i++) total += a->y ? a->y[i] : 1;
    for (int64_t i = 0; i < a->n; i++) {
        double out = 0;
        for (int64_t l = x->ptr[i]; l < x->ptr[i + 1]; l++) out += x->val[l];
        r->t[i] = out > 0 ? a->lambda / out : 0;
        r->v[i] = r->p[i] = (a->y ? a->y[i] : 1) / total;
    }
    for (int64_t l = 0; l < a->twin.nnz; l++) val[l] = a->twin.val[l] * r->t[a->twin.idx[l]];
    r->g = a->twin;
    r->g.val = val;
}

static void iterate(hand_alg *a, ranks *r) {
    const int64_t n = a->n;
    for (int i = 1; i <= a->iterations; i++) {
        calls_sparse(&r->g, 1, r->p, r->q);
        calls_scale(n, r->t, r->v, NULL, 1 - calls_sum(n, r->q));
        calls_add(n, r->q, r->q, r->t, 0);
        calls_sub(n, r->t, r->q, r->p, 0);
        calls_abs(n, r->t, r->t, NULL, 0);
        a->objective = calls_sum(n, r->t);
        double *p = r->p;
        r->p = r->q, r->q = p;
        if (a->each) a->each(a->user, i, a->objective);
    }
}

bool hand_calls_pagerank(hand_alg *a) {
    const size_t n = (size_t)a->n;
    double *all = malloc((4 * n + (size_t)a->twin.nnz) * sizeof *all);
    if (!all) return false;
    ranks r = {.p = all, .q = all + n, .v = all + 2 * n, .t = all + 3 * n};
    prepare(a, &r, all + 4 * n);
    iterate(a, &r);
    free(all);
    return true;
}
