/* SPDX-License-Identifier: Apache-2.0
 * Launching: one in-order queue per device, arguments set in place, nothing allocated per launch. A ring of events bounds what is
 * in flight and brings home failures that arrive after a launch has returned; clf_dev_wait reports the first of them. */
#include <unistd.h>
#include "device/device_internal.h"

clf_status clf_dev_enter(clf_devs *d, int dev, clf_dev **out, clf_err *err) {
    if (!d || dev < 0 || dev >= d->n) return clf_fail(err, CLF_E_ARG, "device %d does not exist (%d found)", dev + 1, d ? d->n : 0);
    clf_dev *v = &d->dev[dev];
    if (getpid() != d->pid)
        return clf_fail(err, CLF_E_STATE, "device '%s' was opened before fork(): open a context in the child", v->info.name);
    if (!v->queue) {
        cl_int rc;
        v->queue = clCreateCommandQueue(v->ctx, v->id, 0, &rc);
        if (!v->queue) return clf_cl_check(rc == CL_SUCCESS ? CL_OUT_OF_RESOURCES : rc, "clCreateCommandQueue", v->info.name, err);
    }
    *out = v;
    return CLF_OK;
}

/* Forget one event; its failure, if the first, is kept for clf_dev_wait. */
static void retire(clf_dev *v, cl_event *slot) {
    cl_int status = CL_COMPLETE, rc;
    if (!*slot) return;
    rc = clGetEventInfo(*slot, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    if (rc == CL_SUCCESS && status > CL_COMPLETE) {
        clWaitForEvents(1, slot); /* a failure shows in the status */
        rc = clGetEventInfo(*slot, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    }
    if (rc == CL_SUCCESS && status < 0) rc = status;
    if (rc != CL_SUCCESS && v->late == CL_SUCCESS) v->late = rc;
    clReleaseEvent(*slot);
    *slot = NULL;
}

static void retire_all(clf_dev *v) {
    unsigned used = v->nlaunch < CLF_DEV_INFLIGHT ? v->nlaunch : CLF_DEV_INFLIGHT;
    for (unsigned i = 0; i < used; i++) retire(v, &v->inflight[i]);
    v->nlaunch = 0;
}

static size_t scalar_bytes(const clf_arg_desc *a) {
    return a->kind == CLF_ARG_I64 ? sizeof(int64_t) : clf_dtype_bytes((clf_dtype)a->dtype);
}

static clf_status memory_set(clf_devs *d, clf_dev *v, const clf_program *p, cl_uint i, const clf_arg *a, clf_err *err) {
    if (v->set_pointer)
        return clf_cl_check(v->set_pointer(p->kernel, i, a->bytes ? a->ptr : v->pad), "clSetKernelArgSVMPointer", v->info.name, err);
    cl_mem mem = NULL;
    if (a->bytes) CLF_TRY(clf_hostbuf_get(d, v, a, p->args[i].kind != CLF_ARG_MEM_IN, &mem, err));
    return clf_cl_check(clSetKernelArg(p->kernel, i, sizeof mem, a->bytes ? &mem : NULL), "clSetKernelArg", v->info.name, err);
}

static clf_status arg_set(clf_devs *d, clf_dev *v, const clf_program *p, cl_uint i, const clf_arg *a, clf_err *err) {
    if (clf_arg_is_memory(p->args[i].kind)) {
        if (!a->ptr && a->bytes) return clf_fail(err, CLF_E_ARG, "kernel %s: argument %u is NULL with %zu bytes", p->entry, i, a->bytes);
        return memory_set(d, v, p, i, a, err);
    }
    size_t bytes = scalar_bytes(&p->args[i]);
    if (!bytes) return clf_fail(err, CLF_E_ARG, "kernel %s: argument %u has no element type", p->entry, i);
    return clf_cl_check(clSetKernelArg(p->kernel, i, bytes, &a->u), "clSetKernelArg", v->info.name, err);
}

static clf_status range_check(const clf_program *p, int nargs, size_t global, size_t local, clf_err *err) {
    if (nargs != p->nargs) return clf_fail(err, CLF_E_ARG, "kernel %s takes %d arguments, got %d", p->entry, p->nargs, nargs);
    if (!local || global % local)
        return clf_fail(err, CLF_E_ARG, "kernel %s: %zu work-items are no multiple of the local size %zu", p->entry, global, local);
    return CLF_OK;
}

clf_status clf_launch(clf_devs *d, int dev, clf_program *p, const clf_arg *args, int nargs, size_t global, size_t local, clf_err *err) {
    clf_dev *v = NULL;
    CLF_TRY(clf_dev_enter(d, dev, &v, err));
    if (!p || p->dev != dev) return clf_fail(err, CLF_E_ARG, "the kernel was not built for device '%s'", v->info.name);
    if (!global) return CLF_OK;
    CLF_TRY(range_check(p, nargs, global, local, err));
    if (!v->set_pointer) CLF_TRY(clf_hostbufs_prepare(d, dev, p, args, err));
    for (int i = 0; i < nargs; i++) CLF_TRY(arg_set(d, v, p, (cl_uint)i, &args[i], err));
    cl_event *slot = &v->inflight[v->nlaunch % CLF_DEV_INFLIGHT];
    retire(v, slot);
    CLF_TRY(clf_cl_check(clEnqueueNDRangeKernel(v->queue, p->kernel, 1, NULL, &global, &local, 0, NULL, slot), "clEnqueueNDRangeKernel",
                         v->info.name, err));
    v->nlaunch = v->nlaunch == UINT_MAX ? CLF_DEV_INFLIGHT : v->nlaunch + 1;
    d->stats.launches++;
    CLF_TRACE(d->log, launch, "%s on %s: %zu work-items, local %zu", p->entry, v->info.name, global, local);
    return CLF_OK;
}

clf_status clf_dev_flush(clf_devs *d, int dev, clf_err *err) {
    clf_dev *v = NULL;
    CLF_TRY(clf_dev_enter(d, dev, &v, err));
    return clf_cl_check(clFlush(v->queue), "clFlush", v->info.name, err);
}

clf_status clf_dev_wait(clf_devs *d, int dev, clf_err *err) {
    clf_dev *v = NULL;
    CLF_TRY(clf_dev_enter(d, dev, &v, err));
    clf_status st = v->nbuf ? clf_hostbufs_publish(v, err) : CLF_OK;
    clf_status fin = clf_cl_check(clFinish(v->queue), "clFinish", v->info.name, err);
    if (st == CLF_OK) st = fin;
    retire_all(v);
    clf_hostbufs_drop(v);
    if (st == CLF_OK) st = clf_cl_check(v->late, "a kernel", v->info.name, err);
    v->late = CL_SUCCESS;
    d->stats.waits++;
    return st;
}

void clf_dev_idle(clf_dev *v) {
    if (!v->queue) return;
    clFinish(v->queue);
    retire_all(v);
    clf_hostbufs_drop(v);
    clReleaseCommandQueue(v->queue);
    v->queue = NULL;
}
