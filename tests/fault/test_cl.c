/* SPDX-License-Identifier: Apache-2.0
 * OpenCL calls fail: each call of a scenario with each code it may answer, once and from there on; kernels fail after their launch; the
 * device is lost after every call; buffers over a size cannot be had. Every time: the right result or a status with a message, nothing
 * left behind, and a good run in the same context. */
#include "device/device.h"
#include "tests/fault/round.h"
#include "tests/support/net.h"
#include "tests/support/pinned_pair.h"

enum { MOST_CALLS = 20000 };

typedef struct subject {
    const scenario *what;
    const char *device;
    const char *const *extra;
} subject;

static const char *const kernels[] = {"tier", "2", NULL};
static const char *const unfused[] = {"tier", "2", "fuse", "none", NULL}; /* intermediates come and go while kernels are in flight */
static const char *const driven[] = {"tier", "2", "fuse", "all", NULL};   /* so little is cheaper in cells, at home */
static const char *const buffers[] = {"tier", "2", "host_pointers", "off", NULL};
static const char *const driven_buffers[] = {"tier", "2", "fuse", "all", "host_pointers", "off", NULL};
static char kept[256]; /* kernels on disk, there from the second round on */
static const char *const cached[] = {"tier", "2", "cache", "on", "cache_dir", kept, NULL};
static const subject subjects[] = {{&scenario_aggregates, NULL, NULL},    {&scenario_tiled, NULL, NULL},
                                   {&scenario_operators, "cpu", kernels}, {&scenario_calls, "cpu", kernels},
                                   {&scenario_aggregates, NULL, buffers}, {&scenario_aggregates, NULL, unfused},
                                   {&scenario_operators, "cpu", buffers}, {&scenario_calls, "cpu", buffers},
                                   {&scenario_sparse, "cpu", driven},     {&scenario_sparse, "cpu", driven_buffers},
                                   {&scenario_aggregates, "cpu", cached}, {&scenario_mirrors, NULL, NULL},
                                   {&scenario_split, NULL, NULL},         {&scenario_split_entries, NULL, NULL},
                                   {&scenario_split_rows, NULL, NULL},    {&scenario_unread, NULL, NULL}};
enum { NSUBJECTS = sizeof subjects / sizeof *subjects };

static const fault_layer *layer;
static bool there;
static long stride; /* every how-manyth call fails */

/* A first, good round: what is called, in order. */
static struct profile {
    long calls, kernels, probes, prepared; /* probes: kernels of discovery; prepared: calls before the first other one is launched */
    unsigned char function[MOST_CALLS];
} profile[NSUBJECTS];

static round_ fresh(int i, fault_mode mode, int function, long at, int code) {
    round_ r;
    memset(&r, 0, sizeof r);
    r.what = subjects[i].what;
    r.device = subjects[i].device;
    r.extra = subjects[i].extra;
    r.mode = mode;
    r.function = function;
    r.at = at;
    r.code = code;
    r.held = mode != FAULT_NONE;
    return r;
}

static void look(int i) {
    struct profile *p = &profile[i];
    round_ r = fresh(i, FAULT_NONE, FAULT_ANY, 0, 0);
    round_run(&r); /* builds the kernels */
    CU_ASSERT(round_judge(&r, NULL));
    layer->disarm();
    memset(&r.heap, 0, sizeof r.heap);
    r.what = subjects[i].what;
    round_run(&r);
    CU_ASSERT(round_judge(&r, NULL));
    CU_ASSERT_EQUAL(r.status, CLF_OK);
    CU_ASSERT(r.kernels > 0 && r.stats.launches_tier2 > 0);
    if (!strncmp(r.what->name, "split", 5)) CU_ASSERT(r.stats.launches_split > 0);
    p->calls = r.calls;
    p->kernels = r.kernels;
    p->probes = r.kernels - (long)r.stats.launches_tier2;
    CU_ASSERT_FATAL(p->calls > 50 && p->calls < MOST_CALLS);
    long launched = 0;
    for (long n = 1; n <= p->calls; n++) {
        p->function[n] = (unsigned char)layer->function_at(n);
        launched += !strcmp(layer->name(p->function[n]), "clEnqueueNDRangeKernel");
        if (launched <= p->probes) p->prepared = n;
    }
}

static void test_look(void) {
    for (int i = 0; i < NSUBJECTS && there; i++) look(i);
    if (!there) return;
    CU_ASSERT(profile[1].kernels >= 4); /* operands of 4 MiB in parts of 1 */
}

/* ---- every call, every code ---- */

static void one_round(round_ r, tally *t, long *bad) {
    round_run(&r);
    if (r.injected) *bad += !round_judge(&r, t);
}

static void test_calls(void) {
    tally t = {0};
    long bad = 0;
    for (int i = 0; i < NSUBJECTS && there; i++)
        for (long n = 1; n <= profile[i].calls && bad < 8; n += stride) {
            int f = profile[i].function[n], ncodes;
            const int *code = layer->codes(f, &ncodes);
            for (int k = 0; k < ncodes; k++) {
                one_round(fresh(i, FAULT_ONCE, FAULT_ANY, n, code[k]), &t, &bad);
                one_round(fresh(i, FAULT_FOR_EVER, FAULT_ANY, n, code[k]), &t, &bad);
            }
        }
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT(!there || t.injected > 100);
    CU_ASSERT(t.survived > t.statuses || !there);
    char seen[256];
    net_figure("OpenCL calls failed", "%ld", t.injected);
    net_figure("OpenCL calls failed: right result all the same", "%ld", t.survived);
    net_figure("OpenCL calls failed: statuses", "%s", tally_text(&t, seen, sizeof seen));
}

/* ---- late failures: always survived, and noticed ---- */

static void late_round(round_ r, tally *t, long *bad) {
    round_run(&r);
    if (!r.injected) return;
    bool noticed = r.mode == FAULT_SLOW ? r.stats.retries == 0 : r.stats.retries + r.stats.devices_lost > 0;
    if (round_judge(&r, t) && r.status == CLF_OK && noticed) return;
    if (r.status != CLF_OK || !noticed) round_print(&r, noticed ? "NOT SURVIVED" : "NOT NOTICED");
    ++*bad;
}

static void test_late(void) {
    static const fault_mode modes[] = {FAULT_LATE, FAULT_LATE_LOST, FAULT_LATE_ALWAYS, FAULT_FINISH, FAULT_SLOW};
    static const int codes[] = {-5, -36, -9999};
    tally t = {0};
    long bad = 0;
    for (int i = 0; i < NSUBJECTS && there; i++)
        for (long k = profile[i].probes + 1; k <= profile[i].kernels && bad < 8; k++)
            for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
                for (size_t n = 0; n < sizeof codes / sizeof *codes; n++) late_round(fresh(i, modes[m], FAULT_ANY, k, codes[n]), &t, &bad);
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT(!there || t.injected > 50);
    net_figure("late failures", "%ld", t.injected);
    net_figure("late failures survived", "%ld", t.survived);
}

/* ---- the device is lost ---- */

static void lost_round(round_ r, bool launched, tally *t, long *bad) {
    round_run(&r);
    if (!r.injected) return;
    bool survived = r.status == CLF_OK || !launched;                                 /* before that, the device may not even be there */
    survived = survived || (r.what == &scenario_unread && r.status == CLF_E_DEVICE); /* it takes along what nobody has read */
    bool judged = round_judge(&r, t);
    if (!survived) round_print(&r, "NOT SURVIVED");
    *bad += !judged || !survived;
}

static void test_lost(void) {
    static const int codes[] = {-2, -5, -36};
    tally t = {0};
    long bad = 0;
    for (int i = 0; i < NSUBJECTS && there; i++)
        for (long n = 1; n <= profile[i].calls && bad < 8; n += stride)
            for (size_t k = 0; k < sizeof codes / sizeof *codes; k++)
                lost_round(fresh(i, FAULT_LOST, FAULT_ANY, n, codes[k]), n > profile[i].prepared, &t, &bad);
    char seen[256];
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT(!there || t.injected > 100);
    net_figure("devices lost", "%ld", t.injected);
    net_figure("devices lost: right result all the same", "%ld", t.survived);
    net_figure("devices lost: statuses", "%s", tally_text(&t, seen, sizeof seen));
}

/* The same, but what was enqueued runs in the end: all it writes to must still be there. */
static void test_zombies(void) {
    tally t = {0};
    long bad = 0;
    for (int i = 0; i < NSUBJECTS && there; i++)
        for (long n = 1; n <= profile[i].calls && bad < 8; n += stride)
            lost_round(fresh(i, FAULT_ZOMBIE, FAULT_ANY, n, -36), n > profile[i].prepared, &t, &bad);
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT(!there || t.injected > 100);
    net_figure("devices lost with kernels under way", "%ld", t.injected);
}

/* ---- the device's memory is short: smaller parts, still on the device, as long as what every part needs whole fits ---- */

static void test_short_memory(void) {
    static const char *const open_budget[] = {"mem_limit", "0", NULL};
    static const int codes[] = {-4, -5, -61};
    tally t = {0};
    long bad = 0;
    for (long most = 1L << 22; most >= 1L << 19 && there; most /= 2)
        for (size_t k = 0; k < sizeof codes / sizeof *codes; k++) {
            round_ r = fresh(1, FAULT_BIG, FAULT_ANY, most, codes[k]);
            r.extra = open_budget;
            round_run(&r);
            bool small = most < 1L << 22, kept = r.stats.devices_lost == 0 && r.kernels >= (1L << 22) / most;
            bool noticed = (r.injected > 0) == small && (r.stats.fallbacks > 0) == small;
            bool judged = round_judge(&r, &t);
            if (r.status != CLF_OK || !kept || !noticed) round_print(&r, kept ? "NOT SMALLER" : "NOT ON THE DEVICE");
            bad += !judged || r.status != CLF_OK || !kept || !noticed;
        }
    CU_ASSERT_EQUAL(bad, 0);
    net_figure("device memory short: smaller parts", "%ld", t.survived);
}

/* What was computed before the device went, and every leaf, is on the host. */
static void test_survivors(void) {
    if (!there) return;
    static const double x[6] = {1, 2, 3, 4, 5, 6}, doubled[6] = {2, 4, 6, 8, 10, 12}, tripled[6] = {3, 6, 9, 12, 15, 18};
    clf_status st = CLF_OK;
    bool right = true;
    clf_ctx *c = open_on("cpu");
    CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
    clf_mat *a = clf_matrix(c, CLF_F64, 2, 3, x), *m = clf_mul(a, clf_num(c, 2)), *later = clf_add(m, a);
    CU_ASSERT_EQUAL(clf_eval(1, &m), CLF_OK);
    layer->arm(FAULT_LOST, FAULT_ANY, 1, -36);
    scenario_expect(m, doubled, 6, &st, &right);
    scenario_expect(later, tripled, 6, &st, &right);
    scenario_expect(a, x, 6, &st, &right);
    layer->disarm();
    CU_ASSERT(st == CLF_OK && right);
    clf_close(c);
}

/* Measuring a device: kernels that were launched before the failure are waited for, or their memory is kept. */
static void calibrate(fault_mode mode, int function, long at, int code) {
    clf_mem mem;
    clf_devs *d = NULL;
    clf_profile p;
    clf_err err = {CLF_OK, ""};
    clf_mem_init(&mem, NULL, NULL);
    CU_ASSERT_EQUAL_FATAL(clf_devs_open(&d, &(clf_dev_opts){.mem = &mem, .cache_dir = ""}, &err), CLF_OK);
    layer->arm(mode, function, at, code);
    layer->hold();
    clf_status st = clf_dev_calibrate(d, 0, NULL, &p, &err);
    CU_ASSERT(st != CLF_OK && err.text[0]);
    CU_ASSERT(layer->injected() > 0);
    size_t held = atomic_load(&mem.data_bytes);
    CU_ASSERT_EQUAL(held > 0, mode == FAULT_ZOMBIE && clf_dev_busy(d, 0));
    layer->wake();
    layer->disarm();
    clf_devs_close(d);
    CU_ASSERT_EQUAL(atomic_load(&mem.now_bytes), 0);
}

static int function_named(const char *name) {
    int f = 0;
    while (f < layer->functions && strcmp(layer->name(f), name)) f++;
    return f;
}

static void test_calibrate(void) {
    static const char *const names[] = {"clBuildProgram", "clCreateKernel", "clSetKernelArgSVMPointer", "clEnqueueNDRangeKernel",
                                        "clFinish"};
    for (size_t i = 0; i < sizeof names / sizeof *names && there; i++) {
        calibrate(FAULT_ONCE, function_named(names[i]), 1, -36);
        calibrate(FAULT_FOR_EVER, function_named(names[i]), 1, -5);
    }
    for (long n = 2; n <= 3 && there; n++) {
        calibrate(FAULT_ONCE, function_named("clEnqueueNDRangeKernel"), n, -6);
        calibrate(FAULT_ONCE, function_named("clFinish"), n, -36);
    }
    for (long n = 1; n <= 24 && there; n += net_every(8, 24)) calibrate(FAULT_ZOMBIE, FAULT_ANY, n, -36);
}

/* Explain says why a plan is not where it would be. */
static void explained(const char *extra, fault_mode mode, int code, const char *word) {
    static text_sink t;
    bool right = true;
    clf_ctx *c = open_on("cpu");
    CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "host_pointers", extra), CLF_OK);
    CU_ASSERT_EQUAL(scenario_aggregates.run(c, &right), CLF_OK);
    layer->arm(mode, mode == FAULT_LOST ? FAULT_ANY : function_named("clEnqueueNDRangeKernel"), 1, code);
    double x[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    clf_mat *m = clf_sum(clf_mul(clf_matrix(c, CLF_F64, 4, 3, x), clf_num(c, 2))),
            *twin = clf_sum(clf_add(clf_matrix(c, CLF_F64, 4, 3, x), clf_num(c, 2)));
    CU_ASSERT_EQUAL(read_f64(m), 156);
    CU_ASSERT_EQUAL(scenario_aggregates.run(c, &right), CLF_OK);
    CU_ASSERT_TRUE(right);
    CU_ASSERT_EQUAL(clf_explain(1, &twin, CLF_TEXT, CLF_EXPLAIN_ANALYZE, collect, empty_sink(&t)), CLF_OK);
    if (!strstr(t.at, word)) printf("\n    no '%s' in: %s\n", word, t.at);
    CU_ASSERT_PTR_NOT_NULL(strstr(t.at, word));
    CU_ASSERT_EQUAL(read_f64(twin), 102);
    layer->disarm();
    /* a setting that chooses devices gives them another chance */
    CU_ASSERT_EQUAL(clf_set(c, "device", "1"), CLF_OK);
    clf_stats before = {.struct_size = sizeof before}, after = before;
    clf_get_stats(c, &before);
    CU_ASSERT_EQUAL(scenario_aggregates.run(c, &right), CLF_OK);
    clf_get_stats(c, &after);
    CU_ASSERT_TRUE(right && after.launches_tier2 > before.launches_tier2);
    clf_close(c);
}

static void test_explain(void) {
    if (!there) return;
    explained("on", FAULT_LOST, -36, "the device is lost");
    explained("off", FAULT_LOST, -2, "the device is lost");
    explained("on", FAULT_FOR_EVER, -54, "its device failed");
    explained("off", FAULT_FOR_EVER, -5, "its device failed");
}

/* Doubled, the cells are squares: 42 - 364. */
static clf_mat *doubled_roots(clf_ctx *c) {
    static const double x[6] = {2, 8, 18, 32, 50, 72};
    clf_mat *a = clf_add(clf_matrix(c, CLF_F64, 2, 3, x), clf_matrix(c, CLF_F64, 2, 3, x));
    return clf_sum(clf_sub(clf_sqrt(a), a));
}

/* A plan for both devices, kernel, host, kernel: whichever kernel fails, before or behind the host's step, all is planned for the host. */
static void half_way(const pinned_pair *pair, long at) {
    static text_sink t;
    clf_ctx *c = open_on(NULL);
    CU_ASSERT_FATAL(pinned_pair_set(pair, c));
    CU_ASSERT_EQUAL(read_f64(doubled_roots(c)), -322);
    clf_stats good = stats_of(c);
    CU_ASSERT(good.launches_tier2 == 2 && good.launches_tier0 == 1);
    layer->arm(FAULT_FOR_EVER, function_named("clEnqueueNDRangeKernel"), at, -54);
    CU_ASSERT_EQUAL(read_f64(doubled_roots(c)), -322);
    CU_ASSERT_EQUAL(stats_of(c).fallbacks, 1);
    clf_mat *again = doubled_roots(c);
    CU_ASSERT_EQUAL(clf_explain(1, &again, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
    CU_ASSERT(strstr(t.at, "its device failed") && !strstr(t.at, ".chunk"));
    layer->disarm();
    clf_close(c);
}

static void test_half_way(void) {
    clf_profile host, device;
    pinned_pair pair;
    if (!there) return;
    pinned_pair_contrast(&host, &device);
    CU_ASSERT_FATAL(pinned_pair_make(&pair, &host, &device));
    for (long at = 1; at <= 2; at++) half_way(&pair, at);
    pinned_pair_remove(&pair);
}

int main(void) {
    static const test_case tests[] = {{"good rounds", test_look},
                                      {"every call", test_calls},
                                      {"late failures", test_late},
                                      {"lost device", test_lost},
                                      {"lost, still running", test_zombies},
                                      {"short memory", test_short_memory},
                                      {"survivors", test_survivors},
                                      {"calibration", test_calibrate},
                                      {"a plan for both devices", test_half_way},
                                      {"explain", test_explain}};
    layer = round_layer();
    if (!layer) return 1;
    snprintf(kept, sizeof kept, "%s/kernels", scenario_folder());
    stride = net_every(4, 24);
    clf_ctx *c = NULL;
    clf_device d = {.struct_size = sizeof d};
    if (clf_open(&c, NULL) == CLF_OK) there = clf_device_at(c, 1, &d);
    clf_close(c);
    if (!there) printf("no OpenCL device: nothing to fail\n");
    return run_suite("failing OpenCL calls", tests, sizeof tests / sizeof *tests);
}
