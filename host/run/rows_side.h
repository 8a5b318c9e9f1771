/* SPDX-License-Identifier: Apache-2.0
 * Included by rows_loops.h behind rows_dot.h: inner products of rows shorter than four vectors with the usual lanes.
 *
 * One column or two: a column stays in registers while all rows pass. More: as many rows as a vector has lanes pass side by side. They are
 * transposed, so that each lane of the tree of core/fold.h is a vector of rows, and lanes meet without a shuffle; results are transposed
 * back, a group of columns at a time. */
enum { NAME(side_terms) = 4 * LANES, NAME(side_columns) = 8 }; /* rows shorter than this; columns transposed together */

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

/* LANES rows of n cells to n vectors, and with them up to a multiple of four, what they hold is open. */
ELEM_FN void NAME(side_in)(int64_t n, const E_T *x, int64_t ldx, E_T (*to)[LANES]) {
    int64_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (int i = 0; i < LANES; i += 4) V(turn4)(x + i * ldx + j, ldx, 4, to[j] + i, LANES);
    for (int i = 0; i < LANES && j < n; i += 4) V(turn4)(x + i * ldx + j, ldx, n - j, to[j] + i, LANES);
}
/* n vectors to n cells of LANES rows. */
ELEM_FN void NAME(side_out)(int64_t n, E_T (*from)[LANES], E_T *o, int64_t ldo) {
    int64_t j = 0;
    for (; j + 4 <= n; j += 4)
        for (int i = 0; i < LANES; i += 4) V(turn4)(from[j] + i, LANES, 4, o + i * ldo + j, ldo);
    for (; j < n; j++)
        for (int i = 0; i < LANES; i++) o[i * ldo + j] = from[j][i];
}

/* Lane l: terms l, l + LANES and so on, `full` of them and one more before `rest`. */
ELEM_FN VEC NAME(side_lane)(const int full, const E_T (*x)[LANES], const E_T *y, int l, int64_t rest) {
    VEC s = V(set)(0);
    for (int i = 0; i < full; i++) s = V(step)(V(load)(x[i * LANES + l]), V(set)(y[i * LANES + l]), s, 0);
    return l < rest ? V(step)(V(load)(x[full * LANES + l]), V(set)(y[full * LANES + l]), s, 0) : s;
}
/* Lanes l and l + LANES / 2. */
ELEM_FN V(wide) NAME(side_pair)(const int full, const E_T (*x)[LANES], const E_T *y, int l, int64_t rest) {
    return V(meet)(NAME(side_lane)(full, x, y, l, rest), NAME(side_lane)(full, x, y, l + LANES / 2, rest));
}
/* The subtree of pairs l, l + 4 where there are as many, l + 2. */
ELEM_FN V(wide) NAME(side_four)(const int full, const E_T (*x)[LANES], const E_T *y, int l, int64_t rest) {
    V(wide) a = NAME(side_pair)(full, x, y, l, rest);
    if (LANES > 8) a = V(join)(a, NAME(side_pair)(full, x, y, l + 4, rest));
    V(wide) b = NAME(side_pair)(full, x, y, l + 2, rest);
    if (LANES > 8) b = V(join)(b, NAME(side_pair)(full, x, y, l + 6, rest));
    return V(join)(a, b);
}
/* A column of results, of rows of `full` whole vectors. */
ELEM_FN VEC NAME(side_whole)(const int full, const E_T (*x)[LANES], const E_T *y, int64_t rest) {
    return V(narrow)(V(join)(NAME(side_four)(full, x, y, 0, rest), NAME(side_four)(full, x, y, 1, rest)));
}
/* A function, or what it loads would be loaded before the loop over columns, and spilled. */
static __attribute__((noinline)) void NAME(side_column)(int64_t n, const E_T (*x)[LANES], const E_T *y, E_T *out) {
    VEC v;
    switch (n / LANES) {
    case 0: v = NAME(side_whole)(0, x, y, n); break;
    case 1: v = NAME(side_whole)(1, x, y, n - LANES); break;
    case 2: v = NAME(side_whole)(2, x, y, n - 2 * LANES); break;
    default: v = NAME(side_whole)(3, x, y, n - 3 * LANES);
    }
    V(storen)(out, v, LANES);
}
/* Blocks of LANES rows, the last ones again with rows before them; rows done: all, or none where they are too few. */
static int64_t NAME(side)(const clf_dots *d) {
    E_T x[NAME(side_terms)][LANES], out[NAME(side_columns)][LANES];
    for (int64_t next = 0; next < d->rows && LANES <= d->rows; next += LANES) {
        const int64_t row = next + LANES <= d->rows ? next : d->rows - LANES;
        const E_T *at = (const E_T *)d->x + row * d->ldx;
        TILE_PREFETCH((const char *)at + ROWS_PAGE, LANES * d->ldx * (int64_t)sizeof *at);
        NAME(side_in)(d->n, at, d->ldx, x);
        for (int64_t k = 0, n; k < d->cols; k += n) {
            n = d->cols - k < NAME(side_columns) ? d->cols - k : NAME(side_columns);
            for (int64_t c = 0; c < n; c++) NAME(side_column)(d->n, x, (const E_T *)d->y + (k + c) * d->ldy, out[c]);
            NAME(side_out)(n, out, (E_T *)d->out + row * d->ldo + k, d->ldo);
        }
    }
    return LANES <= d->rows ? d->rows : 0;
}
/* All columns; rows done. */
static int64_t NAME(short_rows)(const clf_dots *d) {
    if (d->cols > 2) return NAME(side)(d);
    NAME(short_columns)(d);
    return d->rows & ~(int64_t)3;
}
