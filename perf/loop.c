/* SPDX-License-Identifier: Apache-2.0
 * loop_1e6: a training loop in small. Each round records new nodes over changing scalars, evaluates them and lets them go. What is
 * checked: the sum of all results, memory that does not grow between the first tenth and the end, and a number of compiled kernels
 * of at most one for each operator of the body. On an OpenCL device the loop is shorter, for a round is a launch and a wait there, and
 * the operands are larger, for tiny steps stay on the host. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "perf/bench.h"

enum { HOST_CELLS = 100, DEVICE_CELLS = 16384, OPERATORS = 4 };

static long resident_kb(void) {
    long total = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (!f) return 0;
    if (fscanf(f, "%ld %ld", &total, &resident) != 2) resident = 0;
    fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static uint64_t memory_now(clf_ctx *c) {
    clf_mem_stats m = {.struct_size = sizeof m};
    return clf_get_mem_stats(c, &m) == CLF_OK ? m.now : 0;
}

/* One round: w <- x*a + w*b, and sum(w). The state w is a value carried from round to round. */
static bool turn(clf_ctx *c, clf_mat *x, clf_mat **w, double a, double b, double *sum) {
    size_t mark = clf_epoch_begin(c);
    clf_mat *next = clf_add(clf_mul(x, clf_num(c, a)), clf_mul(*w, clf_num(c, b)));
    clf_mat *both[2] = {clf_keep(next), clf_sum(next)};
    bool ok = clf_eval(2, both) == CLF_OK && clf_read_f64(both[1], sum) == CLF_OK;
    clf_epoch_end(c, mark);
    clf_free(*w);
    *w = next;
    return ok;
}

static void loop(bench_row *row, clf_ctx *c, long rounds, double *x0, double *want) {
    double got = 0;
    long double sum = 0;
    const int cells = (int)row->rows;
    for (int i = 0; i < cells; i++) x0[i] = want[i] = 1 + i / 128.0;
    clf_mat *x = clf_matrix(c, CLF_F64, cells, 1, x0), *w = clf_matrix(c, CLF_F64, cells, 1, x0);
    uint64_t early = 0;
    long early_kb = 0;
    double begin = bench_now_ms(), worst = 0;
    for (long n = 0; n < rounds; n++) {
        double a = (double)(n % 64) / 64, b = 0.5 + (double)(n % 7) / 16;
        for (int i = 0; i < cells; i++) want[i] = x0[i] * a + want[i] * b;
        if (!turn(c, x, &w, a, b, &got)) return bench_row_fail(row, "round %ld: %.100s", n, clf_last_error(c));
        sum = 0;
        for (int i = 0; i < cells; i++) sum += want[i];
        worst = fmax(worst, (double)(fabsl(got - sum) / sum));
        if (n == rounds / 10) {
            early = memory_now(c);
            early_kb = resident_kb();
        }
    }
    row->ours_ms = (bench_now_ms() - begin) / (double)rounds;
    clf_stats s = bench_stats(c);
    uint64_t late = memory_now(c);
    long grown_kb = resident_kb() - early_kb;
    row->kernels = (int)s.kernels_built;
    row->launches = (int)(bench_launches(&s) / (uint64_t)rounds);
    row->max_rel_err = worst;
    if (!(worst <= 3e-14)) bench_row_fail(row, "error %.2g", worst);
    if (late > early) bench_row_fail(row, "memory grew from %llu to %llu bytes", (unsigned long long)early, (unsigned long long)late);
    if (grown_kb > 4096) bench_row_fail(row, "resident memory grew by %ld kB", grown_kb);
    if (row->kernels > OPERATORS) bench_row_fail(row, "%d kernels for %d operators", row->kernels, OPERATORS);
    if (row->ok)
        snprintf(row->why, sizeof row->why, "%ld rounds, %llu bytes held, resident +%ld kB, %llu plans, launches tier 0/1/2 %llu/%llu/%llu",
                 rounds, (unsigned long long)late, grown_kb, (unsigned long long)s.plans, (unsigned long long)s.launches_tier0,
                 (unsigned long long)s.launches_tier1, (unsigned long long)s.launches_tier2);
}

static void run(const bench_run *r, const char *device, const char *device_name, const char *name, int cells, long rounds) {
    char why[200] = "";
    bench_row row;
    bench_row_init(&row, name, "micro", "f64", device_name);
    if (!bench_wanted(r->opt, "micro", name)) return;
    row.rows = cells;
    row.cols = 1;
    double *x0 = calloc((size_t)cells, sizeof *x0), *want = calloc((size_t)cells, sizeof *want);
    clf_ctx *c = bench_ctx(r->opt, device, r->opt->fuse, why, sizeof why);
    if (c && x0 && want)
        loop(&row, c, rounds, x0, want);
    else
        bench_row_fail(&row, "%.150s", why);
    clf_close(c);
    free(x0);
    free(want);
    r->emit(r->user, &row);
}

void bench_run_loop(bench_run *r) {
    if (r->opt->dtype && strcmp(r->opt->dtype, "f64") != 0) return;
    run(r, "host", "host", "loop_1e6", HOST_CELLS, r->opt->quick ? 10000 : 1000000);
    if (strcmp(r->device, "host") != 0) run(r, r->device, r->device_name, "loop_device", DEVICE_CELLS, r->opt->quick ? 500 : 10000);
}
