/* SPDX-License-Identifier: Apache-2.0
 * Devices that do not exist, do not answer or are made up, drivers that find nothing, programs that cannot be had, products of sizes that
 * nothing has. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device_internal.h"

static clf_mem mem;

/* PoCL and LLVM keep memory until the process ends; what is ours is counted by the ledger. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }

static void begin(clf_devs *d) {
    memset(d, 0, sizeof *d);
    d->mem = &mem;
    d->pid = getpid();
}

/* ---- devices that are not there --------------------------------------------------------------------------------------------- */

static void test_none(void) {
    clf_devs *d = NULL;
    clf_profile p;
    clf_err err = {0};
    CU_ASSERT_EQUAL(clf_devs_open(NULL, &(clf_dev_opts){.mem = &mem}, &err), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_devs_open(&d, NULL, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_devs_open(&d, &(clf_dev_opts){.mem = NULL}, NULL), CLF_E_ARG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "no place for the result"));
    CU_ASSERT(clf_devs_count(NULL) == 0 && clf_devs_info(NULL, 0) == NULL && clf_devs_find(NULL, "") == -1);
    CU_ASSERT_STRING_EQUAL(clf_devs_why(NULL), "the device layer is not open");
    CU_ASSERT_EQUAL(clf_devs_stats(NULL).builds, 0);
    CU_ASSERT_EQUAL(clf_dev_fault(NULL, 0), CLF_FAULT_NONE);
    CU_ASSERT(!clf_dev_busy(NULL, 0));
    clf_devs_close(NULL);
    clf_devs_abandon(NULL);
    clf_dev_assume(NULL, 0, &p);
    CU_ASSERT(p.kind == CLF_DEV_HOST && p.cores == 1);
    CU_ASSERT_EQUAL(clf_dev_wait(NULL, 0, &err), CLF_E_ARG);
    CU_ASSERT(!clf_program_known(NULL, 0, NULL));
}

/* Two made-up devices; nothing here calls a driver. */
static void test_made_up(void) {
    static clf_devs d;
    static clf_dev dev[2];
    clf_profile p;
    begin(&d);
    memset(dev, 0, sizeof dev);
    d.dev = dev;
    d.n = 2;
    dev[0].info = (clf_dev_info){.name = "Quick Card", .kind = CLF_DEV_GPU, .compute_units = 7, .mem_bytes = 1000, .local_bytes = 5000};
    dev[1].info = (clf_dev_info){.name = "Slow Core", .kind = CLF_DEV_CPU, .fp64 = 1};
    CU_ASSERT(clf_devs_find(&d, "GPU") == 0 && clf_devs_find(&d, "cpu") == 1 && clf_devs_find(&d, "slow") == 1);
    CU_ASSERT(clf_devs_find(&d, "2") == 1 && clf_devs_find(&d, "3") == -1 && clf_devs_find(&d, NULL) == -1 && clf_devs_find(&d, "") == 0);
    dev[1].info.kind = CLF_DEV_GPU;
    CU_ASSERT_EQUAL(clf_devs_find(&d, "cpu"), -1);
    clf_dev_assume(&d, 0, &p);
    CU_ASSERT(p.kind == CLF_DEV_GPU && p.cores == 7 && !p.fp64 && !p.zero_copy && p.mem_bytes == 1000);
    CU_ASSERT(p.unit_local_bytes == 5000 && p.group_items[CLF_GROUP_CELLS] == 0);
    dev[0].info.host_pointers = 1;
    clf_dev_assume(&d, 0, &p);
    CU_ASSERT(p.zero_copy);
    dev[1].info.kind = CLF_DEV_CPU;
    clf_dev_assume(&d, 1, &p);
    CU_ASSERT(p.zero_copy && p.fp64 && p.cores == 1);
    CU_ASSERT_EQUAL(p.unit_local_bytes, 0); /* of a CPU it is memory like any other */
    clf_dev_note(&dev[1], CLF_FAULT_LOST);
    clf_dev_note(&dev[1], CLF_FAULT_LATE);
    CU_ASSERT(clf_dev_fault(&d, -1) == CLF_FAULT_NONE && clf_dev_fault(&d, 2) == CLF_FAULT_NONE);
    CU_ASSERT(clf_dev_fault(&d, 1) == CLF_FAULT_LOST && clf_dev_fault(&d, 1) == CLF_FAULT_NONE);
}

/* A device that stopped answering: nothing is launched, and what it may still write to is kept. */
static void test_busy(void) {
    static clf_devs d;
    static clf_dev dev;
    clf_program p = {.dev = 0, .entry = "k"}, elsewhere = {.dev = 1, .entry = "k"};
    clf_err err = {0};
    begin(&d);
    memset(&dev, 0, sizeof dev);
    d.dev = &dev;
    d.n = 1;
    dev.queue = (cl_command_queue)&dev; /* never used */
    CU_ASSERT_EQUAL(clf_launch(&d, 0, NULL, NULL, 0, 1, 1, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_launch(&d, 0, &elsewhere, NULL, 0, 1, 1, &err), CLF_E_ARG);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "was not built for device"));
    CU_ASSERT_EQUAL(clf_launch(&d, 0, &p, NULL, 0, 0, 1, NULL), CLF_OK);
    CU_ASSERT_EQUAL(clf_launch(&d, 0, &p, NULL, 0, 1, 0, NULL), CLF_E_ARG);
    CU_ASSERT(!clf_dev_busy(&d, 0) && !clf_dev_busy(&d, 1) && !clf_dev_busy(&d, -1));
    size_t now = mem.now_bytes;
    clf_dev_give_back(&d, &dev, clf_mem_data(&mem, 10), 10);
    CU_ASSERT_EQUAL(mem.now_bytes, now);
    dev.busy = true;
    clf_err_clear(&err);
    CU_ASSERT(clf_dev_busy(&d, 0));
    CU_ASSERT_EQUAL(clf_launch(&d, 0, &p, NULL, 0, 1, 1, &err), CLF_E_DEVICE);
    CU_ASSERT(strstr(err.text, "does not answer") && clf_dev_fault(&d, 0) == CLF_FAULT_LOST);
    for (int k = 0; k < 3; k++) clf_dev_give_back(&d, &dev, clf_mem_data(&mem, 10), 10);
    clf_dev_give_back(&d, &dev, NULL, 10);
    CU_ASSERT_EQUAL(mem.now_bytes, now + 20);
    for (int k = 0; k < 2; k++) clf_mem_data_free(&mem, dev.withheld[k].at, dev.withheld[k].bytes);
    d.pid++;
    clf_err_clear(&err);
    CU_ASSERT_EQUAL(clf_launch(&d, 0, &p, NULL, 0, 1, 1, &err), CLF_E_STATE);
    CU_ASSERT_EQUAL(mem.now_bytes, now);
}

static void test_options(void) {
    static const char *const good[] = {"-cl-opt-disable", "-cl-fp32-correctly-rounded-divide-sqrt  -D_", "-DZ9=9z_"};
    static const char *const bad[] = {"-", "-d", "-D=1", "-DA=1-", "-DA-", "-cl-std=CL1.3", "-cl-std=CL1.2 -I."};
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) CU_ASSERT_EQUAL(clf_options_check(good[k], NULL), CLF_OK);
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) CU_ASSERT_EQUAL(clf_options_check(bad[k], NULL), CLF_E_ARG);
    char wide[200];
    clf_err err = {0};
    memset(wide, 'o', sizeof wide - 1);
    wide[sizeof wide - 1] = '\0';
    CU_ASSERT_EQUAL(clf_options_check(wide, &err), CLF_E_ARG);
    CU_ASSERT(strlen(err.text) < 120);
}

/* ---- programs that cannot be had -------------------------------------------------------------------------------------------- */

static const clf_arg_desc one_arg[] = {{CLF_ARG_MEM_OUT, CLF_I32, 0}};
static const char two_kernels[] = "__kernel void a(__global int *x) { x[0] = 1; }\n__kernel void b(__global int *x) { x[0] = 2; }\n";

static clf_source source(const char *text, const char *entry, const char *options) {
    clf_source s = {.text = text, .text_len = strlen(text), .entry = entry, .options = options, .args = one_arg, .nargs = 1};
    s.hash = clf_hash_bytes(entry, strlen(entry));
    return s;
}

static void refuse_joined(clf_devs *d, const char *text, const clf_source *const *src, int n, clf_status st, const char *say) {
    clf_err err = {0};
    CU_ASSERT_EQUAL(clf_programs_build(d, 0, text, strlen(text), src, n, &err), st);
    if (!strstr(err.text, say)) printf("\n    '%s'\n", err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, say));
}

static void programs(clf_devs *d) {
    const clf_source a = source("a", "a", ""), b = source("b", "b", ""), c = source("c", "c", ""), other = source("a", "o", "-DX");
    const clf_source wrong = source("w", "w", "-I/"), *const both[] = {&a, &b}, *const three[] = {&a, &b, &c},
                     *const mixed[] = {&a, &other};
    clf_source no_text = a, no_entry = a, no_options = a, no_args = a;
    no_text.text = NULL, no_entry.entry = NULL, no_options.options = NULL, no_args.args = NULL;
    const clf_source *const incomplete[] = {NULL, &no_text, &no_entry, &no_options, &no_args};
    clf_program *p = NULL;
    bool compiled = true;
    for (int k = 0; k < 5; k++) {
        CU_ASSERT_EQUAL(clf_program_get(d, 0, incomplete[k], &p, &compiled, NULL), CLF_E_ARG);
        CU_ASSERT(!clf_program_known(d, 0, incomplete[k]));
        refuse_joined(d, two_kernels, &incomplete[k], 1, CLF_E_ARG, "incomplete kernel source");
    }
    refuse_joined(d, two_kernels, both, 0, CLF_E_ARG, "a program without kernels");
    refuse_joined(d, two_kernels, mixed, 2, CLF_E_ARG, "different options");
    refuse_joined(d, two_kernels, (const clf_source *const[]){&wrong}, 1, CLF_E_ARG, "not allowed");
    refuse_joined(d, "__kernel void a(", both, 2, CLF_E_BUILD, "does not build");
    CU_ASSERT(!clf_program_known(d, 0, &a));
    CU_ASSERT_EQUAL(clf_programs_build(d, 0, two_kernels, sizeof two_kernels - 1, three, 3, NULL), CLF_OK);
    CU_ASSERT(clf_program_known(d, 0, &a) && clf_program_known(d, 0, &b) && !clf_program_known(d, 0, &c)); /* c is not in the text */
    CU_ASSERT_EQUAL(clf_programs_build(d, 0, two_kernels, sizeof two_kernels - 1, both, 2, NULL), CLF_OK); /* made already */
    int x[1] = {0};
    CU_ASSERT_EQUAL_FATAL(clf_program_get(d, 0, &b, &p, &compiled, NULL), CLF_OK);
    CU_ASSERT(!compiled);
    CU_ASSERT_EQUAL(clf_launch(d, 0, p, &(clf_arg){.ptr = x, .bytes = sizeof x}, 1, 1, 1, NULL), CLF_OK);
    CU_ASSERT(clf_dev_wait(d, 0, NULL) == CLF_OK && x[0] == 2);
    /* sources that differ from a kept one in one thing are others */
    clf_source longer = a, fewer = a, elsewhere = a;
    longer.text_len = 0, fewer.nargs = 0, elsewhere.entry = "b";
    CU_ASSERT(!clf_program_known(d, 0, &longer) && !clf_program_known(d, 0, &fewer) && !clf_program_known(d, 0, &elsewhere));
    CU_ASSERT(!clf_program_known(d, 1, &a));
    clf_source minus = a;
    minus.nargs = -1, minus.hash = (clf_hash){1, 2};
    CU_ASSERT_EQUAL(clf_program_get(d, 0, &minus, &p, NULL, NULL), CLF_E_NOMEM);
    static const clf_arg_desc untyped[] = {{CLF_ARG_PARAM, 99, 0}};
    clf_source scalar = source("__kernel void s(int x) { }\n", "s", "");
    scalar.args = untyped;
    CU_ASSERT_EQUAL_FATAL(clf_program_get(d, 0, &scalar, &p, NULL, NULL), CLF_OK);
    CU_ASSERT_EQUAL(clf_launch(d, 0, p, &(clf_arg){.bytes = 4}, 1, 1, 1, NULL), CLF_E_ARG);
}

static void hear(void *user, const char *topic, const char *line) { *(int *)user += topic[0] != '\0' && line[0] != '\0'; }

static void test_programs(void) {
    clf_devs *d = NULL;
    int lines = 0;
    const clf_trace log = {.mask = 1u << CLF_TOPIC_build | 1u << CLF_TOPIC_launch, .fn = hear, .user = &lines};
    CU_ASSERT_EQUAL_FATAL(clf_devs_open(&d, &(clf_dev_opts){.mem = &mem, .cache_dir = getenv("CLF_CACHE_DIR"), .log = &log}, NULL), CLF_OK);
    if (clf_devs_count(d))
        programs(d);
    else
        CU_ASSERT(*clf_devs_why(d));
    CU_ASSERT(lines > 0);
    clf_devs_close(d);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
}

/* ---- drivers that find nothing ---------------------------------------------------------------------------------------------- */

/* In a process of its own, since a driver reads its variables once: no device, a reason that says what to look at, and no harm. */
static int open_and_tell(const char *reason) {
    clf_devs *d = NULL;
    clf_err err = {0};
    clf_mem_init(&mem, NULL, NULL);
    if (clf_devs_open(&d, &(clf_dev_opts){.mem = &mem, .cache_dir = getenv("CLF_CACHE_DIR")}, &err) != CLF_OK) return 1;
    bool other = clf_devs_count(d) > 0; /* of another driver, which these variables do not concern */
    bool told = strstr(clf_devs_why(d), reason) || strstr(clf_devs_why(d), "no OpenCL platform");
    if (!other && !told) printf("\n    '%s'\n", clf_devs_why(d));
    if (!other && clf_devs_find(d, "") != -1) return 2;
    clf_devs_close(d);
    return other || told ? mem.now_bytes != 0 : 3;
}

static int child(const char *reason, const char *var, const char *value) {
    pid_t pid = fork();
    if (!pid) {
        setenv(var, value, 1);
        execl("/proc/self/exe", "test_device_none", reason, (char *)NULL);
        _exit(99);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void test_finding_nothing(void) {
    static const struct {
        const char *var, *value, *reason;
    } cases[] = {{"POCL_DEVICES", "none", "has no device"},
                 {"POCL_CACHE_DIR", "/dev/null/x", "POCL_CACHE_DIR=/dev/null/x is not writable"},
                 {"OCL_ICD_VENDORS", "/dev/null/x", "OCL_ICD_VENDORS is set"},
                 {"OCL_ICD_VENDORS", "/dev/null/x", "no driver is installed or named in /dev/null/x"}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        int rc = child(cases[k].reason, cases[k].var, cases[k].value);
        if (rc) printf("\n    %s=%s: %d\n", cases[k].var, cases[k].value, rc);
        CU_ASSERT_EQUAL(rc, 0);
    }
}

/* ---- products --------------------------------------------------------------------------------------------------------------- */

static void test_products(void) {
    clf_blas *b = clf_blas_open(&mem, 1);
    double A[4] = {1, 2, 3, 4}, C[4] = {9, 9, 9, 9};
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    static const int64_t sizes[][3] = {{-1, 2, 2}, {2, -1, 2}, {2, 2, -1}};
    for (int k = 0; k < 3; k++)
        CU_ASSERT_EQUAL(clf_blas_gemm(b, CLF_F64, false, false, sizes[k][0], sizes[k][1], sizes[k][2], A, 2, A, 2, C, 2, NULL),
                        CLF_E_SHAPE);
    CU_ASSERT(clf_blas_gemm(b, CLF_F64, false, false, INT64_MAX / 2, 2, 2, A, 4, A, 2, C, 2, NULL) != CLF_OK);
    CU_ASSERT(clf_blas_gemm(b, CLF_F64, false, false, 2, 2, INT64_MAX / 8, A, INT64_MAX / 8, A, 2, C, 2, NULL) != CLF_OK);
    CU_ASSERT_EQUAL(C[0], 9);
    CU_ASSERT_EQUAL(clf_blas_gemm(b, CLF_F64, false, true, 1, 1, 2, A, (int64_t)INT_MAX + 1, A + 2, 2, C, 2, NULL), CLF_OK);
    CU_ASSERT(C[0] == 1 * 3 + 2 * 4 && C[1] == 9); /* one row: its distance to the next is any number */
    clf_blas_close(b);
    clf_blas_close(NULL);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
}

int main(int argc, char **argv) {
    if (argc > 1) return open_and_tell(argv[1]);
    clf_mem_init(&mem, NULL, NULL);
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("devices and programs that cannot be had", NULL, NULL);
    CU_add_test(s, "no device", test_none);
    CU_add_test(s, "made-up devices", test_made_up);
    CU_add_test(s, "a device that does not answer", test_busy);
    CU_add_test(s, "build options", test_options);
    CU_add_test(s, "programs that cannot be had", test_programs);
    CU_add_test(s, "drivers that find nothing", test_finding_nothing);
    CU_add_test(s, "products", test_products);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
