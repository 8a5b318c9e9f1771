/* SPDX-License-Identifier: Apache-2.0
 * The allocator door and the ledger.
 *
 * Every byte passes through raw() and is counted once: in now_bytes always, in data_bytes when it is matrix data. The budget holds
 * data only: bookkeeping is small, and refusing it would turn "over budget" into failures at places that cannot make room.
 * Invariant: a failed request changes neither memory nor ledger; after everything is freed both counts are zero.
 * A request of 0 bytes takes one byte from the hook and is charged as 0. */
#include "core/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGNMENT = 64, HUGE_LEAST = 4 << 20, PAGE = 4096 };

static size_t at_least_one(size_t bytes) { return bytes ? bytes : 1; }

/* Large pages, where the system gives them to those who ask: an array's first touch then costs hundreds of faults less, and its reads no
 * walks of page tables. It is a wish; without it all works. */
static void wish_for_huge_pages(void *p, size_t bytes) {
#ifdef MADV_HUGEPAGE
    if (bytes < HUGE_LEAST) return;
    size_t skip = PAGE - (uintptr_t)p % PAGE;
    madvise((char *)p + skip, bytes - skip, MADV_HUGEPAGE);
#else
    (void)p, (void)bytes;
#endif
}

static void *default_alloc(void *ptr, size_t old_bytes, size_t new_bytes) {
    void *fresh = NULL;
    if (new_bytes == 0) {
        free(ptr);
        return NULL;
    }
    if (posix_memalign(&fresh, ALIGNMENT, new_bytes) != 0) return NULL;
    wish_for_huge_pages(fresh, new_bytes);
    if (ptr) {
        memcpy(fresh, ptr, old_bytes < new_bytes ? old_bytes : new_bytes);
        free(ptr);
    }
    return fresh;
}

static void *raw(clf_mem *m, void *ptr, size_t old_bytes, size_t new_bytes) {
    return m->fn ? m->fn(m->user, ptr, old_bytes, new_bytes) : default_alloc(ptr, old_bytes, new_bytes);
}

static void count_up(clf_mem *m, size_t bytes) {
    size_t now = atomic_fetch_add(&m->now_bytes, bytes) + bytes;
    size_t peak = atomic_load(&m->peak_bytes);
    while (peak < now && !atomic_compare_exchange_weak(&m->peak_bytes, &peak, now)) {
    }
}

static void count_down(clf_mem *m, size_t bytes) { atomic_fetch_sub(&m->now_bytes, bytes); }

void clf_mem_init(clf_mem *m, clf_alloc_fn fn, void *user) {
    m->fn = fn;
    m->user = user;
    atomic_init(&m->now_bytes, 0);
    atomic_init(&m->peak_bytes, 0);
    atomic_init(&m->data_bytes, 0);
    atomic_init(&m->limit_bytes, 0);
    atomic_init(&m->borrowed_bytes, 0);
    atomic_init(&m->device_bytes, 0);
}

void *clf_mem_room(clf_mem *m, size_t bytes) {
    void *p = raw(m, NULL, 0, at_least_one(bytes));
    if (p) count_up(m, bytes);
    return p;
}

/* malloc keeps what was freed at hand, and aligned memory is never taken from that. */
void *clf_mem_plain(clf_mem *m, size_t bytes) {
    void *p = m->fn ? raw(m, NULL, 0, at_least_one(bytes)) : malloc(at_least_one(bytes));
    if (p) count_up(m, bytes);
    return p;
}

void *clf_mem_new(clf_mem *m, size_t n, size_t each) {
    size_t bytes;
    if (!clf_mul_ok(n, each, &bytes)) return NULL;
    void *p = clf_mem_room(m, bytes);
    return p ? memset(p, 0, at_least_one(bytes)) : NULL;
}

void *clf_mem_grow(clf_mem *m, void *p, size_t old_n, size_t new_n, size_t each) {
    size_t was, bytes;
    if (!p) return clf_mem_new(m, new_n, each);
    if (!clf_mul_ok(old_n, each, &was) || !clf_mul_ok(new_n, each, &bytes)) return NULL;
    char *q = raw(m, p, at_least_one(was), at_least_one(bytes));
    if (!q) return NULL;
    if (bytes > was) {
        memset(q + was, 0, bytes - was);
        count_up(m, bytes - was);
    } else {
        count_down(m, was - bytes);
    }
    return q;
}

void clf_mem_free(clf_mem *m, void *p, size_t n, size_t each) {
    if (!p) return;
    count_down(m, n * each);
    raw(m, p, at_least_one(n * each), 0);
}

bool clf_mem_charge(clf_mem *m, size_t bytes) {
    size_t held = atomic_load(&m->data_bytes), limit = atomic_load(&m->limit_bytes), want;
    do {
        if (!clf_add_ok(held, bytes, &want) || (limit && want > limit)) return false;
    } while (!atomic_compare_exchange_weak(&m->data_bytes, &held, want));
    count_up(m, bytes);
    return true;
}

void clf_mem_refund(clf_mem *m, size_t bytes) {
    atomic_fetch_sub(&m->data_bytes, bytes);
    count_down(m, bytes);
}

void *clf_mem_data(clf_mem *m, size_t bytes) {
    if (!clf_mem_charge(m, bytes)) return NULL;
    void *p = raw(m, NULL, 0, at_least_one(bytes));
    if (!p) clf_mem_refund(m, bytes);
    return p;
}

void clf_mem_data_free(clf_mem *m, void *p, size_t bytes) {
    if (!p) return;
    clf_mem_refund(m, bytes);
    raw(m, p, at_least_one(bytes), 0);
}
