/* SPDX-License-Identifier: Apache-2.0
 * Included by rows_loops.h behind rows_side.h: rows by columns of the usual lanes. Four rows are taken by up to five columns, so that a vector
 * of either side is loaded once. */

/* Four rows by C columns over n terms, a leaf at most: every vector of either side is loaded once. The next four rows are asked for. */
ELEM_FN void NAME(tile_leaf)(const int C, const E_T *x, int64_t ldx, const E_T *y, int64_t ldy, int64_t n, W_T *w) {
    VEC s[ROWS_STATES], a[4];
    int64_t i = 0;
    for (int c = 0; c < 4 * C; c++) s[c] = V(set)(0);
    for (; i + LANES <= n; i += LANES) {
        for (int r = 0; r < 4; r++) a[r] = V(load)(x + r * ldx + i);
        for (int r = 0; r < 4; r++) __builtin_prefetch(x + (4 + r) * ldx + i, 0, 2);
        for (int c = 0; c < C; c++) {
            VEC b = V(load)(y + c * ldy + i);
            for (int r = 0; r < 4; r++) s[c * 4 + r] = V(step)(a[r], b, s[c * 4 + r], 0);
        }
    }
    for (int r = 0; r < 4 && i < n; r++) a[r] = V(loadn)(x + r * ldx + i, n - i);
    for (int c = 0; c < C && i < n; c++) {
        VEC b = V(loadn)(y + c * ldy + i, n - i);
        for (int r = 0; r < 4; r++) s[c * 4 + r] = V(stepn)(a[r], b, s[c * 4 + r], n - i, 0);
    }
    for (int c = 0; c < C; c++) V(sum4)(s + 4 * c, w + 4 * c);
}
static __attribute__((noinline)) void NAME(tile_tall)(int C, const clf_dots *d, const E_T *x, const E_T *y, W_T *w) {
    W_T st[ROWS_DEPTH][ROWS_STATES];
    int top = 0;
    for (int64_t i = 0; i < d->n; i += CLF_LEAF) {
        const int64_t n = d->n - i < CLF_LEAF ? d->n - i : CLF_LEAF;
        switch (C) {
        case 1: NAME(tile_leaf)(1, x + i, d->ldx, y + i, d->ldy, n, w); break;
        case 2: NAME(tile_leaf)(2, x + i, d->ldx, y + i, d->ldy, n, w); break;
        case 3: NAME(tile_leaf)(3, x + i, d->ldx, y + i, d->ldy, n, w); break;
        case 4: NAME(tile_leaf)(4, x + i, d->ldx, y + i, d->ldy, n, w); break;
        default: NAME(tile_leaf)(5, x + i, d->ldx, y + i, d->ldy, n, w);
        }
        top = NAME(carry)(4 * C, st, top, i / CLF_LEAF, w);
    }
    NAME(close)(4 * C, st, top, w);
}
/* Columns k .. k + C - 1 of four rows; C from 1 to 5. */
ELEM_FN void NAME(tile_columns)(const int C, const clf_dots *d, int64_t r, int64_t k) {
    const E_T *x = (const E_T *)d->x + r * d->ldx, *y = (const E_T *)d->y + k * d->ldy;
    E_T *o = (E_T *)d->out + r * d->ldo + k;
    W_T w[ROWS_STATES];
    if (d->n <= CLF_LEAF)
        NAME(tile_leaf)(C, x, d->ldx, y, d->ldy, d->n, w);
    else
        NAME(tile_tall)(C, d, x, y, w);
    for (int i = 0; i < 4; i++)
        for (int c = 0; c < C; c++) o[i * d->ldo + c] = (E_T)w[c * 4 + i];
}
/* All columns of whole fours of rows, in as few even groups as there can be; rows done. */
static int64_t NAME(tiles)(const clf_dots *d) {
    int64_t r = 0;
    for (; r + 4 <= d->rows; r += 4)
        for (int64_t k = 0, left = d->cols, n; left > 0; k += n, left -= n) {
            n = left == 6 ? 3 : left < 5 ? left : 5;
            switch (n) {
            case 1: NAME(tile_columns)(1, d, r, k); break;
            case 2: NAME(tile_columns)(2, d, r, k); break;
            case 3: NAME(tile_columns)(3, d, r, k); break;
            case 4: NAME(tile_columns)(4, d, r, k); break;
            default: NAME(tile_columns)(5, d, r, k);
            }
        }
    return r;
}
/* One column, rows of less than a page: several at once would be read in short runs by turns, which the hardware does not foresee. */
static bool NAME(run)(const clf_dots *d) { return d->sy == 0 && d->cols == 1 && d->n * (int64_t)sizeof(E_T) < ROWS_PAGE; }

ELEM_FN void NAME(along_by)(const clf_dots *d, int skip) {
    const E_T *x = d->x;
    E_T *o = d->out;
    int64_t r = 0;
    W_T w[4];
    for (; FAST && !NAME(run)(d) && r + 4 <= d->rows; r += 4, x += 4 * d->ldx, o += 4 * d->ldo)
        for (int64_t k = 0; k < d->cols; k++) {
            const E_T *y = (const E_T *)d->y + r * d->sy + k * d->ldy;
            const E_T *const xs[4] = {x, x + d->ldx, x + 2 * d->ldx, x + 3 * d->ldx};
            if (d->sy == 0)
                NAME(sums)(4, xs, (const E_T *const[4]){y, y, y, y}, d->n, skip, w);
            else
                NAME(sums)(4, xs, (const E_T *const[4]){y, y + d->sy, y + 2 * d->sy, y + 3 * d->sy}, d->n, skip, w);
            for (int i = 0; i < 4; i++) o[i * d->ldo + k] = (E_T)w[i];
        }
    for (; r < d->rows; r++, x += d->ldx, o += d->ldo)
        for (int64_t k = 0; k < d->cols; k++) {
            NAME(sums)(1, &x, (const E_T *const[1]){(const E_T *)d->y + r * d->sy + k * d->ldy}, d->n, skip, w);
            o[k] = (E_T)w[0];
        }
}
static void NAME(along)(const clf_dots *d) {
    clf_dots last = *d;
    if (FAST && d->skip == 0 && d->sy == 0 && d->n < NAME(side_terms)) {
        int64_t done = NAME(short_rows)(d);
        last.x = (const E_T *)d->x + done * d->ldx, last.out = (E_T *)d->out + done * d->ldo;
        last.rows -= done;
    } else if (FAST && ROWS_WIDE && d->skip == 0 && d->sy == 0 && d->cols > 1) {
        int64_t done = NAME(tiles)(d);
        last.x = (const E_T *)d->x + done * d->ldx, last.out = (E_T *)d->out + done * d->ldo;
        last.rows -= done;
    }
    if (FAST && d->skip == 0)
        NAME(along_by)(&last, 0);
    else
        NAME(along_by)(&last, d->skip);
}
