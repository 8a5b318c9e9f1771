/* SPDX-License-Identifier: Apache-2.0
 * Random programs of exact integers on the host: every selector, instruction set, number of threads, and the reference executor give
 * the interpreter's values and the same bytes as each other. A failing program is shrunk and printed as a command of the tool.
 * CLF_TEST_SEED replays one program: the seed says its family and place. */
#include "tests/support/net.h"
#include "tests/support/random_execs.h"
#include "tests/unit/api_testing.h"

/* Families of programs; program k of family f has the seed (f + 1) * FAMILY + k. Of a hundred programs, `share` are of the family. */
static const uint64_t FAMILY = 1000000000;
static const struct {
    int share, nodes, spread;
    int64_t most_cells;
} families[] = {{70, 4, 17, 600}, {15, 8, 17, 4200}, {8, 8, 17, 34000}, {5, 40, 60, 1200}, {2, 20, 20, 200000}};
enum { FAMILIES = sizeof families / sizeof *families };

static bool run_one(rx_execs *x, int f, uint64_t k) {
    rp_options o = {.nodes = families[f].nodes + (int)(k % (uint64_t)families[f].spread), .most_cells = families[f].most_cells};
    rp_program *p = malloc(sizeof *p);
    rp_generate(p, (uint64_t)(f + 1) * FAMILY + k, &o);
    bool good = rx_check_or_report(x, p, k);
    rp_release(p);
    free(p);
    return good;
}

static void replay(rx_execs *x, uint64_t seed) {
    int f = (int)(seed / FAMILY) - 1;
    CU_ASSERT_FATAL(f >= 0 && f < FAMILIES);
    CU_ASSERT(run_one(x, f, seed % FAMILY));
}

static void run_all(rx_execs *x) {
    uint64_t want = (uint64_t)net_count(20000, 5000000), k[FAMILIES] = {0}, before = 0;
    bool good = true;
    for (int i = 0; good && x->everywhere < want && x->programs < 2 * want; i = (i + 1) % 100) {
        int f = 0, at = (i * 37) % 100; /* the families take turns */
        while (at >= families[f].share) at -= families[f++].share;
        good = run_one(x, f, k[f]++);
    }
    CU_ASSERT(good);
    CU_ASSERT(x->everywhere >= want || !good);
    for (int s = 0; s < x->nselector; s++)
        for (int e = 0; e < x->nsetting; e++) before += x->host[s][e].programs == 0;
    CU_ASSERT_EQUAL(before, 0);
    bool every = rx_figures(x, "random integer programs on the host");
    CU_ASSERT(!good || every);
    bool rules = plan_classes_rules(&x->classes, CLF_RULE_ROUNDING, "power", "random integer programs on the host");
    CU_ASSERT(!good || rules || want < 20000);
}

static rx_execs execs;

static void test_programs(void) {
    uint64_t seed;
    CU_ASSERT_FATAL(rx_open(&execs));
    if (net_replay(&seed))
        replay(&execs, seed);
    else
        run_all(&execs);
    rx_close(&execs);
}

int main(void) {
    static const test_case tests[] = {{"integer programs on every executor of the host", test_programs}};
    return run_suite("random programs", tests, sizeof tests / sizeof *tests);
}
