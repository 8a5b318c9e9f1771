/* SPDX-License-Identifier: Apache-2.0
 * Calibration, memory: how fast sets of every tier are read, and what writing costs beside it. The last-level cache is what still reads
 * markedly faster than memory, not what the machine reports: a virtual machine sees the cache of its host and owns little of it. On a GPU
 * also how many elements a work-item should load and store at once. */
#include <stdio.h>
#include <unistd.h>

#include "device/calibrate.h"
#include "device/device_internal.h"

/* One work-item per core sweeps its own part of the set, so what a core holds is the set divided by the cores. */
clf_gauge_job clf_gauge_sweep(const clf_gauge_bench *b, clf_program *read, double bytes) {
    size_t set = bytes < (double)b->set_bytes ? (size_t)bytes : b->set_bytes, workers = clf_gauge_workers(b, set / 4);
    int64_t step = clf_gauge_groups(b) ? 1 : 4 * (int64_t)workers, steps = (int64_t)(set / 64) / step;
    return (clf_gauge_job){read, b->in, b->out, b->set_bytes, b->out_bytes, step * (steps ? steps : 1), 1, workers};
}

static clf_status read_rate(clf_gauge_bench *b, clf_program *p, double bytes, double *per_s) {
    clf_gauge_job j = clf_gauge_sweep(b, p, bytes);
    double ns;
    CLF_TRY(clf_gauge_best(b, &j, &j.sweeps, &ns));
    *per_s = (double)j.n * 64 * (double)j.sweeps / ns * 1e9;
    return CLF_OK;
}

static double cache_bytes(int level, double otherwise) {
    long n = sysconf(level);
    return n > 0 ? (double)n : otherwise;
}

enum { GPU_NEAR = 32 << 10, GPU_CACHE = 256 << 20 }; /* the nearest cache of a core, and more than a GPU has of the last one */

/* The largest set that still reads markedly faster than memory. All are measured, in every pass. */
static clf_status shared_cache(clf_gauge_bench *b, clf_program *rd, clf_profile *p) {
    double l2 = p->tier_bytes[1], limit = clf_gauge_groups(b) ? GPU_CACHE : cache_bytes(_SC_LEVEL3_CACHE_SIZE, 64e6);
    double rate, dram = p->read_bytes_per_s[3];
    bool faster = true;
    p->tier_bytes[2] = 2 * l2;
    CLF_TRY(read_rate(b, rd, 2 * l2, &p->read_bytes_per_s[2]));
    for (double set = 4 * l2; set <= limit && set <= (double)b->set_bytes / 2; set *= 2) {
        CLF_TRY(read_rate(b, rd, set, &rate));
        faster &= rate >= 1.5 * dram;
        if (!faster) continue;
        p->tier_bytes[2] = set;
        p->read_bytes_per_s[2] = rate;
    }
    p->llc_bytes = p->tier_bytes[2];
    return CLF_OK;
}

/* Half of a set swept by one kernel, and copied to the other half by another: both name the same memory (see clf_gauge_turns). What a
 * copy writes there is what was there. */
static void halves(const clf_gauge_bench *b, size_t set, clf_program *sweep, clf_program *copy, clf_gauge_job job[2]) {
    const size_t half = set / 2 / 64 * 64;
    job[0] = clf_gauge_sweep(b, sweep, (double)half);
    job[0].in_bytes = job[0].out_bytes = half;
    job[0].out = b->in + half;
    job[1] = (clf_gauge_job){copy, b->in, b->in + half, half, half, (int64_t)(half / 64), 1, clf_gauge_workers(b, half)};
}

static double written(const double *ns, double known) { return ns[1] / ns[0] - known; }

static clf_status write_cost(clf_gauge_bench *b, clf_program *rd, clf_program *cp, clf_profile *p) {
    clf_gauge_job job[2];
    double cost;
    halves(b, b->set_bytes, rd, cp, job);
    CLF_TRY(clf_gauge_turns(b, job, 2, written, 1, &cost));
    p->write_cost = cost < 0.5 ? 0.5 : cost > 4 ? 4 : cost;
    return CLF_OK;
}

/* Nanoseconds of half of a set beyond all caches summed, and copied, by so many elements at once. */
static clf_status side_by_side(clf_gauge_bench *b, int elements, double *ns) {
    char name[2][24];
    clf_program *k[2] = {NULL};
    clf_gauge_job job[2];
    double each[2] = {0};
    clf_status st = CLF_OK;
    snprintf(name[0], sizeof name[0], "m_sum%d", elements);
    snprintf(name[1], sizeof name[1], "m_copy%d", elements);
    for (int i = 0; i < 2 && st == CLF_OK; i++) st = clf_gauge_kernel(b, name[i], &k[i]);
    halves(b, b->set_bytes < GPU_CACHE ? b->set_bytes : GPU_CACHE, k[0], k[1], job);
    for (int i = 0; i < 2 && st == CLF_OK; i++) st = clf_gauge_best(b, &job[i], &job[i].sweeps, &each[i]);
    if (st == CLF_OK) *ns = each[0] / (double)job[0].sweeps + each[1] / (double)job[1].sweeps;
    for (int i = 0; i < 2; i++) clf_program_free(b->d, k[i], true);
    return st;
}

clf_status clf_gauge_item_cells(clf_gauge_bench *b, clf_profile *p) {
    double best = 0, ns = 0;
    for (int elements = 1; elements <= 4; elements *= 2) {
        CLF_TRY(side_by_side(b, elements, &ns));
        if (elements > 1 && ns >= CLF_CLEARLY * best) continue;
        best = ns;
        p->item_cells[b->type == CLF_F64] = elements;
    }
    return CLF_OK;
}

clf_status clf_gauge_streams(clf_gauge_bench *b, clf_profile *p) {
    clf_program *rd = NULL, *cp = NULL;
    clf_status st;
    bool groups = clf_gauge_groups(b);
    p->tier_bytes[0] = (groups ? GPU_NEAR : cache_bytes(_SC_LEVEL1_DCACHE_SIZE, 32e3)) * b->cores;
    p->tier_bytes[1] = groups ? 2 * p->tier_bytes[0] : cache_bytes(_SC_LEVEL2_CACHE_SIZE, 512e3) * b->cores;
    p->tier_bytes[3] = 1e18;
    CLF_GO(clf_gauge_kernel(b, "m_read", &rd));
    CLF_GO(clf_gauge_kernel(b, "m_copy", &cp));
    CLF_GO(read_rate(b, rd, p->tier_bytes[0] / 2, &p->read_bytes_per_s[0]));
    CLF_GO(read_rate(b, rd, p->tier_bytes[1] / 2, &p->read_bytes_per_s[1]));
    CLF_GO(read_rate(b, rd, (double)b->set_bytes, &p->read_bytes_per_s[3]));
    CLF_GO(shared_cache(b, rd, p));
    CLF_GO(write_cost(b, rd, cp, p));
out:
    clf_program_free(b->d, rd, true);
    clf_program_free(b->d, cp, true);
    return st;
}
