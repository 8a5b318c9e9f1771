/* SPDX-License-Identifier: Apache-2.0
 * Taking time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "perf/bench.h"

double bench_now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

void bench_rest(void) { usleep(20000); }

double bench_sample(bench_call call, void *subject, double min_ms) {
    if (!call(subject)) return NAN; /* warm */
    long done = 0, batch = 1;
    double begin = bench_now_ms(), spent = 0;
    do { /* the clock is read once a batch, so that it costs little in short calls */
        for (long i = 0; i < batch; i++)
            if (!call(subject)) return NAN;
        done += batch;
        spent = bench_now_ms() - begin;
        if (spent < min_ms / 8) batch *= 2;
    } while (spent < min_ms);
    return spent / (double)done;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double bench_median(const double *v, int n) {
    double kept[BENCH_ROUNDS_MAX];
    int m = 0;
    for (int i = 0; i < n && m < BENCH_ROUNDS_MAX; i++)
        if (!isnan(v[i])) kept[m++] = v[i];
    if (m == 0) return NAN;
    qsort(kept, (size_t)m, sizeof *kept, ascending);
    return m % 2 ? kept[m / 2] : 0.5 * (kept[m / 2 - 1] + kept[m / 2]);
}
