/* SPDX-License-Identifier: Apache-2.0
 * Elementary functions on cells with bounds. Every one is monotone in each operand on a box that avoids its poles, cuts and ends (a
 * row of the table says which boxes do), so over the box of its operands it takes its extremes at the corners, and at `extra` points
 * where it turns. What plans may differ by is then the largest distance between the middle and a corner, plus the bound in ulp that
 * the oracle of operators gives the function. Sine and cosine go by their Lipschitz constant. */
#include "tests/oracle/dd_cell.h"

typedef struct box {
    double lo[2], hi[2];
    bool whole; /* the second operand is exactly this whole number */
} box;

static bool apart_from(const box *b, int k, double x) { return b->lo[k] > x || b->hi[k] < x; }
static bool holds_zero(const box *b, int k) { return !apart_from(b, k, 0); }

static bool everywhere(const box *b) {
    (void)b;
    return true;
}
static bool off_zero(const box *b) { return apart_from(b, 0, 0); }
static bool off_minus_one(const box *b) { return apart_from(b, 0, -1); }
static bool in_or_out_of_unit(const box *b) { return (b->lo[0] >= -1 && b->hi[0] <= 1) || b->lo[0] > 1 || b->hi[0] < -1; }
static bool between_poles(const box *b) {
    const long double pi = 3.14159265358979323846264338327950288L;
    return fabs(b->lo[0]) < 1e6 && fabs(b->hi[0]) < 1e6 && floorl(b->lo[0] / pi + 0.5L) == floorl(b->hi[0] / pi + 0.5L);
}
static bool off_the_cut(const box *b) { return b->lo[1] > 0 || apart_from(b, 0, 0); } /* atan2(y, x) */
static bool logarithms(const box *b) { return apart_from(b, 0, 0) && apart_from(b, 1, 0) && apart_from(b, 1, 1); }
static bool power(const box *b) {
    bool exact = b->lo[1] == b->hi[1];
    if (b->lo[0] > 0) return true;
    if (b->hi[0] < 0) return exact;
    return exact && (b->lo[1] == 0 || (b->whole && b->lo[1] > 0));
}

typedef struct dd_elem {
    int arity;
    bool (*regular)(const box *b);
    bool turns;     /* at zero of the first operand */
    bool lipschitz; /* |f(x) - f(y)| <= |x - y|, |f| <= 1 */
} dd_elem;

/* clang-format off */
static const dd_elem rows[CLF_OP_CODES] = {
    [CLF_POW] = {.arity = 2, .regular = power, .turns = true},
    [CLF_ATAN2] = {.arity = 2, .regular = off_the_cut},
    [CLF_LOGB] = {.arity = 2, .regular = logarithms},
    [CLF_EXP] = {.arity = 1, .regular = everywhere},
    [CLF_EXPM1] = {.arity = 1, .regular = everywhere},
    [CLF_LOG] = {.arity = 1, .regular = off_zero},
    [CLF_LOG1P] = {.arity = 1, .regular = off_minus_one},
    [CLF_LOG2] = {.arity = 1, .regular = off_zero},
    [CLF_LOG10] = {.arity = 1, .regular = off_zero},
    [CLF_SIN] = {.arity = 1, .regular = everywhere, .lipschitz = true},
    [CLF_COS] = {.arity = 1, .regular = everywhere, .lipschitz = true},
    [CLF_TAN] = {.arity = 1, .regular = between_poles},
    [CLF_ASIN] = {.arity = 1, .regular = in_or_out_of_unit},
    [CLF_ACOS] = {.arity = 1, .regular = in_or_out_of_unit},
    [CLF_ATAN] = {.arity = 1, .regular = everywhere},
    [CLF_SINH] = {.arity = 1, .regular = everywhere},
    [CLF_COSH] = {.arity = 1, .regular = everywhere, .turns = true},
    [CLF_TANH] = {.arity = 1, .regular = everywhere},
    [CLF_SIGMOID] = {.arity = 1, .regular = everywhere},
    [CLF_ERF] = {.arity = 1, .regular = everywhere},
    [CLF_PNORM] = {.arity = 1, .regular = everywhere},
};
/* clang-format on */

/* f at the corners: within *e of the middle. False when the class of the value changes. */
static bool deviation(int op, clf_dtype t, const dd_elem *row, const box *b, dd_cell middle, double *e) {
    int extra = row->turns && holds_zero(b, 0);
    *e = 0;
    for (int i = 0; i < 2 + extra; i++)
        for (int j = 0; j < (row->arity > 1 ? 2 : 1); j++) {
            dd_cell at[2] = {dd_cell_of(i == 0 ? b->lo[0] : i == 1 ? b->hi[0] : 0), dd_cell_of(j ? b->hi[1] : b->lo[1])};
            dd_cell r = dd_exactly(op, t, at, row->arity);
            if (r.kind != middle.kind) return false;
            if (r.kind == DD_INF && r.v.hi != middle.v.hi) return false;
            if (r.kind == DD_KNOWN) *e = fmax(*e, fabs(dd_sub(r.v, middle.v).hi) + r.e);
        }
    return true;
}

static dd_cell inexact(int op, clf_dtype t, const dd_elem *row, const dd_cell *x) {
    box b = {{0, 0}, {0, 0}, false};
    dd_cell middle[2];
    double e;
    for (int k = 0; k < row->arity; k++) {
        b.lo[k] = dd_low(x[k]);
        b.hi[k] = dd_high(x[k]);
        middle[k] = x[k].e == 0 ? x[k] : dd_cell_of(x[k].v.hi);
    }
    b.whole = row->arity > 1 && x[1].e == 0 && floor(x[1].v.hi) == x[1].v.hi;
    if (!row->regular(&b)) return dd_unknown();
    dd_cell r = dd_exactly(op, t, middle, row->arity);
    if (r.kind == DD_UNKNOWN) return r;
    if (row->lipschitz) {
        double d = fmin((b.hi[0] - b.lo[0]) * DD_UP, 2);
        return dd_bounded(t, r.v, d + 4 * dd_ulp(t, fmin(1, fabs(r.v.hi) + d)) + fabs(r.v.hi) * 0x1p-61);
    }
    if (!deviation(op, t, row, &b, r, &e)) return dd_unknown();
    return r.kind == DD_KNOWN ? dd_bounded(t, r.v, fmax(e, r.e)) : r;
}

/* The two values that a NaN does not spoil. */
static bool power_of_nan(int op, const dd_cell *x) {
    if (op != CLF_POW) return false;
    if (dd_exact(x[0]) && x[0].kind == DD_KNOWN && x[0].v.hi == 1) return true;
    return dd_exact(x[1]) && x[1].kind == DD_KNOWN && x[1].v.hi == 0;
}

bool dd_elementary(int op, clf_dtype t, const dd_cell *x, dd_cell *out) {
    const dd_elem *row = &rows[op];
    if (!row->regular) return false;
    bool exact = true, unknown = false, nan = false;
    for (int k = 0; k < row->arity; k++) {
        exact = exact && dd_exact(x[k]);
        unknown = unknown || x[k].kind == DD_UNKNOWN;
        nan = nan || x[k].kind == DD_NAN;
    }
    if (power_of_nan(op, x)) {
        *out = dd_bounded(t, dd_of(1), 16 * dd_ulp(t, 1));
        return true;
    }
    if (nan) {
        bool may_be_one = op == CLF_POW && !exact;
        *out = may_be_one ? dd_unknown() : dd_nan();
        return true;
    }
    *out = unknown ? dd_unknown() : exact ? dd_exactly(op, t, x, row->arity) : inexact(op, t, row, x);
    return true;
}
