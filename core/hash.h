/* SPDX-License-Identifier: Apache-2.0
 * XXH3-128 over plain bytes. Never hash addresses, padding or clocks. */
#ifndef CLF_CORE_HASH_H
#define CLF_CORE_HASH_H
#include "clfuse/types.h"
typedef struct clf_hash { uint64_t lo, hi; } clf_hash;
clf_hash clf_hash_bytes(const void *p, size_t n);
uint64_t clf_hash64(const void *p, size_t n, uint64_t seed);
#endif
