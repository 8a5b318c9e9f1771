/* SPDX-License-Identifier: Apache-2.0
 * The edges of the language: brackets and separators where they do not belong, failures found while a waiting operator is applied,
 * what must be known and is not, names and numbers too long, and the arithmetic of numbers known while the program is read. */
#include "tests/unit/api_testing.h"

enum { VARS = 9 };
typedef struct fixture {
    clf_ctx *c;
    clf_binding var[VARS];
} fixture;

static fixture open_fixture(void) {
    clf_ctx *c = open_host();
    return (fixture){c,
                     {{"X", clf_param(c, CLF_F64, 4, 3, false)},
                      {"Y", clf_param(c, CLF_F32, 4, 3, false)},
                      {"I", clf_param(c, CLF_I32, 4, 3, false)},
                      {"Z", clf_param(c, CLF_F64, 0, 3, false)},
                      {"u", clf_param(c, CLF_F64, 4, 1, false)},
                      {"s", clf_param(c, CLF_F64, 1, 1, true)},
                      {"alpha1", clf_num(c, 2)},
                      {"alpha2", clf_num(c, 3)},
                      {"a_name_of_more_than_twenty_four_letters", clf_num(c, 1)}}};
}

typedef struct refused {
    const char *text;
    clf_status want;
    const char *word;
} refused;

static void refuse(const refused *row, size_t n) {
    fixture f = open_fixture();
    for (size_t i = 0; i < n; i++) {
        clf_mat *m = clf_expr(f.c, row[i].text, f.var, VARS);
        const char *text = "";
        clf_status got = clf_status_of(m, &text);
        if (got != row[i].want || !strstr(text, row[i].word)) printf("\n    %s: %s \"%s\"", row[i].text, clf_status_name(got), text);
        CU_ASSERT_EQUAL(got, row[i].want);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, row[i].word));
        clf_free(m);
    }
    clf_close(f.c);
}

static void test_brackets(void) {
    static const refused rows[] = {
        {"1, 2", CLF_E_SYNTAX, "expected the end of the statement, found ','"},
        {"(1, 2)", CLF_E_SYNTAX, "expected ')', found ','"},
        {"X[1, 2, 3]", CLF_E_SYNTAX, "expected ']', found ','"},
        {"1)", CLF_E_SYNTAX, "expected the end of the statement, found ')'"},
        {"X[1)", CLF_E_SYNTAX, "expected ']', found ')'"},
        {"1]", CLF_E_SYNTAX, "expected the end of the statement, found ']'"},
        {"(1]", CLF_E_SYNTAX, "expected ')', found ']'"},
        {"X[1]", CLF_E_SYNTAX, "an index has rows and columns"},
        {"X[1, 2", CLF_E_SYNTAX, "expected ']' for the bracket"},
        {"1:2", CLF_E_SYNTAX, "expected an operator, found ':'"},
        {"(1:2)", CLF_E_SYNTAX, "expected an operator, found ':'"},
        {"X[1:2:3, ]", CLF_E_SYNTAX, "expected an operator, found ':'"},
        {"X[1:, ]", CLF_E_SYNTAX, "expected a value, found ','"},
        {"X[:2, ]", CLF_E_SYNTAX, "expected a value, found ':'"},
        {"X ! X", CLF_E_SYNTAX, "expected an operator, found '!'"},
        {"exp(,", CLF_E_SYNTAX, "expected a value, found ','"},
        {"log(x=)", CLF_E_SYNTAX, "expected a value, found ')'"},
        {"cbind(X, , u)", CLF_E_SYNTAX, "expected a value, found ','"},
        {"(s = 2)", CLF_E_SYNTAX, "expected an operator, found '='"},
        {"1 + s = 2", CLF_E_SYNTAX, "expected an operator, found '='"},
        {"log(x = base = 2)", CLF_E_NAME, "no variable 'base'"},
        {"1; @", CLF_E_SYNTAX, "'@' is no part"},
        {"1 + X @", CLF_E_SYNTAX, "'@' is no part"},
        {"X[@", CLF_E_SYNTAX, "'@' is no part"},
        {"s @", CLF_E_SYNTAX, "'@' is no part"},
        {"(@", CLF_E_SYNTAX, "'@' is no part"},
        {"1 @", CLF_E_SYNTAX, "'@' is no part"},
    };
    refuse(rows, sizeof rows / sizeof *rows);
}

/* An operator is applied when what follows shows that its operand ends: the failure comes out there, with the operator's place. */
static void test_waiting(void) {
    static const refused rows[] = {
        {"X %*% X + 1", CLF_E_SHAPE, "column 3: %*%"},
        {"X %*% X", CLF_E_SHAPE, "column 3: %*%"},
        {"(X %*% X)", CLF_E_SHAPE, "column 4: %*%"},
        {"cbind(X %*% X, 1)", CLF_E_SHAPE, "column 9: %*%"},
        {"sum(X %*% X)", CLF_E_SHAPE, "column 7: %*%"},
        {"X[1 + 'a':2, ]", CLF_E_TYPE, "+ takes numbers"},
        {"X[1 + 'a', ]", CLF_E_TYPE, "+ takes numbers"},
        {"X[1, 1 + 'a']", CLF_E_TYPE, "+ takes numbers"},
        {"X[s:2, ]", CLF_E_ARG, "must be known"},
        {"X[s, ]", CLF_E_ARG, "must be known"},
        {"X[1, s]", CLF_E_ARG, "must be known"},
        {"X[1e300, ]", CLF_E_ARG, "not a whole number"},
        {"+'a'", CLF_E_TYPE, "takes numbers"},
        {"-'a'", CLF_E_TYPE, "takes numbers"},
        {"+(X %*% X)", CLF_E_SHAPE, "%*%"},
        {"outer('a', u)", CLF_E_TYPE, "a string is no number"},
        {"outer(u, u, '+', 1)", CLF_E_SYNTAX, "takes 2 to 3 arguments"},
    };
    refuse(rows, sizeof rows / sizeof *rows);
}

static void test_known(void) {
    static const refused rows[] = {
        {"seq(s, 2)", CLF_E_ARG, "'from' must be known"},
        {"seq(1, s)", CLF_E_ARG, "'to' must be known"},
        {"seq(1, 2, s)", CLF_E_ARG, "'by' must be known"},
        {"matrix(X, rows=s)", CLF_E_ARG, "'rows' must be known"},
        {"matrix(X, cols=s)", CLF_E_ARG, "'cols' must be known"},
        {"matrix(1, rows=s)", CLF_E_ARG, "'rows' must be known"},
        {"matrix(1, cols=s)", CLF_E_ARG, "'cols' must be known"},
        {"matrix(1, rows=-1)", CLF_E_ARG, "'rows' is -1"},
        {"matrix(X, cols=-1)", CLF_E_ARG, "'cols' is -1"},
        {"matrix(X, rows=0)", CLF_E_SHAPE, "0x1"},
        {"matrix(X, cols=0)", CLF_E_SHAPE, "1x0"},
        {"rand(2, s)", CLF_E_ARG, "'cols' must be known"},
        {"rand(2, 2, s)", CLF_E_ARG, "'min' must be known"},
        {"rand(2, 2, 0, s)", CLF_E_ARG, "'max' must be known"},
        {"rand(2, 2, 0, 1, s)", CLF_E_ARG, "'sparsity' must be known"},
        {"rand(2, 2, 0, 1, 1, s)", CLF_E_ARG, "'seed' must be known"},
        {"rand(1e300, 2)", CLF_E_ARG, "'rows' is 1.0000000000000001e+300"},
        {"rand(1.5, 2)", CLF_E_ARG, "'rows' is 1.5"},
        {"order(X, s)", CLF_E_ARG, "'by' must be known"},
        {"order(X, 1, s)", CLF_E_ARG, "'decreasing' must be known"},
        {"order(X, 1, 0, s)", CLF_E_ARG, "'index.return' must be known"},
        {"log(X, bse=2)", CLF_E_NAME, "log: no argument 'bse' (it has x,base)"},
        {"ifelse(X)", CLF_E_SYNTAX, "takes 3 arguments, found 1"},
        {"log()", CLF_E_SYNTAX, "takes 1 to 2 arguments, found 0"},
        {"log(1, 2, 3)", CLF_E_SYNTAX, "takes 1 to 2 arguments, found 3"},
        {"Z[1:1, ]", CLF_E_SHAPE, "rows 1:1 of a matrix with 0"},
        {"Z[2:0, ]", CLF_E_SHAPE, "select nothing"},
        {"Z[0:0, ]", CLF_E_SHAPE, "rows 0:0"},
        {"X[1:0, ]", CLF_E_SHAPE, "select nothing"},
        {"X[1 %% 0, ]", CLF_E_ARG, "not a whole number"},
        {"X[min(NaN, 1), ]", CLF_E_ARG, "not a whole number"},
        {"X[max(NaN, 1), ]", CLF_E_ARG, "not a whole number"},
        {"X[sqrt(2), ]", CLF_E_ARG, "not a whole number"},
        {"X[exp(0), ]", CLF_E_ARG, "must be known"},
        {"X[1 < 2, ]", CLF_E_ARG, "must be known"},
    };
    refuse(rows, sizeof rows / sizeof *rows);
}

static void test_words(void) {
    static char number[800], name[200], text[1000];
    memset(number, '1', sizeof number - 1);
    memset(name, 'n', sizeof name - 1);
    const refused rows[] = {
        {number, CLF_E_SYNTAX, "is not a number"},
        {"1e", CLF_E_SYNTAX, "'1e' is not a number"},
        {"1e+", CLF_E_SYNTAX, "'1e+' is not a number"},
        {"2E-x", CLF_E_SYNTAX, "is not a number"},
        {".x", CLF_E_NAME, "no variable '.x'"},
        {"alpha3", CLF_E_NAME, "did you mean 'alpha1'?"},
        {"Alpha2", CLF_E_NAME, "did you mean 'alpha2'?"},
        {"aplha1", CLF_E_NAME, "did you mean 'alpha1'?"},
        {"a_name_of_more_than_twenty_four_lettres", CLF_E_NAME, "no variable"},
        {name, CLF_E_NAME, "nnn'..."},
        {strcat(strcpy(text, name), "(1)"), CLF_E_NAME, "nnn'..."},
        {"\x7f", CLF_E_SYNTAX, "the byte 0x7f"},
        {"\x01", CLF_E_SYNTAX, "the byte 0x01"},
        {"X \f+ X", CLF_E_SYNTAX, "the byte 0x0c"},
    };
    refuse(rows, sizeof rows / sizeof *rows);
}

/* Shapes show what the reader computed: rows of an index, extents of a matrix. */
static void test_arithmetic(void) {
    static const struct {
        const char *text;
        int64_t rows, cols;
    } row[] = {
        {"X[7 %% 4, ]", 1, 3},
        {"X[-7 %% 4:3, ]", 3, 3},
        {"X[7 %/% 2, ]", 1, 3},
        {"X[min(1, 2):max(1, 4), ]", 4, 3},
        {"X[min(2, 1):max(4, 1), ]", 4, 3},
        {"X[4 / 2, ]", 1, 3},
        {"X[2^1:(5 - 1), ]", 3, 3},
        {"X[2 * 2, 1 + 1]", 1, 1},
        {"X[abs(-2), ]", 1, 3},
        {"X[round(2.4), ]", 1, 3},
        {"X[floor(2.9), ]", 1, 3},
        {"X[ceil(1.1), ]", 1, 3},
        {"X[sqrt(4), ]", 1, 3},
        {"X[-(-2), +2]", 1, 1},
        {"X[alpha1:alpha2, ]", 2, 3},
        {"matrix(X, rows=6)", 6, 2},
        {"matrix(X, cols=6)", 2, 6},
        {"matrix(X)", 12, 1},
        {"matrix(1)", 1, 1},
        {"matrix(s, rows=2, cols=5)", 2, 5},
        {"matrix(1, rows=0, cols=2)", 0, 2},
        {"matrix(Z, cols=0, rows=7)", 7, 0},
        {"matrix(Z, cols=4)", 0, 4},
        {"matrix(Z, rows=4)", 4, 0},
        {"cbind(X)", 4, 3},
        {"rbind(X, Z, X)", 8, 3},
        {"Z[1:0, ]", 0, 3},
        {"Z[, 2:3]", 0, 2},
        {"X[length(u), ncol(X)]", 1, 1},
        {"X[,]\r\n", 4, 3},
        {"X +\t\r\n1", 4, 3},
        {"(X\n+\n1)", 4, 3},
        {"matrix(0, rows=length(Z), cols=2)", 0, 2},
    };
    fixture f = open_fixture();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        int64_t rows = -1, cols = -1;
        const char *why = "";
        clf_mat *m = clf_expr(f.c, row[i].text, f.var, VARS);
        bool good = clf_status_of(m, &why) == CLF_OK && clf_info(m, &rows, &cols, NULL, NULL) == CLF_OK;
        good = good && rows == row[i].rows && cols == row[i].cols;
        if (!good) printf("\n    %s: %lldx%lld %s", row[i].text, (long long)rows, (long long)cols, why);
        CU_ASSERT(good);
        clf_free(m);
    }
    clf_close(f.c);
}

/* A whole number beside integers stays one; squares of floats are products, of integers are not. */
static void test_types(void) {
    static const struct {
        const char *text;
        clf_dtype want;
    } row[] = {{"I + 2", CLF_I32},   {"2 - I", CLF_I32},
               {"I + 1.5", CLF_F64}, {"I + 1e300", CLF_F64},
               {"I^2", CLF_F64},     {"Y^2", CLF_F32},
               {"X^2", CLF_F64},     {"Y + 2", CLF_F32},
               {"s + 2", CLF_F64},   {"sqrt(I)", CLF_F64},
               {"I %/% 2", CLF_I32}, {"max(I, 2)", CLF_I32},
               {"I + NaN", CLF_F64}, {"ifelse(I > 1, 1, Y)", CLF_F32}};
    fixture f = open_fixture();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        clf_dtype t = CLF_U8;
        clf_mat *m = clf_expr(f.c, row[i].text, f.var, VARS);
        bool good = clf_info(m, NULL, NULL, &t, NULL) == CLF_OK && t == row[i].want;
        if (!good) printf("\n    %s: %s", row[i].text, clf_dtype_name(t));
        CU_ASSERT(good);
    }
    clf_close(f.c);
}

/* Every allocation of a program that uses most of the reader fails once; nothing is left behind. */
static void test_memory(void) {
    static const char text[] = "a = outer(u, u, '+'); b <- cbind(X, u, u)[1:2, ]; c = matrix(s, rows=2, cols=3); a = a + 1;"
                               "max(1, 2, sum(rand(3, 3))); d = -(((1)))^2; e = ifelse(X > 1, X, 2); log(X, 10); sd(X)";
    bool done = false;
    for (long long n = 1; n < 3000 && !done; n++) {
        counting_heap heap = {.fail_at = 0};
        clf_ctx *c = NULL;
        clf_options o = {.struct_size = sizeof o, .device = "host", .alloc = counting_alloc, .alloc_user = &heap};
        CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
        clf_binding var[] = {
            {"X", clf_param(c, CLF_F64, 4, 3, false)}, {"u", clf_param(c, CLF_F64, 4, 1, false)}, {"s", clf_param(c, CLF_F64, 1, 1, true)}};
        clf_result r[16];
        size_t results = 16;
        heap.fail_at = atomic_load(&heap.count) + n;
        clf_status st = clf_parse(c, text, var, 3, r, &results);
        done = heap.count < heap.fail_at;
        CU_ASSERT(done ? st == CLF_OK && results == 8 : st == CLF_OK || st == CLF_E_NOMEM);
        heap.fail_at = 0;
        clf_close(c);
        CU_ASSERT_EQUAL(atomic_load(&heap.live), 0);
    }
    CU_ASSERT_TRUE(done);
}

int main(void) {
    static const test_case tests[] = {
        {"brackets", test_brackets}, {"waiting operators", test_waiting}, {"what must be known", test_known},
        {"words", test_words},       {"arithmetic", test_arithmetic},     {"types", test_types},
        {"no memory", test_memory},
    };
    return run_suite("edges of the language", tests, sizeof tests / sizeof *tests);
}
