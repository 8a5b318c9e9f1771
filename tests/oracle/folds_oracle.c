/* SPDX-License-Identifier: Apache-2.0
 * Definitions of the folds and their error bounds. A bound of a sum is u_t * (steps of the lane chain) * (sum of absolute values), u_t
 * the rounding unit of the lane's type, plus the same for the tree in double; of a product n * u_t * |product|. Inputs near overflow are
 * not for this oracle: partial
 * sums of a tree may overflow where the whole does not. */
#include "tests/oracle/folds_oracle.h"

#include <float.h>
#include <math.h>

#include "core/fold.h"

enum { TREE_STEPS = 64 };

typedef struct values {
    clf_dtype t;
    const clf_scalar *v;
    size_t n, chain;
    bool exact, flt;
} values;

static long double at(const values *x, size_t i) { return x->flt ? (long double)x->v[i].u.f : (long double)x->v[i].u.i; }

static long double lane_unit(const values *x) { return x->t == CLF_F32 ? FLT_EPSILON / 2 : DBL_EPSILON / 2; }

static long double unit(const values *x, long double magnitude) {
    return ((long double)(x->chain + 2) * lane_unit(x) + TREE_STEPS * (DBL_EPSILON / 2)) * magnitude;
}

typedef struct totals {
    long double sum, magnitude; /* of x^power */
} totals;

static totals add_up(const values *x, int power) {
    totals r = {0, 0};
    long double lost = 0; /* Neumaier's correction, only while finite */
    for (size_t i = 0; i < x->n; i++) {
        long double y = power == 2 ? at(x, i) * at(x, i) : at(x, i), s = r.sum + y;
        if (isfinite(s)) lost += fabsl(r.sum) >= fabsl(y) ? (r.sum - s) + y : (y - s) + r.sum;
        r.sum = s;
        r.magnitude += fabsl(y);
    }
    if (isfinite(r.sum)) r.sum += lost;
    return r;
}

static void set(oracle_result *out, clf_dtype t, long double value, long double tol) {
    out->dtype = t;
    out->exact = value;
    out->tol = isfinite(tol) ? tol : 0;
    out->any_zero = true;
}
static void set_integer(oracle_result *out, clf_dtype t, int64_t value) {
    out->dtype = t;
    out->integer = value;
}

typedef void fold_fn(const values *x, oracle_result *out);

static void sum_of(const values *x, int power, oracle_result *out) {
    if (!x->flt) {
        uint64_t s = 0;
        for (size_t i = 0; i < x->n; i++) s += power == 2 ? (uint64_t)x->v[i].u.i * (uint64_t)x->v[i].u.i : (uint64_t)x->v[i].u.i;
        set_integer(out, CLF_I64, (int64_t)s);
        return;
    }
    totals s = add_up(x, power);
    set(out, x->t, s.sum, x->exact ? 0 : unit(x, s.magnitude) + oracle_ulp(x->t, s.sum));
}
static void o_sum(const values *x, oracle_result *out) { sum_of(x, 1, out); }
static void o_sumsq(const values *x, oracle_result *out) { sum_of(x, 2, out); }

static void o_prod(const values *x, oracle_result *out) {
    uint64_t n = 1;
    long double p = 1;
    for (size_t i = 0; i < x->n; i++) {
        if (x->flt)
            p *= at(x, i);
        else
            n *= (uint64_t)x->v[i].u.i;
    }
    if (!x->flt)
        set_integer(out, CLF_I64, (int64_t)n);
    else
        set(out, x->t, p, x->exact ? 0 : (long double)(x->n + TREE_STEPS) * fabsl(p) * lane_unit(x) + oracle_ulp(x->t, p));
}

static void o_mean(const values *x, oracle_result *out) {
    totals s = add_up(x, 1);
    double n = (double)x->n, quotient = (double)s.sum / n;
    if (x->exact)
        set(out, x->t, quotient, 0);
    else
        set(out, x->t, x->n ? s.sum / (long double)n : NAN, (unit(x, s.magnitude) / (long double)n + oracle_ulp(x->t, quotient)));
}

static void o_var(const values *x, oracle_result *out) {
    totals first = add_up(x, 1), squares = add_up(x, 2);
    long double mean = first.sum / (long double)x->n, m2 = 0, df = (long double)x->n - 1;
    for (size_t i = 0; i < x->n; i++) m2 += (at(x, i) - mean) * (at(x, i) - mean);
    if (x->n < 2) {
        set(out, x->t, NAN, 0);
        return;
    }
    /* Welford and pairwise updates: relative error of M2 about steps * u * sqrt(sum x^2 / M2) (Chan, Golub, LeVeque 1983) */
    long double step = 4 * unit(x, 1);
    set(out, x->t, m2 / df, (step * sqrtl(squares.sum * m2) + step * step * squares.sum) / df + oracle_ulp(x->t, m2 / df));
}

static bool is_nan(const values *x, size_t i) { return x->flt && isnan(x->v[i].u.f); }
static bool beats(const values *x, size_t i, size_t best, int sign) {
    if (is_nan(x, best)) return false;
    if (is_nan(x, i)) return true;
    if (!x->flt) return sign < 0 ? x->v[i].u.i < x->v[best].u.i : x->v[i].u.i > x->v[best].u.i;
    return sign < 0 ? x->v[i].u.f < x->v[best].u.f : x->v[i].u.f > x->v[best].u.f;
}
static size_t extreme(const values *x, int sign) { /* n > 0 */
    size_t best = 0;
    for (size_t i = 1; i < x->n; i++)
        if (beats(x, i, best, sign)) best = i;
    return best;
}
static void extreme_value(const values *x, int sign, int64_t if_empty, oracle_result *out) {
    size_t i = x->n ? extreme(x, sign) : 0;
    if (x->flt)
        set(out, x->t, x->n ? at(x, i) : -sign * INFINITY, 0);
    else
        set_integer(out, x->t, x->n ? x->v[i].u.i : if_empty);
}
static void o_min(const values *x, oracle_result *out) {
    extreme_value(x, -1, x->t == CLF_I32 ? INT32_MAX : x->t == CLF_U8 ? UINT8_MAX : INT64_MAX, out);
}
static void o_max(const values *x, oracle_result *out) {
    extreme_value(x, 1, x->t == CLF_I32 ? INT32_MIN : x->t == CLF_U8 ? 0 : INT64_MIN, out);
}
static void o_argmin(const values *x, oracle_result *out) { set_integer(out, CLF_I64, x->n ? (int64_t)extreme(x, -1) + 1 : 0); }
static void o_argmax(const values *x, oracle_result *out) { set_integer(out, CLF_I64, x->n ? (int64_t)extreme(x, 1) + 1 : 0); }

static int64_t count_true(const values *x) {
    int64_t n = 0;
    for (size_t i = 0; i < x->n; i++) n += x->flt ? !(x->v[i].u.f == 0) : x->v[i].u.i != 0;
    return n;
}
static void o_any(const values *x, oracle_result *out) { set_integer(out, CLF_U8, count_true(x) > 0); }
static void o_all(const values *x, oracle_result *out) { set_integer(out, CLF_U8, count_true(x) == (int64_t)x->n); }
static void o_nnz(const values *x, oracle_result *out) { set_integer(out, CLF_I64, count_true(x)); }

static fold_fn *const rows[CLF_NFOLDS] = {
    [CLF_FOLD_SUM] = o_sum,       [CLF_FOLD_SUMSQ] = o_sumsq, [CLF_FOLD_MIN] = o_min, [CLF_FOLD_MAX] = o_max,
    [CLF_FOLD_PROD] = o_prod,     [CLF_FOLD_MEAN] = o_mean,   [CLF_FOLD_VAR] = o_var, [CLF_FOLD_ARGMIN] = o_argmin,
    [CLF_FOLD_ARGMAX] = o_argmax, [CLF_FOLD_ANY] = o_any,     [CLF_FOLD_ALL] = o_all, [CLF_FOLD_NNZ] = o_nnz,
};

void oracle_fold(int fold, clf_dtype t, const clf_scalar *v, size_t n, size_t chain, bool exact, oracle_result *out) {
    values x = {.t = t, .v = v, .n = n, .chain = chain, .exact = exact, .flt = t == CLF_F32 || t == CLF_F64};
    *out = (oracle_result){0};
    rows[fold](&x, out);
}
