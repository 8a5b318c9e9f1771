/* SPDX-License-Identifier: Apache-2.0
 * Inputs: numbers in [0.5, 1.5), positive so that sums have small relative bounds, from a hash of the position, so that every run and
 * every thread count has the same. */
#include <stdlib.h>
#include <unistd.h>
#include "perf/bench.h"

double bench_number(uint64_t i, uint64_t which) {
    uint64_t h = (i * 3 + which + 1) * 0x9E3779B97F4A7C15u;
    h ^= h >> 31;
    h *= 0xBF58476D1CE4E5B9u;
    h ^= h >> 29;
    return 0.5 + (double)(h >> 40) * 0x1p-24;
}

size_t bench_data_bytes(bool quick) {
    const size_t mib = 1024 * 1024;
    if (quick) return 4 * mib;
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    size_t eighth = pages > 0 && page > 0 ? (size_t)pages / 8 * (size_t)page : 0, want = 3 * 256 * mib;
    size_t total = eighth && eighth < want ? eighth : want;
    return total / 2; /* the widest use is two inputs */
}

bool bench_data_new(bench_data *d, size_t bytes) {
    *d = (bench_data){.dtype = CLF_F64, .bytes = (bytes + 4095) / 4096 * 4096};
    for (int i = 0; i < 3; i++)
        if (!(d->in[i] = aligned_alloc(4096, d->bytes))) return false;
    for (int i = 0; i < 2; i++)
        if (!(d->out[i] = aligned_alloc(4096, d->bytes))) return false;
    return true;
}

void bench_data_fill(bench_data *d, clf_dtype t) {
    d->dtype = t;
    int64_t n = (int64_t)(d->bytes / clf_dtype_bytes(t));
    for (int which = 0; which < 3; which++) {
        double *p = d->in[which];
        float *q = d->in[which];
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < n; i++) {
            if (t == CLF_F64)
                p[i] = bench_number((uint64_t)i, (uint64_t)which);
            else
                q[i] = (float)bench_number((uint64_t)i, (uint64_t)which);
        }
    }
    for (int which = 0; which < 2; which++) {
        char *p = d->out[which];
#pragma omp parallel for schedule(static)
        for (int64_t i = 0; i < (int64_t)(d->bytes / 4096); i++) p[i * 4096] = 0;
    }
}

void bench_data_free(bench_data *d) {
    for (int i = 0; i < 3; i++) free(d->in[i]);
    for (int i = 0; i < 2; i++) free(d->out[i]);
}
