/* SPDX-License-Identifier: Apache-2.0
 * Programs as bytes, on the drivers of this machine: what a device gives is taken again and computes the same, alone and as one of many;
 * the next device layer builds nothing; a forked child does not touch what its parent holds. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device_internal.h"
#include "tests/support/net.h"
#include "tests/unit/folder_testing.h"

static clf_mem mem;

/* PoCL and LLVM keep memory until the process ends; what is ours is counted by the ledger. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

enum { MANY = 3, CELLS = 100 };
static const clf_arg_desc args[] = {{CLF_ARG_MEM_IN, CLF_F64, 0}, {CLF_ARG_MEM_OUT, CLF_F64, 0}};
static const char *const texts[MANY] = {
    "__kernel void kept_a(const __global double *a, __global double *b) { size_t i = get_global_id(0); b[i] = a[i] + 1; }\n",
    "__kernel void kept_b(const __global double *a, __global double *b) { size_t i = get_global_id(0); b[i] = a[i] * 3; }\n",
    "__kernel void kept_c(const __global double *a, __global double *b) { size_t i = get_global_id(0); b[i] = 7 - a[i]; }\n"};
static const char *const names[MANY] = {"kept_a", "kept_b", "kept_c"};

static double expected(int k, double x) { return k == 0 ? x + 1 : k == 1 ? x * 3 : 7 - x; }

static clf_source source(int k) {
    return (clf_source){.text = texts[k],
                        .text_len = strlen(texts[k]),
                        .entry = names[k],
                        .options = "",
                        .args = args,
                        .nargs = 2,
                        .hash = clf_hash_bytes(texts[k], strlen(texts[k]))};
}

static clf_devs *open_devices(const char *dir, int cache) {
    clf_devs *d = NULL;
    clf_err err = {CLF_OK, ""};
    clf_status st = clf_devs_open(&d, &(clf_dev_opts){.mem = &mem, .cache_dir = dir, .cache = cache}, &err);
    if (st != CLF_OK) printf("\n    %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    return d;
}

static bool right(clf_devs *d, clf_program *p, int k) {
    double in[CELLS], out[CELLS];
    clf_err err = {CLF_OK, ""};
    for (int i = 0; i < CELLS; i++) in[i] = i, out[i] = -1;
    const clf_arg value[] = {{.ptr = in, .bytes = sizeof in}, {.ptr = out, .bytes = sizeof out}};
    clf_status st = clf_launch(d, 0, p, value, 2, CELLS, 1, &err);
    clf_status waited = clf_dev_wait(d, 0, &err);
    bool good = st == CLF_OK && waited == CLF_OK;
    for (int i = 0; i < CELLS; i++) good = good && out[i] == expected(k, i);
    if (!good) printf("\n    kernel %d: %s\n", k, err.text);
    return good;
}

/* A kernel out of bytes. */
static clf_status again(clf_devs *d, const clf_source *src, const void *bin, size_t n, bool *good) {
    cl_program built = NULL;
    clf_program *p = NULL;
    clf_err err = {CLF_OK, ""};
    CLF_TRY(clf_program_from_binary(d, 0, bin, n, &built, &err));
    clf_status st = clf_program_new(d, 0, src, built, &p, &err);
    clReleaseProgram(built);
    if (st != CLF_OK) return st;
    st = p->failed.code;
    *good = st == CLF_OK && right(d, p, 0);
    clf_program_free(d, p, true);
    return st;
}

static void test_binary(void) {
    clf_devs *d = open_devices(folder, CLF_DISK_OFF);
    clf_program *p = NULL;
    clf_source src = source(0), other = source(1), few = src;
    void *bin = NULL;
    size_t n = 0;
    bool good = false;
    few.nargs = 1;
    if (clf_devs_count(d)) {
        CU_ASSERT_EQUAL_FATAL(clf_program_get(d, 0, &src, &p, NULL, NULL), CLF_OK);
        CU_ASSERT(right(d, p, 0));
        CU_ASSERT_EQUAL_FATAL(clf_program_binary(d, 0, p->program, &mem, &bin, &n, NULL), CLF_OK);
        CU_ASSERT(n > 100);
        CU_ASSERT(again(d, &src, bin, n, &good) == CLF_OK && good);
        CU_ASSERT_EQUAL(again(d, &other, bin, n, &good), CLF_E_BUILD);
        CU_ASSERT_EQUAL(again(d, &few, bin, n, &good), CLF_E_BUILD);
        CU_ASSERT_EQUAL(again(d, &src, "no binary", 9, &good), CLF_E_BUILD);
    }
    clf_mem_free(&mem, bin, n, 1);
    clf_devs_close(d);
}

/* All kernels, as one program or one by one. */
static void use(const char *dir, bool joined, uint64_t builds, uint64_t loads) {
    clf_devs *d = open_devices(dir, CLF_DISK_ON);
    clf_source src[MANY];
    const clf_source *at[MANY];
    char all[1024] = "";
    for (int k = 0; k < MANY; k++) {
        src[k] = source(k);
        at[k] = &src[k];
        strcat(all, texts[k]);
    }
    if (clf_devs_count(d)) {
        uint64_t start = clf_now_ns();
        if (joined && !clf_program_known(d, 0, at[0])) CU_ASSERT_EQUAL(clf_programs_build(d, 0, all, strlen(all), at, MANY, NULL), CLF_OK);
        for (int k = 0; k < MANY; k++) {
            clf_program *p = NULL;
            bool compiled = true;
            CU_ASSERT_EQUAL_FATAL(clf_program_get(d, 0, at[k], &p, &compiled, NULL), CLF_OK);
            CU_ASSERT_EQUAL(compiled, builds == MANY);
            CU_ASSERT(right(d, p, k));
        }
        clf_dev_stats s = clf_devs_stats(d);
        CU_ASSERT(s.builds == builds && s.loads == loads && s.load_ns > 0); /* looking takes its time, too */
        double each = (double)(clf_now_ns() - start) * 1e-6 / MANY;
        if (loads && !joined) net_figure("a kernel from disk, first launch included", "%.1f ms", each);
    }
    clf_devs_close(d);
}

static void test_next_process(void) {
    use(in_folder("single"), false, MANY, 0);
    use(in_folder("single"), false, 0, MANY);
    use(in_folder("single"), true, 0, MANY);
    use(in_folder("joined"), true, 1, 0);
    use(in_folder("joined"), true, 0, MANY);
}

/* The parent has built, not yet waited: the child's close keeps nothing and does not hang, the parent's does. */
static void test_fork(void) {
    clf_devs *d = open_devices(in_folder("fork"), CLF_DISK_ON);
    clf_source src = source(0);
    clf_program *p = NULL;
    int status = -1;
    if (clf_devs_count(d)) {
        CU_ASSERT_EQUAL_FATAL(clf_program_get(d, 0, &src, &p, NULL, NULL), CLF_OK);
        CU_ASSERT(d->unsaved && d->disk.nheld == 1);
        pid_t pid = fork();
        if (pid == 0) {
            clf_program *mine = NULL;
            clf_source fresh = source(1);
            alarm(20);
            bool good = clf_program_get(d, 0, &fresh, &mine, NULL, NULL) == CLF_E_STATE && !clf_program_known(d, 0, &fresh);
            clf_devs_close(d);
            _exit(good ? 0 : 1);
        }
        CU_ASSERT(waitpid(pid, &status, 0) == pid && status == 0);
        CU_ASSERT_EQUAL(clf_devs_stats(d).saves, 0);
    }
    clf_devs_close(d);
    d = open_devices(in_folder("fork"), CLF_DISK_READONLY);
    CU_ASSERT(!clf_devs_count(d) || clf_program_known(d, 0, &src)); /* the parent kept it at the end */
    clf_devs_close(d);
}

static void test_driver_key(void) {
    unsetenv("POCL_WORK_GROUP_METHOD");
    uint64_t plain = clf_environ_driver_key("version 1", true);
    CU_ASSERT(plain && plain == clf_environ_driver_key("version 1", true) && plain != clf_environ_driver_key("version 2", true));
    setenv("POCL_WORK_GROUP_METHOD", "loops", 1);
    CU_ASSERT(plain != clf_environ_driver_key("version 1", true));
    unsetenv("POCL_WORK_GROUP_METHOD");
    CU_ASSERT(clf_environ_driver_key("", false) != 0);
}

int main(void) {
    if (!make_folder("clfuse-test-saved")) return 1;
    clf_mem_init(&mem, NULL, NULL);
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("device: programs kept on disk", NULL, NULL);
    CU_add_test(s, "binaries", test_binary);
    CU_add_test(s, "the next process", test_next_process);
    CU_add_test(s, "fork", test_fork);
    CU_add_test(s, "the driver's key", test_driver_key);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0 || atomic_load(&mem.now_bytes) != 0;
    CU_cleanup_registry();
    return !remove_folder() || bad;
}
