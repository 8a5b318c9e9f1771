/* SPDX-License-Identifier: Apache-2.0
 * Programs of earlier processes: the in-process cache asks here before it compiles. An entry answers only when every byte of the question
 * is the same: kernel, text, options, device, driver and what else decides what a driver compiles. Kernels that were built as one
 * program share one entry that holds the program; it is loaded once. Nothing here fails its caller: the compiler is still there. */
#include <stdio.h>
#include <string.h>

#include "device/saved.h"

/* ---- names ---- */

/* What the answer of a driver depends on besides our text. */
static clf_bytes driver_text(clf_devs *d, int dev, char *out, size_t n) {
    clf_dev *v = &d->dev[dev];
    char platform[256] = "";
    cl_platform_id id;
    if (!v->driver_key) {
        bool known = clGetDeviceInfo(v->id, CL_DEVICE_PLATFORM, sizeof id, &id, NULL) == CL_SUCCESS &&
                     clGetPlatformInfo(id, CL_PLATFORM_VERSION, sizeof platform, platform, NULL) == CL_SUCCESS;
        platform[known ? sizeof platform - 1 : 0] = 0;
        v->driver_key = clf_environ_driver_key(platform, v->info.kind == CLF_DEV_CPU);
    }
    int len = snprintf(out, n, "%s\n%s\n%016llx", v->info.driver, v->info.version, (unsigned long long)v->driver_key);
    return (clf_bytes){out, (size_t)len};
}

void clf_saved_ready(clf_devs *d, int dev) {
    char text[3 * CLF_PROFILE_NAME];
    (void)driver_text(d, dev, text, sizeof text);
}

static void key_of(clf_devs *d, int dev, const char *kernel, clf_bytes text, const char *options, clf_str *key) {
    static const char library[] = "clfuse kernels 1"; /* counts up when built kernels of older versions must not be used */
    char device[4 * CLF_PROFILE_NAME], driver[3 * CLF_PROFILE_NAME];
    const clf_dev_info *info = &d->dev[dev].info;
    int len = snprintf(device, sizeof device, "%s\n%s\n%s", info->name, info->vendor, info->platform);
    const clf_bytes field[CLF_NSAVED_FIELDS] = {
        {kernel, strlen(kernel)},     text, {options, strlen(options)}, {device, (size_t)len}, driver_text(d, dev, driver, sizeof driver),
        {library, sizeof library - 1}};
    clf_saved_entry_key(field, key);
}

bool clf_saved_kernel_key(clf_devs *d, int dev, const clf_source *src, clf_str *key, char name[CLF_SAVED_NAME]) {
    clf_str_init(key, d->mem);
    key_of(d, dev, src->entry, (clf_bytes){src->text, src->text_len}, src->options, key);
    if (!key->failed) clf_saved_entry_name(clf_saved_bytes(key), name);
    return !key->failed;
}

/* Their names are its text. */
bool clf_saved_joined_key(clf_devs *d, int dev, const clf_source *const *src, int n, clf_str *key, char name[CLF_SAVED_NAME]) {
    clf_str names;
    bool ok = true;
    clf_str_init(&names, d->mem);
    for (int i = 0; i < n && ok; i++) {
        ok = clf_saved_kernel_key(d, dev, src[i], key, name);
        clf_str_release(key);
        if (ok) clf_str_fmt(&names, "%s\n", name);
    }
    clf_str_init(key, d->mem);
    if (ok && !names.failed) key_of(d, dev, "", clf_saved_bytes(&names), src[0]->options, key);
    ok = ok && !names.failed && !key->failed;
    if (ok) clf_saved_entry_name(clf_saved_bytes(key), name);
    clf_str_release(&names);
    return ok;
}

/* ---- reading ---- */

static clf_status load(clf_devs *d, int dev, const clf_saved_entry *e, const char *name, cl_program *out) {
    clf_err err = {CLF_OK, ""};
    clf_status st = clf_program_from_binary(d, dev, e->payload.at, e->payload.n, out, &err);
    if (st != CLF_OK && st != CLF_E_NOMEM) clf_disk_drop(&d->disk, name, err.text);
    return st;
}

/* Does the program of many hold this kernel, for this device? */
static bool holds(const clf_saved_entry *all, clf_bytes key, const char *name) {
    for (int f = CLF_SAVED_OPTIONS; f < CLF_NSAVED_FIELDS; f++) {
        clf_bytes a, b;
        if (!clf_saved_entry_field_of(all->key, f, &a) || !clf_saved_entry_field_of(key, f, &b)) return false;
        if (a.n != b.n || memcmp(a.at, b.at, a.n)) return false;
    }
    clf_bytes names;
    if (all->kind != CLF_SAVED_BINARY || !clf_saved_entry_field_of(all->key, CLF_SAVED_TEXT, &names)) return false;
    for (; names.n >= CLF_SAVED_NAME; names.at += CLF_SAVED_NAME, names.n -= CLF_SAVED_NAME)
        if (!memcmp(names.at, name, CLF_SAVED_NAME - 1)) return true;
    return false;
}

static cl_program shared_new(clf_devs *d, int dev, clf_bytes key, const char *name, const char *target) {
    clf_shared *s = clf_mem_new(d->mem, 1, sizeof *s);
    clf_str file;
    clf_saved_entry e;
    clf_str_init(&file, d->mem);
    bool ok = s && clf_disk_get(&d->disk, target, (clf_bytes){NULL, 0}, &file, &e) && holds(&e, key, name) &&
              load(d, dev, &e, target, &s->program) == CLF_OK;
    clf_str_release(&file);
    if (!ok) {
        clf_mem_free(d->mem, s, 1, sizeof *s);
        return NULL;
    }
    s->dev = dev;
    memcpy(s->name, target, sizeof s->name);
    s->next = d->shared;
    d->shared = s;
    return s->program;
}

/* The program, with a reference of the caller's; NULL: it cannot be had. */
static cl_program program_of(clf_devs *d, int dev, const clf_saved_entry *e, const char *name) {
    cl_program prog = NULL;
    char target[CLF_SAVED_NAME] = "";
    if (e->kind == CLF_SAVED_BINARY) return load(d, dev, e, name, &prog) == CLF_OK ? prog : NULL;
    if (e->kind != CLF_SAVED_SHARED) return NULL;
    memcpy(target, e->payload.at, sizeof target - 1);
    for (clf_shared *s = d->shared; s && !prog; s = s->next)
        if (s->dev == dev && !strcmp(s->name, target)) prog = s->program;
    if (!prog) prog = shared_new(d, dev, e->key, name, target);
    return prog && clRetainProgram(prog) == CL_SUCCESS ? prog : NULL;
}

clf_program *clf_saved_get(clf_devs *d, int dev, const clf_source *src) {
    char name[CLF_SAVED_NAME];
    clf_str key, file;
    clf_saved_entry e;
    clf_program *p = NULL;
    if (d->disk.mode == CLF_DISK_OFF) return NULL;
    uint64_t start = clf_now_ns();
    clf_str_init(&file, d->mem);
    bool there = clf_saved_kernel_key(d, dev, src, &key, name) && clf_disk_get(&d->disk, name, clf_saved_bytes(&key), &file, &e);
    cl_program built = there ? program_of(d, dev, &e, name) : NULL;
    if (built && clf_program_new(d, dev, src, built, &p, NULL) != CLF_OK) p = NULL;
    if (built) clReleaseProgram(built);
    if (p && p->failed.code != CLF_OK) {
        clf_disk_drop(&d->disk, name, p->failed.text);
        clf_program_free(d, p, true);
        p = NULL;
    }
    clf_str_release(&file);
    clf_str_release(&key);
    uint64_t took = clf_now_ns() - start;
    d->stats.loads += p != NULL;
    d->stats.load_ns += took;
    if (p) CLF_TRACE(d->log, build, "%s for %s: from the disk, %.2f ms", src->entry, d->dev[dev].info.name, (double)took * 1e-6);
    return p;
}
