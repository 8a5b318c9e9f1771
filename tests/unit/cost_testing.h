/* SPDX-License-Identifier: Apache-2.0
 * A profile of round figures, for the suites of the cost model. */
#ifndef CLF_TESTS_COST_TESTING_H
#define CLF_TESTS_COST_TESTING_H
#include "planner/cost.h"

static inline clf_profile simple(void) {
    clf_profile p;
    clf_profile_assume(&p, CLF_DEV_HOST, 2);
    for (int t = 0; t < CLF_PROFILE_TIERS; t++) {
        p.tier_bytes[t] = t < 3 ? 1e4 * (t + 1) : 1e18;
        p.read_bytes_per_s[t] = 1e12 / (t + 1); /* t + 1 picoseconds a byte */
        p.gather_ns[t] = t + 1;
    }
    for (int c = 0; c < CLF_NCLASSES; c++) {
        p.cells_per_s[0][c] = 1e12;
        p.cells_per_s[1][c] = 5e11;
    }
    p.write_cost = 3;
    p.fma_per_s[0] = 1e12;
    p.fma_per_s[1] = 2.5e11;
    p.library_flops_per_s[0] = 1e12;
    p.library_flops_per_s[1] = 5e11;
    p.library_half[0] = 4;
    p.library_half[1] = 8;
    p.library_row_ns[0] = 11;
    p.library_row_ns[1] = 12;
    p.gemm_half_cells = 1000;
    p.gemm_ns = 13;
    p.dot_ns = 6;
    p.pair_ns = 4.5;
    p.side_ns = 7;
    p.pick_ns = 8;
    p.row_ns = 5;
    p.entry_ns = 2;
    p.locate_ns = 3;
    p.gap_ns = 4;
    p.overlap = 0.75;
    p.convert_cells_per_s = 1e12;
    p.convert_entries_per_s = 1e11;
    p.callout_bytes_per_s = 5e11;
    p.launch_async_ns = 7;
    p.library_ns = 8;
    p.callout_ns = 9;
    return p;
}
#endif
