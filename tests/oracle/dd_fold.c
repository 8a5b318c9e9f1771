/* SPDX-License-Identifier: Apache-2.0
 * Folds of cells with bounds. A sum of n numbers in any order whose longest path has k additions is within ((1 + u)^k - 1) sum |x| of
 * the true one (Higham 2002, chapter 4). The tree of core/fold.h is: lanes in the value type, at most `chain` cells each, then `merges`
 * levels in f64, then one rounding to the type. Sums that are exact in every order (multiples of one power of two, small enough) are
 * recognised: their bound is 0. Products likewise, by the bits of their factors. */
#include <stdlib.h>

#include "tests/oracle/dd_fold.h"

enum { LEAF = 512, NARROW = 128, DEEPEST = 128 }; /* no tree over runs is deeper: LEAF / 8 and a merge for every bit of an extent */

/* ---- the tree ---- */

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t up(int64_t n, int64_t by) { return (n + by - 1) / by; }
static int64_t levels(int64_t n) { /* of a binary tree over n */
    int64_t k = 0;
    while (((int64_t)1 << k) < n) k++;
    return k;
}
static int64_t lanes_of(clf_dtype t) { return t == CLF_F32 ? 16 : 8; }

dd_tree dd_tree_run(clf_dtype t, int64_t n) {
    int64_t leaf = n < LEAF ? n : LEAF;
    return (dd_tree){up(leaf, lanes_of(t)), levels(lanes_of(t)) + levels(up(n, LEAF))};
}

dd_tree dd_tree_cols(clf_dtype t, int64_t rows, int64_t cols) {
    int64_t lanes = 1, block = 16, most = cols <= 4096 ? 1024 : 64;
    if (cols <= NARROW)
        while (lanes * cols % lanes_of(t) != 0) lanes *= 2; /* the fewest rows that fill whole vectors */
    while (up(rows, block) > most) block *= 2;
    int64_t run = rows < block ? rows : block;
    return (dd_tree){up(run, lanes), levels(lanes) + levels(up(rows, block))};
}

/* Fewer cells make no tree deeper; a second tree over rows, a product and a merge come on top. */
dd_tree dd_tree_entries(dd_tree dense, int64_t rows, int64_t cols) {
    int64_t block = larger(16, up(rows, 256));
    if (rows <= 0) return (dd_tree){2 * dense.chain + 2, 2 * dense.merges + 6};
    while (cols > 4096 && up(rows, block) > 16) block *= 2;
    int64_t run = rows < block ? rows : block;
    return (dd_tree){larger(dense.chain, run) + 2, larger(dense.merges, levels(rows)) + 2}; /* gaps: a level for every bit of rows */
}

/* (1 + u)^chain (1 + 2^-53)^merges - 1 */
static double growth(clf_dtype t, dd_tree k) { return expm1((double)k.chain * dd_unit(t) + (double)k.merges * dd_unit(CLF_F64)) * DD_UP; }

/* ---- sums ---- */

typedef struct sum {
    dd value;
    double size, e, terms; /* sum |x|, sum of the bounds, what all terms of the terms add up to */
    int64_t n, steps;
    bool added, exact, unknown, nan, plus, minus;
    int lowest; /* the terms are multiples of 2^lowest */
} sum;

static int lowest_bit(double x) {
    int e;
    double m = frexp(fabs(x), &e);
    uint64_t bits = (uint64_t)ldexp(m, 53);
    return e - 53 + __builtin_ctzll(bits);
}

static sum sum_begin(void) { return (sum){.exact = true, .lowest = 2000}; }

static void sum_add(sum *s, dd_cell x) {
    s->n++;
    s->unknown = s->unknown || x.kind == DD_UNKNOWN;
    s->nan = s->nan || x.kind == DD_NAN;
    s->plus = s->plus || (x.kind == DD_INF && x.v.hi > 0);
    s->minus = s->minus || (x.kind == DD_INF && x.v.hi < 0);
    if (x.kind != DD_KNOWN) return;
    s->value = dd_add(s->value, x.v);
    s->size += fabs(x.v.hi);
    s->e += x.e;
    s->terms += dd_terms(x);
    s->steps = larger(s->steps, x.steps);
    s->added = s->added || dd_added(x);
    s->exact = s->exact && x.e == 0;
    for (int k = 0; k < 2 && s->exact; k++) {
        double part = k ? x.v.lo : x.v.hi;
        int low = part != 0 ? lowest_bit(part) : s->lowest;
        s->lowest = low < s->lowest ? low : s->lowest;
    }
}

/* True when the class of the sum is settled without its value. */
static bool sum_class(const sum *s, clf_dtype t, dd_cell *out) {
    if (s->nan || (s->plus && s->minus))
        *out = dd_nan();
    else if (s->unknown || !(s->size + s->e <= dd_most(t) / 8))
        *out = dd_unknown();
    else if (s->plus || s->minus)
        *out = dd_cell_of(s->plus ? INFINITY : -INFINITY);
    else
        return false;
    return true;
}

static bool sum_exact(const sum *s, clf_dtype t) {
    if (!s->exact || s->added) return false;
    return s->size == 0 || s->size * DD_UP <= ldexp(1, s->lowest + (t == CLF_F32 ? 24 : 53));
}

/* What any order of the terms of terms adds to the bound, k being this sum's own. */
static double sum_anew(const sum *s, clf_dtype t, dd_tree k) {
    dd_tree all = {k.chain + k.merges + s->steps, 0};
    return s->added ? growth(t, all) * s->terms : 0;
}

/* r is the sum, of up to `path` roundings on a way through it. */
static dd_cell sum_of(const sum *s, dd_cell r, int64_t path) {
    if (r.kind != DD_KNOWN) return r;
    r.terms = s->terms;
    r.steps = s->steps + path;
    return r;
}

static dd_cell exact_cell(dd v) {
    dd_cell r = dd_cell_of(v.hi + v.lo);
    r.unsigned_zero = r.v.hi == 0;
    return r;
}

/* A class was not settled; `wide`: not yet rounded to t. */
static dd_cell sum_wide(const sum *s, clf_dtype t, dd_tree k) {
    if (sum_exact(s, t)) return exact_cell(s->value);
    return dd_bounded(CLF_F64, s->value, s->e + (s->n > 1 ? growth(t, k) : 0) * (s->size + s->e) + sum_anew(s, t, k));
}

static dd_cell sum_end(const sum *s, clf_dtype t, dd_tree k) {
    dd_cell r;
    if (sum_class(s, t, &r)) return r;
    r = sum_wide(s, t, k);
    bool once = t == CLF_F64 || r.e == 0 || s->n == 1; /* rounded already */
    return sum_of(s, once ? r : dd_rounded(t, r.v, r.e), DEEPEST);
}

static dd_cell f_sum(clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree k) {
    sum s = sum_begin();
    for (int64_t i = 0; i < n; i++) sum_add(&s, x[i * stride]);
    return sum_end(&s, t, k);
}

static dd_cell f_sumsq(clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree k) {
    sum s = sum_begin();
    for (int64_t i = 0; i < n; i++) sum_add(&s, dd_op(CLF_SQR, t, &x[i * stride]));
    return sum_end(&s, t, k);
}

static dd_cell f_mean(clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree k) {
    sum s = sum_begin();
    dd_cell r;
    if (n == 0) return dd_nan();
    for (int64_t i = 0; i < n; i++) sum_add(&s, x[i * stride]);
    if (sum_class(&s, t, &r)) return r;
    dd_cell part[2] = {sum_wide(&s, t, k), dd_cell_of((double)n)};
    return dd_cast(dd_op(CLF_DIV, CLF_F64, part), CLF_F64, t);
}

/* ---- variance ---- */

/* Welford's steps in the lanes and pairwise merges. A mean on the way is off by at most `mean` below: half a unit in the last place per
 * step, damped by 1/k, of numbers up to `largest`. Every deviation is then off by twice that, and so sum |d| of them by Cauchy and
 * Schwarz over n (lanes) and n/4 a level (merges). The last factor of 2 is for terms of higher order. */
static double var_error(clf_dtype t, dd_tree k, double n, double largest, double m2) {
    double u = dd_unit(t), w = dd_unit(CLF_F64), steps = (double)k.chain, merges = (double)k.merges;
    double mean = ((steps / 2 + 4) * u + 4 * merges * w) * largest, root = sqrt(n * m2);
    double first = 2 * mean * root * (1.5 + sqrt(merges) / 2), second = n * mean * mean * (1 + merges / 4);
    return 2 * (first + second + ((steps + 8) * u + 4 * merges * w) * m2) + 4 * n * dd_least(t);
}

static dd_cell f_var(clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree k) {
    sum s = sum_begin();
    double largest = 0, spread = 0;
    dd m2 = {0, 0};
    if (n < 2) return dd_nan();
    for (int64_t i = 0; i < n; i++) sum_add(&s, x[i * stride]);
    if (s.nan || s.plus || s.minus) return dd_nan();
    if (s.unknown) return dd_unknown();
    dd mean = dd_div(s.value, dd_of((double)n));
    for (int64_t i = 0; i < n; i++) {
        dd_cell v = x[i * stride];
        dd d = dd_sub(v.v, mean);
        m2 = dd_add(m2, dd_mul(d, d));
        spread += v.e * v.e;
        largest = fmax(largest, dd_size(v));
    }
    if (!(largest * largest <= dd_most(t) / 8 / (double)n)) return dd_unknown();
    double most = sqrt(m2.hi) + sqrt(spread), given = 2 * sqrt(m2.hi * spread) + spread;
    dd v = dd_div(m2, dd_of((double)(n - 1)));
    double e = (given + var_error(t, k, (double)n, largest, most * most)) / (double)(n - 1);
    return dd_rounded(t, v, e + 2 * dd_unit(CLF_F64) * fabs(v.hi));
}

/* ---- products ---- */

static int bits_of(double x) {
    int e;
    frexp(fabs(x), &e);
    return x == 0 ? 0 : e - lowest_bit(x);
}

static dd_cell f_prod(clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree k) {
    dd p = dd_of(1);
    double most = 1, small = 1, grown = 1; /* what a partial product can reach, up and down; the product with all bounds */
    int bits = 0;
    bool exact = true, unknown = false, zero = false;
    (void)k;
    for (int64_t i = 0; i < n; i++) {
        dd_cell v = x[i * stride];
        if (v.kind == DD_NAN) return dd_nan();
        unknown = unknown || v.kind != DD_KNOWN;
        if (unknown) continue;
        p = dd_mul(p, v.v);
        grown *= dd_size(v) * (1 + 0x1p-52);
        most *= fmax(1, dd_size(v));
        small *= v.v.hi != 0 ? fmin(1, fabs(v.v.hi)) : 1;
        bits += exact ? bits_of(v.v.hi) : 0;
        exact = exact && v.e == 0 && bits <= (t == CLF_F32 ? 24 : 53);
        zero = zero || (v.e == 0 && v.v.hi == 0);
    }
    if (unknown || !(most <= dd_most(t) / 8)) return dd_unknown();
    if (zero || (exact && small > 0x1p-100)) return exact_cell(zero ? dd_of(0) : p);
    double e = grown - fabs(p.hi) + grown * (double)n * 0x1p-51 + grown * expm1((double)n * dd_unit(t));
    return dd_rounded(t, p, fmax(e, 0) + 4 * (double)n * dd_least(t) * most);
}

static dd_fold_fn *const rows[CLF_FOLD_CODES] = {
    [CLF_FOLD_CODE_SUM] = f_sum,       [CLF_FOLD_CODE_SUMSQ] = f_sumsq,         [CLF_FOLD_CODE_MIN] = dd_fold_min,
    [CLF_FOLD_CODE_MAX] = dd_fold_max, [CLF_FOLD_CODE_PROD] = f_prod,           [CLF_FOLD_CODE_MEAN] = f_mean,
    [CLF_FOLD_CODE_VAR] = f_var,       [CLF_FOLD_CODE_ARGMIN] = dd_fold_argmin, [CLF_FOLD_CODE_ARGMAX] = dd_fold_argmax,
    [CLF_FOLD_CODE_ANY] = dd_fold_any, [CLF_FOLD_CODE_ALL] = dd_fold_all,       [CLF_FOLD_CODE_NNZ] = dd_fold_nnz,
};

/* Sums and products of integers (i64) wrap. */
static dd_cell wrapping(int fold, const dd_cell *x, int64_t n, int64_t stride) {
    uint64_t r = fold == CLF_FOLD_CODE_PROD;
    for (int64_t i = 0; i < n; i++) {
        if (x[i * stride].kind == DD_UNKNOWN) return dd_unknown();
        uint64_t v = (uint64_t)dd_whole(x[i * stride]);
        r = fold == CLF_FOLD_CODE_PROD ? r * v : r + (fold == CLF_FOLD_CODE_SUMSQ ? v * v : v);
    }
    return dd_cell_whole((int64_t)r);
}

dd_cell dd_fold(int fold, clf_dtype t, const dd_cell *x, int64_t n, int64_t stride, dd_tree tree) {
    bool wraps = fold == CLF_FOLD_CODE_SUM || fold == CLF_FOLD_CODE_SUMSQ || fold == CLF_FOLD_CODE_PROD;
    return wraps && !dd_real(t) ? wrapping(fold, x, n, stride) : rows[fold](t, x, n, stride, tree);
}

/* ---- products of matrices, cumulative folds ---- */

/* One term with an operand that is not finite. */
static dd_cell wild_term(dd_cell x, dd_cell y, dd_truth za, dd_truth zb) {
    dd_cell p = x.kind == DD_NAN || y.kind == DD_NAN ? dd_nan() : dd_unknown();
    return dd_annihilated(dd_annihilated(p, x, za), y, zb);
}

dd_cell dd_dot(clf_dtype t, const dd_cell *a, int64_t sa, const dd_cell *b, int64_t sb, int64_t n, dd_truth za, dd_truth zb) {
    sum s = sum_begin();
    for (int64_t i = 0; i < n; i++) {
        dd_cell x = a[i * sa], y = b[i * sb], p = {.kind = DD_KNOWN};
        bool finite = x.kind == DD_KNOWN && y.kind == DD_KNOWN;
        if (finite) {
            p.v = dd_mul(x.v, y.v);
            p.e = fabs(x.v.hi) * y.e + x.e * dd_size(y);
            p.terms = dd_terms(x) * dd_terms(y);
            p.steps = x.steps + y.steps;
            if (p.e == 0 && fabs(p.v.hi) < 0x1p-900 && x.v.hi != 0 && y.v.hi != 0) p.e = 4 * dd_least(CLF_F64);
        }
        sum_add(&s, finite ? p : wild_term(x, y, za, zb));
    }
    dd_cell r;
    if (sum_class(&s, t, &r)) return r;
    if (sum_exact(&s, t)) return sum_of(&s, exact_cell(s.value), n + 1);
    dd_tree any = {n + 1, 0};
    double e = s.e + growth(t, any) * (s.size + s.e) + sum_anew(&s, t, any) + 4 * (double)n * dd_least(t);
    return sum_of(&s, dd_bounded(t, s.value, e), n + 1);
}

/* The bound of a sequence of i + 1 operations holds for every tree over them. */
void dd_cumulate(int fold, clf_dtype t, const dd_cell *x, dd_cell *out, int64_t n, int64_t stride) {
    sum s = sum_begin();
    for (int64_t i = 0; i < n; i++) {
        dd_tree path = {i, 0};
        sum_add(&s, x[i * stride]);
        if (i == 0)
            out[0] = x[0];
        else if (fold == CLF_FOLD_CODE_SUM && dd_real(t))
            out[i * stride] = sum_end(&s, t, path);
        else
            out[i * stride] = dd_fold(fold, t, (dd_cell[]){out[(i - 1) * stride], x[i * stride]}, 2, 1, path);
    }
}
