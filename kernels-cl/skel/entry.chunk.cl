/* SPDX-License-Identifier: Apache-2.0
 * entry.chunk: operators over the stored entries of a CSR operand, for CPU devices. Local size 1, no barriers.
 *
 * By entry: tiles of 512 stored entries, over row ends, are the leaves of full folds; a work-item takes an aligned power-of-two run of
 * them. By row: a work-item takes rows with an even share of rows and entries; where values meet by column it takes an aligned
 * power-of-two run of blocks of rows instead, each block folding into a partial result of its own. Told by `counter`, the work-item
 * that finishes last merges what all left in scratch, in the order of the tree, or whoever finishes after its neighbour merges the two.
 *
 * xp, xc: offsets and columns; rows: of the operand; width: cells of a partial result; block, chunk: in rows; chunks: work-items of the
 * whole operator, from `first` on in this launch; the rest as in cell.chunk.cl. */
#include "contract.clh"
#include "math.clh"
#include "elem.clh"
#include "fold.clh"
#include "entry.clh"

__kernel void CLF_ENTRY(const __global long *restrict xp, const __global int *restrict xc, CLF_ARGS __global double *scratch,
                        volatile __global int *counter, long rows, long width, long block, long chunk, long first, long chunks,
                        long ent, long levels, long cp, long aw, long cstride, long cbase)
{
    const long me = first + (long)get_global_id(0), nnz = xp[rows];
    __global long *const full_level = (__global long *)scratch;
    __global long *const full_count = (__global long *)scratch + (chunks + 1) * ent;
    int full_depth = 0, col_depth = 0;
    CLF_SETUP
#if CLF_BY_ENTRY
    const long leaves = (nnz + 511) / 512;
    long run = 1, row = 0;
    while (run * chunks < leaves) run *= 2;
    const long i0 = me * run, i1 = min(i0 + run, leaves);
    if (i0 < i1) CLF_ROW_OF(row, xp, rows, i0 * 512)
    for (long i = i0; i < i1; i++) {
        const long e0 = i * 512;
        const int cells = (int)min(512L, nnz - e0);
        CLF_TILE
    }
#else
    long i0 = me * chunk, i1 = min(i0 + chunk, rows), step = block;
    if (chunk == 0) {
        CLF_ROW_AT(i0, xp, rows, (nnz + rows) * me / chunks)
        CLF_ROW_AT(i1, xp, rows, (nnz + rows) * (me + 1) / chunks)
        step = max(i1 - i0, 1L);
    }
    for (long b0 = i0; b0 < i1; b0 += step) {
        const long b1 = min(b0 + step, i1);
        CLF_COL_INIT
        long e1 = xp[b0];
        for (long i = b0; i < b1; i++) {
            const long e0 = e1;
            e1 = xp[i + 1];
            CLF_ROW
        }
        CLF_COL_PUSH
    }
#endif
    CLF_FINISH
    if (me == 0) {
        CLF_ONCE
    }
    CLF_MEET
    atomic_xchg(counter, 0);
    CLF_FINAL
}
