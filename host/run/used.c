/* SPDX-License-Identifier: Apache-2.0
 * Which OpenCL devices plans are for: the one that the device setting names, or those of its list, in its order, each with its profile.
 * A profile file is theirs in the same order; the last one stands for all behind it. A device that was lost twice is left out until a
 * setting changes; what a list names must be there when it is looked for first, and may be missing after a loss. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "host/run/exe_kernels.h"
#include "host/run/gemm.h"
#include "host/run/run.h"

/* ---- lists ---- */

/* The element at *at, which moves behind it; false at the end. Blanks around it do not count. */
static bool element(const char **at, char out[CLF_KNOB_TEXT_MAX]) {
    const char *p = *at;
    if (!p) return false;
    size_t n = strcspn(p, ",");
    *at = p[n] ? p + n + 1 : NULL;
    while (n && *p == ' ') p++, n--;
    while (n && p[n - 1] == ' ') n--;
    if (n >= CLF_KNOB_TEXT_MAX) n = CLF_KNOB_TEXT_MAX - 1;
    memcpy(out, p, n);
    out[n] = 0;
    return true;
}

static bool is_host(const char *name) { return !strcasecmp(name, "host") || !strcmp(name, "0"); }

int clf_run_named(const clf_ctx *c) {
    const char *at = c->knobs.device;
    char name[CLF_KNOB_TEXT_MAX];
    int n = 0;
    while (element(&at, name) && n < CLF_MOST_OPENCL) n += !is_host(name);
    return n;
}

/* ---- profiles ---- */

static clf_status read_pinned(const char *path, clf_profile *p, clf_err *err) {
    FILE *f = fopen(path, "rb");
    char text[16384];
    if (!f) return clf_fail(err, CLF_E_IO, "cannot open profile '%s'", path);
    size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    return clf_profile_parse(p, text, n, err);
}

/* The file for the device at that place: a list is in the order of the devices. */
static clf_status pinned_profile(const clf_ctx *c, int place, clf_profile *p, clf_err *err) {
    const char *at = clf_run_named(c) > 1 ? c->knobs.profile_file : NULL;
    char path[CLF_KNOB_TEXT_MAX];
    if (!c->knobs.profile_file[0]) return CLF_OK;
    snprintf(path, sizeof path, "%s", c->knobs.profile_file);
    for (int i = 0; i <= place && element(&at, path); i++) {
    }
    return read_pinned(path, p, err);
}

static clf_status use(clf_ctx *c, int dev, int place, bool several, clf_err *err) {
    clf_run *r = c->run;
    clf_used *u = &r->used;
    const clf_dev_info *info = clf_devs_info(r->devs, dev);
    clf_profile *p = &u->profile[u->n];
    clf_dev_assume(r->devs, dev, p);
    clf_run_load_profile(c, info->name, info->driver, p);
    CLF_TRY(pinned_profile(c, place, p, err));
    clf_gemm_unready(u, u->n);
    u->at[u->n] = dev;
    u->place[u->n] = place;
    if (several)
        snprintf(u->name[u->n], sizeof u->name[u->n], "%d: %s", dev + 1, info->name);
    else
        snprintf(u->name[u->n], sizeof u->name[u->n], "%s", info->name);
    u->n++;
    clf_generic_fetch(c, dev);
    return CLF_OK;
}

/* ---- the setting ---- */

/* Nothing usable there. A later evaluation looks again: drivers come back. */
static clf_status no_device(clf_ctx *c, clf_err *err) {
    clf_run *r = c->run;
    bool memory = r->devs_status == CLF_E_NOMEM;
    clf_run_close_devices(c, clf_devs_close);
    return clf_fail(err, memory ? CLF_E_NOMEM : CLF_E_NODEV, "no OpenCL device: %s", r->devs_why);
}

static clf_status missing(clf_ctx *c, const char *name, clf_err *err) {
    if (!c->run->devs || !clf_devs_count(c->run->devs)) return no_device(c, err);
    return clf_fail(err, CLF_E_NODEV, "no device matches '%s' (see clfuse info)", name);
}

static bool any_lost(const clf_run *r) {
    for (int i = 0; i < CLF_MOST_OPENCL; i++)
        if (r->lost[i]) return true;
    return false;
}

static clf_status use_named(clf_ctx *c, bool required, clf_err *err) {
    clf_run *r = c->run;
    const char *at = c->knobs.device;
    char name[CLF_KNOB_TEXT_MAX];
    bool several = clf_run_named(c) > 1;
    for (int place = 0; place < CLF_MOST_OPENCL && element(&at, name);) {
        if (is_host(name)) continue;
        int d = r->devs && r->lost[place] < 2 ? clf_devs_find(r->devs, name) : -1;
        bool gone = r->lost[place] > 1 || (several && any_lost(r));
        if (d < 0 && required && !gone) return missing(c, name, err);
        if (d >= 0 && clf_run_use_of(c, d) >= 0)
            return clf_fail(err, CLF_E_ARG, "device '%s' is named twice in '%s'", name, c->knobs.device);
        if (d >= 0) CLF_TRY(use(c, d, place, several, err));
        place++;
    }
    return CLF_OK;
}

clf_status clf_run_device(clf_ctx *c, bool required, int *dev, clf_err *err) {
    clf_run *r = c->run;
    *dev = r->used.n ? r->used.at[0] : -1;
    if (r->used.n) return CLF_OK;
    clf_run_open_devices(c);
    clf_status st = use_named(c, required, err);
    if (st != CLF_OK) r->used.n = 0;
    bool gone = clf_run_named(c) > 1 && any_lost(r);
    if (st == CLF_OK && required && !r->used.n && !gone) return missing(c, c->knobs.device, err);
    *dev = r->used.n ? r->used.at[0] : -1;
    return st;
}

int clf_run_use_of(const clf_ctx *c, int dev) {
    const clf_used *u = &c->run->used;
    for (int i = 0; i < u->n; i++)
        if (u->at[i] == dev) return i;
    return -1;
}

bool clf_run_lost(const clf_ctx *c) {
    int named = clf_run_named(c), lost = 0;
    for (int i = 0; i < named; i++) lost += c->run->lost[i] > 1;
    return named > 0 && lost == named;
}
