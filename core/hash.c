/* SPDX-License-Identifier: Apache-2.0
 * Content hashes: XXH3 from the xxHash header, inlined here so that no library is linked and no symbol leaks. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "core/hash.h"

clf_hash clf_hash_bytes(const void *p, size_t n) {
    XXH128_hash_t h = XXH3_128bits(p, n);
    return (clf_hash){.lo = h.low64, .hi = h.high64};
}

uint64_t clf_hash64(const void *p, size_t n, uint64_t seed) { return XXH3_64bits_withSeed(p, n, seed); }
