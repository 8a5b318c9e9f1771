/* SPDX-License-Identifier: Apache-2.0
 * Programs whose planning is timed: twenty operators, an autoencoder's step, and 10^5 operators in several shapes, each hard on another
 * part of the planner: one long chain, very many components, one component with many shared nodes, a loop of training steps that nobody
 * evaluated in between. Operands have few cells, so that an evaluation is planning and little else. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perf/plan.h"

enum { BATCH = 8, FEATURES = 6, HIDDEN = 4, CODE = 2, CELLS = 8 };

const char plan_autoencoder[] = "H1 = 1 / (1 + exp(-(X %*% W1 + b1)))\n"
                                "H2 = 1 / (1 + exp(-(H1 %*% W2 + b2)))\n"
                                "H3 = 1 / (1 + exp(-(H2 %*% W3 + b3)))\n"
                                "H4 = 1 / (1 + exp(-(H3 %*% W4 + b4)))\n"
                                "D4 = (H4 - X) * (H4 * (1 - H4))\n"
                                "D3 = (D4 %*% t(W4)) * (H3 * (1 - H3))\n"
                                "D2 = (D3 %*% t(W3)) * (H2 * (1 - H2))\n"
                                "D1 = (D2 %*% t(W2)) * (H1 * (1 - H1))\n"
                                "W1 = W1 - 0.1 * (t(X) %*% D1); b1 = b1 - 0.1 * colSums(D1)\n"
                                "W2 = W2 - 0.1 * (t(H1) %*% D2); b2 = b2 - 0.1 * colSums(D2)\n"
                                "W3 = W3 - 0.1 * (t(H2) %*% D3); b3 = b3 - 0.1 * colSums(D3)\n"
                                "W4 = W4 - 0.1 * (t(H3) %*% D4); b4 = b4 - 0.1 * colSums(D4)\n";
enum { AUTOENCODER = 71, LAYERS = 4 };

static void keep(plan_results *r, clf_mat *x) {
    if ((r->n & (r->n + 1)) == 0) { /* room for 2^k - 1 */
        clf_mat **at = realloc(r->at, (2 * r->n + 1) * sizeof *at);
        if (!at) r->failed = true;
        if (!at) return;
        r->at = at;
    }
    r->at[r->n++] = x;
}

void plan_results_free(plan_results *r) {
    free(r->at);
    *r = (plan_results){.c = r->c};
}

/* A matrix of numbers in [0.25, 1). */
static clf_mat *leaf(plan_results *r, int64_t rows, int64_t cols, int64_t which) {
    double v[BATCH * BATCH];
    for (int64_t i = 0; i < rows * cols; i++) v[i] = 0.25 + 0.5 * (bench_number((uint64_t)i, (uint64_t)which) - 0.5);
    return clf_matrix(r->c, CLF_F64, rows, cols, v);
}

/* ((x * y + z) * y + z) ... */
static void chain(plan_results *r, int64_t n) {
    clf_mat *y = leaf(r, CELLS, 1, 1), *z = leaf(r, CELLS, 1, 2), *x = leaf(r, CELLS, 1, 0);
    for (int64_t i = 0; i < n; i++) x = i % 2 ? clf_add(x, z) : clf_mul(x, y);
    r->operators = n;
    keep(r, x);
}

/* Twenty operators among which there is a lot to choose: four passes over one matrix, and what they share is cheap. */
static void shared(plan_results *r, int64_t n) {
    static const char text[] = "a = exp(X - Y); b = a / sum(a); d = b - colSums(b * Z); h = -sum(b * log(b))\n"
                               "z = d / sqrt(colSums(d * d) + 1); k = rowSums(z * W); s = sum(k * k)";
    static const char *const name[] = {"X", "Y", "Z", "W"};
    clf_binding v[4];
    clf_result out[PLAN_MOST_RESULTS];
    size_t count = PLAN_MOST_RESULTS;
    for (int i = 0; i < 4; i++) v[i] = (clf_binding){name[i], leaf(r, BATCH, FEATURES, i)};
    r->failed = clf_parse(r->c, text, v, 4, out, &count) != CLF_OK;
    for (size_t i = 0; i < count && !r->failed; i++)
        if (!out[i].used) keep(r, out[i].value);
    r->operators = n;
}

/* Nothing in common, each with a choice: what is summed twice is stored or computed again. */
static void components(plan_results *r, int64_t n) {
    for (r->operators = 0; r->operators < n; r->operators += 5) {
        clf_mat *x = leaf(r, CELLS, 1, r->operators), *b = clf_exp(clf_sin(x));
        keep(r, clf_sum(clf_mul(b, clf_sum(b))));
    }
}

/* Layers of cells; every node has two readers in the next. */
static void layers(plan_results *r, int64_t n) {
    static const clf_op_code op[] = {CLF_MUL, CLF_MIN, CLF_ADD, CLF_MAX};
    int64_t width = (int64_t)sqrt((double)n), depth = width ? n / width : 0;
    clf_mat **now = calloc((size_t)width, sizeof *now), **next = calloc((size_t)width, sizeof *next);
    r->failed = !now || !next;
    for (int64_t i = 0; i < width && !r->failed; i++) now[i] = leaf(r, CELLS, 1, i);
    for (int64_t d = 0; d < depth && !r->failed; d++) {
        for (int64_t i = 0; i < width; i++) next[i] = clf_apply(op[(i + d) % 4], now[i], now[(i * 7 + d + 1) % width], NULL);
        memcpy(now, next, (size_t)width * sizeof *now);
    }
    r->operators = width * depth;
    for (int64_t i = 0; i < width && !r->failed; i++) keep(r, now[i]);
    free(now);
    free(next);
}

/* Training steps one after the other: parameters of one are results of the one before. */
static void training(plan_results *r, int64_t n) {
    static const char *const name[] = {"X", "W1", "W2", "W3", "W4", "b1", "b2", "b3", "b4"};
    static const int64_t width[] = {FEATURES, HIDDEN, CODE, HIDDEN, FEATURES};
    clf_binding v[2 * LAYERS + 1] = {{name[0], leaf(r, BATCH, FEATURES, 0)}};
    for (int i = 1; i <= LAYERS; i++) {
        v[i] = (clf_binding){name[i], leaf(r, width[i - 1], width[i], i)};
        v[LAYERS + i] = (clf_binding){name[LAYERS + i], leaf(r, 1, width[i], LAYERS + i)};
    }
    for (r->operators = 0; r->operators == 0 || r->operators + AUTOENCODER <= n; r->operators += AUTOENCODER) {
        clf_result out[PLAN_MOST_RESULTS];
        size_t count = PLAN_MOST_RESULTS;
        r->failed = clf_parse(r->c, plan_autoencoder, v, 2 * LAYERS + 1, out, &count) != CLF_OK;
        for (size_t i = 0; i < count && !r->failed; i++)
            for (int k = 1; k <= 2 * LAYERS; k++)
                if (strcmp(out[i].name, name[k]) == 0) v[k].value = out[i].value;
        if (r->failed) return;
    }
    for (int k = 1; k <= 2 * LAYERS; k++) keep(r, v[k].value);
}

enum { MANY = 100000 };
#define MANY_LIMITS 5000, 5000, 200
const plan_shape plan_shapes[] = {
    {"20", 20, 0.3, 0.3, NAN, chain},
    {"20_shared", 20, 0.3, 0.3, NAN, shared},
    {"autoencoder", AUTOENCODER, 20, 20, NAN, training},
    {"1e5_chain", MANY, MANY_LIMITS, chain},
    {"1e5_components", MANY, MANY_LIMITS, components},
    {"1e5_layers", MANY, MANY_LIMITS, layers},
    {"1e5_training", MANY, MANY_LIMITS, training},
    {NULL, 0, NAN, NAN, NAN, NULL},
};

bool plan_shape_record(const plan_shape *s, int64_t n, plan_results *r) {
    r->at = NULL;
    r->n = 0;
    r->failed = false;
    s->record(r, s->operators < n ? s->operators : n);
    return !r->failed;
}
