/* SPDX-License-Identifier: Apache-2.0
 * Running the cases beyond the caches: open the same program four ways, sample them in turns, check, report. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perf/bench.h"

enum { OURS, UNFUSED, HOST, SUBJECTS };
static const double sample_ms = 8;

void bench_row_init(bench_row *r, const char *name, const char *suite, const char *dtype, const char *device) {
    *r = (bench_row){.name = name, .suite = suite, .dtype = dtype, .device = device, .kernels = -1, .launches = -1, .ok = true};
    double *const none[] = {&r->ours_ms,      &r->hand_ms,     &r->unfused_ms, &r->host_ms,       &r->ratio_hand, &r->ratio_unfused,
                            &r->ratio_host,   &r->noise,       &r->bytes,      &r->counted_bytes, &r->gbs,        &r->roof_gbs,
                            &r->predicted_ms, &r->max_rel_err, &r->limit_ms,   &r->floor};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++) *none[i] = NAN;
}

void bench_row_fail(bench_row *r, const char *fmt, ...) {
    if (!r->ok) return;
    r->ok = false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(r->why, sizeof r->why, fmt, ap);
    va_end(ap);
}

bool bench_wanted(const bench_options *o, const char *suite, const char *name) {
    if (o->prefix && strncmp(name, o->prefix, strlen(o->prefix)) != 0) return false;
    if (!o->suites) return true;
    size_t n = strlen(suite);
    for (const char *p = o->suites; p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (strncmp(p, suite, n) == 0 && (p[n] == ',' || !p[n])) return true;
    return false;
}

/* The hand-written reference as something to call. */
typedef struct by_hand {
    hand_fn fn;
    hand_args args;
} by_hand;
static bool call_hand(void *subject) {
    by_hand *h = subject;
    h->fn(&h->args);
    return true;
}

static by_hand hand_of(const bench_case *k, const bench_data *d, int64_t rows, hand_fn fn) {
    by_hand h = {fn, {.x = d->in[0], .y = d->in[1], .z = d->in[2], .rows = rows, .cols = k->cols}};
    h.args.o[0] = d->out[0];
    h.args.o[1] = d->out[1];
    return h;
}

/* The reference must compute the same thing; its free order of summation gets a thousand times our bound, in f32 whatever 0.1 % holds. */
static void check_hand(bench_row *row, const bench_case *k, const bench_data *d, int64_t rows, by_hand *h) {
    const void *outs[BENCH_OUTS];
    clf_dtype types[BENCH_OUTS];
    double rel;
    int stored = 0, scalars = 0;
    for (int o = 0; o < BENCH_OUTS && k->out[o].name; o++) {
        bool scalar = k->out[o].kind == BENCH_SUM;
        outs[o] = scalar ? (const void *)&h->args.r[scalars++] : h->args.o[stored++];
        types[o] = scalar ? CLF_F64 : d->dtype;
    }
    double share = bench_check(k, d, rows, outs, types, &rel);
    if (!(share <= 1000 || rel <= 1e-3)) bench_row_fail(row, "the reference is off by %.2g", rel);
}

static void check_ours(bench_row *row, const bench_case *k, const bench_data *d, int64_t rows, const bench_subject *s, const char *who) {
    const void *outs[BENCH_OUTS] = {0};
    clf_dtype types[BENCH_OUTS] = {0};
    double rel = NAN;
    for (size_t o = 0; o < s->nouts; o++) {
        int64_t r = 0, c = 0;
        bench_kind kind = k->out[o].kind;
        if (clf_data(s->out[o], &outs[o]) != CLF_OK || clf_info(s->out[o], &r, &c, &types[o], NULL) != CLF_OK)
            return bench_row_fail(row, "%s: %s", who, clf_last_error(s->ctx));
        if (r != (kind == BENCH_CELLS || kind == BENCH_ROWS ? rows : 1) || c != (kind == BENCH_CELLS || kind == BENCH_COLS ? k->cols : 1))
            return bench_row_fail(row, "%s: result %s has a wrong shape", who, k->out[o].name);
    }
    double share = bench_check(k, d, rows, outs, types, &rel);
    if (strcmp(who, "ours") == 0) row->max_rel_err = rel;
    if (!(share <= 1)) bench_row_fail(row, "%s: error %.2g is %.2g times the bound", who, rel, share);
}

/* What one pass over the inputs and outputs costs in bytes. */
static double one_pass(const bench_case *k, clf_dtype t, int64_t rows) {
    double cells = (double)rows * (double)k->cols, bytes = k->nin * cells;
    for (int o = 0; o < BENCH_OUTS && k->out[o].name; o++)
        bytes += k->out[o].kind == BENCH_CELLS  ? cells
                 : k->out[o].kind == BENCH_ROWS ? (double)rows
                 : k->out[o].kind == BENCH_COLS ? (double)k->cols
                                                : 1;
    return bytes * (double)clf_dtype_bytes(t);
}

/* First call (compiles), then one more to count launches and bytes; both before anything is timed. */
static void count(bench_row *row, const bench_case *k, const bench_data *d, bench_subject *s) {
    clf_stats a = bench_stats(s->ctx);
    if (!bench_subject_call(s)) return bench_row_fail(row, "ours: %s", clf_last_error(s->ctx));
    clf_stats b = bench_stats(s->ctx);
    if (!bench_subject_call(s)) return bench_row_fail(row, "ours: %s", clf_last_error(s->ctx));
    clf_stats c = bench_stats(s->ctx);
    double facts = NAN, lean = one_pass(k, d->dtype, row->rows);
    row->kernels = (int)(b.kernels_built - a.kernels_built);
    row->launches = (int)(bench_launches(&c) - bench_launches(&b));
    row->counted_bytes = (double)(c.bytes_read - b.bytes_read) + (double)(c.bytes_written - b.bytes_written);
    row->bytes = lean;
    uint64_t on_device = (c.launches_tier1 - b.launches_tier1) + (c.launches_tier2 - b.launches_tier2);
    if (on_device == 0 && strcmp(s->device, "host") != 0) bench_row_fail(row, "nothing ran on device %s", s->device);
    if (c.launches_ref > b.launches_ref) bench_row_fail(row, "the reference executor ran");
    if (!bench_subject_facts(s, k, &facts, &row->predicted_ms)) return bench_row_fail(row, "explain: %s", clf_last_error(s->ctx));
    if (fabs(row->counted_bytes - facts) > 0.5) bench_row_fail(row, "counted %.0f bytes, facts say %.0f", row->counted_bytes, facts);
    if (row->counted_bytes < lean * 0.99) bench_row_fail(row, "counted %.0f bytes, one pass needs %.0f", row->counted_bytes, lean);
}

typedef struct times {
    double roof; /* best time of reading one input */
    double hand[BENCH_ROUNDS_MAX], again[BENCH_ROUNDS_MAX], of[SUBJECTS][BENCH_ROUNDS_MAX];
} times;

/* Rounds of samples; every second round goes backwards, so that no one always follows the same neighbour. The roof, the bandwidth of
 * reading one input by hand, is measured between them. */
static void measure(const bench_run *r, bench_subject *s, by_hand *h, by_hand *reader, times *t, int rounds) {
    t->roof = NAN;
    double min_ms = r->opt->quick ? sample_ms / 4 : sample_ms;
    for (int i = 0; i < rounds; i++) {
        bench_rest();
        t->hand[i] = bench_sample(call_hand, h, min_ms);
        for (int j = 0; j < SUBJECTS; j++) {
            int which = i % 2 ? SUBJECTS - 1 - j : j;
            bench_rest();
            t->of[which][i] = s[which].fn ? bench_sample(bench_subject_call, &s[which], min_ms) : (double)NAN;
        }
        bench_rest();
        t->again[i] = bench_sample(call_hand, h, min_ms);
        t->roof = fmin(t->roof, bench_sample(call_hand, reader, min_ms));
    }
}

static double median_ratio(const double *over, const double *under, int n) {
    double q[BENCH_ROUNDS_MAX];
    for (int i = 0; i < n; i++) q[i] = over[i] / under[i];
    return bench_median(q, n);
}

static void conclude(bench_row *row, const times *t, int n) {
    double apart[BENCH_ROUNDS_MAX], both[BENCH_ROUNDS_MAX];
    for (int i = 0; i < n; i++) {
        apart[i] = fabs(t->again[i] / t->hand[i] - 1);
        both[i] = 0.5 * (t->again[i] + t->hand[i]);
    }
    row->hand_ms = bench_median(both, n);
    row->ours_ms = bench_median(t->of[OURS], n);
    row->unfused_ms = bench_median(t->of[UNFUSED], n);
    row->host_ms = bench_median(t->of[HOST], n);
    row->ratio_hand = median_ratio(both, t->of[OURS], n);
    row->ratio_unfused = median_ratio(t->of[UNFUSED], t->of[OURS], n);
    row->ratio_host = median_ratio(both, t->of[HOST], n);
    row->noise = bench_median(apart, n);
    row->gbs = row->bytes / row->ours_ms * 1e-6;
    row->roof_gbs = (double)row->rows * (double)row->cols * (strcmp(row->dtype, "f64") == 0 ? 8 : 4) / t->roof * 1e-6;
}

static int64_t rows_of(const bench_case *k, const bench_data *d, bool quick) {
    int arrays = k->nin;
    for (int o = 0; o < BENCH_OUTS && k->out[o].name; o++) arrays += k->out[o].kind == BENCH_CELLS;
    size_t each = quick ? d->bytes : 2 * d->bytes / (size_t)arrays;
    return (int64_t)(each / clf_dtype_bytes(d->dtype)) / k->cols;
}

static void run_case(const bench_run *r, const bench_case *k, const bench_data *d) {
    int which = d->dtype == CLF_F64, rounds = r->opt->rounds;
    int64_t rows = rows_of(k, d, r->opt->quick);
    bench_subject s[SUBJECTS] = {0};
    bench_row row;
    times *t = malloc(sizeof *t);
    if (!t) return;
    bench_row_init(&row, NULL, "micro", which ? "f64" : "f32", r->device_name);
    snprintf(row.text, sizeof row.text, "%s%s", k->name, which ? "" : "_f32");
    row.rows = rows;
    row.cols = k->cols;
    row.floor = k->floor[which];
    const char *device[SUBJECTS] = {r->device, r->device, "host"}, *fuse[SUBJECTS] = {r->opt->fuse, "none", r->opt->fuse};
    static const char *const who[SUBJECTS] = {"ours", "unfused", "device 0"};
    for (int i = 0; i < SUBJECTS && row.ok; i++) {
        char why[200] = "";
        clf_ctx *c = bench_ctx(r->opt, device[i], fuse[i], why, sizeof why);
        if (!c || !bench_subject_open(&s[i], c, k, d, rows, why, sizeof why)) bench_row_fail(&row, "%s: %.120s", who[i], why);
        s[i].device = device[i];
    }
    by_hand h = hand_of(k, d, rows, k->hand[which]);
    if (row.ok) count(&row, k, d, &s[OURS]);
    if (row.ok) {
        by_hand reader = hand_of(k, d, rows, which ? hand_read_f64 : hand_read_f32);
        measure(r, s, &h, &reader, t, rounds);
        check_hand(&row, k, d, rows, &h);
        for (int i = 0; i < SUBJECTS; i++) check_ours(&row, k, d, rows, &s[i], who[i]);
        conclude(&row, t, rounds);
    }
    for (int i = 0; i < SUBJECTS; i++) bench_subject_close(&s[i]);
    free(t);
    r->emit(r->user, &row);
}

void bench_run_cells(bench_run *r) {
    static const clf_dtype types[] = {CLF_F64, CLF_F32};
    bench_data d = {0};
    for (int i = 0; i < 2; i++) {
        bool filled = false;
        if (r->opt->dtype && strcmp(r->opt->dtype, clf_dtype_name(types[i])) != 0) continue;
        for (const bench_case *k = bench_cases; k->name; k++) {
            char name[64];
            snprintf(name, sizeof name, "%s%s", k->name, types[i] == CLF_F64 ? "" : "_f32");
            if (!bench_wanted(r->opt, "micro", name)) continue;
            if (!d.in[0] && !bench_data_new(&d, bench_data_bytes(r->opt->quick))) {
                fprintf(stderr, "clfuse-bench: not enough memory for the inputs\n");
                bench_data_free(&d);
                return;
            }
            if (!filled) bench_data_fill(&d, types[i]);
            filled = true;
            run_case(r, k, &d);
        }
    }
    bench_data_free(&d);
}
