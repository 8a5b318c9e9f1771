/* SPDX-License-Identifier: Apache-2.0
 * Settings, directories and habits of this machine that are known to hurt. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/tool/doctor.h"

static void keep_note(void *user, const char *topic, const char *line) {
    doctor *d = user;
    if (strcmp(topic, "io") == 0 || strstr(line, "cache")) doctor_say(d, DOCTOR_NOTE, NULL, "%s", line);
}

/* The context that the other checks use. */
void doctor_settings(doctor *d) {
    const clf_options o = {.struct_size = sizeof o, .device = d->o->device, .log = keep_note, .log_user = d};
    if (clf_open(&d->c, &o) == CLF_OK) return;
    doctor_say(d, DOCTOR_FAIL, "correct or unset the variable; clfuse info --env lists them all", "the library does not open: %s",
               clf_open_error());
    d->c = NULL;
}

static const char *cache_folder(char *out, size_t n) {
    const char *own = getenv("CLF_CACHE_DIR"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (own && *own)
        snprintf(out, n, "%s", own);
    else if (xdg && *xdg == '/')
        snprintf(out, n, "%s/clfuse", xdg);
    else if (home && *home == '/')
        snprintf(out, n, "%s/.cache/clfuse", home);
    else
        return NULL;
    return out;
}

typedef struct kept {
    uint64_t files, bytes, damaged;
} kept;

static void count_kept(void *user, const clf_cache_entry *e) {
    kept *k = user;
    k->files++;
    k->bytes += e->bytes;
    k->damaged += !e->sound;
}

/* The folder can be written; are kernels kept in it? */
static void say_kept(doctor *d, const char *dir) {
    kept k = {0, 0, 0};
    char size[32];
    const char *why = "";
    if (d->c) (void)clf_cache_folder(d->c, &why);
    if (*why)
        doctor_say(d, DOCTOR_NOTE, "unset CLF_CACHE, or see clfuse cache stats", "cache %s, but kernels are not kept: %s", dir, why);
    else if (!d->c || clf_cache_list(d->c, false, count_kept, &k) != CLF_OK)
        doctor_say(d, DOCTOR_NOTE, NULL, "cache %s cannot be listed: %s", dir, d->c ? clf_last_error(d->c) : "the library does not open");
    else {
        tool_size_text(size, sizeof size, k.bytes);
        doctor_say(d, k.damaged ? DOCTOR_NOTE : DOCTOR_OK, k.damaged ? "clfuse cache verify removes them" : NULL,
                   "cache %s: %d files, %s, %d damaged", dir, (int)k.files, size, (int)k.damaged);
    }
}

void doctor_cache(doctor *d) {
    char dir[1024];
    static const char remedy[] = "set CLF_CACHE_DIR to a folder of yours that nobody else may write to";
    if (!cache_folder(dir, sizeof dir))
        doctor_say(d, DOCTOR_NOTE, remedy,
                   "there is no cache: neither CLF_CACHE_DIR nor XDG_CACHE_HOME nor HOME is set, so every process compiles anew");
    else if (access(dir, W_OK | X_OK) != 0)
        doctor_say(d, DOCTOR_FAIL, remedy, "the cache %s cannot be written: every process compiles its kernels anew", dir);
    else
        say_kept(d, dir);
}

void doctor_affinity(doctor *d) {
    cpu_set_t now;
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    if (sched_getaffinity(0, sizeof now, &now)) return;
    if (CPU_COUNT(&now) < online)
        doctor_say(d, DOCTOR_NOTE, "taskset, numactl or the job's scheduler restrict it",
                   "only %d of %ld processors may be used; PoCL's workers inherit this", CPU_COUNT(&now), online);
    else
        doctor_say(d, DOCTOR_OK, NULL, "all %ld processors may be used", online);
}

/* Variables of others that slow things down or hide devices. */
void doctor_variables(doctor *d) {
    static const struct {
        const char *name, *what;
    } traps[] = {
        {"OPENBLAS_CORETYPE", "pins OpenBLAS to one processor type, which may be half as fast as what it would choose"},
        {"OPENBLAS_NUM_THREADS", "limits the threads of matrix products"},
        {"OCL_ICD_VENDORS", "replaces the folder in which OpenCL drivers are registered"},
        {"OCL_ICD_FILENAMES", "replaces the OpenCL drivers that are looked for"},
        {"OPENCL_LAYERS", "puts layers between programs and drivers"},
        {"POCL_MAX_PTHREAD_COUNT", "limits PoCL's workers"},
        {"POCL_MEMORY_LIMIT", "limits the memory that PoCL offers"},
    };
    for (size_t i = 0; i < sizeof traps / sizeof *traps; i++) {
        const char *set = getenv(traps[i].name);
        char remedy[64];
        snprintf(remedy, sizeof remedy, "unset %s", traps[i].name);
        if (set) doctor_say(d, DOCTOR_NOTE, remedy, "%s=%.60s %s", traps[i].name, set, traps[i].what);
    }
}
