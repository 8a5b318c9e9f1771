/* SPDX-License-Identifier: Apache-2.0
 * cell.generic: one kernel for all cplans of a float type that cell.chunk walks cell by cell: an interpreter of instructions, each over a
 * block of VECTORS vectors that stand in registers of the machine, the accumulator. What the instructions are, and what a place is, says
 * generic_plan.h.
 *
 * Strips, chunks and the tree of folds are those of cell.chunk.cl. In front of its first strip a work-item computes what varies with no
 * cell. Of the last, short strip operands pass through tiles, so that nothing is read or written past an end. Rows and columns that are
 * repeated stand in tiles: a row of at most 512 cells several times, for all strips; others a strip at a time. Operands cell by cell are
 * asked for ahead, in the second-level cache, since the hardware does not look beyond a page, and one that misses the first level waits
 * for a place there: sum(X * X * X) of 480 MB 1.4 times as fast as asked for in the first, and 1.2 times as not asked for. Whole pages
 * ahead would be places that caches hold apart badly.
 *
 * What is folded row by row passes through tiles, whose leaves are taken as soon as they are whole; what is folded column by column through
 * tiles, too, a block at a time (generic_cols.c).
 *
 * The same text is row.generic, over rows instead of cells: CLF_GEN_DOTS fills tiles with what rows give, CLF_GEN_COLS takes from tiles what
 * multiplies them (generic_rows.h). And it is entry.generic, over stored entries: CLF_GEN_SPAN says which, CLF_GEN_DOTS gathers what stands
 * at their rows and columns, and rows are as long as they are (generic_entries.h).
 *
 * What is computed a block ahead (generic_plan.h) reads on into the next strip where that is whole; of its last block, an item's last strip
 * computes it once more, for nobody.
 *
 * n: cells; cols: of a row; run: cells of a work-item; rowwise: folds are those of rows (1), of columns (2); chunk: in strips;
 * chunks: of the operator; ent: depth of a stack; states, areas, area, tails: scratch, in words; reads, folds, stores: see generic_plan.h. */
#include "contract.clh"
#include "math.clh"
#include "elem.clh"
#include "fold.clh"
#include "entry.clh"

#define CLF_GEN_BLOCK (CLF_GEN_VECTORS * CLF_GEN_L)
#define CLF_GEN_LINE (64 / (int)sizeof(CLF_GEN_S))

/* A row's or column's part in the strip, row by row. Vectors of one value run beyond the row's end, under what comes next. */
#define CLF_GEN_REPEAT                                                          \
    long r_ = at / cols, c_ = at % cols;                                        \
    for (int u = 0; u < m; c_ = 0, r_++) {                                      \
        const int e = u + (int)min((long)(m - u), cols - c_);                   \
        if (how & 32) {                                                         \
            const CLF_GEN_V y = (CLF_GEN_V)(source[a][r_ * step[a]]);           \
            for (; u < e; u += CLF_GEN_L) CLF_GEN_SAVE(y, tile + u);            \
        } else {                                                                \
            const __global CLF_GEN_S *const p = source[a] + c_ - u;             \
            for (; u + CLF_GEN_L <= e; u += CLF_GEN_L) CLF_GEN_SAVE(CLF_GEN_AT(p, u), tile + u); \
            for (; u < e; u++) tile[u] = p[u];                                  \
        }                                                                       \
        u = e;                                                                  \
    }                                                                           \
    for (int u = m; u < len; u++) tile[u] = 0;

/* Leaves of rows that are whole in the tiles; the cells left over go to the front. */
#define CLF_GEN_ROWS                                                            \
    int used = 0;                                                               \
    filled += m;                                                                \
    CLF_GEN_SHORT_ROWS                                                          \
    for (int need = (int)min(512L, cols - col); CLF_GEN_ROWS_LEFT filled - used >= need; need = (int)min(512L, cols - col)) { \
        CLF_GEN_ROW_LEAF                                                        \
        CLF_COLD for (long k_ = col / 512; k_ & 1; k_ >>= 1) depth--;           \
        depth++;                                                                \
        used += need;                                                           \
        col += need;                                                            \
        if (col < cols) continue;                                               \
        CLF_GEN_ROW_END                                                         \
        depth = 0;                                                              \
        col = 0;                                                                \
        row++;                                                                  \
        CLF_GEN_NEXT_ROW                                                        \
    }                                                                           \
    filled -= used;                                                             \
    for (int f = 0; f < nfold && used; f++) {                                   \
        __global CLF_GEN_S *const p = fold_tile + f * CLF_GEN_FOLD_TILE;        \
        for (int u = 0; u < filled; u += CLF_GEN_L) CLF_GEN_SAVE(CLF_GEN_AT(p, used + u), p + u); \
    }

__kernel void CLF_ENTRY(CLF_ARGS __global double *scratch, volatile __global int *counter, long n, long run, long chunk, long first,
                        long chunks, long ent, long states, long areas, long area, long tails, long reads, long folds, long stores,
                        long nfold, long nonce, long later, long ncode, long cols, long rowwise)
{
    const long me = first + (long)get_global_id(0);
    long cell0 = me * run, cell1 = min(cell0 + run, n), i0 = me * chunk, i1 = i0 + (cell1 - cell0 + 511) / 512;
    __global long *const full_level = (__global long *)scratch;
    __global long *const full_count = (__global long *)scratch + (chunks + 1) * ent;
    __global double *const full_state = scratch + states;
    __global CLF_GEN_S *const mine = (__global CLF_GEN_S *)(scratch + areas + me * area);
    __global CLF_GEN_S *const short_tile = (__global CLF_GEN_S *)(scratch + tails + (rowwise ? me * (CLF_GEN_ACCESSES + CLF_GEN_OUTPUTS) * 512 : 0));
    __global CLF_GEN_S *const tiles = mine + (CLF_GEN_REGS + CLF_GEN_SCALARS) * (512 / (int)sizeof(CLF_GEN_S));
    __global CLF_GEN_S *const fold_tile = mine + (area - CLF_GEN_FOLDS * CLF_GEN_FOLD_TILE) * (8 / (int)sizeof(CLF_GEN_S));
    double state[CLF_GEN_FOLDS * 3] = {0}, lanes[CLF_GEN_FOLDS * 3 * 16] CLF_LINES;
    CLF_GEN_V acc[CLF_GEN_VECTORS];
    double stack[CLF_GEN_FOLDS * 3 * 48];
    long row = rowwise ? cell0 / cols : 0, col = 0;
    int full_depth = 0, depth = 0, filled = 0;
    CLF_GEN_SPAN
    CLF_GEN_NAMES
    CLF_GEN_ROWS_SETUP
    for (int r = 0; r < CLF_GEN_REGS + CLF_GEN_SCALARS; r++) place[r] = mine + r * CLF_GEN_BLOCK;
    CLF_WHOLE for (int q = 0; q < CLF_GEN_VECTORS; q++) acc[q] = 0;
    for (long i = i0 - 1; i < i1; i++) {
        const bool once = i < i0;
        const long at = once ? 0 : cell0 + (i - i0) * 512;
        const int m = once ? 1 : (int)min(512L, cell1 - at), len = (m + CLF_GEN_BLOCK - 1) / CLF_GEN_BLOCK * CLF_GEN_BLOCK;
        const bool part = !once && m < 512, more = !once && cell1 - at >= 1024; /* another whole strip */
        const __global CLF_GEN_S *ahead[CLF_GEN_ACCESSES];
        int streams = 0;
        for (int a = 0; a < CLF_GEN_ACCESSES; a++) {
            const int how = (int)(reads >> 8 * a & 255);
            __global CLF_GEN_S *const tile = tiles + a * CLF_GEN_TILE;
            if (how & 8) {
                place[CLF_GEN_ACCESS0 + a] = part ? short_tile + a * 512 : source[a] + at;
                ahead[streams++] = source[a] + at + 384;
                for (int u = 0; u < len && part; u++) short_tile[a * 512 + u] = u < m ? source[a][at + u] : 0;
            } else if ((how & 16) && cols <= 512) {
                for (int u = 0, k = 0; u < cols + 512 && once && n; u++, k = k + 1 < cols ? k + 1 : 0) tile[u] = source[a][k];
                place[CLF_GEN_ACCESS0 + a] = tile + at % cols;
            } else if ((how & 48) && !once) {
                CLF_GEN_REPEAT
                place[CLF_GEN_ACCESS0 + a] = tile;
            }
        }
        for (int o = 0; o < CLF_GEN_OUTPUTS; o++)
            place[CLF_GEN_OUTPUT0 + o] = part ? short_tile + (CLF_GEN_ACCESSES + o) * 512 : result[o] + at;
        for (int f = 0; f < CLF_GEN_FOLDS && rowwise; f++) place[CLF_GEN_FOLD_TILE0 + f] = fold_tile + f * CLF_GEN_FOLD_TILE + filled;
        CLF_GEN_LEAF_BEGIN
        for (int u = 0; u < len; u += CLF_GEN_BLOCK) {
            const int end = (int)(once ? nonce : ncode), rest = m - u;
            for (int k = 0; k < streams; k++)
                CLF_WHOLE for (int q = 0; q < CLF_GEN_BLOCK; q += CLF_GEN_LINE) {
                    CLF_FETCH_FAR(ahead[k] + u + q)
                }
            CLF_GEN_DOTS
            for (int a = 0; a < CLF_GEN_ACCESSES && later > nonce; a++)
                place[CLF_GEN_AHEAD0 + a] = place[CLF_GEN_ACCESS0 + a] + (u + CLF_GEN_BLOCK < len || more ? CLF_GEN_BLOCK : 0);
            for (int k = once ? 0 : u || (i > i0 && !part) ? (int)later : (int)nonce; k < end; k++) {
                const long op = code[k];
                const int to = (int)(op >> 16 & 63);
                const __global CLF_GEN_S *const a = place[op >> 24 & 63], *const b = place[op >> 32 & 63], *const c = place[op >> 40 & 63];
                switch ((int)(op & 0xffff)) {
                    CLF_GEN_CASES
                default: break;
                }
                if (to != 63)
                    CLF_WHOLE for (int q = 0; q < CLF_GEN_VECTORS; q++) CLF_GEN_SAVE(acc[q], place[to] + q * CLF_GEN_L);
            }
            CLF_GEN_COLS
            for (int k = CLF_GEN_ACCESS0; k < CLF_GEN_FOLD_TILE0 + CLF_GEN_FOLDS; k++) place[k] += CLF_GEN_BLOCK;
        }
        for (int o = 0; o < CLF_GEN_OUTPUTS && part; o++)
            for (int u = 0; u < m && (stores >> o & 1); u++) result[o][at + u] = short_tile[(CLF_GEN_ACCESSES + o) * 512 + u];
        if (once || !nfold) continue;
        if (rowwise == 1) {
            CLF_GEN_ROWS
        }
        if (rowwise) continue;
        CLF_GEN_LEAF_END
        CLF_FULL_PUSH(i, 0, i0, me * ent, full_depth)
    }
    CLF_GEN_COLS_CLOSE
    full_count[me] = full_depth;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    if (atomic_inc(counter) + 1 < chunks) return;
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(counter, 0);
    CLF_GEN_COLS_RESULT
    if (!nfold || rowwise) return;
    CLF_FULL_CLOSE()
    CLF_GEN_RESULTS
}
#undef CLF_GEN_BLOCK
#undef CLF_GEN_LINE
#undef CLF_GEN_REPEAT
#undef CLF_GEN_ROWS
