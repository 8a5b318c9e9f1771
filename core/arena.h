/* SPDX-License-Identifier: Apache-2.0
 * Bump arena: everything of one planning run, dropped at once. Blocks grow geometrically from 16 KiB. */
#ifndef CLF_CORE_ARENA_H
#define CLF_CORE_ARENA_H
#include "core/mem.h"
typedef struct clf_arena {
    clf_mem *mem;
    struct clf_arena_block *head;
} clf_arena;
void clf_arena_init(clf_arena *a, clf_mem *mem);
/** n elements of `each` bytes, zeroed, aligned to 16; NULL when out of memory. n == 0 gives a valid pointer. */
void *clf_arena_new(clf_arena *a, size_t n, size_t each);
/** Copy n bytes and append a NUL. */
char *clf_arena_strn(clf_arena *a, const char *s, size_t n);
void clf_arena_release(clf_arena *a);
#endif
