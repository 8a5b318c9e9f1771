/* SPDX-License-Identifier: Apache-2.0
 * The blocked product for one element type: included by gemm.c with T (type), NR (columns of a register tile: one cache line) and
 * NAME(x); and, where cells are not what C takes them for, with MADD (tests/prime). After Goto and van de Geijn, "Anatomy of
 * High-Performance Matrix Multiplication" (2008): op(B) is packed in panels of kc x NR that stay in the second-level cache, op(A) in
 * panels of MR x kc, and a tile of MR x NR sums is held in registers. A row of the tile is one vector of the compiler, LINE bytes. */

#ifndef MADD
#define MADD(sum, row, a) (sum) += (row) * (a)
#endif

/* panel[p*NR + j] = op(B)(p0 + p, j0 + j), zero beyond n */
static void NAME(pack_b)(const clf_gemm_args *g, int64_t p0, int64_t kc, int64_t j0, T *restrict panel)
{
    const T *B = g->B;
    int64_t cols = g->n - j0 < NR ? g->n - j0 : NR;
    for (int64_t p = 0; p < kc; p++, panel += NR) {
        const T *from = g->tb ? B + j0 * g->ldb + p0 + p : B + (p0 + p) * g->ldb + j0;
        int64_t step = g->tb ? g->ldb : 1;
        for (int64_t j = 0; j < cols; j++) panel[j] = from[j * step];
        for (int64_t j = cols; j < NR; j++) panel[j] = 0;
    }
}

/* panel[p*MR + i] = op(A)(i0 + i, p0 + p), zero beyond m */
static void NAME(pack_a)(const clf_gemm_args *g, int64_t i0, int64_t p0, int64_t kc, T *restrict panel)
{
    const T *A = g->A;
    int64_t rows = g->m - i0 < MR ? g->m - i0 : MR, by_row = g->ta ? 1 : g->lda, by_k = g->ta ? g->lda : 1;
    const T *from = A + i0 * by_row + p0 * by_k;
    for (int64_t p = 0; p < kc; p++, from += by_k, panel += MR)
        for (int64_t i = 0; i < MR; i++) panel[i] = i < rows ? from[i * by_row] : 0;
}

typedef T NAME(vec) __attribute__((vector_size(LINE), aligned(sizeof(T)), may_alias));

/* C tile (rows x cols) = or += panel product. C passes through a whole tile, so that the loop knows no edges. */
static inline __attribute__((always_inline)) void NAME(tile_text)(int64_t kc, const T *restrict a, const T *restrict b, T *restrict C, int64_t ldc,
                                                                 int64_t rows, int64_t cols, bool add)
{
    T edge[MR * NR] = {0};
    NAME(vec) sum[MR];
    for (int64_t i = 0; add && i < rows; i++) memcpy(edge + i * NR, C + i * ldc, (size_t)cols * sizeof(T));
    UNROLL for (int i = 0; i < MR; i++) sum[i] = *(const NAME(vec) *)(edge + i * NR);
    for (int64_t p = 0; p < kc; p++, a += MR, b += NR) {
        NAME(vec) row = *(const NAME(vec) *)b;
        UNROLL for (int i = 0; i < MR; i++) MADD(sum[i], row, a[i]);
    }
    UNROLL for (int i = 0; i < MR; i++) *(NAME(vec) *)(edge + i * NR) = sum[i];
    for (int64_t i = 0; i < rows; i++) memcpy(C + i * ldc, edge + i * NR, (size_t)cols * sizeof(T));
}

/* The same text for several instruction sets; the results are the same to the bit, as nothing is contracted. */
#define TILE(name)                                                                                                                     \
    static void name(int64_t kc, const T *a, const T *b, T *C, int64_t ldc, int64_t rows, int64_t cols, bool add)                        \
    {                                                                                                                                  \
        NAME(tile_text)(kc, a, b, C, ldc, rows, cols, add);                                                                              \
    }
typedef void (*NAME(tile_fn))(int64_t, const T *, const T *, T *, int64_t, int64_t, int64_t, bool);
TILE(NAME(tile_base))
#ifdef __x86_64__
__attribute__((target("avx2"))) TILE(NAME(tile_avx2))
__attribute__((target("avx512f"))) TILE(NAME(tile_avx512))
#endif

static NAME(tile_fn) NAME(tile_pick)(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f")) return NAME(tile_avx512);
    if (__builtin_cpu_supports("avx2")) return NAME(tile_avx2);
#endif
    return NAME(tile_base);
}
#undef TILE

/* One block of kc: B is packed whole, A in strips of MR rows. */
static void NAME(block)(const clf_gemm_args *g, int64_t p0, int64_t kc, int64_t j0, int64_t nc, T *restrict a, T *restrict b)
{
    T *C = g->C;
    NAME(tile_fn) tile = NAME(tile_pick)();
    for (int64_t j = 0; j < nc; j += NR) NAME(pack_b)(g, p0, kc, j0 + j, b + j * kc);
    for (int64_t i = 0; i < g->m; i += MR) {
        int64_t rows = g->m - i < MR ? g->m - i : MR;
        NAME(pack_a)(g, i, p0, kc, a);
        for (int64_t j = 0; j < nc; j += NR) {
            int64_t left = g->n - j0 - j, cols = left < NR ? left : NR;
            tile(kc, a, b + j * kc, C + i * g->ldc + j0 + j, g->ldc, rows, cols, p0 > 0);
        }
    }
}

clf_status NAME(clf_gemm)(clf_mem *mem, const clf_gemm_args *g, clf_err *err)
{
    int64_t kc = g->k < KC ? g->k : KC, nc = g->n < NC ? (g->n + NR - 1) / NR * NR : NC;
    size_t cells = (size_t)kc * (size_t)(nc + MR);
    T *space = clf_mem_new(mem, cells, sizeof *space);
    if (!space) return clf_fail(err, CLF_E_NOMEM, "matrix product: no memory for %zu bytes of packed panels", cells * sizeof *space);
    for (int64_t j = 0; j < g->n; j += nc)
        for (int64_t p = 0; p < g->k; p += kc) {
            int64_t left_k = g->k - p, left_n = g->n - j;
            NAME(block)(g, p, left_k < kc ? left_k : kc, j, left_n < nc ? left_n : nc, space, space + kc * MR);
        }
    clf_mem_free(mem, space, cells, sizeof *space);
    return CLF_OK;
}
