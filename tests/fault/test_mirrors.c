/* SPDX-License-Identifier: Apache-2.0
 * A device whose memory runs out while copies are made: what others hold there goes first, and that is enough; when it is not, the
 * evaluation is tried again with nothing kept there, and then on the host. Results are right each time. */
#include "tests/fault/round.h"

static const fault_layer *layer;
static bool there;

enum { ROWS = 100, COLS = 50 };

static int function_named(const char *name) {
    int f = 0;
    while (f < layer->functions && strcmp(layer->name(f), name)) f++;
    return f;
}

static clf_ctx *open_discrete(void) {
    clf_ctx *c = open_on("cpu");
    CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "host_pointers", "off"), CLF_OK);
    return c;
}

static clf_mat *ones(clf_ctx *c, int rows) {
    static double x[2 * ROWS * COLS];
    for (int i = 0; i < rows * COLS; i++) x[i] = 1;
    return clf_matrix(c, CLF_F64, rows, COLS, x);
}

static double sum_of(clf_mat *x) { return read_f64(clf_sum(x)); }

/* The next buffer cannot be had; another try, with the first matrix gone, can. */
static void test_evict(void) {
    static const int codes[] = {-4, -5};
    for (size_t i = 0; i < sizeof codes / sizeof *codes && there; i++) {
        clf_ctx *c = open_discrete();
        clf_mat *x = ones(c, ROWS), *y = ones(c, 2 * ROWS);
        CU_ASSERT_EQUAL(sum_of(x), ROWS * COLS);
        CU_ASSERT_EQUAL(sum_of(y), 2 * ROWS * COLS);
        clf_mat *z = ones(c, ROWS + 1);
        layer->arm(FAULT_ONCE, function_named("clCreateBuffer"), 1, codes[i]);
        CU_ASSERT_EQUAL(sum_of(z), (ROWS + 1) * COLS);
        CU_ASSERT_EQUAL(layer->injected(), 1);
        layer->disarm();
        clf_stats s = stats_of(c);
        CU_ASSERT(s.evictions >= 2 && s.retries == 0 && s.fallbacks == 0 && s.launches_tier0 == 0);
        CU_ASSERT_EQUAL(sum_of(x), ROWS * COLS); /* sent again */
        CU_ASSERT_EQUAL(stats_of(c).bytes_to_device - s.bytes_to_device >= ROWS * COLS * 8, true);
        clf_close(c);
    }
}

/* No buffer at all: on the host in the end. */
static void test_none(void) {
    if (!there) return;
    clf_ctx *c = open_discrete();
    clf_mat *x = ones(c, ROWS), *y = ones(c, 2 * ROWS);
    CU_ASSERT_EQUAL(sum_of(x), ROWS * COLS);
    layer->arm(FAULT_FOR_EVER, function_named("clCreateBuffer"), 1, -4);
    CU_ASSERT_EQUAL(sum_of(y), 2 * ROWS * COLS);
    layer->disarm();
    clf_stats s = stats_of(c);
    CU_ASSERT(s.retries == 1 && s.fallbacks >= 1 && s.launches_tier0 == 1 && s.devices_lost == 0);
    clf_close(c);
}

/* A transfer that fails at once, either way, is tried again with nothing believed of what is there. */
static void test_transfers(void) {
    static const char *const names[] = {"clEnqueueWriteBuffer", "clEnqueueReadBuffer"};
    for (size_t i = 0; i < 2 && there; i++) {
        clf_ctx *c = open_discrete();
        clf_mat *x = ones(c, ROWS), *y = ones(c, 2 * ROWS);
        CU_ASSERT_EQUAL(sum_of(x), ROWS * COLS);
        layer->arm(FAULT_ONCE, function_named(names[i]), 1, -5);
        CU_ASSERT_EQUAL(read_f64(clf_sum(clf_add(y, clf_sum(x)))), 2 * ROWS * COLS * (ROWS * COLS + 1.0));
        CU_ASSERT_EQUAL(layer->injected(), 1);
        layer->disarm();
        clf_stats s = stats_of(c);
        CU_ASSERT(s.retries == 1 && s.fallbacks == 0 && s.bytes_to_device >= 4 * ROWS * COLS * 8);
        clf_close(c);
    }
}

int main(void) {
    static const test_case tests[] = {{"room by eviction", test_evict}, {"no room at all", test_none}, {"transfers", test_transfers}};
    layer = round_layer();
    if (!layer) return 1;
    clf_ctx *c = NULL;
    clf_device d = {.struct_size = sizeof d};
    if (clf_open(&c, NULL) == CLF_OK) there = clf_device_at(c, 1, &d);
    clf_close(c);
    return run_suite("failing copies", tests, sizeof tests / sizeof *tests);
}
