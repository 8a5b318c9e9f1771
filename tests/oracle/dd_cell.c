/* SPDX-License-Identifier: Apache-2.0
 * Cells with bounds: making, casting, comparing. */
#include "tests/oracle/dd_cell.h"


double dd_ulp(clf_dtype t, double x) {
    int digits = t == CLF_F32 ? 24 : 53, least = t == CLF_F32 ? -126 : -1022;
    int e = x == 0 || !isfinite(x) ? least : ilogb(x);
    return ldexp(1.0, (e < least ? least : e) - (digits - 1));
}

dd_cell dd_cell_of(double x) {
    if (isnan(x)) return dd_nan();
    return (dd_cell){.v = dd_of(x), .kind = isinf(x) ? DD_INF : DD_KNOWN};
}

dd_cell dd_cell_whole(dd_wide x) {
    double hi = (double)x;
    return (dd_cell){.v = {hi, (double)(x - (dd_wide)hi)}, .kind = DD_KNOWN};
}

dd_wide dd_whole(dd_cell x) { return (dd_wide)x.v.hi + (dd_wide)x.v.lo; }

double dd_native(dd_cell x) { return x.kind == DD_NAN ? (double)NAN : x.v.hi; }

dd_cell dd_bounded(clf_dtype t, dd v, double e) {
    if (!(fabs(v.hi) + e <= dd_most(t) / 4)) return dd_unknown();
    return (dd_cell){.v = v, .e = e * DD_UP, .kind = DD_KNOWN};
}

dd_cell dd_rounded(clf_dtype t, dd v, double e) { return dd_bounded(t, v, e + dd_unit(t) * (fabs(v.hi) + e) * DD_UP + 4 * dd_least(t)); }

/* ---- intervals: doubles at or outside the ends ---- */

double dd_low(dd_cell x) { return x.e == 0 ? x.v.hi : nextafter((x.v.hi - x.e * DD_UP) + x.v.lo, -INFINITY); }
double dd_high(dd_cell x) { return x.e == 0 ? x.v.hi : nextafter((x.v.hi + x.e * DD_UP) + x.v.lo, INFINITY); }

/* ---- casts ---- */

static dd_wide saturated(double x, clf_dtype t) {
    static const double least[] = {[CLF_I32] = -0x1p31, [CLF_I64] = -0x1p63, [CLF_U8] = 0};
    static const double end[] = {[CLF_I32] = 0x1p31, [CLF_I64] = 0x1p63, [CLF_U8] = 256};
    if (x < least[t]) return (dd_wide)least[t];
    return x >= end[t] ? (dd_wide)end[t] - 1 : (dd_wide)x;
}

static dd_cell to_integer(dd_cell x, clf_dtype to) {
    if (x.kind == DD_NAN) return dd_cell_whole(0);
    dd_wide lo = saturated(dd_low(x), to), hi = saturated(dd_high(x), to);
    return lo == hi ? dd_cell_whole(lo) : dd_unknown();
}

static dd_cell narrowed(dd_cell x, clf_dtype to) {
    dd_wide n = dd_whole(x);
    switch (to) {
    case CLF_I32: return dd_cell_whole((int32_t)(uint32_t)n);
    case CLF_U8: return dd_cell_whole((uint8_t)n);
    default: return dd_cell_whole((int64_t)(uint64_t)n);
    }
}

static dd_cell to_real(dd_cell x, clf_dtype from, clf_dtype to) {
    if (!dd_real(from)) return dd_cell_of(to == CLF_F32 ? (double)(float)(int64_t)dd_whole(x) : (double)(int64_t)dd_whole(x));
    if (to == CLF_F64 || x.kind != DD_KNOWN) return x;
    if (x.e > 0) return dd_rounded(to, x.v, x.e);
    dd_cell r = dd_cell_of((double)(float)x.v.hi);
    r.unsigned_zero = x.unsigned_zero;
    return r;
}

dd_cell dd_cast(dd_cell x, clf_dtype from, clf_dtype to) {
    if (x.kind == DD_UNKNOWN || from == to) return x;
    if (dd_real(to)) return to_real(x, from, to);
    return dd_real(from) ? to_integer(x, to) : narrowed(x, to);
}

/* ---- comparing ---- */

dd_truth dd_truth_of(dd_cell x) {
    if (x.kind == DD_UNKNOWN) return DD_MAYBE;
    if (x.kind != DD_KNOWN) return DD_TRUE;
    if (x.e == 0) return x.v.hi != 0 ? DD_TRUE : DD_FALSE;
    return dd_low(x) > 0 || dd_high(x) < 0 ? DD_TRUE : DD_MAYBE;
}

static dd_truth decided(bool yes) { return yes ? DD_TRUE : DD_FALSE; }

/* Of exact cells that are not NaN. */
static int compared(dd_cell a, dd_cell b) {
    if (a.kind == DD_INF || b.kind == DD_INF) return a.v.hi < b.v.hi ? -1 : a.v.hi > b.v.hi;
    return dd_cmp(a.v, b.v);
}

dd_truth dd_less(dd_cell a, dd_cell b) {
    if (a.kind == DD_NAN || b.kind == DD_NAN) return DD_FALSE;
    if (a.kind == DD_UNKNOWN || b.kind == DD_UNKNOWN) return DD_MAYBE;
    if (dd_exact(a) && dd_exact(b)) return decided(compared(a, b) < 0);
    if (dd_high(a) < dd_low(b)) return DD_TRUE;
    return dd_low(a) >= dd_high(b) ? DD_FALSE : DD_MAYBE;
}

dd_truth dd_less_equal(dd_cell a, dd_cell b) {
    if (a.kind == DD_NAN || b.kind == DD_NAN) return DD_FALSE;
    dd_truth more = dd_less(b, a);
    return more == DD_MAYBE ? DD_MAYBE : decided(more == DD_FALSE);
}

dd_truth dd_equal(dd_cell a, dd_cell b) {
    if (a.kind == DD_NAN || b.kind == DD_NAN) return DD_FALSE;
    if (a.kind == DD_UNKNOWN || b.kind == DD_UNKNOWN) return DD_MAYBE;
    if (dd_exact(a) && dd_exact(b)) return decided(compared(a, b) == 0);
    return dd_high(a) < dd_low(b) || dd_high(b) < dd_low(a) ? DD_FALSE : DD_MAYBE;
}

dd_cell dd_of_truth(dd_truth t) { return t == DD_MAYBE ? dd_unknown() : dd_cell_of(t == DD_TRUE); }

dd_cell dd_either(dd_cell a, dd_cell b) {
    if (a.kind != b.kind || a.kind == DD_UNKNOWN || a.kind == DD_NAN) return a.kind == b.kind ? a : dd_unknown();
    if (a.kind == DD_INF) return a.v.hi == b.v.hi ? a : dd_unknown();
    double apart = fabs(dd_sub(a.v, b.v).hi) * DD_UP;
    if (apart > a.e + b.e) return dd_unknown();
    a.unsigned_zero = a.e == 0 && a.v.hi == 0;
    a.e = fmax(a.e, apart + b.e);
    return a;
}

dd_cell dd_annihilated(dd_cell x, dd_cell a, dd_truth annihilate) {
    dd_cell zero = {.kind = DD_KNOWN, .unsigned_zero = true};
    dd_truth there = dd_truth_of(a);
    if (annihilate == DD_FALSE || there == DD_TRUE) return x;
    return annihilate == DD_TRUE && there == DD_FALSE ? zero : dd_either(x, zero);
}

bool dd_agrees(dd_cell want, dd_cell got) {
    if (want.kind == DD_UNKNOWN) return true;
    if (want.kind != got.kind) return false;
    if (want.kind == DD_NAN) return true;
    if (want.e == 0) return compared(want, got) == 0;
    return fabs(dd_sub(want.v, got.v).hi) <= want.e * DD_UP;
}
