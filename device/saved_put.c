/* SPDX-License-Identifier: Apache-2.0
 * Keeping built programs for the next process.
 *
 * A program is kept when it has run, not when it was built: PoCL compiles the form that runs at the first launch, and only then is it in
 * the binary. So kernels just built wait on a list until the device has been waited for, those not launched by then until the end. A
 * lock is held from before building until that wait: who needs the same kernel meanwhile finds it instead of building it. */
#include <string.h>

#include "device/saved.h"

static bool name_of(clf_devs *d, int dev, const clf_source *const *src, int n, char name[CLF_SAVED_NAME]) {
    clf_str key;
    bool ok = n > 1 ? clf_saved_joined_key(d, dev, src, n, &key, name) : clf_saved_kernel_key(d, dev, src[0], &key, name);
    clf_str_release(&key);
    return ok;
}

bool clf_saved_claim(clf_devs *d, int dev, const clf_source *const *src, int n, clf_claim *out) {
    *out = (clf_claim){""};
    if (d->disk.mode != CLF_DISK_ON || n < 1 || !name_of(d, dev, src, n, out->name)) return false;
    clf_disk_lock(&d->disk, out->name);
    return true;
}

void clf_saved_unclaim(clf_devs *d, const clf_claim *claim) {
    if (*claim->name) clf_disk_unlock(&d->disk, claim->name);
}

void clf_saved_later(clf_devs *d, int dev, const clf_claim *claim, clf_program *const *p, int n) {
    size_t bytes = sizeof(clf_unsaved), part;
    bool fits = n > 0 && clf_mul_ok((size_t)n, sizeof *p, &part) && clf_add_ok(bytes, part, &bytes);
    clf_unsaved *u = fits && d->disk.mode == CLF_DISK_ON ? clf_mem_new(d->mem, 1, bytes) : NULL;
    if (!u) {
        clf_saved_unclaim(d, claim);
        return;
    }
    u->dev = dev;
    u->n = n;
    u->claim = *claim;
    memcpy(u->of, p, part);
    u->next = d->unsaved;
    d->unsaved = u;
}

/* ---- writing ---- */

static bool put(clf_disk *disk, uint32_t kind, const clf_str *key, clf_bytes payload) {
    return clf_disk_put(disk, &(clf_saved_entry){.kind = kind, .key = clf_saved_bytes(key), .payload = payload});
}

/* The entry that holds the program; its name in `name`. */
static bool put_program(clf_devs *d, clf_disk *disk, int dev, const clf_source *const *src, int n, clf_bytes binary,
                        char name[CLF_SAVED_NAME]) {
    clf_str key;
    bool ok = n > 1 ? clf_saved_joined_key(d, dev, src, n, &key, name) : clf_saved_kernel_key(d, dev, src[0], &key, name);
    ok = ok && put(disk, CLF_SAVED_BINARY, &key, binary);
    clf_str_release(&key);
    return ok;
}

/* The entry of one kernel of many. */
static bool put_member(clf_devs *d, clf_disk *disk, int dev, const clf_source *src, const char *holder) {
    clf_str key;
    char name[CLF_SAVED_NAME];
    bool ok = clf_saved_kernel_key(d, dev, src, &key, name) && put(disk, CLF_SAVED_SHARED, &key, (clf_bytes){holder, CLF_SAVED_NAME - 1});
    clf_str_release(&key);
    return ok;
}

bool clf_saved_put(clf_devs *d, clf_disk *disk, int dev, clf_program *const *p, int n, const void *binary, size_t bytes) {
    char holder[CLF_SAVED_NAME];
    if (disk->mode != CLF_DISK_ON) return false;
    clf_source *src = clf_mem_new(d->mem, (size_t)n, sizeof *src);
    const clf_source **at = clf_mem_new(d->mem, (size_t)n, sizeof *at);
    bool ok = src && at;
    for (int i = 0; ok && i < n; i++) {
        src[i] = clf_program_source(p[i]);
        at[i] = &src[i];
    }
    ok = ok && put_program(d, disk, dev, at, n, (clf_bytes){binary, bytes}, holder);
    for (int i = 0; ok && n > 1 && i < n; i++) ok = put_member(d, disk, dev, at[i], holder);
    clf_mem_free(d->mem, at, (size_t)n, sizeof *at);
    clf_mem_free(d->mem, src, (size_t)n, sizeof *src);
    return ok;
}

static void save(clf_devs *d, const clf_unsaved *u) {
    void *bin = NULL;
    size_t n = 0;
    clf_err err = {CLF_OK, ""};
    uint64_t start = clf_now_ns();
    if (d->disk.mode != CLF_DISK_ON) return;
    bool ok = clf_program_binary(d, u->dev, u->of[0]->program, d->mem, &bin, &n, &err) == CLF_OK &&
              clf_saved_put(d, &d->disk, u->dev, u->of, u->n, bin, n);
    if (ok) d->stats.saves++;
    CLF_TRACE(d->log, build, "%s and %d more for %s: %s, %zu bytes, %.1f ms %s", u->of[0]->entry, u->n - 1, d->dev[u->dev].info.name,
              ok ? "kept on disk" : "not kept", n, (double)(clf_now_ns() - start) * 1e-6, err.text);
    clf_mem_free(d->mem, bin, n, 1);
}

static bool ran(const clf_unsaved *u) {
    for (int i = 0; i < u->n; i++)
        if (!u->of[i]->launched) return false;
    return true;
}

static void forget(clf_devs *d, clf_unsaved **at) {
    clf_unsaved *u = *at;
    *at = u->next;
    clf_saved_unclaim(d, &u->claim);
    clf_mem_free(d->mem, u, 1, sizeof *u + (size_t)u->n * sizeof *u->of);
}

void clf_saved_now(clf_devs *d, int dev) {
    for (clf_unsaved **at = &d->unsaved; *at;) {
        clf_unsaved *u = *at;
        if (u->dev == dev && ran(u)) {
            save(d, u);
            forget(d, at);
            continue;
        }
        if (u->dev == dev) {
            clf_saved_unclaim(d, &u->claim);
            u->claim = (clf_claim){""};
        }
        at = &u->next;
    }
}

void clf_saved_close(clf_devs *d, bool alive, bool keep) {
    while (d->unsaved) {
        if (keep && !d->dev[d->unsaved->dev].busy) save(d, d->unsaved);
        forget(d, &d->unsaved);
    }
    while (d->shared) {
        clf_shared *s = d->shared;
        d->shared = s->next;
        if (alive) clReleaseProgram(s->program);
        clf_mem_free(d->mem, s, 1, sizeof *s);
    }
    clf_disk_close(&d->disk);
}
