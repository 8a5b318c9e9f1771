/* SPDX-License-Identifier: Apache-2.0
 * Strides of row-major operands, from the last dimension up; see strides.h. */
#include "kernels-cl/skel/strides.h"

static bool add_to(int64_t *sum, int64_t by) { return !__builtin_add_overflow(*sum, by, sum); }

bool clf_strides_of(const clf_cplan *c, const clf_access *a, clf_strides *out) {
    int64_t stride = 1;
    *out = (clf_strides){0};
    for (int d = a->rank - 1; d >= 0; d--) {
        const clf_at *at = &a->at[d];
        int64_t by, add;
        if (at->value >= 0) return false;
        if (__builtin_mul_overflow(at->mul, stride, &by) || __builtin_mul_overflow(at->add, stride, &add)) return false;
        if (!add_to(&out->base, add)) return false;
        if (at->axis >= 0) {
            if (!add_to(&out->step[at->axis], by)) return false;
            out->axes |= 1u << at->axis;
        }
        if (__builtin_mul_overflow(stride, c->in[a->input].dim[d].n, &stride)) return false;
    }
    return true;
}
