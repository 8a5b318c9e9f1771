/* SPDX-License-Identifier: Apache-2.0
 * Names of OpenCL codes, and the one way a failing OpenCL call becomes our status and message. */
#include "device/device_internal.h"

static const struct {
    cl_int code;
    const char *name;
} names[] = {
#define N(c) \
    { c, #c }
    N(CL_DEVICE_NOT_FOUND),
    N(CL_DEVICE_NOT_AVAILABLE),
    N(CL_COMPILER_NOT_AVAILABLE),
    N(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    N(CL_OUT_OF_RESOURCES),
    N(CL_OUT_OF_HOST_MEMORY),
    N(CL_PROFILING_INFO_NOT_AVAILABLE),
    N(CL_MEM_COPY_OVERLAP),
    N(CL_BUILD_PROGRAM_FAILURE),
    N(CL_MAP_FAILURE),
    N(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    N(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    N(CL_COMPILE_PROGRAM_FAILURE),
    N(CL_LINKER_NOT_AVAILABLE),
    N(CL_LINK_PROGRAM_FAILURE),
    N(CL_DEVICE_PARTITION_FAILED),
    N(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    N(CL_INVALID_VALUE),
    N(CL_INVALID_DEVICE_TYPE),
    N(CL_INVALID_PLATFORM),
    N(CL_INVALID_DEVICE),
    N(CL_INVALID_CONTEXT),
    N(CL_INVALID_QUEUE_PROPERTIES),
    N(CL_INVALID_COMMAND_QUEUE),
    N(CL_INVALID_HOST_PTR),
    N(CL_INVALID_MEM_OBJECT),
    N(CL_INVALID_BINARY),
    N(CL_INVALID_BUILD_OPTIONS),
    N(CL_INVALID_PROGRAM),
    N(CL_INVALID_PROGRAM_EXECUTABLE),
    N(CL_INVALID_KERNEL_NAME),
    N(CL_INVALID_KERNEL_DEFINITION),
    N(CL_INVALID_KERNEL),
    N(CL_INVALID_ARG_INDEX),
    N(CL_INVALID_ARG_VALUE),
    N(CL_INVALID_ARG_SIZE),
    N(CL_INVALID_KERNEL_ARGS),
    N(CL_INVALID_WORK_DIMENSION),
    N(CL_INVALID_WORK_GROUP_SIZE),
    N(CL_INVALID_WORK_ITEM_SIZE),
    N(CL_INVALID_GLOBAL_OFFSET),
    N(CL_INVALID_EVENT_WAIT_LIST),
    N(CL_INVALID_EVENT),
    N(CL_INVALID_OPERATION),
    N(CL_INVALID_BUFFER_SIZE),
    N(CL_INVALID_GLOBAL_WORK_SIZE),
    N(CL_INVALID_PROPERTY),
    N(CL_INVALID_COMPILER_OPTIONS),
    N(CL_INVALID_LINKER_OPTIONS),
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
#undef N
};

const char *clf_cl_name(cl_int code) {
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code) return names[i].name;
    return "unknown code";
}

clf_fault clf_cl_fault(cl_int code) {
    static const struct {
        cl_int code;
        clf_fault fault;
    } table[] = {
        {CL_OUT_OF_HOST_MEMORY, CLF_FAULT_HOST_MEMORY},
        {CL_MEM_OBJECT_ALLOCATION_FAILURE, CLF_FAULT_DEVICE_MEMORY},
        {CL_OUT_OF_RESOURCES, CLF_FAULT_DEVICE_MEMORY},
        {CL_INVALID_BUFFER_SIZE, CLF_FAULT_DEVICE_MEMORY},
        {CL_DEVICE_NOT_AVAILABLE, CLF_FAULT_LOST},
        {CL_INVALID_DEVICE, CLF_FAULT_LOST},
        {CL_INVALID_CONTEXT, CLF_FAULT_LOST},
        {CL_INVALID_COMMAND_QUEUE, CLF_FAULT_LOST},
        {CL_SUCCESS, CLF_FAULT_NONE},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].code == code) return table[i].fault;
    return CLF_FAULT_LAUNCH;
}

void clf_dev_note(clf_dev *v, clf_fault fault) {
    if (v->fault == CLF_FAULT_NONE) v->fault = fault;
}

clf_status clf_dev_check(clf_dev *v, cl_int code, const char *call, clf_err *err) {
    clf_dev_note(v, clf_cl_fault(code));
    return clf_cl_check(code, call, v->info.name, err);
}

clf_status clf_cl_check(cl_int code, const char *call, const char *device, clf_err *err) {
    if (code == CL_SUCCESS) return CLF_OK;
    bool memory = code == CL_OUT_OF_HOST_MEMORY || code == CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return clf_fail(err, memory ? CLF_E_NOMEM : CLF_E_DEVICE, "%s failed on '%s': %s (%d)", call, device, clf_cl_name(code), (int)code);
}
