/* SPDX-License-Identifier: Apache-2.0
 * Where our files live, and whether that place can be trusted: drivers load code from their cache without looking at it, so a
 * directory counts only if it is ours (effective user) and nobody else may write to it. Order: option, $XDG_CACHE_HOME, $HOME. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "device/device_internal.h"

static bool refuse(char *why, size_t why_n, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    if (why_n) vsnprintf(why, why_n, fmt, ap);
    va_end(ap);
    return false;
}

/* mkdir -p, each new level 0700. The path is edited and put back. Mostly it is there. */
static int make_path(char *path) {
    if (!mkdir(path, 0700) || errno == EEXIST) return 0;
    for (char *s = path + 1; *s; s++) {
        if (*s != '/') continue;
        *s = 0;
        int rc = mkdir(path, 0700);
        *s = '/';
        if (rc && errno != EEXIST && errno != EROFS && errno != EACCES) return -1;
    }
    return mkdir(path, 0700) && errno != EEXIST ? -1 : 0;
}

static bool trusted(const char *path, char *why, size_t why_n) {
    struct stat st;
    if (stat(path, &st)) return refuse(why, why_n, "cache directory %s: %s", path, strerror(errno));
    if (!S_ISDIR(st.st_mode)) return refuse(why, why_n, "cache directory %s is not a directory", path);
    if (st.st_uid != geteuid()) return refuse(why, why_n, "cache directory %s belongs to another user", path);
    if (st.st_mode & (S_IWGRP | S_IWOTH)) return refuse(why, why_n, "cache directory %s is writable by others", path);
    if (faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS))
        return refuse(why, why_n, "cache directory %s is not writable: %s", path, strerror(errno));
    return true;
}

bool clf_cache_dir_name(const char *cache_dir, char *out, size_t n, char *why, size_t why_n) {
    const char *xdg = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
    int len = -1;
    if (cache_dir && *cache_dir)
        len = snprintf(out, n, "%s", cache_dir);
    else if (xdg && *xdg == '/')
        len = snprintf(out, n, "%s/clfuse", xdg);
    else if (home && *home == '/')
        len = snprintf(out, n, "%s/.cache/clfuse", home);
    if (len < 0) return refuse(why, why_n, "no cache directory: none was given and neither XDG_CACHE_HOME nor HOME is set");
    if ((size_t)len >= n) return refuse(why, why_n, "no cache directory: the path is too long");
    return true;
}

bool clf_cache_dir(const char *cache_dir, char *out, size_t n, char *why, size_t why_n) {
    if (!n) return false;
    if (why_n) *why = 0;
    bool ok = clf_cache_dir_name(cache_dir, out, n, why, why_n);
    if (ok && make_path(out)) ok = refuse(why, why_n, "cache directory %s cannot be created: %s", out, strerror(errno));
    if (ok) ok = trusted(out, why, why_n);
    if (!ok) *out = 0;
    return ok;
}
