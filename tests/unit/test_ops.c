/* SPDX-License-Identifier: Apache-2.0
 * Every row of ops.def: its text in every element type against the oracle, every flag as a claim (and its absence as the opposite
 * claim, where that is decidable), the type rules against a table written from the contract. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/op.h"
#include "tests/oracle/op_texts.h"
#include "tests/oracle/ops_oracle.h"

enum { MAX_REPORTS = 5 };

static void report(int op, clf_dtype t, const clf_scalar in[3], clf_scalar got, const oracle_result *want) {
    printf("\n    %s %s(%.17g, %.17g, %.17g) = %.17g, oracle %.20Lg / %lld, tolerance %.3Lg", clf_ops[op].id, clf_dtype_name(t),
           clf_scalar_as_f64(in[0]), clf_scalar_as_f64(in[1]), clf_scalar_as_f64(in[2]), clf_scalar_as_f64(got), want->exact,
           (long long)want->integer, want->tol);
}

static size_t check_text(int op, clf_dtype t) {
    size_t n = oracle_op_cases(op, t, NULL, 0), bad = 0;
    clf_scalar(*in)[3] = calloc(n ? n : 1, sizeof *in);
    if (!in) return 1;
    oracle_op_cases(op, t, in, n);
    for (size_t i = 0; i < n; i++) {
        oracle_result want;
        clf_scalar got = op_texts[op].fn[t](in[i]);
        if (oracle_op(op, t, in[i], &want) && oracle_agrees(&want, got)) continue;
        if (bad++ < MAX_REPORTS) report(op, t, in[i], got, &want);
    }
    free(in);
    return bad;
}

static void test_texts(void) {
    for (int op = 0; op < CLF_NOPS; op++)
        for (int t = 0; t < CLF_NDTYPES; t++) CU_ASSERT_EQUAL(check_text(op, (clf_dtype)t), 0);
}

/* Every operator has a meaning in floats, and one in integers unless its rule is FLOAT. */
static void test_oracle_is_complete(void) {
    for (int op = 0; op < CLF_NOPS; op++)
        for (int t = 0; t < CLF_NDTYPES; t++) {
            bool wanted = t <= CLF_F64 || clf_ops[op].type != CLF_TYPE_FLOAT;
            bool good = (oracle_op_cases(op, (clf_dtype)t, NULL, 0) > 0) == wanted;
            if (!good)
                printf("\n    %s in %s: no row of tests/oracle/ops_oracle.c, and no steps", clf_ops[op].id, clf_dtype_name((clf_dtype)t));
            CU_ASSERT(good);
        }
}

/* What operators without a row would mean: the same as the row, where a text is made of other operators. */
static void test_steps_mean_the_row(void) {
    int found = 0;
    for (int op = 0; op < CLF_NOPS; op++) {
        op_steps steps;
        bool others = op_steps_of(&steps, op);
        for (int i = 0; i < steps.n; i++) others = others && !(steps.step[i].kind == OP_CALL && steps.step[i].which == op);
        found += others;
        for (int t = 0; t < CLF_NDTYPES && others; t++) {
            size_t n = oracle_op_cases(op, (clf_dtype)t, NULL, 0);
            clf_scalar(*in)[3] = calloc(n ? n : 1, sizeof *in);
            if (in) oracle_op_cases(op, (clf_dtype)t, in, n);
            for (size_t i = 0; in && i < n; i++) {
                oracle_result row, made;
                CU_ASSERT(oracle_op(op, (clf_dtype)t, in[i], &row) && oracle_steps(&steps, (clf_dtype)t, in[i], &made));
                bool same = row.exact == made.exact ? !signbit(row.exact) == !signbit(made.exact)
                                                    : row.exact != row.exact && made.exact != made.exact;
                CU_ASSERT(same && row.integer == made.integer);
            }
            free(in);
        }
    }
    CU_ASSERT(found >= 4); /* > >= sqr replace */
}

/* Texts that have no steps: operands, numbers and exact operators of the right arity, and nothing open. */
static void test_steps_refuse(void) {
    static const char *const bad[] = {"",
                                      "d",
                                      "a)",
                                      "a b",
                                      "a)b",
                                      "E_MAX(a",
                                      "E_MAX(a)",
                                      "E_MAX(a, b, c)",
                                      "E_EXP(a)",
                                      "E_ERFC(a)",
                                      "E_NONE(a)",
                                      "E_C(x)",
                                      "E_C(1",
                                      "E_",
                                      "E_ABS(E_ABS(E_ABS(E_ABS(E_ABS(E_ABS(E_ABS(E_ABS(E_ABS(a)))))))))"};
    op_steps s;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) CU_ASSERT(!op_steps_parse(&s, bad[i]) && s.n == 0);
    CU_ASSERT(op_steps_parse(&s, "E_MAX(a, E_C(-0.5))") && s.n == 3);
    CU_ASSERT(s.step[1].number == -0.5 && s.step[2].which == CLF_OP_MAX && s.step[2].arity == 2);
    CU_ASSERT(!op_steps_of(&s, -1) && !op_steps_of(&s, CLF_OP_LEAF));
}

/* The oracle must be able to say no. */
static void test_oracle_refuses(void) {
    clf_scalar in[3] = {clf_scalar_f64(2), clf_scalar_f64(3), clf_scalar_f64(0)};
    oracle_result want;
    CU_ASSERT(oracle_op(CLF_OP_ADD, CLF_F64, in, &want) && oracle_agrees(&want, clf_scalar_f64(5)));
    CU_ASSERT(!oracle_agrees(&want, clf_scalar_f64(nextafter(5, 6))) && !oracle_agrees(&want, clf_scalar_f64(NAN)));
    CU_ASSERT(!oracle_agrees(&want, clf_scalar_i64(5)));
    CU_ASSERT(oracle_op(CLF_OP_EXP, CLF_F64, in, &want) && oracle_agrees(&want, clf_scalar_f64(exp(2))));
    CU_ASSERT(!oracle_agrees(&want, clf_scalar_f64(exp(2) * (1 + 0x1p-49))) && !oracle_agrees(&want, clf_scalar_f64(INFINITY)));
    in[0].u.f = NAN;
    CU_ASSERT(oracle_op(CLF_OP_MAX, CLF_F64, in, &want) && !oracle_agrees(&want, clf_scalar_f64(3)));
    in[0].u.f = -0.0;
    CU_ASSERT(oracle_op(CLF_OP_FLOOR, CLF_F64, in, &want) && !oracle_agrees(&want, clf_scalar_f64(0.0)));
    CU_ASSERT(!oracle_op(CLF_NOPS, CLF_F64, in, &want) && !oracle_op(-1, CLF_F64, in, &want));
}

/* ---- claims -------------------------------------------------------------------------------------------------------------- */

static bool equal(clf_scalar a, clf_scalar b) { /* as values: zeros of both signs are one, NaN is NaN */
    double x = clf_scalar_as_f64(a), y = clf_scalar_as_f64(b);
    return x == y || (isnan(x) && isnan(y));
}

/* What the cases of a type show about an operator; each field starts true and is refuted by a counterexample. */
typedef struct shown {
    bool comm, boolean, annih, annih_a;
} shown;

static void look(int op, clf_dtype t, const clf_scalar in[3], shown *s) {
    op_text_fn *fn = op_texts[op].fn[t];
    clf_scalar r = fn(in), swapped[3] = {in[1], in[0], in[2]};
    double x = clf_scalar_as_f64(in[0]), y = clf_scalar_as_f64(in[1]), z = clf_scalar_as_f64(r);
    if (z != 0 && z != 1) s->boolean = false;
    if (clf_ops[op].arity != 2) return;
    if (!equal(r, fn(swapped))) s->comm = false;
    bool left = x == 0 && isfinite(y), right = y == 0 && isfinite(x);
    if ((left || right) && z != 0) s->annih = false;
    if (left && y != 0 && z != 0) s->annih_a = false;
}

static shown look_at_all(int op, clf_dtype t) {
    shown s = {true, true, true, true};
    size_t n = oracle_op_cases(op, t, NULL, 0);
    clf_scalar(*in)[3] = calloc(n ? n : 1, sizeof *in);
    if (!in) return (shown){0};
    oracle_op_cases(op, t, in, n);
    for (size_t i = 0; i < n; i++) look(op, t, in[i], &s);
    free(in);
    return s;
}

static void check_claims(int op, clf_dtype t) {
    unsigned flags = clf_ops[op].flags;
    shown s = look_at_all(op, t);
    bool binary = clf_ops[op].arity == 2, as_claimed = s.boolean == ((flags & F_BOOL) != 0);
    if (binary) as_claimed &= s.comm == ((flags & F_COMM) != 0);
    if (!binary) as_claimed &= (flags & (F_COMM | F_ANNIH | F_ANNIH_A)) == 0;
    if (flags & F_ANNIH) as_claimed &= s.annih;
    if (flags & F_ANNIH_A) as_claimed &= s.annih_a;
    if (!as_claimed) printf("\n    %s in %s: a flag is wrong", clf_ops[op].id, clf_dtype_name(t));
    CU_ASSERT(as_claimed);
}

static void test_claims_on_values(void) {
    for (int op = 0; op < CLF_NOPS; op++) {
        check_claims(op, CLF_F32);
        check_claims(op, CLF_F64);
        if (clf_ops[op].type == CLF_TYPE_FLOAT) continue;
        if ((clf_ops[op].flags & F_BOOL) || op == CLF_OP_ADD || op == CLF_OP_SUB || op == CLF_OP_MUL) check_claims(op, CLF_I32);
    }
}

/* r = op(a, b) where operand k of it is not zero, else that zero: as structural zeros mean it. */
static clf_scalar annihilated(int op, int k, const clf_scalar in[3]) {
    clf_scalar r = op_texts[op].fn[in[0].dtype](in), pick[3] = {in[k], r, in[k]};
    return op_texts[CLF_OP_IFELSE].fn[in[0].dtype](pick);
}

/* What an annihilator's zero meets does not matter. Two things that lowering leaves out for it follow from the text alone: truth
 * values are 0 whatever 0 meets, and 0 with itself gives 0 where both operands annihilate. */
static void test_claim_annihilates(void) {
    static const double met[] = {0, -0.0, 1, -2.5, 1e300, INFINITY, -INFINITY, NAN};
    for (int op = 0; op < CLF_NOPS; op++) {
        unsigned one = clf_op_annihilators(op), flags = clf_ops[op].flags;
        CU_ASSERT_EQUAL(one, flags & F_ANNIH ? 3u : flags & F_ANNIH_A ? 1u : 0u);
        CU_ASSERT(!one || clf_ops[op].arity == 2);
        for (int k = 0; k < 2; k++)
            for (size_t i = 0; i < sizeof met / sizeof *met && (one >> k & 1); i++) {
                clf_scalar in[3] = {clf_scalar_f64(0), clf_scalar_f64(0), clf_scalar_f64(0)};
                in[1 - k] = clf_scalar_f64(met[i]);
                double text = clf_scalar_as_f64(op_texts[op].fn[CLF_F64](in));
                CU_ASSERT(clf_scalar_as_f64(annihilated(op, k, in)) == 0);
                CU_ASSERT(text == 0 || !isfinite(met[i]) || (met[i] == 0 && !(flags & F_ANNIH)));
                CU_ASSERT(text == 0 || !(flags & F_BOOL));
            }
    }
    CU_ASSERT(clf_op_annihilators(CLF_OP_MUL) == 3 && clf_op_annihilators(CLF_OP_AND) == 3 && clf_op_annihilators(CLF_OP_DIV) == 1);
    CU_ASSERT(clf_op_annihilators(CLF_OP_ADD) == 0 && clf_op_annihilators(CLF_OP_MATMUL) == 0 && clf_op_annihilators(-1) == 0);
}

static void test_claim_zero(void) {
    for (int op = 0; op < CLF_NOPS; op++) {
        if (clf_ops[op].arity != 1) {
            CU_ASSERT_EQUAL(clf_ops[op].flags & F_ZERO, 0);
            continue;
        }
        for (int t = CLF_F32; t <= CLF_F64; t++) {
            clf_scalar zero = {.dtype = (clf_dtype)t}, in[3] = {zero, zero, zero};
            bool is_zero = clf_scalar_as_f64(op_texts[op].fn[t](in)) == 0;
            in[0].u.f = -0.0;
            is_zero &= clf_scalar_as_f64(op_texts[op].fn[t](in)) == 0;
            if (is_zero != ((clf_ops[op].flags & F_ZERO) != 0)) printf("\n    %s: F_ZERO is wrong", clf_ops[op].id);
            CU_ASSERT_EQUAL(is_zero, (clf_ops[op].flags & F_ZERO) != 0);
        }
    }
}

/* F_EXACT: on small integers f32 and f64 give the same value; every other operator rounds somewhere. */
static void test_claim_exact(void) {
    for (int op = 0; op < CLF_NOPS; op++) {
        bool same = true;
        for (int i = 0; i < 17 * 17 * 17; i++) {
            double x[3] = {i % 17 - 8, i / 17 % 17 - 8, i / 289 - 8};
            clf_scalar s[3], d[3];
            for (int j = 0; j < 3; j++) d[j] = clf_scalar_f64(x[j]), s[j] = clf_scalar_to(d[j], CLF_F32);
            same &= equal(op_texts[op].fn[CLF_F32](s), op_texts[op].fn[CLF_F64](d));
        }
        CU_ASSERT_EQUAL(same, (clf_ops[op].flags & F_EXACT) != 0);
        CU_ASSERT((clf_ops[op].flags & (F_EXACT | F_ELEM)) != (F_EXACT | F_ELEM));
    }
}

/* F_ELEM: exactly the texts that call an elementary function. */
static void test_claim_elementary(void) {
    static const char *const functions[] = {"E_POW(",   "E_ATAN2(", "E_EXP(",  "E_EXPM1(", "E_LOG(",  "E_LOG1P(", "E_LOG2(",
                                            "E_LOG10(", "E_SIN(",   "E_COS(",  "E_TAN(",   "E_ASIN(", "E_ACOS(",  "E_ATAN(",
                                            "E_SINH(",  "E_COSH(",  "E_TANH(", "E_ERF(",   "E_ERFC("};
    for (int op = 0; op < CLF_NOPS; op++) {
        bool calls = false;
        for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) calls |= strstr(clf_ops[op].text, functions[i]) != NULL;
        CU_ASSERT_EQUAL(calls, (clf_ops[op].flags & F_ELEM) != 0);
    }
}

/* ---- names and types ------------------------------------------------------------------------------------------------------ */

static void test_find(void) {
    CU_ASSERT_EQUAL(clf_op_find("+"), CLF_OP_ADD);
    CU_ASSERT_EQUAL(clf_op_find("-"), CLF_OP_SUB);
    CU_ASSERT_EQUAL(clf_op_find("mul"), CLF_OP_MUL);
    CU_ASSERT_EQUAL(clf_op_find("is.nan"), CLF_OP_ISNAN);
    CU_ASSERT_EQUAL(clf_op_find("%/%"), CLF_OP_IDIV);
    CU_ASSERT_EQUAL(clf_op_find("t"), CLF_OP_TRANSPOSE);
    CU_ASSERT_EQUAL(clf_op_find("ad"), -1);
    CU_ASSERT_EQUAL(clf_op_find(""), -1);
    for (int op = 0; op < CLF_NALLOPS; op++) {
        CU_ASSERT_EQUAL(clf_op_find(clf_ops[op].name), op);
        CU_ASSERT_EQUAL(clf_op_is_cell(op), clf_ops[op].text != NULL);
        if (clf_op_is_cell(op)) CU_ASSERT(clf_ops[op].arity >= 1 && clf_ops[op].arity <= 3 && clf_ops[op].flops > 0);
    }
}

/* From the contract: f32 with f64 gives f64, i64 with f32 f64, i32 or u8 with f32 f32. Rows and columns f32 f64 i32 i64 u8. */
static const char *const together[CLF_NDTYPES] = {"fdfdf", "ddddd", "fdili", "ddlll", "fdilu"};
static clf_dtype from_letter(char c) { return (clf_dtype)(strchr("fdilu", c) - "fdilu"); }

static const char *const comparisons[] = {"<", "<=", ">", ">=", "==", "!=", "&", "|", "xor", "!", "is.nan", "is.infinite"};
static const char *const integer_keeping[] = {"+",      "-",   "*",   "%%",   "%/%",   "min",   "max",  "bitwAnd",
                                              "bitwOr", "neg", "abs", "sign", "round", "floor", "ceil", "sqr"};
#define LISTED(list, name) is_listed(list, sizeof(list) / sizeof *(list), name)
static bool is_listed(const char *const *list, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(list[i], name) == 0) return true;
    return false;
}

/* The contract's rule for the type an operator works in and the type it gives. It names those up to replace; of what came later the row
 * says which kind it is. */
static void contract_type(int op, const clf_dtype *in, const bool *scalar, clf_dtype *work, clf_dtype *result) {
    const char *name = clf_ops[op].name;
    int n = clf_ops[op].arity;
    bool later = op > CLF_OP_REPLACE, all_scalar = true;
    bool chooses = later ? clf_ops[op].type == CLF_TYPE_SELECT : strcmp(name, "ifelse") == 0;
    bool replaces = later ? clf_ops[op].type == CLF_TYPE_FIRST : strcmp(name, "replace") == 0;
    int first = chooses ? 1 : 0, last = replaces ? 1 : n;
    char c = '\0';
    for (int i = first; i < last; i++) all_scalar &= scalar[i];
    for (int i = first; i < last; i++)
        if (all_scalar || !scalar[i]) c = c ? together[from_letter(c)][in[i]] : "fdilu"[in[i]];
    for (int i = first; i < last; i++)
        if (!all_scalar && scalar[i] && (in[i] == CLF_F32 || in[i] == CLF_F64) && c != 'f' && c != 'd')
            c = 'd'; /* a real number makes integers real */
    bool compares = later ? clf_ops[op].type == CLF_TYPE_CMP : LISTED(comparisons, name);
    bool keeps = later ? clf_ops[op].type == CLF_TYPE_ARITH : LISTED(integer_keeping, name);
    if (keeps && c == 'u') c = 'i';
    if (!compares && !keeps && !chooses && !replaces && strchr("ilu", c)) c = 'd';
    *work = from_letter(c);
    *result = compares ? CLF_U8 : *work;
}

static void test_types(void) {
    for (int op = 0; op < CLF_NOPS; op++) {
        int n = clf_ops[op].arity, combos = n == 1 ? 10 : n == 2 ? 100 : 1000;
        for (int i = 0; i < combos; i++) {
            clf_dtype in[3] = {(clf_dtype)(i % 5), (clf_dtype)(i / 10 % 5), (clf_dtype)(i / 100 % 5)}, work, result, got;
            bool scalar[3] = {i % 10 >= 5, i / 10 % 10 >= 5, i / 100 % 10 >= 5};
            contract_type(op, in, scalar, &work, &result);
            bool same = clf_op_type((clf_op)op, n, in, scalar, &got) == work && got == result;
            if (!same) printf("\n    %s: wrong type in combination %d", clf_ops[op].name, i);
            CU_ASSERT(same);
        }
    }
}

int main(void) {
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("operators", NULL, NULL);
    CU_add_test(s, "the oracle knows every operator", test_oracle_is_complete);
    CU_add_test(s, "the oracle can refuse", test_oracle_refuses);
    CU_add_test(s, "an operator without a row is the steps of its text", test_steps_mean_the_row);
    CU_add_test(s, "texts without steps", test_steps_refuse);
    CU_add_test(s, "every text in every type", test_texts);
    CU_add_test(s, "claims on values", test_claims_on_values);
    CU_add_test(s, "claim: zeros annihilate", test_claim_annihilates);
    CU_add_test(s, "claim: f(0) is 0", test_claim_zero);
    CU_add_test(s, "claim: exact on small integers", test_claim_exact);
    CU_add_test(s, "claim: elementary", test_claim_elementary);
    CU_add_test(s, "names", test_find);
    CU_add_test(s, "type rules", test_types);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return bad;
}
