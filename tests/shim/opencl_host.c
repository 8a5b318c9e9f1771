/* SPDX-License-Identifier: Apache-2.0
 * Platform, devices, contexts, queues, events. Everything enqueued has run when its call returns, so queues and events are little. */
#include <stdlib.h>
#include <string.h>

#include "tests/shim/shim.h"

shim_counts shim_count;
const char *shim_driver = "1";

struct _cl_platform_id {
    int unused;
};
struct _cl_device_id {
    const char *name, *version;
    cl_uint units;
    size_t arg_bytes;
};
struct _cl_context {
    int more; /* references beyond the first */
};
struct _cl_command_queue {
    int more;
    cl_context context;
    cl_device_id device;
    cl_command_queue_properties how;
};
struct _cl_event {
    int refs;
};

static struct _cl_platform_id platform;
/* The pair differs in what the library makes depend on a device: the number of chunks, and how many arguments it can pass. */
static struct _cl_device_id devices[SHIM_DEVICES] = {
    {"shim buffers", "OpenCL 1.2 shim", 3, 4096},
    {"shim pointers", "OpenCL 2.0 shim", 2, 1024},
};

void *shim_object(size_t bytes) {
    void *p = calloc(1, bytes);
    if (!p) abort();
    shim_count.live++;
    return p;
}

void shim_drop(void *object) {
    shim_count.live--;
    free(object);
}

cl_int shim_answer(const void *value, size_t bytes, size_t room, void *out, size_t *out_bytes) {
    if (out_bytes) *out_bytes = bytes;
    if (!out) return CL_SUCCESS;
    if (room < bytes) return CL_INVALID_VALUE;
    memcpy(out, value, bytes);
    return CL_SUCCESS;
}

static void *made(size_t bytes, cl_int *rc) {
    if (rc) *rc = CL_SUCCESS;
    return shim_object(bytes);
}

/* ---- platform and devices ---- */

cl_int clGetPlatformIDs(cl_uint most, cl_platform_id *out, cl_uint *n) {
    if (n) *n = 1;
    if (out && most) out[0] = &platform;
    return CL_SUCCESS;
}

cl_int clGetPlatformInfo(cl_platform_id p, cl_platform_info what, size_t room, void *out, size_t *bytes) {
    if (p != &platform) return CL_INVALID_PLATFORM;
    return what == CL_PLATFORM_NAME ? shim_answer("shim", sizeof "shim", room, out, bytes) : CL_INVALID_VALUE;
}

cl_int clGetDeviceIDs(cl_platform_id p, cl_device_type type, cl_uint most, cl_device_id *out, cl_uint *n) {
    if (p != &platform) return CL_INVALID_PLATFORM;
    if (!(type & CL_DEVICE_TYPE_CPU)) return CL_DEVICE_NOT_FOUND;
    if (n) *n = SHIM_DEVICES;
    for (cl_uint i = 0; out && i < most && i < SHIM_DEVICES; i++) out[i] = &devices[i];
    return CL_SUCCESS;
}

cl_int clGetDeviceInfo(cl_device_id d, cl_device_info what, size_t room, void *out, size_t *bytes) {
    static const cl_device_type type = CL_DEVICE_TYPE_CPU;
    static const cl_ulong memory = (cl_ulong)1 << 32, most = (cl_ulong)1 << 30;
    static const cl_bool yes = CL_TRUE;
    static const cl_device_fp_config fp64 = CL_FP_FMA | CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN | CL_FP_DENORM;
    const cl_platform_id of = &platform;
    const struct {
        cl_device_info what;
        const void *value;
        size_t bytes;
    } facts[] = {
        {CL_DEVICE_NAME, d->name, strlen(d->name) + 1},
        {CL_DEVICE_VENDOR, "shim", sizeof "shim"},
        {CL_DEVICE_PLATFORM, &of, sizeof of},
        {CL_DRIVER_VERSION, shim_driver, strlen(shim_driver) + 1},
        {CL_DEVICE_VERSION, d->version, strlen(d->version) + 1},
        {CL_DEVICE_TYPE, &type, sizeof type},
        {CL_DEVICE_GLOBAL_MEM_SIZE, &memory, sizeof memory},
        {CL_DEVICE_MAX_MEM_ALLOC_SIZE, &most, sizeof most},
        {CL_DEVICE_MAX_COMPUTE_UNITS, &d->units, sizeof d->units},
        {CL_DEVICE_MAX_PARAMETER_SIZE, &d->arg_bytes, sizeof d->arg_bytes},
        {CL_DEVICE_AVAILABLE, &yes, sizeof yes},
        {CL_DEVICE_COMPILER_AVAILABLE, &yes, sizeof yes},
        {CL_DEVICE_ENDIAN_LITTLE, &yes, sizeof yes},
        {CL_DEVICE_DOUBLE_FP_CONFIG, &fp64, sizeof fp64},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].what == what) return shim_answer(facts[i].value, facts[i].bytes, room, out, bytes);
    return CL_INVALID_VALUE;
}

/* ---- contexts and queues ---- */

cl_context clCreateContext(const cl_context_properties *props, cl_uint n, const cl_device_id *ids,
                           void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *rc) {
    (void)props, (void)notify, (void)user;
    if (n == 1 && ids) return made(sizeof(struct _cl_context), rc);
    if (rc) *rc = CL_INVALID_VALUE;
    return NULL;
}

cl_int clRetainContext(cl_context c) {
    if (!c) return CL_INVALID_CONTEXT;
    c->more++;
    return CL_SUCCESS;
}

cl_int clReleaseContext(cl_context c) {
    if (!c) return CL_INVALID_CONTEXT;
    if (c->more-- > 0) return CL_SUCCESS;
    shim_drop(c);
    return CL_SUCCESS;
}

cl_command_queue clCreateCommandQueue(cl_context c, cl_device_id d, cl_command_queue_properties props, cl_int *rc) {
    cl_command_queue q = c && d ? made(sizeof *q, rc) : NULL;
    if (q) *q = (struct _cl_command_queue){0, c, d, props};
    if (!q && rc) *rc = CL_INVALID_CONTEXT;
    return q;
}

cl_int clGetCommandQueueInfo(cl_command_queue q, cl_command_queue_info what, size_t room, void *out, size_t *bytes) {
    if (!q) return CL_INVALID_COMMAND_QUEUE;
    switch (what) {
    case CL_QUEUE_CONTEXT: return shim_answer(&q->context, sizeof q->context, room, out, bytes);
    case CL_QUEUE_DEVICE: return shim_answer(&q->device, sizeof q->device, room, out, bytes);
    case CL_QUEUE_PROPERTIES: return shim_answer(&q->how, sizeof q->how, room, out, bytes);
    default: return CL_INVALID_VALUE;
    }
}

cl_int clRetainCommandQueue(cl_command_queue q) {
    if (!q) return CL_INVALID_COMMAND_QUEUE;
    q->more++;
    return CL_SUCCESS;
}

cl_int clReleaseCommandQueue(cl_command_queue q) {
    if (!q) return CL_INVALID_COMMAND_QUEUE;
    if (q->more-- > 0) return CL_SUCCESS;
    shim_drop(q);
    return CL_SUCCESS;
}

cl_int clFlush(cl_command_queue q) { return q ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE; }
cl_int clFinish(cl_command_queue q) { return q ? CL_SUCCESS : CL_INVALID_COMMAND_QUEUE; }

/* ---- events: all of them complete ---- */

void shim_event(cl_event *out) {
    if (out) *out = shim_object(sizeof(struct _cl_event));
}

cl_int clGetEventInfo(cl_event e, cl_event_info what, size_t room, void *out, size_t *bytes) {
    static const cl_int complete = CL_COMPLETE;
    if (!e) return CL_INVALID_EVENT;
    return what == CL_EVENT_COMMAND_EXECUTION_STATUS ? shim_answer(&complete, sizeof complete, room, out, bytes) : CL_INVALID_VALUE;
}

cl_int clWaitForEvents(cl_uint n, const cl_event *e) { return n && e ? CL_SUCCESS : CL_INVALID_VALUE; }

cl_int clReleaseEvent(cl_event e) {
    if (!e) return CL_INVALID_EVENT;
    shim_drop(e);
    return CL_SUCCESS;
}
