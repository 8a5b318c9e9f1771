/* SPDX-License-Identifier: Apache-2.0
 * Programs and kernels. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/hash.h"
#include "tests/shim/shim.h"

static const char mark[] = "shim binary 1\n";
enum { MARK = sizeof mark - 1 };

static cl_program program_new(const char *text, size_t len, bool loaded) {
    cl_program p = shim_object(sizeof *p);
    p->refs = 1;
    p->status = CL_BUILD_NONE;
    p->loaded = loaded;
    p->len = len;
    p->text = malloc(len);
    if (!p->text) abort();
    memcpy(p->text, text, len);
    return p;
}

cl_program clCreateProgramWithSource(cl_context c, cl_uint n, const char **text, const size_t *len, cl_int *rc) {
    bool good = c && n == 1 && text && text[0] && len && len[0];
    if (rc) *rc = good ? CL_SUCCESS : CL_INVALID_VALUE;
    return good ? program_new(text[0], len[0], false) : NULL;
}

cl_program clCreateProgramWithBinary(cl_context c, cl_uint n, const cl_device_id *ids, const size_t *len, const unsigned char **at,
                                     cl_int *taken, cl_int *rc) {
    bool right = c && n == 1 && ids && len && at && at[0];
    bool good = right && len[0] > MARK && !memcmp(at[0], mark, MARK);
    if (rc) *rc = good ? CL_SUCCESS : right ? CL_INVALID_BINARY : CL_INVALID_VALUE;
    if (taken) *taken = good ? CL_SUCCESS : CL_INVALID_BINARY;
    shim_count.refused += right && !good;
    return good ? program_new((const char *)at[0] + MARK, len[0] - MARK, true) : NULL;
}

cl_int clGetProgramInfo(cl_program p, cl_program_info what, size_t room, void *out, size_t *bytes) {
    if (!p || !p->object) return CL_INVALID_PROGRAM_EXECUTABLE;
    const char *binary = p->loaded ? p->text : p->binary;
    size_t n = p->loaded ? p->len : p->binary_bytes, all = MARK + n;
    if (what == CL_PROGRAM_BINARY_SIZES) return shim_answer(&all, sizeof all, room, out, bytes);
    if (what != CL_PROGRAM_BINARIES || room < sizeof(char *) || !out) return CL_INVALID_VALUE;
    char *to = *(char **)out;
    memcpy(to, mark, MARK);
    memcpy(to + MARK, binary, n);
    return CL_SUCCESS;
}

/* One line, whole even when several processes write. */
static void tell_build(cl_program p) {
    char line[128];
    const char *path = getenv("CLF_SHIM_BUILDS"), *owner = getenv("CLF_SHIM_OWNER");
    int fd = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0600) : -1;
    if (fd < 0) return;
    int n = snprintf(line, sizeof line, "%016llx %.20s %s\n", (unsigned long long)clf_hash64(p->text, p->len, 0), owner ? owner : "0",
                     p->nkernels ? p->kernel->name : "-");
    if (write(fd, line, (size_t)n) != n) abort();
    close(fd);
}

cl_int clBuildProgram(cl_program p, cl_uint n, const cl_device_id *ids, const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                      void *user) {
    (void)user;
    if (!p || n != 1 || !ids || notify || p->object) return CL_INVALID_OPERATION;
    if (options && *options) return CL_INVALID_BUILD_OPTIONS;
    uint64_t start = clf_now_ns();
    if (p->loaded)
        p->object = shim_load(p->text, p->len, p->log, sizeof p->log, &p->kernel, &p->nkernels);
    else
        p->object = shim_compile(p->text, p->len, p->log, sizeof p->log, &p->kernel, &p->nkernels, &p->binary, &p->binary_bytes);
    shim_count.build_ns += clf_now_ns() - start;
    p->status = p->object ? CL_BUILD_SUCCESS : CL_BUILD_ERROR;
    shim_count.failed += !p->object;
    if (!p->object) return CL_BUILD_PROGRAM_FAILURE;
    if (p->loaded) {
        shim_count.loaded++;
    } else {
        shim_count.programs++;
        tell_build(p);
    }
    shim_count.kernels += (uint64_t)p->nkernels;
    return CL_SUCCESS;
}

cl_int clGetProgramBuildInfo(cl_program p, cl_device_id d, cl_program_build_info what, size_t room, void *out, size_t *bytes) {
    if (!p || !d) return CL_INVALID_PROGRAM;
    if (what == CL_PROGRAM_BUILD_STATUS) return shim_answer(&p->status, sizeof p->status, room, out, bytes);
    return what == CL_PROGRAM_BUILD_LOG ? shim_answer(p->log, strlen(p->log) + 1, room, out, bytes) : CL_INVALID_VALUE;
}

cl_int clRetainProgram(cl_program p) {
    if (!p || p->refs < 1) return CL_INVALID_PROGRAM;
    p->refs++;
    return CL_SUCCESS;
}

cl_int clReleaseProgram(cl_program p) {
    if (!p || p->refs < 1) return CL_INVALID_PROGRAM;
    if (--p->refs) return CL_SUCCESS;
    if (p->object) dlclose(p->object);
    free(p->kernel);
    free(p->text);
    free(p->binary);
    shim_drop(p);
    return CL_SUCCESS;
}

/* ---- kernels ---- */

static void *symbol(cl_program p, const char *kernel, const char *suffix) {
    char name[SHIM_NAME + 16];
    snprintf(name, sizeof name, "%s%s", kernel, suffix);
    return dlsym(p->object, name);
}

cl_kernel clCreateKernel(cl_program p, const char *name, cl_int *rc) {
    if (rc) *rc = p && p->object ? CL_INVALID_KERNEL_NAME : CL_INVALID_PROGRAM_EXECUTABLE;
    for (int i = 0; p && p->object && i < p->nkernels; i++) {
        if (strcmp(p->kernel[i].name, name)) continue;
        union {
            void *sym;
            shim_call *fn;
        } call = {symbol(p, name, "_call")};
        const unsigned *bytes = symbol(p, name, "_bytes");
        if (!call.sym || !bytes) return NULL;
        cl_kernel k = shim_object(sizeof *k);
        k->refs = 1;
        k->program = p;
        k->sig = &p->kernel[i];
        k->call = call.fn;
        k->bytes = bytes;
        if (rc) *rc = CL_SUCCESS;
        clRetainProgram(p);
        return k;
    }
    return NULL;
}

cl_int clReleaseKernel(cl_kernel k) {
    if (!k) return CL_INVALID_KERNEL;
    clReleaseProgram(k->program);
    shim_drop(k);
    return CL_SUCCESS;
}

cl_int clGetKernelInfo(cl_kernel k, cl_kernel_info what, size_t room, void *out, size_t *bytes) {
    if (!k) return CL_INVALID_KERNEL;
    cl_uint n = (cl_uint)k->sig->nargs;
    return what == CL_KERNEL_NUM_ARGS ? shim_answer(&n, sizeof n, room, out, bytes) : CL_INVALID_VALUE;
}

/* No kernel here declares the size of its groups. */
cl_int clGetKernelWorkGroupInfo(cl_kernel k, cl_device_id d, cl_kernel_work_group_info what, size_t room, void *out, size_t *bytes) {
    const size_t any[3] = {0};
    if (!k) return CL_INVALID_KERNEL;
    if (!d) return CL_INVALID_DEVICE;
    return what == CL_KERNEL_COMPILE_WORK_GROUP_SIZE ? shim_answer(any, sizeof any, room, out, bytes) : CL_INVALID_VALUE;
}

cl_int clSetKernelArg(cl_kernel k, cl_uint i, size_t bytes, const void *value) {
    if (!k) return CL_INVALID_KERNEL;
    if (i >= (cl_uint)k->sig->nargs) return CL_INVALID_ARG_INDEX;
    bool memory = k->sig->memory[i];
    if (bytes != k->bytes[i]) return CL_INVALID_ARG_SIZE;
    if (!memory && !value) return CL_INVALID_ARG_VALUE;
    k->slot[i] = 0;
    k->mem[i] = NULL;
    if (memory && value)
        memcpy(&k->mem[i], value, sizeof k->mem[i]);
    else if (value)
        memcpy(&k->slot[i], value, bytes);
    k->set[i] = true;
    return CL_SUCCESS;
}

/* Found by name at run time, by who believes the version of device 2. */
CL_API_ENTRY cl_int CL_API_CALL clSetKernelArgSVMPointer(cl_kernel k, cl_uint i, const void *p);
cl_int clSetKernelArgSVMPointer(cl_kernel k, cl_uint i, const void *p) {
    if (!k) return CL_INVALID_KERNEL;
    if (i >= (cl_uint)k->sig->nargs || !k->sig->memory[i]) return CL_INVALID_ARG_INDEX;
    k->slot[i] = (uint64_t)(uintptr_t)p;
    k->mem[i] = NULL;
    k->set[i] = true;
    return CL_SUCCESS;
}
