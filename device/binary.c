/* SPDX-License-Identifier: Apache-2.0
 * Built programs as the driver's bytes, and back without a compiler. Programs here are always built for one device, so there is one
 * binary. A driver may crash over bytes that are not its own: who calls here knows where they come from. */
#include "device/device_internal.h"

clf_status clf_program_binary(clf_devs *d, int dev, cl_program prog, clf_mem *mem, void **out, size_t *n, clf_err *err) {
    const char *name = d->dev[dev].info.name;
    size_t bytes = 0;
    CLF_TRY(clf_cl_check(clGetProgramInfo(prog, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL), "clGetProgramInfo", name, err));
    if (!bytes) return clf_fail(err, CLF_E_UNSUPPORTED, "'%s' has no binaries of programs", name);
    unsigned char *at = clf_mem_new(mem, bytes, 1);
    if (!at) return clf_fail(err, CLF_E_NOMEM, "no memory for a program of %zu bytes", bytes);
    clf_status st = clf_cl_check(clGetProgramInfo(prog, CL_PROGRAM_BINARIES, sizeof at, &at, NULL), "clGetProgramInfo", name, err);
    if (st != CLF_OK) {
        clf_mem_free(mem, at, bytes, 1);
        return st;
    }
    *out = at;
    *n = bytes;
    return CLF_OK;
}

clf_status clf_program_from_binary(clf_devs *d, int dev, const void *bytes, size_t n, cl_program *out, clf_err *err) {
    const clf_dev *v = &d->dev[dev];
    const unsigned char *at = bytes;
    cl_int rc = CL_SUCCESS, taken = CL_SUCCESS;
    cl_program prog = clCreateProgramWithBinary(v->ctx, 1, &v->id, &n, &at, &taken, &rc);
    if (rc == CL_SUCCESS) rc = prog ? taken : CL_OUT_OF_RESOURCES;
    if (prog && rc == CL_SUCCESS) rc = clBuildProgram(prog, 1, &v->id, "", NULL, NULL);
    if (rc == CL_SUCCESS) {
        *out = prog;
        return CLF_OK;
    }
    if (prog) clReleaseProgram(prog);
    clf_err why = {CLF_OK, ""};
    clf_status st = clf_cl_check(rc, "clCreateProgramWithBinary", v->info.name, &why);
    return clf_fail(err, st == CLF_E_NOMEM ? st : CLF_E_BUILD, "a binary of %zu bytes is not taken: %s", n, why.text);
}
