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
        if (!v->queue) return clf_dev_check(v, rc == CL_SUCCESS ? CL_OUT_OF_RESOURCES : rc, "clCreateCommandQueue", err);
        CLF_TRY(clf_copies_open(d, v, err));
    }
    *out = v;
    return CLF_OK;
}

/* Forget one event; true when it tells that its command has ended. Its failure, if the first, is kept for clf_dev_wait. */
static bool retire(clf_dev *v, cl_event *slot) {
    cl_int status = CL_QUEUED, rc;
    if (!*slot) return true;
    rc = clGetEventInfo(*slot, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    if (rc == CL_SUCCESS && status > CL_COMPLETE) {
        clWaitForEvents(1, slot); /* a failure shows in the status */
        rc = clGetEventInfo(*slot, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    }
    bool ended = rc == CL_SUCCESS && status <= CL_COMPLETE;
    if (ended) rc = status;
    if (rc < 0 && v->late == CL_SUCCESS) v->late = rc;
    clReleaseEvent(*slot);
    *slot = NULL;
    return ended;
}

cl_event *clf_dev_slot(clf_dev *v) {
    cl_event *slot = &v->inflight[v->nlaunch % CLF_DEV_INFLIGHT];
    retire(v, slot);
    return slot;
}

void clf_dev_started(clf_dev *v) {
    v->nlaunch = v->nlaunch == UINT_MAX ? CLF_DEV_INFLIGHT : v->nlaunch + 1;
    v->started++;
}

/* True when everything enqueued is known to have ended. */
static bool retire_all(clf_dev *v) {
    unsigned used = v->nlaunch < CLF_DEV_INFLIGHT ? v->nlaunch : CLF_DEV_INFLIGHT;
    bool ended = true;
    for (unsigned i = 0; i < used; i++) ended &= retire(v, &v->inflight[i]);
    ended &= retire(v, &v->home);
    v->nlaunch = 0;
    if (ended) v->ended = v->started;
    return ended;
}

static size_t scalar_bytes(const clf_arg_desc *a) {
    return a->kind == CLF_ARG_I64 ? sizeof(int64_t) : clf_dtype_bytes((clf_dtype)a->dtype);
}

static clf_status memory_set(clf_devs *d, clf_dev *v, const clf_program *p, cl_uint i, const clf_arg *a, clf_err *err) {
    const clf_arg empty = {.ptr = v->pad, .bytes = 1}; /* kernels add offsets to every pointer, which NULL does not allow */
    bool written = a->bytes && clf_arg_is_written(p->args[i].kind);
    cl_mem mem = NULL;
    if (!a->bytes) a = &empty;
    v->on_host = v->on_host || v->set_pointer || (a != &empty && !a->buf);
    if (v->set_pointer) return clf_dev_check(v, v->set_pointer(p->kernel, i, a->ptr), "clSetKernelArgSVMPointer", err);
    if (a->buf)
        CLF_TRY(clf_mirror_get(d, p->dev, a, (clf_arg_kind)p->args[i].kind, &mem, err));
    else
        CLF_TRY(clf_hostbuf_get(d, v, a, written, &mem, err));
    return clf_dev_check(v, clSetKernelArg(p->kernel, i, sizeof mem, &mem), "clSetKernelArg", err);
}

static clf_status arg_set(clf_devs *d, clf_dev *v, const clf_program *p, cl_uint i, const clf_arg *a, clf_err *err) {
    if (clf_arg_is_memory(p->args[i].kind)) {
        if (!a->ptr && a->bytes) return clf_fail(err, CLF_E_ARG, "kernel %s: argument %u is NULL with %zu bytes", p->entry, i, a->bytes);
        return memory_set(d, v, p, i, a, err);
    }
    size_t bytes = scalar_bytes(&p->args[i]);
    if (!bytes) return clf_fail(err, CLF_E_ARG, "kernel %s: argument %u has no element type", p->entry, i);
    return clf_dev_check(v, clSetKernelArg(p->kernel, i, bytes, &a->u), "clSetKernelArg", err);
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
    if (v->busy) {
        clf_dev_note(v, CLF_FAULT_LOST);
        return clf_fail(err, CLF_E_DEVICE, "'%s' does not answer: a wait failed before", v->info.name);
    }
    CLF_TRY(range_check(p, nargs, global, local, err));
    if (!v->set_pointer) CLF_TRY(clf_hostbufs_prepare(d, dev, p, args, err));
    v->mirror_clock++;
    for (int i = 0; i < nargs; i++) CLF_TRY(arg_set(d, v, p, (cl_uint)i, &args[i], err));
    cl_event *slot = clf_dev_slot(v);
    cl_uint sent = (cl_uint)v->nsent;
    CLF_TRY(clf_dev_check(v, clEnqueueNDRangeKernel(v->queue, p->kernel, 1, NULL, &global, &local, sent, sent ? v->sent : NULL, slot),
                          "clEnqueueNDRangeKernel", err));
    clf_dev_started(v);
    v->ordered = v->started;
    v->nsent = 0;
    clf_mirrors_written(v);
    d->stats.launches++;
    p->launched = true;
    p->fresh = false;
    CLF_TRACE(d->log, launch, "%s on %s: %zu work-items, local %zu", p->entry, v->info.name, global, local);
    return CLF_OK;
}

clf_status clf_dev_flush(clf_devs *d, int dev, clf_err *err) {
    clf_dev *v = NULL;
    CLF_TRY(clf_dev_enter(d, dev, &v, err));
    return clf_dev_check(v, clFlush(v->queue), "clFlush", err);
}

clf_status clf_dev_wait(clf_devs *d, int dev, clf_err *err) {
    clf_dev *v = NULL;
    CLF_TRY(clf_dev_enter(d, dev, &v, err));
    clf_status st = v->nbuf ? clf_hostbufs_publish(v, err) : CLF_OK;
    cl_int sent = v->copies ? clFinish(v->copies) : CL_SUCCESS, rc = clFinish(v->queue);
    if (rc == CL_SUCCESS) rc = sent;
    clf_status fin = clf_dev_check(v, rc, "clFinish", err);
    if (st == CLF_OK) st = fin;
    v->nsent = 0;
    bool ended = retire_all(v);
    v->busy = rc != CL_SUCCESS && (!ended || v->busy);
    clf_hostbufs_drop(v);
    v->on_host = false;
    if (v->late != CL_SUCCESS) clf_dev_note(v, clf_cl_fault(v->late) == CLF_FAULT_LOST ? CLF_FAULT_LOST : CLF_FAULT_LATE);
    if (st == CLF_OK) st = clf_cl_check(v->late, "a kernel", v->info.name, err);
    v->late = CL_SUCCESS;
    d->stats.waits++;
    if (st == CLF_OK) clf_mirrors_came(v);
    if (d->unsaved && st == CLF_OK) clf_saved_now(d, dev);
    return st;
}

/* ---- one command ---- */

uint64_t clf_dev_ticket(const clf_devs *d, int dev) { return d->dev[dev].started; }

uint64_t clf_dev_ended(const clf_devs *d, int dev) { return d->dev[dev].ended; }

/* Its event stays in the ring, for who waits for all. */
static clf_status await_event(clf_dev *v, const cl_event *event, clf_err *err) {
    cl_int rc = clWaitForEvents(1, event), status = CL_COMPLETE;
    if (rc == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) {
        rc = clGetEventInfo(*event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
        if (rc == CL_SUCCESS) clf_dev_note(v, clf_cl_fault(status) == CLF_FAULT_LOST ? CLF_FAULT_LOST : CLF_FAULT_LATE);
        if (rc == CL_SUCCESS) return clf_cl_check(status < 0 ? status : CL_OUT_OF_RESOURCES, "a kernel", v->info.name, err);
    }
    return clf_dev_check(v, rc, "clWaitForEvents", err);
}

clf_status clf_dev_await(clf_devs *d, int dev, uint64_t ticket, clf_err *err) {
    clf_dev *v = NULL;
    CLF_TRY(clf_dev_enter(d, dev, &v, err));
    uint64_t behind = v->started - ticket;
    if (ticket <= v->ended) return CLF_OK;
    if (v->nbuf) return clf_dev_wait(d, dev, err); /* results in buffers over the host's memory are published by that */
    if (behind < CLF_DEV_INFLIGHT && behind < v->nlaunch) {
        CLF_TRY(await_event(v, &v->inflight[(v->nlaunch - 1 - (unsigned)behind) % CLF_DEV_INFLIGHT], err));
        d->stats.waits++;
    }
    v->ended = ticket;
    return CLF_OK;
}

clf_fault clf_dev_fault(clf_devs *d, int dev) {
    if (!d || dev < 0 || dev >= d->n) return CLF_FAULT_NONE;
    clf_fault f = d->dev[dev].fault;
    d->dev[dev].fault = CLF_FAULT_NONE;
    return f;
}

void clf_dev_give_back(clf_devs *d, clf_dev *v, void *at, size_t bytes) {
    for (int i = 0; v->busy && at && i < 2; i++)
        if (!v->withheld[i].at) {
            v->withheld[i].at = at;
            v->withheld[i].bytes = bytes;
            return;
        }
    clf_mem_data_free(d->mem, at, bytes);
}

bool clf_dev_on_host(const clf_devs *d, int dev) { return d && dev >= 0 && dev < d->n && d->dev[dev].on_host; }

bool clf_dev_busy(const clf_devs *d, int dev) { return d && dev >= 0 && dev < d->n && d->dev[dev].busy; }

static void release_events(clf_dev *v) {
    for (unsigned i = 0; i < CLF_DEV_INFLIGHT; i++)
        if (v->inflight[i]) clReleaseEvent(v->inflight[i]);
    if (v->home) clReleaseEvent(v->home);
}

void clf_dev_drop(clf_dev *v, bool wait) {
    if (!v->queue) return;
    if (wait) {
        clFinish(v->queue);
        retire_all(v);
    }
    release_events(v);
    clf_copies_close(v, wait);
    clf_hostbufs_drop(v);
    clReleaseCommandQueue(v->queue);
    v->queue = NULL;
}
