/* SPDX-License-Identifier: Apache-2.0
 * Contexts and built programs that outlive the rounds: opening a device then costs no compiling. The library does not notice, for it
 * still makes every call, and the layer counts and fails them before they come here. */
#include "tests/fault/layer_keep.h"

#include <stdlib.h>
#include <string.h>

enum { CONTEXTS = 16, PROGRAMS = 1024 };

static struct {
    cl_device_id device;
    cl_context context;
} contexts[CONTEXTS];

static struct {
    cl_context context;
    char *text, *options; /* options: NULL until built */
    cl_program program;
} programs[PROGRAMS];

static int ncontexts, nprograms;

cl_context keep_context(const cl_icd_dispatch *real, const cl_context_properties *p, cl_device_id d, cl_int *rc) {
    int i = 0;
    if (rc) *rc = CL_SUCCESS;
    while (i < ncontexts && contexts[i].device != d) i++;
    if (i == CONTEXTS) return real->clCreateContext(p, 1, &d, NULL, NULL, rc);
    if (i == ncontexts) {
        contexts[i].device = d;
        contexts[i].context = real->clCreateContext(p, 1, &d, NULL, NULL, rc);
        if (!contexts[i].context) return NULL;
        ncontexts++;
    }
    real->clRetainContext(contexts[i].context);
    return contexts[i].context;
}

cl_program keep_program(const cl_icd_dispatch *real, cl_context c, const char *text, size_t len, cl_int *rc) {
    int i = 0;
    if (rc) *rc = CL_SUCCESS;
    while (i < nprograms && (programs[i].context != c || strlen(programs[i].text) != len || memcmp(programs[i].text, text, len))) i++;
    if (i == nprograms) {
        cl_program p = real->clCreateProgramWithSource(c, 1, &text, &len, rc);
        char *copy = p && i < PROGRAMS ? calloc(len + 1, 1) : NULL;
        if (!copy) return p;
        memcpy(copy, text, len);
        programs[i].context = c;
        programs[i].text = copy;
        programs[i].program = p;
        nprograms++;
    }
    real->clRetainProgram(programs[i].program);
    return programs[i].program;
}

cl_int keep_build(const cl_icd_dispatch *real, cl_program p, cl_device_id d, const char *options) {
    int i = 0;
    while (i < nprograms && programs[i].program != p) i++;
    if (i < nprograms && programs[i].options && !strcmp(programs[i].options, options)) return CL_SUCCESS;
    cl_int rc = real->clBuildProgram(p, 1, &d, options, NULL, NULL);
    if (i < nprograms && rc == CL_SUCCESS) programs[i].options = strdup(options);
    return rc;
}
