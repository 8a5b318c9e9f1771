/* SPDX-License-Identifier: Apache-2.0
 * The cases of the suites micro and ml for parts that run several plans of each. Sizes are shares of those suites' sizes, so that dozens of
 * plans of dozens of cases fit a run of minutes: dense arrays of 32 MB, sparse matrices of half the sides. */
#include <stdio.h>
#include <string.h>
#include "perf/plans.h"

enum { DENSE_CELLS = 1 << 22, SIDES = 2 };

bool bench_part_wanted(const bench_options *o, const char *part) {
    bench_options whole = *o;
    if (o->prefix && strncmp(o->prefix, part, strlen(part)) == 0) whole.prefix = NULL;
    return bench_wanted(&whole, "plan", part);
}

bool bench_calibrate(bench_run *r, bench_row *row) {
    char why[200] = "";
    if (r->calibrated) return true;
    clf_ctx *c = bench_ctx(r->opt, r->device, r->opt->fuse, why, sizeof why);
    double begin_ms = bench_now_ms();
    if (!c)
        bench_row_fail(row, "%.150s", why);
    else if (clf_calibrate(c) != CLF_OK)
        bench_row_fail(row, "%.150s", clf_last_error(c));
    else
        printf("profiles measured in %.1f s\n", (bench_now_ms() - begin_ms) * 1e-3);
    clf_close(c);
    r->calibrated = row->ok;
    return row->ok;
}

typedef struct tour {
    bench_run *r;
    const bench_part *p;
    int seen;
} tour;

static bool begin(tour *t, bench_row *row, const char *name) {
    bench_row_init(row, NULL, "plan", "f64", "");
    row->part = t->p->part;
    snprintf(row->text, sizeof row->text, "%s_%s", t->p->name, name);
    return bench_wanted(t->r->opt, "plan", row->text) && (!t->r->opt->quick || t->seen++ % t->p->each == 0);
}

static bool open_case(const tour *t, bench_subject *s, const bench_known *k, const char *device, char *why, size_t n) {
    if (k->ml) return ml_subject_open(s, t->r, k->ml, k->ml_data, device, NULL, (size_t)1 << 33, why, n);
    s->ctx = bench_ctx(t->r->opt, device, NULL, why, n);
    s->device = device;
    return s->ctx && bench_cells_open(s, s->ctx, k->cells, k->data, k->rows, why, n);
}

static void on_each_device(tour *t, const bench_row *of, const bench_known *k) {
    const char *device[] = {t->r->device, "host"}, *name[] = {t->r->device_name, "host"};
    for (int i = strcmp(t->r->device, "host") == 0; i < 2; i++) {
        bench_stage st = {0};
        bench_row row = *of;
        char why[200] = "";
        row.device = name[i];
        if (!open_case(t, &st.s, k, device[i], why, sizeof why))
            bench_row_fail(&row, "%.130s", why);
        else if (!bench_stage_begin(&st))
            bench_row_fail(&row, "%.130s", st.err.text);
        else
            t->p->staged(t->p->user, &row, &st, k);
        bench_stage_end(&st);
        t->r->emit(t->r->user, &row);
    }
}

static void run_cells(tour *t) {
    bench_data d = {0};
    for (const bench_case *k = bench_cases; k->name; k++) {
        bench_row row;
        if (!begin(t, &row, k->name)) continue;
        if (!d.in[0]) {
            if (!bench_data_new(&d, t->r->opt->quick ? bench_data_bytes(true) : DENSE_CELLS * sizeof(double))) {
                fprintf(stderr, "clfuse-bench: not enough memory for the inputs\n");
                break;
            }
            bench_data_fill(&d, CLF_F64);
        }
        const bench_known known = {.cells = k, .data = &d, .rows = (int64_t)(d.bytes / sizeof(double)) / k->cols};
        row.rows = known.rows;
        row.cols = k->cols;
        on_each_device(t, &row, &known);
    }
    bench_data_free(&d);
}

static ml_case sized(const bench_part *p, const ml_case *k) {
    ml_case mine = *k;
    if (k->matrix == ML_DENSE) return mine;
    mine.n /= SIDES;
    mine.m /= SIDES;
    if (!p->side || !ml_has(k, 'U')) return mine;
    if (mine.n > p->side) mine.n = p->side;
    if (mine.m > p->side) mine.m = p->side;
    return mine;
}

static void run_ml(tour *t) {
    ml_data d = {.most_cells = DENSE_CELLS};
    for (const ml_case *k = ml_cases; k->name; k++) {
        const ml_case mine = sized(t->p, k);
        bench_row row;
        if (k->result == ML_FACTOR || !begin(t, &row, k->name)) continue; /* one result is looked at */
        if (!ml_data_make(&d, &mine, t->r->opt->quick)) {
            bench_row_fail(&row, "not enough memory for the inputs");
            t->r->emit(t->r->user, &row);
            continue;
        }
        row.rows = d.a.n;
        row.cols = d.a.m;
        if (k->matrix != ML_DENSE) row.sparsity = (double)d.a.s[0].nnz / ((double)d.a.n * (double)d.a.m);
        mine.oracle(&d.a, d.want, d.scale);
        const bench_known known = {.ml = &mine, .ml_data = &d};
        on_each_device(t, &row, &known);
    }
    ml_data_free(&d);
}

void bench_each_case(bench_run *r, const bench_part *p) {
    tour t = {.r = r, .p = p};
    run_cells(&t);
    run_ml(&t);
}
