/* SPDX-License-Identifier: Apache-2.0
 * row.chunk: passes over few rows of dense operands at once, each a list of sweeps along inner axes, for CPU devices.
 *
 * Rows are cut into blocks (of column folds) and chunks: a power-of-two run of blocks per work-item, local size 1, no barriers. A
 * launch covers chunks `first` and up; launches may come in any order. The work-item that finishes the last chunk of the whole
 * operator, told by `counter`, merges the partial states that all left in scratch, in the order of the tree.
 *
 * block, wide: rows of the smallest and the largest column block; chunk: rows; chunks: of the operator; ent, levels: stack depths;
 * cstride, cbase: scratch of a chunk, behind that of full folds. */
#include "contract.clh"
#include "math.clh"
#include "elem.clh"
#include "fold.clh"

__kernel void CLF_ENTRY(CLF_ARGS __global double *scratch, volatile __global int *counter, long rows, long block, long wide, long chunk,
                        long first, long chunks, long ent, long levels, long cstride, long cbase)
{
    const long me = first + (long)get_global_id(0);
    const long i0 = me * chunk, i1 = min(i0 + chunk, rows);
    __global long *const full_level = (__global long *)scratch;
    __global long *const full_count = (__global long *)scratch + (chunks + 1) * ent;
    int full_depth = 0;
    CLF_SETUP
    for (long b0 = i0; b0 < i1; b0 += block) {
        const long b1 = min(b0 + block, i1);
        long i = b0;
        CLF_COL_INIT
        for (; i + CLF_RU <= b1; i += CLF_RU) {
            CLF_STRIPS
        }
        for (; i < b1; i++) {
            CLF_STRIP
        }
        CLF_COL_PUSH
    }
    CLF_FINISH
    if (me == 0) {
        CLF_ONCE
    }
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (atomic_inc(counter) + 1 < chunks) return;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(counter, 0);
    CLF_FINAL
}
