/* SPDX-License-Identifier: Apache-2.0
 * tile.chunk: a product of two wide dense matrices with cell operators on its left side and on its result, for CPU devices.
 *
 * A work-item has mc rows by nc columns of the result, local size 1, no barriers. Leaf by leaf of the sums (512 terms), and band by band of
 * its rows, it packs those of the left side, then panel by panel of the right side, which the first band packs and the others find, it goes
 * through tiles whose sums stay in registers: of 12 rows by two vectors where there are 32 registers as wide as a vector, else of 6 by one.
 * After Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008). The order of a sum is that of a DOT value
 * (planner/cplan.h): a leaf is CLF_TILE_RUNS lanes, each one run of fused multiply-adds, and what is complete waits for its sibling on
 * a stack: lanes of a tile on one of its own, leaves on one of all tiles. Each tile asks for some lines of the next panel.
 *
 * rows, cols, terms: of the product; mc, nc: of a work-item, band: of its rows that are packed together, all in whole tiles; first: the
 * launch's first work-item; across: work-items side by side; stride: scratch of each, in units of 8 bytes. */
#include "contract.clh"
#include "math.clh"
#include "elem.clh"
#include "fold.clh"

#if CLF_WIDE_REGISTERS
#define TILE_ROWS 12
#define TILE_VECTORS 2
#define TILE_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define TILE_BOTH(X, r) X(r, 0) X(r, 1)
#else
#define TILE_ROWS 6
#define TILE_VECTORS 1
#define TILE_EACH(X) X(0) X(1) X(2) X(3) X(4) X(5)
#define TILE_BOTH(X, r) X(r, 0)
#endif
#define TILE_COLS (TILE_VECTORS * CLF_TILE_L)
#define TILE_CELLS (TILE_ROWS * TILE_COLS)
#define TILE_ZERO_ONE(r, v) CLF_TILE_V c##r##_##v = (CLF_TILE_V)(0);
#define TILE_ZERO(r) TILE_BOTH(TILE_ZERO_ONE, r)
#define TILE_STEP_ONE(r, v) c##r##_##v = CLF_TILE_FMA(y, h##v, c##r##_##v);
#define TILE_STEP(r)                                                            \
    {                                                                           \
        const CLF_TILE_V y = (CLF_TILE_V)(a[r]);                                \
        TILE_BOTH(TILE_STEP_ONE, r)                                             \
    }
#define TILE_RIGHT_ONE(r, v) const CLF_TILE_V h##v = CLF_TILE_LOAD(b + v * CLF_TILE_L);
#define TILE_TERM                                                               \
    {                                                                           \
        TILE_BOTH(TILE_RIGHT_ONE, 0)                                            \
        TILE_EACH(TILE_STEP)                                                    \
        a += TILE_ROWS;                                                         \
        b += TILE_COLS;                                                         \
    }
#define TILE_SAVE_ONE(r, v) CLF_TILE_SAVE(c##r##_##v, tile + (TILE_VECTORS * r + v) * CLF_TILE_L);
#define TILE_SAVE(r) TILE_BOTH(TILE_SAVE_ONE, r)

__kernel void CLF_ENTRY(CLF_ARGS __global double *scratch, volatile __global int *counter, long rows, long cols, long terms, long mc,
                        long nc, long band, long first, long across, long stride)
{
    const long me = first + (long)get_global_id(0), i0 = me / across * mc, i1 = min(i0 + mc, rows);
    const long j0 = me % across * nc, j1 = min(j0 + nc, cols);
    const long leaves = max(1L, (terms + 511) / 512), level = mc * nc;
    const long kept = mc > band ? nc : 2 * CLF_TILE_L; /* columns of panels */
    __global double *const mine = scratch + me * stride;
    __global CLF_TILE_T *const left = (__global CLF_TILE_T *)mine;
    __global CLF_TILE_T *const panels = left + band * 512, *const tile = panels + kept * 512;
    __global double *const lane_stack = (__global double *)tile + TILE_CELLS;
    __global double *const leaf_stack = lane_stack + CLF_TILE_LEVELS * TILE_CELLS;
    CLF_SETUP
    for (long leaf = 0; leaf < leaves; leaf++) {
        const long k0 = leaf * 512, kc = min(512L, terms - k0);
        CLF_TILE_ORDER
        for (long b0 = i0; b0 < i1; b0 += band) {
            const long b1 = min(b0 + band, i1);
            CLF_TILE_LEFT
            for (long j = j0; j < j1; j += TILE_COLS) {
                const long width = min(j1 - j, (long)TILE_COLS);
                __global CLF_TILE_T *const right = panels + (mc > band ? (j - j0) * 512 : 0);
                if (b0 == i0) {
                    CLF_TILE_RIGHT
                }
                for (long i = b0; i < b1; i += TILE_ROWS) {
                    const __global CLF_TILE_T *a = left + (i - b0) * 512, *b = right, *ahead = right;
                    __global double *const wait = leaf_stack + (j - j0) * mc + (i - i0) * TILE_COLS;
                    const long nth = (i - b0) / TILE_ROWS;
                    long ahead_by = 0;
                    if (nth < 4 * TILE_VECTORS && b0 > i0 && j + TILE_COLS < j1) {
                        ahead = right + 512 * TILE_COLS + nth * (kc / 4) * CLF_TILE_L;
                        ahead_by = CLF_TILE_L;
                    }
                    CLF_TILE_AHEAD
                    CLF_TILE_ASK
                    CLF_COLD for (int run = 0; run < CLF_TILE_RUNS; run++) {
                        long k = 0;
                        const long n = CLF_TILE_TERMS(run);
                        TILE_EACH(TILE_ZERO)
                        for (; k + 4 <= n; k += 4) {
                            CLF_FETCH_FAR(ahead)
                            ahead += ahead_by;
                            TILE_TERM TILE_TERM TILE_TERM TILE_TERM
                        }
                        for (; k < n; k++) TILE_TERM
                        TILE_EACH(TILE_SAVE)
                        CLF_COLD for (int q = 0; q < TILE_CELLS && CLF_TILE_RUNS * leaves > 1; q += CLF_TILE_L) {
                            CLF_TILE_W t = CLF_TILE_WIDE(CLF_TILE_LOAD(tile + q));
                            long d = popcount(run);
                            CLF_COLD for (int x = run; x & 1; x >>= 1)
                                t = CLF_TILE_ADD(CLF_TILE_LOADW(lane_stack + --d * TILE_CELLS + q), t);
                            if (run + 1 < CLF_TILE_RUNS) {
                                CLF_TILE_SAVEW(t, lane_stack + d * TILE_CELLS + q);
                                continue;
                            }
                            d = popcount(leaf);
                            CLF_COLD for (long x = leaf; x & 1; x >>= 1) t = CLF_TILE_ADD(CLF_TILE_LOADW(wait + --d * level + q), t);
                            if (leaf + 1 < leaves) {
                                CLF_TILE_SAVEW(t, wait + d * level + q);
                                continue;
                            }
                            CLF_COLD while (--d >= 0) t = CLF_TILE_ADD(CLF_TILE_LOADW(wait + d * level + q), t);
                            CLF_TILE_SAVE(CLF_TILE_NARROW(t), tile + q);
                        }
                    }
                    if (leaf + 1 < leaves) continue;
                    CLF_COLD for (long row = i; row < min(i + TILE_ROWS, i1); row++) {
                        const __global CLF_TILE_T *sum = tile + (row - i) * TILE_COLS;
                        CLF_COLD for (long col = j; col < j + width; col += CLF_TILE_L, sum += CLF_TILE_L) {
                            const int r = (int)min(j + width - col, (long)CLF_TILE_L);
                            if (r == CLF_TILE_L) {
                                CLF_TILE_STORE
                            } else {
                                CLF_TILE_STORE_SHORT
                            }
                        }
                    }
                }
            }
        }
    }
}
#undef TILE_ROWS
#undef TILE_VECTORS
#undef TILE_EACH
#undef TILE_BOTH
#undef TILE_COLS
#undef TILE_CELLS
#undef TILE_ZERO_ONE
#undef TILE_ZERO
#undef TILE_STEP_ONE
#undef TILE_STEP
#undef TILE_RIGHT_ONE
#undef TILE_TERM
#undef TILE_SAVE_ONE
#undef TILE_SAVE
