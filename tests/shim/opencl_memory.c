/* SPDX-License-Identifier: Apache-2.0
 * Buffers. A buffer's data is a block of its own, and the bytes around it belong to nobody. Over the caller's memory: what a kernel reads
 * was there when the buffer was made, what it writes comes back when the buffer is mapped. Others hold what is written to them, and
 * before that bytes that make no number. */
#include <stdlib.h>
#include <string.h>

#include "tests/shim/shim.h"

/* A vector access is checked at its first and last byte only: no vector may reach over the guarded bytes around a block. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "redzone=256"; }

static cl_mem fail(cl_int code, cl_int *rc) {
    if (rc) *rc = code;
    return NULL;
}

cl_mem clCreateBuffer(cl_context c, cl_mem_flags flags, size_t bytes, void *host, cl_int *rc) {
    if (!c) return fail(CL_INVALID_CONTEXT, rc);
    if (!bytes) return fail(CL_INVALID_BUFFER_SIZE, rc);
    if (!(flags & CL_MEM_USE_HOST_PTR) != !host) return fail(CL_INVALID_HOST_PTR, rc);
    char *data = malloc(bytes);
    if (!data) return fail(CL_MEM_OBJECT_ALLOCATION_FAILURE, rc);
    cl_mem m = shim_object(sizeof *m);
    *m = (struct _cl_mem){1, bytes, host, data};
    if (host)
        memcpy(data, host, bytes);
    else
        memset(data, 0xff, bytes);
    if (rc) *rc = CL_SUCCESS;
    return m;
}

cl_int clReleaseMemObject(cl_mem m) {
    if (!m) return CL_INVALID_MEM_OBJECT;
    free(m->data);
    shim_drop(m);
    return CL_SUCCESS;
}

void *clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool blocking, cl_map_flags flags, size_t offset, size_t bytes, cl_uint nwait,
                         const cl_event *wait, cl_event *event, cl_int *rc) {
    (void)blocking, (void)nwait, (void)wait;
    bool good = q && m && m->host && offset <= m->bytes && bytes <= m->bytes - offset && flags == CL_MAP_READ;
    if (rc) *rc = good ? CL_SUCCESS : CL_INVALID_VALUE;
    if (!good) return NULL;
    memcpy(m->host + offset, m->data + offset, bytes);
    shim_event(event);
    return m->host + offset;
}

cl_int clEnqueueUnmapMemObject(cl_command_queue q, cl_mem m, void *at, cl_uint nwait, const cl_event *wait, cl_event *event) {
    (void)nwait, (void)wait;
    if (!q || !m || !at) return CL_INVALID_VALUE;
    shim_event(event);
    return CL_SUCCESS;
}

static bool inside(cl_command_queue q, cl_mem m, size_t offset, size_t bytes) {
    return q && m && !m->host && bytes && offset <= m->bytes && bytes <= m->bytes - offset;
}

cl_int clEnqueueWriteBuffer(cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset, size_t bytes, const void *from, cl_uint nwait,
                            const cl_event *wait, cl_event *event) {
    (void)blocking, (void)wait;
    if (!inside(q, m, offset, bytes) || !from) return CL_INVALID_VALUE;
    memcpy(m->data + offset, from, bytes);
    shim_note('w', q, nwait);
    shim_count.writes++;
    shim_count.written_bytes += bytes;
    shim_event(event);
    return CL_SUCCESS;
}

cl_int clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_bool blocking, size_t offset, size_t bytes, void *to, cl_uint nwait,
                           const cl_event *wait, cl_event *event) {
    (void)blocking, (void)wait;
    if (!inside(q, m, offset, bytes) || !to) return CL_INVALID_VALUE;
    memcpy(to, m->data + offset, bytes);
    shim_note('r', q, nwait);
    shim_count.reads++;
    shim_count.read_bytes += bytes;
    shim_event(event);
    return CL_SUCCESS;
}
