/* SPDX-License-Identifier: Apache-2.0
 * Devices of a context: opened when a plan first could use one, and given up when they are lost. Where evaluations are not to wait
 * (CLF_COMPILE=background), that is on another thread, once the host executor has run for as long as opening may take; meanwhile plans are
 * made for the host, and made again afterwards. */
#include <stdio.h>
#include <string.h>

#include "device/disk.h"
#include "host/run/gemm.h"
#include "host/run/meter.h"
#include "host/run/run.h"

bool clf_run_wants_host(const clf_ctx *c) { return !clf_run_named(c); }

static clf_dev_opts device_opts(clf_ctx *c) {
    return (clf_dev_opts){.mem = &c->mem,
                          .log = &c->trace,
                          .cache_dir = c->knobs.cache_dir,
                          .max_alloc_bytes = c->knobs.max_alloc,
                          .worker = c->knobs.worker,
                          .worker_ms = (int)c->knobs.worker_ms,
                          .no_host_pointers = !c->knobs.host_pointers,
                          .cache = clf_disk_mode_of(c->knobs.cache),
                          .cache_bytes = c->knobs.cache_bytes,
                          .own = c->run->own,
                          .copies_bytes = c->knobs.device_mem,
                          .clblast = c->knobs.clblast_library,
                          .transfer_queue = !strcmp(c->knobs.transfer_queue, "on") - !strcmp(c->knobs.transfer_queue, "off")};
}

void clf_run_open_devices(clf_ctx *c) {
    clf_run *r = c->run;
    if (r->devs_tried) return;
    clf_err err = {CLF_OK, ""};
    clf_dev_opts o = device_opts(c);
    r->devs_tried = true;
    clf_meter_enter(c->meter, CLF_PART_DEVICES);
    r->devs_status = r->opening ? clf_devs_open_end(r->opening, &r->devs, &err) : clf_devs_open(&r->devs, &o, &err);
    clf_meter_leave(c->meter);
    r->opening = NULL;
    if (r->devs_status != CLF_OK) {
        r->devs = NULL;
        snprintf(r->devs_why, sizeof r->devs_why, "%s", err.text);
    } else
        snprintf(r->devs_why, sizeof r->devs_why, "%s", clf_devs_why(r->devs));
}

/* Opening takes about as long, of another core. */
static const double open_ns = 0.2e9;

clf_status clf_run_device_later(clf_ctx *c, int *dev, clf_err *err) {
    clf_run *r = c->run;
    if (r->devs_tried) return clf_run_device(c, false, dev, err);
    *dev = -1;
    r->wants_devices = true;
    return CLF_OK;
}

static void open_later(clf_ctx *c) {
    clf_run *r = c->run;
    clf_err failed = {CLF_OK, ""};
    clf_dev_opts o = device_opts(c);
    if (!r->opening && r->wants_devices && r->wanted_ns >= open_ns) {
        CLF_TRACE(&c->trace, launch, "opening devices on another thread");
        r->wants_devices = clf_devs_open_begin(&r->opening, &o, &failed) == CLF_OK;
    }
    if (r->opening && clf_devs_open_done(r->opening)) clf_run_open_devices(c);
}

void clf_run_news(clf_ctx *c) {
    clf_run *r = c->run;
    if (!r->devs_tried) open_later(c);
    if (r->devs_tried && r->wants_devices) clf_run_forget(c); /* plans that were made without devices are made again */
    r->wants_devices = r->wants_devices && !r->devs_tried;
    clf_gemm_news(c);
    uint64_t built = clf_programs_asked(r->devs).built;
    if (!clf_programs_arrive(r->devs)) return;
    r->arrivals++;
    c->stats.kernels_built += clf_programs_asked(r->devs).built - built;
}

bool clf_run_await_loads(clf_ctx *c, int ms) {
    enum { SLICE_MS = 20 };
    bool any = clf_programs_asked(c->run->devs).fetching != 0;
    for (; ms > 0 && clf_programs_asked(c->run->devs).fetching; ms -= SLICE_MS) {
        clf_programs_await(c->run->devs, SLICE_MS);
        clf_run_news(c);
    }
    return any;
}

void clf_run_load_profile(clf_ctx *c, const char *name, const char *driver, clf_profile *p) {
    char dir[512], why[256];
    clf_err err = {CLF_OK, ""};
    clf_profile stored = *p;
    if (!clf_cache_dir(c->knobs.cache_dir, dir, sizeof dir, why, sizeof why)) return;
    if (clf_profile_load(dir, name, driver, &stored, &err) == CLF_OK) *p = stored;
}

void clf_run_add_devs(const clf_run *r, clf_stats *s) {
    clf_dev_stats d = clf_devs_stats(r->devs);
    s->build_ns += d.build_ns + d.load_ns;
    s->bytes_to_device += d.bytes_sent;
    s->bytes_from_device += d.bytes_home;
    s->evictions += d.evictions;
    s->kernels_loaded += d.loads;
}

void clf_run_close_devices(clf_ctx *c, void (*close)(clf_devs *)) {
    clf_run *r = c->run;
    if (r->opening) clf_run_open_devices(c);
    clf_run_add_devs(r, &c->stats);
    close(r->devs);
    r->devs = NULL;
    r->devs_tried = false;
    r->used.n = 0;
}

void clf_run_lose(clf_ctx *c, int place) {
    clf_run *r = c->run;
    CLF_TRACE(&c->trace, launch, "device lost: %s",
              !r->lost[place]        ? "opening it once more"
              : clf_run_named(c) > 1 ? "its steps go elsewhere"
                                     : "everything stays on the host");
    clf_run_forget(c);
    clf_run_close_devices(c, clf_devs_abandon);
    r->lost[place]++;
    c->stats.devices_lost++;
}
