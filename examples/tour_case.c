/* SPDX-License-Identifier: Apache-2.0
 * The five micro workloads: each runs fused and unfused on the same device and by hand, in turn, and is checked. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "examples/tour.h"

enum { RESULTS_MAX = 16, SAMPLES_MAX = 4 };

const tour_case tour_cases[] = {
    {"sum(X*Y*Z)", "sum(X*Y*Z)", 3, 1000, tour_hand_xyz, tour_error_xyz},
    {"three sums over X, Y, Z", "sum(X*Y); sum(X*Z); sum(X^2)", 3, 1000, tour_hand_three, tour_error_three},
    {"sigmoid loss", "sum(Z*log(1 + exp(-X*Y)))", 3, 1000, tour_hand_loss, tour_error_loss},
    {"Black-Scholes",
     "spread = 0.3*sqrt(Z); d1 = (log(X/Y) + 0.065*Z)/spread; strike = Y*exp(-0.02*Z)\n"
     "call = X*pnorm(d1) - strike*pnorm(d1 - spread); call; call - X + strike",
     3, 1000, tour_hand_options, tour_error_options},
    {"colSums of X/rowSums(X)", "colSums(X/rowSums(X))", 1, 100, tour_hand_columns, tour_error_columns},
    {.name = NULL},
};

/* ---- data ---- */

/* In [0.5, 1.5), from a hash of the position: the same in every run. */
static double number(uint64_t i) {
    uint64_t h = (i + 1) * 0x9E3779B97F4A7C15u;
    h = (h ^ h >> 31) * 0xBF58476D1CE4E5B9u;
    return 0.5 + (double)((h ^ h >> 29) >> 12) * 0x1p-52;
}

bool tour_data_new(tour_data *d, int64_t cells) {
    double **const arrays[] = {&d->in[0], &d->in[1], &d->in[2], &d->out[0], &d->out[1]};
    *d = (tour_data){.rows = cells, .cols = 1};
    for (int k = 0; k < 5; k++) {
        double *p = *arrays[k] = aligned_alloc(4096, ((size_t)cells * sizeof *p + 4095) / 4096 * 4096);
        if (!p) return false;
        for (int64_t i = 0; i < cells; i++) p[i] = k < TOUR_INS ? number((uint64_t)(i * TOUR_INS + k)) : 0;
    }
    return true;
}

void tour_data_free(tour_data *d) {
    for (int k = 0; k < TOUR_INS; k++) free(d->in[k]);
    for (int k = 0; k < 2; k++) free(d->out[k]);
}

/* ---- time ---- */

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void tour_time(int n, const tour_fn run[], void *const user[], double ms[]) {
    double sample[SAMPLES_MAX][TOUR_ROUNDS_MAX], begin = now_ms();
    int rounds = 0;
    while (rounds < TOUR_ROUNDS_MIN || (rounds < TOUR_ROUNDS_MAX && now_ms() - begin < 1000)) {
        for (int i = 0; i < n; i++) {
            double from = now_ms();
            bool good = run[i](user[i]);
            sample[i][rounds] = good ? now_ms() - from : INFINITY;
        }
        rounds++;
    }
    for (int i = 0; i < n; i++) {
        qsort(sample[i], (size_t)rounds, sizeof sample[i][0], ascending);
        ms[i] = isinf(sample[i][rounds - 1]) ? NAN : sample[i][rounds / 2];
    }
}

static double read_gbs(const tour_data *d, double ms) { return TOUR_INS * (double)(d->rows * d->cols) * sizeof(double) / ms / 1e6; }

static bool call_read(void *user) {
    tour_hand_read(user);
    return true;
}

double tour_read_gbs(tour_data *d) {
    double ms;
    tour_time(1, (const tour_fn[]){call_read}, (void *[]){d}, &ms);
    return read_gbs(d, ms);
}

/* ---- a program as a function in one context ---- */

typedef struct subject {
    clf_ctx *c;
    clf_fn *fn;
    clf_mat *arg[TOUR_INS], *out[TOUR_OUTS];
    size_t nargs, nouts;
} subject;

/* The inputs are borrowed where they are; the bare expressions of the program become the function's results. */
static bool open_subject(subject *s, clf_ctx *c, const tour_case *k, const tour_data *d) {
    static const char *const names[TOUR_INS] = {"X", "Y", "Z"};
    clf_binding vars[TOUR_INS];
    clf_mat *params[TOUR_INS], *results[TOUR_OUTS];
    clf_result all[RESULTS_MAX];
    size_t n = RESULTS_MAX;
    *s = (subject){.c = c, .nargs = (size_t)k->ins};
    for (int i = 0; i < k->ins; i++) {
        params[i] = clf_param(c, CLF_F64, d->rows, d->cols, false);
        vars[i] = (clf_binding){names[i], params[i]};
        s->arg[i] = clf_borrow(c, CLF_F64, d->rows, d->cols, d->in[i], NULL, NULL);
    }
    if (clf_parse(c, k->program, vars, s->nargs, all, &n) != CLF_OK) return false;
    for (size_t i = 0; i < n; i++)
        if (all[i].bare && s->nouts < TOUR_OUTS) results[s->nouts++] = all[i].value;
    return clf_fn_new(c, s->nargs, params, s->nouts, results, &s->fn) == CLF_OK;
}

static bool call_subject(void *user) {
    subject *s = user;
    return clf_call(s->fn, s->nargs, s->arg, s->nouts, s->out) == CLF_OK;
}

double tour_bytes(clf_ctx *c, uint64_t *products) {
    clf_stats s = {.struct_size = sizeof s};
    if (clf_get_stats(c, &s) != CLF_OK) return NAN;
    if (products) *products = s.launches_library;
    return (double)(s.bytes_read + s.bytes_written);
}

/* The first call plans, compiles and is checked; its bytes are those of every later one. */
static bool first_call(subject *s, const tour_case *k, const tour_data *d, double *bytes, tour_row *row) {
    const void *outs[TOUR_OUTS];
    double before = tour_bytes(s->c, NULL);
    if (!call_subject(s)) return false;
    *bytes = tour_bytes(s->c, NULL) - before;
    for (size_t i = 0; i < s->nouts; i++)
        if (clf_data(s->out[i], &outs[i]) != CLF_OK) return false;
    double error = k->error(d, outs, &row->bound);
    if (!(error <= row->error)) row->error = error; /* the worst of both, NaN included */
    return true;
}

typedef struct by_hand {
    const tour_case *k;
    tour_data *d;
} by_hand;

static bool call_hand(void *user) {
    by_hand *h = user;
    h->k->hand(h->d);
    return true;
}

void tour_run_case(tour *t, const tour_case *k, tour_data *d, tour_row *row) {
    subject fused = {0}, unfused = {0};
    by_hand hand = {k, d};
    size_t marks[] = {clf_epoch_begin(t->fused), clf_epoch_begin(t->unfused)};
    d->cols = k->cols;
    d->rows = t->cells / k->cols;
    *row = (tour_row){.name = k->name, .rows = d->rows, .cols = d->cols};
    if (!open_subject(&fused, t->fused, k, d) || !first_call(&fused, k, d, &row->fused_bytes, row)) {
        snprintf(row->why, sizeof row->why, "%s", clf_last_error(t->fused));
    } else if (!open_subject(&unfused, t->unfused, k, d) || !first_call(&unfused, k, d, &row->unfused_bytes, row)) {
        snprintf(row->why, sizeof row->why, "unfused: %s", clf_last_error(t->unfused));
    } else {
        const tour_fn run[] = {call_subject, call_subject, call_hand, call_read};
        double ms[4];
        call_hand(&hand);
        tour_time(4, run, (void *[]){&unfused, &fused, &hand, d}, ms);
        row->unfused_ms = ms[0];
        row->fused_ms = ms[1];
        row->hand_ms = ms[2];
        row->read_gbs = read_gbs(d, ms[3]);
    }
    clf_fn_free(fused.fn);
    clf_fn_free(unfused.fn);
    clf_epoch_end(t->fused, marks[0]);
    clf_epoch_end(t->unfused, marks[1]);
}
