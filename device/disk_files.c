/* SPDX-License-Identifier: Apache-2.0
 * The disk cache as a whole: its files, and which of them go when it is too large. Other processes may add and remove files meanwhile:
 * what has gone already is none of our business. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "device/disk.h"

enum { STALE_S = 600 };

static bool add(clf_disk *d, clf_disk_file **list, size_t *n, size_t *cap, const struct dirent *e, const struct stat *st) {
    if (*n == *cap) {
        clf_disk_file *grown = clf_mem_grow(d->mem, *list, *cap, *cap ? 2 * *cap : 64, sizeof **list);
        if (!grown) return false;
        *list = grown;
        *cap = *cap ? 2 * *cap : 64;
    }
    clf_disk_file *f = &(*list)[(*n)++];
    *f = (clf_disk_file){.bytes = (uint64_t)st->st_size, .used_s = (int64_t)st->st_mtime};
    memcpy(f->name, e->d_name, sizeof f->name);
    return true;
}

/* Younger first, then by name. */
static int by_use(const void *a, const void *b) {
    const clf_disk_file *x = a, *y = b;
    if (x->used_s != y->used_s) return x->used_s < y->used_s ? 1 : -1;
    return memcmp(x->name, y->name, sizeof x->name);
}

static DIR *list(const clf_disk *d, clf_err *err) {
    int fd = openat(d->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (dir) return dir;
    clf_fail(err, CLF_E_IO, "the kernel cache cannot be listed: %s", strerror(errno));
    if (fd >= 0) close(fd);
    return NULL;
}

clf_status clf_disk_files(clf_disk *d, clf_disk_file **out, size_t *n, clf_err *err) {
    clf_disk_file *found = NULL;
    size_t count = 0, cap = 0;
    bool room = true;
    DIR *dir = d->open ? list(d, err) : NULL;
    if (d->open && !dir) return CLF_E_IO;
    for (struct dirent *e; room && dir && (e = readdir(dir));) {
        struct stat st;
        if (!clf_saved_entry_is_name(e->d_name, strlen(e->d_name))) continue;
        if (fstatat(d->dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode)) continue;
        room = add(d, &found, &count, &cap, e, &st);
    }
    if (dir) closedir(dir);
    clf_disk_file *exact = room ? clf_mem_new(d->mem, count, sizeof *exact) : NULL;
    if (exact && count) memcpy(exact, found, count * sizeof *exact);
    clf_mem_free(d->mem, found, cap, sizeof *found);
    if (!exact) return clf_fail(err, CLF_E_NOMEM, "no memory to list the kernel cache");
    qsort(exact, count, sizeof *exact, by_use);
    *out = exact;
    *n = count;
    return CLF_OK;
}

/* Half-written files whose writer must be dead by now. */
static void sweep(const clf_disk *d) {
    DIR *dir = list(d, NULL);
    time_t now = time(NULL);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        struct stat st;
        if (strncmp(e->d_name, "temp-", 5) || fstatat(d->dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW)) continue;
        if (now - st.st_mtime > STALE_S) unlinkat(d->dir, e->d_name, 0);
    }
    if (dir) closedir(dir);
}

clf_status clf_disk_prune(clf_disk *d, uint64_t keep_bytes, uint64_t *files, uint64_t *bytes, clf_err *err) {
    clf_disk_file *f = NULL;
    size_t n = 0;
    uint64_t kept = 0, gone = 0, gone_bytes = 0;
    if (d->mode != CLF_DISK_ON)
        return clf_fail(err, CLF_E_STATE, "the kernel cache is not open for writing%s%s", *d->why ? ": " : "", d->why);
    CLF_TRY(clf_disk_files(d, &f, &n, err));
    for (size_t i = 0; i < n; i++) {
        if (f[i].bytes <= keep_bytes - kept) {
            kept += f[i].bytes;
            continue;
        }
        kept = keep_bytes; /* from here on all are older */
        if (unlinkat(d->dir, f[i].name, 0)) continue;
        gone++;
        gone_bytes += f[i].bytes;
    }
    clf_mem_free(d->mem, f, n, sizeof *f);
    sweep(d);
    if (files) *files = gone;
    if (bytes) *bytes = gone_bytes;
    return CLF_OK;
}
