/* SPDX-License-Identifier: Apache-2.0
 * Where the worker program is: named by a setting, beside the library (or the program it is linked into), or in libexec. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device/worker.h"

static const char *const places[] = {"clfuse-worker", "../libexec/clfuse/clfuse-worker", "../../libexec/clfuse/clfuse-worker",
                                     "../clfuse-worker"};

/* The folder of the file that this code was loaded from. */
static bool own_folder(char *buf, size_t n) {
    static const char here;
    Dl_info info;
    if (!dladdr(&here, &info) || !info.dli_fname || !strchr(info.dli_fname, '/')) {
        ssize_t len = readlink("/proc/self/exe", buf, n - 1);
        if (len <= 0) return false;
        buf[len] = 0;
    } else if (snprintf(buf, n, "%s", info.dli_fname) >= (int)n)
        return false;
    char *slash = strrchr(buf, '/');
    if (slash) *slash = 0;
    return slash != NULL;
}

bool clf_worker_find(const char *given, char *out, size_t n) {
    char folder[CLF_DEV_PATH];
    if (*given) return snprintf(out, n, "%s", given) < (int)n && access(out, X_OK) == 0;
    if (!own_folder(folder, sizeof folder)) return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(out, n, "%s/%s", folder, places[i]) < (int)n && access(out, X_OK) == 0) return true;
    return false;
}
