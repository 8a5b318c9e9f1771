/* SPDX-License-Identifier: Apache-2.0
 * The shim itself: kernels with one planted fault each die with the sanitizer's report when this build has sanitizers, and give right
 * results or a named error in any build where the standard says so. Each fault runs in a child, which is expected to die. */
#include <CUnit/Basic.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/device.h"
#include "tests/shim/shim.h"
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"

enum { CELLS = 37, REPORT = 1 << 16 };

/* ---- one kernel k(in, out, n) over CELLS doubles, one work-item ---- */

static clf_status run_kernel(clf_devs *d, int dev, const char *body, double *in, double *out, clf_err *err) {
    static const clf_arg_desc desc[] = {{CLF_ARG_MEM_IN, CLF_F64, 0}, {CLF_ARG_MEM_OUT, CLF_F64, 0}, {CLF_ARG_PARAM, CLF_I32, 0}};
    char text[2048];
    clf_program *p;
    bool compiled;
    snprintf(text, sizeof text, "__kernel void k(const __global double *restrict in, __global double *out, int n)\n{\n%s\n}\n", body);
    clf_source src = {.text = text, .text_len = strlen(text), .entry = "k", .options = "", .args = desc, .nargs = 3};
    clf_arg arg[] = {{.ptr = in, .bytes = CELLS * sizeof *in}, {.ptr = out, .bytes = CELLS * sizeof *out}, {.bytes = 4, .u.i32 = CELLS}};
    CLF_TRY(clf_program_get(d, dev, &src, &p, &compiled, err));
    CLF_TRY(clf_launch(d, dev, p, arg, 3, 1, 1, err));
    return clf_dev_wait(d, dev, err);
}

static clf_status run_alone(int dev, const char *body, double *in, double *out, clf_err *err) {
    clf_mem mem;
    clf_devs *d = NULL;
    clf_mem_init(&mem, NULL, NULL);
    clf_dev_opts o = {.mem = &mem};
    CLF_TRY(clf_devs_open(&d, &o, err));
    clf_status st = run_kernel(d, dev, body, in, out, err);
    clf_devs_close(d);
    return st;
}

/* ---- planted faults ---- */

static const struct {
    const char *name, *body, *report;
} faults[] = {
    {"read one element behind", "double s = 0; for (int i = 0; i <= n; i++) s += in[i]; out[0] = s;", "heap-buffer-overflow"},
    {"read one element before", "out[0] = in[-1];", "heap-buffer-overflow"},
    {"write one element behind", "for (int i = 0; i <= n; i++) out[i] = 1;", "heap-buffer-overflow"},
    {"vector read over the end", "double8 s = 0; for (int i = 0; i < n; i += 8) s += vload8(0, in + i); out[0] = s.s0;",
     "heap-buffer-overflow"},
    {"vector access over the end without vload",
     "typedef double8 w __attribute__((aligned(8))); *(__global w *)(out + n - 7) = (double8)(1);", "heap-buffer-overflow"},
    {"vector access far over the end", "typedef double16 w __attribute__((aligned(8))); *(__global w *)(out + n - 1) = (double16)(1);",
     "heap-buffer-overflow"},
    {"private tile too short", "double t[8]; for (int i = 0; i <= 8; i++) t[i] = i; out[0] = t[n & 7];", "out of bounds for type"},
    {"private tile too short, by pointer",
     "double t[16]; __private double *p = t; for (int i = 0; i < 3; i++) vstore8((double8)(i), i, p); out[0] = t[n & 7];",
     "stack-buffer-overflow"},
    {"signed overflow", "int k = n; for (int i = 0; i < 40; i++) k *= 3; out[0] = k;", "signed integer overflow"},
    {"negation that overflows", "int k = -2147483647 - (n > 0); out[0] = -k;", "negation of"},
    {"division by zero", "out[0] = n / (n - n);", "division by zero"},
    {"remainder that overflows", "long k = -9223372036854775807L - (n > 0); out[0] = k % (0L - (n > 0));", "division of"},
    {"conversion out of range", "out[0] = convert_int((double)n * 1e18);", "outside the range"},
    {"conversion of NaN", "out[0] = convert_long8((double8)(0.0 / (n - 37))).s3;", "outside the range"},
    {"cast out of range", "out[0] = (uchar)(in[0] + 300.0);", "outside the range"},
    {"null pointer", "__global double *p = n > 0 ? 0 : out; p[0] = 1;", "null pointer"},
    {"misaligned access", "*(__global double *)((__global char *)out + n) = 1;", "misaligned address"},
};
enum { FAULTS = sizeof faults / sizeof *faults };

static void child_runs(int dev, const char *body) {
    double *in = calloc(CELLS, sizeof *in), *out = calloc(CELLS, sizeof *out);
    clf_err err = {0};
    clf_status st = run_alone(dev, body, in, out, &err);
    fprintf(stderr, "survived: %s %s\n", clf_status_name(st), err.text);
    _exit(0);
}

/* Run in a child; its exit status, what it said in report. */
static int in_child(int dev, const char *body, char *report) {
    int ends[2], status = -1;
    size_t n = 0;
    if (pipe(ends)) return -1;
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        child_runs(dev, body);
    }
    close(ends[1]);
    for (ssize_t k; n < REPORT - 1 && (k = read(ends[0], report + n, REPORT - 1 - n)) > 0;) n += (size_t)k;
    report[n] = 0;
    close(ends[0]);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void test_faults(void) {
    static char report[REPORT];
    int caught = 0;
    if (!CLF_SHIM_SANITIZED) return;
    for (int i = 0; i < FAULTS; i++)
        for (int dev = 0; dev < SHIM_DEVICES; dev++) {
            int rc = in_child(dev, faults[i].body, report);
            bool good = rc != 0 && strstr(report, faults[i].report);
            if (!good) printf("\n    %s: exit %d, %s\n", faults[i].name, rc, report);
            CU_ASSERT_TRUE(good);
            caught += good;
        }
    net_figure("planted faults of kernels as C, reported", "%d of %d", caught, FAULTS * SHIM_DEVICES);
}

/* ---- what must not be reported ---- */

static const struct {
    const char *name, *body;
    double want; /* of out[0] */
} rights[] = {
    {"exact ends", "for (int i = 0; i < n; i++) out[i] = in[i] + 1;", 1},
    {"vector up to the end", "vstore8(vload8(0, in + n - 8) + 2.0, 0, out + n - 8); out[0] = out[n - 1];", 5},
    {"unsigned wraps", "uint k = 4000000000u; k *= (uint)n; out[0] = k;", 1971111936},
    {"shifts are taken modulo the width", "out[0] = 1 << (n - 5);", 1},
    {"saturating by comparison", "double x = 1e30; out[0] = x < 2147483647.0 ? convert_int(x) : 7;", 7},
    {"vector choice and lanes", "double8 a = (double8)(1, 2, 3, 4, (double4)(5)); a = a > 2.5 ? a : -a; out[0] = a.s0 + a.s1 + a.hi.s3;",
     2},
    {"work-items", "out[0] = get_global_size(0) * 10 + get_global_id(0);", 10},
    {"counter", "volatile __global int *c = (volatile __global int *)(out + 1); out[0] = atomic_inc(c) + *c;", 1},
    {"exchange", "volatile __global int *c = (volatile __global int *)(out + 1); atomic_inc(c); out[0] = atomic_xchg(c, 5) * 10 + *c;", 15},
};

static void test_rights(void) {
    for (size_t i = 0; i < sizeof rights / sizeof *rights; i++)
        for (int dev = 0; dev < SHIM_DEVICES; dev++) {
            double in[CELLS] = {0}, out[CELLS] = {0};
            clf_err err = {0};
            in[CELLS - 1] = 3;
            clf_status st = run_alone(dev, rights[i].body, in, out, &err);
            if (st != CLF_OK || out[0] != rights[i].want) printf("\n    %s: %s, %g\n", rights[i].name, err.text, out[0]);
            CU_ASSERT_EQUAL(st, CLF_OK);
            CU_ASSERT_EQUAL(out[0], rights[i].want);
        }
    CU_ASSERT_EQUAL(shim_count.live, 0);
}

/* ---- builds that fail, and the shim's place ---- */

static void test_builds(void) {
    static const struct {
        const char *body, *word;
    } wrong[] = {{"out[0] = nothing_of_this_name;", "nothing_of_this_name"}, {"barrier(CLK_LOCAL_MEM_FENCE);", "barrier"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double in[CELLS] = {0}, out[CELLS] = {0};
        clf_err err = {0};
        CU_ASSERT_EQUAL(run_alone(0, wrong[i].body, in, out, &err), CLF_E_BUILD);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, wrong[i].word));
        CU_ASSERT_EQUAL(out[0], 0);
    }
    CU_ASSERT_EQUAL(shim_count.failed, 2);
    CU_ASSERT_EQUAL(shim_count.live, 0);
}

static void test_no_loader(void) { CU_ASSERT_PTR_NULL(dlopen("libOpenCL.so.1", RTLD_LAZY | RTLD_NOLOAD)); }

static void test_signatures(void) {
    static const char text[] = "static double f(double x) { return x; }\n"
                               "__kernel void first(const __global double *restrict x0, long xb0, volatile __global int *c , uchar p1) {}\n"
                               "__kernel  void none() {}\n";
    shim_signature k[3];
    CU_ASSERT_EQUAL_FATAL(shim_signatures(text, k, 3), 2);
    CU_ASSERT_STRING_EQUAL(k[0].name, "first");
    CU_ASSERT_EQUAL(k[0].nargs, 4);
    CU_ASSERT_TRUE(k[0].memory[0] && !k[0].memory[1] && k[0].memory[2] && !k[0].memory[3]);
    CU_ASSERT_STRING_EQUAL(k[1].name, "none");
    CU_ASSERT_EQUAL(k[1].nargs, 0);
    CU_ASSERT_EQUAL(shim_signatures(text, k, 1), -1);
    CU_ASSERT_EQUAL(shim_signatures("__kernel int k(int n) {}", k, 3), -1);
}

int main(void) {
    static const test_case tests[] = {{"signatures are read", test_signatures},
                                      {"no OpenCL loader in the process", test_no_loader},
                                      {"faults are reported", test_faults},
                                      {"what is right is not", test_rights},
                                      {"builds that fail", test_builds}};
    return run_suite("kernels as C: the shim", tests, sizeof tests / sizeof *tests);
}
