/* SPDX-License-Identifier: Apache-2.0
 * An allocator that counts what is live and refuses on request: the one that suites see fail. */
#ifndef CLF_TESTS_HEAP_TESTING_H
#define CLF_TESTS_HEAP_TESTING_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Counts live bytes and blocks; the allocation number `fail_at` (from 1) fails, and with `for_ever` every one after it. */
typedef struct counting_heap {
    atomic_llong live, blocks, count;
    long long fail_at;
    bool for_ever;
} counting_heap;

enum { PATTERN_BYTES = 1 << 16 };
static inline void *counting_alloc(void *user, void *ptr, size_t old_bytes, size_t new_bytes) {
    counting_heap *h = user;
    void *fresh = NULL;
    if (new_bytes) {
        long long k = atomic_fetch_add(&h->count, 1) + 1;
        if (h->fail_at && (h->for_ever ? k >= h->fail_at : k == h->fail_at)) return NULL;
        if (posix_memalign(&fresh, 64, new_bytes) != 0) return NULL;
        memset(fresh, 0xa5, new_bytes < PATTERN_BYTES ? new_bytes : PATTERN_BYTES); /* nobody may take it for zeros */
        if (ptr) memcpy(fresh, ptr, old_bytes < new_bytes ? old_bytes : new_bytes);
    }
    free(ptr);
    atomic_fetch_add(&h->blocks, (new_bytes != 0) - (ptr != NULL));
    atomic_fetch_add(&h->live, (long long)new_bytes - (long long)(ptr ? old_bytes : 0));
    return fresh;
}

/* n allocations are granted; then none, or only the next one is refused. */
static inline counting_heap heap_of(long long n) { return (counting_heap){.fail_at = n + 1, .for_ever = true}; }
static inline counting_heap heap_but(long long n) { return (counting_heap){.fail_at = n + 1}; }
#endif
