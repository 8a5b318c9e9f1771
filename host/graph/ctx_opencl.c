/* SPDX-License-Identifier: Apache-2.0
 * A context on the caller's own OpenCL context and queue. The pair is retained as long as the context is open, whether or not anything
 * ever runs there. */
#include "clfuse/clf_opencl.h"

#include "host/graph/ctx.h"
#include "host/run/run.h"

clf_status clf_open_opencl(clf_ctx **out, const clf_options *opt, struct _cl_context *context, struct _cl_command_queue *queue) {
    const clf_own_queue own = {context, queue};
    clf_err err = {CLF_OK, ""};
    clf_ctx *c = NULL;
    if (!out) return clf_open(NULL, opt);
    clf_status st = clf_own_retain(&own, &err);
    if (st != CLF_OK) return clf_open_fail(&err);
    st = clf_open(&c, opt);
    if (st != CLF_OK) {
        clf_own_release(&own);
        return st;
    }
    c->run->own = own;
    *out = c;
    return CLF_OK;
}
