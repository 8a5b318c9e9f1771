/* SPDX-License-Identifier: Apache-2.0
 * The disk cache: its directory, reading and writing one entry, and locks. See disk.h for what is trusted. Nothing is flushed to the
 * disk on purpose: after a power cut a file may be short or empty, and its digest says so. */
#include "device/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "device/device_internal.h"

enum { FILE_MAX_BYTES = 1 << 28, TOUCH_S = 60, PATIENCE_MS = 30000, STEP_MS = 5, STEP_NS = 5000000 };

static const char folder[] = "/kernels", lock_name[] = "lock";

/* Said once: later reasons are consequences. */
static void explain(clf_disk *d, const char *fmt, ...) {
    va_list ap;
    if (*d->why) return;
    va_start(ap, fmt);
    vsnprintf(d->why, sizeof d->why, fmt, ap);
    va_end(ap);
    CLF_TRACE(d->log, build, "kernel cache: %s", d->why);
}

clf_disk_mode clf_disk_mode_of(const char *text) {
    return !strcmp(text, "on") ? CLF_DISK_ON : !strcmp(text, "readonly") ? CLF_DISK_READONLY : CLF_DISK_OFF;
}

/* ---- the directory ---- */

/* Ours alone. To be read only, one of the system administrator's or one that others may read will do. */
static bool trusted(const struct stat *st, bool reading) {
    bool ours = st->st_uid == geteuid() || (reading && st->st_uid == 0);
    mode_t others = reading ? S_IWGRP | S_IWOTH : S_IRWXG | S_IRWXO;
    return ours && !(st->st_mode & others);
}

static bool enter(clf_disk *d, const char *path, bool reading) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        d->absent = errno == ENOENT;
        explain(d, "%s: %s; kernels are not kept", path, strerror(errno));
        return false;
    }
    if (fstat(fd, &st) || !trusted(&st, reading)) {
        explain(d, "%s is not ours alone (owner, or mode other than 0700); kernels are not kept", path);
        close(fd);
        return false;
    }
    d->dir = fd;
    d->open = true;
    return true;
}

static void open_readonly(clf_disk *d, const char *base, const char *path) {
    struct stat st;
    int rc = stat(base, &st);
    d->absent = rc && errno == ENOENT;
    bool safe = !rc && S_ISDIR(st.st_mode) && trusted(&st, true);
    if (!safe && !*d->why) explain(d, "%s is no cache directory of ours; kernels are not kept", base);
    d->mode = safe && enter(d, path, true) ? CLF_DISK_READONLY : CLF_DISK_OFF;
}

static void open_writable(clf_disk *d, const char *path) {
    d->mode = CLF_DISK_OFF;
    if (mkdir(path, 0700) && errno != EEXIST) {
        explain(d, "%s cannot be created: %s; kernels are not kept", path, strerror(errno));
        return;
    }
    if (!enter(d, path, false)) return;
    d->lock = openat(d->dir, lock_name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    d->mode = CLF_DISK_ON;
}

void clf_disk_open(clf_disk *d, clf_mem *mem, const clf_trace *log, const char *cache_dir, clf_disk_mode mode, size_t limit_bytes) {
    char base[CLF_DEV_PATH], path[CLF_DEV_PATH + sizeof folder], why[CLF_DEV_WHY / 2] = "";
    *d = (clf_disk){.mem = mem, .log = log, .mode = mode, .dir = -1, .lock = -1, .limit_bytes = limit_bytes};
    if (mode == CLF_DISK_OFF) return;
    bool usable = mode == CLF_DISK_ON && clf_cache_dir(cache_dir, base, sizeof base, why, sizeof why);
    if (!usable && !clf_cache_dir_name(cache_dir, base, sizeof base, why, sizeof why)) {
        explain(d, "%s; kernels are not kept", why);
        d->mode = CLF_DISK_OFF;
        return;
    }
    snprintf(path, sizeof path, "%s%s", base, folder);
    if (!usable && *why) explain(d, "%s; kernels are read from there at most, not kept", why);
    if (usable)
        open_writable(d, path);
    else
        open_readonly(d, base, path);
}

void clf_disk_close(clf_disk *d) {
    if (d->open) close(d->dir);
    if (d->open && d->lock >= 0) close(d->lock);
    d->open = false;
    d->mode = CLF_DISK_OFF;
    d->nheld = 0;
}

/* ---- reading ---- */

static bool read_all(int fd, size_t n, clf_str *to) {
    char *at = clf_str_space(to, n);
    for (size_t done = 0; at && done < n;) {
        ssize_t got = read(fd, at + done, n - done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return at;
}

/* A file of this name, to be trusted, and not larger than any entry is; -1: errno says. */
static int open_file(const clf_disk *d, const char *name, struct stat *st) {
    int fd = openat(d->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) return -1;
    bool good = !fstat(fd, st) && S_ISREG(st->st_mode) && st->st_nlink == 1 && trusted(st, d->mode == CLF_DISK_READONLY) &&
                st->st_size > 0 && st->st_size <= FILE_MAX_BYTES;
    if (good) return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* A use is noted at most once a minute: only the order of many entries matters. */
static void touch(const clf_disk *d, int fd, const struct stat *st) {
    if (d->mode == CLF_DISK_ON && time(NULL) - st->st_mtime > TOUCH_S) (void)futimens(fd, NULL);
}

static clf_status read_entry(const clf_disk *d, const char *name, bool use, clf_str *file, clf_saved_entry *out, clf_err *err) {
    struct stat st;
    int fd = open_file(d, name, &st);
    if (fd < 0 && errno == ENOENT) return clf_fail(err, CLF_E_NAME, "there is no such entry");
    if (fd < 0) return clf_fail(err, CLF_E_FORMAT, "not a plain file of ours alone");
    bool whole = read_all(fd, (size_t)st.st_size, file);
    clf_status s = whole          ? clf_saved_entry_read(file->at, file->len, out, err)
                   : file->failed ? clf_fail(err, CLF_E_NOMEM, "no memory to read it")
                                  : clf_fail(err, CLF_E_IO, "it cannot be read");
    if (s == CLF_OK && use) touch(d, fd, &st);
    close(fd);
    return s;
}

clf_status clf_disk_check(const clf_disk *d, const char *name, clf_str *file, clf_saved_entry *out, clf_err *err) {
    return d->open ? read_entry(d, name, false, file, out, err) : clf_fail(err, CLF_E_NAME, "there is no cache");
}

bool clf_disk_get(clf_disk *d, const char *name, clf_bytes key, clf_str *file, clf_saved_entry *out) {
    clf_err err = {CLF_OK, ""};
    if (d->mode == CLF_DISK_OFF) return false;
    clf_status st = read_entry(d, name, true, file, out, &err);
    if (st != CLF_OK && st != CLF_E_NAME && st != CLF_E_NOMEM) clf_disk_drop(d, name, err.text);
    return st == CLF_OK && (!key.n || (out->key.n == key.n && !memcmp(out->key.at, key.at, key.n)));
}

void clf_disk_drop(clf_disk *d, const char *name, const char *reason) {
    CLF_TRACE(d->log, build, "kernel cache: entry %s is left out: %s", name, reason);
    if (d->mode == CLF_DISK_ON) unlinkat(d->dir, name, 0);
}

/* ---- writing ---- */

static bool write_all(int fd, const char *p, size_t n) {
    while (n) {
        ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        p += put;
        n -= (size_t)put;
    }
    return true;
}

static bool replace(clf_disk *d, const char *name, const clf_str *bytes) {
    char temp[96];
    snprintf(temp, sizeof temp, "temp-%.8s-%lx-%llx", name, (long)getpid(), (unsigned long long)clf_now_ns());
    int fd = openat(d->dir, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write_all(fd, bytes->at, bytes->len);
    int cause = errno;
    if (fd >= 0 && close(fd)) ok = false;
    if (ok && renameat(d->dir, temp, d->dir, name)) ok = false, cause = errno;
    if (ok) return true;
    if (fd >= 0) unlinkat(d->dir, temp, 0);
    explain(d, "cannot be written: %s; from here on kernels are not kept", strerror(cause));
    d->mode = CLF_DISK_READONLY;
    return false;
}

/* Now and then: is the directory too large? */
static void keep_small(clf_disk *d, size_t n) {
    d->grown_bytes += n;
    if (!d->limit_bytes || (d->measured && d->grown_bytes < d->limit_bytes / 8)) return;
    clf_disk_prune(d, d->limit_bytes, NULL, NULL, NULL);
    d->measured = true;
    d->grown_bytes = 0;
}

bool clf_disk_put(clf_disk *d, const clf_saved_entry *e) {
    char name[CLF_SAVED_NAME];
    clf_str bytes;
    if (d->mode != CLF_DISK_ON) return false;
    clf_str_init(&bytes, d->mem);
    clf_saved_entry_write(e, &bytes);
    clf_saved_entry_name(e->key, name);
    bool fits = !bytes.failed && bytes.len <= FILE_MAX_BYTES && (!d->limit_bytes || bytes.len <= d->limit_bytes);
    bool kept = fits && replace(d, name, &bytes);
    if (kept) keep_small(d, bytes.len);
    clf_str_release(&bytes);
    return kept;
}

/* ---- locks: one byte each of one file, of the process (never against itself), gone when it dies ---- */

static uint64_t place_of(const char *name) {
    uint64_t at = 0;
    for (int i = 0; i < 15 && name[i]; i++) at = at << 4 | (uint64_t)(name[i] <= '9' ? name[i] - '0' : name[i] - 'a' + 10);
    return at;
}

static bool lock_set(const clf_disk *d, uint64_t at, short type) {
    struct flock l = {.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)at, .l_len = 1};
    return fcntl(d->lock, F_SETLK, &l) == 0;
}

bool clf_disk_lock(clf_disk *d, const char *name) {
    uint64_t at = place_of(name);
    bool waited = false, mine = false;
    if (d->mode != CLF_DISK_ON || d->lock < 0 || d->nheld == CLF_DISK_LOCKS) return false;
    for (int ms = 0; !(mine = lock_set(d, at, F_WRLCK)) && (errno == EAGAIN || errno == EACCES) && !d->nheld && ms < PATIENCE_MS;
         ms += STEP_MS) {
        const struct timespec step = {.tv_nsec = STEP_NS};
        if (!waited) CLF_TRACE(d->log, build, "kernel cache: another process builds %s", name);
        nanosleep(&step, NULL);
        waited = true;
    }
    if (mine) {
        d->held[d->nheld++] = at;
    } else if (waited) { /* whoever it is, he does not come to an end: never wait again */
        close(d->lock);
        d->lock = -1;
    }
    return waited;
}

bool clf_disk_try(clf_disk *d, const char *name) {
    if (d->mode != CLF_DISK_ON || d->lock < 0 || d->nheld == CLF_DISK_LOCKS) return true;
    if (lock_set(d, place_of(name), F_WRLCK)) {
        d->held[d->nheld++] = place_of(name);
        return true;
    }
    return errno != EAGAIN && errno != EACCES;
}

void clf_disk_unlock(clf_disk *d, const char *name) {
    uint64_t at = place_of(name);
    for (int i = 0; i < d->nheld; i++)
        if (d->held[i] == at) {
            lock_set(d, at, F_UNLCK);
            d->held[i] = d->held[--d->nheld];
            return;
        }
}
