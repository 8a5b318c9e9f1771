/* SPDX-License-Identifier: Apache-2.0
 * Cell operators on cells with bounds. Exact operands go to the oracle of operators (ops_oracle.c), which computes in the type itself;
 * others take the rules below: what the operands' bounds grow to, plus half a unit in the last place for each rounding. An operator
 * with a discontinuity inside the operands' intervals gives an unknown cell. An operator without a row is the steps of its text. */
#include "tests/oracle/dd_cell.h"
#include "core/op.h"
#include "tests/oracle/ops_oracle.h"

/* ---- exact operands ---- */

static clf_scalar scalar_of(clf_dtype t, dd_cell x, bool negative_zero) {
    clf_scalar s = {.dtype = t};
    if (dd_real(t))
        s.u.f = negative_zero ? -0.0 : dd_native(x);
    else
        s.u.i = (int64_t)dd_whole(x);
    return s;
}

/* tol and clib cover the device's and the C library's functions, 2^-61 long double. */
static dd_cell of_oracle(const oracle_result *r) {
    if (!dd_real(r->dtype)) return dd_cell_whole(r->integer);
    long double size = fabsl(r->exact), most = (long double)dd_most(r->dtype);
    if (r->tol == 0 || !isfinite(r->exact)) {
        dd_cell c = dd_cell_of(r->dtype == CLF_F32 ? (double)(float)r->exact : (double)r->exact);
        c.unsigned_zero = r->any_zero && c.v.hi == 0;
        return c;
    }
    long double tol = r->tol + r->clib;
    if (size - tol > most) return dd_cell_of(copysign(INFINITY, r->exact < 0 ? -1.0 : 1.0));
    if (size + tol > most) return dd_unknown();
    return (dd_cell){.v = dd_of_long(r->exact), .e = (double)(tol + size * 0x1p-61L) * DD_UP, .kind = DD_KNOWN};
}

/* Every sign of the zeros whose sign is open must give the same. */
dd_cell dd_exactly(int op, clf_dtype t, const dd_cell *x, int n) {
    dd_cell first = dd_unknown();
    for (int signs = 0; signs < 1 << n; signs++) {
        clf_scalar in[3] = {{.dtype = t}, {.dtype = t}, {.dtype = t}};
        oracle_result r;
        bool open = true;
        for (int k = 0; k < n; k++) {
            bool negative = signs >> k & 1;
            open = open && (!negative || x[k].unsigned_zero);
            in[k] = scalar_of(t, x[k], negative);
        }
        if (!open) continue;
        if (!oracle_op(op, t, in, &r)) return dd_unknown();
        dd_cell c = of_oracle(&r);
        if (signs == 0) {
            first = c;
        } else if (c.kind != first.kind || !dd_agrees(first, c.kind == DD_KNOWN ? dd_cell_of(c.v.hi) : c)) {
            return dd_unknown();
        } else {
            first.unsigned_zero = first.e == 0 && first.v.hi == 0;
        }
    }
    return first;
}

/* ---- truth values, of every type ---- */

static dd_truth of(bool x) { return x ? DD_TRUE : DD_FALSE; }
static dd_truth opposite(dd_truth a) { return a == DD_MAYBE ? a : of(a == DD_FALSE); }
static dd_truth both(dd_truth a, dd_truth b) {
    if (a == DD_FALSE || b == DD_FALSE) return DD_FALSE;
    return a == DD_TRUE && b == DD_TRUE ? DD_TRUE : DD_MAYBE;
}

static dd_truth t_lt(const dd_cell *x) { return dd_less(x[0], x[1]); }
static dd_truth t_le(const dd_cell *x) { return dd_less_equal(x[0], x[1]); }
static dd_truth t_gt(const dd_cell *x) { return dd_less(x[1], x[0]); }
static dd_truth t_ge(const dd_cell *x) { return dd_less_equal(x[1], x[0]); }
static dd_truth t_eq(const dd_cell *x) { return dd_equal(x[0], x[1]); }
static dd_truth t_ne(const dd_cell *x) { return opposite(t_eq(x)); }
static dd_truth t_and(const dd_cell *x) { return both(dd_truth_of(x[0]), dd_truth_of(x[1])); }
static dd_truth t_or(const dd_cell *x) { return opposite(both(opposite(dd_truth_of(x[0])), opposite(dd_truth_of(x[1])))); }
static dd_truth t_xor(const dd_cell *x) {
    dd_truth a = dd_truth_of(x[0]), b = dd_truth_of(x[1]);
    return a == DD_MAYBE || b == DD_MAYBE ? DD_MAYBE : of(a != b);
}
static dd_truth t_not(const dd_cell *x) { return opposite(dd_truth_of(x[0])); }
static dd_truth t_isnan(const dd_cell *x) { return x->kind == DD_UNKNOWN ? DD_MAYBE : of(x->kind == DD_NAN); }
static dd_truth t_isinf(const dd_cell *x) { return x->kind == DD_UNKNOWN ? DD_MAYBE : of(x->kind == DD_INF); }

/* ---- choices, of every type ---- */

static dd_cell chosen(dd_truth t, dd_cell yes, dd_cell no) { return t == DD_TRUE ? yes : t == DD_FALSE ? no : dd_either(yes, no); }

static dd_cell c_ifelse(clf_dtype t, const dd_cell *x) {
    (void)t;
    return chosen(dd_truth_of(x[0]), x[1], x[2]);
}
static dd_cell c_replace(clf_dtype t, const dd_cell *x) {
    (void)t;
    dd_truth hit = x[1].kind == DD_NAN ? t_isnan(x) : dd_equal(x[0], x[1]);
    return chosen(hit, x[2], x[0]);
}

/* The lesser: any of two that may be equal is within the larger bound of it. */
static dd_cell lesser(dd_cell a, dd_cell b, dd_truth a_first, dd_truth b_first) {
    if (a.kind == DD_NAN || b.kind == DD_NAN) return dd_nan();
    if (a.kind == DD_UNKNOWN || b.kind == DD_UNKNOWN) return dd_unknown();
    dd_cell r = a_first == DD_TRUE ? a : b;
    if (a_first == DD_MAYBE || b_first == DD_MAYBE) r.e = fmax(a.e, b.e);
    r.unsigned_zero = r.e == 0 && r.v.hi == 0 && (r.unsigned_zero || (a.v.hi == 0 && b.v.hi == 0));
    return r;
}
static dd_cell c_min(clf_dtype t, const dd_cell *x) {
    (void)t;
    dd_truth first = dd_less(x[0], x[1]), second = dd_less_equal(x[1], x[0]);
    return lesser(x[0], x[1], first == DD_MAYBE ? of(x[0].v.hi < x[1].v.hi) : first, first == DD_MAYBE ? first : second);
}
static dd_cell c_max(clf_dtype t, const dd_cell *x) {
    (void)t;
    dd_truth first = dd_less(x[1], x[0]), second = dd_less_equal(x[0], x[1]);
    return lesser(x[0], x[1], first == DD_MAYBE ? of(x[1].v.hi < x[0].v.hi) : first, first == DD_MAYBE ? first : second);
}

/* ---- finite operands, not all exact ---- */

static dd_cell b_add(clf_dtype t, const dd_cell *x) { return dd_rounded(t, dd_add(x[0].v, x[1].v), x[0].e + x[1].e); }
static dd_cell b_sub(clf_dtype t, const dd_cell *x) { return dd_rounded(t, dd_sub(x[0].v, x[1].v), x[0].e + x[1].e); }
static dd_cell b_mul(clf_dtype t, const dd_cell *x) {
    return dd_rounded(t, dd_mul(x[0].v, x[1].v), fabs(x[0].v.hi) * x[1].e + x[0].e * dd_size(x[1]));
}
static dd_cell b_div(clf_dtype t, const dd_cell *x) {
    if (dd_truth_of(x[1]) != DD_TRUE) return dd_unknown();
    dd q = dd_div(x[0].v, x[1].v);
    return dd_rounded(t, q, (x[0].e + fabs(q.hi) * x[1].e) / fmin(fabs(dd_low(x[1])), fabs(dd_high(x[1]))));
}
static dd_cell whole_between(clf_dtype t, double lo, double hi) { return lo == hi ? dd_rounded(t, dd_of(lo), 0) : dd_unknown(); }
static dd_cell exact_whole(clf_dtype t, double lo, double hi) {
    dd_cell r = whole_between(t, lo, hi);
    bool fits = dd_finite(r) && fabs(lo) <= 1 / dd_unit(t);
    r.e = fits ? 0 : r.e; /* a whole number of the type */
    r.unsigned_zero = fits && lo == 0;
    return r;
}
static dd_cell b_floor(clf_dtype t, const dd_cell *x) { return exact_whole(t, floor(dd_low(*x)), floor(dd_high(*x))); }
static dd_cell b_ceil(clf_dtype t, const dd_cell *x) { return exact_whole(t, ceil(dd_low(*x)), ceil(dd_high(*x))); }
static dd_cell b_round(clf_dtype t, const dd_cell *x) {
    dd_cell s = dd_rounded(t, dd_add(x->v, dd_of(0.5)), x->e);
    return dd_finite(s) ? b_floor(t, &s) : s;
}
static dd_cell b_idiv(clf_dtype t, const dd_cell *x) {
    dd_cell q = b_div(t, x);
    return dd_finite(q) ? b_floor(t, &q) : q;
}
static dd_cell b_mod(clf_dtype t, const dd_cell *x) {
    dd_cell part[2] = {b_idiv(t, x), x[1]};
    if (!dd_finite(part[0])) return part[0];
    dd_cell whole[2] = {x[0], b_mul(t, part)};
    return dd_finite(whole[1]) ? b_sub(t, whole) : whole[1];
}
static dd_cell b_neg(clf_dtype t, const dd_cell *x) { return dd_bounded(t, dd_neg(x->v), x->e); }
static dd_cell b_abs(clf_dtype t, const dd_cell *x) { return dd_bounded(t, dd_abs(x->v), x->e); }
static dd_cell b_sign(clf_dtype t, const dd_cell *x) {
    (void)t;
    return dd_truth_of(*x) == DD_TRUE ? dd_cell_of(x->v.hi < 0 ? -1 : 1) : dd_unknown();
}
static dd_cell b_sqr(clf_dtype t, const dd_cell *x) { return dd_rounded(t, dd_mul(x->v, x->v), 2 * fabs(x->v.hi) * x->e + x->e * x->e); }
static dd_cell b_sqrt(clf_dtype t, const dd_cell *x) {
    if (dd_high(*x) < 0) return dd_nan();
    if (!(dd_low(*x) > 0)) return dd_unknown();
    dd s = dd_sqrt(x->v);
    return dd_rounded(t, s, x->e / s.hi * DD_UP); /* |sqrt(x+d) - sqrt(x)| = |d| / (sqrt(x+d) + sqrt(x)) */
}

/* ---- bits of whole parts ---- */

static dd_cell bits(clf_dtype t, const dd_cell *x, bool all) {
    dd_cell a = dd_cast(x[0], t, CLF_I64), b = dd_cast(x[1], t, CLF_I64);
    if (a.kind == DD_UNKNOWN || b.kind == DD_UNKNOWN) return dd_unknown();
    return dd_cast(dd_cell_whole(all ? dd_whole(a) & dd_whole(b) : dd_whole(a) | dd_whole(b)), CLF_I64, t);
}
static dd_cell c_bitand(clf_dtype t, const dd_cell *x) { return bits(t, x, true); }
static dd_cell c_bitor(clf_dtype t, const dd_cell *x) { return bits(t, x, false); }

/* ---- the table ---- */

/* truth: the result is a truth value; any: for every type and class of operands; bound: finite operands that are not all exact.
 * Operators without a row are elementary functions. */
typedef struct dd_row {
    int arity;
    dd_truth (*truth)(const dd_cell *x);
    dd_cell (*any)(clf_dtype t, const dd_cell *x);
    dd_cell (*bound)(clf_dtype t, const dd_cell *x);
} dd_row;

/* clang-format off */
static const dd_row rows[CLF_OP_CODES] = {
    [CLF_ADD] = {2, .bound = b_add},       [CLF_SUB] = {2, .bound = b_sub},     [CLF_MUL] = {2, .bound = b_mul},
    [CLF_DIV] = {2, .bound = b_div},       [CLF_MOD] = {2, .bound = b_mod},     [CLF_IDIV] = {2, .bound = b_idiv},
    [CLF_MIN] = {2, .any = c_min},         [CLF_MAX] = {2, .any = c_max},
    [CLF_LT] = {2, .truth = t_lt},         [CLF_LE] = {2, .truth = t_le},       [CLF_GT] = {2, .truth = t_gt},
    [CLF_GE] = {2, .truth = t_ge},         [CLF_EQ] = {2, .truth = t_eq},       [CLF_NE] = {2, .truth = t_ne},
    [CLF_AND] = {2, .truth = t_and},       [CLF_OR] = {2, .truth = t_or},       [CLF_XOR] = {2, .truth = t_xor},
    [CLF_BITAND] = {2, .any = c_bitand},   [CLF_BITOR] = {2, .any = c_bitor},
    [CLF_NEG] = {1, .bound = b_neg},       [CLF_NOT] = {1, .truth = t_not},     [CLF_ABS] = {1, .bound = b_abs},
    [CLF_SIGN] = {1, .bound = b_sign},     [CLF_ROUND] = {1, .bound = b_round}, [CLF_FLOOR] = {1, .bound = b_floor},
    [CLF_CEIL] = {1, .bound = b_ceil},     [CLF_SQR] = {1, .bound = b_sqr},     [CLF_SQRT] = {1, .bound = b_sqrt},
    [CLF_ISNAN] = {1, .truth = t_isnan},   [CLF_ISINF] = {1, .truth = t_isinf},
    [CLF_IFELSE] = {3, .any = c_ifelse},   [CLF_REPLACE] = {3, .any = c_replace},
};
/* clang-format on */

/* An infinity among the operands: the others count only by where they lie around zero. */
static dd_cell with_infinity(int op, clf_dtype t, const dd_cell *x) {
    dd_cell first = dd_unknown();
    for (int pick = 0; pick < 9; pick++) {
        dd_cell y[2];
        bool inside = true;
        for (int k = 0; k < 2; k++) {
            int p = k ? pick / 3 : pick % 3;
            double at = p == 0 ? dd_low(x[k]) : p == 1 ? dd_high(x[k]) : 0;
            inside = inside && (p < 2 || (dd_low(x[k]) <= 0 && dd_high(x[k]) >= 0));
            y[k] = x[k].e == 0 ? x[k] : dd_cell_of(at);
            y[k].unsigned_zero = y[k].v.hi == 0;
        }
        dd_cell r = inside ? dd_exactly(op, t, y, 2) : first;
        if (pick && !(r.kind == first.kind && dd_agrees(first, r))) return dd_unknown();
        first = r;
    }
    first.unsigned_zero = first.kind == DD_KNOWN && first.v.hi == 0;
    return first;
}

static dd_cell by_row(const dd_row *row, int op, clf_dtype t, const dd_cell *x) {
    if (row->truth) return dd_of_truth(row->truth(x));
    if (row->any) return row->any(t, x);
    bool exact = true, infinite = false, unknown = false;
    for (int k = 0; k < row->arity; k++) {
        if (x[k].kind == DD_NAN) return dd_nan();
        exact = exact && dd_exact(x[k]);
        infinite = infinite || x[k].kind == DD_INF;
        unknown = unknown || x[k].kind == DD_UNKNOWN;
    }
    if (unknown) return dd_unknown();
    if (exact) return dd_exactly(op, t, x, row->arity);
    return infinite ? with_infinity(op, t, x) : row->bound(t, x);
}

dd_cell dd_steps(const op_steps *steps, clf_dtype t, const dd_cell *x) {
    dd_cell stack[OP_STACK + 3] = {{.kind = DD_UNKNOWN}};
    int depth = 0;
    for (int i = 0; i < steps->n; i++) {
        const op_step *s = &steps->step[i];
        dd_cell r = s->kind == OP_OPERAND ? x[s->which] : dd_cell_of(t == CLF_F32 ? (double)(float)s->number : s->number);
        if (s->kind == OP_CALL) r = by_row(&rows[s->which], s->which, t, &stack[depth -= s->arity]);
        stack[depth++] = r;
    }
    return stack[0];
}

/* A product of what is a sum has the products of its terms. */
static dd_cell with_terms(dd_cell r, dd_cell a, dd_cell b) {
    if (r.kind != DD_KNOWN || (!dd_added(a) && !dd_added(b))) return r;
    r.terms = dd_terms(a) * dd_terms(b);
    r.steps = a.steps + b.steps + 1;
    return r;
}

dd_cell dd_op(int op, clf_dtype t, const dd_cell *x) {
    dd_cell r;
    op_steps steps;
    if (dd_elementary(op, t, x, &r)) return op == CLF_POW && dd_exact(x[1]) && x[1].v.hi == 2 ? with_terms(r, x[0], x[0]) : r;
    if (op == CLF_MUL || op == CLF_SQR) return with_terms(by_row(&rows[op], op, t, x), x[0], x[op == CLF_MUL]);
    if (rows[op].arity > 0) return by_row(&rows[op], op, t, x);
    return op_steps_of(&steps, op) ? dd_steps(&steps, t, x) : dd_unknown();
}
