/* SPDX-License-Identifier: Apache-2.0
 * cell.chunk: cell operators and folds over at most two range axes, for CPU devices.
 *
 * The cells are cut into strips (512 cells in a row when nothing depends on rows; else a row, or the few rows that fill whole
 * vectors), strips into blocks (the blocks of column folds), blocks into chunks: a power-of-two run of strips per work-item, local
 * size 1, no barriers. A launch covers chunks `first` and up; launches may come in any order. The work-item that finishes the last
 * chunk of the whole operator, told by `counter`, merges the partial states that all left in scratch, in the order of the tree.
 *
 * n: cells; width: cells of a full strip; full: full strips; strips: all; block, chunk: in strips; chunks: of the operator;
 * ent, levels: stack depths; cp: columns padded; aw: cells of one accumulator row; cstride, cbase: column scratch. */
#include "contract.clh"
#include "math.clh"
#include "elem.clh"
#include "fold.clh"

__kernel void CLF_ENTRY(CLF_ARGS __global double *scratch, volatile __global int *counter, long n, long width, long full, long strips,
                        long block, long chunk, long first, long chunks, long ent, long levels, long cp, long aw, long cstride,
                        long cbase)
{
    const long me = first + (long)get_global_id(0);
    const long i0 = me * chunk, i1 = min(i0 + chunk, strips);
    __global long *const full_level = (__global long *)scratch;
    __global long *const full_count = (__global long *)scratch + (chunks + 1) * ent;
    int full_depth = 0, col_depth = 0;
    CLF_SETUP
    for (long b0 = i0; b0 < i1; b0 += block) {
        const long b1 = min(b0 + block, i1), bf = min(b1, full);
        long i = b0;
        CLF_COL_INIT
        for (; i + CLF_RU <= bf; i += CLF_RU) {
            CLF_STRIPS
        }
        for (; i < b1; i++) {
            const long m = min(width, n - i * width);
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
