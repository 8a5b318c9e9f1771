/* SPDX-License-Identifier: Apache-2.0
 * Life cycle of the device layer and what is known of its devices. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "device/device_internal.h"

enum { WORKER_MS = 120000 };

static void start(clf_devs *d, int i) {
    clf_dev_info *info = &d->dev[i].info;
    if (d->max_alloc_bytes && d->max_alloc_bytes < info->max_alloc_bytes) info->max_alloc_bytes = d->max_alloc_bytes;
    d->dev[i].mirror_limit = d->copies_bytes ? d->copies_bytes : (size_t)(info->mem_bytes / 4 * 3);
    if (!d->no_host_pointers) clf_probe_pointers(d, i);
    CLF_TRACE(d->log, launch, "device %d: %s, %s, %u units, arguments by %s", i + 1, info->name, info->driver, info->compute_units,
              info->host_pointers ? "host pointer" : "buffer");
}

clf_status clf_devs_prepare(clf_devs **out, const clf_dev_opts *opts, clf_err *err) {
    if (!out || !opts || !opts->mem) return clf_fail(err, CLF_E_ARG, "devices: no place for the result or no allocator");
    clf_devs *d = clf_mem_new(opts->mem, 1, sizeof *d);
    if (!d) return clf_fail(err, CLF_E_NOMEM, "no memory for the device layer");
    d->mem = opts->mem;
    d->log = opts->log;
    d->pid = getpid();
    d->max_alloc_bytes = opts->max_alloc_bytes;
    d->no_host_pointers = opts->no_host_pointers;
    d->copies_bytes = opts->copies_bytes;
    d->transfer_queue = opts->transfer_queue;
    d->own = opts->own;
    d->worker_ms = opts->worker_ms ? opts->worker_ms : WORKER_MS;
    snprintf(d->cache_dir, sizeof d->cache_dir, "%s", opts->cache_dir ? opts->cache_dir : "");
    snprintf(d->worker, sizeof d->worker, "%s", opts->worker ? opts->worker : "");
    snprintf(d->clblast_path, sizeof d->clblast_path, "%s", opts->clblast ? opts->clblast : "");
    clf_environ_cache(d, opts->cache_dir);
    clf_disk_open(&d->disk, d->mem, d->log, opts->cache_dir, (clf_disk_mode)opts->cache, opts->cache_bytes);
    clf_environ_workers();
    *out = d;
    return CLF_OK;
}

clf_status clf_devs_look(clf_devs **devs, clf_err *err) {
    clf_devs *d = *devs;
    clf_affinity mask;
    clf_affinity_widen(&mask);
    clf_status st = d->own.queue ? clf_adopt(d, err) : clf_discover(d, err);
    for (int i = 0; st == CLF_OK && i < d->n; i++) start(d, i);
    clf_affinity_restore(&mask);
    if (*d->why) CLF_TRACE(d->log, launch, "devices: %s", d->why);
    if (st != CLF_OK) clf_devs_close(d);
    return st;
}

clf_status clf_devs_open(clf_devs **out, const clf_dev_opts *opts, clf_err *err) {
    clf_devs *d;
    CLF_TRY(clf_devs_prepare(out ? &d : NULL, opts, err));
    CLF_TRY(clf_devs_look(&d, err));
    *out = d;
    return CLF_OK;
}

/* In a forked child the driver's threads are gone: calling it hangs, so its objects are left to the parent. */
static void close_all(clf_devs *d, bool wait) {
    if (!d) return;
    bool alive = getpid() == d->pid;
    clf_workers_close(d, alive);
    for (int i = 0; i < d->n; i++) clf_mirrors_drop(d, i);
    for (int i = 0; alive && i < d->n; i++) clf_dev_drop(&d->dev[i], wait && !d->dev[i].busy);
    clf_clblast_close(d, alive);
    clf_saved_close(d, alive, alive && wait);
    clf_programs_release(d, alive);
    for (int i = 0; i < d->n; i++) {
        if (alive) clReleaseContext(d->dev[i].ctx);
        clf_mem_free(d->mem, d->dev[i].bufs, d->dev[i].capbuf, sizeof(clf_hostbuf));
        for (int k = 0; k < 2; k++) clf_mem_data_free(d->mem, d->dev[i].withheld[k].at, d->dev[i].withheld[k].bytes);
    }
    clf_mem_free(d->mem, d->dev, (size_t)d->cap, sizeof *d->dev);
    clf_environ_cache_close(d);
    clf_mem_free(d->mem, d, 1, sizeof *d);
}

void clf_devs_close(clf_devs *d) { close_all(d, true); }

void clf_devs_abandon(clf_devs *d) { close_all(d, false); }

int clf_devs_count(const clf_devs *d) { return d ? d->n : 0; }

const clf_dev_info *clf_devs_info(const clf_devs *d, int i) { return d && i >= 0 && i < d->n ? &d->dev[i].info : NULL; }

const char *clf_devs_cache_why(const clf_devs *d) { return d ? d->disk.why : ""; }

const char *clf_devs_why(const clf_devs *d) { return d ? d->why : "the device layer is not open"; }

clf_dev_stats clf_devs_stats(const clf_devs *d) { return d ? d->stats : (clf_dev_stats){0}; }

static int find_kind(const clf_devs *d, int kind) {
    for (int i = 0; i < d->n; i++)
        if (d->dev[i].info.kind == kind) return i;
    return -1;
}

static int find_name(const clf_devs *d, const char *part) {
    for (int i = 0; i < d->n; i++)
        if (strcasestr(d->dev[i].info.name, part)) return i;
    return -1;
}

int clf_devs_find(const clf_devs *d, const char *text) {
    if (!d || !text || !d->n) return -1;
    if (!*text) return 0;
    if (!strcasecmp(text, "cpu")) return find_kind(d, CLF_DEV_CPU);
    if (!strcasecmp(text, "gpu")) return find_kind(d, CLF_DEV_GPU);
    if (!strcasecmp(text, "host")) return -1;
    if (text[strspn(text, "0123456789")]) return find_name(d, text);
    long number = strtol(text, NULL, 10);
    return number >= 1 && number <= d->n ? (int)number - 1 : -1;
}
