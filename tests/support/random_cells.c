/* SPDX-License-Identifier: Apache-2.0
 * What the cell operators of random programs mean, on integers held as doubles. */
#include "tests/support/random_make.h"

static double o_add(double a, double b, double c) {
    (void)c;
    return a + b;
}
static double o_sub(double a, double b, double c) {
    (void)c;
    return a - b;
}
static double o_mul(double a, double b, double c) {
    (void)c;
    return a * b;
}
static double o_min(double a, double b, double c) {
    (void)c;
    return a < b ? a : b;
}
static double o_max(double a, double b, double c) {
    (void)c;
    return a > b ? a : b;
}
static double o_lt(double a, double b, double c) {
    (void)c;
    return a < b;
}
static double o_le(double a, double b, double c) {
    (void)c;
    return a <= b;
}
static double o_gt(double a, double b, double c) {
    (void)c;
    return a > b;
}
static double o_ge(double a, double b, double c) {
    (void)c;
    return a >= b;
}
static double o_eq(double a, double b, double c) {
    (void)c;
    return a == b;
}
static double o_ne(double a, double b, double c) {
    (void)c;
    return a != b;
}
static double o_and(double a, double b, double c) {
    (void)c;
    return a != 0 && b != 0;
}
static double o_or(double a, double b, double c) {
    (void)c;
    return a != 0 || b != 0;
}
static double o_xor(double a, double b, double c) {
    (void)c;
    return (a != 0) != (b != 0);
}
static double o_neg(double a, double b, double c) {
    (void)b, (void)c;
    return -a;
}
static double o_not(double a, double b, double c) {
    (void)b, (void)c;
    return a == 0;
}
static double o_abs(double a, double b, double c) {
    (void)b, (void)c;
    return a < 0 ? -a : a;
}
static double o_sign(double a, double b, double c) {
    (void)b, (void)c;
    return a > 0 ? 1 : a < 0 ? -1 : 0;
}
static double o_self(double a, double b, double c) {
    (void)b, (void)c;
    return a;
}
static double o_sqr(double a, double b, double c) {
    (void)b, (void)c;
    return a * a;
}
static double o_false(double a, double b, double c) {
    (void)a, (void)b, (void)c;
    return 0;
}
static double o_ifelse(double a, double b, double c) { return a != 0 ? b : c; }
static double o_replace(double a, double b, double c) { return a == b ? c : a; }

const rp_cell rp_cells[] = {
    {CLF_ADD, 2, ARITH, o_add, "+"},
    {CLF_SUB, 2, ARITH, o_sub, "-"},
    {CLF_MUL, 2, ARITH, o_mul, "*"},
    {CLF_MIN, 2, ARITH, o_min, "min"},
    {CLF_MAX, 2, ARITH, o_max, "max"},
    {CLF_LT, 2, COMPARE, o_lt, "<"},
    {CLF_LE, 2, COMPARE, o_le, "<="},
    {CLF_GT, 2, COMPARE, o_gt, ">"},
    {CLF_GE, 2, COMPARE, o_ge, ">="},
    {CLF_EQ, 2, COMPARE, o_eq, "=="},
    {CLF_NE, 2, COMPARE, o_ne, "!="},
    {CLF_AND, 2, COMPARE, o_and, "&"},
    {CLF_OR, 2, COMPARE, o_or, "|"},
    {CLF_XOR, 2, COMPARE, o_xor, "xor"},
    {CLF_NEG, 1, ARITH, o_neg, "-"},
    {CLF_NOT, 1, COMPARE, o_not, "!"},
    {CLF_ABS, 1, ARITH, o_abs, "abs"},
    {CLF_SIGN, 1, ARITH, o_sign, "sign"},
    {CLF_ROUND, 1, ARITH, o_self, "round"},
    {CLF_FLOOR, 1, ARITH, o_self, "floor"},
    {CLF_CEIL, 1, ARITH, o_self, "ceil"},
    {CLF_SQR, 1, ARITH, o_sqr, "sqr"},
    {CLF_ISNAN, 1, COMPARE, o_false, "is.nan"},
    {CLF_IFELSE, 3, SELECT, o_ifelse, "ifelse"},
    {CLF_REPLACE, 3, FIRST, o_replace, "replace"},
    {0, 0, ARITH, o_false, ""},
};
