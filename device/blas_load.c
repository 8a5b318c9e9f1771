/* SPDX-License-Identifier: Apache-2.0
 * OpenBLAS, loaded at run time. It picks its loops while it is loaded, by a list of the processors it knows, and takes those of Prescott, of
 * 2004, on one that is newer than itself: 0.3.21 ran products of 1000 x 1000 at a fifth of what the same library reached there with the loops
 * of an older server. So if it says Prescott, and the processor has vectors of 32 bytes or more, it is loaded again and told what to run, by
 * the variable it has for that, which is taken back at once. What the user chose stays, and what somebody else in the process holds. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "device/device_internal.h"

enum { PATIENCE_S = 2 };

static const char variable[] = "OPENBLAS_CORETYPE";

static void *load(void) {
    static const char *const names[] = {"libopenblas.so.0", "libopenblas.so"};
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    return library;
}

const char *clf_blas_core(void *library) {
    union {
        void *sym;
        const char *(*fn)(void);
    } name = {library ? dlsym(library, "openblas_get_corename") : NULL};
    return name.sym ? name.fn() : "";
}

/* What OpenBLAS calls the loops for this processor's vectors; NULL: Prescott's are right, or nobody can say. */
static const char *vectors(void) {
#if defined __x86_64__
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return NULL;
    bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return wide ? "SkylakeX" : "Haswell";
#else
    return NULL;
#endif
}

static void *load_best(void) {
    bool chosen = getenv(variable);
    const char *core = vectors();
    void *library = load();
    if (!library || chosen || !core || strcmp(clf_blas_core(library), "Prescott")) return library;
    dlclose(library);
    setenv(variable, core, 1);
    library = load(); /* the same one when somebody else holds it */
    unsetenv(variable);
    return library;
}

/* One thread at a time: two that load it together would hold it for each other. In a child of fork, where the one that had the lock may be
 * gone, nobody waits for ever. */
void *clf_blas_load(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += PATIENCE_S;
    bool locked = !pthread_mutex_timedlock(&lock, &end);
    clf_environ_blas();
    void *library = locked ? load_best() : load();
    if (locked) pthread_mutex_unlock(&lock);
    return library;
}
