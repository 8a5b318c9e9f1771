/* SPDX-License-Identifier: Apache-2.0
 * Contexts on OpenCL objects of the caller's: what runs there, behind what the caller enqueued, and what is refused. Where there is no
 * device, nothing is checked but that. */
#include <time.h>

#include "clfuse/clf_opencl.h"
#include "device/device_internal.h"
#include "tests/unit/api_testing.h"

static cl_device_id device;
static cl_context context;

static cl_command_queue queue_with(cl_command_queue_properties how) {
    cl_int rc = CL_SUCCESS;
    return context ? clCreateCommandQueue(context, device, how, &rc) : NULL;
}

static cl_uint references(cl_command_queue q) {
    cl_uint n = 0;
    clGetCommandQueueInfo(q, CL_QUEUE_REFERENCE_COUNT, sizeof n, &n, NULL);
    return n;
}

/* The same when the driver's own threads have let go of commands that are over: some seconds at most. */
static cl_uint references_left(cl_command_queue q) {
    for (int ms = 0; ms < 5000 && references(q) > 1; ms++) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    return references(q);
}

static void set_up(void) {
    cl_platform_id platform;
    cl_uint n = 0;
    cl_int rc;
    if (clGetPlatformIDs(1, &platform, &n) != CL_SUCCESS || !n) return;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, &n) != CL_SUCCESS || !n) return;
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
}

static void test_runs(void) {
    static const char *const pointers[] = {"on", "off"};
    enum { N = 5000 };
    double x[N];
    for (int i = 0; i < N; i++) x[i] = i % 11;
    for (int k = 0; k < 2 && context; k++) {
        cl_command_queue q = queue_with(0);
        clf_ctx *c = NULL;
        CU_ASSERT_EQUAL_FATAL(clf_open_opencl(&c, NULL, context, q), CLF_OK);
        CU_ASSERT_EQUAL(references(q), 2);
        CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        CU_ASSERT_EQUAL(clf_set(c, "host_pointers", pointers[k]), CLF_OK);
        clf_device d = {.struct_size = sizeof d};
        CU_ASSERT(clf_device_at(c, 1, &d) && !clf_device_at(c, 2, &d));
        double want = 0;
        for (int i = 0; i < N; i++) want += x[i] * 3;
        CU_ASSERT_EQUAL(read_f64(clf_sum(clf_mul(clf_matrix(c, CLF_F64, N, 1, x), clf_num(c, 3)))), want);
        CU_ASSERT_EQUAL(stats_of(c).launches_tier2, 1);
        clf_close(c);
        CU_ASSERT_EQUAL(references_left(q), 1);
        CU_ASSERT_EQUAL(clFinish(q), CL_SUCCESS); /* still the caller's */
        clReleaseCommandQueue(q);
    }
}

/* Nothing of the caller's is used from other threads: kernels are built by who calls, though nobody said that evaluations wait. */
static void test_background(void) {
    if (!context) return;
    cl_command_queue q = queue_with(0);
    clf_ctx *c = NULL;
    clf_compiling p = {.struct_size = sizeof p};
    CU_ASSERT_EQUAL_FATAL(clf_open_opencl(&c, NULL, context, q), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "compile", "background"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "device", "1"), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_mul(clf_seq(c, 1, 5000, 1), clf_num(c, 3)))), 3 * 5000.0 * 5001 / 2);
    CU_ASSERT(stats_of(c).launches_tier2 > 0 && !stats_of(c).launches_meanwhile);
    CU_ASSERT(clf_compile_progress(c, &p) == CLF_OK && !p.asked);
    clf_close(c);
    clReleaseCommandQueue(q);
}

/* What the caller enqueued comes first: a buffer that it fills, and reads behind our kernels. */
static void test_order(void) {
    if (!context) return;
    cl_command_queue q = queue_with(0);
    clf_ctx *c = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_open_opencl(&c, NULL, context, q), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
    double x[64] = {0}, y[64];
    clf_mat *m = clf_borrow(c, CLF_F64, 64, 1, x, NULL, NULL), *s = clf_add(m, clf_num(c, 1));
    cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof x, NULL, NULL);
    for (int i = 0; i < 64; i++) y[i] = i;
    CU_ASSERT_EQUAL(clEnqueueWriteBuffer(q, buffer, CL_FALSE, 0, sizeof y, y, 0, NULL, NULL), CL_SUCCESS);
    CU_ASSERT_EQUAL(clEnqueueReadBuffer(q, buffer, CL_FALSE, 0, sizeof x, x, 0, NULL, NULL), CL_SUCCESS);
    CU_ASSERT_EQUAL(clf_read(s, y, sizeof y), CLF_OK); /* kernels see what was read into their operand before */
    for (int i = 0; i < 64; i++) CU_ASSERT_EQUAL(y[i], i + 1);
    clReleaseMemObject(buffer);
    clf_close(c);
    clReleaseCommandQueue(q);
}

static void refused(cl_context of, cl_command_queue q, const char *word) {
    clf_ctx *c = NULL;
    CU_ASSERT_EQUAL(clf_open_opencl(&c, NULL, of, q), CLF_E_ARG);
    CU_ASSERT_PTR_NULL(c);
    if (!strstr(clf_open_error(), word)) printf("\n    no '%s' in: %s\n", word, clf_open_error());
    CU_ASSERT_PTR_NOT_NULL(strstr(clf_open_error(), word));
}

static void test_refused(void) {
    refused(NULL, NULL, "no OpenCL context or queue");
    if (!context) return;
    cl_int rc;
    cl_command_queue q = queue_with(0), free_order = queue_with(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE);
    cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, &rc);
    refused(context, NULL, "no OpenCL context or queue");
    refused(other, q, "another OpenCL context");
    if (free_order) refused(context, free_order, "out of order");
    CU_ASSERT_EQUAL(clf_open_opencl(NULL, NULL, context, q), CLF_E_ARG);
    const clf_options bad = {.struct_size = sizeof bad, .fuse = "nonsense"};
    clf_ctx *c = NULL;
    if (clf_open_opencl(&c, &bad, context, q) == CLF_OK) clf_close(c);
    CU_ASSERT_EQUAL(references_left(q), 1);
    if (free_order) clReleaseCommandQueue(free_order);
    clReleaseCommandQueue(q);
    clReleaseContext(other);
}

/* ---- one device in two ---- */

enum { ROWS = 400, COLS = 50, BYTES = ROWS * COLS * 8, LITTLE = 1024 };

typedef struct half {
    cl_device_id id;
    cl_context context;
    cl_command_queue queue;
    clf_ctx *c;
    clf_mat *x;
} half;

/* Two sub-devices of one unit each, of their own context and queue, as devices without host pointers. */
static bool split(half h[2]) {
    const cl_device_partition_property equally[] = {CL_DEVICE_PARTITION_EQUALLY, 1, 0};
    cl_device_id id[64];
    cl_uint n = 0;
    cl_int rc;
    if (!context || clCreateSubDevices(device, equally, 64, id, &n) != CL_SUCCESS || n < 2) return false;
    for (cl_uint i = 2; i < n; i++) clReleaseDevice(id[i]);
    for (int k = 0; k < 2; k++) {
        h[k].id = id[k];
        h[k].context = clCreateContext(NULL, 1, &id[k], NULL, NULL, &rc);
        h[k].queue = clCreateCommandQueue(h[k].context, id[k], 0, &rc);
        CU_ASSERT_EQUAL_FATAL(clf_open_opencl(&h[k].c, NULL, h[k].context, h[k].queue), CLF_OK);
        CU_ASSERT_EQUAL(clf_set(h[k].c, "tier", "2"), CLF_OK);
        CU_ASSERT_EQUAL(clf_set(h[k].c, "host_pointers", "off"), CLF_OK);
    }
    return true;
}

static void give_up(half *h) {
    clf_close(h->c);
    clReleaseCommandQueue(h->queue);
    clReleaseContext(h->context);
    clReleaseDevice(h->id);
}

/* Each half keeps a copy of the same matrix, and what one gives up the other keeps. */
static void test_halves(void) {
    static double data[ROWS * COLS];
    half h[2];
    if (!split(h)) return;
    double sum = 0;
    for (int i = 0; i < ROWS * COLS; i++) sum += data[i] = i % 6;
    for (int k = 0; k < 2; k++) h[k].x = clf_borrow(h[k].c, CLF_F64, ROWS, COLS, data, NULL, NULL);
    for (int i = 1; i <= 6; i++)
        for (int k = 0; k < 2; k++) CU_ASSERT_EQUAL(read_f64(clf_sum(clf_mul(h[k].x, clf_num(h[k].c, i)))), i * sum);
    for (int k = 0; k < 2; k++) {
        clf_stats s = stats_of(h[k].c);
        CU_ASSERT(s.launches_tier2 == 6 && s.bytes_to_device >= BYTES && s.bytes_to_device < BYTES + LITTLE);
        CU_ASSERT_EQUAL(s.bytes_from_device, 6 * 8);
    }
    give_up(&h[0]);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_mul(h[1].x, clf_num(h[1].c, 7)))), 7 * sum);
    CU_ASSERT(stats_of(h[1].c).bytes_to_device < BYTES + LITTLE);
    give_up(&h[1]);
}

int main(void) {
    static const test_case tests[] = {{"runs there", test_runs},
                                      {"built by who calls", test_background},
                                      {"in order", test_order},
                                      {"refused", test_refused},
                                      {"one device in two", test_halves}};
    set_up();
    int rc = run_suite("the caller's queue", tests, sizeof tests / sizeof *tests);
    if (context) clReleaseContext(context);
    return rc;
}
