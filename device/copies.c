/* SPDX-License-Identifier: Apache-2.0
 * A second queue for transfers, so that an operand is on its way while kernels before its own still run, and a result while those behind
 * the one that made it do. It is used where the device is a GPU, or the setting says so. What is sent waits for two things: the last
 * command that used the memory it goes to, where that is a spare one (mirror.c), and what is on its way home, since that may be what is
 * sent again. What comes home beside kernels waits for the one that wrote it, and is asked for when nothing but the wait for the device
 * follows. All else stays in the one queue in order.
 *
 * The next kernel, ours or CLBlast's, waits for all that was sent since the last one. So a command of the queue tells, as before, that all commands numbered
 * before it have ended, and what fails on its way fails the kernel. Invariant: who waits for the device waits for both queues. */
#include "device/device_internal.h"

static bool wanted(const clf_devs *d, const clf_dev *v) {
    if (d->own.queue || d->transfer_queue < 0) return false; /* the caller's context has the caller's queues */
    return d->transfer_queue > 0 || v->info.kind == CLF_DEV_GPU;
}

clf_status clf_copies_open(clf_devs *d, clf_dev *v, clf_err *err) {
    cl_int rc;
    if (v->copies || !wanted(d, v)) return CLF_OK;
    v->copies = clCreateCommandQueue(v->ctx, v->id, 0, &rc);
    return v->copies ? CLF_OK : clf_dev_check(v, rc == CL_SUCCESS ? CL_OUT_OF_RESOURCES : rc, "clCreateCommandQueue", err);
}

/* How many commands have come since that one; in flight if it is not known to have ended. */
static uint64_t behind(const clf_dev *v, uint64_t ticket) { return v->started - ticket; }

bool clf_copies_ready(const clf_dev *v, uint64_t after) {
    bool known = after <= v->ended || (behind(v, after) < CLF_DEV_INFLIGHT - 1 && behind(v, after) < v->nlaunch);
    return v->copies && v->nsent < CLF_DEV_SENT && known;
}

/* The event of that command; NULL: it has ended. */
static const cl_event *event_of(const clf_dev *v, uint64_t after) {
    if (after <= v->ended) return NULL;
    const cl_event *e = &v->inflight[(v->nlaunch - 1 - (unsigned)behind(v, after)) % CLF_DEV_INFLIGHT];
    return *e ? e : NULL; /* else its place was needed */
}

/* One more is under way, which waits for that event. */
static clf_status begun(clf_dev *v, const cl_event *wait, const cl_event *slot, clf_err *err) {
    if (wait) CLF_TRY(clf_dev_check(v, clFlush(v->queue), "clFlush", err)); /* else it may never start */
    clf_dev_started(v);
    v->sent[v->nsent++] = *slot; /* the ring's, which is longer */
    return clf_dev_check(v, clFlush(v->copies), "clFlush", err);
}

clf_status clf_copies_send(clf_dev *v, cl_mem mem, const void *from, size_t bytes, uint64_t after, cl_event *slot, clf_err *err) {
    const cl_event *wait = event_of(v, after);
    CLF_TRY(clf_dev_check(v, clEnqueueWriteBuffer(v->copies, mem, CL_FALSE, 0, bytes, from, wait ? 1 : 0, wait, slot),
                          "clEnqueueWriteBuffer", err));
    return begun(v, wait, slot, err);
}

clf_status clf_copies_bring(clf_dev *v, cl_mem mem, void *to, size_t bytes, uint64_t after, cl_event *slot, clf_err *err) {
    const cl_event *wait = event_of(v, after);
    CLF_TRY(clf_dev_check(v, clEnqueueReadBuffer(v->copies, mem, CL_FALSE, 0, bytes, to, wait ? 1 : 0, wait, slot), "clEnqueueReadBuffer",
                          err));
    return begun(v, wait, slot, err);
}

clf_status clf_copies_join(clf_dev *v, clf_err *err) {
    if (!v->nsent) return CLF_OK;
    CLF_TRY(
        clf_dev_check(v, clEnqueueBarrierWithWaitList(v->queue, (cl_uint)v->nsent, v->sent, NULL), "clEnqueueBarrierWithWaitList", err));
    v->nsent = 0;
    return CLF_OK;
}

void clf_copies_close(clf_dev *v, bool wait) {
    if (!v->copies) return;
    if (wait) clFinish(v->copies);
    v->nsent = 0;
    clReleaseCommandQueue(v->copies);
    v->copies = NULL;
}
