/* SPDX-License-Identifier: Apache-2.0
 * clfuse on OpenCL objects of the application's own. The types are those of CL/cl.h (cl_context is struct _cl_context *), which need not be
 * included here. */
#ifndef CLFUSE_CLF_OPENCL_H
#define CLFUSE_CLF_OPENCL_H
#include "clfuse/clfuse.h"

#ifdef __cplusplus
extern "C" {
#endif

struct _cl_context;
struct _cl_command_queue;

/** Open a context whose one OpenCL device is the queue's: programs are built in the caller's cl_context, kernels and transfers enqueued in
 *  the caller's queue, behind what is there already. An evaluation waits until the queue is empty. opt may be NULL.
 *  owns: retained, and released by clf_close at the latest.
 *  thread: the caller may enqueue at any time, as OpenCL allows.
 *  errors: as clf_open (text: clf_open_error); CLF_E_ARG for NULL, a queue that is not of this cl_context or runs out of order;
 *  CLF_E_DEVICE when OpenCL does not answer. */
CLF_API clf_status clf_open_opencl(clf_ctx **out, const clf_options *opt, struct _cl_context *context, struct _cl_command_queue *queue);

#ifdef __cplusplus
}
#endif
#endif
