/* SPDX-License-Identifier: Apache-2.0
 * The grad column of ops.def: each derivative is parsed and evaluated here (by a small recursive-descent evaluator of the language's
 * expressions, with its precedences) and compared with difference quotients of the oracle wherever those show the operator smooth. */
#include <CUnit/Basic.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/op.h"
#include "tests/oracle/ops_oracle.h"

/* ---- evaluator ----------------------------------------------------------------------------------------------------------- */

typedef long double real;
typedef struct reader {
    const char *at;
    real a, b, c, o, g;
    bool bad;
} reader;

static real parse_or(reader *r);

static bool take(reader *r, const char *token) {
    while (*r->at == ' ') r->at++;
    size_t n = strlen(token);
    if (strncmp(r->at, token, n) != 0) return false;
    r->at += n;
    return true;
}

static real fail(reader *r) {
    r->bad = true;
    r->at += strlen(r->at);
    return 0;
}

static real f_sign(real x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static real f_is_nan(real x) { return isnan(x); }

static const struct {
    const char *name;
    real (*fn)(real);
} functions[] = {
    {"log", logl},   {"exp", expl},   {"sqrt", sqrtl},  {"sin", sinl},        {"cos", cosl},
    {"sinh", sinhl}, {"cosh", coshl}, {"sign", f_sign}, {"is.nan", f_is_nan},
};

static real call(reader *r, const char *name, size_t n) {
    real arg[3] = {0};
    int args = 0;
    do arg[args++] = parse_or(r);
    while (args < 3 && take(r, ","));
    if (!take(r, ")")) return fail(r);
    if (args == 3 && n == 6 && memcmp(name, "ifelse", n) == 0) return arg[0] != 0 ? arg[1] : arg[2];
    for (size_t i = 0; args == 1 && i < sizeof functions / sizeof *functions; i++)
        if (strlen(functions[i].name) == n && memcmp(functions[i].name, name, n) == 0) return functions[i].fn(arg[0]);
    return fail(r);
}

static real variable(reader *r, char name) {
    switch (name) {
    case 'a': return r->a;
    case 'b': return r->b;
    case 'c': return r->c;
    case 'o': return r->o;
    case 'g': return r->g;
    default: return fail(r);
    }
}

static real parse_primary(reader *r) {
    if (take(r, "(")) {
        real x = parse_or(r);
        return take(r, ")") ? x : fail(r);
    }
    if (isdigit((unsigned char)*r->at)) {
        char *end;
        real x = strtold(r->at, &end);
        r->at = end;
        return x;
    }
    const char *name = r->at;
    size_t n = 0;
    while (isalnum((unsigned char)name[n]) || name[n] == '.') n++;
    r->at += n;
    if (take(r, "(")) return call(r, name, n);
    return n == 1 ? variable(r, *name) : fail(r);
}

static real parse_unary(reader *r);
static real parse_power(reader *r) {
    real x = parse_primary(r);
    return take(r, "^") ? powl(x, parse_unary(r)) : x;
}
static real parse_unary(reader *r) { return take(r, "-") ? -parse_unary(r) : parse_power(r); }
static real parse_mod(reader *r) {
    real x = parse_unary(r);
    while (take(r, "%/%")) x = floorl(x / parse_unary(r));
    return x;
}
static real parse_product(reader *r) {
    real x = parse_mod(r);
    for (;;) {
        if (take(r, "*"))
            x *= parse_mod(r);
        else if (take(r, "/"))
            x /= parse_mod(r);
        else
            return x;
    }
}
static real parse_sum(reader *r) {
    real x = parse_product(r);
    for (;;) {
        if (take(r, "+"))
            x += parse_product(r);
        else if (take(r, "-"))
            x -= parse_product(r);
        else
            return x;
    }
}
static real parse_comparison(reader *r) {
    real x = parse_sum(r);
    if (take(r, "<=")) return x <= parse_sum(r);
    if (take(r, ">=")) return x >= parse_sum(r);
    if (take(r, "==")) return x == parse_sum(r);
    if (take(r, "!=")) return x != parse_sum(r);
    if (take(r, "<")) return x < parse_sum(r);
    if (take(r, ">")) return x > parse_sum(r);
    return x;
}
static real parse_not(reader *r) { return take(r, "!") ? parse_not(r) == 0 : parse_comparison(r); }
static real parse_or(reader *r) { /* & and | do not occur in the table */
    return parse_not(r);
}

/* The i-th derivative of a grad column. */
static real evaluate(const char *grad, int i, reader values, bool *ok) {
    values.at = grad;
    for (int skip = 0; skip < i && values.at; skip++) {
        values.at = strchr(values.at, ';');
        if (values.at) values.at++;
    }
    if (!values.at) return *ok = false, 0;
    real x = parse_or(&values);
    while (*values.at == ' ') values.at++;
    *ok = !values.bad && (*values.at == '\0' || *values.at == ';');
    return x;
}

static void expect_value(const char *text, real want) {
    bool ok = false;
    reader v = {.a = 2, .b = 3, .c = -1, .o = 0.5L, .g = 10};
    CU_ASSERT(evaluate(text, 0, v, &ok) == want && ok);
}

static void test_evaluator(void) {
    bool ok = true;
    expect_value("1 + 2*3^2/9 - -1", 4);
    expect_value("-a^2", -4);
    expect_value("g*(a <= b)", 10);
    expect_value("ifelse(!is.nan(a), g*o, 7)", 5);
    expect_value("-g*(7 %/% a)", -30);
    expect_value("2^-1", 0.5L);
    evaluate("g*", 0, (reader){.g = 1}, &ok);
    CU_ASSERT(!ok);
    evaluate("nosuch(a)", 0, (reader){.g = 1}, &ok);
    CU_ASSERT(!ok);
    evaluate("g; g", 2, (reader){.g = 1}, &ok);
    CU_ASSERT(!ok);
}

/* ---- difference quotients ------------------------------------------------------------------------------------------------ */

static real value_at(int op, const double x[3]) {
    clf_scalar in[3] = {clf_scalar_f64(x[0]), clf_scalar_f64(x[1]), clf_scalar_f64(x[2])};
    oracle_result r;
    return oracle_op(op, CLF_F64, in, &r) ? r.exact : NAN;
}

/* Central difference in input i; false where the one-sided ones disagree (a jump, a kink, the edge of the domain). */
static bool difference(int op, const double x[3], int i, real *out) {
    double up[3] = {x[0], x[1], x[2]}, down[3] = {x[0], x[1], x[2]};
    up[i] += 1e-5;
    down[i] -= 1e-5;
    real here = value_at(op, x), right = (value_at(op, up) - here) / ((real)up[i] - x[i]);
    real left = (here - value_at(op, down)) / ((real)x[i] - down[i]);
    *out = (left + right) / 2;
    return fabsl(left - right) <= 1e-2L * (1 + fabsl(*out)); /* false for NaN */
}

/* How many points confirm the derivative of op in input i; -1 when one refutes it. */
static int confirm(int op, int i) {
    static const double points[] = {0.3, 0.7, 1.7, 2.6, -0.6, -2.3, 0.0, 0.7};
    static const double shift[] = {0, 0.05, 0.11}; /* no ties where they are kinks; replace needs a == b, but c apart */
    int confirmed = 0, arity = clf_ops[op].arity;
    for (int p = 0; p < 8 * 8 * 8; p++) {
        double x[3];
        real want;
        bool ok, kink = false;
        if ((arity < 2 && p >= 8) || (arity < 3 && p >= 64)) break;
        for (int j = 0; j < 3; j++) x[j] = points[p >> 3 * j & 7] + (arity == 2 || j == 2 ? shift[j] : 0);
        for (int j = 0; j < arity; j++) kink |= arity < 3 && fabs(x[j]) < 0.2;
        if (kink || !difference(op, x, i, &want)) continue;
        reader v = {.a = x[0], .b = x[1], .c = x[2], .o = value_at(op, x), .g = 1.25L};
        real got = evaluate(clf_ops[op].grad, i, v, &ok);
        if (!ok || !(fabsl(got - want * v.g) <= 1e-8L * (1 + fabsl(got)))) {
            printf("\n    %s, input %d at (%g, %g, %g): '%s' gives %Lg, differences %Lg", clf_ops[op].id, i, x[0], x[1], x[2],
                   clf_ops[op].grad, got, want * v.g);
            return -1;
        }
        confirmed++;
    }
    return confirmed;
}

static void test_derivatives(void) {
    for (int op = 0; op < CLF_NOPS; op++)
        for (int i = 0; i < clf_ops[op].arity; i++) CU_ASSERT(confirm(op, i) >= 3);
}

static void test_one_derivative_per_input(void) {
    for (int op = 0; op < CLF_NOPS; op++) {
        int parts = 1;
        for (const char *s = clf_ops[op].grad; *s; s++) parts += *s == ';';
        CU_ASSERT_EQUAL(parts, clf_ops[op].arity);
    }
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("operators: derivatives", NULL, NULL);
    CU_add_test(s, "evaluator", test_evaluator);
    CU_add_test(s, "one derivative per input", test_one_derivative_per_input);
    CU_add_test(s, "derivatives against differences", test_derivatives);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
