/* SPDX-License-Identifier: Apache-2.0
 * From a program text to a shared object in this process: preprocess, append the calls of signature.c, compile, load. Each program has a
 * private folder for the moment; CLF_SHIM_KEEP names a folder to keep texts and objects in, with lines for the sanitizers' reports. */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/shim/shim.h"

extern char **environ;
enum { KERNELS = 512 };

/* One folder, and the names of what stands in it. */
typedef struct workshop {
    char folder[PATH_MAX];
    char source[PATH_MAX + 8], plain[PATH_MAX + 8], object[PATH_MAX + 8], log[PATH_MAX + 8];
    bool keep;
} workshop;

static bool workshop_open(workshop *w) {
    const char *keep = getenv("CLF_SHIM_KEEP"), *tmp = getenv("TMPDIR");
    w->keep = keep && *keep;
    const char *in = w->keep ? keep : tmp && *tmp ? tmp : P_tmpdir;
    if (snprintf(w->folder, sizeof w->folder, "%s/clfuse-shim-XXXXXX", in) >= (int)sizeof w->folder || !mkdtemp(w->folder)) return false;
    snprintf(w->source, sizeof w->source, "%s/k.cl", w->folder);
    snprintf(w->plain, sizeof w->plain, "%s/p.cl", w->folder);
    snprintf(w->object, sizeof w->object, "%s/k.so", w->folder);
    snprintf(w->log, sizeof w->log, "%s/log", w->folder);
    return true;
}

static void workshop_close(workshop *w) {
    if (w->keep) return;
    unlink(w->source);
    unlink(w->plain);
    unlink(w->object);
    unlink(w->log);
    rmdir(w->folder);
}

static bool file_write(const char *path, const char *text, size_t n, const char *mode) {
    FILE *f = fopen(path, mode);
    if (!f) return false;
    bool good = fwrite(text, 1, n, f) == n;
    return fclose(f) == 0 && good;
}

static char *file_read(const char *path) {
    FILE *f = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    if (!f) return NULL;
    if (getdelim(&text, &room, 0, f) < 0 && text) *text = 0;
    fclose(f);
    return text;
}

/* Run the compiler; what it says goes to the log. */
static bool compiler(const workshop *w, char *const *argv) {
    posix_spawn_file_actions_t to;
    pid_t pid;
    int status = -1;
    posix_spawn_file_actions_init(&to);
    posix_spawn_file_actions_addopen(&to, STDERR_FILENO, w->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    bool started = posix_spawn(&pid, argv[0], &to, NULL, argv, environ) == 0;
    posix_spawn_file_actions_destroy(&to);
    return started && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool preprocess(workshop *w) {
    char *const argv[] = {CLF_SHIM_CLANG, "-x", "cl", "-cl-std=CL1.2", "-cl-no-stdinc", "-E", "-P", w->source, "-o", w->plain, NULL};
    return compiler(w, argv);
}

static bool compile(workshop *w) {
    char *argv[] = {CLF_SHIM_CLANG,
                    "-x",
                    "cl",
                    "-cl-std=CL1.2",
                    "-w",
                    "-O0",
                    "-ffp-contract=off",
                    "-fPIC",
                    "-shared",
                    "-nostdlib",
                    w->plain,
                    "-o",
                    w->object,
                    w->keep ? "-g" : "-g0",
                    CLF_SHIM_FLAGS NULL};
    return compiler(w, argv);
}

/* The kernels of the preprocessed text, and their calls behind it. */
static bool add_calls(const workshop *w, shim_signature **kernels, int *n) {
    char *text = file_read(w->plain), *calls = text ? shim_trampolines(text) : NULL;
    shim_signature *k = calloc(KERNELS, sizeof *k);
    *n = text && calls && k ? shim_signatures(text, k, KERNELS) : -1;
    bool good = *n >= 0 && file_write(w->plain, calls, strlen(calls), "a");
    free(calls);
    free(text);
    *kernels = good ? k : NULL;
    if (!good) free(k);
    return good;
}

static void *load(const workshop *w) {
    void *object = dlopen(w->object, RTLD_NOW | RTLD_LOCAL);
    if (object) return object;
    const char *why = dlerror();
    file_write(w->log, why, strlen(why), "a");
    return NULL;
}

/* The object's bytes, behind the signatures: what a driver would call the binary. */
static char *binary_of(const workshop *w, const shim_signature *kernels, int nkernels, size_t *n) {
    size_t head = sizeof nkernels + (size_t)nkernels * sizeof *kernels;
    FILE *f = fopen(w->object, "rb");
    char *all = NULL;
    if (f && !fseek(f, 0, SEEK_END) && ftell(f) > 0) {
        size_t object = (size_t)ftell(f);
        all = malloc(head + object);
        rewind(f);
        if (!all || fread(all + head, 1, object, f) != object) abort();
        memcpy(all, &nkernels, sizeof nkernels);
        memcpy(all + sizeof nkernels, kernels, head - sizeof nkernels);
        *n = head + object;
    }
    if (f) fclose(f);
    return all;
}

void *shim_load(const char *binary, size_t n, char *log, size_t log_bytes, shim_signature **kernels, int *nkernels) {
    workshop w;
    void *object = NULL;
    size_t room = sizeof **kernels * KERNELS;
    snprintf(log, log_bytes, "no binary of the shim");
    if (n < sizeof *nkernels || !workshop_open(&w)) return NULL;
    memcpy(nkernels, binary, sizeof *nkernels);
    size_t head = sizeof *nkernels + (size_t)*nkernels * sizeof **kernels;
    shim_signature *k = *nkernels >= 0 && *nkernels <= KERNELS && head < n ? calloc(1, room) : NULL;
    if (k && file_write(w.object, binary + head, n - head, "w")) object = load(&w);
    if (object) memcpy(k, binary + sizeof *nkernels, head - sizeof *nkernels);
    workshop_close(&w);
    if (!object) free(k);
    *kernels = object ? k : NULL;
    return object;
}

void *shim_compile(const char *text, size_t len, char *log, size_t log_bytes, shim_signature **kernels, int *nkernels, char **binary,
                   size_t *binary_bytes) {
    workshop w;
    void *object = NULL;
    if (!workshop_open(&w)) {
        snprintf(log, log_bytes, "no folder for the compiler's files");
        return NULL;
    }
    *kernels = NULL;
    if (file_write(w.source, text, len, "w") && preprocess(&w) && add_calls(&w, kernels, nkernels) && compile(&w)) object = load(&w);
    char *said = file_read(w.log);
    snprintf(log, log_bytes, "%s", said ? said : "");
    free(said);
    if (object) *binary = binary_of(&w, *kernels, *nkernels, binary_bytes);
    workshop_close(&w);
    if (object) return object;
    free(*kernels);
    *kernels = NULL;
    return NULL;
}
