/* SPDX-License-Identifier: Apache-2.0
 * Double-double numbers: the unevaluated sum of two doubles, |lo| at most half a unit of hi, about 2^-104 relative (Dekker 1971;
 * Hida, Li, Bailey 2001). The error of a product comes from fma. Operands are finite and far from the limits of double: results near
 * those are nobody's to use (see dd_cell.h). */
#ifndef CLF_TESTS_DD_NUM_H
#define CLF_TESTS_DD_NUM_H
#include <math.h>

typedef struct dd {
    double hi, lo;
} dd;

static inline dd dd_of(double x) { return (dd){x, 0}; }

/* |a| >= |b| or a == 0 */
static inline dd dd_quick(double a, double b) {
    double s = a + b;
    return (dd){s, b - (s - a)};
}
static inline dd dd_two_sum(double a, double b) {
    double s = a + b, t = s - a;
    return (dd){s, (a - (s - t)) + (b - t)};
}
static inline dd dd_two_product(double a, double b) {
    double p = a * b;
    return (dd){p, fma(a, b, -p)};
}

static inline dd dd_neg(dd a) { return (dd){-a.hi, -a.lo}; }
static inline dd dd_abs(dd a) { return a.hi < 0 || (a.hi == 0 && a.lo < 0) ? dd_neg(a) : a; }
static inline dd dd_add(dd a, dd b) {
    dd s = dd_two_sum(a.hi, b.hi), t = dd_two_sum(a.lo, b.lo);
    s = dd_quick(s.hi, s.lo + t.hi);
    return dd_quick(s.hi, s.lo + t.lo);
}
static inline dd dd_sub(dd a, dd b) { return dd_add(a, dd_neg(b)); }
static inline dd dd_mul(dd a, dd b) {
    dd p = dd_two_product(a.hi, b.hi);
    return dd_quick(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
/* b != 0 */
static inline dd dd_div(dd a, dd b) {
    double q = a.hi / b.hi;
    dd r = dd_sub(a, dd_mul(dd_of(q), b));
    double q2 = r.hi / b.hi;
    r = dd_sub(r, dd_mul(dd_of(q2), b));
    return dd_add(dd_quick(q, q2), dd_of(r.hi / b.hi));
}
/* a > 0; one Newton step */
static inline dd dd_sqrt(dd a) {
    double s = sqrt(a.hi);
    dd r = dd_sub(a, dd_two_product(s, s));
    return dd_quick(s, r.hi / (2 * s));
}
static inline int dd_cmp(dd a, dd b) {
    dd d = dd_sub(a, b);
    return d.hi > 0 || (d.hi == 0 && d.lo > 0) ? 1 : d.hi < 0 || d.lo < 0 ? -1 : 0;
}

static inline long double dd_long(dd a) { return (long double)a.hi + (long double)a.lo; }
static inline dd dd_of_long(long double x) { return (dd){(double)x, (double)(x - (long double)(double)x)}; }
#endif
