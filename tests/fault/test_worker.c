/* SPDX-License-Identifier: Apache-2.0
 * Kernels compiled elsewhere: whatever becomes of the workers, at every message that goes to and fro, evaluations give the right result and
 * wait for nothing. Data are small whole numbers, so that a result has the same bits wherever it was computed. */
#include "core/clock.h"
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/folder_testing.h"

enum { ROWS = 2000, COLS = 50, RESULTS = 2, KERNELS = 2, SOON_MS = 60000 };
static const char formulas[] = "s = colSums(X * 3); sum(X * (X + 2) - 1); sum(X * s)";

static double cells[ROWS * COLS];
static double want[RESULTS];
static bool there;
static long rounds;
static atomic_long restarts;
static atomic_int lines; /* of the log: that a thread builds; that a worker is given up */

typedef struct subject {
    counting_heap heap;
    clf_ctx *c;
    clf_fn *f;
    clf_mat *x, *out[RESULTS];
} subject;

static void listen(void *user, const char *topic, const char *line) {
    (void)user, (void)topic;
    lines += strstr(line, "a thread of this process") != NULL;
    restarts += strstr(line, "is given up") != NULL;
}

static void set(subject *s, const char *knob, const char *value) { CU_ASSERT_EQUAL(clf_set(s->c, knob, value), CLF_OK); }

static bool begin(subject *s, const char *device, const char *compile, const char *worker) {
    memset(s, 0, sizeof *s);
    clf_options o = {.struct_size = sizeof o, .device = device, .log = listen, .alloc = counting_alloc, .alloc_user = &s->heap};
    lines = 0;
    CU_ASSERT_EQUAL_FATAL(clf_open(&s->c, &o), CLF_OK);
    set(s, "log", "build");
    set(s, "compile", compile);
    set(s, "worker", worker);
    set(s, "cache", "off"); /* nothing is found on disk */
    clf_binding x = {"X", clf_param(s->c, CLF_F64, ROWS, COLS, false)};
    CU_ASSERT_EQUAL_FATAL(clf_fn_parse(s->c, formulas, 1, &x, 1, &s->f), CLF_OK);
    s->x = clf_borrow(s->c, CLF_F64, ROWS, COLS, cells, NULL, NULL);
    return there || !strcmp(device, "host");
}

static void call(subject *s) {
    double got;
    CU_ASSERT_EQUAL(clf_call(s->f, 1, &s->x, RESULTS, s->out), CLF_OK);
    for (int i = 0; i < RESULTS; i++) {
        CU_ASSERT_EQUAL(clf_read_f64(s->out[i], &got), CLF_OK);
        CU_ASSERT_EQUAL(got, want[i]);
    }
}

static clf_stats stats(subject *s) {
    clf_stats st = {.struct_size = sizeof st};
    CU_ASSERT_EQUAL(clf_get_stats(s->c, &st), CLF_OK);
    return st;
}

static clf_compiling progress(subject *s) {
    clf_compiling p = {.struct_size = sizeof p};
    CU_ASSERT_EQUAL(clf_compile_progress(s->c, &p), CLF_OK);
    CU_ASSERT_EQUAL(p.asked, p.built + p.failed + p.cancelled + p.waiting);
    return p;
}

static void end(subject *s) {
    clf_close(s->c);
    CU_ASSERT_EQUAL(atomic_load(&s->heap.live), 0);
    rounds++;
}

/* A first call on the host, then what came of the asking, then calls with that. */
static clf_compiling whole_round(subject *s) {
    call(s);
    CU_ASSERT(stats(s).launches_meanwhile > 0);
    CU_ASSERT_EQUAL(stats(s).launches_tier2, 0);
    CU_ASSERT_TRUE(clf_compile_wait(s->c, SOON_MS));
    clf_compiling p = progress(s);
    CU_ASSERT(p.asked > 0);
    call(s);
    call(s);
    CU_ASSERT_EQUAL(stats(s).launches_tier2 > 0, p.built > 0);
    return p;
}

static void test_right(void) {
    subject s;
    if (begin(&s, "cpu", "background", CLF_GOOD_WORKER)) {
        clf_compiling p = whole_round(&s);
        CU_ASSERT_EQUAL(p.built, KERNELS);
        CU_ASSERT_EQUAL(p.asked, KERNELS);
        CU_ASSERT_EQUAL(stats(&s).kernels_built, KERNELS);
        CU_ASSERT_EQUAL(lines, 0);
    }
    end(&s);
}

/* Every message boundary of a build: greeting, its answer, job, its answer, and of the next one. */
static void test_every_boundary(void) {
    static const char *const ways[] = {"die 1",  "die 2",  "die 3",    "die 4",    "die 5",  "die 6",
                                       "hang 1", "hang 3", "babble 2", "babble 3", "half 2", "half 4"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways && there; i++) {
        subject s;
        setenv("CLF_TEST_WORKER", ways[i], 1);
        begin(&s, "cpu", "background", CLF_BAD_WORKER);
        set(&s, "worker_ms", "500");
        whole_round(&s);
        end(&s);
    }
    unsetenv("CLF_TEST_WORKER");
    CU_ASSERT(!there || restarts > 0);
}

/* A kernel that workers end with is not given to a third one, and its step stays on the host. */
static void test_quarantine(void) {
    subject s;
    setenv("CLF_TEST_WORKER", "die 3", 1);
    if (begin(&s, "cpu", "background", CLF_BAD_WORKER)) {
        clf_compiling p = whole_round(&s);
        CU_ASSERT_EQUAL(p.built, 0);
        CU_ASSERT_EQUAL(p.failed, p.asked);
        long given_up = restarts;
        CU_ASSERT_EQUAL(clf_warm(s.f), CLF_OK);
        CU_ASSERT_TRUE(clf_compile_wait(s.c, SOON_MS));
        CU_ASSERT_EQUAL(restarts, given_up);
        CU_ASSERT_EQUAL(progress(&s).asked, p.asked);
        call(&s);
    }
    unsetenv("CLF_TEST_WORKER");
    end(&s);
}

static void test_no_worker(void) {
    static const char *const missing[] = {"/nonexistent/clfuse-worker", "/bin/false"};
    for (size_t i = 0; i < sizeof missing / sizeof *missing && there; i++) {
        subject s;
        begin(&s, "cpu", "background", missing[i]);
        clf_compiling p = whole_round(&s);
        CU_ASSERT_EQUAL(p.built, p.asked);
        CU_ASSERT_EQUAL(lines, 1);
        end(&s);
    }
}

static double cancelled_ms(subject *s) {
    uint64_t start = clf_now_ns();
    clf_compile_cancel(s->c);
    CU_ASSERT_TRUE(clf_compile_wait(s->c, SOON_MS));
    return (double)(clf_now_ns() - start) * 1e-6;
}

/* Cancelled: over at once, though the worker hangs; and asked for again when the user wants it. Within 200 ms, if not at the first try: the
 * machine has other work, too. */
static void test_cancel(void) {
    subject s;
    setenv("CLF_TEST_WORKER", "hang 3", 1);
    if (begin(&s, "cpu", "background", CLF_BAD_WORKER)) {
        call(&s);
        CU_ASSERT(progress(&s).waiting > 0);
        CU_ASSERT_FALSE(clf_compile_wait(s.c, 100));
        double least = cancelled_ms(&s);
        CU_ASSERT_EQUAL(progress(&s).cancelled, progress(&s).asked);
        call(&s);
        for (int i = 0; i < 4; i++) {
            uint64_t asked = progress(&s).asked;
            CU_ASSERT_EQUAL(clf_warm(s.f), CLF_OK);
            CU_ASSERT(progress(&s).asked > asked);
            double ms = cancelled_ms(&s);
            if (ms < least) least = ms;
        }
        net_figure("cancelling what a hanging worker has, ms", "%.1f", least);
        CU_ASSERT(least < 200);
    }
    unsetenv("CLF_TEST_WORKER");
    end(&s);
}

/* Warming brings the kernels before the first call. */
static void test_warm(void) {
    subject s;
    if (begin(&s, "cpu", "background", CLF_GOOD_WORKER)) {
        CU_ASSERT_EQUAL(clf_warm(s.f), CLF_OK);
        CU_ASSERT_TRUE(clf_compile_wait(s.c, SOON_MS));
        call(&s);
        CU_ASSERT(stats(&s).launches_tier2 > 0);
        CU_ASSERT_EQUAL(stats(&s).launches_meanwhile, 0);
    }
    CU_ASSERT_EQUAL(clf_warm(NULL), CLF_E_ARG);
    end(&s);
}

/* Nobody names a device: it is opened beside the first runs, and plans are then made again for it. */
static void test_open_later(void) {
    enum { MANY = 40000 };
    subject s;
    bool planned = false;
    begin(&s, "", "background", CLF_GOOD_WORKER);
    clf_binding x = {"X", clf_param(s.c, CLF_F64, MANY, COLS, false)};
    clf_mat *r = clf_rand(s.c, CLF_F64, MANY, COLS, 0, 1, 1, 7), *out = NULL;
    clf_fn *f;
    double first = 0, last = 0;
    CU_ASSERT_EQUAL_FATAL(clf_fn_parse(s.c, "sum(round(100 * exp(X)) * round(10 * sqrt(X)) + round(9 * log(X + 2)))", 1, &x, 1, &f),
                          CLF_OK);
    uint64_t start = clf_now_ns();
    for (int i = 0; there && !planned && clf_now_ns() - start < SOON_MS * 1000000ull; i++) {
        CU_ASSERT_EQUAL_FATAL(clf_call(f, 1, &r, 1, &out), CLF_OK);
        CU_ASSERT_EQUAL(clf_read_f64(out, i ? &last : &first), CLF_OK);
        CU_ASSERT(!i || first == last);
        planned = stats(&s).launches_meanwhile + stats(&s).launches_tier2 > 0;
    }
    CU_ASSERT_EQUAL(planned, there);
    end(&s);
}

/* What came from a worker, or from a thread without one, is on disk: who comes later compiles nothing and waits for nothing. */
static void test_kept(void) {
    static const char *const workers[] = {CLF_GOOD_WORKER, "/nonexistent/clfuse-worker"};
    for (size_t i = 0; i < sizeof workers / sizeof *workers && there; i++) {
        CU_ASSERT_TRUE_FATAL(make_folder("clfuse-worker"));
        for (int later = 0; later < 2; later++) {
            subject s;
            begin(&s, "cpu", "background", workers[i]);
            set(&s, "cache_dir", folder);
            set(&s, "cache", "on");
            if (!later) whole_round(&s);
            call(&s);
            CU_ASSERT(stats(&s).launches_tier2 > 0);
            CU_ASSERT_EQUAL(stats(&s).kernels_built,
                            later ? 0 : KERNELS + 1); /* and the generic kernel of columns, for this plan and others */
            CU_ASSERT_EQUAL(progress(&s).asked, later ? 0 : KERNELS + 1);
            CU_ASSERT_EQUAL(stats(&s).launches_meanwhile > 0, !later);
            end(&s);
        }
        CU_ASSERT_TRUE(remove_folder());
    }
}

/* As on a GPU: a step of groups has two kernels, and waits until both are there. */
static void test_groups(void) {
    subject s;
    CU_ASSERT_TRUE_FATAL(make_folder("clfuse-worker"));
    put_text(in_folder("profile"), "kind 2\n");
    if (begin(&s, "cpu", "background", CLF_GOOD_WORKER)) {
        set(&s, "profile_file", in_folder("profile"));
        clf_compiling p = whole_round(&s);
        CU_ASSERT_EQUAL(p.built, p.asked);
        CU_ASSERT(p.asked > KERNELS);
        CU_ASSERT(stats(&s).launches_group > 0);
    }
    end(&s);
    CU_ASSERT_TRUE(remove_folder());
}

static void test_settings(void) {
    subject s;
    if (begin(&s, "cpu", "wait", "")) {
        call(&s);
        CU_ASSERT(stats(&s).launches_tier2 > 0);
        CU_ASSERT_EQUAL(stats(&s).launches_meanwhile, 0);
        set(&s, "compile", "off");
        clf_stats before = stats(&s);
        call(&s);
        CU_ASSERT_EQUAL(stats(&s).launches_tier2, before.launches_tier2);
        CU_ASSERT(stats(&s).launches_tier0 > before.launches_tier0);
        set(&s, "compile", "background");
        set(&s, "tier", "2"); /* who asks for kernels gets them */
        call(&s);
        CU_ASSERT(stats(&s).launches_tier2 > before.launches_tier2);
    }
    CU_ASSERT_EQUAL(clf_set(s.c, "compile", "perhaps"), CLF_E_NAME);
    end(&s);
}

/* A context that closes while its workers build. */
static void test_close(void) {
    for (int i = 0; i < 3 && there; i++) {
        subject s;
        begin(&s, "cpu", "background", CLF_GOOD_WORKER);
        call(&s);
        if (i) clf_compile_wait(s.c, 50 * i);
        end(&s);
    }
}

static void test_figures(void) {
    CU_ASSERT(!there || rounds > 15);
    net_figure("rounds with compile workers that go wrong", "%ld", rounds);
}

static void fill(void) {
    subject s;
    for (int i = 0; i < ROWS * COLS; i++) cells[i] = i % 7 - 3;
    for (int k = 0; k < COLS; k++) {
        double column = 0;
        for (int r = 0; r < ROWS; r++) {
            double x = cells[r * COLS + k];
            want[0] += x * (x + 2) - 1;
            column += x;
        }
        want[1] += 3 * column * column;
    }
    clf_device d = {.struct_size = sizeof d};
    begin(&s, "host", "wait", "");
    there = clf_device_at(s.c, 1, &d) && !strcmp(d.kind, "cpu");
    clf_close(s.c);
    if (!there) printf("no OpenCL device for CPUs: nothing is compiled\n");
}

int main(void) {
    static const test_case tests[] = {
        {"what is there", fill},         {"a good worker", test_right},      {"every message boundary", test_every_boundary},
        {"quarantine", test_quarantine}, {"no worker", test_no_worker},      {"cancelling", test_cancel},
        {"warming", test_warm},          {"opening later", test_open_later}, {"what is kept", test_kept},
        {"groups", test_groups},         {"settings", test_settings},        {"closing", test_close},
        {"figures", test_figures}};
    return run_suite("compile workers", tests, sizeof tests / sizeof *tests);
}
