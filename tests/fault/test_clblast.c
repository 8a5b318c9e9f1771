/* SPDX-License-Identifier: Apache-2.0
 * OpenCL calls fail while a library in the place of CLBlast (tests/unit/clblast_stub.h) is tried out, inside of it and around it, and
 * behind that, while it computes products between kernels: once, for ever, late, with the device lost. Results are right every time. */
#include "tests/fault/round.h"
#include "tests/support/net.h"

enum { MOST_CALLS = 20000, N = 12, TRIALS = 24 };

static const fault_layer *layer;
static bool there;
static long calls, tried; /* of a good round; of these, until the library is ready */

/* B = t(A) A + 1, then sum of B B: whole numbers. */
static clf_status run(clf_ctx *c, bool *right) {
    double a[N * N], b[N * N], d[N * N];
    for (int i = 0; i < N * N; i++) a[i] = i % 5 - 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            b[i * N + j] = 1;
            for (int k = 0; k < N; k++) b[i * N + j] += a[k * N + i] * a[k * N + j];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            d[i * N + j] = 0;
            for (int k = 0; k < N; k++) d[i * N + j] += b[i * N + k] * b[k * N + j];
        }
    clf_mat *x = clf_matrix(c, CLF_F64, N, N, a), *y = clf_add(clf_matmul(clf_t(x), x), clf_num(c, 1)), *all[2] = {clf_matmul(y, y), y};
    clf_status st = clf_eval(2, all);
    scenario_expect(all[0], d, N * N, &st, right);
    scenario_expect(all[1], b, N * N, &st, right);
    return st;
}

static const char *const settings[] = {"tier",
                                       "2",
                                       "fuse",
                                       "none",
                                       "math",
                                       "strict",
                                       "host_pointers",
                                       "off",
                                       "compile",
                                       "wait",
                                       "clblast",
                                       "on",
                                       "clblast_library",
                                       CLF_CLBLAST_STUB,
                                       "transfer_queue",
                                       "on",
                                       NULL};
static const char *const pointers[] = {"host_pointers", "on", NULL};
static const scenario products = {"products", "cpu", settings, run};

static round_ fresh(fault_mode mode, long at, int code, bool by_pointers) {
    round_ r;
    memset(&r, 0, sizeof r);
    r.what = &products;
    r.mode = mode;
    r.function = FAULT_ANY;
    r.at = at;
    r.code = code;
    r.extra = by_pointers ? pointers : NULL;
    return r;
}

/* The queue of its own that it is tried out in goes behind the last product. */
static void test_look(void) {
    if (!there) return;
    for (int k = 0; k < 2; k++) {
        round_ r = fresh(FAULT_NONE, 0, 0, k);
        round_run(&r); /* builds the kernels */
        CU_ASSERT(round_judge(&r, NULL));
        CU_ASSERT_EQUAL(r.stats.launches_clblast, 2);
        layer->disarm();
        r = fresh(FAULT_NONE, 0, 0, k);
        round_run(&r);
        calls = r.calls;
    }
    CU_ASSERT_FATAL(calls > TRIALS && calls < MOST_CALLS);
    for (long n = 1; n <= calls; n++)
        if (!tried && !strcmp(layer->name(layer->function_at(n)), "clReleaseCommandQueue")) tried = n;
    CU_ASSERT_FATAL(tried > calls / 2);
}

static void one(fault_mode mode, long at, int code, bool by_pointers, tally *t) {
    round_ r = fresh(mode, at, code, by_pointers);
    round_run(&r);
    if (!r.injected) return;
    bool judged = round_judge(&r, t), trial = at < tried && at > 30; /* behind opening the device */
    if (trial && mode == FAULT_ONCE && (r.status != CLF_OK || r.stats.fallbacks)) round_print(&r, "NOT AS IF THERE WERE NONE");
    CU_ASSERT(judged && (!trial || mode != FAULT_ONCE || (r.status == CLF_OK && !r.stats.fallbacks)));
}

static void test_calls(void) {
    static const fault_mode modes[] = {FAULT_ONCE, FAULT_FOR_EVER, FAULT_LOST};
    static const int codes[] = {-5, -6, -36};
    tally t = {0};
    if (!there) return;
    long step = tried / (long)net_count(TRIALS, 10 * TRIALS), k = 0;
    for (long n = 31; n <= calls; n += n < tried ? step : 2, k++) one(modes[k % 3], n, codes[k / 3 % 3], k / 9 % 2, &t);
    CU_ASSERT(t.injected > TRIALS / 2);
    CU_ASSERT(t.survived > t.injected / 2);
    char seen[256];
    net_figure("OpenCL calls failed around a library for products", "%ld, %ld survived, statuses %s", t.injected, t.survived,
               tally_text(&t, seen, sizeof seen));
}

int main(void) {
    static const test_case tests[] = {{"good rounds", test_look}, {"calls", test_calls}};
    layer = round_layer();
    if (!layer) return 1;
    clf_ctx *c = NULL;
    clf_device d = {.struct_size = sizeof d};
    if (clf_open(&c, NULL) == CLF_OK) there = clf_device_at(c, 1, &d);
    clf_close(c);
    return run_suite("failing OpenCL calls around a library for products", tests, sizeof tests / sizeof *tests);
}
