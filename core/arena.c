/* SPDX-License-Identifier: Apache-2.0
 * The bump arena: a list of blocks, newest first, each a header followed by its bytes:
 *
 *     head -> [next cap used | bytes ... used ... cap] -> [next cap used | ...] -> NULL
 *
 * Blocks double from 16 KiB, or from 64 KiB where arenas share spare ones, to 1 MiB; a request larger than that gets a block of its own
 * size. Invariant: `used` and the first byte are multiples of 16. A piece is cleared when it is given away: memory that nobody asks for is
 * not touched. Spare blocks are such a list, too; where memory is watched for use after its end, none are kept. */
#include "core/arena.h"

#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WATCHED 1
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define WATCHED 1
#endif
#ifndef WATCHED
#define WATCHED 0
#endif

enum { GRAIN = 16, FIRST_BLOCK = 16 * 1024, FIRST_SHARED = 64 * 1024, LAST_BLOCK = 1024 * 1024, MOST_SPARE = WATCHED ? 0 : 1024 * 1024 };

typedef struct clf_arena_block {
    _Alignas(16) struct clf_arena_block *next;
    size_t cap, used;
} clf_arena_block;

_Static_assert(sizeof(clf_arena_block) % GRAIN == 0, "the first piece of a block must be aligned");

void clf_arena_init_from(clf_arena *a, clf_mem *mem, clf_spares *spares) {
    a->mem = mem;
    a->head = NULL;
    a->spares = spares;
}

void clf_arena_init(clf_arena *a, clf_mem *mem) { clf_arena_init_from(a, mem, NULL); }

/* The first spare block with so much room; NULL: there is none. */
static clf_arena_block *take_spare(clf_spares *s, size_t need) {
    clf_arena_block **at = &s->head;
    while (*at && (*at)->cap < need) at = &(*at)->next;
    clf_arena_block *b = *at;
    if (!b) return NULL;
    *at = b->next;
    s->bytes -= b->cap;
    return b;
}

static size_t next_cap(const clf_arena *a, size_t need) {
    size_t cap = a->head ? a->head->cap * 2 : a->spares ? FIRST_SHARED : FIRST_BLOCK;
    if (cap > LAST_BLOCK) cap = LAST_BLOCK;
    return cap < need ? need : cap;
}

static clf_arena_block *add_block(clf_arena *a, size_t need) {
    size_t cap = next_cap(a, need), bytes;
    clf_arena_block *b = a->spares ? take_spare(a->spares, need) : NULL;
    if (b) {
        cap = b->cap;
    } else {
        if (!clf_add_ok(cap, sizeof(clf_arena_block), &bytes)) return NULL;
        b = clf_mem_plain(a->mem, bytes);
    }
    if (!b) return NULL;
    *b = (clf_arena_block){.next = a->head, .cap = cap};
    a->head = b;
    return b;
}

void *clf_arena_new(clf_arena *a, size_t n, size_t each) {
    size_t need;
    if (!clf_mul_ok(n, each, &need) || !clf_add_ok(need, GRAIN - 1, &need)) return NULL;
    need = need < GRAIN ? GRAIN : need / GRAIN * GRAIN;
    clf_arena_block *b = a->head;
    if (!b || b->cap - b->used < need) b = add_block(a, need);
    if (!b) return NULL;
    void *p = (char *)(b + 1) + b->used;
    b->used += need;
    return memset(p, 0, need);
}

char *clf_arena_strn(clf_arena *a, const char *s, size_t n) {
    size_t bytes;
    if (!clf_add_ok(n, 1, &bytes)) return NULL;
    char *p = clf_arena_new(a, bytes, 1);
    if (p && n) memcpy(p, s, n);
    return p;
}

static void free_block(clf_mem *mem, clf_arena_block *b) { clf_mem_free(mem, b, 1, sizeof *b + b->cap); }

void clf_arena_release(clf_arena *a) {
    while (a->head) {
        clf_arena_block *b = a->head;
        a->head = b->next;
        if (!a->spares || b->cap > MOST_SPARE - a->spares->bytes) {
            free_block(a->mem, b);
            continue;
        }
        b->next = a->spares->head;
        a->spares->head = b;
        a->spares->bytes += b->cap;
    }
}

void clf_spares_release(clf_spares *s, clf_mem *mem) {
    while (s->head) {
        clf_arena_block *b = s->head;
        s->head = b->next;
        free_block(mem, b);
    }
    s->bytes = 0;
}
