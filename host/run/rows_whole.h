/* SPDX-License-Identifier: Apache-2.0
 * Included by rows_loops.h: inner products with one lane, which take whole rows of the right side: a block of rows by a few vectors of
 * columns stays in registers, four by four where a core has 32 of them. More rows at a time would share more loads of the right side, but
 * the memory would see more short runs side by side (32 columns: 1.2 times as long). Leaves and the stack over them are those of
 * rows_dot.h, whole vectors of sums at a time. */

/* R rows times C vectors of columns over terms at .. at + n - 1. The next R rows are asked for meanwhile, as one run: the hardware does not
 * foresee short runs that are read by turns. (Sums are an array of fixed size, or a hint would keep them out of registers.) */
ELEM_FN void NAME(block)(const int R, const int C, const E_T *x, int64_t ldx, const E_T *y, int64_t ldy, int64_t n, int skip, VEC *acc) {
    VEC s[ROWS_SUMS], b[4];
    for (int i = 0; i < R * C; i++) s[i] = V(set)(0);
    for (int64_t l = 0; l < n; l++, y += ldy) {
        if (R > 1) __builtin_prefetch(x + R * ldx + l * R);
        for (int c = 0; c < C; c++) b[c] = V(load)(y + c * LANES);
        for (int r = 0; r < R; r++) {
            VEC a = V(set)(x[r * ldx + l]);
            for (int c = 0; c < C; c++) s[r * C + c] = V(step)(a, b[c], s[r * C + c], skip);
        }
    }
    for (int i = 0; i < R * C; i++) acc[i] = s[i];
}

/* The same above a leaf: whole vectors of sums go up the stack. */
ELEM_FN void NAME(tall)(const int R, const int C, const clf_dots *d, int64_t row, int64_t col, int skip, VEC *acc) {
    enum { MOST = (FAST ? ROWS_SUMS : 1) * LANES }; /* others go by one vector */
    W_T st[ROWS_DEPTH][MOST];
    E_T lane[MOST];
    int top = 0;
    for (int64_t i = 0; i < d->n; i += CLF_LEAF) {
        NAME(block)(R, C, (const E_T *)d->x + row * d->ldx + i, d->ldx, (const E_T *)d->y + i * d->ldy + col, d->ldy,
                    d->n - i < CLF_LEAF ? d->n - i : CLF_LEAF, skip, acc);
        for (int v = 0; v < R * C; v++) V(storen)(lane + v * LANES, acc[v], LANES);
        for (int l = 0; l < R * C * LANES; l++) st[top][l] = (W_T)lane[l];
        for (int64_t m = i / CLF_LEAF; (m & 1) != 0; m >>= 1, top--)
            for (int l = 0; l < R * C * LANES; l++) st[top - 1][l] = W_ADD(st[top - 1][l], st[top][l]);
        top++;
    }
    for (; top > 1; top--)
        for (int l = 0; l < R * C * LANES; l++) st[top - 2][l] = W_ADD(st[top - 2][l], st[top - 1][l]);
    for (int l = 0; l < R * C * LANES; l++) lane[l] = (E_T)st[0][l];
    for (int v = 0; v < R * C; v++) acc[v] = V(load)(lane + v * LANES);
}

/* R rows of results from `row` on, C vectors from `col` on; tall: above a leaf. */
ELEM_FN void NAME(whole_block)(const int R, const int C, const int tall, const clf_dots *d, int64_t row, int64_t col, int skip) {
    VEC s[ROWS_SUMS];
    if (tall)
        NAME(tall)(R, C, d, row, col, skip, s);
    else
        NAME(block)(R, C, (const E_T *)d->x + row * d->ldx, d->ldx, (const E_T *)d->y + col, d->ldy, d->n, skip, s);
    for (int r = 0; r < R; r++)
        for (int c = 0; c < C; c++) {
            int64_t at = col + c * LANES, n = d->cols - at < LANES ? d->cols - at : LANES;
            V(storen)((E_T *)d->out + (row + r) * d->ldo + at, s[r * C + c], n);
        }
}
/* From `row` on while R rows are left, `most` vectors of columns at a time, then one: the rows done with. */
ELEM_FN int64_t NAME(whole_rows)(const int R, const int most, const clf_dots *d, int64_t row, int skip) {
    for (; row + R <= d->rows; row += R) {
        int64_t col = 0;
        for (; col + (most - 1) * LANES < d->cols; col += most * LANES) NAME(whole_block)(R, most, 0, d, row, col, skip);
        for (; col < d->cols; col += LANES) NAME(whole_block)(R, 1, 0, d, row, col, skip);
    }
    return row;
}
ELEM_FN void NAME(whole_by)(const clf_dots *d, int skip) {
    int64_t row = 0;
    if (FAST && ROWS_WIDE && d->cols > 3 * LANES)
        row = NAME(whole_rows)(4, 4, d, row, skip);
    else if (FAST)
        row = NAME(whole_rows)(ROWS_BLOCK, 2, d, row, skip);
    NAME(whole_rows)(1, 1, d, row, skip);
}

/* Above a leaf all rows take the same columns in turn, for what these read of a tall right side is no longer near after one of all. */
ELEM_FN void NAME(tall_strip)(const int R, const int C, const clf_dots *d, int64_t col, int skip) {
    int64_t row = 0;
    for (; R > 1 && row + R <= d->rows; row += R) NAME(whole_block)(R, C, 1, d, row, col, skip);
    for (; row < d->rows; row++)
        for (int c = 0; c < C && col + c * LANES < d->cols; c++) NAME(whole_block)(1, 1, 1, d, row, col + c * LANES, skip);
}
static __attribute__((noinline)) void NAME(tall_by)(const clf_dots *d) {
    const int R = ROWS_WIDE ? 4 : ROWS_BLOCK, C = ROWS_WIDE ? 4 : 2;
    int64_t col = 0;
    for (; FAST && d->skip == 0 && col + (C - 1) * LANES < d->cols; col += C * LANES) NAME(tall_strip)(R, C, d, col, 0);
    for (; FAST && d->skip == 0 && col < d->cols; col += LANES) NAME(tall_strip)(ROWS_BLOCK, 1, d, col, 0);
    for (; col < d->cols; col += LANES) NAME(tall_strip)(1, 1, d, col, d->skip);
}
static void NAME(whole)(const clf_dots *d) {
    if (d->n > CLF_LEAF)
        NAME(tall_by)(d);
    else if (FAST && d->skip == 0)
        NAME(whole_by)(d, 0);
    else
        NAME(whole_by)(d, d->skip);
}

/* Rows of y by column of the entry: C vectors of results from col on, the last of `last` cells. Of idx, `ahead` may be read: rows of y are
 * asked for across the end of x's row. */
ELEM_FN void NAME(pick_block)(const int C, const E_T *x, const int32_t *idx, int64_t ahead, const E_T *y, int64_t ldy, int64_t n,
                              int64_t last, int skip, VEC *acc) {
    VEC s[8];
    for (int c = 0; c < C; c++) s[c] = V(set)(0);
    for (int64_t e = 0; e < n; e++) {
        const E_T *b = y + (int64_t)idx[e] * ldy;
        VEC a = V(set)(x[e]);
        if (e + ROWS_AHEAD < ahead) TILE_PREFETCH(y + (int64_t)idx[e + ROWS_AHEAD] * ldy, C * LANES * (int64_t)sizeof *y);
        for (int c = 0; c + 1 < C; c++) s[c] = V(step)(a, V(load)(b + c * LANES), s[c], skip);
        s[C - 1] = V(step)(a, V(loadn)(b + (C - 1) * LANES, last), s[C - 1], skip);
    }
    for (int c = 0; c < C; c++) acc[c] = s[c];
}
/* cols results of one row over a leaf of entries, in blocks of 8, 4, 3, 2 and 1 vectors. */
ELEM_FN void NAME(pick_leaf)(const E_T *x, const int32_t *idx, int64_t ahead, const E_T *y, int64_t ldy, int64_t n, int64_t cols, int skip,
                             E_T *o) {
    VEC s[8];
#if ROWS_HALVES
    if ((skip & 2) == 0) {
        NAME(half_leaf)(x, idx, ahead, y, ldy, n, cols, skip, o);
        return;
    }
#endif
    for (int64_t col = 0, m; col < cols; col += m) {
        int64_t vecs = (cols - col + LANES - 1) / LANES, C = vecs >= 8 ? 8 : vecs >= 4 ? 4 : vecs;
        m = C * LANES < cols - col ? C * LANES : cols - col;
        int64_t last = m - (C - 1) * LANES;
        if (FAST && C == 8)
            NAME(pick_block)(8, x, idx, ahead, y + col, ldy, n, last, skip, s);
        else if (FAST && C == 4)
            NAME(pick_block)(4, x, idx, ahead, y + col, ldy, n, last, skip, s);
        else if (FAST && C == 3)
            NAME(pick_block)(3, x, idx, ahead, y + col, ldy, n, last, skip, s);
        else if (FAST && C == 2)
            NAME(pick_block)(2, x, idx, ahead, y + col, ldy, n, last, skip, s);
        else
            for (int c = 0; c < C; c++)
                NAME(pick_block)(1, x, idx, ahead, y + col + c * LANES, ldy, n, c + 1 < C ? LANES : last, skip, s + c);
        for (int c = 0; c < C; c++) V(storen)(o + col + c * LANES, s[c], c + 1 < C ? LANES : last);
    }
}
static __attribute__((noinline)) void NAME(pick_tall)(const E_T *x, const int32_t *idx, const E_T *y, int64_t ldy, int64_t n, int64_t cols,
                                                      int skip, E_T *o) {
    W_T st[ROWS_DEPTH][8 * LANES];
    E_T lane[8 * LANES];
    int top = 0;
    for (int64_t i = 0; i < n; i += CLF_LEAF) {
        NAME(pick_leaf)(x + i, idx + i, n - i, y, ldy, n - i < CLF_LEAF ? n - i : CLF_LEAF, cols, skip, lane);
        for (int64_t l = 0; l < cols; l++) st[top][l] = (W_T)lane[l];
        for (int64_t m = i / CLF_LEAF; (m & 1) != 0; m >>= 1, top--)
            for (int64_t l = 0; l < cols; l++) st[top - 1][l] = W_ADD(st[top - 1][l], st[top][l]);
        top++;
    }
    for (; top > 1; top--)
        for (int64_t l = 0; l < cols; l++) st[top - 2][l] = W_ADD(st[top - 2][l], st[top - 1][l]);
    for (int64_t l = 0; l < cols; l++) o[l] = (E_T)st[0][l];
}
ELEM_FN void NAME(picked_whole_by)(const clf_dots *d, int skip) {
    for (int64_t r = 0; r < d->rows; r++) {
        int64_t from = d->off[r], n = d->off[r + 1] - from, ahead = d->off[d->rows] - from;
        for (int64_t col = 0, m; col < d->cols; col += m) {
            const E_T *x = (const E_T *)d->x + from, *y = (const E_T *)d->y + col;
            E_T *o = (E_T *)d->out + r * d->ldo + col;
            m = d->cols - col < 8 * LANES ? d->cols - col : 8 * LANES;
            if (n <= CLF_LEAF)
                NAME(pick_leaf)(x, d->idx + from, ahead, y, d->ldy, n, m, skip, o);
            else
                NAME(pick_tall)(x, d->idx + from, y, d->ldy, n, m, skip, o);
        }
    }
}
static void NAME(picked_whole)(const clf_dots *d) {
    if (FAST && d->skip == 1)
        NAME(picked_whole_by)(d, 1);
    else
        NAME(picked_whole_by)(d, d->skip);
}
