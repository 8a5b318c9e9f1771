/* SPDX-License-Identifier: Apache-2.0
 * What a fuzz target is: one function over bytes, in a file fuzz_<target>.c, that says whether it accepted them and stops the process
 * when a promise is broken. entry.c makes a libFuzzer program of it, replay.c one that runs files. */
#ifndef CLF_TESTS_FUZZ_H
#define CLF_TESTS_FUZZ_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clfuse/types.h"

/** Run the target. The status is what became of the input: CLF_OK accepted, anything else refused. */
clf_status fuzz_one(const uint8_t *p, size_t n);

/* Holds also where assertions are switched off. */
#define FUZZ_MUST(x) ((x) ? (void)0 : fuzz_broken(__FILE__, __LINE__, #x))
static inline void fuzz_broken(const char *file, int line, const char *what) {
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, what);
    abort();
}

/* An allocator hook that counts live bytes: what a closed context left behind. user: an atomic_llong. */
static inline void *fuzz_alloc(void *user, void *ptr, size_t old_bytes, size_t new_bytes) {
    atomic_llong *live = (atomic_llong *)user;
    void *fresh = NULL;
    if (new_bytes && posix_memalign(&fresh, 64, new_bytes) != 0) return NULL;
    if (ptr && fresh) memcpy(fresh, ptr, old_bytes < new_bytes ? old_bytes : new_bytes);
    free(ptr);
    atomic_fetch_add(live, (long long)new_bytes - (long long)(ptr ? old_bytes : 0));
    return fresh;
}

/* A copy of the input that ends with its last byte or with a NUL, so that the sanitizer sees a step beyond. owns: free(). */
static inline char *fuzz_text(const uint8_t *p, size_t n) {
    char *text = malloc(n + 1);
    FUZZ_MUST(text);
    if (n) memcpy(text, p, n);
    text[n] = '\0';
    return text;
}
#endif
