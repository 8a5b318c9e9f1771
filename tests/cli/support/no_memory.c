/* SPDX-License-Identifier: Apache-2.0
 * Put before the C library (LD_PRELOAD): the CLF_FAIL_AT-th allocation that the program itself asks for fails, whatever its libraries
 * ask for is theirs. Only the calls the tool makes are here: calloc, realloc, strdup, strndup. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

void *__libc_calloc(size_t n, size_t each);
void *__libc_realloc(void *p, size_t bytes);

static bool fails(const void *caller) {
    static long count;
    static bool busy; /* what is asked below may allocate */
    Dl_info from, program;
    const char *at = getenv("CLF_FAIL_AT");
    if (busy || !at) return false;
    busy = true;
    bool ours = dladdr(caller, &from) && dladdr((const void *)getauxval(AT_PHDR), &program) && from.dli_fbase == program.dli_fbase;
    bool now = ours && ++count == atol(at);
    busy = false;
    if (now) errno = ENOMEM;
    return now;
}

void *calloc(size_t n, size_t each) { return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, each); }
void *realloc(void *p, size_t bytes) { return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, bytes); }

static char *copy(const char *s, size_t n) {
    char *c = malloc(n + 1);
    if (!c) return NULL;
    memcpy(c, s, n);
    c[n] = '\0';
    return c;
}

char *strdup(const char *s) { return fails(__builtin_return_address(0)) ? NULL : copy(s, strlen(s)); }
char *strndup(const char *s, size_t n) { return fails(__builtin_return_address(0)) ? NULL : copy(s, strnlen(s, n)); }
