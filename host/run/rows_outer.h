/* SPDX-License-Identifier: Apache-2.0
 * Included by rows_loops.h: sums of products over rows, added to the cells q[j][k] that a work unit has, row by row in order. */

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

/* J cells j times C vectors of k over R rows, from row `row` on: the sums stay in registers meanwhile, and the rows behind these are asked
 * for, into the second cache. */
ELEM_FN void NAME(cells_tile)(const int J, const int C, const clf_outer_dot *u, int64_t row, int64_t rows, int64_t j, int64_t k, int skip) {
    const E_T *x = (const E_T *)u->x + row * u->ldx + j, *h = (const E_T *)u->h + row * u->ldh + k;
    E_T *q = (E_T *)u->q + j * u->ldq + k;
    VEC s[ROWS_SUMS], b[4];
    for (int i = 0; i < J * C; i++) s[i] = V(load)(q + i / C * u->ldq + i % C * LANES);
    for (int64_t r = 0; r < rows; r++, x += u->ldx, h += u->ldh) {
        if (J > 1) __builtin_prefetch(x + rows * u->ldx, 0, 2);
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
    for (; J > 4 && j + 4 <= u->nj; j += 4) NAME(cells_tile)(4, C, u, row, rows, j, k, skip);
    for (; J > 2 && j + 2 <= u->nj; j += 2) NAME(cells_tile)(2, C, u, row, rows, j, k, skip);
    for (; j < u->nj; j++) NAME(cells_tile)(1, C, u, row, rows, j, k, skip);
}
ELEM_FN void NAME(cells_by)(const clf_outer_dot *u, int skip) {
    for (int64_t r = 0, n; r < u->rows; r += n) {
        int64_t k = 0;
        n = u->rows - r < ROWS_PASS ? u->rows - r : ROWS_PASS;
        for (; FAST && ROWS_WIDE && k + 3 * LANES < u->nk; k += 4 * LANES) NAME(cells_strip)(4, 4, u, r, n, k, skip);
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

/* Columns of one row differ, so its entries never meet. C vectors of k from `k` on: those of a row stay in registers, and where they are
 * several, the cells that later entries meet are asked for. */
ELEM_FN void NAME(scatter_row)(const int C, const clf_outer_dot *u, int64_t r, int64_t k, int skip) {
    const E_T *x = u->x, *h = (const E_T *)u->h + r * u->ldh + k;
    E_T *q = (E_T *)u->q + k;
    int64_t last = u->off[u->rows], left = u->nk - k - (C - 1) * LANES;
    VEC b[4];
    for (int c = 0; c < C; c++) b[c] = V(loadn)(h + c * LANES, c + 1 < C || left > LANES ? LANES : left);
    for (int64_t e = u->off[r]; e < u->off[r + 1]; e++) {
        E_T *at = q + (int64_t)u->idx[e] * u->ldq;
        VEC a = V(set)(x[e]);
        if (C > 1 && e + ROWS_AHEAD < last)
            TILE_PREFETCH(q + (int64_t)u->idx[e + ROWS_AHEAD] * u->ldq, C * LANES * (int64_t)sizeof *q);
        for (int c = 0; c < C; c++) V(storen)(at + c * LANES, V(step)(a, b[c], V(load)(at + c * LANES), skip), LANES);
    }
}
/* Cells to whole vectors of k. */
ELEM_FN void NAME(scatter_whole)(const clf_outer_dot *u, int skip) {
    for (int64_t r = 0; r < u->rows; r++) {
        int64_t k = 0;
        for (; FAST && k + 3 * LANES < u->nk; k += 4 * LANES) NAME(scatter_row)(4, u, r, k, skip);
        for (; FAST && k + 2 * LANES < u->nk; k += 3 * LANES) NAME(scatter_row)(3, u, r, k, skip);
        for (; FAST && k + LANES < u->nk; k += 2 * LANES) NAME(scatter_row)(2, u, r, k, skip);
        for (; k < u->nk; k += LANES) NAME(scatter_row)(1, u, r, k, skip);
    }
}
/* Cells as they come: few of k. */
ELEM_FN void NAME(scatter_few)(const clf_outer_dot *u, int skip) {
    const E_T *x = u->x, *h = u->h;
    E_T *q = u->q;
    for (int64_t r = 0; r < u->rows; r++, h += u->ldh)
        for (int64_t e = u->off[r]; e < u->off[r + 1]; e++) {
            E_T *at = q + (int64_t)u->idx[e] * u->ldq, a = x[e];
            for (int64_t k = 0; k < u->nk; k++) at[k] = V(one)(a, h[k], at[k], skip);
        }
}
ELEM_FN void NAME(scatter_by)(const clf_outer_dot *u, int skip) {
    if (u->ldq % LANES == 0)
        NAME(scatter_whole)(u, skip);
    else
        NAME(scatter_few)(u, skip);
}
#if ROWS_HALVES
/* Entries from e on by halves of vectors, in each of which no two meet. The first that is left. */
ELEM_FN int64_t NAME(scatter_halves)(int64_t e, int64_t to, const E_T *x, const int32_t *idx, E_T b, E_T *q, int skip) {
    for (; e + LANES / 2 <= to; e += LANES / 2)
        V(hscatter)(q, idx + e, V(half)(V(hload)(x + e), V(hset)(b), V(hgather)(q, idx + e), skip));
    return e;
}
#endif
ELEM_FN void NAME(scatter_one)(const clf_outer_dot *u, int skip) {
    const E_T *x = u->x, *h = u->h;
    E_T *q = u->q;
    for (int64_t r = 0; r < u->rows; r++) {
        E_T b = h[r * u->ldh];
        int64_t e = u->off[r];
#if ROWS_HALVES
        e = NAME(scatter_halves)(e, u->off[r + 1], x, u->idx, b, q, skip);
#endif
        TILE_IVDEP for (; e < u->off[r + 1]; e++) q[u->idx[e]] = V(one)(x[e], b, q[u->idx[e]], skip);
    }
}
static void NAME(scatter)(const clf_outer_dot *u) {
    if (FAST && u->nk == 1 && u->ldq == 1 && u->skip <= 1)
        u->skip == 0 ? NAME(scatter_one)(u, 0) : NAME(scatter_one)(u, 1);
    else if (u->nk == 1 && u->ldq == 1)
        NAME(scatter_one)(u, u->skip);
    else if (FAST && u->skip == 0)
        NAME(scatter_by)(u, 0);
    else if (FAST && u->skip == 1)
        NAME(scatter_by)(u, 1);
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
