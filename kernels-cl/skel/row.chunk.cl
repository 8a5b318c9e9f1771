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

/* Eight vectors a0 .. a7 of eight lanes, or sixteen of sixteen, turned: lane r of oC is lane C of ar. Single lanes meet first, then pairs,
 * then what has come of them. Oclgrind cannot take vectors put together of shorter ones. */
#define CLF_TURN_ONE(x, y, k, l) x.s##k, y.s##k, x.s##l, y.s##l
#ifdef CLF_LANES
#define CLF_TURN_TWO(x, y, k, l) x.s##k, x.s##l, y.s##k, y.s##l
#define CLF_TURN_FOUR(x, k, l, m, n) x.s##k, x.s##l, x.s##m, x.s##n
#else
#define CLF_TURN_TWO(x, y, k, l) x.s##k##l, y.s##k##l
#define CLF_TURN_FOUR(x, k, l, m, n) x.s##k##l, x.s##m##n
#endif
#define CLF_TURN_PAIR(V, a, p, i, j)                                            \
    const V p##i = (V)(CLF_TURN_ONE(a##i, a##j, 0, 2), CLF_TURN_ONE(a##i, a##j, 4, 6)); \
    const V p##j = (V)(CLF_TURN_ONE(a##i, a##j, 1, 3), CLF_TURN_ONE(a##i, a##j, 5, 7));
#define CLF_TURN_MEET(V, a, p, i, j)                                            \
    const V p##i = (V)(CLF_TURN_FOUR(a##i, 0, 1, 4, 5), CLF_TURN_FOUR(a##j, 0, 1, 4, 5)); \
    const V p##j = (V)(CLF_TURN_FOUR(a##i, 2, 3, 6, 7), CLF_TURN_FOUR(a##j, 2, 3, 6, 7));
#define CLF_TURN_8(V, a, o)                                                     \
    CLF_TURN_PAIR(V, a, a##p, 0, 1) CLF_TURN_PAIR(V, a, a##p, 2, 3) CLF_TURN_PAIR(V, a, a##p, 4, 5) CLF_TURN_PAIR(V, a, a##p, 6, 7) \
    CLF_TURN_MEET(V, a##p, a##q, 0, 2) CLF_TURN_MEET(V, a##p, a##q, 1, 3)       \
    CLF_TURN_MEET(V, a##p, a##q, 4, 6) CLF_TURN_MEET(V, a##p, a##q, 5, 7)       \
    CLF_TURN_MEET(V, a##q, o, 0, 4) CLF_TURN_MEET(V, a##q, o, 1, 5) CLF_TURN_MEET(V, a##q, o, 2, 6) CLF_TURN_MEET(V, a##q, o, 3, 7)
#define CLF_TURN_ONES(V, x, p, i, j)                                            \
    const V p##i = (V)(CLF_TURN_ONE(x##i, x##j, 0, 2), CLF_TURN_ONE(x##i, x##j, 4, 6), CLF_TURN_ONE(x##i, x##j, 8, a), \
                       CLF_TURN_ONE(x##i, x##j, c, e));                         \
    const V p##j = (V)(CLF_TURN_ONE(x##i, x##j, 1, 3), CLF_TURN_ONE(x##i, x##j, 5, 7), CLF_TURN_ONE(x##i, x##j, 9, b), \
                       CLF_TURN_ONE(x##i, x##j, d, f));
#define CLF_TURN_TWOS(V, x, p, i, j)                                            \
    const V p##i = (V)(CLF_TURN_TWO(x##i, x##j, 0, 1), CLF_TURN_TWO(x##i, x##j, 4, 5), CLF_TURN_TWO(x##i, x##j, 8, 9), \
                       CLF_TURN_TWO(x##i, x##j, c, d));                         \
    const V p##j = (V)(CLF_TURN_TWO(x##i, x##j, 2, 3), CLF_TURN_TWO(x##i, x##j, 6, 7), CLF_TURN_TWO(x##i, x##j, a, b), \
                       CLF_TURN_TWO(x##i, x##j, e, f));
#define CLF_TURN_FOURS(V, x, p, i, j)                                           \
    const V p##i = (V)(CLF_TURN_FOUR(x##i, 0, 1, 2, 3), CLF_TURN_FOUR(x##i, 8, 9, a, b), CLF_TURN_FOUR(x##j, 0, 1, 2, 3), \
                       CLF_TURN_FOUR(x##j, 8, 9, a, b));                        \
    const V p##j = (V)(CLF_TURN_FOUR(x##i, 4, 5, 6, 7), CLF_TURN_FOUR(x##i, c, d, e, f), CLF_TURN_FOUR(x##j, 4, 5, 6, 7), \
                       CLF_TURN_FOUR(x##j, c, d, e, f));
#define CLF_TURN_FOUR_ROWS(V, a, i, j, k, l)                                    \
    CLF_TURN_ONES(V, a, a##p, i, j) CLF_TURN_ONES(V, a, a##p, k, l) CLF_TURN_TWOS(V, a##p, a##q, i, k) CLF_TURN_TWOS(V, a##p, a##q, j, l)
#define CLF_TURN_EIGHT_ROWS(V, a, p, i, j, k, l, m, n, q, r)                    \
    CLF_TURN_FOURS(V, a, p, i, m) CLF_TURN_FOURS(V, a, p, j, n) CLF_TURN_FOURS(V, a, p, k, q) CLF_TURN_FOURS(V, a, p, l, r)
#define CLF_TURN_16(V, a, o)                                                    \
    CLF_TURN_FOUR_ROWS(V, a, 0, 1, 2, 3) CLF_TURN_FOUR_ROWS(V, a, 4, 5, 6, 7)   \
    CLF_TURN_FOUR_ROWS(V, a, 8, 9, 10, 11) CLF_TURN_FOUR_ROWS(V, a, 12, 13, 14, 15) \
    CLF_TURN_EIGHT_ROWS(V, a##q, a##h, 0, 1, 2, 3, 4, 5, 6, 7) CLF_TURN_EIGHT_ROWS(V, a##q, a##h, 8, 9, 10, 11, 12, 13, 14, 15) \
    CLF_TURN_EIGHT_ROWS(V, a##h, o, 0, 1, 2, 3, 8, 9, 10, 11) CLF_TURN_EIGHT_ROWS(V, a##h, o, 4, 5, 6, 7, 12, 13, 14, 15)

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
        CLF_TOGETHER {
            const long g1 = CLF_TOGETHER_END;
            for (; i + CLF_RU <= g1; i += CLF_RU) {
                CLF_STRIPS
            }
            for (; i < g1; i++) {
                CLF_STRIP
            }
            CLF_TILES
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
