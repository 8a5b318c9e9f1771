/* SPDX-License-Identifier: Apache-2.0
 * What is read next, fetched while something else is computed. A processor's own prefetching follows a stream for as long as it is read;
 * many loops over a tile, or a batch of rows, are too long a pause for it, and it would start anew with each. Programs of few loops it
 * serves well. */
#ifndef CLF_RUN_AHEAD_H
#define CLF_RUN_AHEAD_H
#include <stdint.h>

enum { CLF_AHEAD_LOOPS = 4, CLF_AHEAD_LOADS = 8, CLF_AHEAD_LINE = 64 };

/* Per load in place: what of its next cells is still to be fetched. */
typedef struct clf_ahead {
    const char *at[CLF_AHEAD_LOADS], *end[CLF_AHEAD_LOADS];
    int loads, now;
    int64_t lines, share; /* of all; per loop */
} clf_ahead;

/* The cells at `next`, of which `left` bytes are there. */
static inline void clf_ahead_add(clf_ahead *a, const char *next, int64_t bytes, int64_t left) {
    if (left < bytes) bytes = left;
    if (bytes <= 0 || a->loads == CLF_AHEAD_LOADS) return;
    a->at[a->loads] = next;
    a->end[a->loads++] = next + bytes;
    a->lines += (bytes - 1) / CLF_AHEAD_LINE + 1;
}

/* A loop's share of it, into the second-level cache: the first is the registers'. */
static inline void clf_fetch_ahead(clf_ahead *a) {
    for (int64_t k = a->share; k > 0 && a->now < a->loads;) {
        const char **at = &a->at[a->now];
        for (; k > 0 && *at < a->end[a->now]; k--, *at += CLF_AHEAD_LINE) __builtin_prefetch(*at, 0, 2);
        a->now += *at >= a->end[a->now];
    }
}
#endif
