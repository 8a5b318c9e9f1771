/* SPDX-License-Identifier: Apache-2.0
 * Oclgrind takes memory behind CL_MEM_USE_HOST_PTR for uninitialised until it is mapped for writing, though the standard says that the
 * host's contents count. So before a launch the buffers that kernels may read at once, inputs and counters, are mapped and unmapped;
 * results stay as Oclgrind has them, and scratch too at the first launch of a kernel: the parts of a grid in time each get a new buffer
 * over what the part before has left there. And it takes a buffer in the place of a released one for uninitialised even after it
 * is written, so buffers are never released; there is room for some 60,000. Linked in place of the two functions (-Wl,--wrap);
 * nothing is done while tell_inputs is false. */
#include "tests/support/tell_inputs.h"

#include "device/device_internal.h"

bool tell_inputs;

clf_status __real_clf_hostbufs_prepare(clf_devs *d, int dev, const clf_program *p, const clf_arg *args, clf_err *err);
clf_status __wrap_clf_hostbufs_prepare(clf_devs *d, int dev, const clf_program *p, const clf_arg *args, clf_err *err);

static clf_status tell(clf_devs *d, clf_dev *v, const clf_arg *a, bool written, clf_err *err) {
    size_t before = v->nbuf;
    cl_mem mem;
    cl_int rc;
    CLF_TRY(clf_hostbuf_get(d, v, a, written, &mem, err));
    if (v->nbuf == before) return CLF_OK; /* here already; what kernels have left in it stays as they left it */
    void *at = clEnqueueMapBuffer(v->queue, mem, CL_TRUE, CL_MAP_WRITE, 0, a->bytes, 0, NULL, NULL, &rc);
    if (rc == CL_SUCCESS) rc = clEnqueueUnmapMemObject(v->queue, mem, at, 0, NULL, NULL);
    return clf_cl_check(rc, "mapping an input", v->info.name, err);
}

static const clf_program *launched_before;

clf_status __wrap_clf_hostbufs_prepare(clf_devs *d, int dev, const clf_program *p, const clf_arg *args, clf_err *err) {
    CLF_TRY(__real_clf_hostbufs_prepare(d, dev, p, args, err));
    for (int i = 0; i < p->nargs && tell_inputs; i++) {
        bool input = p->args[i].kind <= CLF_ARG_CSR_IDX, counter = p->args[i].kind == CLF_ARG_COUNTER;
        bool partial = p->args[i].kind == CLF_ARG_SCRATCH && p == launched_before;
        if (args[i].bytes && !args[i].buf && (input || counter || partial)) CLF_TRY(tell(d, &d->dev[dev], &args[i], !input, err));
    }
    launched_before = p;
    return CLF_OK;
}

void __real_clf_hostbufs_drop(clf_dev *v);
void __wrap_clf_hostbufs_drop(clf_dev *v);

void __wrap_clf_hostbufs_drop(clf_dev *v) {
    for (size_t i = 0; i < v->nbuf && tell_inputs; i++) clRetainMemObject(v->bufs[i].mem);
    __real_clf_hostbufs_drop(v);
}
