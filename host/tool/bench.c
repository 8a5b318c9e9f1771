/* SPDX-License-Identifier: Apache-2.0
 * clfuse bench: start the program clfuse-bench, which stands beside the tool, in ../libexec/clfuse of an installation, or in the folder
 * perf/ of a build. It gets the options as they are, and its exit code is ours. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/tool/tool.h"

static bool own_folder(char *buf, size_t n) {
    ssize_t len = readlink("/proc/self/exe", buf, n - 1);
    if (len <= 0) return false;
    buf[len] = '\0';
    char *slash = strrchr(buf, '/');
    if (slash) *slash = '\0';
    return slash != NULL;
}

tool_exit tool_bench(int argc, char **argv) {
    static const char *const places[] = {"clfuse-bench", "../libexec/clfuse/clfuse-bench", "perf/clfuse-bench"};
    char folder[PATH_MAX], path[PATH_MAX + 40];
    (void)argc;
    if (!own_folder(folder, sizeof folder))
        return tool_fail(TOOL_MISSING, "bench: cannot find the folder of this program: %s", strerror(errno));
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, places[i]);
        if (access(path, X_OK) == 0) {
            argv[1] = path;
            execv(path, argv + 1);
            return tool_fail(TOOL_MISSING, "bench: %s does not start: %s", path, strerror(errno));
        }
    }
    return tool_fail(TOOL_MISSING,
                     "bench: the program clfuse-bench is neither beside this one nor in ../libexec/clfuse nor in perf/ of the build");
}
