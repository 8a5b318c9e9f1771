/* SPDX-License-Identifier: Apache-2.0
 * What becomes of products while CLBlast warms up on a device, when it errs or fails there, and where it is not to be used, with a
 * library of our own in its place (clblast_stub.h). The results are right in any case. Where there is no OpenCL device, nothing is checked. */
#include "tests/unit/clblast_stub.h"

#include <dlfcn.h>

#include "device/device.h"
#include "tests/unit/clblast_testing.h"

enum { TRIAL = 15, TRIALS = 2 * TRIAL }; /* products that it is tried out with: of a type, of both */

static clblast_stub_state *stub;
static const product_case small = {true, false, 20, 30, 25};

static clf_ctx *begin(const char *host_pointers, const char *compile) {
    memset(stub, 0, sizeof *stub);
    return open_clblast(CLF_CLBLAST_STUB, host_pointers, compile);
}

static uint64_t by_it(clf_ctx *c) { return stats_of(c).launches_clblast; }

static clf_mat *counted(clf_ctx *c, int rows, int cols) {
    double x[600];
    for (int i = 0; i < rows * cols; i++) x[i] = i % 7 - 2;
    return clf_matrix(c, CLF_F64, rows, cols, x);
}

static bool says(clf_ctx *c, const char *word) {
    static text_sink t;
    clf_mat *r = clf_matmul(counted(c, 20, 30), counted(c, 30, 10));
    CU_ASSERT_EQUAL(clf_explain(1, &r, CLF_TEXT, 0, collect, empty_sink(&t)), CLF_OK);
    if (!strstr(t.at, word)) printf("\n    no '%s' in\n%s\n", word, t.at);
    return strstr(t.at, word) != NULL;
}

/* Nobody waits for it; it takes over when it is ready, in plans that were made before, too. */
static void test_warming(void) {
    clf_ctx *c = begin("off", "background");
    if (!c) return;
    atomic_store(&stub->hold, 1);
    for (int i = 0; i < 3; i++) CU_ASSERT(product_right(c, CLF_F64, &small));
    CU_ASSERT(by_it(c) == 0 && stats_of(c).launches_library == 3);
    CU_ASSERT(says(c, "CLBlast is being compiled for the device"));
    clf_compiling now = {.struct_size = sizeof now};
    CU_ASSERT(clf_compile_progress(c, &now) == CLF_OK && now.waiting == 1 && now.asked == now.built + 1);
    CU_ASSERT(!clf_compile_wait(c, 10));
    atomic_store(&stub->hold, 0);
    CU_ASSERT(clf_compile_wait(c, 60000));
    CU_ASSERT(clf_compile_progress(c, &now) == CLF_OK && now.waiting == 0 && now.asked == now.built);
    CU_ASSERT(product_right(c, CLF_F64, &small));
    CU_ASSERT_EQUAL(by_it(c), 1);
    CU_ASSERT(says(c, "clblast on "));
    CU_ASSERT(atomic_load(&stub->calls) == TRIALS + 1 && atomic_load(&stub->clears) == 0);
    clf_close(c);
    CU_ASSERT_EQUAL(atomic_load(&stub->clears), 1);
}

/* Closing waits for the product under way and no other: that is let go when closing waits for the thread that tries it out. */
static bool closing;
void __real_clf_clblast_close(clf_devs *d, bool alive);
void __wrap_clf_clblast_close(clf_devs *d, bool alive);
int __real_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result);

void __wrap_clf_clblast_close(clf_devs *d, bool alive) {
    closing = true;
    __real_clf_clblast_close(d, alive);
    closing = false;
}

int __wrap_pthread_join(pthread_t thread, void **result) {
    if (closing) atomic_store(&stub->hold, 0);
    return __real_pthread_join(thread, result);
}

static void test_closing(void) {
    clf_ctx *c = begin("off", "background");
    if (!c) return;
    atomic_store(&stub->hold, 1);
    CU_ASSERT(product_right(c, CLF_F32, &small));
    clf_close(c);
    CU_ASSERT(atomic_load(&stub->calls) <= 1 && atomic_load(&stub->clears) == 1);
}

/* Wrong anywhere while it is tried out: it gets no work. */
static void test_wrong(void) {
    for (int wrong = 1; wrong <= 3; wrong++) {
        clf_ctx *c = begin(wrong == 2 ? "on" : "off", "wait");
        if (!c) return;
        atomic_store(&stub->wrong, wrong);
        for (int v = 0; v < 4; v++) CU_ASSERT(product_right(c, v & 1 ? CLF_F32 : CLF_F64, &(product_case){v & 1, v & 2, 20, 300, 25}));
        CU_ASSERT(by_it(c) == 0 && stats_of(c).launches_library == 4 && stats_of(c).fallbacks == 0);
        CU_ASSERT(says(c, "CLBlast failed on the device"));
        CU_ASSERT(atomic_load(&stub->calls) > 0 && atomic_load(&stub->calls) < TRIALS);
        clf_close(c);
    }
}

/* A failure with half of the result written. Of every call in turn: while it is tried out, or later. Short of memory it gets the next
 * product again. */
static void test_failures(void) {
    static const int status[] = {-5, -4, -6, -11, -36, -2039};
    for (int i = 0; i < 12; i++) {
        clf_ctx *c = begin(i % 2 ? "on" : "off", "wait");
        int at = i < 6 ? TRIALS + 2 : 1 + 5 * (i - 6), code = status[i % 6];
        bool memory = code >= -6, later = at > TRIALS;
        if (!c) return;
        atomic_store(&stub->fail_at, at);
        atomic_store(&stub->fail_status, code);
        for (int k = 0; k < 4; k++) CU_ASSERT(product_right(c, CLF_F64, &(product_case){false, false, 20 + (size_t)k, 30, 25}));
        clf_stats s = stats_of(c);
        CU_ASSERT_EQUAL(s.launches_library, 4);
        CU_ASSERT_EQUAL(s.launches_clblast, !later ? 0 : memory ? 3 : 1);
        CU_ASSERT(s.fallbacks == 0 && s.retries == 0 && s.devices_lost == 0);
        if (!memory || !later) CU_ASSERT(says(c, "CLBlast failed on the device"));
        clf_close(c);
    }
}

/* The step that failed stays with the host; the plan's operands come from kernels and its results go to them. */
static void test_failure_between(void) {
    for (int h = 0; h < 2; h++) {
        clf_ctx *c = begin(h ? "on" : "off", "wait");
        if (!c) return;
        atomic_store(&stub->fail_at, TRIALS + 2);
        atomic_store(&stub->fail_status, -2039);
        for (int i = 0; i < 3; i++) {
            clf_mat *a = clf_add(clf_fill(c, CLF_F64, 20, 30, 1), clf_num(c, 1)), *b = clf_matmul(clf_t(a), a);
            CU_ASSERT_EQUAL(read_f64(clf_sum(clf_matmul(clf_mul(b, clf_num(c, 2)), b))), 80.0 * 2 * 80 * 30 * 30 * 30);
        }
        CU_ASSERT_EQUAL(by_it(c), 1);
        clf_close(c);
    }
}

/* Operands on their way by a queue of their own, large enough that a product which does not wait for them has begun before they are there. */
static void test_beside(void) {
    static const product_case large = {false, false, 2, 3, 400000};
    clf_ctx *c = begin("off", "wait");
    if (!c) return;
    CU_ASSERT_EQUAL(clf_set(c, "transfer_queue", "on"), CLF_OK);
    for (int i = 0; i < 3; i++) CU_ASSERT(product_right(c, CLF_F64, &large));
    CU_ASSERT_EQUAL(by_it(c), 3);
    clf_close(c);
}

/* Settings, a library that is not there or none, a CPU unless asked: nothing is different, and nothing is called. */
static void test_unused(void) {
    static const char *const set[][2] = {{"clblast", "off"},
                                         {"clblast", "auto"},
                                         {"compile", "off"},
                                         {"clblast_library", "/nowhere/libclblast.so"},
                                         {"clblast_library", CLF_NO_CLBLAST},
                                         {"device", "host"}};
    for (size_t i = 0; i < sizeof set / sizeof *set; i++) {
        clf_device d = {.struct_size = sizeof d};
        clf_ctx *c = begin("off", "wait");
        if (!c) return;
        CU_ASSERT_EQUAL(clf_set(c, set[i][0], set[i][1]), CLF_OK);
        CU_ASSERT(product_right(c, CLF_F64, &small));
        CU_ASSERT(by_it(c) == 0 && stats_of(c).launches_library == 1 && atomic_load(&stub->calls) == 0);
        CU_ASSERT(!clf_device_at(c, 1, &d) || i == 5 || !strcmp(d.library, ""));
        CU_ASSERT_EQUAL(clf_set(c, set[i][0], i < 2 ? "on" : i == 2 ? "wait" : i == 5 ? "1" : CLF_CLBLAST_STUB), CLF_OK); /* and back */
        CU_ASSERT(product_right(c, CLF_F64, &small));
        CU_ASSERT_EQUAL(by_it(c), 1);
        clf_close(c);
    }
}

/* Every allocation of a context that uses it fails once: right, or CLF_E_NOMEM, and nothing is left. */
static void test_memory(void) {
    long long fail = 1, failed = 0;
    clf_ctx *host = open_host();
    double right = read_f64(clf_sum(clf_sqr(clf_matmul(counted(host, 20, 30), counted(host, 30, 10)))));
    clf_close(host);
    for (bool more = true; more && fail < 4000; fail += fail < 40 ? 1 : 17) {
        counting_heap h = heap_but(fail - 1);
        clf_ctx *c = NULL;
        double sum = 0;
        clf_options o = {.struct_size = sizeof o, .device = "1", .fuse = "none", .alloc = counting_alloc, .alloc_user = &h};
        memset(stub, 0, sizeof *stub);
        clf_status st = clf_open(&c, &o);
        if (st == CLF_OK) st = clf_set(c, "tier", "2");
        if (st == CLF_OK) st = clf_set(c, "clblast", "on");
        if (st == CLF_OK) st = clf_set(c, "clblast_library", CLF_CLBLAST_STUB);
        if (st == CLF_OK) {
            clf_mat *r = clf_matmul(counted(c, 20, 30), counted(c, 30, 10));
            st = clf_read_f64(clf_sum(clf_sqr(r)), &sum);
        }
        CU_ASSERT(st == CLF_E_NOMEM || st == CLF_E_NODEV || (st == CLF_OK && sum == right));
        failed += st != CLF_OK;
        if (c) clf_close(c);
        more = atomic_load(&h.count) >= fail;
        CU_ASSERT_EQUAL(atomic_load(&h.live), 0);
    }
    CU_ASSERT(failed > 10);
}

int main(void) {
    void *library = dlopen(CLF_CLBLAST_STUB, RTLD_NOW | RTLD_LOCAL);
    stub = library ? dlsym(library, "clblast_stub") : NULL;
    if (!stub) {
        printf("\n    %s\n", dlerror());
        return 1;
    }
    static const test_case tests[] = {{"warming up", test_warming},
                                      {"closing", test_closing},
                                      {"wrong results", test_wrong},
                                      {"failures", test_failures},
                                      {"a failure between kernels", test_failure_between},
                                      {"operands beside kernels", test_beside},
                                      {"unused", test_unused},
                                      {"memory", test_memory}};
    return run_suite("clblast states", tests, sizeof tests / sizeof *tests);
}
