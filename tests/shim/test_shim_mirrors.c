/* SPDX-License-Identifier: Apache-2.0
 * Transfers counted where they happen: a loop of ten calls writes its matrix to the device once and reads each result once, and nothing
 * else crosses; a buffer is made for what is new only. With a second queue what is sent does not wait for kernels before it, and the kernel
 * it is for does wait for it; what comes home waits for the kernel that made it, and not for those behind. */
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

/* Each of three kernels reads one matrix more: `how` the queue for what is sent. */
static void order(const char *how, bool aside) {
    enum { STEPS = 3 };
    static double more[STEPS][ROWS * COLS];
    clf_ctx *c = open_shim("none");
    CU_ASSERT_EQUAL(clf_set(c, "transfer_queue", how), CLF_OK);
    clf_mat *m = clf_borrow(c, CLF_F64, ROWS, COLS, data, NULL, NULL);
    double want = 0, sum = 0;
    for (int s = 0; s < STEPS; s++) {
        for (int i = 0; i < ROWS * COLS; i++) more[s][i] = i % 5 + s;
        m = clf_add(clf_mul(m, clf_num(c, 2)), clf_borrow(c, CLF_F64, ROWS, COLS, more[s], NULL, NULL));
    }
    for (int i = 0; i < ROWS * COLS; i++) want += ((data[i] * 2 + more[0][i]) * 2 + more[1][i]) * 2 + more[2][i];
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_matrix(c, CLF_F64, 1, 1, (double[]){7}))), 7); /* devices are looked at and open */
    unsigned from = shim_logged;
    CU_ASSERT_EQUAL(clf_read_f64(clf_sum(m), &sum), CLF_OK);
    CU_ASSERT_EQUAL(sum, want);
    const void *kernels = NULL;
    unsigned before = 0, sent = 0, writes = 0, beside = 0; /* kernels so far; writes since the last one; all; those behind a kernel */
    CU_ASSERT(shim_logged - from <= SHIM_COMMANDS);
    for (unsigned i = from; i < shim_logged; i++)
        if (shim_log[i % SHIM_COMMANDS].kind == 'k') kernels = shim_log[i % SHIM_COMMANDS].queue;
    for (unsigned i = from; i < shim_logged; i++) {
        shim_command k = shim_log[i % SHIM_COMMANDS];
        CU_ASSERT_EQUAL(k.queue != kernels, aside && k.kind == 'w');
        CU_ASSERT_EQUAL(k.waits, k.kind == 'k' && aside ? sent : 0); /* writes for nobody, kernels for theirs */
        writes += k.kind == 'w';
        beside += k.kind == 'w' && before;
        before += k.kind == 'k';
        sent = k.kind == 'w' ? sent + 1 : k.kind == 'k' ? 0 : sent;
    }
    CU_ASSERT(before >= 2 * STEPS && writes > STEPS && beside >= STEPS - 1);
    clf_close(c);
    CU_ASSERT_EQUAL(shim_count.live, 0);
}

static void test_order(void) {
    order("off", false);
    order("auto", false); /* the shim is no GPU */
    order("on", true);
}

/* Two results, of which one is there before the last kernel begins. */
static void results(const char *how, bool aside) {
    static double twice[ROWS * COLS], more[ROWS * COLS];
    clf_ctx *c = open_shim("none");
    CU_ASSERT_EQUAL(clf_set(c, "transfer_queue", how), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "results", "host"), CLF_OK);
    clf_mat *x = clf_borrow(c, CLF_F64, ROWS, COLS, data, NULL, NULL), *result[2];
    unsigned from = 0;
    for (int i = 0; i < 2; i++) { /* a kernel's first launch is waited for */
        result[0] = clf_mul(x, clf_num(c, 2));
        result[1] = clf_mul(clf_add(x, clf_num(c, 1)), x);
        from = shim_logged;
        CU_ASSERT_EQUAL(clf_eval(2, result), CLF_OK);
    }
    const void *kernels = NULL;
    unsigned home = 0, beside = 0;
    CU_ASSERT(shim_logged - from <= SHIM_COMMANDS);
    for (unsigned i = from; i < shim_logged; i++)
        if (shim_log[i % SHIM_COMMANDS].kind == 'k') kernels = shim_log[i % SHIM_COMMANDS].queue;
    for (unsigned i = from; i < shim_logged; i++) {
        shim_command k = shim_log[i % SHIM_COMMANDS];
        home += k.kind == 'r';
        beside += k.kind == 'r' && k.queue != kernels;
        if (k.kind == 'r') CU_ASSERT_EQUAL(k.waits, k.queue != kernels);
    }
    CU_ASSERT(home == 2 && beside == aside);
    CU_ASSERT(clf_read(result[0], twice, sizeof twice) == CLF_OK && clf_read(result[1], more, sizeof more) == CLF_OK);
    for (int i = 0; i < ROWS * COLS; i++) CU_ASSERT(twice[i] == data[i] * 2 && more[i] == (data[i] + 1) * data[i]);
    clf_close(c);
    CU_ASSERT_EQUAL(shim_count.live, 0);
}

static void test_results(void) {
    results("off", false);
    results("on", true);
}

int main(void) {
    static const test_case tests[] = {
        {"one kernel", test_one_kernel}, {"several", test_several}, {"order", test_order}, {"results", test_results}};
    return run_suite("kernels as C: transfers", tests, sizeof tests / sizeof *tests);
}
