/* SPDX-License-Identifier: Apache-2.0
 * What makes a round cheap: one driver context per device and one driver program per text serve every context that the test opens. */
#ifndef CLF_TESTS_FAULT_LAYER_KEEP_H
#define CLF_TESTS_FAULT_LAYER_KEEP_H
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl_layer.h>

/* As the OpenCL calls of these names; the caller owns one reference. rc may be NULL. */
cl_context keep_context(const cl_icd_dispatch *real, const cl_context_properties *p, cl_device_id d, cl_int *rc);
cl_program keep_program(const cl_icd_dispatch *real, cl_context c, const char *text, size_t len, cl_int *rc);
cl_int keep_build(const cl_icd_dispatch *real, cl_program p, cl_device_id d, const char *options);
#endif
