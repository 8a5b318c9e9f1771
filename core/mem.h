/* SPDX-License-Identifier: Apache-2.0
 * All memory of the library goes through one clf_mem: the user's allocator hook plus the ledger that counts every byte.
 * Sizes are passed back on free, as Lua's allocator does, so the ledger needs no headers. */
#ifndef CLF_CORE_MEM_H
#define CLF_CORE_MEM_H
#include <stdatomic.h>
#include <stdbool.h>
#include "clfuse/types.h"

/* Ledger: current and peak bytes, a budget (0: none) that only *data* (clf_mem_data) is held against. */
typedef struct clf_mem {
    clf_alloc_fn fn;           /* NULL: the C library's, aligned to 64 */
    void *user;
    atomic_size_t now_bytes;   /* everything charged, host and device */
    atomic_size_t peak_bytes;
    atomic_size_t data_bytes;  /* the part that is matrix data */
    atomic_size_t limit_bytes; /* budget on data_bytes; 0 = none */
    atomic_size_t borrowed_bytes; /* caller memory in use: listed, in none of the above */
    atomic_size_t device_bytes;   /* copies on devices: likewise */
} clf_mem;

void clf_mem_init(clf_mem *m, clf_alloc_fn fn, void *user);
/** n elements of `each` bytes, zeroed; NULL when it overflows or fails. A request of 0 bytes gives a valid pointer to 1 byte charged as 0... never NULL. */
void *clf_mem_new(clf_mem *m, size_t n, size_t each);
/** The same of so many bytes that nobody has cleared; freed by clf_mem_free(bytes, 1). */
void *clf_mem_room(clf_mem *m, size_t bytes);
/** The same aligned for every C type, and no further: for text and for what an arena divides. */
void *clf_mem_plain(clf_mem *m, size_t bytes);
/** Resize an array from old_n to new_n elements, zeroing what is new. On failure NULL and the old array stands. */
void *clf_mem_grow(clf_mem *m, void *p, size_t old_n, size_t new_n, size_t each);
/** Free what clf_mem_new(n, each) or clf_mem_grow(new_n, each) gave. p may be NULL. */
void clf_mem_free(clf_mem *m, void *p, size_t n, size_t each);
/** Data blocks: uninitialised, 64-byte aligned, held against the budget. bytes may be 0. */
void *clf_mem_data(clf_mem *m, size_t bytes);
void clf_mem_data_free(clf_mem *m, void *p, size_t bytes);
/** Charge or refund bytes the library holds elsewhere (device buffers). Charging false: over budget, nothing charged. */
bool clf_mem_charge(clf_mem *m, size_t bytes);
void clf_mem_refund(clf_mem *m, size_t bytes);

/** a*b and a+b with overflow checks: true and *out set, or false. */
static inline bool clf_mul_ok(size_t a, size_t b, size_t *out) { return !__builtin_mul_overflow(a, b, out); }
static inline bool clf_add_ok(size_t a, size_t b, size_t *out) { return !__builtin_add_overflow(a, b, out); }
#endif
