/* SPDX-License-Identifier: Apache-2.0
 * Devices as the public API shows them: 0 is the host executor, then the OpenCL devices; and calibration. */
#include <string.h>

#include "host/run/calibrate.h"
#include "host/run/gemm.h"
#include "host/run/run.h"
#include "kernels-cl/emit.h"

static void describe_host(clf_ctx *c, clf_device *d) {
    const clf_profile *p = clf_run_host_profile(c);
    d->name = "host executor";
    d->kind = "host";
    d->driver = clf_isa_name(clf_isa_pick(CLF_ISA_AUTO));
    d->compute_units = (unsigned)clf_pool_threads(c->run->pool);
    d->mem_bytes = (uint64_t)p->mem_bytes;
    d->max_alloc_bytes = (uint64_t)p->max_alloc_bytes;
    d->fp64 = d->zero_copy = true;
    d->measured = !p->assumed;
    d->read_gb_per_s = p->read_bytes_per_s[CLF_PROFILE_TIERS - 1] / 1e9;
    d->launch_us = p->launch_sync_ns / 1e3;
    d->chosen = clf_run_wants_host(c);
    d->library = clf_blas_name(c->run->blas);
}

/* OpenCL device i, as a plan that used it would have it; and whether plans do. */
static void profile_of(clf_ctx *c, int i, clf_profile *p, bool *chosen) {
    clf_err err = {CLF_OK, ""};
    int first;
    clf_run_device(c, false, &first, &err);
    *chosen = clf_run_use_of(c, i) >= 0;
    if (*chosen)
        *p = *clf_run_profile_of(c, i);
    else
        clf_dev_assume(c->run->devs, i, p);
}

static void describe_device(clf_ctx *c, int i, clf_device *d) {
    const clf_dev_info *info = clf_devs_info(c->run->devs, i);
    bool used;
    clf_profile p;
    profile_of(c, i, &p, &used);
    d->name = info->name;
    d->library = clf_gemm_found(c, i) ? "clblast" : "";
    d->kind = info->kind == CLF_DEV_GPU ? "gpu" : "cpu";
    d->driver = info->driver;
    d->compute_units = info->compute_units;
    d->mem_bytes = info->mem_bytes;
    d->max_alloc_bytes = info->max_alloc_bytes;
    d->fp64 = info->fp64 != 0;
    d->zero_copy = info->host_pointers != 0;
    d->measured = !p.assumed;
    d->read_gb_per_s = p.read_bytes_per_s[CLF_PROFILE_TIERS - 1] / 1e9;
    d->launch_us = p.launch_sync_ns / 1e3;
    d->chosen = used && !clf_run_wants_host(c);
}

/* Loads OpenCL; failure leaves only device 0, with a reason in clf_device_why. */
static int count_devices(clf_ctx *c) {
    clf_err err = {CLF_OK, ""};
    int dev;
    clf_run_open_devices(c);
    if (c->run->devs && clf_devs_count(c->run->devs) && !clf_run_wants_host(c)) clf_run_device(c, false, &dev, &err);
    return c->run->devs ? clf_devs_count(c->run->devs) : 0;
}

bool clf_device_at(clf_ctx *c, int i, clf_device *out) {
    if (!c || !out || i < 0 || out->struct_size < sizeof *out) return false;
    clf_ctx_lock(c);
    bool there = i == 0 || i <= count_devices(c);
    if (there) {
        size_t n = out->struct_size;
        memset(out, 0, sizeof *out);
        out->struct_size = n;
        out->index = i;
        if (i == 0)
            describe_host(c, out);
        else
            describe_device(c, i - 1, out);
    }
    clf_ctx_unlock(c);
    return there;
}

static clf_status write_profile(clf_ctx *c, int i, clf_write_fn write, void *user, clf_err *err) {
    clf_profile p;
    clf_str out;
    bool chosen;
    if (i < 0 || (i > 0 && i > count_devices(c))) return clf_fail(err, CLF_E_NODEV, "no device %d", i);
    if (i)
        profile_of(c, i - 1, &p, &chosen);
    else
        p = *clf_run_host_profile(c);
    clf_str_init(&out, &c->mem);
    clf_profile_print(&p, &out);
    clf_status st = out.failed ? clf_fail(err, CLF_E_NOMEM, "device %d: out of memory for its profile", i) : CLF_OK;
    if (st == CLF_OK) write(user, clf_str_c(&out), out.len);
    clf_str_release(&out);
    return st;
}

clf_status clf_device_profile(clf_ctx *c, int i, clf_write_fn write, void *user) {
    if (!c || !write) return CLF_E_ARG;
    clf_err err = {CLF_OK, ""};
    clf_ctx_lock(c);
    clf_status st = write_profile(c, i, write, user, &err);
    if (st != CLF_OK) clf_ctx_fail(c, &err);
    clf_ctx_unlock(c);
    return st;
}

const char *clf_device_why(clf_ctx *c) {
    if (!c) return "";
    clf_ctx_lock(c);
    const char *why = count_devices(c) ? "" : c->run->devs_why;
    clf_ctx_unlock(c);
    return why;
}

/* The host before and after all others, since a processor that others take a core of is slow for seconds. */
typedef struct calibration {
    clf_least tiles, work; /* of the host's passes */
    clf_profile host, *device;
    int n; /* devices that are measured */
} calibration;

static clf_status pass_host(clf_ctx *c, calibration *k, clf_err *err) {
    clf_run *r = c->run;
    CLF_TRY(clf_tile_calibrate(r->pool, CLF_ISA_AUTO, &c->mem, &k->tiles, &k->host, err));
    return clf_work_calibrate(r->blas, r->pool, CLF_ISA_AUTO, &c->mem, &k->work, &k->host, err);
}

/* By the exp and log that kernels use. */
static clf_status pass_devices(clf_ctx *c, calibration *k, int count, clf_err *err) {
    clf_str math;
    clf_str_init(&math, &c->mem);
    clf_status st = clf_kernel_text("prelude/math.clh", c->knobs.kernel_dir, &math, err);
    for (; st == CLF_OK && k->n < count; k->n += st == CLF_OK)
        st = clf_dev_calibrate(c->run->devs, k->n, clf_str_c(&math), &k->device[k->n], err);
    clf_str_release(&math);
    return st;
}

/* dir: where profiles are kept, or NULL. */
static clf_status keep_profiles(clf_ctx *c, const calibration *k, const char *dir, clf_err *err) {
    clf_run *r = c->run;
    if (dir) CLF_TRY(clf_profile_store(dir, &k->host, err));
    r->host = k->host;
    r->host_profiled = true;
    clf_status st = CLF_OK;
    for (int i = 0; st == CLF_OK && i < k->n; i++) {
        clf_profile_take_host(&k->device[i], &k->host);
        if (dir) st = clf_profile_store(dir, &k->device[i], err);
        int u = clf_run_use_of(c, i);
        if (u >= 0) r->used.profile[u] = k->device[i];
    }
    return st;
}

static clf_status calibrate_all(clf_ctx *c, calibration *k, const char *dir, clf_err *err) {
    clf_err later = {CLF_OK, ""};
    CLF_TRY(pass_host(c, k, err));
    clf_run_open_devices(c);
    int count = c->run->devs ? clf_devs_count(c->run->devs) : 0;
    k->device = clf_mem_new(&c->mem, (size_t)count + 1, sizeof *k->device);
    if (!k->device) return clf_fail(err, CLF_E_NOMEM, "out of memory for the profiles of %d devices", count);
    clf_status st = pass_devices(c, k, count, err), host = pass_host(c, k, &later);
    if (host == CLF_OK) host = keep_profiles(c, k, dir, &later); /* of those before one that fails, too */
    clf_mem_free(&c->mem, k->device, (size_t)count + 1, sizeof *k->device);
    return st == CLF_OK && host != CLF_OK ? clf_fail(err, host, "%s", later.text) : st;
}

static clf_status calibrate_locked(clf_ctx *c, clf_err *err) {
    char dir[512], why[256];
    calibration k = {.n = 0};
    CLF_TRY(clf_ctx_usable(c, err));
    bool stored = clf_cache_dir(c->knobs.cache_dir, dir, sizeof dir, why, sizeof why);
    CLF_TRY(calibrate_all(c, &k, stored ? dir : NULL, err));
    clf_run_forget(c);
    return stored ? CLF_OK : clf_fail(err, CLF_E_IO, "measured, but not stored: %s", why);
}

clf_status clf_calibrate(clf_ctx *c) {
    if (!c) return CLF_E_ARG;
    clf_err err = {CLF_OK, ""};
    clf_ctx_lock(c);
    clf_status st = calibrate_locked(c, &err);
    if (st != CLF_OK) clf_ctx_fail(c, &err);
    clf_ctx_unlock(c);
    return st;
}
