/* SPDX-License-Identifier: Apache-2.0
 * The folder of built kernels and plans as the public API shows it. Devices are not asked: the folder is looked at as files. */
#include <stdio.h>
#include <string.h>

#include "device/disk.h"
#include "host/run/run.h"

static clf_status open_folder(clf_ctx *c, clf_disk *d, clf_disk_mode mode, clf_err *err) {
    CLF_TRY(clf_ctx_usable(c, err));
    clf_disk_open(d, &c->mem, NULL, c->knobs.cache_dir, mode, 0);
    if (d->mode == mode || d->absent) return CLF_OK;
    clf_fail(err, CLF_E_IO, "the kernel cache cannot be used: %s", d->why);
    clf_disk_close(d);
    return CLF_E_IO;
}

/* A field as a text of its own, behind the others. Line ends become blanks where it is to be one line. */
static size_t text_of(const clf_saved_entry *e, clf_saved_entry_field f, bool line, clf_str *to) {
    clf_bytes b = {"", 0};
    size_t at = to->len;
    (void)clf_saved_entry_field_of(e->key, f, &b);
    if (e->kind == CLF_SAVED_COVER && f == CLF_SAVED_TEXT) b = clf_covers_split(e->payload).program;
    clf_str_putn(to, b.at, b.n);
    for (size_t i = at; line && !to->failed && i < to->len; i++)
        if ((unsigned char)to->at[i] < ' ') to->at[i] = ' ';
    clf_str_putn(to, "", 1);
    return at;
}

static clf_status tell(const clf_disk *d, clf_mem *mem, const clf_disk_file *f, bool *sound, clf_cache_fn fn, void *user, clf_err *err) {
    clf_str file, text;
    clf_saved_entry e;
    clf_err why = {CLF_OK, ""};
    clf_cache_entry out = {.struct_size = sizeof out, .name = f->name, .bytes = f->bytes, .used_s = f->used_s};
    out.kernel = out.device = out.driver = out.text = "";
    clf_str_init(&file, mem);
    clf_str_init(&text, mem);
    clf_status st = clf_disk_check(d, f->name, &file, &e, &why);
    *sound = out.sound = st == CLF_OK;
    if (st == CLF_OK) {
        size_t kernel = text_of(&e, CLF_SAVED_KERNEL, true, &text), device = text_of(&e, CLF_SAVED_DEVICE, true, &text),
               driver = text_of(&e, CLF_SAVED_DRIVER, true, &text), all = text_of(&e, CLF_SAVED_TEXT, false, &text);
        const char *at = clf_str_c(&text);
        if (e.kind == CLF_SAVED_BINARY) out.binary_bytes = e.payload.n;
        out.plan = e.kind == CLF_SAVED_COVER;
        out.kernel = at + kernel, out.device = at + device, out.driver = at + driver, out.text = at + all;
    }
    bool memory = st == CLF_E_NOMEM || text.failed;
    if (!memory && st != CLF_E_NAME) fn(user, &out);
    clf_str_release(&text);
    clf_str_release(&file);
    return memory ? clf_fail(err, CLF_E_NOMEM, "no memory to list the kernel cache") : CLF_OK;
}

static clf_status list_locked(clf_ctx *c, bool repair, clf_cache_fn fn, void *user, clf_err *err) {
    clf_disk d;
    clf_disk_file *f = NULL;
    size_t n = 0;
    bool sound;
    CLF_TRY(open_folder(c, &d, repair ? CLF_DISK_ON : CLF_DISK_READONLY, err));
    clf_status st = clf_disk_files(&d, &f, &n, err);
    for (size_t i = 0; st == CLF_OK && i < n; i++) {
        st = tell(&d, &c->mem, &f[i], &sound, fn, user, err);
        if (st == CLF_OK && !sound && repair) clf_disk_drop(&d, f[i].name, "not sound");
    }
    clf_mem_free(&c->mem, f, n, sizeof *f);
    clf_disk_close(&d);
    return st;
}

clf_status clf_cache_list(clf_ctx *c, bool repair, clf_cache_fn fn, void *user) {
    if (!c || !fn) return CLF_E_ARG;
    clf_err err = {CLF_OK, ""};
    clf_ctx_lock(c);
    clf_status st = list_locked(c, repair, fn, user, &err);
    if (st != CLF_OK) clf_ctx_fail(c, &err);
    clf_ctx_unlock(c);
    return st;
}

/* The driver's own cache goes with ours: it is in the same folder. */
static void clear_driver(clf_ctx *c, uint64_t *files, uint64_t *bytes) {
    char folder[CLF_ERR_TEXT], none[8];
    uint64_t n = 0, size = 0;
    if (!clf_cache_dir_name(c->knobs.cache_dir, folder, sizeof folder, none, sizeof none)) return;
    if (!clf_driver_files_remove(folder, "pocl", &n, &size))
        CLF_TRACE(&c->trace, build, "kernel cache: what the driver keeps in %s/pocl stays, a process uses it", folder);
    if (files) *files += n;
    if (bytes) *bytes += size;
}

static clf_status prune_locked(clf_ctx *c, uint64_t keep_bytes, uint64_t *files, uint64_t *bytes, clf_err *err) {
    clf_disk d;
    CLF_TRY(open_folder(c, &d, CLF_DISK_ON, err));
    clf_status st = clf_disk_prune(&d, keep_bytes, files, bytes, err);
    if (st == CLF_OK && !keep_bytes) clear_driver(c, files, bytes);
    clf_disk_close(&d);
    return st;
}

clf_status clf_cache_prune(clf_ctx *c, uint64_t keep_bytes, uint64_t *files, uint64_t *bytes) {
    if (!c) return CLF_E_ARG;
    clf_err err = {CLF_OK, ""};
    clf_ctx_lock(c);
    clf_status st = prune_locked(c, keep_bytes, files, bytes, &err);
    if (st != CLF_OK) clf_ctx_fail(c, &err);
    clf_ctx_unlock(c);
    return st;
}

/* What the device layer met, if it is open; what it would meet. */
static void explain_locked(clf_ctx *c) {
    clf_run *r = c->run;
    clf_disk d;
    clf_disk_mode mode = clf_disk_mode_of(c->knobs.cache);
    char none[8];
    if (!clf_cache_dir_name(c->knobs.cache_dir, r->cache_folder, sizeof r->cache_folder, none, sizeof none)) *r->cache_folder = 0;
    size_t at = strlen(r->cache_folder);
    if (at) snprintf(r->cache_folder + at, sizeof r->cache_folder - at, "/kernels");
    *r->cache_why = 0;
    if (mode == CLF_DISK_OFF) {
        snprintf(r->cache_why, sizeof r->cache_why, "the setting cache is off");
    } else if (r->devs) {
        snprintf(r->cache_why, sizeof r->cache_why, "%s", clf_devs_cache_why(r->devs));
    } else {
        clf_disk_open(&d, &c->mem, NULL, c->knobs.cache_dir, mode, 0);
        snprintf(r->cache_why, sizeof r->cache_why, "%s", d.why);
        clf_disk_close(&d);
    }
    if (!*r->cache_why && mode == CLF_DISK_READONLY) snprintf(r->cache_why, sizeof r->cache_why, "the setting cache is readonly");
}

const char *clf_cache_folder(clf_ctx *c, const char **why) {
    clf_err err = {CLF_OK, ""};
    if (why) *why = "";
    if (!c) return "";
    clf_ctx_lock(c);
    bool usable = clf_ctx_usable(c, &err) == CLF_OK;
    if (usable) explain_locked(c);
    clf_ctx_unlock(c);
    if (!usable) return "";
    if (why) *why = c->run->cache_why;
    return c->run->cache_folder;
}
