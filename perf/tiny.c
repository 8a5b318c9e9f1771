/* SPDX-License-Identifier: Apache-2.0
 * What we cost where there is nothing to compute: tiny operands, recording, planning, calling. All on device 0. Limits are what the
 * project promises to stay under; the reference of tiny_N is serial compiled C. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "perf/bench.h"

static const char host_name[] = "host";

static double inner(const bench_run *r) { return r->opt->quick ? 2 : 8; }

/* ---- tiny_N: one synchronous call of sum(X*Y*Z) on N cells */

typedef struct serial {
    hand_args args;
} serial;
static bool call_serial(void *subject) {
    serial *s = subject;
    hand_sum_xyz_serial_f64(&s->args);
    return true;
}

static void finish_tiny(const bench_run *r, bench_row *row, const bench_case *k, const bench_data *d, bench_subject *s) {
    double ours[BENCH_ROUNDS_MAX], hand[BENCH_ROUNDS_MAX], again[BENCH_ROUNDS_MAX], ratio[BENCH_ROUNDS_MAX];
    serial h = {{.x = d->in[0], .y = d->in[1], .z = d->in[2], .rows = row->rows, .cols = k->cols}};
    clf_stats a = bench_stats(s->ctx);
    if (!bench_subject_call(s)) return bench_row_fail(row, "ours: %s", clf_last_error(s->ctx));
    clf_stats b = bench_stats(s->ctx);
    row->launches = (int)(bench_launches(&b) - bench_launches(&a));
    row->kernels = (int)(b.kernels_built - a.kernels_built);
    row->counted_bytes = (double)(b.bytes_read - a.bytes_read) + (double)(b.bytes_written - a.bytes_written);
    for (int i = 0; i < r->opt->rounds; i++) {
        hand[i] = bench_sample(call_serial, &h, inner(r));
        ours[i] = bench_sample(bench_subject_call, s, inner(r));
        again[i] = fabs(bench_sample(call_serial, &h, inner(r)) / hand[i] - 1);
        ratio[i] = hand[i] / ours[i];
    }
    row->ours_ms = row->host_ms = bench_median(ours, r->opt->rounds);
    row->hand_ms = bench_median(hand, r->opt->rounds);
    row->ratio_hand = row->ratio_host = bench_median(ratio, r->opt->rounds);
    row->noise = bench_median(again, r->opt->rounds);
    row->limit_ms = 0.002 + 1.8 * row->hand_ms;
    const void *out;
    clf_dtype t;
    if (clf_data(s->out[0], &out) != CLF_OK || clf_info(s->out[0], NULL, NULL, &t, NULL) != CLF_OK)
        return bench_row_fail(row, "ours: %s", clf_last_error(s->ctx));
    double share = bench_check(k, d, row->rows, &out, &t, &row->max_rel_err);
    if (!(share <= 1)) bench_row_fail(row, "error %.2g is %.2g times the bound", row->max_rel_err, share);
}

static void tiny(const bench_run *r, const bench_data *d, int64_t cells) {
    bench_case k = bench_cases[0]; /* sum_xyz */
    char why[200] = "";
    bench_row row;
    bench_subject s = {0};
    bench_row_init(&row, NULL, "micro", "f64", host_name);
    snprintf(row.text, sizeof row.text, "tiny_%lld", (long long)cells);
    if (!bench_wanted(r->opt, "micro", row.text)) return;
    k.cols = 1;
    row.rows = cells;
    row.cols = 1;
    clf_ctx *c = bench_ctx(r->opt, "host", r->opt->fuse, why, sizeof why);
    if (c && bench_cells_open(&s, c, &k, d, cells, why, sizeof why))
        finish_tiny(r, &row, &k, d, &s);
    else
        bench_row_fail(&row, "%.150s", why);
    s.ctx = c;
    bench_subject_close(&s);
    r->emit(r->user, &row);
}

/* ---- record_eval: record, plan and evaluate three operators on about 1,000 cells. Operators and shapes go round through 64 * 64
 * combinations, so that the plan is a new one each time; record_eval_again repeats one combination and finds its plan in the cache. */

enum { SHAPES = 64 };
static const clf_op_code first_op[] = {CLF_MUL, CLF_ADD, CLF_SUB, CLF_MIN, CLF_MAX, CLF_DIV, CLF_LT, CLF_GE};
static const clf_op_code second_op[] = {CLF_ADD, CLF_SUB, CLF_MUL, CLF_MAX, CLF_MIN, CLF_DIV, CLF_EQ, CLF_NE};
typedef struct fresh {
    clf_ctx *c;
    clf_mat *in[SHAPES][3];
    long next, step;
    double got;
} fresh;

static bool record_three(void *subject) {
    fresh *f = subject;
    long i = f->next;
    clf_mat *const *in = f->in[i % SHAPES];
    size_t mark = clf_epoch_begin(f->c);
    clf_mat *first = clf_apply(first_op[i / SHAPES % 8], in[0], in[1], NULL);
    clf_mat *s = clf_sum(clf_apply(second_op[i / SHAPES / 8 % 8], first, in[2], NULL));
    bool ok = clf_read_f64(s, &f->got) == CLF_OK;
    clf_epoch_end(f->c, mark);
    f->next += f->step;
    return ok;
}

static double expected_three(const bench_data *d, int rows) {
    const double *x = d->in[0], *y = d->in[1], *z = d->in[2];
    long double s = 0;
    for (int i = 0; i < rows; i++) s += (long double)x[i] * y[i] + z[i];
    return (double)s;
}

static void measure_fresh(const bench_run *r, const bench_data *d, bench_row *row, fresh *f) {
    double ours[BENCH_ROUNDS_MAX];
    for (int i = 0; i < SHAPES; i++)
        for (int j = 0; j < 3; j++) f->in[i][j] = clf_borrow(f->c, CLF_F64, 1000 - i, 1, d->in[j], NULL, NULL);
    if (!record_three(f)) return bench_row_fail(row, "%.150s", clf_last_error(f->c));
    double want = expected_three(d, 1000); /* the first combination: sum(X*Y + Z) on 1,000 cells */
    row->max_rel_err = fabs(f->got - want) / want;
    if (!(row->max_rel_err <= 1e-14)) bench_row_fail(row, "error %.2g", row->max_rel_err);
    for (int i = 0; i < r->opt->rounds; i++) ours[i] = bench_sample(record_three, f, inner(r));
    row->ours_ms = row->host_ms = bench_median(ours, r->opt->rounds);
    clf_stats s = bench_stats(f->c);
    if (row->ok)
        snprintf(row->why, sizeof row->why, "%llu plans in %llu evaluations", (unsigned long long)s.plans,
                 (unsigned long long)s.evaluations);
}

static void record_eval(const bench_run *r, const bench_data *d, const char *name, long step) {
    char why[200] = "";
    bench_row row;
    bench_row_init(&row, name, "micro", "f64", host_name);
    if (!bench_wanted(r->opt, "micro", row.name)) return;
    row.rows = 1000;
    row.cols = 1;
    row.limit_ms = 0.030;
    fresh f = {.step = step, .c = bench_ctx(r->opt, "host", r->opt->fuse, why, sizeof why)};
    if (f.c)
        measure_fresh(r, d, &row, &f);
    else
        bench_row_fail(&row, "%.150s", why);
    clf_close(f.c);
    r->emit(r->user, &row);
}

/* ---- record_op: one operator of a long chain; plan_micro: planning sum(X*Y*Z) */

static void record_op(const bench_run *r) {
    enum { OPS = 2000 };
    char why[200] = "";
    double each[BENCH_ROUNDS_MAX];
    bench_row row;
    bench_row_init(&row, "record_op", "micro", "f64", host_name);
    if (!bench_wanted(r->opt, "micro", row.name)) return;
    row.limit_ms = 0.001;
    clf_ctx *c = bench_ctx(r->opt, "host", r->opt->fuse, why, sizeof why);
    if (!c) bench_row_fail(&row, "%.150s", why);
    for (int i = 0; c && i < r->opt->rounds; i++) {
        clf_mat *x = clf_fill(c, CLF_F64, 10, 10, 1), *y = clf_fill(c, CLF_F64, 10, 10, 2);
        size_t mark = clf_epoch_begin(c);
        double begin = bench_now_ms();
        for (int j = 0; j < OPS / 2; j++) x = clf_mul(clf_add(x, y), y);
        each[i] = (bench_now_ms() - begin) / OPS;
        if (clf_status_of(x, NULL) != CLF_OK) bench_row_fail(&row, "%.150s", clf_last_error(c));
        clf_epoch_end(c, mark);
    }
    if (c) row.ours_ms = bench_median(each, r->opt->rounds);
    clf_close(c);
    r->emit(r->user, &row);
}

static void plan_micro(const bench_run *r, const bench_data *d) {
    char why[200] = "";
    double each[BENCH_ROUNDS_MAX];
    bench_row row;
    bench_row_init(&row, "plan_micro", "micro", "f64", host_name);
    if (!bench_wanted(r->opt, "micro", row.name)) return;
    row.limit_ms = 0.3;
    for (int i = 0; i < r->opt->rounds; i++) {
        bench_case k = bench_cases[0];
        bench_subject s = {0};
        clf_ctx *c = bench_ctx(r->opt, "host", r->opt->fuse, why, sizeof why);
        if (!c || !bench_cells_open(&s, c, &k, d, 1, why, sizeof why) || !bench_subject_call(&s)) bench_row_fail(&row, "%.150s", why);
        s.ctx = c;
        clf_stats t = c ? bench_stats(c) : (clf_stats){0};
        each[i] = t.plans ? (double)t.plan_ns * 1e-6 / (double)t.plans : (double)NAN;
        bench_subject_close(&s);
    }
    row.ours_ms = bench_median(each, r->opt->rounds);
    if (isnan(row.ours_ms)) bench_row_fail(&row, "no plan was made");
    r->emit(r->user, &row);
}

/* ---- call20: a cached call of twenty operators on 8 cells; all of it is our overhead */

static void cell_twenty(const double in[3], double v[BENCH_VALUES], double s[BENCH_VALUES]) {
    double x = in[0];
    for (int i = 0; i < 10; i++) x = x * in[1] + in[2];
    v[0] = s[0] = x;
}

static void call20(const bench_run *r, const bench_data *d) {
    static const bench_case k = {.name = "call20",
                                 .nin = 3,
                                 .cols = 8,
                                 .out = {{"A", BENCH_CELLS, 0}},
                                 .cell = cell_twenty,
                                 .roundings = 20,
                                 .program = "A = (((((((((X*Y+Z)*Y+Z)*Y+Z)*Y+Z)*Y+Z)*Y+Z)*Y+Z)*Y+Z)*Y+Z)*Y+Z"};
    char why[200] = "";
    double ours[BENCH_ROUNDS_MAX];
    bench_row row;
    bench_subject s = {0};
    bench_row_init(&row, k.name, "micro", "f64", host_name);
    if (!bench_wanted(r->opt, "micro", row.name)) return;
    row.rows = 1;
    row.cols = 8;
    row.limit_ms = 0.015;
    clf_ctx *c = bench_ctx(r->opt, "host", r->opt->fuse, why, sizeof why);
    if (c && bench_cells_open(&s, c, &k, d, 1, why, sizeof why) && bench_subject_call(&s)) {
        for (int i = 0; i < r->opt->rounds; i++) ours[i] = bench_sample(bench_subject_call, &s, inner(r));
        row.ours_ms = row.host_ms = bench_median(ours, r->opt->rounds);
        const void *out = NULL;
        clf_dtype t = CLF_F64;
        double share = clf_data(s.out[0], &out) == CLF_OK ? bench_check(&k, d, 1, &out, &t, &row.max_rel_err) : (double)NAN;
        if (!(share <= 1)) bench_row_fail(&row, "error %.2g is %.2g times the bound", row.max_rel_err, share);
    } else {
        bench_row_fail(&row, "%.150s", c && !why[0] ? clf_last_error(c) : why);
    }
    s.ctx = c;
    bench_subject_close(&s);
    r->emit(r->user, &row);
}

void bench_run_tiny(bench_run *r) {
    static const int64_t sizes[] = {1000, 4000, 16000};
    bench_data d = {0};
    if (r->opt->dtype && strcmp(r->opt->dtype, "f64") != 0) return;
    if (!bench_data_new(&d, 16000 * sizeof(double))) {
        bench_data_free(&d);
        return;
    }
    bench_data_fill(&d, CLF_F64);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (d.bytes >= (size_t)sizes[i] * sizeof(double)) tiny(r, &d, sizes[i]);
    record_eval(r, &d, "record_eval", 1);
    record_eval(r, &d, "record_eval_again", 0);
    record_op(r);
    plan_micro(r, &d);
    call20(r, &d);
    bench_data_free(&d);
}
