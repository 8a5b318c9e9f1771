/* SPDX-License-Identifier: Apache-2.0
 * Positions of which some have an entry and the others a value (the state of gaps, core/fold.h): how their runs are stored, and which
 * one comes next. Folds them: tile_gaps.h; makes the runs: rows_gaps.c.
 *
 * Runs of 2^level positions, level >= CLF_GAPS_LEVEL, that start at a multiple of their length are folded once, as if none of them had
 * an entry. Nodes stand in the order of their middles: so a row of n positions needs n / 4 of them and no table of levels. */
#ifndef CLF_RUN_GAPS_H
#define CLF_RUN_GAPS_H
#include <stdint.h>

enum { CLF_GAPS_LEVEL = 3, CLF_GAPS = 1 << CLF_GAPS_LEVEL };

/* n positions of values x with their runs; entries stand at `at`, ascending, or at at32 where that is not NULL. */
typedef struct clf_gaps_row {
    const void *x;
    const struct clf_fold_state *node;
    int64_t n, entries;
    const int64_t *at;
    const int32_t *at32;
} clf_gaps_row;
static inline int64_t clf_gaps_at(const clf_gaps_row *r, int64_t e) { return r->at32 ? r->at32[e] : r->at[e]; }

/** Where run number k of a level stands. */
static inline int64_t clf_gaps_node(int level, int64_t k) { return ((2 * k + 1) << (level - CLF_GAPS_LEVEL)) - 1; }
/** The level of the longest run that starts at position `at` and ends by `end` > at. */
static inline int clf_gaps_level(int64_t at, int64_t end) {
    int most = 63 - __builtin_clzll((uint64_t)(end - at)), aligned = at ? __builtin_ctzll((uint64_t)at) : 63;
    return aligned < most ? aligned : most;
}
#endif
