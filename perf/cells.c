/* SPDX-License-Identifier: Apache-2.0
 * Running the cases beyond the caches: open the same program four ways, sample them in turns, check, report. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perf/gpu.h"

void bench_row_init(bench_row *r, const char *name, const char *suite, const char *dtype, const char *device) {
    *r = (bench_row){.name = name,
                     .suite = suite,
                     .dtype = dtype,
                     .device = device,
                     .kernels = -1,
                     .launches = -1,
                     .choices = -1,
                     .sparsity = 1,
                     .plans = -1,
                     .ok = true};
    double *const none[] = {&r->ours_ms,       &r->hand_ms,         &r->unfused_ms,      &r->host_ms,     &r->ratio_hand,
                            &r->ratio_unfused, &r->ratio_host,      &r->noise,           &r->bytes,       &r->counted_bytes,
                            &r->gbs,           &r->roof_gbs,        &r->predicted_ms,    &r->max_rel_err, &r->limit_ms,
                            &r->floor,         &r->floor_unfused,   &r->ratio_predicted, &r->best_ms,     &r->ratio_best,
                            &r->ratio_fused,   &r->ratio_fused_low, &r->covers,          &r->costed,      &r->costed_unpruned,
                            &r->saved,         &r->saved_least};
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
    for (size_t o = 0; o < s->program.nout; o++) {
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

int64_t bench_cells_rows(const bench_case *k, const bench_data *d, bool quick) {
    int arrays = k->nin;
    for (int o = 0; o < BENCH_OUTS && k->out[o].name; o++) arrays += k->out[o].kind == BENCH_CELLS;
    size_t each = quick ? d->bytes : 2 * d->bytes / (size_t)arrays;
    return (int64_t)(each / clf_dtype_bytes(d->dtype)) / k->cols;
}

bool bench_cells_open(bench_subject *s, clf_ctx *c, const bench_case *k, const bench_data *d, int64_t rows, char *why, size_t why_n) {
    bench_program p = {.text = k->program, .in = {"X", "Y", "Z"}, .nin = (size_t)k->nin};
    clf_mat *param[3], *arg[3];
    for (; p.nout < BENCH_OUTS && k->out[p.nout].name; p.nout++) p.out[p.nout] = k->out[p.nout].name;
    for (int i = 0; i < k->nin; i++) {
        param[i] = clf_param(c, d->dtype, rows, k->cols, false);
        arg[i] = clf_borrow(c, d->dtype, rows, k->cols, d->in[i], NULL, NULL);
    }
    return bench_subject_open(s, c, &p, param, arg, why, why_n);
}

/* The reference in OpenCL C, where there is one: its results are checked here, and it is compared with where that is asked for. */
static bool hand_on_device(const bench_run *r, bench_row *row, const bench_case *k, const bench_data *d, by_hand *h, gpu_ref ref[2],
                           bench_field *f) {
    if (!r->gpu) return true;
    bool there = gpu_cells(&ref[0], r->gpu, k->name, d->dtype, &h->args) && gpu_cells(&ref[1], r->gpu, "read", d->dtype, &h->args);
    if (there && gpu_results(&ref[0])) {
        check_hand(row, k, d, row->rows, h);
        if (!row->ok) return false;
        if (!r->gpu_hand) return true;
        f->hand = (bench_player){gpu_call, &ref[0]};
        f->reader = (bench_player){gpu_call, &ref[1]};
        snprintf(row->why, sizeof row->why, "the reference is in OpenCL C");
        return true;
    }
    const char *why = ref[0].why[0] ? ref[0].why : ref[1].why;
    if (*why) bench_row_fail(row, "the reference: %.130s", why);
    return !*why;
}

static void finish_case(const bench_run *r, bench_row *row, const bench_case *k, const bench_data *d, bench_subject *s,
                        const char *const *who) {
    int which = d->dtype == CLF_F64;
    by_hand h = hand_of(k, d, row->rows, k->hand[which]), reader = hand_of(k, d, row->rows, which ? hand_read_f64 : hand_read_f32);
    bench_field f = {.hand = {call_hand, &h}, .reader = {call_hand, &reader}};
    f.read_bytes = (double)row->rows * (double)row->cols * (double)clf_dtype_bytes(d->dtype);
    for (int i = 0; i < BENCH_SUBJECTS; i++) f.who[i] = (bench_player){bench_subject_call, &s[i]};
    row->bytes = one_pass(k, d->dtype, row->rows);
    bench_count(row, &s[BENCH_OURS], row->bytes);
    gpu_ref ref[2] = {0};
    bool played = row->ok && hand_on_device(r, row, k, d, &h, ref, &f) && bench_rounds(row, &f, r->opt);
    if (played && f.hand.subject == &h) check_hand(row, k, d, row->rows, &h);
    for (int i = 0; i < 2; i++) gpu_release(&ref[i]);
    if (!played) return;
    for (int i = 0; i < BENCH_SUBJECTS; i++) check_ours(row, k, d, row->rows, &s[i], who[i]);
}

static void run_case(const bench_run *r, const bench_case *k, const bench_data *d) {
    int which = d->dtype == CLF_F64;
    bench_subject s[BENCH_SUBJECTS] = {0};
    bench_row row;
    bench_row_init(&row, NULL, "micro", which ? "f64" : "f32", r->device_name);
    snprintf(row.text, sizeof row.text, "%s%s", k->name, which ? "" : "_f32");
    row.rows = bench_cells_rows(k, d, r->opt->quick);
    row.cols = k->cols;
    row.floor = k->floor[which];
    const char *device[BENCH_SUBJECTS] = {r->device, r->device, "host"}, *fuse[BENCH_SUBJECTS] = {r->opt->fuse, "none", r->opt->fuse};
    static const char *const who[BENCH_SUBJECTS] = {"ours", "unfused", "device 0"};
    for (int i = 0; i < BENCH_SUBJECTS && row.ok; i++) {
        char why[200] = "";
        clf_ctx *c = bench_ctx(r->opt, device[i], fuse[i], why, sizeof why);
        if (!c || !bench_cells_open(&s[i], c, k, d, row.rows, why, sizeof why)) bench_row_fail(&row, "%s: %.120s", who[i], why);
        s[i].device = device[i];
    }
    if (row.ok) finish_case(r, &row, k, d, s, who);
    for (int i = 0; i < BENCH_SUBJECTS; i++) bench_subject_close(&s[i]);
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
