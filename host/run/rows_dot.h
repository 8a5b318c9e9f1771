/* SPDX-License-Identifier: Apache-2.0
 * Included by rows_loops.h: inner products with the usual lanes: of terms side by side, over stored entries, and of rows picked by entries.
 *
 * Each is the tree of core/fold.h: leaves of 512 terms, summed widened in the binary tree over leaves, which a carry stack gives: leaf m
 * closes as many subtrees as m has trailing ones. Blocks of rows share the right side; a result's own order of steps never changes. */

/* R inner products of n contiguous terms. Equal pointers are one load once this is inlined. */
ELEM_FN void NAME(leaf)(const int R, const E_T *const x[], const E_T *const y[], int64_t at, int64_t n, int skip, W_T *w) {
    VEC s[ROWS_MOST];
    int64_t i = 0;
    for (int r = 0; r < R; r++) s[r] = V(set)(0);
    for (; i + LANES <= n; i += LANES)
        for (int r = 0; r < R; r++) s[r] = V(step)(V(load)(x[r] + at + i), V(load)(y[r] + at + i), s[r], skip);
    if (i < n)
        for (int r = 0; r < R; r++)
            s[r] = V(stepn)(V(loadn)(x[r] + at + i, n - i), V(loadn)(y[r] + at + i, n - i), s[r], n - i, skip);
    for (int r = 0; r < R && R % 4; r++) w[r] = V(sum)(s[r]);
    for (int r = 0; r < R && R % 4 == 0; r += 4) V(sum4)(s + r, w + r);
}

/* Carry R leaves up the stack of subtrees; leaf: their number. */
ELEM_FN int NAME(carry)(const int R, W_T (*st)[ROWS_STATES], int top, int64_t leaf, const W_T *w) {
    for (int r = 0; r < R; r++) st[top][r] = w[r];
    for (; (leaf & 1) != 0; leaf >>= 1, top--)
        for (int r = 0; r < R; r++) st[top - 1][r] = W_ADD(st[top - 1][r], st[top][r]);
    return top + 1;
}
ELEM_FN void NAME(close)(const int R, W_T (*st)[ROWS_STATES], int top, W_T *w) {
    for (; top > 1; top--)
        for (int r = 0; r < R; r++) st[top - 2][r] = W_ADD(st[top - 2][r], st[top - 1][r]);
    for (int r = 0; r < R; r++) w[r] = st[0][r];
}

ELEM_FN void NAME(sums)(const int R, const E_T *const x[], const E_T *const y[], int64_t n, int skip, W_T *w) {
    W_T st[ROWS_DEPTH][ROWS_STATES];
    int top = 0;
    if (n <= CLF_LEAF) {
        NAME(leaf)(R, x, y, 0, n, skip, w);
        return;
    }
    for (int64_t i = 0; i < n; i += CLF_LEAF) {
        NAME(leaf)(R, x, y, i, n - i < CLF_LEAF ? n - i : CLF_LEAF, skip, w);
        top = NAME(carry)(R, st, top, i / CLF_LEAF, w);
    }
    NAME(close)(R, st, top, w);
}

static void NAME(packed)(const clf_dots *d) {
    W_T w[1];
    for (int64_t r = 0; r < d->rows; r++) {
        const E_T *x = (const E_T *)d->x + d->off[r], *y = (const E_T *)d->y + d->off[r];
        if (FAST && d->skip == 0)
            NAME(sums)(1, &x, &y, d->off[r + 1] - d->off[r], 0, w);
        else
            NAME(sums)(1, &x, &y, d->off[r + 1] - d->off[r], d->skip, w);
        ((E_T *)d->out)[r * d->ldo] = (E_T)w[0];
    }
}

/* A leaf of entries for as many columns as a vector has: each lane of the tree is a vector, entries take them by turns. */
ELEM_FN void NAME(leaf_spread)(const E_T *x, const int32_t *idx, const E_T *y, int64_t ldy, int64_t n, int skip, W_T *w) {
    VEC s[LANES];
    E_T lane[LANES][LANES];
    W_T t[LANES][LANES];
    int64_t i = 0;
    for (int l = 0; l < LANES; l++) s[l] = V(set)(0);
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) s[l] = V(step)(V(set)(x[i + l]), V(load)(y + (int64_t)idx[i + l] * ldy), s[l], skip);
    for (int l = 0; l < LANES; l++)
        if (i + l < n) s[l] = V(step)(V(set)(x[i + l]), V(load)(y + (int64_t)idx[i + l] * ldy), s[l], skip);
    for (int l = 0; l < LANES; l++) V(storen)(lane[l], s[l], LANES);
    for (int l = 0; l < LANES; l++)
        for (int c = 0; c < LANES; c++) t[l][c] = (W_T)lane[l][c];
    for (int h = LANES / 2; h > 0; h /= 2)
        for (int l = 0; l < h; l++)
            for (int c = 0; c < LANES; c++) t[l][c] = W_ADD(t[l][c], t[l + h][c]);
    for (int c = 0; c < LANES; c++) w[c] = t[0][c];
}
ELEM_FN void NAME(sum_spread)(const E_T *x, const int32_t *idx, const E_T *y, int64_t ldy, int64_t n, int skip, W_T *w) {
    W_T st[ROWS_DEPTH][LANES];
    int top = 0;
    if (n <= CLF_LEAF) {
        NAME(leaf_spread)(x, idx, y, ldy, n, skip, w);
        return;
    }
    for (int64_t i = 0; i < n; i += CLF_LEAF, top++) {
        NAME(leaf_spread)(x + i, idx + i, y, ldy, n - i < CLF_LEAF ? n - i : CLF_LEAF, skip, st[top]);
        for (int64_t m = i / CLF_LEAF; (m & 1) != 0; m >>= 1, top--)
            for (int c = 0; c < LANES; c++) st[top - 1][c] = W_ADD(st[top - 1][c], st[top][c]);
    }
    for (; top > 1; top--)
        for (int c = 0; c < LANES; c++) st[top - 2][c] = W_ADD(st[top - 2][c], st[top - 1][c]);
    for (int c = 0; c < LANES; c++) w[c] = st[0][c];
}
ELEM_FN void NAME(spread_by)(const clf_dots *d, int skip) {
    W_T w[LANES];
    for (int64_t r = 0; r < d->rows; r++)
        for (int64_t k = 0; k < d->cols; k += LANES) {
            int64_t from = d->off[r];
            E_T *o = (E_T *)d->out + r * d->ldo + k;
            NAME(sum_spread)((const E_T *)d->x + from, d->idx + from, (const E_T *)d->y + k, d->ldy, d->off[r + 1] - from, skip, w);
            for (int64_t c = 0; c < LANES && k + c < d->cols; c++) o[c] = (E_T)w[c];
        }
}
static void NAME(gathered_whole)(const clf_dots *d) {
    if (FAST && d->skip == 1)
        NAME(spread_by)(d, 1);
    else
        NAME(spread_by)(d, d->skip);
}

/* Results of the R entries from e on, of which there are n: behind the last one it takes the place of those that miss. x: each entry's
 * row; one row for all is one load once this is inlined. */
ELEM_FN void NAME(picked_some)(const int R, const clf_dots *d, const E_T *const x[], int64_t e, int n, int skip) {
    const E_T *ys[ROWS_MOST];
    W_T w[ROWS_MOST] = {0};
    for (int i = 0; i < R; i++) ys[i] = (const E_T *)d->y + (int64_t)d->idx[e + (i < n ? i : n - 1)] * d->ldy;
    NAME(sums)(R, x, ys, d->n, skip, w);
    for (int i = 0; i < n; i++) ((E_T *)d->out)[e + i] = (E_T)w[i];
}
ELEM_FN void NAME(picked_same)(const int R, const clf_dots *d, const E_T *row, int64_t e, int skip) {
    const E_T *x[ROWS_MOST];
    for (int i = 0; i < R; i++) x[i] = row;
    NAME(picked_some)(R, d, x, e, R, skip);
}

/* One result per entry; rows of y that lie apart by column are fetched ahead. Blocks of entries cross the ends of rows, since rows of a
 * very sparse matrix have less than a block. */
ELEM_FN void NAME(picked_by)(const clf_dots *d, int skip) {
    const E_T *y = d->y, *x[ROWS_MOST];
    int64_t r = 0, e = d->off[0], last = d->off[d->rows];
    for (; FAST && e < last; e += ROWS_PICKED) {
        int n = last - e < ROWS_PICKED ? (int)(last - e) : ROWS_PICKED;
        for (int64_t i = e + ROWS_MOST; i < e + ROWS_MOST + ROWS_PICKED && i < last; i++)
            TILE_PREFETCH(y + (int64_t)d->idx[i] * d->ldy, d->n * (int64_t)sizeof *y);
        while (d->off[r + 1] <= e) r++;
        if (d->off[r + 1] - e >= ROWS_PICKED) {
            NAME(picked_same)(ROWS_PICKED, d, (const E_T *)d->x + r * d->ldx, e, skip);
            continue;
        }
        for (int i = 0; i < ROWS_PICKED; i++) {
            while (i < n && d->off[r + 1] <= e + i) r++;
            x[i] = (const E_T *)d->x + r * d->ldx;
        }
        NAME(picked_some)(ROWS_PICKED, d, x, e, n, skip);
    }
    for (; e < last; e++) {
        if (e + 4 < last) TILE_PREFETCH(y + (int64_t)d->idx[e + 4] * d->ldy, d->n * (int64_t)sizeof *y);
        while (d->off[r + 1] <= e) r++;
        NAME(picked_same)(1, d, (const E_T *)d->x + r * d->ldx, e, skip);
    }
}
/* y is read across its rows: leaf by leaf through a copy. */
static void NAME(picked_across)(const clf_dots *d) {
    E_T copy[CLF_LEAF];
    W_T st[ROWS_DEPTH][ROWS_STATES], w[1];
    for (int64_t r = 0; r < d->rows; r++)
        for (int64_t e = d->off[r]; e < d->off[r + 1]; e++) {
            const E_T *x = (const E_T *)d->x + r * d->ldx, *y = (const E_T *)d->y + (int64_t)d->idx[e] * d->ldy, *c = copy;
            int top = 0;
            for (int64_t i = 0; i < d->n || i == 0; i += CLF_LEAF) {
                int64_t n = d->n - i < CLF_LEAF ? d->n - i : CLF_LEAF;
                for (int64_t l = 0; l < n; l++) copy[l] = y[(i + l) * d->sy];
                NAME(leaf)(1, (const E_T *const[1]){x + i}, &c, 0, n, d->skip, w);
                top = NAME(carry)(1, st, top, i / CLF_LEAF, w);
            }
            NAME(close)(1, st, top, w);
            ((E_T *)d->out)[e] = (E_T)w[0];
        }
}
static void NAME(picked)(const clf_dots *d) {
#if ROWS_HALVES
    if (d->sy == 1 && NAME(picked_halves)(d)) return;
#endif
    if (d->sy != 1)
        NAME(picked_across)(d);
    else if (FAST && d->skip == 0)
        NAME(picked_by)(d, 0);
    else
        NAME(picked_by)(d, d->skip);
}
