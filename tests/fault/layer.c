/* SPDX-License-Identifier: Apache-2.0
 * The fault layer: counts OpenCL calls and fails those it was told to fail. One row per function the library calls; a call that fails
 * does not reach the driver (late failures excepted), so its effect is missing as it would be. A lost device first finishes what its
 * queues hold and computes nothing afterwards; releases then still reach the driver, which would otherwise keep everything.
 * Held kernels wait for an event of ours, which the next wait of the program sets off; those of a zombie only wake() does.
 * thread: the library calls OpenCL under its evaluation lock, and the test has one context at a time. */
#include <string.h>

#include "tests/fault/layer.h"
#include "tests/fault/layer_keep.h"

#define EXPORT __attribute__((visibility("default")))

enum function {
#define CALL(f, ...) FN_##f,
#include "tests/fault/layer_calls.def"
#undef CALL
    NFUNCTIONS
};

static const struct row {
    const char *name;
    int code[FAULT_MOST_CODES];
} rows[] = {
#define CALL(f, ...) {#f, {__VA_ARGS__}},
#include "tests/fault/layer_calls.def"
#undef CALL
};

enum { REMEMBERED = 1 << 16, MARKS = 1024, QUEUES = 64 };

static const cl_icd_dispatch *real;

static struct state {
    fault_mode mode;
    int function, code;
    long at, all, each[NFUNCTIONS], kernels, injected, to_device;
    bool held, lost, finish_fails;
    unsigned char log[REMEMBERED];
    cl_event failed[MARKS], slow[MARKS]; /* events that lie */
    int nfailed, nslow;
} s;

static cl_command_queue queues[QUEUES], left[QUEUES];      /* alive; given back while they held something */
static cl_device_id devices[QUEUES], queue_device[QUEUES]; /* in the order of their contexts; of queues */
static int nqueues, nleft, ndevices;
static cl_event gates[MARKS], tombs[MARKS]; /* what held kernels wait for, and those of a device that was lost with them */
static int ngates, ntombs;

static long objects; /* made or retained, less the releases tried */

static void *made(void *object) {
    objects += object != NULL;
    return object;
}

/* ---- deciding ---- */

static void open_all(cl_event *list, int *n) {
    for (int i = 0; i < *n; i++) {
        real->clSetUserEventStatus(list[i], CL_COMPLETE);
        real->clReleaseEvent(list[i]);
    }
    *n = 0;
}

static void wake(void) {
    open_all(gates, &ngates);
    open_all(tombs, &ntombs);
    for (int i = 0; i < nqueues; i++) real->clFinish(queues[i]);
    for (int i = 0; i < nleft; i++) {
        real->clFinish(left[i]);
        real->clReleaseCommandQueue(left[i]);
    }
    nleft = 0;
}

static void lose(void) {
    s.lost = true;
    if (s.mode == FAULT_LOST) wake();
    for (; ngates && ntombs < MARKS; ntombs++) tombs[ntombs] = gates[--ngates];
}

static bool hit(enum function f) {
    long n = s.function == FAULT_ANY ? s.all : s.each[f];
    bool mine = s.function == FAULT_ANY || s.function == (int)f;
    if (s.mode == FAULT_ONCE) return mine && n == s.at;
    if (s.mode != FAULT_FOR_EVER) return false;
    if (s.function == FAULT_ANY && n == s.at) s.function = (int)f, s.at = s.each[f];
    return s.function == (int)f && s.each[f] >= s.at;
}

/* Count the call. The code it fails with, or CL_SUCCESS when it goes on to the driver. */
static cl_int gate(enum function f) {
    if (s.all < REMEMBERED) s.log[s.all] = (unsigned char)f;
    s.all++;
    s.each[f]++;
    if ((s.mode == FAULT_LOST || s.mode == FAULT_ZOMBIE) && !s.lost && s.all >= s.at) lose();
    if (!s.lost && !hit(f)) return CL_SUCCESS;
    s.injected++;
    return s.code;
}

/* ---- one device of several ---- */

static void see_device(cl_device_id d) {
    for (int i = 0; i < ndevices; i++)
        if (devices[i] == d) return;
    if (ndevices < QUEUES) devices[ndevices++] = d;
}

/* A call to a device; to its queue q, if it has one, which first finishes what it holds. */
static cl_int gate_device(enum function f, cl_device_id d, cl_command_queue q) {
    cl_int rc = gate(f);
    if (rc || s.mode != FAULT_DEVICE || s.function >= ndevices || devices[s.function] != d || ++s.to_device < s.at) return rc;
    open_all(gates, &ngates);
    if (q) real->clFinish(q);
    s.injected++;
    return s.code;
}

static cl_int gate_queue(enum function f, cl_command_queue q) {
    for (int i = 0; i < nqueues; i++)
        if (queues[i] == q) return gate_device(f, queue_device[i], q);
    return gate(f);
}

static int find_event(const cl_event *list, int n, cl_event e) {
    for (int i = 0; i < n; i++)
        if (list[i] == e) return i;
    return -1;
}

static void forget_event(cl_event *list, int *n, cl_event e) {
    int i = find_event(list, *n, e);
    if (i >= 0) list[i] = list[--*n];
}

static void mark(cl_event *list, int *n, cl_event e) {
    if (*n < MARKS) list[(*n)++] = e;
}

/* ---- functions that only count and pass on ---- */

#define INT(f, params, args) \
    static cl_int CL_API_CALL my_##f params { \
        cl_int rc = gate(FN_##f); \
        return rc ? rc : real->f args; \
    }
/* Given back even when the call fails on a lost device. */
#define RELEASE(f, type) \
    static cl_int CL_API_CALL my_##f(type x) { \
        cl_int rc = gate(FN_##f); \
        objects--; \
        if (!rc || s.lost) real->f(x); \
        return rc; \
    }
#define OBJECT(f, type, params, args) \
    static type CL_API_CALL my_##f params { \
        cl_int rc = gate(FN_##f); \
        if (!rc) return made(real->f args); \
        if (out_rc) *out_rc = rc; \
        return NULL; \
    }

INT(clGetPlatformIDs, (cl_uint n, cl_platform_id *p, cl_uint *found), (n, p, found))
INT(clGetPlatformInfo, (cl_platform_id p, cl_platform_info what, size_t n, void *to, size_t *need), (p, what, n, to, need))
INT(clGetDeviceIDs, (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *d, cl_uint *found), (p, t, n, d, found))
INT(clGetDeviceInfo, (cl_device_id d, cl_device_info what, size_t n, void *to, size_t *need), (d, what, n, to, need))
INT(clGetProgramInfo, (cl_program p, cl_program_info what, size_t n, void *to, size_t *need), (p, what, n, to, need))
INT(clGetProgramBuildInfo, (cl_program p, cl_device_id d, cl_program_build_info what, size_t n, void *to, size_t *need),
    (p, d, what, n, to, need))
INT(clGetKernelInfo, (cl_kernel k, cl_kernel_info what, size_t n, void *to, size_t *need), (k, what, n, to, need))
INT(clSetKernelArg, (cl_kernel k, cl_uint i, size_t n, const void *v), (k, i, n, v))
INT(clSetKernelArgSVMPointer, (cl_kernel k, cl_uint i, const void *v), (k, i, v))
static cl_int CL_API_CALL my_clFlush(cl_command_queue q) {
    cl_int rc = gate_queue(FN_clFlush, q);
    return rc ? rc : real->clFlush(q);
}
OBJECT(clCreateKernel, cl_kernel, (cl_program p, const char *name, cl_int *out_rc), (p, name, out_rc))
RELEASE(clReleaseContext, cl_context)
RELEASE(clReleaseMemObject, cl_mem)
RELEASE(clReleaseProgram, cl_program)
RELEASE(clReleaseKernel, cl_kernel)

static cl_mem CL_API_CALL my_clCreateBuffer(cl_context c, cl_mem_flags f, size_t n, void *p, cl_int *out_rc) {
    cl_int rc = gate(FN_clCreateBuffer);
    if (!rc && s.mode == FAULT_BIG && n > (size_t)s.at) rc = s.code, s.injected++;
    if (!rc) return made(real->clCreateBuffer(c, f, n, p, out_rc));
    if (out_rc) *out_rc = rc;
    return NULL;
}

static void *CL_API_CALL my_clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool block, cl_map_flags f, size_t at, size_t n, cl_uint ne,
                                               const cl_event *list, cl_event *e, cl_int *out_rc) {
    cl_int rc = gate_queue(FN_clEnqueueMapBuffer, q);
    if (!rc) return real->clEnqueueMapBuffer(q, m, block, f, at, n, ne, list, e, out_rc);
    if (out_rc) *out_rc = rc;
    return NULL;
}

static cl_int CL_API_CALL my_clEnqueueUnmapMemObject(cl_command_queue q, cl_mem m, void *at, cl_uint n, const cl_event *list, cl_event *e) {
    cl_int rc = gate_queue(FN_clEnqueueUnmapMemObject, q);
    if (!rc) rc = real->clEnqueueUnmapMemObject(q, m, at, n, list, e);
    if (!rc && e) made(*e);
    return rc;
}

static cl_int CL_API_CALL my_clEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_bool block, size_t at, size_t n, const void *from,
                                                  cl_uint ne, const cl_event *list, cl_event *e) {
    cl_int rc = gate_queue(FN_clEnqueueWriteBuffer, q);
    if (!rc) rc = real->clEnqueueWriteBuffer(q, m, block, at, n, from, ne, list, e);
    if (!rc && e) made(*e);
    return rc;
}

static cl_int CL_API_CALL my_clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_bool block, size_t at, size_t n, void *to, cl_uint ne,
                                                 const cl_event *list, cl_event *e) {
    cl_int rc = gate_queue(FN_clEnqueueReadBuffer, q);
    if (!rc) rc = real->clEnqueueReadBuffer(q, m, block, at, n, to, ne, list, e);
    if (!rc && e) made(*e);
    return rc;
}

static cl_int CL_API_CALL my_clEnqueueBarrierWithWaitList(cl_command_queue q, cl_uint ne, const cl_event *list, cl_event *e) {
    cl_int rc = gate_queue(FN_clEnqueueBarrierWithWaitList, q);
    return rc ? rc : real->clEnqueueBarrierWithWaitList(q, ne, list, e);
}

static cl_int CL_API_CALL my_clRetainProgram(cl_program p) {
    cl_int rc = gate(FN_clRetainProgram);
    if (!rc) rc = real->clRetainProgram(p);
    if (!rc) made(p);
    return rc;
}

/* ---- queues, which a loss must find ---- */

static cl_command_queue CL_API_CALL my_clCreateCommandQueue(cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *out_rc) {
    cl_int rc = gate_device(FN_clCreateCommandQueue, d, NULL);
    cl_command_queue q = rc ? NULL : real->clCreateCommandQueue(c, d, p, out_rc);
    if (rc && out_rc) *out_rc = rc;
    if (q && nqueues < QUEUES) queue_device[nqueues] = d, queues[nqueues++] = q;
    return made(q);
}

static cl_int CL_API_CALL my_clReleaseCommandQueue(cl_command_queue q) {
    cl_int rc = gate(FN_clReleaseCommandQueue);
    objects--;
    if (rc && !s.lost) return rc;
    for (int i = 0; i < nqueues; i++)
        if (queues[i] == q) queue_device[i] = queue_device[nqueues - 1], queues[i--] = queues[--nqueues];
    open_all(gates, &ngates);
    if (ntombs && nleft < QUEUES) {
        left[nleft++] = q;
        return rc;
    }
    if (s.lost) real->clFinish(q); /* copies of ours that nobody waits for any more read what is freed next */
    real->clReleaseCommandQueue(q);
    return rc;
}

static cl_int CL_API_CALL my_clFinish(cl_command_queue q) {
    cl_int rc = gate_queue(FN_clFinish, q);
    if (rc) return rc;
    open_all(gates, &ngates);
    rc = real->clFinish(q);
    if (!s.finish_fails) return rc;
    s.finish_fails = false;
    s.injected++;
    return s.code;
}

/* ---- kernels and their events ---- */

static bool fails_late(void) {
    if (s.mode == FAULT_LATE_ALWAYS) return s.kernels >= s.at;
    return (s.mode == FAULT_LATE || s.mode == FAULT_LATE_LOST) && s.kernels == s.at;
}

/* A user event for the next kernel to wait for; NULL: it need not. */
static cl_event gate_for(cl_command_queue q) {
    cl_context c;
    if (!s.held || ngates == MARKS) return NULL;
    if (real->clGetCommandQueueInfo(q, CL_QUEUE_CONTEXT, sizeof c, &c, NULL)) return NULL;
    cl_event e = real->clCreateUserEvent(c, NULL);
    if (e) gates[ngates++] = e;
    return e;
}

static cl_int CL_API_CALL my_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dim, const size_t *offset,
                                                    const size_t *global, const size_t *local, cl_uint n, const cl_event *list,
                                                    cl_event *e) {
    cl_int rc = gate_queue(FN_clEnqueueNDRangeKernel, q);
    if (rc) return rc;
    s.kernels++;
    bool late = fails_late();
    cl_event held = gate_for(q);
    cl_event both[QUEUES];
    for (cl_uint i = 0; held && i < n && i < QUEUES - 1; i++) both[i + 1] = list[i];
    if (held) both[0] = held, n++, list = both;
    rc = late && s.mode == FAULT_LATE_LOST ? real->clEnqueueMarkerWithWaitList(q, 0, NULL, e)
                                           : real->clEnqueueNDRangeKernel(q, k, dim, offset, global, local, n, list, e);
    if (rc || !e) return rc;
    made(*e);
    if (late) mark(s.failed, &s.nfailed, *e);
    if (s.mode == FAULT_SLOW) mark(s.slow, &s.nslow, *e);
    s.injected += late || s.mode == FAULT_SLOW;
    s.finish_fails = s.mode == FAULT_FINISH && s.kernels == s.at;
    return rc;
}

static cl_int CL_API_CALL my_clGetEventInfo(cl_event e, cl_event_info what, size_t n, void *to, size_t *need) {
    cl_int rc = gate(FN_clGetEventInfo);
    if (!rc) rc = real->clGetEventInfo(e, what, n, to, need);
    if (rc || what != CL_EVENT_COMMAND_EXECUTION_STATUS || !to) return rc;
    cl_int *status = to;
    if (*status <= CL_COMPLETE && find_event(s.failed, s.nfailed, e) >= 0) *status = s.code;
    if (*status == CL_COMPLETE && find_event(s.slow, s.nslow, e) >= 0) *status = CL_RUNNING;
    return rc;
}

static cl_int CL_API_CALL my_clWaitForEvents(cl_uint n, const cl_event *list) {
    cl_int rc = gate(FN_clWaitForEvents);
    if (!rc) open_all(gates, &ngates);
    if (!rc) rc = real->clWaitForEvents(n, list);
    for (cl_uint i = 0; i < n && !rc; i++) {
        forget_event(s.slow, &s.nslow, list[i]);
        if (find_event(s.failed, s.nfailed, list[i]) >= 0) rc = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    return rc;
}

static cl_int CL_API_CALL my_clReleaseEvent(cl_event e) {
    cl_int rc = gate(FN_clReleaseEvent);
    objects--;
    if (rc && !s.lost) return rc;
    forget_event(s.failed, &s.nfailed, e);
    forget_event(s.slow, &s.nslow, e);
    real->clReleaseEvent(e);
    return rc;
}

/* ---- contexts and programs, kept for the next round ---- */

static cl_context CL_API_CALL my_clCreateContext(const cl_context_properties *p, cl_uint n, const cl_device_id *d,
                                                 void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user,
                                                 cl_int *out_rc) {
    cl_int rc = gate(FN_clCreateContext);
    (void)n, (void)notify, (void)user; /* the library gives one device and no callback */
    if (!rc) see_device(*d);
    if (!rc) return made(keep_context(real, p, *d, out_rc));
    if (out_rc) *out_rc = rc;
    return NULL;
}

static cl_program CL_API_CALL my_clCreateProgramWithSource(cl_context c, cl_uint n, const char **text, const size_t *len, cl_int *out_rc) {
    cl_int rc = gate(FN_clCreateProgramWithSource);
    (void)n; /* the library gives one string with its length */
    if (!rc) return made(keep_program(real, c, text[0], len[0], out_rc));
    if (out_rc) *out_rc = rc;
    return NULL;
}

static cl_program CL_API_CALL my_clCreateProgramWithBinary(cl_context c, cl_uint n, const cl_device_id *d, const size_t *len,
                                                           const unsigned char **at, cl_int *taken, cl_int *out_rc) {
    cl_int rc = gate(FN_clCreateProgramWithBinary);
    if (!rc) return made(real->clCreateProgramWithBinary(c, n, d, len, at, taken, out_rc));
    if (out_rc) *out_rc = rc;
    return NULL;
}

static cl_int CL_API_CALL my_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *d, const char *options,
                                            void(CL_CALLBACK *done)(cl_program, void *), void *user) {
    cl_int rc = gate(FN_clBuildProgram);
    (void)n, (void)done, (void)user;
    return rc ? rc : keep_build(real, p, *d, options);
}

/* ---- the loader's side ---- */

EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t n, void *to, size_t *need) {
    static const char name[] = "clfuse faults";
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    const void *from = what == CL_LAYER_NAME ? (const void *)name : &version;
    size_t bytes = what == CL_LAYER_NAME ? sizeof name : sizeof version;
    if (what != CL_LAYER_NAME && what != CL_LAYER_API_VERSION) return CL_INVALID_VALUE;
    if (to && n < bytes) return CL_INVALID_VALUE;
    if (to) memcpy(to, from, bytes);
    if (need) *need = bytes;
    return CL_SUCCESS;
}

EXPORT cl_int CL_API_CALL clInitLayer(cl_uint n, const cl_icd_dispatch *target, cl_uint *out_n, const cl_icd_dispatch **out) {
    static cl_icd_dispatch mine;
    if (!target || !out_n || !out || n < sizeof mine / sizeof(void *)) return CL_INVALID_VALUE;
    real = target;
    mine = *target;
#define CALL(f, ...) mine.f = my_##f;
#include "tests/fault/layer_calls.def"
#undef CALL
    *out = &mine;
    *out_n = sizeof mine / sizeof(void *);
    return CL_SUCCESS;
}

/* ---- the test's side ---- */

static const char *name_of(int f) { return f >= 0 && f < NFUNCTIONS ? rows[f].name : "any function"; }

static const int *codes_of(int f, int *n) {
    for (*n = 0; *n < FAULT_MOST_CODES && rows[f].code[*n];) ++*n;
    return rows[f].code;
}

static void arm(fault_mode mode, int function, long at, int code) {
    memset(&s, 0, sizeof s);
    s.mode = mode;
    s.function = function;
    s.at = at;
    s.code = code;
}

static void disarm(void) { arm(FAULT_NONE, FAULT_ANY, 0, 0); }
static long calls(int f) { return f == FAULT_ANY ? s.all : s.each[f]; }
static int function_at(long call) { return call >= 1 && call <= s.all && call <= REMEMBERED ? s.log[call - 1] : -1; }
static long kernels(void) { return s.kernels; }
static long injected(void) { return s.injected; }
static long live_objects(void) { return objects; }
static void hold(void) { s.held = true; }

EXPORT const fault_layer *clf_fault_layer(void);
EXPORT const fault_layer *clf_fault_layer(void) {
    static const fault_layer table = {NFUNCTIONS,  name_of, codes_of, arm,          disarm, calls,
                                      function_at, kernels, injected, live_objects, hold,   wake};
    return &table;
}
