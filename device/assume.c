/* SPDX-License-Identifier: Apache-2.0
 * Assumed profiles: what is safe to believe of a device nobody has measured. Per-core figures are about half of what a current
 * server core does, so that a plan chosen by them is rarely worse than not fusing; launch costs are those of a pool that sleeps. */
#include <string.h>
#include "device/device_internal.h"

/* evaluations per second and core, f64, in the order of CLF_OP_CLASSES; f32 does twice as many */
static const double core_rate[CLF_NCLASSES] = {
    [CLF_CLASS_ADD] = 6e9,    [CLF_CLASS_CMP] = 4e9,    [CLF_CLASS_DIV] = 6e8,    [CLF_CLASS_SQRT] = 5e8,
    [CLF_CLASS_EXP] = 3.5e8,  [CLF_CLASS_LOG] = 3e8,    [CLF_CLASS_POW] = 6e7,    [CLF_CLASS_TRIG] = 1e8,
};

typedef struct kind_figures {
    double tier_bytes[CLF_PROFILE_TIERS], core_bytes_per_s[CLF_PROFILE_TIERS], most_bytes_per_s; /* last: of DRAM, all cores */
    double write_cost, core_factor, async_ns, sync_ns, second_ns, transfer_bytes_per_s, transfer_ns, alloc_bytes, arg_bytes, llc_bytes;
} kind_figures;

static const kind_figures figures[] = {
    [CLF_DEV_HOST] = {{32e3, 512e3, 8e6, 1e18}, {60e9, 30e9, 20e9, 12e9}, 40e9, 1.5, 1, 200, 300, 8e3, 0, 0, 1e18, 1e6, 16e6},
    [CLF_DEV_CPU] = {{32e3, 512e3, 8e6, 1e18}, {60e9, 30e9, 20e9, 12e9}, 40e9, 1.5, 1, 5e3, 50e3, 25e3, 0, 0, 1e9, 1024, 16e6},
    [CLF_DEV_GPU] = {{1e6, 2e6, 4e6, 1e18}, {20e9, 20e9, 15e9, 10e9}, 150e9, 1, 4, 5e3, 20e3, 0, 6e9, 10e3, 256e6, 1024, 2e6},
};

void clf_profile_assume(clf_profile *p, clf_device_kind kind, int cores)
{
    const kind_figures *f = &figures[kind];
    double n = cores < 1 ? 1 : cores;
    memset(p, 0, sizeof *p);
    p->kind = (int)kind;
    p->cores = (int)n;
    p->zero_copy = kind != CLF_DEV_GPU;
    p->fp64 = p->assumed = 1;
    for (int t = 0; t < CLF_PROFILE_TIERS; t++) {
        p->tier_bytes[t] = t < 2 ? f->tier_bytes[t] * n : f->tier_bytes[t]; /* the first two are private to a core */
        p->read_bytes_per_s[t] = f->core_bytes_per_s[t] * n;
    }
    double *dram = &p->read_bytes_per_s[CLF_PROFILE_TIERS - 1];
    if (*dram > f->most_bytes_per_s) *dram = f->most_bytes_per_s;
    if (p->tier_bytes[2] < 2 * p->tier_bytes[1]) p->tier_bytes[2] = 2 * p->tier_bytes[1];
    for (int c = 0; c < CLF_NCLASSES; c++) {
        p->cells_per_s[1][c] = core_rate[c] * f->core_factor * n;
        p->cells_per_s[0][c] = 2 * p->cells_per_s[1][c];
    }
    p->write_cost = f->write_cost;
    p->launch_async_ns = f->async_ns;
    p->launch_sync_ns = f->sync_ns;
    p->second_core_ns = f->second_ns;
    p->transfer_bytes_per_s = f->transfer_bytes_per_s;
    p->transfer_ns = f->transfer_ns;
    p->max_alloc_bytes = p->mem_bytes = f->alloc_bytes;
    p->max_arg_bytes = f->arg_bytes;
    p->llc_bytes = f->llc_bytes;
}

void clf_dev_assume(const clf_devs *d, int dev, clf_profile *out)
{
    const clf_dev_info *info = clf_devs_info(d, dev);
    if (!info) {
        clf_profile_assume(out, CLF_DEV_HOST, 1);
        return;
    }
    clf_profile_assume(out, (clf_device_kind)info->kind, (int)info->compute_units);
    memcpy(out->name, info->name, sizeof out->name);
    memcpy(out->driver, info->driver, sizeof out->driver);
    out->fp64 = info->fp64;
    out->zero_copy = info->host_pointers || info->kind == CLF_DEV_CPU;
    out->max_alloc_bytes = (double)info->max_alloc_bytes;
    out->mem_bytes = (double)info->mem_bytes;
    out->max_arg_bytes = (double)info->max_arg_bytes;
}
