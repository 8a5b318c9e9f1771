/* SPDX-License-Identifier: Apache-2.0
 * Arguments on devices that take no host pointers, where they are no buffer's (mirror.c): a USE_HOST_PTR buffer per (address, bytes),
 * kept from the first launch that needs it to the next wait. Invariant: two live buffers that overlap are equal or both only read, since
 * the standard leaves the contents of overlapping buffers undefined; where a launch would break that, everything is waited for first. */
#include "device/device_internal.h"

static clf_hostbuf *find(clf_dev *v, const clf_arg *a) {
    for (size_t i = 0; i < v->nbuf; i++)
        if (v->bufs[i].ptr == (const char *)a->ptr && v->bufs[i].bytes == a->bytes) return &v->bufs[i];
    return NULL;
}

static bool clash(const clf_dev *v, const clf_arg *a, bool written) {
    uintptr_t lo = (uintptr_t)a->ptr, hi = lo + a->bytes;
    for (size_t i = 0; i < v->nbuf; i++) {
        const clf_hostbuf *b = &v->bufs[i];
        uintptr_t at = (uintptr_t)b->ptr, end = at + b->bytes;
        bool same = at == lo && end == hi;
        if (!same && lo < end && at < hi && (written || b->written)) return true;
    }
    return false;
}

clf_status clf_hostbufs_prepare(clf_devs *d, int dev, const clf_program *p, const clf_arg *args, clf_err *err) {
    for (int i = 0; i < p->nargs; i++) {
        if (!clf_arg_is_memory(p->args[i].kind) || !args[i].bytes || args[i].buf) continue;
        if (clash(&d->dev[dev], &args[i], clf_arg_is_written(p->args[i].kind))) return clf_dev_wait(d, dev, err);
    }
    return CLF_OK;
}

static clf_status room(clf_devs *d, clf_dev *v, clf_err *err) {
    if (v->nbuf < v->capbuf) return CLF_OK;
    size_t cap = v->capbuf ? 2 * v->capbuf : 32;
    clf_hostbuf *grown = clf_mem_grow(d->mem, v->bufs, v->capbuf, cap, sizeof *grown);
    if (!grown) return clf_fail(err, CLF_E_NOMEM, "no memory for the buffer list of '%s'", v->info.name);
    v->bufs = grown;
    v->capbuf = cap;
    return CLF_OK;
}

clf_status clf_hostbuf_get(clf_devs *d, clf_dev *v, const clf_arg *a, bool written, cl_mem *out, clf_err *err) {
    clf_hostbuf *b = find(v, a);
    if (!b) {
        if (a->bytes > v->info.max_alloc_bytes) {
            clf_dev_note(v, CLF_FAULT_DEVICE_MEMORY);
            return clf_fail(err, CLF_E_LIMIT, "an argument of %zu bytes is over the largest allocation of '%s', %llu bytes", a->bytes,
                            v->info.name, (unsigned long long)v->info.max_alloc_bytes);
        }
        CLF_TRY(room(d, v, err));
        cl_int rc;
        union {
            const void *in;
            void *out;
        } p = {a->ptr}; /* read-only arguments are never written by their kernels */
        cl_mem mem = clCreateBuffer(v->ctx, CL_MEM_USE_HOST_PTR | CL_MEM_READ_WRITE, a->bytes, p.out, &rc);
        if (!mem) return clf_dev_check(v, rc == CL_SUCCESS ? CL_OUT_OF_RESOURCES : rc, "clCreateBuffer", err);
        b = &v->bufs[v->nbuf++];
        *b = (clf_hostbuf){p.out, a->bytes, mem, false};
    }
    b->written |= written;
    *out = b->mem;
    return CLF_OK;
}

clf_status clf_hostbufs_publish(clf_dev *v, clf_err *err) {
    for (size_t i = 0; i < v->nbuf; i++) {
        clf_hostbuf *b = &v->bufs[i];
        if (!b->written) continue;
        cl_int rc;
        void *at = clEnqueueMapBuffer(v->queue, b->mem, CL_FALSE, CL_MAP_READ, 0, b->bytes, 0, NULL, NULL, &rc);
        if (!at) return clf_dev_check(v, rc == CL_SUCCESS ? CL_MAP_FAILURE : rc, "clEnqueueMapBuffer", err);
        if (v->home) clReleaseEvent(v->home); /* in order: the last one tells of all */
        v->home = NULL;
        CLF_TRY(clf_dev_check(v, clEnqueueUnmapMemObject(v->queue, b->mem, at, 0, NULL, &v->home), "clEnqueueUnmapMemObject", err));
    }
    return CLF_OK;
}

void clf_hostbufs_drop(clf_dev *v) {
    for (size_t i = 0; i < v->nbuf; i++) clReleaseMemObject(v->bufs[i].mem);
    v->nbuf = 0;
}
