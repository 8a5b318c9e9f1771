/* SPDX-License-Identifier: Apache-2.0
 * Discovery: which devices are there, what they say of themselves, and, when there is none, what the user can do about it.
 * A device that cannot compile, is not available or is big-endian is passed over with a note; names and vendor ids decide nothing. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "device/device_internal.h"

enum { MAX_PLATFORMS = 16, MAX_DEVICES = 16 };

void clf_devs_note(clf_devs *d, const char *fmt, ...) {
    size_t at = strlen(d->why), room = sizeof d->why - at;
    if (at && room > 2) {
        memcpy(d->why + at, "; ", 3);
        at += 2, room -= 2;
    }
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(d->why + at, room, fmt, ap);
    va_end(ap);
}

/* Text facts go into messages and profiles: one line, no control characters, no runs of spaces. */
static void tidy(char *s) {
    char *to = s, *start = s;
    for (; *s; s++) {
        char c = (unsigned char)*s < 32 || *s == 127 ? ' ' : *s;
        if (c != ' ' || (to > start && to[-1] != ' ')) *to++ = c;
    }
    while (to > start && to[-1] == ' ') to--;
    *to = 0;
}

static cl_int device_text(cl_device_id id, cl_device_info what, char out[CLF_PROFILE_NAME]) {
    char text[1024] = "";
    cl_int rc = clGetDeviceInfo(id, what, sizeof text, text, NULL);
    text[sizeof text - 1] = 0;
    tidy(text);
    snprintf(out, CLF_PROFILE_NAME, "%.*s", CLF_PROFILE_NAME - 1, text);
    return rc;
}

static cl_int device_facts(cl_device_id id, clf_dev_info *info, cl_bool usable[4]) {
    cl_device_type type = 0;
    cl_ulong mem = 0, alloc = 0, local = 0;
    cl_uint units = 0;
    size_t arg_bytes = 0;
    cl_device_fp_config fp64 = 0, fp32 = 0;
    const struct {
        cl_device_info what;
        size_t bytes;
        void *to;
    } facts[] = {
        {CL_DEVICE_TYPE, sizeof type, &type},
        {CL_DEVICE_GLOBAL_MEM_SIZE, sizeof mem, &mem},
        {CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof alloc, &alloc},
        {CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units},
        {CL_DEVICE_MAX_PARAMETER_SIZE, sizeof arg_bytes, &arg_bytes},
        {CL_DEVICE_AVAILABLE, sizeof(cl_bool), &usable[0]},
        {CL_DEVICE_COMPILER_AVAILABLE, sizeof(cl_bool), &usable[1]},
        {CL_DEVICE_ENDIAN_LITTLE, sizeof(cl_bool), &usable[2]},
    };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        cl_int rc = clGetDeviceInfo(id, facts[i].what, facts[i].bytes, facts[i].to, NULL);
        if (rc != CL_SUCCESS) return rc;
    }
    /* Devices without doubles may refuse the question itself. */
    if (clGetDeviceInfo(id, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof fp64, &fp64, NULL) != CL_SUCCESS) fp64 = 0;
    if (clGetDeviceInfo(id, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL) != CL_SUCCESS) local = 0;
    info->kind = type & CL_DEVICE_TYPE_CPU ? CLF_DEV_CPU : CLF_DEV_GPU;
    if (clGetDeviceInfo(id, CL_DEVICE_SINGLE_FP_CONFIG, sizeof fp32, &fp32, NULL) != CL_SUCCESS) fp32 = 0;
    info->fp64 = fp64 != 0;
    info->round_f32 = (fp32 & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    info->compute_units = units;
    info->mem_bytes = mem;
    info->max_alloc_bytes = alloc;
    info->max_arg_bytes = arg_bytes;
    info->local_bytes = local;
    return CL_SUCCESS;
}

static cl_int device_describe(cl_device_id id, clf_dev_info *info, cl_bool usable[4]) {
    const struct {
        cl_device_info what;
        char *to;
    } texts[] = {
        {CL_DEVICE_NAME, info->name},
        {CL_DEVICE_VENDOR, info->vendor},
        {CL_DRIVER_VERSION, info->driver},
        {CL_DEVICE_VERSION, info->version},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cl_int rc = device_text(id, texts[i].what, texts[i].to);
        if (rc != CL_SUCCESS) return rc;
    }
    return device_facts(id, info, usable);
}

/* Describe the next device; false, with a note, if it is not usable. */
static bool device_usable(clf_devs *d, cl_device_id id, const char *platform) {
    clf_dev *v = &d->dev[d->n];
    cl_bool usable[4] = {0};
    memset(v, 0, sizeof *v);
    cl_int rc = device_describe(id, &v->info, usable);
    const char *name = *v->info.name ? v->info.name : "a device";
    snprintf(v->info.platform, sizeof v->info.platform, "%s", platform);
    if (rc != CL_SUCCESS) {
        clf_devs_note(d, "%s cannot be described: %s", name, clf_cl_name(rc));
    } else if (!usable[0] || !usable[1] || !usable[2]) {
        clf_devs_note(d, "%s is passed over: %s", name, !usable[0] ? "not available" : !usable[1] ? "no compiler" : "big-endian");
    } else {
        v->id = id;
        return true;
    }
    return false;
}

/* One more device, or a note why not. */
static void device_add(clf_devs *d, cl_platform_id platform, cl_device_id id, const char *of) {
    clf_dev *v = &d->dev[d->n];
    cl_context_properties props[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)platform, 0};
    cl_int rc;
    if (!device_usable(d, id, of)) return;
    v->ctx = clCreateContext(props, 1, &id, NULL, NULL, &rc);
    if (v->ctx)
        d->n++;
    else
        clf_devs_note(d, "clCreateContext failed on '%s': %s", *v->info.name ? v->info.name : "a device", clf_cl_name(rc));
}

static void platform_name(cl_platform_id platform, char name[CLF_PROFILE_NAME]) {
    name[0] = 0;
    if (clGetPlatformInfo(platform, CL_PLATFORM_NAME, CLF_PROFILE_NAME, name, NULL) != CL_SUCCESS)
        snprintf(name, CLF_PROFILE_NAME, "unnamed");
    name[CLF_PROFILE_NAME - 1] = 0;
    tidy(name);
}

static clf_status room_for(clf_devs *d, cl_uint n, const char *platform, clf_err *err) {
    clf_dev *grown = clf_mem_grow(d->mem, d->dev, (size_t)d->cap, (size_t)d->cap + n, sizeof *grown);
    if (!grown) return clf_fail(err, CLF_E_NOMEM, "no memory for %u devices of platform '%s'", n, platform);
    d->dev = grown;
    d->cap += (int)n;
    return CLF_OK;
}

clf_status clf_discover_one(clf_devs *d, cl_platform_id platform, cl_device_id id, clf_err *err) {
    char name[CLF_PROFILE_NAME];
    platform_name(platform, name);
    CLF_TRY(room_for(d, 1, name, err));
    d->n += device_usable(d, id, name);
    return CLF_OK;
}

static void note_no_platform(clf_devs *d, cl_int rc) {
    const char *vendors = getenv("OCL_ICD_VENDORS");
    clf_devs_note(d, "no OpenCL platform (%s): no driver is installed or named in %s", clf_cl_name(rc),
                  vendors && *vendors ? vendors : "/etc/OpenCL/vendors");
    if (vendors && *vendors) clf_devs_note(d, "OCL_ICD_VENDORS is set");
}

static void note_no_device(clf_devs *d, const char *platform, cl_int rc) {
    const char *cache = getenv("POCL_CACHE_DIR");
    clf_devs_note(d, "platform '%s' has no device (%s)", platform, clf_cl_name(rc));
    if (cache && access(cache, W_OK)) clf_devs_note(d, "POCL_CACHE_DIR=%s is not writable", cache);
}

static clf_status platform_add(clf_devs *d, cl_platform_id platform, clf_err *err) {
    cl_device_id ids[MAX_DEVICES];
    cl_uint n = 0;
    char name[CLF_PROFILE_NAME];
    platform_name(platform, name);
    cl_int rc = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, MAX_DEVICES, ids, &n);
    if (rc != CL_SUCCESS || !n) {
        note_no_device(d, name, rc);
        return CLF_OK;
    }
    if (n > MAX_DEVICES) n = MAX_DEVICES;
    CLF_TRY(room_for(d, n, name, err));
    for (cl_uint i = 0; i < n; i++) device_add(d, platform, ids[i], name);
    return CLF_OK;
}

clf_status clf_discover(clf_devs *d, clf_err *err) {
    cl_platform_id platforms[MAX_PLATFORMS];
    cl_uint n = 0;
    cl_int rc = clGetPlatformIDs(MAX_PLATFORMS, platforms, &n);
    clf_driver_loaded();
    if (rc != CL_SUCCESS || !n) {
        note_no_platform(d, rc);
        return CLF_OK;
    }
    for (cl_uint i = 0; i < n && i < MAX_PLATFORMS; i++) CLF_TRY(platform_add(d, platforms[i], err));
    return CLF_OK;
}
