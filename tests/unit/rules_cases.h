/* SPDX-License-Identifier: Apache-2.0
 * Programs for the rewrite rules: their operands, programs on which a rule fires with the operators that are left, and programs on
 * which it must not. */
#ifndef CLF_TESTS_RULES_CASES_H
#define CLF_TESTS_RULES_CASES_H
#include "clfuse/clfuse.h"

enum { ROWS = 40, COLS = 30, RANK = 3, MOST_CELLS = ROWS * ROWS };

typedef enum kind_of_data { INTEGERS, REALS, SIZES, SPECIALS, DATA } kind_of_data; /* SIZES: of REALS, without signs */

static const struct {
    const char *name;
    clf_dtype t;
    int64_t rows, cols;
    bool sparse;
} operand[] = {
    {"X", CLF_F64, ROWS, COLS, false}, {"Y", CLF_F64, ROWS, COLS, false}, {"U", CLF_F64, ROWS, RANK, false},
    {"V", CLF_F64, COLS, RANK, false}, {"u", CLF_F64, ROWS, 1, false},    {"v", CLF_F64, COLS, 1, false},
    {"r", CLF_F64, 1, COLS, false},    {"one", CLF_F64, 1, 1, false},     {"F", CLF_F32, ROWS, COLS, false},
    {"I", CLF_I32, ROWS, COLS, false}, {"L", CLF_I64, ROWS, COLS, false}, {"B", CLF_U8, ROWS, COLS, false},
    {"S", CLF_F64, ROWS, COLS, true},  {"d", CLF_F64, ROWS, 1, true},     {"E", CLF_F64, ROWS, COLS, true},
    {"Z", CLF_F64, 0, COLS, false},
};
enum { OPERANDS = sizeof operand / sizeof *operand };

/* ---- where rules fire ---- */

#define MANY "rand(rows=600, cols=500, min=2, max=2, sparsity=0.5, seed=7)" /* enough cells for a step of its own */

#define TALL "rand(rows=80, cols=80, min=2, max=2, sparsity=0.5, seed=7)" /* enough rows for a transpose of its own */

static const struct {
    const char *rule, *text, *after;
} fires[] = {
    {"double-t", "t(t(exp(X)))", "exp"},
    {"index-index", "X[3:20, 2:9][2:5, 3:3]", "index"},
    {"index-t", "t(X)[2:9, 3:20]", "index t"},
    {"index-t", "t(X)[2, 3]", "index"},
    {"reshape-reshape", "matrix(matrix(X + Y, 30, 40), 20, 60)", "+ matrix"},
    {"reshape-vector", "matrix(u, 1, 40) %*% X", "t %*%"},
    {"fill-moved", "t(matrix(3, 30, 40)) * X", "fill *"},
    {"t-diag", "t(diag(u)) + 1", "diag +"},
    {"empty-cells", "E * (X + Y)", ""},
    {"empty-product", "E %*% (V + 1)", "seq cast fill"},
    {"empty-product", "t(Z) %*% Z", "seq cast fill"},
    {"empty-fold", "sum(E)", "seq cast"},
    {"empty-fold", "rowSums(E)", "seq cast fill"},
    {"empty-fold", "max(E)", "seq cast"},
    {"fill-cells", "X + matrix(3, 40, 30) * matrix(sum(u), 40, 30)", NULL},
    {"fill-cells", "X * (matrix(3, 40, 30) > 2)", NULL},
    {"fill-cells", "sqrt(matrix(2, 40, 30)) * X", NULL},
    {"masked-self", "(X != 0) * X", ""},
    {"masked-self", "S * (0 != S)", ""},
    {"square", "X * X", "sqr"},
    {"square", "I * I", "sqr"},
    {"square", "S * S", "sqr"},
    {"neutral", "X * 1 + 1 * Y", "+"},
    {"neutral", "X / 1 - 0", ""},
    {"neutral", "(S - 0) * Y", "*"},
    {"constant", "(2 - 1) * X + Y * (3 * 2)", "* +"},
    {"neutral", "I_0", ""},
    {"cast-cast", "B_f32", "cast"},
    {"minus-one", "-1 * X", "neg"},
    {"twice", "-(-X)", ""},
    {"twice", "!(!(X > Y))", ">"},
    {"both-equal", "max(X, X)", ""},
    {"ifelse-known", "ifelse(2, X, Y)", ""},
    {"ifelse-known", "ifelse(0, X, Y)", ""},
    {"ifelse-known", "ifelse(Y > 0, X, X)", ""},
    {"power", "X_2", "sqr"},
    {"power", "I_2", "cast sqr"},
    {"power", "S_1 + X", "+"},
    {"fold-single-exact", "rowMaxs(X %*% v)", "%*%"},
    {"fold-single-exact", "colSums(I[3:3, ])", "index cast"},
    {"fold-single-exact", "rowProds(one)", ""},
    {"fold-single", "rowSums(X %*% v)", "%*%"},
    {"fold-single", "colMeans(r + 1)", "+"},
    {"sumsq", "sum(X * X)", "sumsq"},
    {"sumsq", "rowSums(S * S)", "sumsq.rows"},
    {"sumsq", "colSums(B * B)", "sumsq.cols"},
    {"sumsq-f32", "sum(F * F)", "sumsq"},
    {"nnz", "sum(X != 0)", "nnz"},
    {"nnz", "rowSums(S != 0)", "nnz.rows"},
    {"nnz", "colSums(0 != I)", "nnz.cols"},
    {"sum-scaled", "rowSums(3 * X)", "sum.rows *"},
    {"sum-scaled", "rowSums(X * sum(u))", "sum sum.rows *"},
    {"sum-scaled", "rowSums(S * 3)", "sum.rows *"},
    {"sum-scaled", "rowSums(3 * (sum(u) * X))", "sum sum.rows * *"},
    {"sum-scaled", "sum(" MANY " / 2)", "rand sum /"},
    {"sum-scaled", "colSums(3 * " MANY ")", "rand sum.cols *"},
    {"sum-scaled", "mean(" MANY " * 3)", "rand mean *"},
    {"sum-negated", "rowSums(-X)", "sum.rows seq cast -"},
    {"sum-negated", "colSums(-" MANY ")", "rand sum.cols seq cast -"},
    {"fold-t-exact", "rowSums(t(I))", "sum.cols t"},
    {"fold-t-exact", "sum(t(u))", "sum"},
    {"fold-t-exact", "max(t(I))", "max"},
    {"fold-t", "sum(t(X))", "sum"},
    {"fold-t", "colSums(t(S))", "sum.rows t"},
    {"fold-t", "rowMeans(t(F))", "mean.cols t"},
    {"fold-fold-exact", "sum(rowSums(I))", "sum"},
    {"fold-fold-exact", "sum(colSums(X != 0))", "nnz"},
    {"fold-fold", "sum(rowSums(X))", "sum"},
    {"fold-fold", "sum(colSums(X * X))", "sumsq"},
    {"fold-fold", "max(rowMaxs(X))", "max"},
    {"diag-sparse", "diag(d) %*% X", "*"},
    {"diag-sparse", "t(X) %*% diag(d)", "t t *"},
    {"diag", "diag(u) %*% X", "*"},
    {"diag", "X %*% diag(v)", "t *"},
    {"product-fill", "matrix(1, 1, 40) %*% X", "sum.cols"},
    {"product-fill", "X %*% matrix(1, 30, 1)", "sum.rows"},
    {"product-fill", "X %*% matrix(3, 30, 2)", "sum.rows fill *"},
    {"product-fill", "u %*% matrix(1, 1, 7)", "fill *"},
    {"product-fill", "matrix(1, 1, 40) %*% I", "cast sum.cols"},
    {"product-fill", "S %*% matrix(1, 30, 1)", "sum.rows"},
    {"gram", "sum((u %*% r)^2)", NULL},
    {"gram", "sum((U %*% t(V))^2)", "t t %*% %*% * sum"},
    {"cast-t", "t(B) %*% X", "cast t %*%"},
    {"cast-t", "U %*% t(V > 0)", "> cast t %*%"},
    {"cast-t", "F %*% t(L)", "cast cast t %*%"},
    {"t-product", "t(t(u) %*% X)", "t %*%"},
    {"t-product", "t(U %*% t(V))", "t %*%"},
    {"t-cells", "t(t(X) * 2)", "*"},
    {"t-cells", "t(t(X) - v)", "t -"},
    {"t-cells", "t(sqrt(t(X) * t(Y)) + 1)", "* sqrt +"},
    {"t-cells", "t(ifelse(t(X) > 0, t(Y), matrix(2, 30, 40)))", NULL},
    {"t-cells", "t(t(S) * 3) * Y", "* *"},
    {"t-cells", "t(abs(t(F > 0)))", NULL},
    {"fold-t-exact", "rowSums(t(I) + 1)", "+ sum.cols t"},
    {"fold-t", "sum(t(X) * t(Y))", "* sum"},
    {"fold-t", "colMeans(t(X) + v)", "t + mean.rows t"},
    {"product-t-cells", "(t(X) * v) %*% U", "t * t %*%"},
    {"product-t-cells", "V %*% (t(U) + t(U * U))", "sqr + t %*%"},
    {"fold-product", "rowSums(X %*% t(Y))", "sum.cols t %*%"},
    {"fold-product", "colMeans(X %*% t(Y))", "t sum.cols %*% seq cast /"},
    {"fold-product", "sum(X %*% t(Y))", "sum.cols t %*% sum"},
    {"fold-product", "mean(S %*% t(F))", NULL},
    {"fold-product", "sum(S %*% t(X))", "sum.cols t %*% sum"},
    {"fold-product", "sum(X %*% t(S))", "t sum.cols %*% sum"},
    {"fold-product", "rowSums(F %*% t(F))", "sum.cols t %*%"},
    {"diag-product", "diag(X %*% t(Y))", "* sum.rows"},
    {"diag-product", "diag(t(X) %*% Y)", "* sum.cols t"},
    {"diag-product", "sum(diag(t(S) %*% Y))", "* sum"},
    {"diag-product", "diag(" TALL " %*% (" TALL " + 1))", "rand + t * sum.rows"},
    {"chain", "U %*% t(V) %*% v", "t %*% %*%"},
    {"chain", "X %*% t(X) %*% X %*% v", "t %*% %*% %*%"},
    {"chain-sparse", "S %*% t(X) %*% u", "t %*% %*%"},
};
enum { FIRES = sizeof fires / sizeof *fires };

/* ---- where they do not ---- */

static const struct {
    const char *rule, *text;
} stays[] = {
    {"fill-cells", "exp(matrix(3, 40, 30)) * X"}, /* its bits hang on who computes it */
    {"fill-cells", "X * matrix(3, 40, 30)"},
    {"fill-cells", "matrix(3, 1, 30) + r"},
    {"square", "X * Y"},
    {"power", "X^3"},
    {"power", "2^X"},
    {"power", "X^one"}, /* a 1x1 matrix is no constant */
    {"power", "one^matrix(2, 40, 30)"},
    {"fold-single", "rowSums(r)"},
    {"fold-single", "rowMaxs(u)"},
    {"fold-single", "rowSums(d)"}, /* whose zeros annihilate, those of its sums do not */
    {"fold-single", "sum(one)"},
    {"fold-single-exact", "rowSums(u)"}, /* 0 + -0 is 0 */
    {"fold-single-exact", "rowVars(u)"},
    {"fold-single-exact", "rowIndexMax(u)"},
    {"sumsq", "sum(I * I)"}, /* squares of i32 wrap, those of the fold do not */
    {"sumsq", "max(X * X)"},
    {"nnz", "sum(X != 1)"},
    {"nnz", "sum(u != matrix(0, 40, 30))"}, /* u is there 30 times */
    {"nnz", "mean(X != 0)"},
    {"sum-scaled", "rowSums(X + 3)"},
    {"sum-scaled", "rowSums(X + Y)"},
    {"sum-scaled", "rowSums(one * X)"}, /* a matrix */
    {"sum-scaled", "rowSums(u * X)"},
    {"sum-scaled", "rowSums(I * 3)"},
    {"sum-scaled", "rowSums(F * 3)"},
    {"sum-scaled", "rowSums(0 * X)"},
    {"sum-scaled", "rowSums(3 / X)"},
    {"sum-scaled", "rowSums(S * sum(u))"}, /* its zeros annihilate a NaN */
    {"sum-scaled", "rowSums(X[, 1:1] * 3)"},
    {"sum-scaled", "sum(3 * X)"} /* too few cells for a step of its own */,
    {"sum-scaled", "rowMaxs(3 * X)"},
    {"sum-negated", "rowSums(-I)"},
    {"sum-negated", "rowMaxs(-X)"},
    {"neutral", "X + 0"}, /* -0 + 0 is 0 */
    {"neutral", "0 - X"},
    {"neutral", "1 / X"},
    {"neutral", "r * matrix(1, 40, 30)"},
    {"neutral", "(X > 0) * 1"}, /* another type */
    {"minus-one", "r * matrix(-1, 40, 30)"},
    {"twice", "!(!X)"}, /* X != 0 */
    {"both-equal", "min(X, Y)"},
    {"ifelse-known", "ifelse(1, r, X)"},
    {"ifelse-known", "ifelse(1, I, X)"},
    {"ifelse-known", "ifelse(S, X, Y)"},
    {"masked-self", "(X > 0) * X"},
    {"masked-self", "(X != 0) * Y"},
    {"masked-self", "(B != 0) * B"}, /* i32 */
    {"empty-cells", "E + X"},
    {"empty-cells", "X / E"},
    {"empty-product", "S %*% V"},
    {"empty-fold", "sum(S)"},
    {"empty-fold", "sum(E + 1)"},
    {"empty-fold", "max(Z)"},
    {"diag-sparse", "diag(u) %*% X"},
    {"diag", "diag(X %*% t(X)) %*% r"},
    {"product-fill", "S %*% matrix(sum(u), 30, 1)"},
    {"product-fill", "X %*% matrix(0, 30, 1)"}, /* sums may overflow where no product does */
    {"product-fill", "X * matrix(3, 40, 30)"},
    {"gram", "sum(t(X) %*% Y)"},
    {"gram", "sum((X %*% t(Y))^2)"}, /* not thin */
    {"gram", "sum((S %*% v)^2)"},
    {"gram", "rowSums((U %*% t(V))^2)"},
    {"cast-t", "t(X) %*% B"},
    {"cast-t", "t(S != 0) %*% F"}, /* sparse */
    {"cast-t", "t(B) * t(X)"},
    {"t-product", "t(X %*% v)"},
    {"t-cells", "t(t(X) * (V %*% t(U)))"}, /* a matrix that would have to be turned */
    {"t-cells", "t(X) * 2"},
    {"t-cells", "t(matrix(2, 30, 40) > 1)"},
    {"product-t-cells", "(t(S) * 2) %*% U"}, /* its zeros annihilate: on its transpose */
    {"product-t-cells", "t(X * Y) %*% U"},
    {"fold-t", "rowIndexMax(t(X) * 2)"}, /* of equal ones the first */
    {"fold-product", "rowSums(X %*% t(S))"}, /* zeros of S annihilate, those of its sums do not */
    {"fold-product", "colSums(S %*% t(X))"},
    {"fold-product", "sum(U %*% t(V))"}, /* few terms */
    {"fold-product", "rowMaxs(X %*% t(Y))"},
    {"diag-product", "diag(U %*% t(U))"},
    {"diag-product", "diag(X %*% rand(rows=30, cols=40, seed=1))"}, /* a transpose would take as long */
    {"chain", "U %*% (t(V) %*% v)"},
    {"chain", "t(X) %*% (X %*% v)"},
    {"chain", "F %*% t(F) %*% X"}, /* rounded to f32 in between */
    {"chain", "S %*% t(X) %*% u"},
    {"chain-sparse", "S %*% (t(X) %*% u)"},
    {"fold-t", "sum(X)"},
    {"fold-fold", "sum(rowMaxs(X))"},
    {"fold-fold", "colSums(rowSums(X))"},
    {"fold-fold-exact", "sum(rowSums(X))"},
    {"fold-t-exact", "sum(t(X))"},
    {"index-index", "X[1:5, ]"},
    {"reshape-vector", "matrix(d, 1, 40) %*% X"},
    {"reshape-vector", "matrix(X, 30, 40)"},
    {"reshape-none", "matrix(S, 40, 30)"}, /* its zeros no longer annihilate */
    {"cast-cast", "I_u8"} /* f64 to u8 stays within its range, i32 to u8 wraps */,
};
#endif
