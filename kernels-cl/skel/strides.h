/* SPDX-License-Identifier: Apache-2.0
 * Where an access reads, for the plans of all skeletons: element base + the sum over axes of step[axis] * position. */
#ifndef CLF_KERNELS_SKEL_STRIDES_H
#define CLF_KERNELS_SKEL_STRIDES_H
#include "planner/cplan.h"

typedef struct clf_strides {
    int64_t base, step[CLF_MAX_AXES];
    uint32_t axes; /* those that it goes along */
} clf_strides;

/** Of an access to a dense operand. False when a computed value says where, or a stride does not fit 64 bits. */
bool clf_strides_of(const clf_cplan *c, const clf_access *a, clf_strides *out);
#endif
