/* SPDX-License-Identifier: Apache-2.0
 * Calibration of the host executor and what becomes of it: figures a profile may hold, a file that the next context finds again,
 * explain and the device list that show them. In processes of their own without OpenCL devices; PoCL is measured in test_profile.c. */
#include <math.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/run/run.h"
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"

static char folder[64];

static void in_child(void (*run)(void)) {
    fflush(stdout);
    unsigned before = CU_get_number_of_failures();
    pid_t pid = fork();
    CU_ASSERT_NOT_EQUAL_FATAL(pid, -1);
    if (pid == 0) {
        setenv("OCL_ICD_VENDORS", "/nonexistent-dir", 1);
        setenv("OCL_ICD_FILENAMES", "", 1);
        setenv("CLF_CACHE_DIR", folder, 1);
        run();
        fflush(stdout);
        exit(CU_get_number_of_failures() > before);
    }
    int status = 0;
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static clf_device host_of(clf_ctx *c) {
    clf_device d = {.struct_size = sizeof d};
    CU_ASSERT_TRUE_FATAL(clf_device_at(c, 0, &d));
    return d;
}

/* Every figure is finite and positive, larger sets stream no faster than the first cache by much, powers cost no less than sums, whatever else the
 * machine does. */
static void check_figures(const clf_profile *p) {
    CU_ASSERT_EQUAL(p->assumed, 0);
    CU_ASSERT_STRING_EQUAL(p->name, "host");
    CU_ASSERT(p->launch_sync_ns > 0 && p->launch_async_ns == p->launch_sync_ns);
    CU_ASSERT(p->second_core_ns >= 0 && p->second_core_ns <= 1e6);
    CU_ASSERT(p->write_cost >= 0.5 && p->write_cost < 100);
    for (int t = 0; t < CLF_PROFILE_TIERS; t++) {
        CU_ASSERT(p->read_bytes_per_s[t] > 1e6 && p->read_bytes_per_s[t] < 1e14);
        CU_ASSERT(t == 0 || p->tier_bytes[t] > p->tier_bytes[t - 1]);
    }
    /* The last cache is as large as a set that was measured, half of memory's at most, whatever the system says of it. */
    CU_ASSERT(p->tier_bytes[2] <= fmax(2 * p->tier_bytes[1], 72 << 20));
    CU_ASSERT_EQUAL(p->llc_bytes, p->tier_bytes[2]);
    for (int wide = 0; wide < 2; wide++)
        for (int k = 0; k < CLF_NCLASSES; k++) CU_ASSERT(p->cells_per_s[wide][k] > 1e4 && p->cells_per_s[wide][k] <= 1e11 * p->cores);
    CU_ASSERT(p->cells_per_s[1][CLF_CLASS_ADD] >= p->cells_per_s[1][CLF_CLASS_POW]);
}

/* A pool of two, and of one: one core has no second one to wake. Under sanitizers, where loops take ten times as long, that of two. */
static void test_figures(void) {
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    for (int threads = (int)net_every(1, 2); threads < 3; threads++) {
        clf_pool *pool = clf_pool_new(&mem, threads);
        clf_profile p;
        clf_err err = {CLF_OK, ""};
        CU_ASSERT_EQUAL(clf_tile_calibrate(pool, threads == 1 ? CLF_ISA_BASELINE : CLF_ISA_AUTO, &mem, &(clf_least){0}, &p, &err), CLF_OK);
        check_figures(&p);
        CU_ASSERT_EQUAL(p.cores, threads);
        CU_ASSERT_EQUAL(p.second_core_ns > 0, threads == 2);
        CU_ASSERT_STRING_EQUAL(p.driver, clf_isa_name(clf_isa_pick(threads == 1 ? CLF_ISA_BASELINE : CLF_ISA_AUTO)));
        clf_pool_free(pool);
    }
    CU_ASSERT_EQUAL(atomic_load(&mem.now_bytes), 0);
}

/* Whatever allocation fails, the profile is untouched and nothing stays. */
static void test_no_memory(void) {
    for (int n = 1; n < 12; n++) {
        counting_heap heap = {.fail_at = n, .for_ever = true};
        clf_mem mem;
        clf_profile p = {.cores = 77};
        clf_err err = {CLF_OK, ""};
        clf_mem_init(&mem, counting_alloc, &heap);
        if (clf_tile_calibrate(NULL, CLF_ISA_AUTO, &mem, &(clf_least){0}, &p, &err) == CLF_OK) {
            CU_FAIL("calibrated without memory");
            break;
        }
        CU_ASSERT_EQUAL(err.code, CLF_E_NOMEM);
        CU_ASSERT_EQUAL(p.cores, 77);
        CU_ASSERT_EQUAL(atomic_load(&heap.live), 0);
        if (heap.count < n) break;
    }
}

static void stored(void) {
    clf_ctx *c = open_on(NULL);
    CU_ASSERT_FALSE(host_of(c).measured);
    CU_ASSERT_EQUAL(clf_calibrate(c), CLF_OK);
    clf_device d = host_of(c);
    CU_ASSERT(d.measured && d.read_gb_per_s > 0 && d.launch_us > 0);
    CU_ASSERT_TRUE(strlen(clf_device_why(c)) > 0);
    clf_close(c);
    c = open_on("0"); /* the next context starts with the figures of the first */
    clf_device again = host_of(c);
    CU_ASSERT(again.measured && again.chosen && again.read_gb_per_s == d.read_gb_per_s && again.launch_us == d.launch_us);
    CU_ASSERT_EQUAL(clf_set(c, "threads", "1"), CLF_OK);
    CU_ASSERT_TRUE(host_of(c).measured);
    static text_sink t;
    clf_mat *r = clf_sum(clf_exp(clf_seq(c, 1, 100000, 1)));
    CU_ASSERT_EQUAL(clf_explain(1, &r, CLF_TEXT, CLF_EXPLAIN_ANALYZE, collect, empty_sink(&t)), CLF_OK);
    CU_ASSERT_PTR_NOT_NULL(strstr(t.at, "GB/s of "));
    CU_ASSERT_PTR_NULL(strstr(t.at, "profile assumed"));
    CU_ASSERT_EQUAL(clf_set(c, "cache_dir", "/proc/no-such-place"), CLF_OK);
    CU_ASSERT_FALSE(host_of(c).measured);
    clf_close(c);
}

/* Measured but not stored: said so, and good for this context. */
static void unwritable(void) {
    setenv("CLF_CACHE_DIR", "/proc/no-such-place", 1);
    clf_ctx *c = open_on("host");
    expect_error(c, clf_calibrate(c), CLF_E_IO, "measured, but not stored: cache directory");
    CU_ASSERT_TRUE(host_of(c).measured);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_seq(c, 1, 1000, 1))), 500500);
    clf_close(c);
}

/* A folder where the profile's name is taken by a folder. */
static void blocked(void) {
    char path[128], command[256];
    clf_profile p;
    clf_err err = {CLF_OK, ""};
    clf_profile_assume(&p, CLF_DEV_HOST, 1);
    snprintf(p.name, sizeof p.name, "host");
    snprintf(p.driver, sizeof p.driver, "%s", clf_isa_name(clf_isa_pick(CLF_ISA_AUTO)));
    snprintf(path, sizeof path, "%s/blocked", folder);
    CU_ASSERT_EQUAL_FATAL(mkdir(path, 0700), 0);
    CU_ASSERT_EQUAL_FATAL(clf_profile_store(path, &p, &err), CLF_OK);
    snprintf(command, sizeof command, "cd '%s' && for f in profile-*; do rm \"$f\"; mkdir \"$f\"; done", path);
    CU_ASSERT_EQUAL_FATAL(system(command), 0);
    clf_ctx *c = open_on("host");
    CU_ASSERT_EQUAL(clf_set(c, "cache_dir", path), CLF_OK);
    expect_error(c, clf_calibrate(c), CLF_E_IO, "cannot write profile");
    CU_ASSERT_FALSE(host_of(c).measured);
    clf_close(c);
}

/* In a child of fork there is nothing to measure with. */
static void forked(void) {
    clf_ctx *c = open_on("host");
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) exit(!(clf_calibrate(c) == CLF_E_STATE && strstr(clf_last_error(c), "fork")));
    int status = 0;
    CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    clf_close(c);
}

static void test_stored(void) { in_child(stored); }
static void test_unwritable(void) { in_child(unwritable); }
static void test_blocked(void) { in_child(blocked); }
static void test_forked(void) { in_child(forked); }

int main(void) {
    static const test_case tests[] = {
        {"figures", test_figures},       {"no memory", test_no_memory}, {"stored and found again", test_stored},
        {"unwritable", test_unwritable}, {"blocked", test_blocked},     {"forked", test_forked},
    };
    char command[128];
    snprintf(folder, sizeof folder, "calibrate_%d", (int)getpid());
    if (mkdir(folder, 0700)) return 1;
    int rc = run_suite("calibrate", tests, sizeof tests / sizeof *tests);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) ? 1 : rc;
}
