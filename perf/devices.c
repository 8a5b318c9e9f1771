/* SPDX-License-Identifier: Apache-2.0
 * The suite plan, part "devices": the host and two OpenCL devices together against the best of them alone.
 *
 * Whoever has two devices is never to be slower than with the better one: beyond the noise by a twentieth at most. The cases are those of
 * the suites micro and ml; each is open four times, on the host, on either device and on all, by profiles that are measured right before.
 * Rounds have a sample of each, the one on all at both ends: the noise is its distance against itself. On a machine without two, PoCL shows
 * itself twice with POCL_DEVICES="pthread pthread" in the environment. Results are checked by the suites that the cases come from. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "perf/plans.h"

enum { ALL, HOST, FIRST, SECOND, WAYS, DENSE_CELLS = 1 << 22, LEAST_ROUNDS = 7 };
static const char *const device[WAYS] = {"1,2", "host", "1", "2"};
static const double most_slower = 0.05;
static const double slow_ms = 300, far = 1.5; /* who takes longer, and so many times as long as the best, plays no rounds */

typedef struct devices {
    bench_run *r;
    int n, slower;
    double worst;
    char worst_name[64];
} devices;

/* One case on one device; false with a message. */
typedef bool (*opener)(const devices *d, const bench_known *k, bench_subject *s, const char *device, char *why, size_t why_n);

static bool open_cells(const devices *d, const bench_known *k, bench_subject *s, const char *on, char *why, size_t why_n) {
    s->ctx = bench_ctx(d->r->opt, on, d->r->opt->fuse, why, why_n);
    s->device = on;
    return s->ctx && bench_cells_open(s, s->ctx, k->cells, k->data, k->rows, why, why_n);
}

static bool open_ml(const devices *d, const bench_known *k, bench_subject *s, const char *on, char *why, size_t why_n) {
    return ml_subject_open(s, d->r, k->ml, k->ml_data, on, d->r->opt->fuse, (size_t)1 << 33, why, why_n);
}

/* ---- one case ---- */

typedef struct times {
    double of[WAYS][BENCH_ROUNDS_MAX], again[BENCH_ROUNDS_MAX];
} times;

static double sample(bench_subject *s, double min_ms) {
    bench_rest();
    return bench_sample(bench_subject_call, s, min_ms);
}

/* False, the row has failed: somebody cannot run it. */
static bool play(const devices *d, bench_row *row, bench_subject *s, times *t, int rounds) {
    const double min_ms = d->r->opt->quick ? 1 : 8;
    double least = INFINITY;
    bool out[WAYS] = {false};
    for (int w = 0; w < WAYS; w++) {
        t->of[w][0] = sample(&s[w], min_ms); /* kernels are built, twins made */
        if (isnan(t->of[w][0])) return bench_row_fail(row, "%.20s: %.120s", device[w], clf_last_error(s[w].ctx)), false;
        least = fmin(least, t->of[w][0]);
    }
    for (int w = 1; w < WAYS; w++) out[w] = t->of[w][0] > fmax(slow_ms, far * least);
    for (int i = 0; i < rounds; i++) {
        t->of[ALL][i] = sample(&s[ALL], min_ms);
        for (int k = 1; k < WAYS; k++) {
            int w = i % 2 ? WAYS - k : k; /* every second round goes backwards */
            t->of[w][i] = out[w] ? INFINITY : sample(&s[w], min_ms);
        }
        t->again[i] = sample(&s[ALL], min_ms);
    }
    return true;
}

static void judge(bench_row *row, const times *t, int rounds) {
    double q[BENCH_ROUNDS_MAX];
    int best = HOST;
    for (int w = HOST; w < WAYS; w++)
        if (bench_median(t->of[w], rounds) < bench_median(t->of[best], rounds)) best = w;
    for (int i = 0; i < rounds; i++) q[i] = fabs(t->again[i] / t->of[ALL][i] - 1);
    row->noise = bench_median(q, rounds);
    for (int i = 0; i < rounds; i++) q[i] = 0.5 * (t->of[ALL][i] + t->again[i]) / t->of[best][i];
    row->ratio_best = bench_median(q, rounds);
    row->ours_ms = bench_median(t->of[ALL], rounds);
    row->best_ms = bench_median(t->of[best], rounds);
    snprintf(row->why, sizeof row->why, "best alone: %s", device[best]);
}

static void note(devices *d, bench_row *row) {
    d->n++;
    row->below = row->ratio_best > 1 + most_slower + row->noise && !d->r->opt->quick;
    d->slower += row->below;
    if (row->ratio_best <= d->worst) return;
    d->worst = row->ratio_best;
    snprintf(d->worst_name, sizeof d->worst_name, "%s", row->text);
}

static void run_case(devices *d, bench_row *row, opener open, const bench_known *k) {
    const bench_options *o = d->r->opt;
    const int rounds = o->quick || o->rounds > LEAST_ROUNDS ? o->rounds : LEAST_ROUNDS;
    bench_subject s[WAYS] = {0};
    static times t;
    char why[200] = "";
    bool good = true;
    for (int w = 0; w < WAYS && good; w++) good = open(d, k, &s[w], device[w], why, sizeof why);
    if (!good)
        bench_row_fail(row, "%.150s", why);
    else if (play(d, row, s, &t, rounds)) {
        judge(row, &t, rounds);
        note(d, row);
    }
    for (int w = 0; w < WAYS; w++) bench_subject_close(&s[w]);
    d->r->emit(d->r->user, row);
}

/* ---- the suite ---- */

static bool begin(const devices *d, bench_row *row, const char *name) {
    bench_row_init(row, NULL, "plan", "f64", device[ALL]);
    row->part = BENCH_DEVICES;
    snprintf(row->text, sizeof row->text, "devices_%s", name);
    return bench_wanted(d->r->opt, "plan", row->text);
}

static void run_cells(devices *d) {
    bench_data data = {0};
    size_t bytes = d->r->opt->quick ? bench_data_bytes(true) : DENSE_CELLS * sizeof(double);
    if (!bench_data_new(&data, bytes)) {
        fprintf(stderr, "clfuse-bench: not enough memory for the inputs\n");
        return;
    }
    bench_data_fill(&data, CLF_F64);
    for (const bench_case *k = bench_cases; k->name; k++) {
        const bench_known known = {.cells = k, .data = &data, .rows = (int64_t)(data.bytes / sizeof(double)) / k->cols};
        bench_row row;
        if (!begin(d, &row, k->name)) continue;
        row.rows = known.rows;
        row.cols = k->cols;
        run_case(d, &row, open_cells, &known);
    }
    bench_data_free(&data);
}

static void run_ml(devices *d) {
    ml_data data = {.most_cells = DENSE_CELLS};
    for (const ml_case *k = ml_cases; k->name; k++) {
        bench_row row;
        if (!begin(d, &row, k->name)) continue;
        if (!ml_data_make(&data, k, d->r->opt->quick)) {
            bench_row_fail(&row, "not enough memory for the inputs");
            d->r->emit(d->r->user, &row);
            continue;
        }
        row.rows = data.a.n;
        row.cols = data.a.m;
        if (k->matrix != ML_DENSE) row.sparsity = (double)data.a.s[0].nnz / ((double)data.a.n * (double)data.a.m);
        const bench_known known = {.ml = k, .ml_data = &data};
        run_case(d, &row, open_ml, &known);
    }
    ml_data_free(&data);
}

static bool has_two(const bench_run *r, bench_row *row) {
    clf_device info = {.struct_size = sizeof info};
    char why[200] = "";
    clf_ctx *c = bench_ctx(r->opt, "1", r->opt->fuse, why, sizeof why);
    bool two = c && clf_device_at(c, 2, &info);
    if (!two) snprintf(row->why, sizeof row->why, "left out: there are no two OpenCL devices (PoCL: POCL_DEVICES=\"pthread pthread\")");
    clf_close(c);
    return two;
}

void bench_run_devices(bench_run *r) {
    devices d = {.r = r};
    bench_row row;
    if (!bench_part_wanted(r->opt, "devices")) return;
    bench_row_init(&row, "devices", "plan", "f64", device[ALL]);
    row.part = BENCH_DEVICES;
    if (has_two(r, &row) && bench_calibrate(r, &row)) {
        printf("\n%-20s %16s %10s %10s %7s %6s\n", "case", "size", "on all", "best alone", "ratio", "noise");
        run_cells(&d);
        run_ml(&d);
        printf("\nhost and two devices against the best one, %d cases: worst %.2fx, %s; %d beyond %.2f and the noise (asked: 0)\n", d.n,
               d.worst, d.worst_name, d.slower, 1 + most_slower);
        row.below = d.slower > 0;
    }
    r->emit(r->user, &row);
}
