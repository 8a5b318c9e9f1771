/* SPDX-License-Identifier: Apache-2.0
 * Budgets from 1 MiB upwards: what can be visited in parts gives the right result under each, in more parts the smaller it is; what
 * cannot names bytes and budget. */
#include "tests/fault/round.h"
#include "tests/support/net.h"

static const char *const budgets[] = {"1M", "2M", "4M", "8M", "16M", "64M", "0"};
enum { NBUDGETS = sizeof budgets / sizeof *budgets };

static bool there;
static long runs;

static uint64_t under(const scenario *what, const char *device, const char *const *extra) {
    round_ r;
    memset(&r, 0, sizeof r);
    r.what = what;
    r.device = device;
    r.extra = extra;
    round_run(&r);
    CU_ASSERT(round_judge(&r, NULL));
    if (r.status != CLF_OK) round_print(&r, "BUDGET");
    CU_ASSERT_EQUAL(r.status, CLF_OK);
    runs++;
    return r.stats.launches_tier2;
}

static void test_parts(void) {
    uint64_t last = UINT64_MAX, first = 0;
    for (int i = 0; i < NBUDGETS && there; i++) {
        uint64_t launches = under(&scenario_tiled, NULL, (const char *const[]){"mem_limit", budgets[i], NULL});
        CU_ASSERT(launches > 0 && launches <= last);
        last = launches;
        first = i ? first : launches;
    }
    CU_ASSERT(!there || first >= 4 * last);
}

/* In place on the device, and on the host executor, with every scenario. */
static void test_everywhere(void) {
    for (int i = 0; i < NBUDGETS; i++)
        for (int k = 0; scenarios[k]; k++) {
            under(scenarios[k], "host", (const char *const[]){"tier", "auto", "mem_limit", budgets[i], NULL});
            if (!there) continue;
            under(scenarios[k], "cpu", (const char *const[]){"tier", "2", "host_pointers", "on", "mem_limit", budgets[i], NULL});
            under(scenarios[k], "cpu", (const char *const[]){"tier", "2", "host_pointers", "off", "mem_limit", budgets[i], NULL});
        }
}

/* Smaller and smaller largest allocations of the device, down to less than a chunk of rows: then the host does it. */
static void test_max_alloc(void) {
    static const char *const sizes[] = {"4M", "1M", "256K", "64K", "16K", "4K", "1K"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && there; i++)
        under(&scenario_tiled, NULL, (const char *const[]){"mem_limit", "0", "max_alloc", sizes[i], NULL});
}

/* A result that is larger than the budget. */
static void test_over(void) {
    enum { N = 512 };
    static double x[N * N];
    for (int on = 0; on < (there ? 2 : 1); on++) {
        clf_ctx *c = open_on(on ? "cpu" : "host");
        CU_ASSERT_EQUAL(clf_set(c, "mem_limit", "1M"), CLF_OK);
        if (on) CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        clf_mat *m = clf_add(clf_borrow(c, CLF_F64, N, N, x, NULL, NULL), clf_num(c, 1)), *s = clf_sum(m);
        expect_error(c, clf_eval(1, &m), CLF_E_NOMEM, "2097152 bytes");
        expect_error(c, clf_eval(1, &m), CLF_E_NOMEM, "budget of 1048576");
        CU_ASSERT_EQUAL(read_f64(s), N * N);
        clf_mem_stats mem = {.struct_size = sizeof mem};
        CU_ASSERT_EQUAL(clf_get_mem_stats(c, &mem), CLF_OK);
        CU_ASSERT(mem.data <= 1 << 20);
        clf_close(c);
    }
}

static void test_figures(void) {
    CU_ASSERT(runs > NBUDGETS);
    net_figure("runs under budgets from 1 MiB", "%ld", runs);
}

int main(void) {
    static const test_case tests[] = {{"parts", test_parts},
                                      {"everywhere", test_everywhere},
                                      {"largest allocation", test_max_alloc},
                                      {"over the budget", test_over},
                                      {"figures", test_figures}};
    if (!round_layer()) return 1;
    clf_ctx *c = NULL;
    clf_device d = {.struct_size = sizeof d};
    if (clf_open(&c, NULL) == CLF_OK) there = clf_device_at(c, 1, &d);
    clf_close(c);
    return run_suite("budgets", tests, sizeof tests / sizeof *tests);
}
