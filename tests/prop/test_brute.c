/* SPDX-License-Identifier: Apache-2.0
 * The oracles of the exact planner by themselves: least covers derived by hand, what selectors choose against them, devices against
 * minimum cuts, and covers that follow from choices of edges against all covers.
 *
 * By hand: a device that reads 1 byte in 1 ps, writes one in 2 ps, computes a cell in 1 ps (EXP in 100), multiplies and adds in 1 ps and
 * starts a loop in 1000 ps. Matrices have cells of 8 bytes. */
#include <inttypes.h>

#include "tests/support/exact_case.h"
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/plan_made.h"

static brute b; /* large */

/* ---- derived by hand ---- */

static clf_profile plain_device(void) {
    clf_profile d;
    clf_profile_assume(&d, CLF_DEV_HOST, 1);
    for (int t = 0; t < CLF_PROFILE_TIERS; t++) d.read_bytes_per_s[t] = 1e12;
    for (int c = 0; c < CLF_NCLASSES; c++) d.cells_per_s[0][c] = d.cells_per_s[1][c] = 1e12;
    d.cells_per_s[1][CLF_CLASS_EXP] = 1e10;
    d.write_cost = 2;
    d.fma_per_s[0] = d.fma_per_s[1] = d.library_flops_per_s[0] = d.library_flops_per_s[1] = 1e12;
    d.library_half[0] = d.library_half[1] = d.library_row_ns[0] = d.library_row_ns[1] = d.library_wait_ns[0] = d.library_wait_ns[1] =
        d.row_ns = d.dot_ns = d.callout_ns = 0;
    d.overlap = 1;
    d.callout_bytes_per_s = 1e12;
    d.launch_async_ns = d.launch_sync_ns = 1;
    d.library_ns = 2;
    return d;
}

/* The least cost of the graph made on these devices. covers >= 0: and how many legal covers it has. */
static brute_best least(const made *m, const clf_limits *lim, int n, const clf_profile *const *device) {
    brute_best none = {.cost = -1};
    CU_ASSERT_FATAL(brute_make(&b, &m->g, lim, n, device));
    brute_best best = brute_minimum(&b);
    CU_ASSERT_PTR_NULL(best.cost < CLF_PS_MOST ? brute_illegal(&b, &best.cover) : "none is legal");
    CU_ASSERT_EQUAL(brute_price(&b, &best.cover), best.cost);
    brute_release(&b);
    return best.covers ? best : none;
}

static void expect_with(const made *m, const clf_limits *lim, const clf_profile *d, clf_ps cost, int64_t covers) {
    brute_best best = least(m, lim, 1, &d);
    if (best.cost != cost || best.covers != covers)
        printf("\n    costs %" PRId64 ", expected %" PRId64 "; %" PRId64 " covers, expected %" PRId64 "\n", best.cost, cost, best.covers,
               covers);
    CU_ASSERT_EQUAL(best.cost, cost);
    CU_ASSERT_EQUAL(best.covers, covers);
}

static void expect(const made *m, clf_ps cost, int64_t covers) {
    clf_profile d = plain_device();
    expect_with(m, &plenty, &d, cost, covers);
}

static made m;

static int32_t leaf(int64_t rows, int64_t cols) { return put(&m, CLF_OP_LEAF, rows, cols, 0, -1, -1); }
static int32_t sum(int32_t a) { return put_fold(&m, a, CLF_FOLD_SUM, CLF_WAY_ALL); }

/* sum(X * Y), 10 x 10: one loop reads 1600 and writes 8 (16 ps); two cost two launches and the product, written and read. */
static void test_chain(void) {
    make_begin(&m);
    int32_t X = leaf(10, 10), Y = leaf(10, 10);
    want(&m, sum(put(&m, CLF_OP_MUL, 10, 10, 2, X, Y)));
    expect(&m, 1000 + 1600 + 16, 2);
}

/* A = X * Y kept, and sum(A): one pass that stores A. The others: sum reads A, or computes it again. */
static void test_kept(void) {
    make_begin(&m);
    int32_t X = leaf(10, 10), Y = leaf(10, 10), A = put(&m, CLF_OP_MUL, 10, 10, 2, X, Y);
    want(&m, A);
    want(&m, sum(A));
    expect(&m, 1000 + 1600 + 1600 + 16, 3);
}

/* E / sum(E): E in two loops. Cheap, it is computed in both; dear, the first stores it for the second. */
static void test_again_or_stored(void) {
    for (int dear = 0; dear < 2; dear++) {
        make_begin(&m);
        int32_t X = leaf(10, 10), E = put(&m, dear ? CLF_OP_EXP : CLF_OP_ABS, 10, 10, 1, X, -1), S = sum(E);
        want(&m, put(&m, CLF_OP_DIV, 10, 10, 2, E, S));
        clf_ps again = (1000 + 800 + 16) + (1000 + 800 + 8 + 1600);         /* compute: 200 and 200 */
        clf_ps stored = (1000 + 100 * 100 + 100) + (1000 + 800 + 8 + 1600); /* reads and writes: 2416, compute of the second: 100 */
        /* Stored by {E} and read by others: 3 ways; by {E S}: 1; not stored: 1. Never by {E quotient}, which {S} waits for and feeds. */
        expect(&m, dear ? stored : again, 5);
    }
}

/* Two folds of one matrix in one pass; of two matrices in two, for nothing connects them. */
static void test_join(void) {
    make_begin(&m);
    int32_t X = leaf(10, 10);
    want(&m, sum(X));
    want(&m, put_fold(&m, X, CLF_FOLD_MAX, CLF_WAY_ALL));
    expect(&m, 1000 + 800 + 2 * 16, 2);
    make_begin(&m);
    X = leaf(10, 10);
    want(&m, sum(X));
    want(&m, sum(leaf(10, 10)));
    expect(&m, 2 * (1000 + 800 + 16), 1);
}

/* X %*% v, 100 x 4: as a loop v's 32 bytes are read for every 4 rows, 25 times; the library reads them once but starts in 2000 ps. */
static void test_product(void) {
    clf_profile d = plain_device();
    make_begin(&m);
    int32_t X = leaf(100, 4), v = leaf(4, 1), p = put(&m, CLF_OP_MATMUL, 100, 1, 2, X, v);
    want(&m, p);
    expect(&m, 1000 + 3200 + 25 * 32 + 1600, 2);
    d.library_ns = 1;
    expect_with(&m, &plenty, &d, 1000 + 3200 + 32 + 1600, 2);
    m.g.nroot = 0;
    want(&m, sum(p)); /* the product never reaches memory: less than the library's */
    expect_with(&m, &plenty, &d, 1000 + 3200 + 25 * 32 + 16, 3);
    d.dot_ns = 0.1; /* begun in each row: 10000 more */
    expect_with(&m, &plenty, &d, (1000 + 3200 + 32 + 1600) + (1000 + 800 + 16), 3);
}

/* colSums(X), 100 x 10: blocks of 16 rows, 6.25 of them; 5.25 copies of 80 bytes are written (160) and read (80). */
static void test_meeting(void) {
    make_begin(&m);
    want(&m, put_fold(&m, leaf(100, 10), CLF_FOLD_SUM, CLF_WAY_COLS));
    expect(&m, 1000 + 8000 + 160 + 1260, 1);
}

/* X * (s + 1), s + 1 a result, too: the loop computes it from an argument, and it is stored by a loop of its own. */
static void test_copied(void) {
    make_begin(&m);
    int32_t X = leaf(10, 10), s = put(&m, CLF_OP_CONST, 1, 1, 0, -1, -1), one = put(&m, CLF_OP_CONST, 1, 1, 0, -1, -1);
    m.node[s].scalar = m.node[one].scalar = 1;
    int32_t c = put(&m, CLF_OP_ADD, 1, 1, 2, s, one);
    m.node[c].scalar = 1;
    want(&m, put(&m, CLF_OP_MUL, 10, 10, 2, X, c));
    expect(&m, 1000 + 800 + 1600, 1);
    want(&m, c);
    expect(&m, (1000 + 800 + 1600) + (1000 + 16), 1);
}

/* cbind(X, Y), 10 x 20: the host's starts in no time here; summed, its cells never reach memory. */
static void test_callout(void) {
    make_begin(&m);
    int32_t c = put(&m, CLF_OP_CBIND, 10, 20, 2, leaf(10, 10), leaf(10, 10));
    want(&m, c);
    expect(&m, 1600 + 3200, 2);
    m.g.nroot = 0;
    want(&m, sum(c));
    expect(&m, 1000 + 1600 + 16, 3);
}

/* sum(sqrt(abs(X))) with two operators a kernel: 1 + 2, 2 + 1 or 1 + 1 + 1. */
static void test_limit(void) {
    const clf_limits two = {.kernel_ops = 2, .kernel_inputs = 48};
    clf_profile d = plain_device();
    make_begin(&m);
    want(&m, sum(put(&m, CLF_OP_SQRT, 10, 10, 1, put(&m, CLF_OP_ABS, 10, 10, 1, leaf(10, 10), -1), -1)));
    expect_with(&m, &two, &d, (1000 + 800 + 1600) + (1000 + 800 + 16), 3);
    expect_with(&m, &plenty, &d, 1000 + 800 + 16, 4);
}

/* exp(X) on another device, which computes it in 1 ps a cell and is otherwise equal: worth while as long as moving 800 bytes there and
 * back costs less than 7600. */
static void test_device(void) {
    clf_profile host = plain_device(), gpu = plain_device();
    const clf_profile *both[] = {&host, &gpu};
    gpu.cells_per_s[1][CLF_CLASS_EXP] = 1e12;
    gpu.zero_copy = 0;
    gpu.transfer_bytes_per_s = 1e12;
    make_begin(&m);
    int32_t X = leaf(10, 10), E = put(&m, CLF_OP_EXP, 10, 10, 1, X, -1);
    want(&m, E);
    gpu.transfer_ns = 0;
    CU_ASSERT_EQUAL(least(&m, &plenty, 2, both).cost, 1000 + 2400 + 2 * 800);
    gpu.transfer_ns = 2.9;
    CU_ASSERT_EQUAL(least(&m, &plenty, 2, both).cost, 1000 + 2400 + 2 * (2900 + 800));
    gpu.transfer_ns = 3.1;
    CU_ASSERT_EQUAL(least(&m, &plenty, 2, both).cost, 11000);
    gpu.transfer_ns = 0;
    gpu.launch_sync_ns = 1.5; /* the caller waits for 500 more */
    CU_ASSERT_EQUAL(least(&m, &plenty, 2, both).cost, 1000 + 2400 + 2 * 800 + 500);
    m.g.nroot = 0; /* E / sum(E): X moves once for both loops, the sum stays */
    want(&m, put(&m, CLF_OP_DIV, 10, 10, 2, E, sum(E)));
    CU_ASSERT_EQUAL(least(&m, &plenty, 2, both).cost, (1000 + 816) + (1000 + 800 + 8 + 1600) + 800 + 800 + 500);
}

/* ---- random graphs ---- */

static exact_case drawn; /* large */

static void begin(void) { CU_ASSERT_FATAL(exact_case_begin(&drawn, CLF_TESTS_DIR "/golden/profiles")); }

static void draw(uint64_t seed) {
    exact_case_draw(&drawn, seed);
    CU_ASSERT_FATAL(exact_case_tables(&drawn, &drawn.drawn.g));
}

static void print_drawn(const char *why) { exact_case_print(&drawn, &drawn.drawn.g, why); }

typedef struct cutting {
    int64_t seen, every, compared, differing;
} cutting;

/* Devices of one cover: tried one by one, against a minimum cut, and priced again. */
static bool compare_cut(void *user, const brute_cover *c) {
    cutting *x = user;
    if (x->seen++ % x->every) return true;
    brute_cover mine = *c;
    clf_ps tried = brute_place(&drawn.b, &mine, CLF_PS_MOST), cut = brute_cut(&drawn.b, c);
    x->compared++;
    if (tried == cut && brute_price(&drawn.b, &mine) == tried) return true;
    if (!x->differing++) {
        printf("\n    devices tried: %" PRId64 ", as a cut: %" PRId64 ", priced again: %" PRId64 "\n", tried, cut,
               brute_price(&drawn.b, &mine));
        brute_print(&drawn.b, c);
    }
    return true;
}

static void test_cuts(void) {
    int64_t programs = net_count(1500, 60000);
    cutting x = {.every = 1};
    begin();
    for (int64_t i = 0; i < programs && !x.differing; i++) {
        uint64_t seed = 400000 + (uint64_t)i;
        draw(seed);
        if (drawn.devices.n == 2) {
            x.every = 1 + brute_minimum(&drawn.b).covers / 50;
            (void)brute_walk(&drawn.b, compare_cut, &x);
            if (x.differing) print_drawn("devices differ from the minimum cut");
        }
        brute_release(&drawn.b);
    }
    CU_ASSERT(x.compared > programs);
    CU_ASSERT_EQUAL(x.differing, 0);
    net_figure("devices of covers against minimum cuts", "%" PRId64 " covers; differing %" PRId64, x.compared, x.differing);
}

/* What a selector chooses is a cover like any other. */
static bool select_cover(const char *name, clf_arena *arena, brute_cover *out) {
    clf_memo memo;
    clf_cover c;
    clf_err err = {CLF_OK, ""};
    CU_ASSERT_EQUAL_FATAL(clf_explore(&drawn.drawn.g, arena, &memo, &err), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_select(&memo, clf_selector_find(name), &drawn.lim, arena, &c, &err), CLF_OK);
    return brute_from(&drawn.b, &c, out);
}

typedef struct tally {
    int64_t legal, beyond, below;
} tally;

static void compare_selector(const char *name, clf_ps minimum, tally *t) {
    clf_mem mem;
    clf_arena arena;
    brute_cover c;
    clf_mem_init(&mem, NULL, NULL);
    clf_arena_init(&arena, &mem);
    bool known = select_cover(name, &arena, &c);
    const char *why = known ? brute_illegal(&drawn.b, &c) : "other copies";
    t->legal += !why;
    t->beyond += why != NULL;
    if (getenv("CLF_TEST_SEED") && why) print_drawn(why);
    if (!why && brute_price(&drawn.b, &c) < minimum) {
        if (!t->below++) print_drawn(name);
        brute_print(&drawn.b, &c);
    }
    clf_arena_release(&arena);
}

static void test_selectors(void) {
    int64_t programs = net_count(3000, 100000);
    tally none = {0}, all = {0};
    uint64_t first = 500000;
    begin();
    if (net_replay(&first)) programs = 1;
    for (int64_t i = 0; i < programs; i++) {
        uint64_t seed = first + (uint64_t)i;
        draw(seed);
        brute_best best = brute_minimum(&drawn.b);
        compare_selector("none", best.cost, &none);
        compare_selector("all", best.cost, &all);
        brute_release(&drawn.b);
    }
    CU_ASSERT(none.legal > programs / 2 && all.legal > programs / 2);
    CU_ASSERT_EQUAL(none.below + all.below, 0);
    net_figure("covers of the selectors none and all against brute force",
               "%" PRId64 " programs; legal %" PRId64 " and %" PRId64 ", below the minimum %" PRId64, programs, none.legal, all.legal,
               none.below + all.below);
}

/* One choice an edge, the same in all loops, is less than all covers: by how much? */
static void test_spaces(void) {
    int64_t programs = net_count(5000, 200000), gaps = 0, covers = 0, most = 0, none = 0;
    double worst = 0;
    begin();
    for (int64_t i = 0; i < programs; i++) {
        draw(600000 + (uint64_t)i);
        brute_best best = brute_minimum(&drawn.b), edges = brute_minimum_edges(&drawn.b);
        CU_ASSERT(best.cost <= edges.cost);
        none += !best.covers;
        double gap = (double)edges.cost / (double)best.cost - 1;
        gaps += gap > 0;
        worst = gap > worst ? gap : worst;
        covers += best.covers;
        most = best.covers > most ? best.covers : most;
        brute_release(&drawn.b);
    }
    net_figure("covers by one choice an edge against all covers",
               "%" PRId64 " programs (%" PRId64 " without a cover within their limits) with %" PRId64 " covers (most %" PRId64
               "); dearer in %" PRId64 ", by %.1f %% at most",
               programs, none, covers, most, gaps, 100 * worst);
}

int main(void) {
    static const test_case tests[] = {
        {"a chain", test_chain},
        {"a kept intermediate", test_kept},
        {"computed again or stored", test_again_or_stored},
        {"joined passes", test_join},
        {"a product: loop or library", test_product},
        {"what meets over rows", test_meeting},
        {"copied scalars", test_copied},
        {"columns put together: loop or host", test_callout},
        {"a kernel's limit", test_limit},
        {"another device", test_device},
        {"devices as minimum cuts", test_cuts},
        {"selectors", test_selectors},
        {"choices of edges", test_spaces},
    };
    return run_suite("brute force", tests, sizeof tests / sizeof *tests);
}
