/* SPDX-License-Identifier: Apache-2.0
 * A launch: all work-items one after the other in this thread, forwards in one launch and backwards in the next. Kernels with barriers
 * do not get here (opencl_c.cl has no barrier, so they do not build); they would run phase by phase in the loop below. */
#include "tests/shim/shim.h"

shim_command shim_log[SHIM_COMMANDS];
unsigned shim_logged;
void shim_note(char kind, const void *queue, unsigned waits) {
    shim_log[shim_logged++ % SHIM_COMMANDS] = (shim_command){kind, queue, waits};
}

static size_t item, items;
size_t shim_work_item(unsigned dimension);
size_t shim_work_item(unsigned dimension) { return dimension ? 0 : item; }
size_t shim_work_items(unsigned dimension);
size_t shim_work_items(unsigned dimension) { return dimension ? 1 : items; }

static bool bind(cl_kernel k, uint64_t *slot) {
    for (int i = 0; i < k->sig->nargs; i++) {
        if (!k->set[i]) return false;
        slot[i] = k->mem[i] ? (uint64_t)(uintptr_t)k->mem[i]->data : k->slot[i];
    }
    return true;
}

cl_int clEnqueueBarrierWithWaitList(cl_command_queue q, cl_uint nwait, const cl_event *wait, cl_event *event) {
    if (!q) return CL_INVALID_COMMAND_QUEUE;
    if (!nwait != !wait) return CL_INVALID_EVENT_WAIT_LIST;
    shim_note('b', q, nwait);
    shim_event(event);
    return CL_SUCCESS;
}

cl_int clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dimensions, const size_t *offset, const size_t *global,
                              const size_t *local, cl_uint nwait, const cl_event *wait, cl_event *event) {
    uint64_t slot[SHIM_ARGS];
    if (!q) return CL_INVALID_COMMAND_QUEUE;
    if (!nwait != !wait) return CL_INVALID_EVENT_WAIT_LIST;
    if (!k) return CL_INVALID_KERNEL;
    if (dimensions != 1 || offset || !global || !*global) return CL_INVALID_WORK_DIMENSION;
    if (local && (!*local || *global % *local)) return CL_INVALID_WORK_GROUP_SIZE;
    if (!bind(k, slot)) return CL_INVALID_KERNEL_ARGS;
    items = *global;
    bool backwards = shim_count.launches % 2;
    for (size_t i = 0; i < items; i++) {
        item = backwards ? items - 1 - i : i;
        k->call(slot);
    }
    shim_note('k', q, nwait);
    shim_count.launches++;
    shim_count.items += items;
    shim_event(event);
    return CL_SUCCESS;
}
