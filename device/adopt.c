/* SPDX-License-Identifier: Apache-2.0
 * The caller's own context and queue as a device: looked at, retained, and used instead of what discovery would find. They are released
 * like those we make; what else is done with them is the caller's business. */
#include "device/device_internal.h"

static const char *const where = "the caller's queue";

static clf_status check_order(cl_command_queue q, clf_err *err) {
    cl_command_queue_properties how = 0;
    CLF_TRY(clf_cl_check(clGetCommandQueueInfo(q, CL_QUEUE_PROPERTIES, sizeof how, &how, NULL), "clGetCommandQueueInfo", where, err));
    if (!(how & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)) return CLF_OK;
    return clf_fail(err, CLF_E_ARG, "the caller's queue runs out of order: clfuse needs its commands one after the other");
}

clf_status clf_own_retain(const clf_own_queue *own, clf_err *err) {
    cl_context of = NULL;
    if (!own->context || !own->queue) return clf_fail(err, CLF_E_ARG, "no OpenCL context or queue is given");
    CLF_TRY(clf_cl_check(clGetCommandQueueInfo(own->queue, CL_QUEUE_CONTEXT, sizeof of, &of, NULL), "clGetCommandQueueInfo", where, err));
    if (of != own->context) return clf_fail(err, CLF_E_ARG, "the caller's queue is of another OpenCL context than the one given");
    CLF_TRY(check_order(own->queue, err));
    CLF_TRY(clf_cl_check(clRetainContext(own->context), "clRetainContext", where, err));
    clf_status st = clf_cl_check(clRetainCommandQueue(own->queue), "clRetainCommandQueue", where, err);
    if (st != CLF_OK) clReleaseContext(own->context);
    return st;
}

void clf_own_release(const clf_own_queue *own) {
    if (!own->queue) return;
    clReleaseCommandQueue(own->queue);
    clReleaseContext(own->context);
}

clf_status clf_adopt(clf_devs *d, clf_err *err) {
    cl_device_id id = NULL;
    cl_platform_id platform = NULL;
    CLF_TRY(clf_own_retain(&d->own, err));
    cl_int rc = clGetCommandQueueInfo(d->own.queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL);
    if (rc == CL_SUCCESS) rc = clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    clf_status st = clf_cl_check(rc, "clGetDeviceInfo", where, err);
    if (st == CLF_OK) st = clf_discover_one(d, platform, id, err);
    if (st != CLF_OK || !d->n) {
        clf_own_release(&d->own);
        return st;
    }
    d->dev[0].ctx = d->own.context;
    d->dev[0].queue = d->own.queue;
    return CLF_OK;
}
