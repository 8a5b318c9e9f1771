/* SPDX-License-Identifier: Apache-2.0
 * cell.generic: one kernel for all cplans of a float type that cell.chunk walks cell by cell: an interpreter of instructions over tiles of
 * 512 cells, each a loop over vectors. What the instructions are, and what a place is, says generic_plan.h.
 *
 * Strips, chunks and the tree of folds are those of cell.chunk.cl. In front of its first strip a work-item computes what varies with no
 * cell. Of the last, short strip operands pass through tiles, so that nothing is read or written past an end.
 *
 * n: cells; strips: all; chunk: in strips; chunks: of the operator; ent: depth of a stack; states, areas, area, tails: scratch, in words;
 * reads, folds, stores: see generic_plan.h. */
#include "contract.clh"
#include "math.clh"
#include "elem.clh"
#include "fold.clh"

#define CLF_GEN_TO(v, u) CLF_GEN_SAVE(v, to + (u));

__kernel void CLF_ENTRY(CLF_ARGS __global double *scratch, volatile __global int *counter, long n, long strips, long chunk, long first,
                        long chunks, long ent, long states, long areas, long area, long tails, long reads, long folds, long stores,
                        long nfold, long nonce, long ncode)
{
    const long me = first + (long)get_global_id(0);
    const long i0 = me * chunk, i1 = min(i0 + chunk, strips);
    __global long *const full_level = (__global long *)scratch;
    __global long *const full_count = (__global long *)scratch + (chunks + 1) * ent;
    __global double *const full_state = scratch + states;
    __global CLF_GEN_S *const mine = (__global CLF_GEN_S *)(scratch + areas + me * area);
    __global CLF_GEN_S *const short_tile = (__global CLF_GEN_S *)(scratch + tails);
    double state[CLF_GEN_FOLDS * 3] = {0};
    int full_depth = 0;
    CLF_GEN_NAMES
    for (int r = 0; r < CLF_GEN_REGS; r++) place[r] = mine + r * 512;
    for (int s = 0; s < CLF_GEN_SCALARS; s++)
        place[CLF_GEN_REGS + s] = mine + area * 8 / (long)sizeof(CLF_GEN_S) - (s + 1) * 32;
    for (long i = i0 - 1; i < i1; i++) {
        const bool once = i < i0;
        const long at = once ? 0 : i * 512;
        const int m = once ? 1 : (int)min(512L, n - at), len = (m + 2 * CLF_GEN_L - 1) / (2 * CLF_GEN_L) * (2 * CLF_GEN_L);
        const bool part = !once && m < 512;
        for (int a = 0; a < CLF_GEN_ACCESSES; a++) {
            if (!(reads >> 4 * a & 8)) continue;
            place[CLF_GEN_REGS + CLF_GEN_SCALARS + a] = part ? short_tile + a * 512 : source[a] + at;
            for (int u = 0; u < len && part; u++) short_tile[a * 512 + u] = u < m ? source[a][at + u] : 0;
        }
        for (int o = 0; o < CLF_GEN_OUTPUTS; o++)
            place[CLF_GEN_REGS + CLF_GEN_SCALARS + CLF_GEN_ACCESSES + o] = part ? short_tile + (CLF_GEN_ACCESSES + o) * 512 : result[o] + at;
        const int end = (int)(once ? nonce : ncode);
        for (int k = once ? 0 : (int)nonce; k < end; k++) {
            const long op = code[k];
            const int ia = (int)(op >> 16 & 63), ib = (int)(op >> 24 & 63), ic = (int)(op >> 32 & 63);
            __global CLF_GEN_S *const to = place[op >> 8 & 63];
            const __global CLF_GEN_S *const a = place[ia], *const b = place[ib], *const c = place[ic];
            const int a_along = CLF_GEN_ALONG(ia), b_along = CLF_GEN_ALONG(ib), c_along = CLF_GEN_ALONG(ic);
            __private double *const held = state + (op >> 8 & 3) * 3;
            switch ((int)(op & 255)) {
                CLF_GEN_CASES
            default: break;
            }
        }
        for (int o = 0; o < CLF_GEN_OUTPUTS && part; o++)
            for (int u = 0; u < m && (stores >> o & 1); u++) result[o][at + u] = short_tile[(CLF_GEN_ACCESSES + o) * 512 + u];
        if (!once && nfold) CLF_FULL_PUSH(i, 0, i0, me * ent, full_depth)
    }
    full_count[me] = full_depth;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (atomic_inc(counter) + 1 < chunks) return;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    *counter = 0;
    if (!nfold) return;
    CLF_FULL_CLOSE()
    CLF_GEN_RESULTS
}
#undef CLF_GEN_TO
