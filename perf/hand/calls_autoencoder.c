/* SPDX-License-Identifier: Apache-2.0
 * The autoencoder (examples/autoencoder.c) as a sequence of calls, mini-batch by mini-batch. start: the weights of its four layers. */
#include <stdlib.h>
#include <string.h>
#include "perf/hand/calls.h"

enum { LAYERS = 4, CODE = 2 };

typedef struct layer {
    int64_t in, out;
    double *w, *u, *b, *v; /* weights and bias, each with its momentum */
    double *h, *d, *t;     /* of a batch, rows x out: what comes out, the loss's derivative by it, and one more */
    double *dw, *wt;       /* in x out: the derivative by w; out x in: t(w) */
} layer;

typedef struct net {
    layer at[LAYERS];
    double *memory; /* of all of them */
} net;

static bool forward(layer *l, const double *x, int64_t rows) {
    if (!calls_dense(false, rows, l->out, l->in, x, l->w, l->h)) return false;
    calls_add_along(rows, l->out, l->h, l->h, l->b);
    calls_sigmoid(rows * l->out, l->h, l->h, NULL, 0);
    return true;
}

/* From the derivative by what the layer gives, to that by what it gets (x), into `before` (NULL: nobody asks), and a step downhill. */
static bool backward(layer *l, const double *x, int64_t rows, double s, double *before) {
    const int64_t cells = rows * l->out, weights = l->in * l->out;
    calls_from(cells, l->t, l->h, NULL, 1);
    calls_mul(cells, l->t, l->h, l->t, 0);
    calls_mul(cells, l->d, l->d, l->t, 0);
    if (before) {
        calls_turn(l->in, l->out, l->wt, l->w);
        if (!calls_dense(false, rows, l->in, l->out, l->d, l->wt, before)) return false;
    }
    if (!calls_dense(true, l->in, l->out, rows, x, l->d, l->dw)) return false;
    calls_scale(weights, l->u, l->u, NULL, 0.9);
    calls_add_scaled(weights, l->u, l->u, l->dw, -s);
    calls_add(weights, l->w, l->w, l->u, 0);
    calls_col_sums(rows, l->out, l->dw, l->d);
    calls_scale(l->out, l->v, l->v, NULL, 0.9);
    calls_add_scaled(l->out, l->v, l->v, l->dw, -s);
    calls_add(l->out, l->b, l->b, l->v, 0);
    return true;
}

static bool batch(net *p, const double *x, int64_t rows, double *loss) {
    layer *last = &p->at[LAYERS - 1];
    for (int i = 0; i < LAYERS; i++)
        if (!forward(&p->at[i], i ? p->at[i - 1].h : x, rows)) return false;
    calls_sub(rows * last->out, last->d, last->h, x, 0);
    *loss = 0.5 * calls_sumsq(rows * last->out, last->d);
    return true;
}

static bool step(net *p, const double *x, int64_t rows, double s) {
    for (int i = LAYERS - 1; i >= 0; i--)
        if (!backward(&p->at[i], i ? p->at[i - 1].h : x, rows, s, i ? p->at[i - 1].d : NULL)) return false;
    return true;
}

static bool train(net *p, hand_alg *a) {
    double s = a->step, loss;
    int64_t at = 0;
    for (int it = 1; it <= a->iterations; it++) {
        const int64_t rows = at + a->batch < a->n ? a->batch : a->n - at;
        if (!batch(p, a->x + at * a->m, rows, &loss) || !step(p, a->x + at * a->m, rows, s / (double)rows)) return false;
        if (a->each) a->each(a->user, it, loss);
        at += rows;
        if (at == a->n) at = 0, s *= 0.95;
    }
    a->objective = 0;
    for (at = 0; at < a->n; at += a->batch) {
        if (!batch(p, a->x + at * a->m, at + a->batch < a->n ? a->batch : a->n - at, &loss)) return false;
        a->objective += loss;
    }
    return true;
}

static double *take(double **at, int64_t n) {
    double *x = *at;
    *at += n;
    return x;
}

static int64_t numbers(const hand_alg *a, const layer *l) { return 4 * l->in * l->out + 3 * l->out + 3 * a->batch * l->out; }

/* dw serves the bias, too. */
static void lay(const hand_alg *a, layer *l, const double *start, double **at) {
    const int64_t weights = l->in * l->out, cells = a->batch * l->out;
    l->w = take(at, weights), l->u = take(at, weights), l->wt = take(at, weights), l->dw = take(at, weights + l->out);
    l->b = take(at, l->out), l->v = take(at, l->out);
    l->h = take(at, cells), l->d = take(at, cells), l->t = take(at, cells);
    memcpy(l->w, start, (size_t)weights * sizeof *start);
}

bool hand_calls_autoencoder(hand_alg *a) {
    const int64_t width[] = {a->m, a->k, CODE, a->k, a->m};
    net p = {.memory = NULL};
    int64_t n = 0;
    for (int i = 0; i < LAYERS; i++) {
        p.at[i].in = width[i], p.at[i].out = width[i + 1];
        n += numbers(a, &p.at[i]);
    }
    double *at = p.memory = calloc((size_t)n, sizeof *p.memory);
    for (int i = 0; i < LAYERS && at; i++) lay(a, &p.at[i], a->start[i], &at);
    const bool good = at && train(&p, a);
    free(p.memory);
    return good;
}
