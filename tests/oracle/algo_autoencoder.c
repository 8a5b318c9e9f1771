/* SPDX-License-Identifier: Apache-2.0
 * The autoencoder, a row and a unit at a time: backward propagation as books have it, derivatives summed over the rows of a batch, then
 * momentum 0.9 and a step per row that is 0.95 of the last one after each pass. start: the four layers' weights; biases and momenta
 * begin at 0. k: units of the first layer; the second has 2. model: W1, b1, ..., W4, b4. objective: half the squared error of all rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/algo.h"

enum { LAYERS = 4, CODE = 2 };

typedef struct layer {
    int64_t in, out;
    double *w, *b;             /* in x out, out: the caller's */
    double *dw, *db, *uw, *ub; /* derivatives and momenta */
    double *value, *delta;     /* of the units, for one row */
} layer;

static double *some(int64_t n) {
    double *x = calloc((size_t)n, sizeof *x);
    if (!x) abort();
    return x;
}

static void open_layers(algo_plain *a, layer *l) {
    const int64_t width[] = {a->m, a->k, CODE, a->k, a->m};
    for (int i = 0; i < LAYERS; i++) {
        int64_t in = width[i], out = width[i + 1];
        l[i] = (layer){in,        out,       a->model[2 * i], a->model[2 * i + 1], some(in * out), some(out), some(in * out),
                       some(out), some(out), some(out)};
        memcpy(l[i].w, a->start[i], (size_t)(in * out) * sizeof(double));
        memset(l[i].b, 0, (size_t)out * sizeof(double));
    }
}

static void close_layers(layer *l) {
    for (int i = 0; i < LAYERS; i++) {
        double *const all[] = {l[i].dw, l[i].db, l[i].uw, l[i].ub, l[i].value, l[i].delta};
        for (int k = 0; k < 6; k++) free(all[k]);
    }
}

/* The loss of a row. */
static double forward(layer *l, const double *x) {
    const double *in = x;
    double loss = 0;
    for (int i = 0; i < LAYERS; i++) {
        for (int64_t o = 0; o < l[i].out; o++) {
            double s = l[i].b[o];
            for (int64_t k = 0; k < l[i].in; k++) s += in[k] * l[i].w[k * l[i].out + o];
            l[i].value[o] = 1 / (1 + exp(-s));
        }
        in = l[i].value;
    }
    for (int64_t o = 0; o < l[LAYERS - 1].out; o++) loss += 0.5 * (in[o] - x[o]) * (in[o] - x[o]);
    return loss;
}

static void backward(layer *l, const double *x) {
    for (int i = LAYERS - 1; i >= 0; i--) {
        const double *in = i ? l[i - 1].value : x;
        for (int64_t o = 0; o < l[i].out; o++) {
            double v = l[i].value[o], error = i == LAYERS - 1 ? v - x[o] : 0;
            for (int64_t k = 0; i < LAYERS - 1 && k < l[i + 1].out; k++) error += l[i + 1].delta[k] * l[i + 1].w[o * l[i + 1].out + k];
            l[i].delta[o] = error * v * (1 - v);
            l[i].db[o] += l[i].delta[o];
            for (int64_t k = 0; k < l[i].in; k++) l[i].dw[k * l[i].out + o] += in[k] * l[i].delta[o];
        }
    }
}

static void go(double *x, double *d, double *u, int64_t n, double step) {
    for (int64_t i = 0; i < n; i++) {
        u[i] = 0.9 * u[i] - step * d[i];
        x[i] += u[i];
        d[i] = 0;
    }
}

void algo_autoencoder(algo_plain *a) {
    layer l[LAYERS];
    double step = a->step;
    open_layers(a, l);
    for (int64_t it = 0, at = 0; it < a->iterations; it++) {
        int64_t end = at + a->batch < a->n ? at + a->batch : a->n;
        for (int64_t i = at; i < end; i++) {
            forward(l, a->x + i * a->m);
            backward(l, a->x + i * a->m);
        }
        for (int i = 0; i < LAYERS; i++) {
            go(l[i].w, l[i].dw, l[i].uw, l[i].in * l[i].out, step / (double)(end - at));
            go(l[i].b, l[i].db, l[i].ub, l[i].out, step / (double)(end - at));
        }
        at = end == a->n ? 0 : end;
        if (at == 0) step *= 0.95;
    }
    a->objective = 0;
    for (int64_t i = 0; i < a->n; i++) a->objective += forward(l, a->x + i * a->m);
    close_layers(l);
}
