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

/* Eight vectors a0 .. a7 of eight lanes, turned: lane r of oC is lane C of ar. Pairs first, then pairs of pairs, then halves. */
#define CLF_TURN_PAIR(V, a, p, i, j)                                            \
    const V p##i = (V)(a##i.s0, a##j.s0, a##i.s2, a##j.s2, a##i.s4, a##j.s4, a##i.s6, a##j.s6); \
    const V p##j = (V)(a##i.s1, a##j.s1, a##i.s3, a##j.s3, a##i.s5, a##j.s5, a##i.s7, a##j.s7);
#define CLF_TURN_MEET(V, a, p, i, j, m, n)                                      \
    const V p##m = (V)(a##i.s01, a##i.s45, a##j.s01, a##j.s45);                 \
    const V p##n = (V)(a##i.s23, a##i.s67, a##j.s23, a##j.s67);
#define CLF_TURN(V, a, o)                                                       \
    CLF_TURN_PAIR(V, a, a##p, 0, 1)                                             \
    CLF_TURN_PAIR(V, a, a##p, 2, 3)                                             \
    CLF_TURN_PAIR(V, a, a##p, 4, 5)                                             \
    CLF_TURN_PAIR(V, a, a##p, 6, 7)                                             \
    CLF_TURN_MEET(V, a##p, a##q, 0, 2, 0, 2)                                    \
    CLF_TURN_MEET(V, a##p, a##q, 1, 3, 1, 3)                                    \
    CLF_TURN_MEET(V, a##p, a##q, 4, 6, 4, 6)                                    \
    CLF_TURN_MEET(V, a##p, a##q, 5, 7, 5, 7)                                    \
    CLF_TURN_MEET(V, a##q, o, 0, 4, 0, 4)                                       \
    CLF_TURN_MEET(V, a##q, o, 1, 5, 1, 5)                                       \
    CLF_TURN_MEET(V, a##q, o, 2, 6, 2, 6)                                       \
    CLF_TURN_MEET(V, a##q, o, 3, 7, 3, 7)

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
