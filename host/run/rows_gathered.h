/* SPDX-License-Identifier: Apache-2.0
 * Included by rows_loops.h behind rows_dot.h: inner products of rows of stored entries with cells of one vector, or a few, that lie where the
 * entries' columns say.
 *
 * Short rows take two passes over a run of entries that fits the first cache. The first gathers the cells, which knows no rows, so it
 * never waits for one to end. The second sums rows up: of up to two vectors four at a time, whatever their lengths are, without a branch.
 * The first is no further ahead than that takes, so the processor sums while cells of a long vector are on their way. Where gathering is
 * a load of each cell (ROWS_HALVES), longer rows take one pass: their cells go from the loads to the sums. */
enum { NAME(run_entries) = 1024 };

/* A leaf of stored entries: two chains of lanes would change bits, so independent rows hide the latency instead. `there`, n or more: entries
 * that may be read, and are columns of y. */
ELEM_FN W_T NAME(leaf_gathered)(const E_T *x, const int32_t *idx, const E_T *y, int64_t ldy, int64_t n, int64_t there, int skip) {
    VEC s = V(set)(0);
    E_T rest[LANES];
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        __builtin_prefetch(x + i + NAME(run_entries));
        __builtin_prefetch(idx + i + NAME(run_entries));
        s = V(step)(V(load)(x + i), V(gather)(y, idx + i, ldy), s, skip);
    }
    if (i < n && there - i >= LANES)
        s = V(stepn)(V(load)(x + i), V(gather)(y, idx + i, ldy), s, n - i, skip);
    else if (i < n) {
        for (int64_t l = 0; l < n - i; l++) rest[l] = y[(int64_t)idx[i + l] * ldy];
        s = V(stepn)(V(loadn)(x + i, n - i), V(loadn)(rest, n - i), s, n - i, skip);
    }
    return V(sum)(s);
}
ELEM_FN W_T NAME(sum_gathered)(const E_T *x, const int32_t *idx, const E_T *y, int64_t ldy, int64_t n, int64_t there, int skip) {
    W_T st[ROWS_DEPTH][ROWS_STATES], w[1];
    int top = 0;
    if (n <= CLF_LEAF) return NAME(leaf_gathered)(x, idx, y, ldy, n, there, skip);
    for (int64_t i = 0; i < n; i += CLF_LEAF) {
        const int64_t some = n - i < CLF_LEAF ? n - i : CLF_LEAF;
        w[0] = NAME(leaf_gathered)(x + i, idx + i, y, ldy, some, there - i, skip);
        top = NAME(carry)(1, st, top, i / CLF_LEAF, w);
    }
    NAME(close)(1, st, top, w);
    return w[0];
}
/* Row r of one column y. */
ELEM_FN void NAME(gathered_row)(const clf_dots *d, int64_t r, const E_T *y, int64_t ldy, int skip, E_T *o) {
    const int64_t from = d->off[r], n = d->off[r + 1] - from, there = d->off[d->rows] - from;
    o[r * d->ldo] = (E_T)NAME(sum_gathered)((const E_T *)d->x + from, d->idx + from, y, ldy, n, there, skip);
}

/* Four rows of up to G vectors each, 1 or 2. Lanes behind the end have zeros on both sides: they leave a sum alone which is not -0, as one
 * that began with 0 is not, or where a zero annihilates. */
ELEM_FN void NAME(four_rows)(const int G, const E_T *x, const E_T *y, int64_t from, const int64_t *off, int skip, W_T *w) {
    VEC s[4];
    for (int i = 0; i < 4; i++) {
        const E_T *xi = x + off[i], *yi = y + (off[i] - from);
        const int64_t n = off[i + 1] - off[i];
        s[i] = V(set)(0);
        for (int g = 0; g < G; g++) {
            const int64_t m = G == 1 ? n : g == 0 ? (n < LANES ? n : LANES) : (n > LANES ? n - LANES : 0);
            const VEC a = V(loadn)(xi + g * LANES, m), b = V(loadn)(yi + g * LANES, m);
            s[i] = g == 0 || (skip & 1) != 0 ? V(step)(a, b, s[i], skip) : V(stepn)(a, b, s[i], m, skip);
        }
    }
    V(sum4)(s, w);
}
/* Cells of y from e up to `want`, or a few more of n, for entries x whose columns are idx; what of these the next run reads is asked for. Not
 * by the processor's own gathering where that is slower than loads. The first that is not there. */
ELEM_FN int64_t NAME(cells_of)(int64_t e, int64_t want, int64_t n, E_T *o, const E_T *x, const E_T *y, const int32_t *idx, int64_t ldy) {
    for (; e < want && e + 8 <= n; e += 8) {
        ROWS_ONE_BY_ONE;
        __builtin_prefetch(x + e + NAME(run_entries));
        __builtin_prefetch(idx + e + NAME(run_entries));
        for (int i = 0; i < 8; i++) o[e + i] = y[(int64_t)idx[e + i] * ldy];
    }
    for (; e < want; e++) o[e] = y[(int64_t)idx[e] * ldy];
    return e;
}
/* Row r's sum, or those of the four rows from r on: their number. y: of the entries from `from` on. */
ELEM_FN int NAME(some_rows)(const clf_dots *d, int64_t r, int64_t rows, const E_T *y, int64_t from, int skip, W_T *w) {
    const E_T *x = d->x;
    const int64_t *off = d->off + r;
    int64_t most = 0;
    for (int i = 0; i < 4 && r + 4 <= rows; i++) most = off[i + 1] - off[i] > most ? off[i + 1] - off[i] : most;
    if (r + 4 <= rows && most <= LANES) return NAME(four_rows)(1, x, y, from, off, skip, w), 4;
    if (r + 4 <= rows && most <= 2 * LANES) return NAME(four_rows)(2, x, y, from, off, skip, w), 4;
    x += off[0], y += off[0] - from;
    NAME(sums)(1, &x, &y, off[1] - off[0], skip, w);
    return 1;
}
/* Rows from r on whose entries are gathered together; y: of one column. The first row that is not done. */
ELEM_FN int64_t NAME(gathered_run)(const clf_dots *d, int64_t r, const E_T *y, int64_t ldy, int skip, E_T *o) {
    E_T cell[NAME(run_entries)];
    W_T w[4];
    int64_t to = r, from = d->off[r];
    while (to < d->rows && d->off[to + 1] - from <= NAME(run_entries)) to++;
    if (to == r) {
        NAME(gathered_row)(d, r, y, ldy, skip, o);
        return r + 1;
    }
    const int64_t entries = d->off[to] - from;
    int64_t have = 0;
    for (int n; r < to; r += n) {
        const int64_t want = d->off[r + 4 < to ? r + 4 : to] - from;
        have = NAME(cells_of)(have, want, entries, cell, (const E_T *)d->x + from, y, d->idx + from, ldy);
        n = NAME(some_rows)(d, r, to, cell, from, skip, w);
        for (int i = 0; i < n; i++) o[(r + i) * d->ldo] = (E_T)w[i];
    }
    return to;
}
/* Are rows long enough for a pass of their own? */
ELEM_FN bool NAME(gathered_long)(const clf_dots *d) {
    return ROWS_HALVES && d->off[d->rows] - d->off[0] > 2 * LANES * d->rows;
}
ELEM_FN void NAME(gathered_by)(const clf_dots *d, int64_t ldy, int skip) {
    const bool alone = NAME(gathered_long)(d);
    for (int64_t k = 0; k < d->cols; k++) {
        const E_T *y = (const E_T *)d->y + k * d->sy;
        E_T *o = (E_T *)d->out + k;
        for (int64_t r = 0; r < d->rows && alone; r++) NAME(gathered_row)(d, r, y, ldy, skip, o);
        for (int64_t r = 0; r < d->rows && !alone;) r = NAME(gathered_run)(d, r, y, ldy, skip, o);
    }
}
static void NAME(gathered)(const clf_dots *d) {
    if (FAST && d->skip == 0 && d->ldy == 1)
        NAME(gathered_by)(d, 1, 0);
    else if (FAST && d->skip == 1 && d->ldy == 1)
        NAME(gathered_by)(d, 1, 1);
    else
        NAME(gathered_by)(d, d->ldy, d->skip);
}
