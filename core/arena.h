/* SPDX-License-Identifier: Apache-2.0
 * Bump arena: everything of one planning run, dropped at once. Blocks grow geometrically from 16 KiB. */
#ifndef CLF_CORE_ARENA_H
#define CLF_CORE_ARENA_H
#include "core/mem.h"
/* Blocks that arenas gave back, for those to come: one planning run after the other has the same memory, mapped already. */
typedef struct clf_spares {
    struct clf_arena_block *head;
    size_t bytes;
} clf_spares;
typedef struct clf_arena {
    clf_mem *mem;
    struct clf_arena_block *head;
    clf_spares *spares; /* NULL: none */
} clf_arena;
void clf_arena_init(clf_arena *a, clf_mem *mem);
/** The same, with blocks from `spares`, which may be NULL, as long as there are any; what it is made of goes there in the end, up to a
 *  megabyte in all. mem: of all arenas that share them. */
void clf_arena_init_from(clf_arena *a, clf_mem *mem, clf_spares *spares);
void clf_spares_release(clf_spares *s, clf_mem *mem);
/** n elements of `each` bytes, zeroed, aligned to 16; NULL when out of memory. n == 0 gives a valid pointer. */
void *clf_arena_new(clf_arena *a, size_t n, size_t each);
/** Copy n bytes and append a NUL. */
char *clf_arena_strn(clf_arena *a, const char *s, size_t n);
void clf_arena_release(clf_arena *a);
#endif
