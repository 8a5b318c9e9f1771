/* SPDX-License-Identifier: Apache-2.0
 * Assumed profiles: what is safe to believe of a device nobody has measured. Per-core figures are about half of what a current
 * server core does, so that a plan chosen by them is rarely worse than not fusing; launch costs are those of a pool that sleeps.
 * The host executor goes through tiles operator by operator; a compiled kernel keeps values in registers: 0.7 of its bytes and half
 * of its operators a second were measured where both run on the same cores. */
#include <string.h>
#include "device/device_internal.h"

/* evaluations per second and core, f64, in the order of CLF_OP_CLASSES; f32 does twice as many */
static const double core_rate[CLF_NCLASSES] = {
    [CLF_CLASS_ADD] = 6e9,   [CLF_CLASS_CMP] = 4e9, [CLF_CLASS_DIV] = 6e8, [CLF_CLASS_SQRT] = 5e8,
    [CLF_CLASS_EXP] = 3.5e8, [CLF_CLASS_LOG] = 3e8, [CLF_CLASS_POW] = 6e7, [CLF_CLASS_TRIG] = 1e8,
};

typedef struct kind_figures {
    double tier_bytes[CLF_PROFILE_TIERS];       /* the first two per core */
    double core_bytes_per_s[CLF_PROFILE_TIERS]; /* per core ... */
    double memory_bytes_per_s;                  /* ... but never more than this from memory */
    double write_cost, core_factor;             /* core_factor: of core_rate */
    double async_ns, sync_ns, second_core_ns;
    double core_fma_per_s; /* f64, per core; f32 twice as many */
    double overlap, registers;
    double unit_groups, group_cells, group_sum_bytes;                     /* of GPUs, as their skeletons have them */
    double core_row_ns, core_entry_ns, core_entry_row_ns, core_locate_ns; /* of one core */
    double core_gather_ns[CLF_PROFILE_TIERS];                             /* of one core */
    double transfer_bytes_per_s, transfer_ns;
    double alloc_bytes, arg_bytes, llc_bytes;
} kind_figures;

/* clang-format off */
static const kind_figures figures[] = {
    [CLF_DEV_HOST] = {
        .tier_bytes = {32e3, 512e3, 8e6, 1e18}, .core_bytes_per_s = {40e9, 20e9, 12e9, 9e9}, .memory_bytes_per_s = 30e9,
        .write_cost = 1.5, .core_factor = 1, .async_ns = 200, .sync_ns = 300, .second_core_ns = 8e3,
        .core_fma_per_s = 4e9, .overlap = 0, .core_row_ns = 20, .core_entry_ns = 2, .core_entry_row_ns = 10, .core_locate_ns = 6,
        .core_gather_ns = {1, 3, 10, 40},
        .alloc_bytes = 1e18, .arg_bytes = 1e6, .llc_bytes = 16e6,
    },
    [CLF_DEV_CPU] = {
        .tier_bytes = {32e3, 512e3, 8e6, 1e18}, .core_bytes_per_s = {60e9, 30e9, 20e9, 12e9}, .memory_bytes_per_s = 40e9,
        .write_cost = 1.5, .core_factor = 2, .async_ns = 5e3, .sync_ns = 50e3, .second_core_ns = 25e3,
        .core_fma_per_s = 4e9, .overlap = 1, .core_row_ns = 6, .core_entry_ns = 2, .core_entry_row_ns = 10, .core_locate_ns = 4,
        .core_gather_ns = {1, 3, 10, 40},
        .alloc_bytes = 1e9, .arg_bytes = 1024, .llc_bytes = 16e6,
    },
    [CLF_DEV_GPU] = {
        .tier_bytes = {1e6, 2e6, 4e6, 1e18}, .core_bytes_per_s = {20e9, 20e9, 15e9, 10e9}, .memory_bytes_per_s = 150e9,
        .write_cost = 1, .core_factor = 4, .async_ns = 5e3, .sync_ns = 20e3, .transfer_bytes_per_s = 6e9, .transfer_ns = 10e3,
        .core_fma_per_s = 20e9, .overlap = 1, .core_row_ns = 2, .core_entry_ns = 1, .core_entry_row_ns = 2, .core_locate_ns = 4,
        .core_gather_ns = {2, 2, 4, 10},
        .registers = 16, .unit_groups = 4, .group_cells = 2048, .group_sum_bytes = 2048, .alloc_bytes = 256e6, .arg_bytes = 1024, .llc_bytes = 2e6,
    },
};
/* clang-format on */

/* What loops do beside streaming and cell operators. */
static void assume_loops(clf_profile *p, const kind_figures *f, double cores) {
    p->fma_per_s[1] = f->core_fma_per_s * cores;
    p->fma_per_s[0] = 2 * p->fma_per_s[1];
    p->row_ns = p->dot_ns = p->pair_ns = f->core_row_ns / cores;
    p->entry_ns = f->core_entry_ns / cores;
    p->side_ns = p->kind == CLF_DEV_GPU ? p->dot_ns : p->kind == CLF_DEV_HOST ? p->entry_ns : 0; /* kernels for CPUs know its width */
    p->scatter_ns = p->entry_ns;
    p->entry_row_ns = f->core_entry_row_ns / cores;
    p->locate_ns = f->core_locate_ns / cores;
    p->overlap = f->overlap;
    p->registers = f->registers; /* of 8 bytes: 256 KB for 2,048 work-items */
    p->unit_groups = f->unit_groups;
    p->group_cells = f->group_cells;
    p->group_sum_bytes = f->group_sum_bytes;
    for (int t = 0; t < CLF_PROFILE_TIERS; t++) p->gather_ns[t] = f->core_gather_ns[t] / cores;
}

/* Products of the library, conversions and structural operators: host code whatever the device, some of it on one core. */
static void assume_host_work(clf_profile *p, double cores) {
    p->library_flops_per_s[1] = 8e9 * cores;
    p->library_flops_per_s[0] = 16e9 * cores;
    p->library_half[0] = p->library_half[1] = 16;
    p->library_row_ns[0] = p->library_row_ns[1] = 8 / cores;
    p->library_ns = 2e3;
    p->gap_ns = 50 / cores;
    p->convert_cells_per_s = 5e8;
    p->convert_entries_per_s = 1e8;
    p->callout_bytes_per_s = 3e9;
    p->callout_ns = 1e3;
}

void clf_profile_assume(clf_profile *p, clf_device_kind kind, int cores) {
    const kind_figures *f = &figures[kind];
    double n = cores < 1 ? 1 : cores;
    memset(p, 0, sizeof *p);
    p->kind = (int)kind;
    p->cores = (int)n;
    p->zero_copy = kind != CLF_DEV_GPU;
    p->fp64 = p->assumed = 1;
    for (int t = 0; t < CLF_PROFILE_TIERS; t++) {
        p->tier_bytes[t] = t < 2 ? f->tier_bytes[t] * n : f->tier_bytes[t];
        p->read_bytes_per_s[t] = f->core_bytes_per_s[t] * n;
    }
    double *dram = &p->read_bytes_per_s[CLF_PROFILE_TIERS - 1];
    if (*dram > f->memory_bytes_per_s) *dram = f->memory_bytes_per_s;
    if (p->tier_bytes[2] < 2 * p->tier_bytes[1]) p->tier_bytes[2] = 2 * p->tier_bytes[1];
    for (int c = 0; c < CLF_NCLASSES; c++) {
        p->cells_per_s[1][c] = core_rate[c] * f->core_factor * n;
        p->cells_per_s[0][c] = 2 * p->cells_per_s[1][c];
    }
    assume_loops(p, f, n);
    assume_host_work(p, n);
    p->write_cost = f->write_cost;
    p->launch_async_ns = f->async_ns;
    p->launch_sync_ns = f->sync_ns;
    p->second_core_ns = f->second_core_ns;
    p->transfer_bytes_per_s = f->transfer_bytes_per_s;
    p->transfer_ns = f->transfer_ns;
    p->max_alloc_bytes = p->mem_bytes = f->alloc_bytes;
    p->max_arg_bytes = f->arg_bytes;
    p->llc_bytes = f->llc_bytes;
}

void clf_dev_assume(const clf_devs *d, int dev, clf_profile *out) {
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
    if (info->kind == CLF_DEV_CPU && strstr(info->name, "Intel")) out->rows_at_once = 4; /* see row_cut.c */
    if (info->kind == CLF_DEV_GPU) out->unit_local_bytes = (double)info->local_bytes;
}
