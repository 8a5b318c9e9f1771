/* SPDX-License-Identifier: Apache-2.0
 * Included by rows_loops.h where a vector is a pair of the core's registers, of which there are 16: products of stored entries with rows that
 * they pick, where a row is a few halves of vectors. What one entry after the other takes stays in registers, a half of the last vector is
 * left out where a row ends before it, and an entry of 0 is passed over by a branch. The order of steps is that of rows_dot.h and
 * rows_whole.h. Lanes behind a row's end multiply -0 by 0, and adding -0 changes no number. */
#define HALF (LANES / 2)

/* Inner products of a row, its H halves x, with the rows that the n entries from e on pick, up to four; those after them are asked for.
 * mask: lanes of the last half that there are. */
ELEM_FN void NAME(half_four)(const int H, const clf_dots *d, const V(hvec) x[], V(hmask) mask, int64_t e, const int n, int64_t last) {
    const E_T *y = d->y;
    VEC s[4];
    W_T w[4];
    for (int i = 0; i < 4; i++) {
        const E_T *b = y + (int64_t)d->idx[e + (i < n ? i : n - 1)] * d->ldy;
        const int64_t next = e + i + ROWS_AHEAD < last ? e + i + ROWS_AHEAD : last - 1;
        TILE_PREFETCH(y + (int64_t)d->idx[next] * d->ldy, H * HALF * (int64_t)sizeof *y);
        s[i] = V(set)(0);
        for (int h = 0; h < H; h++) {
            V(hvec) z = h + 1 < H ? V(hload)(b + h * HALF) : V(hloadm)(b + h * HALF, mask, 0);
            if (h % 2 == 0)
                s[i].a = V(half)(x[h], z, s[i].a, 0);
            else
                s[i].b = V(half)(x[h], z, s[i].b, 0);
        }
    }
    V(sum4)(s, w);
    for (int i = 0; i < n; i++) ((E_T *)d->out)[e + i] = (E_T)w[i];
}
ELEM_FN void NAME(half_row)(const int H, const clf_dots *d, int64_t r, V(hmask) mask) {
    const E_T *row = (const E_T *)d->x + r * d->ldx;
    const int64_t end = d->off[r + 1], last = d->off[d->rows];
    int64_t e = d->off[r];
    V(hvec) x[ROWS_HALVES_MOST];
    for (int h = 0; h + 1 < H; h++) x[h] = V(hload)(row + h * HALF);
    x[H - 1] = V(hloadm)(row + (H - 1) * HALF, mask, (E_T)-0.0);
    for (; e + 4 <= end; e += 4) NAME(half_four)(H, d, x, mask, e, 4, last);
    if (e < end) NAME(half_four)(H, d, x, mask, e, (int)(end - e), last);
}
ELEM_FN void NAME(half_rows)(const int H, const clf_dots *d) {
    const V(hmask) mask = V(hfirst)(d->n - (H - 1) * HALF);
    for (int64_t r = 0; r < d->rows; r++) NAME(half_row)(H, d, r, mask);
}
/* Are the rows such, and no zero annihilates? Then it is done. */
static bool NAME(picked_halves)(const clf_dots *d) {
    if (d->skip != 0 || d->n < 1) return false;
    switch ((d->n + HALF - 1) / HALF) {
    case 1: NAME(half_rows)(1, d); break;
    case 2: NAME(half_rows)(2, d); break;
    case 3: NAME(half_rows)(3, d); break;
    case 4: NAME(half_rows)(4, d); break;
    case 5: NAME(half_rows)(5, d); break;
    case 6: NAME(half_rows)(6, d); break;
    case 7: NAME(half_rows)(7, d); break;
    case 8: NAME(half_rows)(8, d); break;
    default: return false;
    }
    return true;
}

/* Rows of y by column of the entry, H halves of vectors of each, n entries, of idx `ahead` may be read; mask: of the last half. */
ELEM_FN void NAME(half_sums)(const int H, const E_T *x, const int32_t *idx, int64_t ahead, const E_T *y, int64_t ldy, int64_t n,
                             int64_t cols, int skip, E_T *o) {
    const V(hmask) mask = V(hfirst)(cols - (H - 1) * HALF);
    V(hvec) s[ROWS_HALVES_SUMS];
    for (int h = 0; h < H; h++) s[h] = V(set)(0).a;
    for (int64_t e = 0; e < n; e++) {
        const E_T *b = y + (int64_t)idx[e] * ldy;
        if (e + ROWS_AHEAD < ahead) TILE_PREFETCH(y + (int64_t)idx[e + ROWS_AHEAD] * ldy, H * HALF * (int64_t)sizeof *y);
        if (skip != 0 && x[e] == 0) continue;
        V(hvec) a = V(set)(x[e]).a;
        for (int h = 0; h + 1 < H; h++) s[h] = V(half)(a, V(hload)(b + h * HALF), s[h], 0);
        s[H - 1] = V(half)(a, V(hloadm)(b + (H - 1) * HALF, mask, 0), s[H - 1], 0);
    }
    for (int h = 0; h + 1 < H; h++) V(hstore)(o + h * HALF, s[h]);
    V(hstorem)(o + (H - 1) * HALF, s[H - 1], mask);
}
/* cols results of one row over a leaf of entries, as many halves at a time as registers hold, evenly. skip: 0 or 1. */
ELEM_FN void NAME(half_leaf_by)(const E_T *x, const int32_t *idx, int64_t ahead, const E_T *y, int64_t ldy, int64_t n, int64_t cols,
                                int skip, E_T *o) {
    const int64_t halves = (cols + HALF - 1) / HALF, parts = (halves + ROWS_HALVES_SUMS - 1) / ROWS_HALVES_SUMS;
    const int64_t each = (halves + parts - 1) / parts;
    for (int64_t col = 0, m; col < cols; col += m, o += m, y += m) {
        m = each * HALF < cols - col ? each * HALF : cols - col;
        switch ((m + HALF - 1) / HALF) {
        case 1: NAME(half_sums)(1, x, idx, ahead, y, ldy, n, m, skip, o); break;
        case 2: NAME(half_sums)(2, x, idx, ahead, y, ldy, n, m, skip, o); break;
        case 3: NAME(half_sums)(3, x, idx, ahead, y, ldy, n, m, skip, o); break;
        case 4: NAME(half_sums)(4, x, idx, ahead, y, ldy, n, m, skip, o); break;
        case 5: NAME(half_sums)(5, x, idx, ahead, y, ldy, n, m, skip, o); break;
        case 6: NAME(half_sums)(6, x, idx, ahead, y, ldy, n, m, skip, o); break;
        case 7: NAME(half_sums)(7, x, idx, ahead, y, ldy, n, m, skip, o); break;
        case 8: NAME(half_sums)(8, x, idx, ahead, y, ldy, n, m, skip, o); break;
        case 9: NAME(half_sums)(9, x, idx, ahead, y, ldy, n, m, skip, o); break;
        default: NAME(half_sums)(ROWS_HALVES_SUMS, x, idx, ahead, y, ldy, n, m, skip, o);
        }
    }
}
static __attribute__((noinline)) void NAME(half_leaf)(const E_T *x, const int32_t *idx, int64_t ahead, const E_T *y, int64_t ldy,
                                                      int64_t n, int64_t cols, int skip, E_T *o) {
    if (skip == 0)
        NAME(half_leaf_by)(x, idx, ahead, y, ldy, n, cols, 0, o);
    else
        NAME(half_leaf_by)(x, idx, ahead, y, ldy, n, cols, 1, o);
}
#undef HALF
