/* SPDX-License-Identifier: Apache-2.0
 * Included by rows_loops.h: scans, of folds whose state is one value, and copies that follow stored entries. */

#define SCAN(F, INIT, STEP) \
    static void NAME(scan_##F)(int64_t rows, int64_t n, const void *px, void *po) { \
        const E_T *x = px; \
        E_T *o = po; \
        for (int64_t r = 0; r < rows; r++) { \
            E_T s0; \
            INIT; \
            for (int64_t k = 0; k < n; k++, x++, o++) { \
                E_T v = *x; \
                STEP; \
                *o = s0; \
            } \
        } \
    }
#define SCAN_SUM(F, INIT, STEP) SCAN(F, INIT, STEP)
#define SCAN_SUMSQ(F, INIT, STEP) SCAN(F, INIT, STEP)
#define SCAN_MIN(F, INIT, STEP) SCAN(F, INIT, STEP)
#define SCAN_MAX(F, INIT, STEP) SCAN(F, INIT, STEP)
#define SCAN_PROD(F, INIT, STEP) SCAN(F, INIT, STEP)
#define SCAN_MEAN(F, INIT, STEP)
#define SCAN_VAR(F, INIT, STEP)
#define SCAN_ARGMIN(F, INIT, STEP)
#define SCAN_ARGMAX(F, INIT, STEP)
#define SCAN_ANY(F, INIT, STEP)
#define SCAN_ALL(F, INIT, STEP)
#define SCAN_NNZ(F, INIT, STEP)
#define CLF_FOLD(ID, name, state, init, step, merge, finish, repeat, result, flops) SCAN_##ID(ID, init, step)
#include "core/folds.def"

static void NAME(gather)(int64_t n, void *po, const void *pa, const int32_t *idx, int64_t stride) {
    const E_T *a = pa;
    E_T *o = po;
    if (stride == 1)
        TILE_IVDEP for (int64_t e = 0; e < n; e++) o[e] = a[idx[e]];
    else
        TILE_IVDEP for (int64_t e = 0; e < n; e++) o[e] = a[(int64_t)idx[e] * stride];
}
static void NAME(expand)(int64_t rows, const int64_t *off, void *po, const void *pa) {
    const E_T *a = pa;
    E_T *o = po;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t e = off[r]; e < off[r + 1]; e++) o[e] = a[r];
}
