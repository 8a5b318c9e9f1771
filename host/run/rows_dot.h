/* SPDX-License-Identifier: Apache-2.0
 * Included by rows_loops.c once per element type, with ELEM_T set: the loops of clf_row_fns (tile_isa.h).
 *
 * Every inner product is the tree of core/fold.h: leaves of 512 terms, summed widened in the binary tree over leaves, which a carry stack
 * gives: leaf m closes as many subtrees as m has trailing ones. Blocks of rows share the right side; a result's own order of steps
 * never changes. */
#define NAME(what) ELEM_PASTE4(rows_, what, _, ELEM_T)
#define V(what) ELEM_PASTE4(v_, what, _, ELEM_T)
#define VEC V(vec)
#define LANES ELEM_PASTE4(V_, LANES, _, ELEM_T)
/* Floats have loops of their own for blocks of rows and for the case that no zero annihilates; integers do with one. */
#define FAST ((E_T)0.5 != 0)

/* ---- usual lanes --------------------------------------------------------------------------------------------------------- */

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
ELEM_FN int NAME(carry)(const int R, W_T (*st)[ROWS_MOST], int top, int64_t leaf, const W_T *w) {
    for (int r = 0; r < R; r++) st[top][r] = w[r];
    for (; (leaf & 1) != 0; leaf >>= 1, top--)
        for (int r = 0; r < R; r++) st[top - 1][r] = W_ADD(st[top - 1][r], st[top][r]);
    return top + 1;
}
ELEM_FN void NAME(close)(const int R, W_T (*st)[ROWS_MOST], int top, W_T *w) {
    for (; top > 1; top--)
        for (int r = 0; r < R; r++) st[top - 2][r] = W_ADD(st[top - 2][r], st[top - 1][r]);
    for (int r = 0; r < R; r++) w[r] = st[0][r];
}

ELEM_FN void NAME(sums)(const int R, const E_T *const x[], const E_T *const y[], int64_t n, int skip, W_T *w) {
    W_T st[ROWS_DEPTH][ROWS_MOST];
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

/* Column k of whole fours of rows shorter than four vectors, `full` of them whole: the right side stays in registers. */
ELEM_FN void NAME(short_column)(const int full, const clf_dots *d, int64_t k) {
    const E_T *x = d->x, *y = (const E_T *)d->y + k * d->ldy;
    E_T *o = (E_T *)d->out + k;
    int64_t rest = d->n - full * LANES;
    VEC b[4], s[4];
    W_T w[4];
    for (int c = 0; c < full; c++) b[c] = V(load)(y + c * LANES);
    b[full] = V(loadn)(y + full * LANES, rest);
    for (int64_t r = 0; r + 4 <= d->rows; r += 4, x += 4 * d->ldx, o += 4 * d->ldo) {
        for (int i = 0; i < 4; i++) {
            const E_T *xi = x + i * d->ldx;
            s[i] = V(set)(0);
            for (int c = 0; c < full; c++) s[i] = V(step)(V(load)(xi + c * LANES), b[c], s[i], 0);
            s[i] = V(stepn)(V(loadn)(xi + full * LANES, rest), b[full], s[i], rest, 0);
        }
        V(sum4)(s, w);
        for (int i = 0; i < 4; i++) o[i * d->ldo] = (E_T)w[i];
    }
}
static void NAME(short_columns)(const clf_dots *d) {
    int64_t k = 0;
    if (d->n < LANES)
        for (; k < d->cols; k++) NAME(short_column)(0, d, k);
    else if (d->n < 2 * LANES)
        for (; k < d->cols; k++) NAME(short_column)(1, d, k);
    else if (d->n < 3 * LANES)
        for (; k < d->cols; k++) NAME(short_column)(2, d, k);
    else
        for (; k < d->cols; k++) NAME(short_column)(3, d, k);
}
ELEM_FN void NAME(along_by)(const clf_dots *d, int skip) {
    const E_T *x = d->x;
    E_T *o = d->out;
    int64_t r = 0;
    W_T w[4];
    for (; FAST && r + 4 <= d->rows; r += 4, x += 4 * d->ldx, o += 4 * d->ldo)
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
    if (FAST && d->skip == 0 && d->sy == 0 && d->n < 4 * LANES) {
        int64_t done = d->rows & ~(int64_t)3;
        NAME(short_columns)(d);
        last.x = (const E_T *)d->x + done * d->ldx, last.out = (E_T *)d->out + done * d->ldo;
        last.rows -= done;
    }
    if (FAST && d->skip == 0)
        NAME(along_by)(&last, 0);
    else
        NAME(along_by)(&last, d->skip);
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

/* A leaf of stored entries: two chains of lanes would change bits, so independent rows hide the latency instead. */
ELEM_FN W_T NAME(leaf_gathered)(const E_T *x, const int32_t *idx, const E_T *y, int64_t ldy, int64_t n, int skip) {
    VEC s = V(set)(0);
    E_T rest[LANES];
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) s = V(step)(V(load)(x + i), V(gather)(y, idx + i, ldy), s, skip);
    if (i < n) {
        for (int64_t l = 0; l < n - i; l++) rest[l] = y[(int64_t)idx[i + l] * ldy];
        s = V(stepn)(V(loadn)(x + i, n - i), V(loadn)(rest, n - i), s, n - i, skip);
    }
    return V(sum)(s);
}
ELEM_FN W_T NAME(sum_gathered)(const E_T *x, const int32_t *idx, const E_T *y, int64_t ldy, int64_t n, int skip) {
    W_T st[ROWS_DEPTH][ROWS_MOST], w[1];
    int top = 0;
    if (n <= CLF_LEAF) return NAME(leaf_gathered)(x, idx, y, ldy, n, skip);
    for (int64_t i = 0; i < n; i += CLF_LEAF) {
        w[0] = NAME(leaf_gathered)(x + i, idx + i, y, ldy, n - i < CLF_LEAF ? n - i : CLF_LEAF, skip);
        top = NAME(carry)(1, st, top, i / CLF_LEAF, w);
    }
    NAME(close)(1, st, top, w);
    return w[0];
}
ELEM_FN void NAME(gathered_by)(const clf_dots *d, int64_t ldy, int skip) {
    for (int64_t r = 0; r < d->rows; r++) {
        int64_t from = d->off[r], n = d->off[r + 1] - from;
        for (int64_t k = 0; k < d->cols; k++)
            ((E_T *)d->out)[r * d->ldo + k] =
                (E_T)NAME(sum_gathered)((const E_T *)d->x + from, d->idx + from, (const E_T *)d->y + k * d->sy, ldy, n, skip);
    }
}
static void NAME(gathered)(const clf_dots *d) {
    if (FAST && d->skip == 0 && d->ldy == 1)
        NAME(gathered_by)(d, 1, 0);
    else
        NAME(gathered_by)(d, d->ldy, d->skip);
}

/* Results of the R entries from e on, of which there are n: behind the last one it takes the place of those that miss. */
ELEM_FN void NAME(picked_some)(const int R, const clf_dots *d, const E_T *x, int64_t e, int n, int skip) {
    const E_T *xs[ROWS_MOST], *ys[ROWS_MOST];
    W_T w[ROWS_MOST];
    for (int i = 0; i < R; i++) xs[i] = x, ys[i] = (const E_T *)d->y + (int64_t)d->idx[e + (i < n ? i : n - 1)] * d->ldy;
    NAME(sums)(R, xs, ys, d->n, skip, w);
    for (int i = 0; i < n; i++) ((E_T *)d->out)[e + i] = (E_T)w[i];
}

/* One result per entry; rows of y that lie apart by column are fetched ahead. */
ELEM_FN void NAME(picked_by)(const clf_dots *d, int skip) {
    const E_T *y = d->y;
    for (int64_t r = 0; r < d->rows; r++) {
        const E_T *x = (const E_T *)d->x + r * d->ldx;
        int64_t e = d->off[r], end = d->off[r + 1], last = d->off[d->rows];
        for (; FAST && e < end; e += ROWS_MOST) {
            for (int64_t i = e + ROWS_MOST; i < e + 2 * ROWS_MOST && i < last; i++)
                ROWS_PREFETCH(y + (int64_t)d->idx[i] * d->ldy, d->n * (int64_t)sizeof *y);
            if (end - e >= ROWS_MOST)
                NAME(picked_some)(ROWS_MOST, d, x, e, ROWS_MOST, skip);
            else
                NAME(picked_some)(ROWS_MOST, d, x, e, (int)(end - e), skip);
        }
        for (; e < end; e++) {
            if (e + 4 < last) ROWS_PREFETCH(y + (int64_t)d->idx[e + 4] * d->ldy, d->n * (int64_t)sizeof *y);
            NAME(picked_some)(1, d, x, e, 1, skip);
        }
    }
}
/* y is read across its rows: leaf by leaf through a copy. */
static void NAME(picked_across)(const clf_dots *d) {
    E_T copy[CLF_LEAF];
    W_T st[ROWS_DEPTH][ROWS_MOST], w[1];
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
    if (d->sy != 1)
        NAME(picked_across)(d);
    else if (FAST && d->skip == 0)
        NAME(picked_by)(d, 0);
    else
        NAME(picked_by)(d, d->skip);
}

/* ---- one lane: whole rows of the right side ------------------------------------------------------------------------------ */

/* R rows times C vectors of columns over terms at .. at + n - 1. */
ELEM_FN void NAME(block)(const int R, const int C, const E_T *x, int64_t ldx, const E_T *y, int64_t ldy, int64_t n, int skip, VEC *acc) {
    VEC s[R * C], b[C];
    for (int i = 0; i < R * C; i++) s[i] = V(set)(0);
    for (int64_t l = 0; l < n; l++, y += ldy) {
        for (int c = 0; c < C; c++) b[c] = V(load)(y + c * LANES);
        for (int r = 0; r < R; r++) {
            VEC a = V(set)(x[r * ldx + l]);
            for (int c = 0; c < C; c++) s[r * C + c] = V(step)(a, b[c], s[r * C + c], skip);
        }
    }
    for (int i = 0; i < R * C; i++) acc[i] = s[i];
}

/* The same above a leaf: whole vectors of sums go up the stack. */
static __attribute__((noinline)) void NAME(tall)(const clf_dots *d, int64_t row, int64_t col) {
    W_T st[ROWS_DEPTH][LANES];
    E_T lane[LANES];
    int top = 0;
    int64_t cols = d->cols - col < LANES ? d->cols - col : LANES;
    for (int64_t i = 0; i < d->n; i += CLF_LEAF) {
        VEC s;
        NAME(block)(1, 1, (const E_T *)d->x + row * d->ldx + i, 0, (const E_T *)d->y + i * d->ldy + col, d->ldy,
                    d->n - i < CLF_LEAF ? d->n - i : CLF_LEAF, d->skip, &s);
        V(storen)(lane, s, LANES);
        for (int l = 0; l < LANES; l++) st[top][l] = (W_T)lane[l];
        for (int64_t m = i / CLF_LEAF; (m & 1) != 0; m >>= 1, top--)
            for (int l = 0; l < LANES; l++) st[top - 1][l] = W_ADD(st[top - 1][l], st[top][l]);
        top++;
    }
    for (; top > 1; top--)
        for (int l = 0; l < LANES; l++) st[top - 2][l] = W_ADD(st[top - 2][l], st[top - 1][l]);
    for (int64_t l = 0; l < cols; l++) ((E_T *)d->out)[row * d->ldo + col + l] = (E_T)st[0][l];
}

ELEM_FN void NAME(whole_block)(const int R, const int C, const clf_dots *d, int64_t row, int64_t col, int skip) {
    VEC s[16];
    NAME(block)(R, C, (const E_T *)d->x + row * d->ldx, d->ldx, (const E_T *)d->y + col, d->ldy, d->n, skip, s);
    for (int r = 0; r < R; r++)
        for (int c = 0; c < C; c++) {
            int64_t at = col + c * LANES, n = d->cols - at < LANES ? d->cols - at : LANES;
            V(storen)((E_T *)d->out + (row + r) * d->ldo + at, s[r * C + c], n);
        }
}
ELEM_FN void NAME(whole_by)(const clf_dots *d, int skip) {
    int64_t row = 0;
    for (; FAST && row + ROWS_BLOCK <= d->rows; row += ROWS_BLOCK) {
        int64_t col = 0;
        for (; col + LANES < d->cols; col += 2 * LANES) NAME(whole_block)(ROWS_BLOCK, 2, d, row, col, skip);
        for (; col < d->cols; col += LANES) NAME(whole_block)(ROWS_BLOCK, 1, d, row, col, skip);
    }
    for (; row < d->rows; row++)
        for (int64_t col = 0; col < d->cols; col += LANES) NAME(whole_block)(1, 1, d, row, col, skip);
}
static void NAME(whole)(const clf_dots *d) {
    if (d->n > CLF_LEAF) {
        for (int64_t row = 0; row < d->rows; row++)
            for (int64_t col = 0; col < d->cols; col += LANES) NAME(tall)(d, row, col);
    } else if (FAST && d->skip == 0) {
        NAME(whole_by)(d, 0);
    } else {
        NAME(whole_by)(d, d->skip);
    }
}

/* Rows of y by column of the entry: C vectors of results from col on, the last of `last` cells. */
ELEM_FN void NAME(pick_block)(const int C, const E_T *x, const int32_t *idx, const E_T *y, int64_t ldy, int64_t n, int64_t last, int skip,
                              VEC *acc) {
    VEC s[C];
    for (int c = 0; c < C; c++) s[c] = V(set)(0);
    for (int64_t e = 0; e < n; e++) {
        const E_T *b = y + (int64_t)idx[e] * ldy;
        VEC a = V(set)(x[e]);
        if (e + 4 < n) ROWS_PREFETCH(y + (int64_t)idx[e + 4] * ldy, C * LANES * (int64_t)sizeof *y);
        for (int c = 0; c + 1 < C; c++) s[c] = V(step)(a, V(load)(b + c * LANES), s[c], skip);
        s[C - 1] = V(step)(a, V(loadn)(b + (C - 1) * LANES, last), s[C - 1], skip);
    }
    for (int c = 0; c < C; c++) acc[c] = s[c];
}
/* cols results of one row over a leaf of entries, in blocks of 8, 4, 3, 2 and 1 vectors. */
static void NAME(pick_leaf)(const E_T *x, const int32_t *idx, const E_T *y, int64_t ldy, int64_t n, int64_t cols, int skip, E_T *o) {
    VEC s[8];
    for (int64_t col = 0, m; col < cols; col += m) {
        int64_t vecs = (cols - col + LANES - 1) / LANES, C = vecs >= 8 ? 8 : vecs >= 4 ? 4 : vecs;
        m = C * LANES < cols - col ? C * LANES : cols - col;
        int64_t last = m - (C - 1) * LANES;
        if (FAST && C == 8)
            NAME(pick_block)(8, x, idx, y + col, ldy, n, last, skip, s);
        else if (FAST && C == 4)
            NAME(pick_block)(4, x, idx, y + col, ldy, n, last, skip, s);
        else if (FAST && C == 3)
            NAME(pick_block)(3, x, idx, y + col, ldy, n, last, skip, s);
        else if (FAST && C == 2)
            NAME(pick_block)(2, x, idx, y + col, ldy, n, last, skip, s);
        else
            for (int c = 0; c < C; c++)
                NAME(pick_block)(1, x, idx, y + col + c * LANES, ldy, n, c + 1 < C ? LANES : last, skip, s + c);
        for (int c = 0; c < C; c++) V(storen)(o + col + c * LANES, s[c], c + 1 < C ? LANES : last);
    }
}
static __attribute__((noinline)) void NAME(pick_tall)(const E_T *x, const int32_t *idx, const E_T *y, int64_t ldy, int64_t n, int64_t cols,
                                                      int skip, E_T *o) {
    W_T st[ROWS_DEPTH][8 * LANES];
    E_T lane[8 * LANES];
    int top = 0;
    for (int64_t i = 0; i < n; i += CLF_LEAF) {
        NAME(pick_leaf)(x + i, idx + i, y, ldy, n - i < CLF_LEAF ? n - i : CLF_LEAF, cols, skip, lane);
        for (int64_t l = 0; l < cols; l++) st[top][l] = (W_T)lane[l];
        for (int64_t m = i / CLF_LEAF; (m & 1) != 0; m >>= 1, top--)
            for (int64_t l = 0; l < cols; l++) st[top - 1][l] = W_ADD(st[top - 1][l], st[top][l]);
        top++;
    }
    for (; top > 1; top--)
        for (int64_t l = 0; l < cols; l++) st[top - 2][l] = W_ADD(st[top - 2][l], st[top - 1][l]);
    for (int64_t l = 0; l < cols; l++) o[l] = (E_T)st[0][l];
}
static void NAME(picked_whole)(const clf_dots *d) {
    for (int64_t r = 0; r < d->rows; r++) {
        int64_t from = d->off[r], n = d->off[r + 1] - from;
        for (int64_t col = 0, m; col < d->cols; col += m) {
            const E_T *x = (const E_T *)d->x + from, *y = (const E_T *)d->y + col;
            E_T *o = (E_T *)d->out + r * d->ldo + col;
            m = d->cols - col < 8 * LANES ? d->cols - col : 8 * LANES;
            if (n <= CLF_LEAF)
                NAME(pick_leaf)(x, d->idx + from, y, d->ldy, n, m, d->skip, o);
            else
                NAME(pick_tall)(x, d->idx + from, y, d->ldy, n, m, d->skip, o);
        }
    }
}

/* ---- sums of products over rows ------------------------------------------------------------------------------------------- */

/* q[j] over R rows in order. */
ELEM_FN void NAME(columns_of)(const int R, int64_t n, const E_T *x, int64_t ldx, const E_T *h, int64_t ldh, E_T *restrict q, int skip) {
    E_T b[8];
    for (int r = 0; r < R; r++) b[r] = h[r * ldh];
    TILE_IVDEP for (int64_t j = 0; j < n; j++) {
        E_T s = q[j];
        for (int r = 0; r < R; r++) s = V(one)(x[r * ldx + j], b[r], s, skip);
        q[j] = s;
    }
}
ELEM_FN void NAME(columns_by)(const clf_outer_dot *u, int skip) {
    const E_T *x = u->x, *h = u->h;
    E_T *q = u->q;
    int64_t r = 0;
    for (; FAST && r + 4 <= u->rows; r += 4)
        for (int64_t k = 0; k < u->nk; k++)
            NAME(columns_of)(4, u->nj, x + r * u->ldx, u->ldx, h + r * u->ldh + k, u->ldh, q + k * u->ldq, skip);
    for (; r < u->rows; r++)
        for (int64_t k = 0; k < u->nk; k++)
            NAME(columns_of)(1, u->nj, x + r * u->ldx, u->ldx, h + r * u->ldh + k, u->ldh, q + k * u->ldq, skip);
}
static void NAME(columns)(const clf_outer_dot *u) {
    if (FAST && u->skip == 0)
        NAME(columns_by)(u, 0);
    else
        NAME(columns_by)(u, u->skip);
}

/* J cells j times C vectors of k over R rows, from row `row` on: the sums stay in registers meanwhile. */
ELEM_FN void NAME(cells_tile)(const int J, const int C, const clf_outer_dot *u, int64_t row, int64_t rows, int64_t j, int64_t k, int skip) {
    const E_T *x = (const E_T *)u->x + row * u->ldx + j, *h = (const E_T *)u->h + row * u->ldh + k;
    E_T *q = (E_T *)u->q + j * u->ldq + k;
    VEC s[J * C], b[C];
    for (int i = 0; i < J * C; i++) s[i] = V(load)(q + i / C * u->ldq + i % C * LANES);
    for (int64_t r = 0; r < rows; r++, x += u->ldx, h += u->ldh) {
        for (int c = 0; c < C; c++) b[c] = V(load)(h + c * LANES);
        for (int i = 0; i < J; i++) {
            VEC a = V(set)(x[i]);
            for (int c = 0; c < C; c++) s[i * C + c] = V(step)(a, b[c], s[i * C + c], skip);
        }
    }
    for (int i = 0; i < J * C; i++) V(storen)(q + i / C * u->ldq + i % C * LANES, s[i], LANES);
}
ELEM_FN void NAME(cells_strip)(const int J, const int C, const clf_outer_dot *u, int64_t row, int64_t rows, int64_t k, int skip) {
    int64_t j = 0;
    for (; j + J <= u->nj; j += J) NAME(cells_tile)(J, C, u, row, rows, j, k, skip);
    for (; j < u->nj; j++) NAME(cells_tile)(1, C, u, row, rows, j, k, skip);
}
ELEM_FN void NAME(cells_by)(const clf_outer_dot *u, int skip) {
    for (int64_t r = 0, n; r < u->rows; r += n) {
        int64_t k = 0;
        n = u->rows - r < ROWS_PASS ? u->rows - r : ROWS_PASS;
        for (; FAST && k + LANES < u->nk; k += 2 * LANES) NAME(cells_strip)(ROWS_TILE / 2, 2, u, r, n, k, skip);
        for (; k < u->nk; k += LANES) NAME(cells_strip)(FAST ? ROWS_TILE : 1, 1, u, r, n, k, skip);
    }
}
static void NAME(cells)(const clf_outer_dot *u) {
    if (FAST && u->skip == 0)
        NAME(cells_by)(u, 0);
    else
        NAME(cells_by)(u, u->skip);
}

static void NAME(each)(const clf_outer_dot *u) {
    for (int64_t r = 0; r < u->rows; r++) {
        const E_T *x = (const E_T *)u->x + r * u->ldx, *h = (const E_T *)u->h + r * u->ldh;
        E_T *q = u->q;
        int skip = u->skip;
        TILE_IVDEP for (int64_t j = 0; j < u->nj; j++) q[j] = V(one)(x[j], h[j], q[j], skip);
    }
}

/* Columns of one row differ, so its entries never meet. */
ELEM_FN void NAME(scatter_by)(const clf_outer_dot *u, int skip) {
    const E_T *x = u->x, *h = u->h;
    E_T *q = u->q;
    for (int64_t r = 0; r < u->rows; r++, h += u->ldh)
        for (int64_t e = u->off[r]; e < u->off[r + 1]; e++) {
            E_T *at = q + (int64_t)u->idx[e] * u->ldq, a = x[e];
            int64_t k = 0;
            VEC b = V(set)(a);
            for (; k + LANES <= u->nk; k += LANES) V(storen)(at + k, V(step)(b, V(load)(h + k), V(load)(at + k), skip), LANES);
            for (; k < u->nk; k++) at[k] = V(one)(a, h[k], at[k], skip);
        }
}
ELEM_FN void NAME(scatter_one)(const clf_outer_dot *u, int skip) {
    const E_T *x = u->x, *h = u->h;
    E_T *q = u->q;
    for (int64_t r = 0; r < u->rows; r++) {
        E_T b = h[r * u->ldh];
        TILE_IVDEP for (int64_t e = u->off[r]; e < u->off[r + 1]; e++) q[u->idx[e]] = V(one)(x[e], b, q[u->idx[e]], skip);
    }
}
static void NAME(scatter)(const clf_outer_dot *u) {
    if (FAST && u->nk == 1 && u->ldq == 1 && u->skip == 0)
        NAME(scatter_one)(u, 0);
    else if (u->nk == 1 && u->ldq == 1)
        NAME(scatter_one)(u, u->skip);
    else if (FAST && u->skip == 0)
        NAME(scatter_by)(u, 0);
    else
        NAME(scatter_by)(u, u->skip);
}
static void NAME(scatter_each)(const clf_outer_dot *u) {
    const E_T *x = u->x, *h = u->h;
    E_T *q = u->q;
    for (int64_t e = u->off[0]; e < u->off[u->rows]; e++) q[u->idx[e]] = V(one)(x[e], h[e], q[u->idx[e]], u->skip);
}
static void NAME(scatter_sum)(int64_t n, const int32_t *idx, const void *px, void *pq) {
    const E_T *x = px;
    E_T *q = pq;
    for (int64_t e = 0; e < n; e++) q[idx[e]] = E_ADD(q[idx[e]], x[e]);
}

/* ---- scans: folds whose state is one value ---------------------------------------------------------------------------------- */

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

static const clf_row_fns NAME(fns) = {
    .along = NAME(along),
    .packed = NAME(packed),
    .gathered = NAME(gathered),
    .picked = NAME(picked),
    .whole = NAME(whole),
    .picked_whole = NAME(picked_whole),
    .columns = NAME(columns),
    .cells = NAME(cells),
    .each = NAME(each),
    .scatter = NAME(scatter),
    .scatter_each = NAME(scatter_each),
    .scatter_sum = NAME(scatter_sum),
    .scan = {[CLF_FOLD_SUM] = NAME(scan_SUM),
             [CLF_FOLD_SUMSQ] = NAME(scan_SUMSQ),
             [CLF_FOLD_MIN] = NAME(scan_MIN),
             [CLF_FOLD_MAX] = NAME(scan_MAX),
             [CLF_FOLD_PROD] = NAME(scan_PROD)},
    .gather = NAME(gather),
    .expand = NAME(expand),
    .lanes = LANES,
};
#undef NAME
#undef V
#undef VEC
#undef LANES
#undef FAST
