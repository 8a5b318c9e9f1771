/* SPDX-License-Identifier: Apache-2.0
 * The clock that never goes back. For counters and for measuring; no plan, order or hash depends on it. */
#ifndef CLF_CORE_CLOCK_H
#define CLF_CORE_CLOCK_H
#include <stdint.h>
#include <time.h>

static inline uint64_t clf_now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#endif
