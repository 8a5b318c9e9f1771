/* SPDX-License-Identifier: Apache-2.0
 * Devices, programs and launches, against hand-written kernels. Where no OpenCL device is there, the suite checks just that. */
#include <CUnit/Basic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "device/device_internal.h"
#include "tests/unit/heap_testing.h"

/* out[i] = k * in[i] + add, through scratch; the last work-item to finish resets the counter and writes the sum. */
static const char affine_text[] = "__kernel void affine(__global const int *in, __global int *out, __global int *scratch, __global int "
                                  "*counter, int k, long add, uchar n)\n"
                                  "{\n"
                                  "    size_t i = get_global_id(0);\n"
                                  "    scratch[i] = k * in[i];\n"
                                  "    out[i] = scratch[i] + (int)add;\n"
                                  "    mem_fence(CLK_GLOBAL_MEM_FENCE);\n"
                                  "    if (atomic_inc(counter) == (int)n - 1) {\n"
                                  "        *counter = 0;\n"
                                  "        out[n] = 12345;\n"
                                  "    }\n"
                                  "}\n";
static const clf_arg_desc affine_args[] = {
    {CLF_ARG_MEM_IN, CLF_I32, 0}, {CLF_ARG_MEM_OUT, CLF_I32, 0}, {CLF_ARG_SCRATCH, 0, 0},    {CLF_ARG_COUNTER, CLF_I32, 0},
    {CLF_ARG_PARAM, CLF_I32, 0},  {CLF_ARG_I64, CLF_I64, 0},     {CLF_ARG_PARAM, CLF_U8, 1},
};
static const char touch_text[] =
    "__kernel void touch(__global int *a, __global const int *none) { a[get_global_id(0)] += none ? 1 : 1; }\n";
static const clf_arg_desc touch_args[] = {{CLF_ARG_MEM_OUT, CLF_I32, 0}, {CLF_ARG_MEM_IN, CLF_I32, 0}};

static char root[] = P_tmpdir "/clfuse-test-device-XXXXXX";
static clf_mem mem;

/* PoCL and LLVM keep memory and threads until the process ends, which the leak checker reports or trips over; what is ours is
 * counted by the ledger, which the last test reads. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static clf_source source(const char *text, const char *entry, const char *options, const clf_arg_desc *args, int nargs) {
    clf_source s = {.text = text, .text_len = strlen(text), .entry = entry, .options = options, .args = args, .nargs = nargs};
    s.hash = clf_hash_bytes(text, s.text_len);
    return s;
}

static clf_devs *open_devs(const clf_dev_opts *extra) {
    clf_dev_opts opts = extra ? *extra : (clf_dev_opts){0};
    clf_devs *d = NULL;
    clf_err err = {0};
    opts.mem = &mem;
    if (!opts.cache_dir) opts.cache_dir = root;
    CU_ASSERT_EQUAL_FATAL(clf_devs_open(&d, &opts, &err), CLF_OK);
    CU_ASSERT_PTR_NOT_NULL_FATAL(d);
    return d;
}

static void run_affine(clf_devs *d) {
    enum { N = 19 };
    int in[N], out[N + 2], scratch[N], counter = 0;
    clf_program *p = NULL;
    clf_err err = {0};
    bool compiled = false;
    const clf_source src = source(affine_text, "affine", "", affine_args, 7);
    CU_ASSERT_EQUAL_FATAL(clf_program_get(d, 0, &src, &p, &compiled, &err), CLF_OK);
    CU_ASSERT_TRUE(compiled);
    CU_ASSERT_EQUAL(clf_program_compiles_on(d, p), clf_devs_info(d, 0)->kind == CLF_DEV_CPU);
    for (int round = 1; round <= 3; round++) {
        for (int i = 0; i < N + 2; i++) out[i] = -1;
        for (int i = 0; i < N; i++) in[i] = i + round;
        const clf_arg args[] = {{.ptr = in, .bytes = sizeof in},
                                {.ptr = out, .bytes = sizeof out},
                                {.ptr = scratch, .bytes = sizeof scratch},
                                {.ptr = &counter, .bytes = sizeof counter},
                                {.bytes = 4, .u.i32 = 5},
                                {.bytes = 8, .u.i64 = 100},
                                {.bytes = 1, .u.u8 = N}};
        CU_ASSERT_EQUAL(clf_launch(d, 0, p, args, 7, N, 1, &err), CLF_OK);
        CU_ASSERT_FALSE(clf_program_compiles_on(d, p));
        CU_ASSERT_EQUAL(clf_dev_flush(d, 0, &err), CLF_OK);
        CU_ASSERT_EQUAL(clf_dev_wait(d, 0, &err), CLF_OK);
        for (int i = 0; i < N; i++) CU_ASSERT_EQUAL(out[i], 5 * (i + round) + 100);
        CU_ASSERT_EQUAL(out[N], 12345);
        CU_ASSERT_EQUAL(out[N + 1], -1);
        CU_ASSERT_EQUAL(counter, 0);
    }
    CU_ASSERT_EQUAL(clf_devs_stats(d).builds, 1);
    CU_ASSERT_EQUAL(clf_devs_stats(d).launches, 3);
    CU_ASSERT_EQUAL(clf_devs_stats(d).waits, 3);
    CU_ASSERT_TRUE(clf_devs_stats(d).build_ns > 0);
}

static void test_pointers(void) {
    clf_devs *d = open_devs(NULL);
    if (clf_devs_count(d))
        run_affine(d);
    else
        CU_ASSERT_TRUE(*clf_devs_why(d));
    clf_devs_close(d);
}

static void test_buffers(void) {
    clf_devs *d = open_devs(&(clf_dev_opts){.no_host_pointers = 1});
    if (clf_devs_count(d)) {
        CU_ASSERT_FALSE(clf_devs_info(d, 0)->host_pointers);
        run_affine(d);
    }
    clf_devs_close(d);
}

/* Chains over the same and over overlapping memory without a wait; zero work and empty arguments. */
static void chain(clf_devs *d) {
    enum { N = 64 };
    int a[N] = {0};
    clf_program *p = NULL;
    clf_err err = {0};
    const clf_source src = source(touch_text, "touch", "", touch_args, 2);
    CU_ASSERT_EQUAL_FATAL(clf_program_get(d, 0, &src, &p, NULL, &err), CLF_OK);
    const clf_arg whole[] = {{.ptr = a, .bytes = sizeof a}, {0}}, part[] = {{.ptr = a + 8, .bytes = 8 * sizeof *a}, {0}};
    CU_ASSERT_EQUAL(clf_launch(d, 0, p, whole, 2, 0, 1, &err), CLF_OK);
    for (int i = 0; i < 600; i++) CU_ASSERT_EQUAL(clf_launch(d, 0, p, whole, 2, N, 1, &err), CLF_OK);
    CU_ASSERT_EQUAL(clf_launch(d, 0, p, part, 2, 8, 1, &err), CLF_OK);
    CU_ASSERT_EQUAL(clf_launch(d, 0, p, whole, 2, N, 4, &err), CLF_OK);
    CU_ASSERT_EQUAL(clf_dev_wait(d, 0, &err), CLF_OK);
    for (int i = 0; i < N; i++) CU_ASSERT_EQUAL(a[i], 601 + (i >= 8 && i < 16));
    CU_ASSERT_EQUAL(clf_devs_stats(d).launches, 602);
}

static void test_chain(void) {
    for (int mode = 0; mode < 2; mode++) {
        clf_devs *d = open_devs(&(clf_dev_opts){.no_host_pointers = mode});
        if (clf_devs_count(d)) chain(d);
        clf_devs_close(d);
    }
}

static void test_bad_launches(void) {
    clf_devs *d = open_devs(&(clf_dev_opts){.no_host_pointers = 1, .max_alloc_bytes = 1024});
    if (clf_devs_count(d)) {
        int a[300] = {0};
        clf_program *p = NULL;
        clf_err err = {0};
        const clf_source src = source(touch_text, "touch", "", touch_args, 2);
        const clf_arg args[] = {{.ptr = a, .bytes = sizeof a}, {0}}, null[] = {{.bytes = 8}, {0}};
        CU_ASSERT_EQUAL(clf_devs_info(d, 0)->max_alloc_bytes, 1024);
        CU_ASSERT_EQUAL_FATAL(clf_program_get(d, 0, &src, &p, NULL, &err), CLF_OK);
        CU_ASSERT_EQUAL(clf_launch(d, 0, p, args, 2, 1, 1, &err), CLF_E_LIMIT);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "1200"));
        CU_ASSERT_EQUAL(clf_launch(d, 0, p, args, 1, 1, 1, NULL), CLF_E_ARG);
        CU_ASSERT_EQUAL(clf_launch(d, 0, p, null, 2, 1, 1, NULL), CLF_E_ARG);
        CU_ASSERT_EQUAL(clf_launch(d, 0, p, args, 2, 7, 2, NULL), CLF_E_ARG);
        CU_ASSERT_EQUAL(clf_launch(d, 99, p, args, 2, 1, 1, NULL), CLF_E_ARG);
        CU_ASSERT_EQUAL(clf_launch(d, 0, p, (clf_arg[]){{.ptr = a, .bytes = 1000}, {0}}, 2, 1, 1, NULL), CLF_OK);
        CU_ASSERT_EQUAL(clf_dev_wait(d, 0, NULL), CLF_OK);
        CU_ASSERT_EQUAL(a[0], 1);
    }
    clf_devs_close(d);
}

/* A launch that the driver refuses names the call, the code and the device, and what follows still works. */
static void test_device_error(void) {
    clf_devs *d = open_devs(NULL);
    if (clf_devs_count(d)) {
        int a[4] = {0};
        clf_program *p = NULL;
        clf_err err = {0};
        const clf_source src = source(touch_text, "touch", "", touch_args, 2);
        const clf_arg args[] = {{.ptr = a, .bytes = sizeof a}, {0}};
        CU_ASSERT_EQUAL_FATAL(clf_program_get(d, 0, &src, &p, NULL, &err), CLF_OK);
        CU_ASSERT_EQUAL(clf_launch(d, 0, p, args, 2, (size_t)1 << 24, (size_t)1 << 24, &err), CLF_E_DEVICE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "clEnqueueNDRangeKernel"));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "CL_INVALID_WORK"));
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, clf_devs_info(d, 0)->name));
        CU_ASSERT_EQUAL(clf_launch(d, 0, p, args, 2, 4, 1, NULL), CLF_OK);
        CU_ASSERT_EQUAL(clf_dev_wait(d, 0, NULL), CLF_OK);
        CU_ASSERT_EQUAL(a[3], 1);
    }
    clf_devs_close(d);
}

static void test_build_failure(void) {
    clf_devs *d = open_devs(NULL);
    if (clf_devs_count(d)) {
        clf_program *p = NULL;
        bool compiled = false;
        const clf_source bad = source("__kernel void touch(__global int *a) { a[0] = no_such_thing; }\n", "touch", "", touch_args, 1);
        for (int i = 0; i < 2; i++) {
            clf_err err = {0};
            CU_ASSERT_EQUAL(clf_program_get(d, 0, &bad, &p, &compiled, &err), CLF_E_BUILD);
            CU_ASSERT_EQUAL(compiled, i == 0);
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no_such_thing"));
            CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "touch"));
        }
        CU_ASSERT_PTR_NULL(p);
        CU_ASSERT_EQUAL(clf_devs_stats(d).builds, 1);
        const clf_source name = source(touch_text, "nobody", "", touch_args, 2), few = source(touch_text, "touch", "", touch_args, 1);
        CU_ASSERT_EQUAL(clf_program_get(d, 0, &name, &p, NULL, NULL), CLF_E_BUILD);
        CU_ASSERT_EQUAL(clf_program_get(d, 0, &few, &p, NULL, NULL), CLF_E_BUILD);
    }
    clf_devs_close(d);
}

/* Every source claims the same hash, so only the comparison of the texts keeps them apart. */
static void test_cache(void) {
    clf_devs *d = open_devs(NULL);
    if (clf_devs_count(d)) {
        static const char *const texts[] = {"__kernel void k(__global int *a) { a[0] = V + 1; }",
                                            "__kernel void k(__global int *a) { a[0] = V + 2; }"};
        static const char *const options[] = {"-DV=10", "-DV=20"};
        int a[16] = {0}, seen[4] = {0};
        for (int i = 0; i < 8; i++) {
            clf_source src = source(texts[i & 1], "k", options[i >> 1 & 1], touch_args, 1);
            clf_program *p = NULL;
            bool compiled;
            src.hash = (clf_hash){7, 7};
            CU_ASSERT_EQUAL_FATAL(clf_program_get(d, 0, &src, &p, &compiled, NULL), CLF_OK);
            CU_ASSERT_EQUAL(compiled, i < 4);
            CU_ASSERT_EQUAL(clf_launch(d, 0, p, &(clf_arg){.ptr = a, .bytes = sizeof a}, 1, 1, 1, NULL), CLF_OK);
            CU_ASSERT_EQUAL(clf_dev_wait(d, 0, NULL), CLF_OK);
            CU_ASSERT_EQUAL(a[0], (i & 2 ? 20 : 10) + (i & 1 ? 2 : 1));
            seen[i & 3]++;
        }
        CU_ASSERT_EQUAL(clf_devs_stats(d).builds, 4);
        CU_ASSERT_EQUAL(seen[3], 2);
    }
    clf_devs_close(d);
}

static void test_options(void) {
    static const char *const good[] = {"", " ", "-DA", "-DA=1 -D_B=x2", "-cl-std=CL1.2"};
    static const char *const bad[] = {"-cl-fast-relaxed-math", "-I/", "-D", "-D1=2", "-DA=\"x\"", "-DA=1,2", "x", "-DA=(1)", "-D A"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) CU_ASSERT_EQUAL(clf_options_check(good[i], NULL), CLF_OK);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        clf_err err = {0};
        CU_ASSERT_EQUAL(clf_options_check(bad[i], &err), CLF_E_ARG);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "not allowed"));
    }
}

static void test_find(void) {
    clf_devs *d = open_devs(NULL);
    int n = clf_devs_count(d);
    CU_ASSERT_EQUAL(clf_devs_find(d, ""), n ? 0 : -1);
    CU_ASSERT_EQUAL(clf_devs_find(d, "0"), -1);
    CU_ASSERT_EQUAL(clf_devs_find(d, "host"), -1);
    CU_ASSERT_EQUAL(clf_devs_find(d, "no such device"), -1);
    CU_ASSERT_EQUAL(clf_devs_find(d, "999999999999999999999"), -1);
    CU_ASSERT_PTR_NULL(clf_devs_info(d, n));
    CU_ASSERT_PTR_NULL(clf_devs_info(d, -1));
    for (int i = 0; i < n; i++) {
        char text[16];
        snprintf(text, sizeof text, "%d", i + 1);
        CU_ASSERT_EQUAL(clf_devs_find(d, text), i);
        CU_ASSERT_TRUE(clf_devs_find(d, clf_devs_info(d, i)->name) <= i);
        CU_ASSERT_TRUE(clf_devs_find(d, clf_devs_info(d, i)->kind == CLF_DEV_CPU ? "CPU" : "gpu") >= 0);
    }
    clf_devs_close(d);
}

static void test_cache_dir(void) {
    char path[256], out[512], why[512];
    struct stat st;
    snprintf(path, sizeof path, "%s/a/b", root);
    CU_ASSERT_TRUE(clf_cache_dir(path, out, sizeof out, why, sizeof why));
    CU_ASSERT_STRING_EQUAL(out, path);
    CU_ASSERT_EQUAL(stat(path, &st), 0);
    CU_ASSERT_EQUAL(st.st_mode & 0777, 0700);
    chmod(path, 0770);
    CU_ASSERT_FALSE(clf_cache_dir(path, out, sizeof out, why, sizeof why));
    CU_ASSERT_STRING_EQUAL(out, "");
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "writable by others"));
    CU_ASSERT_FALSE(clf_cache_dir("/dev/null/x", out, sizeof out, why, sizeof why));
    CU_ASSERT_PTR_NOT_NULL(strstr(why, "/dev/null/x"));
    CU_ASSERT_FALSE(clf_cache_dir("/dev/null", out, sizeof out, why, sizeof why));
    CU_ASSERT_FALSE(clf_cache_dir(path, out, 4, why, sizeof why));
}

/* Run fn in a fresh process: this program, started again with the name of the case. */
static int child(const char *what, const char *env, const char *value) {
    pid_t pid = fork();
    if (!pid) {
        if (env) setenv(env, value, 1);
        execl("/proc/self/exe", "test_device", what, (char *)NULL);
        _exit(99);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void test_no_device(void) {
    char empty[256];
    snprintf(empty, sizeof empty, "%s/none", root);
    mkdir(empty, 0700);
    CU_ASSERT_EQUAL(child("none", "OCL_ICD_VENDORS", empty), 0);
}

static void test_unwritable(void) { CU_ASSERT_EQUAL(child("unwritable", NULL, NULL), 0); }

static void test_affinity(void) { CU_ASSERT_EQUAL(child("affinity", NULL, NULL), 0); }

static void test_fork(void) {
    clf_devs *d = open_devs(NULL);
    if (clf_devs_count(d)) {
        CU_ASSERT_EQUAL(clf_dev_wait(d, 0, NULL), CLF_OK);
        pid_t pid = fork();
        if (!pid) {
            clf_err err = {0};
            bool ok = clf_dev_wait(d, 0, &err) == CLF_E_STATE && strstr(err.text, "fork");
            clf_devs_close(d);
            _exit(ok ? 0 : 1);
        }
        int status = -1;
        waitpid(pid, &status, 0);
        CU_ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        CU_ASSERT_EQUAL(clf_dev_wait(d, 0, NULL), CLF_OK);
    }
    clf_devs_close(d);
}

/* The n-th allocation fails: a status or a device passed over, never a leak. */
static bool scenario(clf_mem *m) {
    clf_devs *d = NULL;
    clf_program *p = NULL;
    clf_err err = {0};
    int a[4] = {0};
    const clf_source src = source(touch_text, "touch", "", touch_args, 2);
    clf_status st = clf_devs_open(&d, &(clf_dev_opts){.mem = m, .cache_dir = root, .no_host_pointers = 1}, &err);
    if (st == CLF_OK && clf_devs_count(d)) {
        st = clf_program_get(d, 0, &src, &p, NULL, &err);
        if (st == CLF_OK) st = clf_launch(d, 0, p, (clf_arg[]){{.ptr = a, .bytes = sizeof a}, {0}}, 2, 4, 1, &err);
        clf_status waited = clf_dev_wait(d, 0, &err);
        if (st == CLF_OK) CU_ASSERT_TRUE(waited == CLF_OK && a[3] == 1);
    }
    clf_devs_close(d);
    CU_ASSERT_TRUE(st == CLF_OK || st == CLF_E_NOMEM);
    CU_ASSERT_EQUAL(atomic_load(&m->now_bytes), 0);
    return st == CLF_OK;
}

static void test_allocation_failures(void) {
    bool good = false;
    for (int n = 0; n < 20 && !good; n++) {
        counting_heap heap = heap_but(n);
        clf_mem m;
        clf_mem_init(&m, counting_alloc, &heap);
        good = scenario(&m);
        CU_ASSERT_TRUE(n || !good);
    }
    CU_ASSERT_TRUE(good);
}

static void test_ledger(void) { CU_ASSERT_EQUAL(atomic_load(&mem.now_bytes), 0); }

/* ---- the cases that run in a process of their own ---- */

static int case_none(void) {
    clf_devs *d = NULL;
    if (clf_devs_open(&d, &(clf_dev_opts){.mem = &mem, .cache_dir = ""}, NULL) != CLF_OK) return 1;
    if (clf_devs_count(d) || !strstr(clf_devs_why(d), "no OpenCL platform") || clf_devs_find(d, "") != -1) return 2;
    if (clf_program_get(d, 0, NULL, NULL, NULL, NULL) != CLF_E_ARG) return 3;
    clf_devs_close(d);
    return 0;
}

static bool build_and_touch(clf_devs *d) {
    int a[4] = {0};
    clf_program *p = NULL;
    const clf_source src = source(touch_text, "touch", "-DFRESH", touch_args, 2);
    return clf_program_get(d, 0, &src, &p, NULL, NULL) == CLF_OK &&
           clf_launch(d, 0, p, (clf_arg[]){{.ptr = a, .bytes = sizeof a}, {0}}, 2, 4, 1, NULL) == CLF_OK &&
           clf_dev_wait(d, 0, NULL) == CLF_OK && a[3] == 1;
}

/* No cache directory: a temporary one serves two opens in a row and is gone afterwards. */
static int case_unwritable(void) {
    char dir[PATH_MAX] = "";
    unsetenv("POCL_CACHE_DIR");
    for (int round = 0; round < 2; round++) {
        clf_devs *d = NULL, *twin = NULL;
        const clf_dev_opts opts = {.mem = &mem, .cache_dir = "/dev/null/nowhere"};
        if (clf_devs_open(&d, &opts, NULL) != CLF_OK || clf_devs_open(&twin, &opts, NULL) != CLF_OK) return 6;
        if (!round && !strstr(clf_devs_why(d), "/dev/null/nowhere")) return 1;
        snprintf(dir, sizeof dir, "%s", getenv("POCL_CACHE_DIR"));
        struct stat st;
        if (stat(dir, &st) || (st.st_mode & 0777) != 0700) return 2;
        clf_devs_close(d);
        if (access(dir, F_OK)) return 3;
        if (clf_devs_count(twin) && !build_and_touch(twin)) return 5;
        clf_devs_close(twin);
        if (!access(dir, F_OK)) return 4;
    }
    return 0;
}

static int case_affinity(void) {
    cpu_set_t one, now;
    CPU_ZERO(&one);
    if (sched_getaffinity(0, sizeof now, &now)) return 1;
    for (int c = 0; c < CPU_SETSIZE && !CPU_COUNT(&one); c++)
        if (CPU_ISSET(c, &now)) CPU_SET(c, &one);
    if (sched_setaffinity(0, sizeof one, &one)) return 2;
    clf_affinity a;
    clf_affinity_widen(&a);
    cpu_set_t wide;
    if (sched_getaffinity(0, sizeof wide, &wide) || !a.changed || CPU_COUNT(&wide) < CPU_COUNT(&now)) return 3;
    clf_affinity_restore(&a);
    clf_devs *d = NULL;
    if (clf_devs_open(&d, &(clf_dev_opts){.mem = &mem, .cache_dir = root}, NULL) != CLF_OK) return 5;
    clf_devs_close(d);
    return sched_getaffinity(0, sizeof now, &now) || !CPU_EQUAL(&now, &one) ? 4 : 0;
}

static int run_case(const char *name) {
    if (!strcmp(name, "none")) return case_none();
    if (!strcmp(name, "unwritable")) return case_unwritable();
    if (!strcmp(name, "affinity")) return case_affinity();
    return 98;
}

static void remove_root(void) {
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    if (system(command)) fprintf(stderr, "cannot remove %s\n", root);
}

int main(int argc, char **argv) {
    static CU_TestInfo tests[] = {
        {"no device", test_no_device},
        {"cache directory", test_cache_dir},
        {"options", test_options},
        {"pointers", test_pointers},
        {"buffers", test_buffers},
        {"chain", test_chain},
        {"bad launches", test_bad_launches},
        {"device error", test_device_error},
        {"build failure", test_build_failure},
        {"program cache", test_cache},
        {"find", test_find},
        {"fork", test_fork},
        {"unwritable cache", test_unwritable},
        {"affinity", test_affinity},
        {"allocation failures", test_allocation_failures},
        {"ledger", test_ledger},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"device", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};
    clf_mem_init(&mem, NULL, NULL);
    if (!mkdtemp(root) || CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS) return 1;
    int rc;
    if (argc > 1) {
        rc = run_case(argv[1]);
    } else {
        CU_basic_run_tests();
        rc = CU_get_number_of_failures() > 0;
    }
    CU_cleanup_registry();
    remove_root();
    return rc;
}
