/* SPDX-License-Identifier: Apache-2.0
 * Transfers counted where they happen: a loop of ten calls writes its matrix to the device once and reads each result once, and nothing
 * else crosses; a buffer is made for what is new only. */
#include "tests/shim/shim.h"
#include "tests/unit/api_testing.h"

enum { ROWS = 60, COLS = 7, BYTES = ROWS * COLS * 8, CALLS = 10 };

static double data[ROWS * COLS];

static clf_ctx *open_shim(const char *fuse) {
    clf_ctx *c = open_on("1");
    CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "fuse", fuse), CLF_OK);
    for (int i = 0; i < ROWS * COLS; i++) data[i] = i % 9;
    return c;
}

static void loop(const char *fuse, const char *text, double (*cell)(double, double)) {
    clf_ctx *c = open_shim(fuse);
    clf_mat *x = clf_borrow(c, CLF_F64, ROWS, COLS, data, NULL, NULL), *out = NULL;
    clf_mat *in[2] = {clf_param(c, CLF_F64, ROWS, COLS, false), clf_param(c, CLF_F64, 1, 1, true)};
    clf_fn *f = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_fn_parse(c, text, 2, (const clf_binding[]){{"X", in[0]}, {"k", in[1]}}, 2, &f), CLF_OK);
    shim_counts first = shim_count, later = first;
    for (int i = 1; i <= CALLS; i++) {
        double want = 0;
        for (int k = 0; k < ROWS * COLS; k++) want += cell(data[k], i);
        CU_ASSERT_EQUAL(clf_call(f, 2, (clf_mat *[]){x, clf_num(c, i)}, 1, &out), CLF_OK);
        CU_ASSERT_EQUAL(read_f64(out), want);
        if (i == 1) later = shim_count;
    }
    CU_ASSERT(later.written_bytes - first.written_bytes >= BYTES && later.written_bytes - first.written_bytes < BYTES + 1024);
    CU_ASSERT_EQUAL(shim_count.writes, later.writes); /* all in the first call */
    CU_ASSERT_EQUAL(shim_count.read_bytes - first.read_bytes, CALLS * 8);
    CU_ASSERT_EQUAL(shim_count.reads - first.reads, CALLS);
    clf_close(c);
    CU_ASSERT_EQUAL(shim_count.live, 0);
}

static double scaled(double x, double k) { return x * k; }
static void test_one_kernel(void) { loop("all", "sum(X * k)", scaled); }

/* Kernel after kernel: what is between them stays there. */
static double chained(double x, double k) { return (x * k + 1) * x; }
static void test_several(void) { loop("none", "sum((X * k + 1) * X)", chained); }

int main(void) {
    static const test_case tests[] = {{"one kernel", test_one_kernel}, {"several", test_several}};
    return run_suite("kernels as C: transfers", tests, sizeof tests / sizeof *tests);
}
