/* SPDX-License-Identifier: Apache-2.0
 * Running the suite ml: make the inputs and the oracle's results, take the better reference, open the program on the device, unfused and
 * on device 0, sample all in turns, check all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "perf/gpu.h"

/* The unfused plan is left out where it would make a dense matrix of more cells than this. */
static const double unfused_cells = 1.2e8;
static const double hand_bound = 1e-11; /* of a reference: free order of summation, fast math */

/* The reference, OpenBLAS and the reader of the roof as something to call. */
typedef struct by_hand {
    const hand_ml *a;
    hand_ml_fn fn;
    double *scratch;
} by_hand;

static bool call_hand(void *subject) {
    by_hand *h = subject;
    h->fn(h->a);
    return true;
}

static bool call_blas(void *subject) {
    by_hand *h = subject;
    return ml_blas_chain(h->a, h->scratch);
}

static bool call_reader(void *subject) {
    hand_read_f64(subject);
    return true;
}

static void check_hand(bench_row *row, const ml_case *k, const ml_data *d, const char *who) {
    double rel;
    ml_check(&d->a, k->result, d->out, d->want, d->scale, &rel);
    if (!(rel <= hand_bound)) bench_row_fail(row, "%s is off by %.2g", who, rel);
}

/* Every reference is checked; the faster one is kept. */
static void choose_hand(bench_row *row, const ml_case *k, const ml_data *d, by_hand *h, const bench_options *opt) {
    double best = INFINITY;
    hand_ml_fn chosen = NULL;
    for (int i = 0; i < 2 && k->hand[i]; i++) {
        h->fn = k->hand[i];
        double ms = bench_sample(call_hand, h, opt->quick ? 0.5 : 24);
        check_hand(row, k, d, "the reference");
        if (ms < best) chosen = h->fn;
        best = fmin(best, ms);
    }
    h->fn = chosen;
}

/* What one pass costs in bytes: X as it is stored (what a plan cannot avoid), then the other inputs and the result too. */
static double matrix_bytes(const ml_case *k, const ml_data *d) {
    const hand_ml *a = &d->a;
    double bytes = 0;
    if (k->matrix == ML_DENSE) return 8.0 * (double)a->n * (double)a->m;
    for (int i = 0; i < 3; i++)
        if (ml_has(k, "XYZ"[i])) bytes += 12.0 * (double)a->s[i].nnz + 8.0 * (double)a->n;
    return bytes;
}

static double pass_bytes(const ml_case *k, const ml_data *d) {
    const hand_ml *a = &d->a;
    const double tall = (ml_has(k, 'U') ? 1 : 0) + (ml_has(k, 'W') ? 1 : 0), wide = ml_has(k, 'V') ? 1 : 0;
    return matrix_bytes(k, d) + 8.0 * ((tall * (double)a->n + wide * (double)a->m) * (double)a->k + (double)ml_data_outs(a, k->result));
}

static bool plays(const bench_run *r, const ml_case *k, const ml_data *d, int who) {
    if (who != BENCH_UNFUSED) return true;
    bool small = k->matrix == ML_DENSE || !ml_has(k, 'U') || (double)d->a.n * (double)d->a.m <= unfused_cells;
    return k->rival == ML_PLAN && small && (!r->opt->quick || k->floor_unfused > 0);
}

/* The reference in OpenCL C, where there is one, checked; it is compared with where that is asked for. */
static void hand_on_device(const bench_run *r, bench_row *row, const ml_case *k, ml_data *d, gpu_ref *ref, gpu_ref *reader,
                           bench_field *f) {
    if (!r->gpu) return;
    if (!gpu_ml(ref, r->gpu, k, &d->a, d->out) || !gpu_results(ref)) {
        if (ref->why[0]) bench_row_fail(row, "the reference: %.130s", ref->why);
        return;
    }
    check_hand(row, k, d, "the reference in OpenCL C");
    if (!r->gpu_hand) return;
    f->hand = (bench_player){gpu_call, ref};
    if (gpu_cells(reader, r->gpu, "read", CLF_F64, f->reader.subject)) f->reader = (bench_player){gpu_call, reader};
    snprintf(row->why, sizeof row->why, "the reference is in OpenCL C");
}

static void rounds(const bench_run *r, bench_row *row, const ml_case *k, ml_data *d, bench_subject *s, by_hand *h) {
    hand_args roof = {.x = d->x, .rows = 1, .cols = (int64_t)d->x_cap};
    bench_field f = {.hand = {call_hand, h}, .reader = {call_reader, &roof}, .read_bytes = 8.0 * (double)d->x_cap};
    for (int i = 0; i < BENCH_SUBJECTS; i++)
        if (s[i].fn) f.who[i] = (bench_player){bench_subject_call, &s[i]};
    if (k->rival == ML_BLAS) {
        if (!ml_blas_chain(&d->a, h->scratch)) return bench_row_fail(row, "there is no OpenBLAS to compare with");
        check_hand(row, k, d, "OpenBLAS");
        f.who[BENCH_UNFUSED] = (bench_player){call_blas, h};
        snprintf(row->why, sizeof row->why, "unfused: OpenBLAS");
    } else if (!s[BENCH_UNFUSED].fn && !r->opt->quick) {
        snprintf(row->why, sizeof row->why, "unfused would make %.3g dense cells", (double)d->a.n * (double)d->a.m);
    }
    gpu_ref ref[2] = {0};
    hand_on_device(r, row, k, d, &ref[0], &ref[1], &f);
    if (row->ok) bench_rounds(row, &f, r->opt);
    for (int i = 0; i < 2; i++) gpu_release(&ref[i]);
}

static void finish(const bench_run *r, bench_row *row, const ml_case *k, ml_data *d, bench_subject *s) {
    static const char *const who[BENCH_SUBJECTS] = {"ours", "unfused", "device 0"};
    by_hand h = {&d->a, NULL, malloc(((size_t)d->a.n + 1) * sizeof(double))};
    if (!h.scratch) return bench_row_fail(row, "out of memory");
    k->oracle(&d->a, d->want, d->scale);
    choose_hand(row, k, d, &h, r->opt);
    row->bytes = pass_bytes(k, d);
    if (row->ok) bench_count(row, &s[BENCH_OURS], matrix_bytes(k, d));
    if (row->ok) rounds(r, row, k, d, s, &h);
    for (int i = 0; i < BENCH_SUBJECTS && row->ok; i++)
        if (s[i].fn) ml_subject_check(row, &s[i], k, d, who[i]);
    free(h.scratch);
}

static size_t memory_limit(void) {
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (size_t)pages / 3 * (size_t)page : (size_t)1 << 32;
}

/* The loops in tiles are kernels, and a fused loop. */
static bool has_tiles(const bench_run *r, const ml_case *k) {
    return k->tiled && strcmp(r->device, "host") != 0 && strcmp(r->opt->fuse ? r->opt->fuse : "", "none") != 0;
}

static void run_case(const bench_run *r, const ml_case *k, ml_data *d) {
    static const char *const who[BENCH_SUBJECTS] = {"ours", "unfused", "device 0"};
    const char *device[BENCH_SUBJECTS] = {r->device, r->device, "host"}, *fuse[BENCH_SUBJECTS] = {r->opt->fuse, "none", r->opt->fuse};
    bench_subject s[BENCH_SUBJECTS] = {0};
    bench_row row;
    char why[200] = "";
    bench_row_init(&row, k->name, "ml", "f64", r->device_name);
    if (!ml_data_make(d, k, r->opt->quick)) bench_row_fail(&row, "not enough memory for the inputs");
    row.rows = d->a.n;
    row.cols = d->a.m;
    if (k->matrix != ML_DENSE) row.sparsity = (double)d->a.s[0].nnz / ((double)d->a.n * (double)d->a.m);
    if (k->floor > 0) row.floor = k->floor;
    if (k->floor_unfused > 0) row.floor_unfused = k->floor_unfused;
    for (int i = 0; i < BENCH_SUBJECTS && row.ok; i++)
        if (plays(r, k, d, i) && !ml_subject_open(&s[i], r, k, d, device[i], fuse[i], memory_limit(), why, sizeof why))
            bench_row_fail(&row, "%s: %.130s", who[i], why);
    if (row.ok && has_tiles(r, k) && !ml_subject_tile(&s[BENCH_OURS], why, sizeof why)) bench_row_fail(&row, "ours: %.150s", why);
    if (row.ok) finish(r, &row, k, d, s);
    for (int i = 0; i < BENCH_SUBJECTS; i++) bench_subject_close(&s[i]);
    r->emit(r->user, &row);
}

void bench_run_ml(bench_run *r) {
    ml_data d = {0};
    if (r->opt->dtype && strcmp(r->opt->dtype, "f64") != 0) return;
    for (const ml_case *k = ml_cases; k->name; k++)
        if (bench_wanted(r->opt, "ml", k->name)) run_case(r, k, &d);
    ml_data_free(&d);
    ml_memory(r);
}
