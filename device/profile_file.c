/* SPDX-License-Identifier: Apache-2.0
 * Profiles on disk: <dir>/profile-<device name, sanitised>-<hash of name, driver and what figures mean>.txt. Written to a temporary file
 * and renamed, so a reader sees an old profile or a new one, never half of one; a new driver has a new name. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "device/device_internal.h"

enum {
    FILE_MAX_BYTES = 16384,
    FIGURES = 3 /* counts up when a figure comes to mean something else: files of before are then not found, and all is measured anew */
};

static clf_status path_of(const char *dir, const char *name, const char *driver, char out[CLF_DEV_PATH], clf_err *err) {
    char key[2 * CLF_PROFILE_NAME + 16], safe[49];
    size_t n = 0;
    if (!dir || !*dir) return clf_fail(err, CLF_E_IO, "no cache directory for the profile of '%s'", name);
    for (const char *s = name; *s && n < sizeof safe - 1; s++) {
        bool word = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9');
        if (word || (n && safe[n - 1] != '-')) safe[n++] = word ? *s : '-';
    }
    safe[n] = 0;
    int len = snprintf(key, sizeof key, "%s\n%s\n%d", name, driver, FIGURES);
    uint64_t h = clf_hash64(key, (size_t)len < sizeof key ? (size_t)len : sizeof key - 1, 0);
    len = snprintf(out, CLF_DEV_PATH, "%s/profile-%s-%016llx.txt", dir, safe, (unsigned long long)h);
    if (len >= CLF_DEV_PATH) return clf_fail(err, CLF_E_IO, "the path of the cache directory is too long");
    return CLF_OK;
}

static clf_status io_failed(const char *what, const char *path, clf_err *err) {
    return clf_fail(err, CLF_E_IO, "%s %s: %s", what, path, strerror(errno));
}

static clf_status read_all(const char *path, char *text, size_t cap, size_t *n, clf_err *err) {
    int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return io_failed("cannot open profile", path, err);
    ssize_t got = 1;
    for (*n = 0; *n < cap && (got = read(fd, text + *n, cap - *n)) > 0;) *n += (size_t)got;
    clf_status st = got < 0 ? io_failed("cannot read profile", path, err) : CLF_OK;
    if (st == CLF_OK && *n == cap) st = clf_fail(err, CLF_E_FORMAT, "profile %s is too long", path);
    close(fd);
    return st;
}

clf_status clf_profile_load(const char *dir, const char *device_name, const char *driver, clf_profile *out, clf_err *err) {
    char path[CLF_DEV_PATH], text[FILE_MAX_BYTES];
    size_t n = 0;
    clf_err why = {0};
    CLF_TRY(path_of(dir, device_name, driver, path, err));
    CLF_TRY(read_all(path, text, sizeof text, &n, err));
    clf_profile p = *out;
    clf_status st = clf_profile_parse(&p, text, n, &why);
    if (st != CLF_OK) return clf_fail(err, st, "%s: %s", path, why.text);
    if (strcmp(p.name, device_name) || strcmp(p.driver, driver))
        return clf_fail(err, CLF_E_FORMAT, "profile %s is of another device or driver", path);
    *out = p;
    return CLF_OK;
}

static bool write_all(int fd, const char *text, size_t n) {
    while (n) {
        ssize_t put = write(fd, text, n);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        text += put;
        n -= (size_t)put;
    }
    return fsync(fd) == 0;
}

static clf_status replace_file(const char *path, const clf_str *text, clf_err *err) {
    char temp[CLF_DEV_PATH + 8];
    snprintf(temp, sizeof temp, "%s.XXXXXX", path);
    int fd = mkostemp(temp, O_CLOEXEC);
    if (fd < 0) return io_failed("cannot write profile", path, err);
    bool ok = write_all(fd, clf_str_c(text), text->len);
    ok &= close(fd) == 0;
    if (ok && rename(temp, path) == 0) return CLF_OK;
    clf_status st = io_failed("cannot write profile", path, err);
    unlink(temp);
    return st;
}

clf_status clf_profile_store(const char *dir, const clf_profile *p, clf_err *err) {
    char path[CLF_DEV_PATH];
    clf_mem mem; /* a few KiB of text, gone on return: not worth a parameter */
    clf_str text;
    CLF_TRY(path_of(dir, p->name, p->driver, path, err));
    clf_mem_init(&mem, NULL, NULL);
    clf_str_init(&text, &mem);
    clf_str_put(&text, "# measured figures of one device; delete the file to have them assumed again\n");
    clf_profile_print(p, &text);
    clf_status st = text.failed ? clf_fail(err, CLF_E_NOMEM, "no memory to write profile %s", path) : replace_file(path, &text, err);
    clf_str_release(&text);
    return st;
}
