/* SPDX-License-Identifier: Apache-2.0
 * Integers as bytes, little-endian whatever the machine is: for what is written to files. */
#ifndef CLF_CORE_LITTLE_H
#define CLF_CORE_LITTLE_H
#include <stdint.h>

/** The lowest `bytes` bytes of x, 8 at most. */
static inline void clf_little_put(char *to, uint64_t x, int bytes) {
    for (int i = 0; i < bytes; i++) to[i] = (char)(x >> (8 * i) & 0xff);
}
static inline uint64_t clf_little_get(const char *at, int bytes) {
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++) x |= (uint64_t)(unsigned char)at[i] << (8 * i);
    return x;
}
#endif
