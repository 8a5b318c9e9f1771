/* SPDX-License-Identifier: Apache-2.0
 * Random programs over reals: sums and divisions round, but every selector, instruction set, number of threads and the reference
 * executor round alike, since the reduction tree depends on extents only. Left out are elementary functions (their bits belong to the
 * mathematical library) and products that may stand alone (outside the promise: a library sums them in its order, or, of two sparse
 * matrices, pairs of entries are summed one by one); those with one operand whose zeros annihilate are loops of our own in every plan.
 * Every second program has NaN, infinities, -0, tiny and huge numbers in its leaves. What the values should be is another suite's. */
#include "tests/support/net.h"
#include "tests/support/random_execs.h"
#include "tests/unit/api_testing.h"

static const uint64_t SEEDS = UINT64_C(100000000000);
static const int64_t most_cells[] = {600, 600, 600, 600, 4200, 600, 600, 600, 34000, 600, 600, 600, 600, 4200, 600, 150000};

static bool run_one(rx_execs *x, uint64_t k) {
    rp_options o = {.nodes = 4 + (int)(k % 19),
                    .most_cells = most_cells[k % (sizeof most_cells / sizeof *most_cells)],
                    .domain = RP_REAL,
                    .own_products = true,
                    .no_elementary = true,
                    .special = k % 2 == 1};
    rp_program *p = malloc(sizeof *p);
    rp_generate(p, SEEDS + k, &o);
    bool good = rx_check_or_report(x, p, k);
    rp_release(p);
    free(p);
    return good;
}

static rx_execs execs;

static void test_programs(void) {
    uint64_t seed, want = (uint64_t)net_count(5000, 1000000);
    bool good = true, replay = net_replay(&seed);
    CU_ASSERT_FATAL(rx_open(&execs));
    if (replay) good = seed >= SEEDS && run_one(&execs, seed - SEEDS);
    for (uint64_t k = 0; good && !replay && execs.everywhere < want && execs.programs < 2 * want; k++) good = run_one(&execs, k);
    CU_ASSERT(good);
    CU_ASSERT(!good || replay || execs.everywhere >= want);
    if (!replay) (void)rx_figures(&execs, "random real programs on the host, same bits everywhere");
    CU_ASSERT(!good || replay || (execs.classes.row && execs.classes.driver)); /* U %*% t(V) alone is the library's */
    rx_close(&execs);
}

int main(void) {
    static const test_case tests[] = {{"real programs: the same bits on every executor of the host", test_programs}};
    return run_suite("random real programs", tests, sizeof tests / sizeof *tests);
}
