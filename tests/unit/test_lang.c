/* SPDX-License-Identifier: Apache-2.0
 * The language: what is recorded, what is refused. Nodes are hash-consed, so two texts mean the same exactly when they give the same
 * node; nothing needs to be computed for that. */
#include <CUnit/Basic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/graph/ctx.h"
#include "tests/unit/heap_testing.h"

enum { VARS = 7 };
typedef struct fixture {
    clf_ctx *c;
    clf_binding var[VARS];
} fixture;

static void fill(fixture *f, clf_ctx *c) {
    f->c = c;
    f->var[0] = (clf_binding){"X", clf_param(c, CLF_F64, 4, 3, false)};
    f->var[1] = (clf_binding){"Y", clf_param(c, CLF_F64, 4, 3, false)};
    f->var[2] = (clf_binding){"u", clf_param(c, CLF_F64, 4, 1, false)};
    f->var[3] = (clf_binding){"v", clf_param(c, CLF_F64, 3, 1, false)};
    f->var[4] = (clf_binding){"s", clf_param(c, CLF_F64, 1, 1, true)};
    f->var[5] = (clf_binding){"I", clf_param(c, CLF_I32, 4, 3, false)};
    f->var[6] = (clf_binding){"weights", clf_num(c, 2)};
}

static fixture *open_fixture(void) {
    static fixture f;
    clf_ctx *c = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_open(&c, NULL), CLF_OK);
    fill(&f, c);
    return &f;
}

static clf_mat *expr(const fixture *f, const char *text) { return clf_expr(f->c, text, f->var, VARS); }
static clf_mat *var(const fixture *f, const char *name) {
    for (int i = 0; i < VARS; i++)
        if (strcmp(f->var[i].name, name) == 0) return f->var[i].value;
    return NULL;
}

static void same_node(const char *text, clf_mat *a, clf_mat *b) {
    const char *why = "";
    bool good = clf_status_of(a, &why) == CLF_OK && clf_status_of(b, &why) == CLF_OK && a->node == b->node;
    if (!good) printf("\n    %s: not as expected %s", text, why);
    CU_ASSERT(good);
    clf_free(a);
    clf_free(b);
}

/* ---- two texts, one meaning ---- */

static const char *const equal_texts[][2] = {
    {"-2^2", "-(2^2)"},
    {"2^-1", "2^(-1)"},
    {"2^3^2", "2^(3^2)"},
    {"-s^-s", "-(s^(-s))"},
    {"u * X %*% v", "u * (X %*% v)"},
    {"-X %*% v", "(-X) %*% v"},
    {"s %% 3 * 2", "(s %% 3) * 2"},
    {"s * s %/% 3", "s * (s %/% 3)"},
    {"s %/% 3 %% 2", "(s %/% 3) %% 2"},
    {"X %*% v %% 2", "(X %*% v) %% 2"},
    {"s - 1 - 2", "(s - 1) - 2"},
    {"s / 1 / 2", "(s / 1) / 2"},
    {"s + 1 * 2", "s + (1 * 2)"},
    {"s < 1 + 2", "s < (1 + 2)"},
    {"!s == 1", "!(s == 1)"},
    {"!s & s", "(!s) & s"},
    {"s | s & 0", "s | (s & 0)"},
    {"s == 1 | s != 2 & s >= 3", "(s == 1) | ((s != 2) & (s >= 3))"},
    {"s *\n2", "s * 2"},
    {"(s\n* 2)", "s * 2"},
    {"a <- s; a = a * 2; a + 1", "s * 2 + 1"},
    {"# nothing\n\n;;s # a comment\n", "s"},
    {"+X", "X"},
    {"X[2, ]", "X[2:2, 1:3]"},
    {"X[, 3]", "X[1:nrow(X), ncol(X)]"},
    {"X[1:nrow(X)-1, weights]", "X[1:3, 2]"},
    {"X[1:length(X) %/% 4, ]", "X[1:3, ]"},
    {"n = nrow(X) - 1; X[n:n + 1, ]", "X[3:4, ]"},
    {"t(X)[1:2, 2]", "(t(X))[1:2, 2]"},
    {"-X[1, ]", "-(X[1, ])"},
    {"is.na(X)", "is.nan(X)"},
    {"min(X, Y, s)", "min(min(X, Y), s)"},
    {"rand(rows=2, cols=3, seed=7)", "rand(2, 3, 0, 1, 1, 7)"},
    {"rand(2, cols=3, max=2)", "rand(cols=3, max=2, min=0, rows=2, seed=1)"},
    {"matrix(1, rows=2, cols=3)", "matrix(1, cols=3, rows=2)"},
    {"matrix(X, rows=2)", "matrix(X, 2, 6)"},
    {"replace(target=X, pattern=NaN, replacement=0)", "replace(X, NaN, 0)"},
    {"order(target=X, by=2)", "order(X, 2, FALSE, FALSE)"},
    {"seq(1, 9, by=2)", "seq(1, 9, 2)"},
    {"log(X, 2)", "log2(X)"},
    {"log(X, 10)", "log10(X)"},
    {"outer(u, v, \"*\")", "outer(u, v)"},
    {"outer(u, v, '%/%')", "outer(u, t(v), '%/%')"},
    {"TRUE + FALSE", "1 + 0"},
    {".5 + 1e-15 + 1.", "0.5 + 0.000000000000001 + 1"},
    {"cbind(u, X, Y)", "cbind(cbind(u, X), Y)"},
};

static void test_equal(void) {
    fixture *f = open_fixture();
    for (size_t i = 0; i < sizeof equal_texts / sizeof *equal_texts; i++)
        same_node(equal_texts[i][0], expr(f, equal_texts[i][0]), expr(f, equal_texts[i][1]));
    clf_close(f->c);
}

/* ---- a text and the call it stands for ---- */

static clf_mat *then(clf_mat *r, clf_mat *operand) {
    clf_free(operand);
    return r;
}

static void test_calls(void) {
    fixture *f = open_fixture();
    clf_mat *X = var(f, "X"), *Y = var(f, "Y"), *u = var(f, "u"), *v = var(f, "v"), *s = var(f, "s"), *I = var(f, "I"), *t;
    same_node("X^2", expr(f, "X^2"), clf_sqr(X));
    t = clf_num(f->c, 2);
    same_node("I^2", expr(f, "I^2"), then(clf_pow(I, t), t));
    t = clf_int(f->c, 3);
    same_node("I + 3", expr(f, "I + 3"), then(clf_add(I, t), t));
    t = clf_int(f->c, 3);
    same_node("ifelse(I, I, 3)", expr(f, "ifelse(I, I, 3)"), then(clf_ifelse(I, I, t), t));
    t = clf_num(f->c, 3);
    same_node("X + 3", expr(f, "X + 3"), then(clf_add(X, t), t));
    t = clf_num(f->c, 3);
    same_node("ifelse(I, 3, 3)", expr(f, "ifelse(I, 3, 3)"), then(clf_ifelse(I, t, t), t));
    t = clf_num(f->c, 0.5);
    same_node("I * 0.5", expr(f, "I * 0.5"), then(clf_mul(I, t), t));
    same_node("X+Y", expr(f, "X + Y"), clf_add(X, Y));
    same_node("-X", expr(f, "-X"), clf_neg(X));
    same_node("ifelse", expr(f, "ifelse(X, Y, s)"), clf_ifelse(X, Y, s));
    same_node("bitwAnd", expr(f, "bitwAnd(I, I)"), clf_bitand(I, I));
    same_node("sum", expr(f, "sum(X)"), clf_sum(X));
    same_node("rowVars", expr(f, "rowVars(X)"), clf_fold(CLF_FOLD_CODE_VAR, CLF_ROWS, X));
    same_node("colProds", expr(f, "colProds(X)"), clf_fold(CLF_FOLD_CODE_PROD, CLF_COLS, X));
    same_node("rowIndexMax", expr(f, "rowIndexMax(X)"), clf_fold(CLF_FOLD_CODE_ARGMAX, CLF_ROWS, X));
    same_node("max", expr(f, "max(X)"), clf_fold(CLF_FOLD_CODE_MAX, CLF_ALL, X));
    same_node("max2", expr(f, "max(X, Y)"), clf_max(X, Y));
    t = clf_fold(CLF_FOLD_CODE_VAR, CLF_ALL, X);
    same_node("sd", expr(f, "sd(X)"), then(clf_sqrt(t), t));
    same_node("cummin", expr(f, "cummin(X)"), clf_cum(CLF_FOLD_CODE_MIN, X));
    same_node("log", expr(f, "log(X, s)"), clf_logb(X, s));
    same_node("outer", expr(f, "outer(u, v, \"<\")"), clf_outer(CLF_LT, u, v));
    same_node("matmul", expr(f, "X %*% v"), clf_matmul(X, v));
    same_node("index", expr(f, "X[2:3, 1]"), clf_index(X, 2, 3, 1, 1));
    same_node("diag", expr(f, "diag(v)"), clf_diag(v));
    same_node("rev", expr(f, "rev(X)"), clf_rev(X));
    same_node("order", expr(f, "order(target=X, by=3, decreasing=TRUE, index.return=TRUE)"), clf_order(X, 3, true, true));
    same_node("nrow", expr(f, "nrow(X)"), clf_int(f->c, 4));
    same_node("length", expr(f, "length(X)"), clf_int(f->c, 12));
    same_node("as.matrix", expr(f, "as.matrix(s)"), clf_as_matrix(s));
    same_node("matrix", expr(f, "matrix(7, rows=2, cols=3)"), clf_fill(f->c, CLF_F64, 2, 3, 7));
    same_node("seq", expr(f, "seq(10, 1)"), clf_seq(f->c, 10, 1, -1));
    same_node("rand", expr(f, "rand(2, 2); rand(2, 2)"), clf_rand(f->c, CLF_F64, 2, 2, 0, 1, 1, 2));
    clf_close(f->c);
}

/* Every cell operator whose name is a word is a function of that name. */
static void test_cell_functions(void) {
    fixture *f = open_fixture();
    int seen = 0;
    for (int op = 0; op < CLF_NOPS; op++) {
        static const char *const args[] = {"", "(I)", "(I, I)", "(I, I, I)"};
        char text[64];
        clf_mat *I = var(f, "I");
        if (op == CLF_OP_MIN || op == CLF_OP_MAX || !strchr("abcdefghijklmnopqrstuvwxyz", clf_ops[op].name[0])) continue;
        snprintf(text, sizeof text, "%s%s", clf_ops[op].name, args[clf_ops[op].arity]);
        same_node(text, expr(f, text), clf_apply((clf_op_code)op, I, clf_ops[op].arity > 1 ? I : NULL, clf_ops[op].arity > 2 ? I : NULL));
        seen++;
    }
    CU_ASSERT(seen > 25);
    clf_close(f->c);
}

/* ---- what is refused, and how ---- */

static const struct {
    const char *text;
    clf_status status;
    const char *says;
} bad[] = {
    {"1 +", CLF_E_SYNTAX, "line 1, column 4: expected a value, found the end of the program"},
    {"1 + *2", CLF_E_SYNTAX, "line 1, column 5: expected a value, found '*'"},
    {"1;\n  (2", CLF_E_SYNTAX, "line 2, column 5: expected ')' for the bracket at line 2, column 3"},
    {"sum(X))", CLF_E_SYNTAX, "line 1, column 7: expected the end of the statement, found ')'"},
    {"X[1:2", CLF_E_SYNTAX, "expected ']' for the bracket at line 1, column 2"},
    {"X[1]", CLF_E_SYNTAX, "an index has rows and columns"},
    {"X[1, 2, 3]", CLF_E_SYNTAX, "expected ']'"},
    {"X[(1, 2]", CLF_E_SYNTAX, "expected ')'"},
    {"(X]", CLF_E_SYNTAX, "expected ')'"},
    {"X[1:, ]", CLF_E_SYNTAX, "expected a value, found ','"},
    {"1:2", CLF_E_SYNTAX, "expected an operator, found ':'"},
    {"1 2", CLF_E_SYNTAX, "expected an operator, found '2'"},
    {"s s", CLF_E_SYNTAX, "expected an operator, found 's'"},
    {"s = = 2", CLF_E_SYNTAX, "expected a value, found '='"},
    {"s && s", CLF_E_SYNTAX, "expected a value, found '&'"},
    {"sum(s<-2)", CLF_E_SYNTAX, "write '< -'"},
    {"pi = 3", CLF_E_SYNTAX, "'pi' is a constant"},
    {"0x10", CLF_E_SYNTAX, "'0x10' is not a number"},
    {"1.2.3", CLF_E_SYNTAX, "is not a number"},
    {"\"abc", CLF_E_SYNTAX, "does not end on its line"},
    {"X @ Y", CLF_E_SYNTAX, "'@' is no part of the language"},
    {"X \xc3\x97 Y", CLF_E_SYNTAX, "the byte 0xc3"},
    {"exp()", CLF_E_SYNTAX, "exp: takes 1 argument, found 0"},
    {"exp(X, Y)", CLF_E_SYNTAX, "exp: takes 1 argument, found 2"},
    {"exp(X,)", CLF_E_SYNTAX, "expected a value, found ')'"},
    {"cbind()", CLF_E_SYNTAX, "cbind: takes 1 or more arguments"},
    {"rand(rows=2, max=3)", CLF_E_SYNTAX, "rand: argument 'cols' is missing"},
    {"matrix(v=1, v=2)", CLF_E_SYNTAX, "given twice"},
    {"wieghts", CLF_E_NAME, "no variable 'wieghts' (did you mean 'weights'?)"},
    {"\n\n  foo", CLF_E_NAME, "line 3, column 3: no variable 'foo'"},
    {"rowsum(X)", CLF_E_NAME, "no function 'rowsum' (did you mean 'rowSums'?)"},
    {"zzzz(X)", CLF_E_NAME, "no function 'zzzz'"},
    {"sum(x=X)", CLF_E_NAME, "sum: takes no named arguments"},
    {"cbind(x=X)", CLF_E_NAME, "cbind: takes no named arguments"},
    {"rand(rows=2, colls=3)", CLF_E_NAME, "rand: no argument 'colls'"},
    {"outer(u, v, 'exp')", CLF_E_NAME, "outer: no operator 'exp'"},
    {"outer(u, v, 1)", CLF_E_TYPE, "the operator is a string"},
    {"'abc'", CLF_E_TYPE, "a string is no value"},
    {"sum('abc')", CLF_E_TYPE, "sum: a string is no number"},
    {"X + 'a'", CLF_E_TYPE, "+ takes numbers"},
    {"'a'[1, 1]", CLF_E_TYPE, "a string has no rows"},
    {"X %*% Y", CLF_E_SHAPE, "line 1, column 3: %*%: 4x3 and 4x3"},
    {"X +\n u %*% t(u)", CLF_E_SHAPE, "line 1, column 3: +"},
    {"X[5, ]", CLF_E_SHAPE, "rows 5:5 of a matrix with 4"},
    {"X[, 0]", CLF_E_SHAPE, "columns 0:0 of a matrix with 3"},
    {"X[-1, ]", CLF_E_SHAPE, "rows -1:-1"},
    {"X[3:2, ]", CLF_E_SHAPE, "rows 3:2 select nothing"},
    {"X[1.5, ]", CLF_E_ARG, "the index 1.5 is not a whole number"},
    {"X[NaN, ]", CLF_E_ARG, "is not a whole number"},
    {"X[sum(X), ]", CLF_E_ARG, "an index must be known"},
    {"rand(rows=s, cols=2)", CLF_E_ARG, "'rows' must be known"},
    {"rand(rows=-1, cols=2)", CLF_E_ARG, "'rows' is -1"},
    {"rand(2, 2, 0, 1, 2)", CLF_E_ARG, "sparsity"},
    {"seq(1, 5, 0)", CLF_E_ARG, "step of 0"},
    {"seq(1, 5, -1)", CLF_E_ARG, "does not end"},
    {"matrix(X, rows=5, cols=5)", CLF_E_SHAPE, "4x3 cells"},
    {"as.scalar(X)", CLF_E_SHAPE, "as.scalar: 4x3 is not 1x1"},
    {"matrix(0, rows=9007199254740992, cols=9007199254740992)", CLF_E_LIMIT, "too many cells"},
    {"grad(X, X)", CLF_E_SHAPE, "line 1, column 1: grad: the loss is 4x3"},
    {"grad(sum(X), 2)", CLF_E_ARG, "line 1, column 1: grad: variable 1 is a number"},
    {"grad(sum(X))", CLF_E_SYNTAX, "grad: takes 2 arguments"},
};

static void test_errors(void) {
    fixture *f = open_fixture();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        clf_result r[4] = {{.name = "untouched"}};
        size_t n = 4;
        clf_status st = clf_parse(f->c, bad[i].text, f->var, VARS, r, &n);
        bool good = st == bad[i].status && strstr(clf_last_error(f->c), bad[i].says);
        if (!good) printf("\n    %s: %s '%s'", bad[i].text, clf_status_name(st), clf_last_error(f->c));
        CU_ASSERT(good);
        CU_ASSERT_EQUAL(n, 4);
        CU_ASSERT_STRING_EQUAL(r[0].name, "untouched");
        clf_mat *e = expr(f, bad[i].text);
        CU_ASSERT_EQUAL(clf_status_of(e, NULL), bad[i].status);
        clf_free(e);
    }
    clf_close(f->c);
}

/* ---- statements and results ---- */

static void test_results(void) {
    fixture *f = open_fixture();
    clf_result r[8];
    size_t n = 8;
    const char *text = "a = X + 1; b = a * 2\nsum(b); a = 7; c <- 3; c\n c = c + 1";
    CU_ASSERT_EQUAL_FATAL(clf_parse(f->c, text, f->var, VARS, r, &n), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(n, 5);
    static const struct {
        const char *name;
        bool bare, used;
    } want[] = {{"b", false, true}, {"", true, false}, {"a", false, false}, {"", true, false}, {"c", false, false}};
    for (size_t i = 0; i < n; i++) {
        CU_ASSERT_STRING_EQUAL(r[i].name, want[i].name);
        CU_ASSERT_EQUAL(r[i].bare, want[i].bare);
        CU_ASSERT_EQUAL(r[i].used, want[i].used);
        CU_ASSERT_EQUAL(clf_status_of(r[i].value, NULL), CLF_OK);
    }
    clf_mat *sum = expr(f, "sum((X + 1) * 2)");
    CU_ASSERT_PTR_EQUAL(r[1].value->node, sum->node);
    CU_ASSERT_PTR_NOT_EQUAL(r[3].value, r[4].value);
    clf_close(f->c);
}

/* Results are handles of their own: freeing one leaves inputs and other results alone. */
static void test_ownership(void) {
    fixture *f = open_fixture();
    clf_result r[4];
    size_t n = 4;
    CU_ASSERT_EQUAL_FATAL(clf_parse(f->c, "X; a = X; a; a = a", f->var, VARS, r, &n), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(n, 3);
    for (size_t i = 0; i < n; i++) {
        CU_ASSERT_PTR_NOT_EQUAL(r[i].value, var(f, "X"));
        CU_ASSERT_PTR_EQUAL(r[i].value->node, var(f, "X")->node);
    }
    clf_free(r[0].value);
    clf_free(r[1].value);
    CU_ASSERT_EQUAL(clf_status_of(r[2].value, NULL), CLF_OK);
    CU_ASSERT_EQUAL(clf_status_of(var(f, "X"), NULL), CLF_OK);
    clf_close(f->c);
}

/* Reading a program leaves behind its results and nothing else. */
static void test_no_growth(void) {
    fixture *f = open_fixture();
    size_t first = 0;
    for (int i = 0; i < 300; i++) {
        clf_result r[4];
        size_t n = 4;
        CU_ASSERT_EQUAL(clf_parse(f->c, "tmp = exp(X) * 2 + cbind(u, u, u); sum(tmp, )", f->var, VARS, r, &n), CLF_E_SYNTAX);
        CU_ASSERT_EQUAL_FATAL(clf_parse(f->c, "tmp = exp(X) * 2 + cbind(u, u, u); sum(tmp)", f->var, VARS, r, &n), CLF_OK);
        for (size_t k = 0; k < n; k++) clf_free(r[k].value);
        if (i == 50) first = f->c->mem.now_bytes;
    }
    CU_ASSERT_EQUAL(f->c->mem.now_bytes, first);
    CU_ASSERT_EQUAL(f->c->nnames, 1);
    clf_close(f->c);
}

static void test_functions(void) {
    fixture *f = open_fixture();
    clf_mat *p = clf_param(f->c, CLF_F64, 2, 1, false), *arg = clf_matrix(f->c, CLF_F64, 2, 1, (double[]){3, 4}), *out[2] = {NULL};
    const clf_binding vars[] = {{"p", p}, {"k", clf_num(f->c, 2)}};
    clf_fn *fn = NULL;
    double v[2], s;
    CU_ASSERT_EQUAL_FATAL(clf_fn_parse(f->c, "q = k*p; q; r = q + 1; sum(r)", 1, vars, 2, &fn), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_call(fn, 1, &arg, 2, out), CLF_OK);
    CU_ASSERT_EQUAL(clf_read(out[0], v, sizeof v), CLF_OK);
    CU_ASSERT_EQUAL(clf_read_f64(out[1], &s), CLF_OK);
    CU_ASSERT(v[0] == 6 && v[1] == 8 && s == 16);
    clf_fn_free(fn);
    fn = NULL;
    CU_ASSERT_EQUAL(clf_fn_parse(f->c, "p; nosuch", 1, vars, 2, &fn), CLF_E_NAME);
    CU_ASSERT_EQUAL(clf_fn_parse(f->c, "p", 3, vars, 2, &fn), CLF_E_ARG);
    CU_ASSERT(strstr(clf_last_error(f->c), "3 parameters among 2 variables") != NULL);
    CU_ASSERT_EQUAL(clf_fn_parse(f->c, "p + k", 2, vars, 2, &fn), CLF_E_ARG); /* k is no parameter */
    CU_ASSERT_EQUAL(clf_fn_parse(f->c, "p", 0, vars, 2, &fn), CLF_E_ARG);     /* p is none of the function's */
    CU_ASSERT_EQUAL(clf_fn_parse(f->c, NULL, 0, vars, 2, &fn), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_fn_parse(NULL, "p", 1, vars, 2, &fn), CLF_E_ARG);
    CU_ASSERT_PTR_NULL(fn);
    clf_close(f->c);
}

static void test_arguments(void) {
    fixture *f = open_fixture();
    clf_result r[2];
    size_t n = 1;
    CU_ASSERT_EQUAL(clf_parse(f->c, "1; 2", NULL, 0, r, &n), CLF_E_LIMIT);
    CU_ASSERT(strstr(clf_last_error(f->c), "2 results, room for 1") != NULL);
    n = 2;
    CU_ASSERT_EQUAL(clf_parse(f->c, NULL, NULL, 0, r, &n), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_parse(f->c, "1", NULL, 3, r, &n), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_parse(f->c, "1", NULL, 0, r, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_parse(NULL, "1", NULL, 0, r, &n), CLF_E_ARG);
    clf_binding sick = {"Z", clf_add(var(f, "u"), var(f, "v"))};
    CU_ASSERT_EQUAL(clf_parse(f->c, "Z", &sick, 1, r, &n), CLF_E_SHAPE);
    CU_ASSERT_EQUAL(clf_parse(f->c, " # only this", NULL, 0, r, &n), CLF_OK);
    CU_ASSERT_EQUAL(n, 0);
    CU_ASSERT_EQUAL(clf_status_of(expr(f, ""), NULL), CLF_E_SYNTAX);
    CU_ASSERT_EQUAL(clf_status_of(expr(f, "a = 2"), NULL), CLF_E_SYNTAX);
    clf_close(f->c);
}

/* ---- size ---- */

/* head, then `body` count times, then tail count times, then end. */
static char *repeat(const char *head, const char *body, const char *end, const char *tail, size_t count) {
    size_t nb = strlen(body), nt = strlen(tail);
    char *text = malloc(strlen(head) + strlen(end) + count * (nb + nt) + 1), *p = text;
    if (!text) return NULL;
    p += sprintf(p, "%s", head);
    for (size_t i = 0; i < count; i++) p = (char *)memcpy(p, body, nb) + nb;
    p += sprintf(p, "%s", end);
    for (size_t i = 0; i < count; i++) p = (char *)memcpy(p, tail, nt) + nt;
    *p = '\0';
    return text;
}

static void test_depth(void) {
    enum { DEEP = 100000 };
    static const struct {
        const char *head, *body, *end, *tail;
        clf_status status;
    } form[] = {
        {"", "(", "s", ")", CLF_OK},        {"", "(", "s", "", CLF_E_SYNTAX},   {"", "-", "s", "", CLF_OK},
        {"s", "+s", "", "", CLF_OK},        {"s", "^s", "", "", CLF_OK},        {"", "exp(", "s", ")", CLF_OK},
        {"", "X[1,", "", "", CLF_E_SYNTAX}, {"cbind(s", ",s", ")", "", CLF_OK}, {"a=s", ";a=a+s", ";a", "", CLF_OK},
    };
    fixture *f = open_fixture();
    for (size_t i = 0; i < sizeof form / sizeof *form; i++) {
        char *text = repeat(form[i].head, form[i].body, form[i].end, form[i].tail, DEEP);
        CU_ASSERT_PTR_NOT_NULL_FATAL(text);
        clf_mat *e = expr(f, text);
        CU_ASSERT_EQUAL(clf_status_of(e, NULL), form[i].status);
        clf_free(e);
        free(text);
    }
    clf_close(f->c);
}

/* ---- every allocation may fail ---- */

static void test_memory(void) {
    clf_status st = CLF_E_NOMEM;
    for (long n = 0; st != CLF_OK && n < 3000; n++) {
        counting_heap heap = {.fail_at = 0};
        clf_options opt = {.struct_size = sizeof opt, .alloc = counting_alloc, .alloc_user = &heap};
        clf_ctx *c = NULL;
        fixture f;
        clf_result r[4];
        size_t nr = 4;
        CU_ASSERT_EQUAL_FATAL(clf_open(&c, &opt), CLF_OK);
        fill(&f, c);
        heap.fail_at = heap.count + n + 1;
        heap.for_ever = true;
        st = clf_parse(c, "abc = exp(X)[1:2, ] * 2; def = rbind(abc, abc, abc); sum((((def)))); sd(abc + s)", f.var, VARS, r, &nr);
        CU_ASSERT(st == CLF_OK || st == CLF_E_NOMEM);
        heap.fail_at = 0;
        clf_close(c);
        CU_ASSERT_EQUAL(heap.live, 0);
    }
    CU_ASSERT_EQUAL(st, CLF_OK);
}

int main(void) {
    static const struct {
        const char *name;
        CU_TestFunc run;
    } tests[] = {
        {"texts that mean the same", test_equal},
        {"texts and calls", test_calls},
        {"cell operators are functions", test_cell_functions},
        {"errors", test_errors},
        {"results", test_results},
        {"ownership", test_ownership},
        {"nothing is left behind", test_no_growth},
        {"functions from text", test_functions},
        {"arguments", test_arguments},
        {"depth and width", test_depth},
        {"failing allocations", test_memory},
    };
    if (CU_initialize_registry() != CUE_SUCCESS) return 1;
    CU_pSuite suite = CU_add_suite("lang", NULL, NULL);
    for (size_t i = 0; suite && i < sizeof tests / sizeof *tests; i++) CU_add_test(suite, tests[i].name, tests[i].run);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return failures > 0 || !suite;
}
