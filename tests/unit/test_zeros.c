/* SPDX-License-Identifier: Apache-2.0
 * What recording says of zeros: which expressions keep them structural. Expectations come from f(0) worked out by hand. */
#include <math.h>

#include "tests/support/net.h"
#include "tests/unit/zeros_testing.h"

static const char *const structural[] = {
    "S",
    "S * D",
    "D * S",
    "S * u",
    "u * S",
    "S * NaN",
    "S / D",
    "S / 0",
    "S / S",
    "S + T",
    "S - T",
    "S - S",
    "S + 0",
    "0 + S",
    "S - 0",
    "-S",
    "abs(S)",
    "sign(S)",
    "round(S)",
    "floor(S)",
    "ceil(S)",
    "sqrt(S)",
    "sqr(S)",
    "S ^ 2",
    "S ^ 0.5",
    "S ^ 3",
    "S != 0",
    "S > 0",
    "0 < S",
    "S < 0",
    "S > 5",
    "S < -1",
    "S == 3",
    "3 == S",
    "min(S, 3)",
    "max(S, -1)",
    "max(S, 0)",
    "min(S, T)",
    "max(S, T)",
    "max(S, 0 - 1)",
    "S > -(3 - 2)  &  S != 0",
    "sin(S)",
    "tan(S)",
    "asin(S)",
    "atan(S)",
    "sinh(S)",
    "tanh(S)",
    "erf(S)",
    "expm1(S)",
    "log1p(S)",
    "is.nan(S)",
    "is.infinite(S)",
    "ifelse(S, D, 0)",
    "ifelse(S, D, T)",
    "ifelse(D, S, 0)",
    "ifelse(D, S, T)",
    "ifelse(u, S, T)",
    "ifelse(0, D, S)",
    "replace(target=S, pattern=3, replacement=7)",
    "replace(target=S, pattern=NaN, replacement=0)",
    "replace(target=S, pattern=u, replacement=0)",
    "S & D",
    "D & S",
    "S & NaN",
    "S | T",
    "xor(S, T)",
    "S %% 3",
    "S %/% 2",
    "atan2(S, 1)",
    "t(S)",
    "cbind(S, T)",
    "rbind(S, T, S)",
    "S[2:3, ]",
    "S[, 1]",
    "rev(S)",
    "diag(s)",
    "diag(S[1:6, ])",
    "as.matrix(S[1, 1])",
    "as.scalar(S[1, 1]) * D",
    "D * s",
    "s * D",
    "S * s",
    "S + s",
    "I",
    "I * J",
    "I / J",
    "I %% J",
    "I %/% J",
    "I + I",
    "I > 0",
    "I * 0.5",
    "I * D",
    "F * D",
    "F ^ 2",
    "min(F, 1e-300)",
    "(S != 0) * (D - S)",
    "S * (D + 1)",
    "abs(S) * 2 + T",
    "max(S, as.scalar(matrix(0, rows=1, cols=1)) - 1)",
    "max(S, matrix(-1, rows=8, cols=6))",
    "S * exp(S)",
};

static const char *const valued[] = {
    "D",
    "D * D",
    "u * u",
    "u * 0",
    "S + D",
    "S + 1",
    "1 + S",
    "S + u",
    "S - 1",
    "S - u",
    "exp(S)",
    "cos(S)",
    "S ^ 0",
    "S ^ u",
    "S ^ D",
    "D ^ S",
    "S ^ -1",
    "S ^ T",
    "D / S",
    "1 / S",
    "0 / S + S",
    "S == 0",
    "S >= 0",
    "S <= 0",
    "!S",
    "S > -1",
    "S < 1",
    "S != 1",
    "max(S, 3)",
    "min(S, -1)",
    "max(S, D)",
    "min(S, u)",
    "S | D",
    "S | 1",
    "xor(S, D)",
    "ifelse(S, 0, D)",
    "ifelse(S, D, 1)",
    "ifelse(S, T, 1)",
    "ifelse(D, S, 1)",
    "replace(target=S, pattern=0, replacement=1)",
    "replace(target=S, pattern=u, replacement=7)",
    "S %% D",
    "S %/% D",
    "S %% 0",
    "S %/% 0",
    "log(S)",
    "sigmoid(S)",
    "pnorm(S)",
    "acos(S)",
    "cosh(S)",
    "atan2(S, D)",
    "atan2(S, -1)",
    "atan2(S, S - 1)",
    "sum(S)",
    "rowSums(S)",
    "colMaxs(S)",
    "S %*% t(D)",
    "S %*% t(S)",
    "cumsum(S)",
    "cbind(S, D)",
    "rbind(D, S)",
    "J * J",
    "I + J",
    "I ^ 0",
    "D == D",
    "order(target=S)",
    "seq(0, 3)",
    "matrix(0, rows=3, cols=2)",
    "rand(rows=4, cols=4, sparsity=0.1)",
    "outer(D[, 1], D[, 1])",
    "sum(S) * D",
    "matrix(S, rows=6, cols=8)",
    "exp(S) - 1",
    "replace(target=D, pattern=NaN, replacement=S)",
};

static void check_zeros(const char *const *list, size_t n, uint8_t want) {
    clf_ctx *c = open_host();
    for (size_t i = 0; i < n; i++) {
        uint8_t got = expression(c, list[i])->node->g.zeros;
        if (got != want) printf("\n    %s: %s\n", list[i], got ? "structural" : "value");
        CU_ASSERT_EQUAL(got, want);
    }
    clf_close(c);
}

static void test_structural(void) { check_zeros(structural, sizeof structural / sizeof *structural, CLF_ZEROS_STRUCTURAL); }
static void test_valued(void) { check_zeros(valued, sizeof valued / sizeof *valued, CLF_ZEROS_VALUE); }

/* An operator said to give 0 for every unknown operand does so for numbers the decision never saw. */
static void test_forced_holds(void) {
    static const clf_dtype types[] = {CLF_F64, CLF_F32, CLF_I64, CLF_I32, CLF_U8};
    long claims = 0, tried = 0;
    uint64_t r = 88172645463325252U;
    for (int op = 0; op < CLF_NOPS; op++)
        for (size_t k = 0; k < sizeof types / sizeof *types; k++)
            for (unsigned zero = 1; zero < 1U << clf_ops[op].arity; zero++) {
                clf_zeros_operand x[3];
                int n = clf_ops[op].arity;
                for (int i = 0; i < n; i++) x[i] = (clf_zeros_operand){zero >> i & 1, clf_scalar_i64(0)};
                if (!clf_zeros_forced((clf_op)op, types[k], n, x)) continue;
                claims++;
                for (int round = 0; round < 2000; round++, tried++) {
                    clf_zeros_operand y[3];
                    for (int i = 0; i < n; i++) {
                        r ^= r << 13, r ^= r >> 7, r ^= r << 17;
                        clf_scalar any = round & 1 ? clf_scalar_i64((int64_t)(r >> (r & 63))) : clf_scalar_f64(0);
                        if (!(round & 1)) memcpy(&any.u.f, &r, sizeof r);
                        y[i] = x[i].known ? x[i] : (clf_zeros_operand){true, clf_scalar_to(any, types[k])};
                    }
                    clf_scalar got = clf_zeros_value((clf_op)op, types[k], n, y);
                    if (clf_scalar_as_f64(got) != 0) printf("\n    %s of %s is not 0\n", clf_ops[op].id, clf_dtype_name(types[k]));
                    CU_ASSERT_EQUAL_FATAL(clf_scalar_as_f64(got), 0);
                }
            }
    CU_ASSERT(claims > 100);
    net_figure("operators claimed to be 0 at 0, tried on other numbers", "%ld claims, %ld numbers", claims, tried);
}

/* ieee: no zeros annihilate, for whoever asks, and back. */
static void test_ieee(void) {
    clf_ctx *c = open_host();
    clf_mat *m = expression(c, "S * D");
    clf_storage s = {.struct_size = sizeof s};
    for (int ieee = 0; ieee < 2; ieee++) {
        clf_frozen f;
        clf_err err = {CLF_OK, ""};
        CU_ASSERT_EQUAL(clf_set(c, "sparse", ieee ? "ieee" : "structural"), CLF_OK);
        CU_ASSERT_EQUAL_FATAL(clf_freeze(c, 1, &m->node, 0, NULL, &f, &err), CLF_OK);
        int kept = 0;
        for (int32_t i = 0; i < f.g.n; i++) kept += f.g.node[i].zeros == CLF_ZEROS_STRUCTURAL;
        CU_ASSERT_EQUAL(kept, ieee ? 0 : 2);
        clf_frozen_release(&f);
        CU_ASSERT_EQUAL(clf_storage_of(m, &s), CLF_OK);
        CU_ASSERT_EQUAL(s.structural, !ieee);
    }
    expect_error(c, clf_set(c, "sparse", "maybe"), CLF_E_NAME, "structural|ieee");
    clf_close(c);
}

/* Facts are functions of the expression: recorded again, the same nodes. */
static void test_same_nodes(void) {
    clf_ctx *c = open_host();
    clf_binding b[8];
    size_t n = bindings(c, b);
    for (size_t i = 0; i < sizeof structural / sizeof *structural; i++)
        CU_ASSERT_PTR_EQUAL(clf_expr(c, structural[i], b, n)->node, clf_expr(c, structural[i], b, n)->node);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {
        {"structural zeros stay", test_structural},
        {"other zeros are numbers", test_valued},
        {"a claim of 0 holds for other numbers", test_forced_holds},
        {"ieee", test_ieee},
        {"hash-consing with facts", test_same_nodes},
    };
    return run_suite("zeros", tests, sizeof tests / sizeof *tests);
}
