/* SPDX-License-Identifier: Apache-2.0
 * The suite plan, part "predict": what the plan says a call takes against what it takes, on the OpenCL device and on device 0.
 *
 * The profiles are measured here, right before, by kernels that are none of the cases (clf_calibrate). Cases are those of the suites
 * micro and ml at their sizes and some at random shapes; a call is one from the second on, so twins are there. Nobody is a reference, so
 * nothing else runs between the samples; results are checked by the suites that the cases come from. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "perf/plans.h"

enum { RANDOM_CASES = 30, MOST_RESULTS = 512, WARM_MS = 60, WORST_CASES = 10 };
static const double most_error = 0.25, most_off = 3, long_ms = 0.5; /* what is asked: of the median; of cases longer than that */

typedef struct predict {
    bench_run *r;
    int n; /* results so far */
    double error[MOST_RESULTS], worst;
    char worst_name[64];
    bench_row off[WORST_CASES]; /* of those that count, the farthest off first */
    int noff;
    uint64_t random;
} predict;

/* ---- one case on one device ---- */

static double times_off(const bench_row *row) {
    double q = row->ratio_predicted;
    return q > 1 ? q : 1 / q;
}

/* Among the worst, if it is one of them. */
static void keep_worst(predict *p, const bench_row *row) {
    int i = p->noff < WORST_CASES ? p->noff++ : WORST_CASES;
    for (; i > 0 && times_off(row) > times_off(&p->off[i - 1]); i--)
        if (i < WORST_CASES) p->off[i] = p->off[i - 1];
    if (i < WORST_CASES) p->off[i] = *row;
}

static void note(predict *p, const bench_row *row) {
    if (p->n < MOST_RESULTS) p->error[p->n++] = fabs(row->ratio_predicted - 1);
    if (row->ours_ms < long_ms) return;
    keep_worst(p, row);
    if (times_off(row) <= p->worst) return;
    p->worst = times_off(row);
    snprintf(p->worst_name, sizeof p->worst_name, "%s", row->text);
}

static void sample(predict *p, bench_row *row, bench_subject *s) {
    double ms[BENCH_ROUNDS_MAX];
    if (!bench_subject_call(s) || !bench_predicted(s, &row->predicted_ms)) return bench_row_fail(row, "%.150s", clf_last_error(s->ctx));
    bench_rest();
    bench_sample(bench_subject_call, s, p->r->opt->quick ? 1 : WARM_MS);
    for (int i = 0; i < p->r->opt->rounds; i++) ms[i] = bench_sample(bench_subject_call, s, p->r->opt->quick ? 1 : 8);
    row->ours_ms = bench_median(ms, p->r->opt->rounds);
    row->ratio_predicted = row->predicted_ms / row->ours_ms;
    if (isnan(row->ratio_predicted))
        bench_row_fail(row, "not measured");
    else
        note(p, row);
}

/* Opens the case on a device; false with a message. */
typedef bool (*opener)(predict *p, const void *k, const void *data, bench_subject *s, const char *device, char *why, size_t why_n);

static void on_each_device(predict *p, bench_row *of, opener open, const void *k, const void *data) {
    const char *device[] = {p->r->device, "host"}, *name[] = {p->r->device_name, "host"};
    for (int i = strcmp(p->r->device, "host") == 0; i < 2; i++) {
        bench_subject s = {0};
        bench_row row = *of;
        char why[200] = "";
        row.device = name[i];
        if (open(p, k, data, &s, device[i], why, sizeof why))
            sample(p, &row, &s);
        else
            bench_row_fail(&row, "%.130s", why);
        bench_subject_close(&s);
        p->r->emit(p->r->user, &row);
    }
}

static bool begin(const predict *p, bench_row *row, const char *name, const char *dtype) {
    bench_row_init(row, NULL, "plan", dtype, "");
    snprintf(row->text, sizeof row->text, "predict_%s%s", name, strcmp(dtype, "f32") == 0 ? "_f32" : "");
    return bench_wanted(p->r->opt, "plan", row->text);
}

/* ---- cases of the suite micro ---- */

typedef struct cells {
    const bench_data *d;
    int64_t rows;
} cells;

static bool open_cells(predict *p, const void *k, const void *data, bench_subject *s, const char *device, char *why, size_t why_n) {
    const cells *c = data;
    clf_ctx *ctx = bench_ctx(p->r->opt, device, p->r->opt->fuse, why, why_n);
    s->ctx = ctx;
    bool ok = ctx && bench_cells_open(s, ctx, k, c->d, c->rows, why, why_n);
    s->device = device;
    return ok;
}

static void run_cells(predict *p) {
    static const clf_dtype types[] = {CLF_F64, CLF_F32};
    bench_data d = {0};
    for (int i = 0; i < 2; i++) {
        bool filled = false;
        for (const bench_case *k = bench_cases; k->name; k++) {
            bench_row row;
            if (!begin(p, &row, k->name, clf_dtype_name(types[i]))) continue;
            if (!d.in[0] && !bench_data_new(&d, bench_data_bytes(p->r->opt->quick))) {
                fprintf(stderr, "clfuse-bench: not enough memory for the inputs\n");
                return bench_data_free(&d);
            }
            if (!filled) bench_data_fill(&d, types[i]);
            filled = true;
            cells c = {&d, bench_cells_rows(k, &d, p->r->opt->quick)};
            row.rows = c.rows;
            row.cols = k->cols;
            on_each_device(p, &row, open_cells, k, &c);
        }
    }
    bench_data_free(&d);
}

/* ---- cases of the suite ml ---- */

static bool open_ml(predict *p, const void *k, const void *data, bench_subject *s, const char *device, char *why, size_t why_n) {
    return ml_subject_open(s, p->r, k, data, device, p->r->opt->fuse, (size_t)1 << 33, why, why_n);
}

static void run_ml(predict *p, const ml_case *k, ml_data *d, const char *name) {
    bench_row row;
    if (!begin(p, &row, name, "f64")) return;
    if (!ml_data_make(d, k, p->r->opt->quick)) {
        bench_row_fail(&row, "not enough memory for the inputs");
        return p->r->emit(p->r->user, &row);
    }
    row.rows = d->a.n;
    row.cols = d->a.m;
    if (k->matrix != ML_DENSE) row.sparsity = (double)d->a.s[0].nnz / ((double)d->a.n * (double)d->a.m);
    on_each_device(p, &row, open_ml, k, d);
}

/* ---- random shapes ---- */

typedef struct form {
    const char *program, *inputs; /* as in an ml_case */
    ml_matrix matrix;
    int k; /* columns of U, V, W: up to this */
} form;

static const form forms[] = {
    {"R = sum((X - 1)^2)", "X", ML_DENSE, 1},
    {"R = rowSums(abs(X - 1))", "X", ML_DENSE, 1},
    {"R = colSums(X / (1 + X))", "X", ML_DENSE, 1},
    {"R = X * X - 3 * X + 1", "X", ML_DENSE, 1},
    {"R = 1 / (1 + exp(-X))", "X", ML_DENSE, 1},
    {"R = sqrt(X) * W", "XW", ML_DENSE, 1},
    {"E = exp(X - rowMaxs(X)); R = E / rowSums(E)", "X", ML_DENSE, 1},
    {"R = X %*% V", "XV", ML_DENSE, 40},
    {"R = t(X) %*% (X %*% V - W)", "XVW", ML_DENSE, 12},
    {"R = t(X) %*% W", "XW", ML_DENSE, 12},
    {"R = sum(X^2)", "X", ML_UNIFORM, 1},
    {"R = rowSums(X * exp(X))", "X", ML_UNIFORM, 1},
    {"R = X %*% V", "XV", ML_POWER, 8},
    {"R = sum(X * (U %*% t(V)))", "XUV", ML_UNIFORM, 40},
    {"R = (X * (U %*% t(V))) %*% V", "XUV", ML_POWER, 40},
};
enum { FORMS = sizeof forms / sizeof *forms };

/* In [0, 1). */
static double draw(predict *p) {
    p->random += 0x9E3779B97F4A7C15u;
    uint64_t h = p->random;
    h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9u;
    h = (h ^ h >> 27) * 0x94D049BB133111EBu;
    return (double)((h ^ h >> 31) >> 11) * 0x1p-53;
}

/* Between from and to, evenly by magnitude. */
static int64_t spread(predict *p, double from, double to) { return (int64_t)(from * pow(to / from, draw(p)) + 0.5); }

static void run_random(predict *p, ml_data *d) {
    const char *seed = getenv("CLF_BENCH_SEED");
    p->random = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    printf("random shapes: CLF_BENCH_SEED=%llu\n", (unsigned long long)p->random);
    for (int i = 0; i < RANDOM_CASES; i++) {
        const form *f = &forms[i % FORMS];
        char name[40];
        ml_case k = {.program = f->program, .inputs = f->inputs, .matrix = f->matrix, .result = ML_N_K, .k = spread(p, 1, f->k)};
        double cells = f->matrix == ML_DENSE ? (double)spread(p, 2e5, 2e7) : (double)spread(p, 1e7, 1e9);
        k.m = f->matrix == ML_DENSE ? spread(p, 5, 5000) : spread(p, 1000, 50000);
        k.n = (int64_t)(cells / (double)k.m) + 2;
        k.density = 0.0005 * pow(100, draw(p));
        snprintf(name, sizeof name, "random_%d", i);
        run_ml(p, &k, d, name);
    }
}

/* ---- the suite ---- */

static void print_worst(const predict *p) {
    printf("\nfarthest off above %.1f ms:\n", long_ms);
    for (int i = 0; i < p->noff; i++) bench_line(&p->off[i]);
}

static void conclude(predict *p, bench_row *row) {
    double median = p->n ? 0 : NAN;
    for (int i = 1; i < p->n; i++) /* few enough to be sorted by insertion */
        for (int j = i; j > 0 && p->error[j] < p->error[j - 1]; j--) {
            double t = p->error[j];
            p->error[j] = p->error[j - 1];
            p->error[j - 1] = t;
        }
    if (p->n) median = p->error[p->n / 2];
    print_worst(p);
    printf("\npredicted against measured, %d cases: median error %.0f %% (asked: %.0f %%), worst above %.1f ms: %.2fx, %s (asked: %.0fx)\n",
           p->n, median * 100, most_error * 100, long_ms, p->worst, p->worst_name, most_off);
    if (!p->r->opt->quick && !(median <= most_error && p->worst <= most_off))
        bench_row_fail(row, "median error %.0f %%, worst %.2fx", median * 100, p->worst);
}

void bench_run_predict(bench_run *r) {
    predict p = {.r = r, .worst = 1};
    ml_data d = {0};
    bench_row row;
    if (!bench_part_wanted(r->opt, "predict")) return;
    bench_row_init(&row, "predict", "plan", "f64", r->device_name);
    if (bench_calibrate(r, &row)) {
        printf("\n%-20s %16s %10s %10s %7s\n", "case", "size", "predicted", "measured", "ratio");
        run_cells(&p);
        for (const ml_case *k = ml_cases; k->name; k++) run_ml(&p, k, &d, k->name);
        run_random(&p, &d);
        conclude(&p, &row);
    }
    ml_data_free(&d);
    r->emit(r->user, &row);
}
