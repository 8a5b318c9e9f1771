/* SPDX-License-Identifier: Apache-2.0
 * The exact planner against every assignment of its choices, component by component: what the search says is the least cost of a
 * component, is. What a choice is, and how many a component has, stands in tests/support/choices.h. Half of the graphs are searched as they
 * are drawn, half after rewriting. Components are drawn until there are enough of each size; those of a size that there are enough of, of
 * more choices, or of more assignments than are ever looked at are passed over. Of all that fails the smallest graph is shown. */
#include <inttypes.h>

#include "tests/support/choices.h"
#include "tests/support/exact_plan.h"
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/plan_made.h"

enum { MOST_ASSIGNMENTS = 2000000, MOST_CHOICES = 14, DRAWS = 400 /* graphs for one component wanted, at most */ };

static exact_case drawn; /* large */
static choices found;

typedef struct band {
    int first, last; /* choices */
    int64_t wanted, had, assignments, covers, most, one_device;
} band;

enum { BANDS = 3 };
typedef struct tally {
    band band[BANDS];
    int64_t graphs, planned, plans, passed, circles, failed;
    uint64_t smallest; /* of those that failed: the seed */
    int ops;
} tally;

/* ---- one component ---- */

/* The planner's parts of component k. */
static bool take_cover(const exact_plan *p, int k, choices_cover *out) {
    out->n = 0;
    for (int32_t i = 0; i < p->cover.npart; i++) {
        brute_part part;
        if (!brute_part_from(&drawn.b, &p->cover, i, &part)) return false;
        if (!(part.node & found.component[k])) continue;
        if (out->n == BRUTE_FACTS) return false;
        out->part[out->n++] = part;
    }
    return true;
}

/* What is wrong with the planner's cover of component k; NULL: nothing. */
static const char *judge(const exact_plan *p, int k, const choices_best *best) {
    choices_cover mine;
    if (!best->covers) return "no assignment gives a legal cover";
    const char *why = choices_illegal(&found, k, &best->cover);
    if (why) return why;
    if (choices_price(&found, &best->cover) != best->cost) return "an assignment has two prices";
    if (!take_cover(p, k, &mine)) return "the planner computes what nobody needs";
    why = choices_illegal(&found, k, &mine);
    if (why) return why;
    clf_ps cost = choices_price(&found, &mine);
    return cost == best->cost ? NULL : cost < best->cost ? "less than the least cost" : "not the least cost";
}

static void show(const exact_plan *p, int k, const choices_best *best, const char *why) {
    choices_cover mine;
    exact_case_print(&drawn, &p->g, why);
    printf("    component %d of %d, %d choices\n    the planner's:\n", k + 1, found.n, found.count[k]);
    if (take_cover(p, k, &mine)) choices_print(&found, &mine);
    printf("    least of %" PRId64 " covers of %" PRId64 " assignments: %" PRId64 "\n", best->covers, best->assignments, best->cost);
    choices_print(&found, &best->cover);
}

/* ---- one graph ---- */

static band *band_of(tally *t, int choices) {
    for (int i = 0; i < BANDS; i++)
        if (choices >= t->band[i].first && choices <= t->band[i].last && t->band[i].had < t->band[i].wanted) return &t->band[i];
    return NULL;
}

static bool wanted(tally *t) {
    bool any = false;
    for (int k = 0; k < found.n; k++) {
        if (found.count[k] > MOST_CHOICES) return false;
        any = any || band_of(t, found.count[k]);
    }
    return any;
}

static void note(tally *t) {
    if (t->failed++ && drawn.b.nop >= t->ops) return;
    t->smallest = drawn.seed;
    t->ops = drawn.b.nop;
}

static void add(band *b, const choices_best *best) {
    b->had++;
    b->assignments += best->assignments;
    b->covers += best->covers;
    b->one_device += drawn.devices.n == 1;
    b->most = best->assignments > b->most ? best->assignments : b->most;
}

/* What is wrong with the answer as a whole. */
static const char *ask(exact_plan *p, tally *t) {
    clf_status st = exact_plan_search(p, &drawn);
    t->planned++;
    t->plans += p->stats.plans;
    if (st != CLF_OK) return p->err.text;
    if (p->priced != p->stats.cost) return "the search's cost is not its cover's price";
    return p->stats.gap && !p->stats.whole ? "not proved" : NULL;
}

static void compare_components(exact_plan *p, bool shown, tally *t) {
    static choices_best best[BRUTE_FACTS];
    const char *why = NULL;
    bool any = false;
    for (int k = 0; k < found.n; k++) {
        if (!band_of(t, found.count[k])) continue;
        best[k] = choices_minimum(&found, k, MOST_ASSIGNMENTS);
        t->passed += !best[k].whole;
        any = any || best[k].whole;
    }
    if (!any) return;
    why = ask(p, t);
    if (why) note(t);
    if (why && shown) exact_case_print(&drawn, &p->g, why);
    t->circles += p->stats.whole;
    for (int k = 0; k < found.n && !why && !p->stats.whole; k++) {
        band *b = band_of(t, found.count[k]);
        if (!b || !best[k].whole) continue;
        const char *wrong = judge(p, k, &best[k]);
        add(b, &best[k]);
        if (wrong) note(t);
        if (shown) show(p, k, &best[k], wrong ? wrong : "as it should be");
    }
}

/* The graph that is drawn. */
static void compare_drawn(bool shown, tally *t) {
    exact_plan p = {.err = {CLF_OK, ""}};
    clf_mem_init(&p.mem, NULL, NULL);
    clf_arena_init(&p.arena, &p.mem);
    CU_ASSERT_EQUAL_FATAL(exact_plan_graph(&p, &drawn), CLF_OK);
    t->graphs++;
    if (brute_begin(&drawn.b, &p.g, &drawn.lim, drawn.devices.n, drawn.devices.device)) {
        choices_find(&found, &drawn.b);
        if (wanted(t)) compare_components(&p, shown, t);
    }
    clf_arena_release(&p.arena);
    CU_ASSERT_EQUAL(p.mem.now_bytes, 0);
}

static void compare(uint64_t seed, bool shown, tally *t) {
    exact_case_draw_larger(&drawn, seed);
    compare_drawn(shown, t);
}

/* ---- enough of them ---- */

static void begin(void) {
    CU_ASSERT_FATAL(exact_case_begin(&drawn, CLF_TESTS_DIR "/golden/profiles"));
    CU_ASSERT_FATAL(choices_begin(&found));
}

static bool enough(const tally *t) {
    for (int i = 0; i < BANDS; i++)
        if (t->band[i].had < t->band[i].wanted) return false;
    return true;
}

static tally sizes(int64_t few, int64_t more, int64_t many) {
    return (tally){.band = {{.first = 1, .last = 7, .wanted = few},
                            {.first = 8, .last = 11, .wanted = more},
                            {.first = 12, .last = MOST_CHOICES, .wanted = many}}};
}

static void figures(const tally *t) {
    for (int i = 0; i < BANDS; i++) {
        const band *b = &t->band[i];
        char what[96];
        snprintf(what, sizeof what, "the exact planner against every assignment, %d to %d choices", b->first, b->last);
        net_figure(what,
                   "%" PRId64 " components (%" PRId64 " on one device) with %" PRId64 " assignments (most %" PRId64 ") and %" PRId64
                   " legal covers",
                   b->had, b->one_device, b->assignments, b->most, b->covers);
    }
    net_figure("the exact planner against every assignment",
               "%" PRId64 " programs planned, %" PRId64 " components of more assignments passed over, %" PRId64
               " programs in a circle; differing %" PRId64,
               t->planned, t->passed, t->circles, t->failed);
}

static void test_least(void) {
    uint64_t first = 3000000;
    bool replay = net_replay(&first);
    tally t = sizes(net_count(17800, 178000), net_count(2000, 20000), net_count(200, 2000)), again = sizes(99, 99, 99);
    begin();
    if (replay) {
        compare(first, true, &again);
    } else {
        int64_t draws = (t.band[0].wanted + t.band[1].wanted + t.band[2].wanted) * DRAWS;
        for (int64_t i = 0; i < draws && !enough(&t); i++) compare(first + (uint64_t)i, false, &t);
        if (t.failed) compare(t.smallest, true, &again);
        CU_ASSERT(enough(&t));
        figures(&t);
    }
    CU_ASSERT_EQUAL(t.failed + again.failed, 0);
    choices_release(&found);
}

/* ---- what was found here once ---- */

static made m;

static int32_t leaf(int64_t rows, int64_t cols) { return put(&m, CLF_OP_LEAF, rows, cols, 0, -1, -1); }

/* As it is made, on the host and a fast device behind a slow link. */
static void least(const char *what, int kernel_ops) {
    tally t = sizes(99, 99, 99);
    drawn.seed = 0;
    drawn.drawn.g = m.g;
    drawn.devices.n = 2;
    drawn.devices.device[0] = &drawn.devices.profile[0];
    drawn.devices.device[1] = &drawn.devices.profile[2];
    drawn.lim = (clf_limits){.kernel_ops = kernel_ops, .kernel_inputs = 48};
    compare_drawn(false, &t);
    if (t.failed) printf("\n    %s\n", what);
    if (t.failed) compare_drawn(true, &t);
    CU_ASSERT(t.band[0].had + t.band[1].had > 0 && !t.failed);
}

/* A sequence in memory, for ranges copy nothing, is read row by row by both: one loop. */
static void two_ranges(void) {
    int32_t s = put(&m, CLF_OP_SEQ, 40, 1, 0, -1, -1);
    for (int i = 0; i < 2; i++) want(&m, put(&m, CLF_OP_INDEX, 40, 1, 1, s, -1));
}

/* A copied expression between a value and its reader is no part that would have to run between them. */
static void through_a_copy(void) {
    enum { N = 3000000 };
    int32_t s = put(&m, CLF_OP_SEQ, N, 1, 0, -1, -1), a = put(&m, CLF_OP_SIGN, N, 1, 1, s, -1);
    int32_t copy = put(&m, CLF_OP_SQRT, N, 1, 1, a, -1), c = put(&m, CLF_OP_CUM, N, 1, 1, a, -1);
    m.node[c].attr[0] = CLF_FOLD_SUM;
    want(&m, put_fold(&m, c, CLF_FOLD_SUM, CLF_WAY_ALL));
    want(&m, put_fold(&m, a, CLF_FOLD_SUM, CLF_WAY_COLS));
    want(&m, put(&m, CLF_OP_INDEX, 1, 1, 1, put(&m, CLF_OP_MIN, N, 1, 2, a, copy), -1));
}

/* Two ranges of one row each are over different columns: two loops, though the selectors that the search begins with join them. */
static void two_rows(void) {
    int32_t x = leaf(12, 5);
    want(&m, put(&m, CLF_OP_EXP, 1, 5, 1, put(&m, CLF_OP_INDEX, 1, 5, 1, x, -1), -1));
    want(&m, put(&m, CLF_OP_INDEX, 1, 1, 1, x, -1));
}

/* A single value in memory does not connect its readers. */
static void one_value(void) {
    int32_t s = leaf(1, 1), a = put(&m, CLF_OP_ADD, 1, 1, 2, s, put(&m, CLF_OP_INDEX, 1, 1, 1, leaf(1, 40), -1));
    want(&m, put(&m, CLF_OP_POW, 1, 1, 2, a, s));
    want(&m, put(&m, CLF_OP_EXP, 1, 1, 1, a, -1));
}

/* A loop that reads a sequence for one operator and copies it for another has the copy's operators, too. */
static void read_and_copied(void) {
    int32_t s = put(&m, CLF_OP_SEQ, 10, 1, 0, -1, -1), t = put(&m, CLF_OP_TRANSPOSE, 1, 10, 1, s, -1);
    int32_t p = put(&m, CLF_OP_MATMUL, 10, 10, 2, leaf(10, 1), t);
    want(&m, put(&m, CLF_OP_MUL, 10, 10, 2, p, s));
}

static void test_found(void) {
    static const struct {
        const char *what;
        void (*make)(void);
        int kernel_ops;
    } graph[] = {{"two ranges of a sequence", two_ranges, 200},
                 {"a copied expression between", through_a_copy, 200},
                 {"ranges of one row", two_rows, 200},
                 {"a single value read twice", one_value, 2},
                 {"a sequence read and copied", read_and_copied, 2}};
    begin();
    for (size_t i = 0; i < sizeof graph / sizeof *graph; i++) {
        make_begin(&m);
        graph[i].make();
        least(graph[i].what, graph[i].kernel_ops);
    }
    choices_release(&found);
}

/* ---- the oracles against each other ---- */

/* The drawn graph's one component: as many covers by choices as by sets, on one device, and the same least cost. */
static bool agree(void) {
    brute_best sets = brute_minimum(&drawn.b);
    choices_best assigned = choices_minimum(&found, 0, INT64_MAX);
    bool same = sets.covers ? sets.cost == assigned.cost : !assigned.covers;
    if (drawn.devices.n == 1) same = same && sets.covers == assigned.covers;
    if (same) return true;
    exact_case_print(&drawn, &drawn.drawn.g, "the oracles differ");
    printf("    by sets: %" PRId64 " of %" PRId64 "; by choices: %" PRId64 " of %" PRId64 "\n", sets.cost, sets.covers, assigned.cost,
           assigned.covers);
    return false;
}

/* Few operators, all in one component: all assignments give all covers by sets of operators, and the same least cost. */
static void test_oracles(void) {
    int64_t programs = net_count(1500, 30000), compared = 0, differing = 0;
    begin();
    for (int64_t i = 0; i < programs && !differing; i++) {
        exact_case_draw(&drawn, 700000 + (uint64_t)i);
        CU_ASSERT_FATAL(exact_case_tables(&drawn, &drawn.drawn.g));
        choices_find(&found, &drawn.b);
        compared += found.n == 1;
        differing += found.n == 1 && !agree();
        brute_release(&drawn.b);
    }
    choices_release(&found);
    CU_ASSERT(compared > programs / 5);
    CU_ASSERT_EQUAL(differing, 0);
    net_figure("all covers by choices against all covers by sets of operators", "%" PRId64 " components; differing %" PRId64, compared,
               differing);
}

int main(void) {
    static const test_case tests[] = {
        {"the oracles against each other", test_oracles}, {"what was found once", test_found}, {"the least cost", test_least}};
    return run_suite("choices of the exact planner", tests, sizeof tests / sizeof *tests);
}
