/* SPDX-License-Identifier: Apache-2.0
 * Folds that choose and count instead of adding: known as far as the bounds decide. */
#include "tests/oracle/dd_fold.h"

/* ---- extremes ---- */

static dd_cell extreme(int op, double none, clf_dtype t, const dd_cell *x, int64_t n, int64_t stride) {
    dd_cell r = n ? x[0] : dd_cast(dd_cell_of(none), CLF_F64, t);
    bool nan = n && x[0].kind == DD_NAN;
    for (int64_t i = 1; i < n; i++) {
        dd_cell pair[2] = {r, x[i * stride]};
        nan = nan || pair[1].kind == DD_NAN;
        r = dd_op(op, t, pair);
    }
    r.unsigned_zero = r.kind == DD_KNOWN && r.e == 0 && r.v.hi == 0;
    return nan ? dd_nan() : r;
}
dd_cell dd_fold_min(clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree k) {
    (void)k;
    return extreme(CLF_MIN, INFINITY, t, x, n, stride);
}
dd_cell dd_fold_max(clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree k) {
    (void)k;
    return extreme(CLF_MAX, -INFINITY, t, x, n, stride);
}

/* a wins over b, which stands `later`. A NaN is the most extreme. */
static dd_truth wins(dd_cell a, dd_cell b, bool later, bool least) {
    bool an = a.kind == DD_NAN, bn = b.kind == DD_NAN;
    if (an || bn) return an && (!bn || later) ? DD_TRUE : a.kind == DD_UNKNOWN || b.kind == DD_UNKNOWN ? DD_MAYBE : DD_FALSE;
    if (later) return least ? dd_less_equal(a, b) : dd_less_equal(b, a);
    return least ? dd_less(a, b) : dd_less(b, a);
}
static dd_cell where(bool least, const dd_cell *x, int64_t n, int64_t stride) {
    int64_t best = 0;
    if (n == 0) return dd_cell_whole(0);
    for (int64_t i = 0; i < n; i++)
        if (x[i * stride].kind == DD_UNKNOWN) return dd_unknown();
    for (int64_t i = 1; i < n; i++) {
        dd_cell a = x[i * stride], b = x[best * stride];
        bool closer = a.kind != DD_NAN && b.kind != DD_NAN && (least ? a.v.hi < b.v.hi : a.v.hi > b.v.hi);
        dd_truth t = wins(a, b, false, least);
        best = t == DD_TRUE || (t == DD_MAYBE && closer) ? i : best;
    }
    for (int64_t i = 0; i < n; i++)
        if (i != best && wins(x[best * stride], x[i * stride], best < i, least) != DD_TRUE) return dd_unknown();
    return dd_cell_whole(best + 1);
}
dd_cell dd_fold_argmin(clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree k) {
    (void)t, (void)k;
    return where(true, x, n, stride);
}
dd_cell dd_fold_argmax(clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree k) {
    (void)t, (void)k;
    return where(false, x, n, stride);
}

/* ---- truth ---- */

typedef struct tally {
    int64_t yes, no, maybe;
} tally;
static tally count(const dd_cell *x, int64_t n, int64_t stride) {
    tally c = {0, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        dd_truth t = dd_truth_of(x[i * stride]);
        *(t == DD_TRUE ? &c.yes : t == DD_FALSE ? &c.no : &c.maybe) += 1;
    }
    return c;
}
dd_cell dd_fold_any(clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree k) {
    tally c = count(x, n, stride);
    (void)t, (void)k;
    return dd_of_truth(c.yes ? DD_TRUE : c.maybe ? DD_MAYBE : DD_FALSE);
}
dd_cell dd_fold_all(clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree k) {
    tally c = count(x, n, stride);
    (void)t, (void)k;
    return dd_of_truth(c.no ? DD_FALSE : c.maybe ? DD_MAYBE : DD_TRUE);
}
dd_cell dd_fold_nnz(clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree k) {
    tally c = count(x, n, stride);
    (void)t, (void)k;
    return c.maybe ? dd_unknown() : dd_cell_whole(c.yes);
}
