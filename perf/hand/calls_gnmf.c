/* SPDX-License-Identifier: Apache-2.0
 * GNMF (examples/gnmf.c) as a sequence of calls, on a sparse X and its transpose. start: W, H. */
#include <stdlib.h>
#include <string.h>
#include "perf/hand/calls.h"

typedef struct side {
    int64_t n, k;
    double *F, *P, *D, *T, *FF; /* factors, X G, F GG, n x k; t(F) F */
} side;

/* f2 = f * p / (f gg + 1e-15); what the objective is made of. */
static bool update(const hand_csr *x, side *a, const side *g, double *cross) {
    const int64_t cells = a->n * a->k;
    calls_sparse(x, a->k, g->F, a->P);
    if (!calls_dense(false, a->n, a->k, a->k, a->F, g->FF, a->D)) return false;
    calls_mul(cells, a->T, a->F, a->P, 0);
    calls_shift(cells, a->D, a->D, NULL, 1e-15);
    calls_div(cells, a->F, a->T, a->D, 0);
    if (!calls_dense(true, a->k, a->k, a->n, a->F, a->F, a->FF)) return false;
    calls_mul(cells, a->T, a->F, a->P, 0);
    *cross = calls_sum(cells, a->T);
    return true;
}

static bool side_of(side *s, int64_t n, int64_t k, const double *start) {
    const size_t cells = (size_t)(n * k);
    *s = (side){.n = n, .k = k, .F = calloc(4 * cells + (size_t)(k * k), sizeof *s->F)};
    if (!s->F || !start) return false;
    s->P = s->F + cells, s->D = s->P + cells, s->T = s->D + cells, s->FF = s->T + cells;
    memcpy(s->F, start, cells * sizeof *s->F);
    return calls_dense(true, k, k, n, s->F, s->F, s->FF);
}

static bool run(hand_alg *a, side *w, side *h) {
    const int64_t square = a->k * a->k;
    const double squares = calls_sumsq(a->s.nnz, a->s.val);
    double cross = 0;
    for (int i = 1; i <= a->iterations; i++) {
        if (!update(&a->twin, h, w, &cross) || !update(&a->s, w, h, &cross)) return false;
        calls_mul(square, w->T, w->FF, h->FF, 0);
        a->objective = squares - 2 * cross + calls_sum(square, w->T);
        if (a->each) a->each(a->user, i, a->objective);
    }
    return true;
}

bool hand_calls_gnmf(hand_alg *a) {
    side w, h = {0};
    const bool good = side_of(&w, a->n, a->k, a->start[0]) && side_of(&h, a->m, a->k, a->start[1]) && run(a, &w, &h);
    free(w.F);
    free(h.F);
    return good;
}
