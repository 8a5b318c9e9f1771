/* SPDX-License-Identifier: Apache-2.0
 * AutoEncoder: a network of two hidden layers and their mirror images that learns to give back its input through a code of two numbers,
 * by gradient descent with momentum on mini-batches (as SystemML's autoencoder-2layer.dml; G. Hinton, R. Salakhutdinov, Reducing the
 * dimensionality of data with neural networks, 2006). Reads rank (units of the first hidden layer), batch, step, seed, and iterations:
 * mini-batches in all, 0 for every row once.
 *
 * How to read it: the text has the network and its loss; the derivatives are asked for by name, and are planned together with the loss
 * (written out by hand they make the same plan). A mini-batch is rows of X in place: the argument is a handle that borrows their
 * memory, so nothing is copied, and as it is an argument, nothing is planned again; only the last rows, fewer, have a plan of their own.
 * `each` is told the loss of its batch before the step; the objective is that of all rows at the end. The step is per row of a batch
 * and falls after each pass over the rows. Rows are taken in their order. A sparse X is used as cells, which are made once; columns
 * beyond 0 and 1, which sigmoid does not reach, are scaled to that range, constant ones to 0. A step so large that
 * weights overflow is reported. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "examples/algorithm.h"

#define FORWARD \
    "H1 = sigmoid(X %*% W1 + b1); H2 = sigmoid(H1 %*% W2 + b2); H3 = sigmoid(H2 %*% W3 + b3)\n" \
    "loss = 0.5*sum((sigmoid(H3 %*% W4 + b4) - X)^2)\n"
static const char step_text[] = FORWARD
    "V1 = 0.9*U1 - s*grad(loss, W1); v1 = 0.9*u1 - s*grad(loss, b1); V2 = 0.9*U2 - s*grad(loss, W2); v2 = 0.9*u2 - s*grad(loss, b2)\n"
    "V3 = 0.9*U3 - s*grad(loss, W3); v3 = 0.9*u3 - s*grad(loss, b3); V4 = 0.9*U4 - s*grad(loss, W4); v4 = 0.9*u4 - s*grad(loss, b4)\n"
    "W1 + V1; b1 + v1; W2 + V2; b2 + v2; W3 + V3; b3 + v3; W4 + V4; b4 + v4; V1; v1; V2; v2; V3; v3; V4; v4; loss";
static const char loss_text[] = FORWARD "before + loss";

enum { CODE = 2, LAYERS = 4, WEIGHTS = 2 * LAYERS, STATE = 2 * WEIGHTS, SIZES = 2 };
static const char *const names[STATE] = {"W1", "b1", "W2", "b2", "W3", "b3", "W4", "b4", "U1", "u1", "U2", "u2", "U3", "u3", "U4", "u4"};
static const double decay = 0.95;

typedef struct net {
    alg_run *r;
    clf_mat *state[STATE + 1];         /* weights, momenta, loss */
    clf_fn *step[SIZES], *loss[SIZES]; /* for whole batches and for the last rows */
    const char *cells;
    int64_t width[LAYERS + 1];
} net;

static int64_t rows_of(const net *p, int i) { return i % 2 ? 1 : p->width[i % WEIGHTS / 2]; }
static int64_t cols_of(const net *p, int i) { return p->width[i % WEIGHTS / 2 + 1]; }

/* Functions of `rows` rows: the parameters are X, s (or the loss so far), then the state (or the weights alone). */
static bool record(net *p, int64_t rows, int size) {
    alg_run *r = p->r;
    size_t mark = clf_epoch_begin(r->c);
    clf_binding vars[STATE + 2] = {{"X", clf_param(r->c, r->type, rows, r->m, false)}, {"s", clf_param(r->c, CLF_F64, 0, 0, true)}};
    for (int i = 0; i < STATE; i++) vars[i + 2] = (clf_binding){names[i], clf_param(r->c, r->type, rows_of(p, i), cols_of(p, i), false)};
    bool good = alg_fn(r, step_text, STATE + 2, vars, STATE + 2, &p->step[size]);
    vars[1] = (clf_binding){"before", clf_param(r->c, r->type, 0, 0, true)};
    good = good && alg_fn(r, loss_text, WEIGHTS + 2, vars, WEIGHTS + 2, &p->loss[size]);
    clf_epoch_end(r->c, mark);
    return good;
}

/* Call the function for rows at, at + 1, ... with one more argument, which it frees. */
static bool on_rows(net *p, clf_fn **of, int64_t at, int64_t rows, clf_mat *with, size_t nstate, size_t nouts, clf_mat **outs) {
    alg_run *r = p->r;
    size_t row_bytes = (size_t)r->m * (r->type == CLF_F32 ? sizeof(float) : sizeof(double));
    clf_mat *args[STATE + 2] = {clf_borrow(r->c, r->type, rows, r->m, p->cells + (size_t)at * row_bytes, NULL, NULL), with};
    memcpy(args + 2, p->state, nstate * sizeof *args);
    bool good = alg_call(r, of[rows != r->p.batch], nstate + 2, args, nouts, outs);
    clf_free(args[0]);
    clf_free(with);
    return good;
}
static int64_t batch_at(const net *p, int64_t at) { return at + p->r->p.batch <= p->r->n ? p->r->p.batch : p->r->n - at; }

static bool descend(net *p) {
    alg_run *r = p->r;
    double loss, step = r->p.step;
    int64_t at = 0;
    while (r->iterations < r->p.iterations) {
        int64_t rows = batch_at(p, at);
        if (!on_rows(p, p->step, at, rows, clf_num(r->c, step / (double)rows), STATE, STATE + 1, p->state)) return false;
        if (clf_read_f64(p->state[STATE], &loss) != CLF_OK) return alg_library_failed(r);
        if (!isfinite(loss)) return alg_fail(r, "the loss of batch %d is no number: step %g is too large", r->iterations + 1, r->p.step);
        r->iterations++;
        if (r->each) r->each(r->user, r->iterations, loss);
        if ((at += rows) >= r->n) at = 0, step *= decay;
    }
    return r->converged = true; /* trained for as long as was asked for */
}

/* The loss of all rows, summed up where it is computed, read once. */
static bool objective(net *p) {
    clf_mat *sum = clf_cast(clf_num(p->r->c, 0), p->r->type);
    for (int64_t at = 0, rows; at < p->r->n; at += rows) {
        clf_mat *next = NULL;
        rows = batch_at(p, at);
        if (!on_rows(p, p->loss, at, rows, sum, WEIGHTS, 1, &next)) return false;
        sum = next;
    }
    return clf_read_f64(sum, &p->r->objective) == CLF_OK || alg_library_failed(p->r);
}

/* Weights uniform within sqrt(6 / (inputs + outputs)), as the script has it; biases and momenta 0. */
static bool start(net *p) {
    alg_run *r = p->r;
    for (int i = 0; i < STATE; i++) {
        int64_t rows = rows_of(p, i), cols = cols_of(p, i);
        double most = i < WEIGHTS && i % 2 == 0 ? sqrt(6.0 / (double)(rows + cols)) : 0;
        p->state[i] = most > 0 ? clf_rand(r->c, r->type, rows, cols, -most, most, 1, r->p.seed + (uint64_t)i / 2)
                               : clf_fill(r->c, r->type, rows, cols, 0);
    }
    p->state[STATE] = clf_cast(clf_num(r->c, 0), r->type);
    return clf_eval(STATE + 1, p->state) == CLF_OK || alg_library_failed(r);
}

/* The cells of X, scaled into [0, 1] where some lie outside. */
static bool cells(net *p, double outside) {
    static const char scaled[] = "low = colMins(X); width = colMaxs(X) - low; (X - low) / ifelse(width > 0, width, 1)";
    alg_run *r = p->r;
    const clf_binding vars[] = {{"X", r->X}};
    const void *at;
    clf_mat *X = outside > 0 ? clf_expr(r->c, scaled, vars, 1) : r->X;
    if (clf_data(X, &at) != CLF_OK) return alg_library_failed(r);
    p->cells = at;
    return true;
}

static bool prepare(net *p) {
    alg_run *r = p->r;
    double outside;
    if (!alg_check(r, "sum(X < 0 | X > 1)", 1, &outside)) return false;
    if (r->p.rank < 1 || r->p.batch < 1)
        return alg_fail(r, "a layer of %lld units, batches of %lld rows", (long long)r->p.rank, (long long)r->p.batch);
    if (!(r->p.step > 0 && isfinite(r->p.step))) return alg_fail(r, "the step must be positive, not %g", r->p.step);
    if (r->p.batch > r->n) r->p.batch = r->n;
    if (r->p.iterations < 1) r->p.iterations = (int)((r->n + r->p.batch - 1) / r->p.batch);
    const int64_t width[] = {r->m, r->p.rank, CODE, r->p.rank, r->m};
    memcpy(p->width, width, sizeof width);
    int64_t rest = r->n % r->p.batch;
    return cells(p, outside) && start(p) && record(p, r->p.batch, 0) && (rest == 0 || record(p, rest, 1));
}

static bool train(alg_run *r) {
    net p = {.r = r};
    size_t mark = clf_epoch_begin(r->c);
    bool good = prepare(&p) && descend(&p) && objective(&p);
    for (int i = 0; i < WEIGHTS && good; i++) {
        r->model[i].name = names[i];
        r->model[i].value = clf_keep(p.state[i]);
    }
    for (int i = 0; i < SIZES; i++) {
        clf_fn_free(p.step[i]);
        clf_fn_free(p.loss[i]);
    }
    clf_epoch_end(r->c, mark);
    return good;
}

const algorithm alg_autoencoder = {
    .name = "autoencoder",
    .about = "two hidden layers, --rank units and 2, mini-batches of --batch rows with momentum; --iterations 0: each row once",
    .generate = "at = 2*pi*rand(rows=n, cols=1, seed=seed)\n"
                "X = 0.5 + 0.4*sin(at %*% rand(rows=1, cols=m, min=0.5, max=1.5, seed=seed+1) + 6*rand(rows=1, cols=m, seed=seed+2))",
    .rows = 10240,
    .cols = 100,
    .defaults = {.rank = 500, .batch = 512, .step = 0.1, .seed = 1},
    .train = train,
};
