/* SPDX-License-Identifier: Apache-2.0
 * clf_grad of everything that is no cell operator, against difference quotients; and of losses whose derivatives are known by hand. */
#include <float.h>
#include <math.h>

#include "tests/support/grad_check.h"
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"

enum { N = 4, M = 3, K = 2 };

static double uniform(uint64_t *state) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

/* A, C: N x M; B: M x K; S: N x N; u: N x 1; v: 1 x M; s: a scalar; o: 1 x 1. All in 0.3 to 1.4, no two cells equal. */
enum { VARS = 8 };
static int variables(grad_var *v) {
    static const struct {
        const char *name;
        int rows, cols;
        bool scalar;
    } all[VARS] = {{"A", N, M, false}, {"B", M, K, false}, {"C", N, M, false}, {"S", N, N, false},
                   {"u", N, 1, false}, {"v", 1, M, false}, {"s", 1, 1, true},  {"o", 1, 1, false}};
    uint64_t state = 77;
    memset(v, 0, VARS * sizeof *v);
    for (int i = 0; i < VARS; i++) {
        v[i].name = all[i].name;
        v[i].rows = all[i].rows;
        v[i].cols = all[i].cols;
        v[i].scalar = all[i].scalar;
        for (int k = 0; k < v[i].rows * v[i].cols; k++) v[i].v[k] = 0.3 + 1.1 * uniform(&state);
    }
    return VARS;
}

static const char *const programs[] = {
    /* folds: their adjoint a number, cells of each shape, and folds of folds */
    "sum(A)",
    "mean(A)",
    "var(A)",
    "prod(A)",
    "min(A)",
    "max(A)",
    "sd(A)",
    "sum(A^2)",
    "sum(sqr(A) * C)",
    "sum(rowSums(A) * u)",
    "sum(rowMeans(A) * u)",
    "sum(rowVars(A) * u)",
    "sum(rowProds(A) * u)",
    "sum(rowMins(A) * u)",
    "sum(rowMaxs(A) * u)",
    "sum(colSums(A) * v)",
    "sum(colMeans(A) * v)",
    "sum(colVars(A) * v)",
    "sum(colProds(A) * v)",
    "sum(colMins(A) * v)",
    "sum(colMaxs(A) * v)",
    "sum(rowSums(A^2) * u)",
    "sum(colSums(A^2) * v)",
    "sum(rowSums(A))",
    "max(rowSums(A * C))",
    "var(colMeans(A))",
    "sum(exp(-rowVars(A)))",
    "sum(colVars(u) * s)",
    "mean(s)",
    "sum(s) * prod(o)",
    "sum(rowIndexMax(A) * u)",
    "mean(A) * var(C)",
    /* products, their adjoint of each shape */
    "sum((A %*% B)^2)",
    "sum(A %*% B)",
    "sum(rowSums(A %*% B) * u)",
    "sum(colSums(A %*% B)^2)",
    "sum((t(A) %*% C)^3)",
    "sum((A %*% t(C))^2)",
    "sum(t(A) %*% C)",
    "sum(A %*% t(C))",
    "sum(rowSums(A %*% t(C)) * u)",
    "sum(colSums(t(C) %*% A) * v)",
    "sum((t(B) %*% t(A))^2)",
    "sum(t(B) %*% t(A))",
    "sum(S %*% S %*% u)",
    "sum(S %*% t(S))",
    "as.scalar(v %*% B %*% t(B) %*% t(v))",
    "sum(u %*% v)",
    "sum((u %*% v)^2)",
    "sum((t(u) %*% A) * v)",
    "sum(exp(A %*% t(v)) * u)",
    "sum(o %*% o) * s",
    "sum(u %*% o)",
    "sum((A %*% B)^2) + sum(A %*% B) + sum(colSums(A %*% B)^2)",
    "P = A %*% B; sum(P) + sum(rowSums(P)^2) + sum(colSums(P)^2) + sum(P^2)",
    "P = t(A); sum((P %*% C)^2) + sum(P * t(C))",
    "sum(t(t(A) %*% C) * (t(C) %*% A))",
    /* shapes that meet */
    "sum(A * u)",
    "sum(A + v)",
    "sum(A / u / v)",
    "sum(A * s + o)",
    "sum((A + u) ^ v)",
    "sum(A * u * v)",
    "sum(u * s)",
    "sum(A ^ s)",
    "sum(s / A)",
    "sum(rowSums(A * v) * u)",
    "sum(rowSums(A / v) / u)",
    "sum(colSums((A + u) / v))",
    "sum(outer(u, v, \"^\"))",
    "sum(outer(u, v) * A)",
    "sum(outer(u, v, \"atan2\") * C)",
    "sum(rowSums(outer(u, v, \"/\")))",
    "sum(colSums(outer(u, v, \"+\")) * v)",
    "s^2 * o",
    "o * o + s",
    "s",
    "as.scalar(o)",
    "sum(as.matrix(s) * A)",
    "as.scalar(o) * s",
    "sum(matrix(s, rows=4, cols=3) * A)",
    "sum(ifelse(A > u, A * v, C + s))",
    "sum(max(A, C) * min(A, u))",
    "sum(max(A, 0.8))",
    "sum(log(A, o + 1))",
    "sum(log(A, 2))",
    "sum(abs(A - C))",
    "sum(A %% 0.25)",
    /* moving cells: whole, and repeated along each axis */
    "sum(t(A) * t(C))",
    "sum(t(A))",
    "sum(rowSums(t(A)) * t(v))",
    "sum(colSums(t(A)) * t(u))",
    "sum(t(u) * t(u))",
    "sum(rev(A) * C)",
    "sum(rev(A))",
    "sum(rowSums(rev(A)) * u)",
    "sum(colSums(rev(A)) * v)",
    "sum(rev(u) * u)",
    "sum(diag(u) * S)",
    "sum(diag(u))",
    "sum(rowSums(diag(u)) * u)",
    "sum(colSums(diag(u)) * t(u))",
    "sum(diag(S) * u)",
    "sum(diag(S))",
    "sum(diag(o)) * s",
    "sum(diag(S %*% S)^2)",
    "sum(matrix(A, rows=6, cols=2)^2)",
    "sum(matrix(A, rows=6, cols=2))",
    "sum(rowSums(matrix(A, rows=2, cols=6))^2)",
    "sum(matrix(u, rows=1, cols=4)^3)",
    "sum(cbind(A, u)^2)",
    "sum(cbind(A, u))",
    "sum(rowSums(cbind(A, C, u)) * u)",
    "sum(colSums(cbind(u, A))^2)",
    "sum(cbind(u, u, u) * A)",
    "sum(rbind(A, v)^2)",
    "sum(rbind(A, v))",
    "sum(rowSums(rbind(v, A))^2)",
    "sum(colSums(rbind(A, C, v)) * v)",
    "sum(rbind(v, v) %*% B)",
    "sum(A[2:3, ]^2)",
    "sum(A[2:3, ])",
    "sum(A[, 2] * u)",
    "sum(A[2, ] * v)",
    "sum(A[2:4, 1:2]^2)",
    "sum(A[2:4, 1:2])",
    "sum(A[1:1, 1:1])",
    "sum(rowSums(A[2:4, 2:3])^2)",
    "sum(colSums(A[2:4, 2:3])^2)",
    "sum(rowSums(A[, 2:3])^2)",
    "sum(colSums(A[2:4, ])^2)",
    "sum(A[, 1] * A[, 2] + A[, 3])",
    "as.scalar(A[2, 2])^2",
    "sum(order(target=A, by=2) * C)",
    "sum(order(target=A, by=1, decreasing=TRUE)^2)",
    "sum(rowSums(order(target=A, by=2)) * u)",
    "sum(order(target=A, by=3))",
    "sum(cumsum(A) * C)",
    "sum(cumsum(A))",
    "sum(cumprod(A) * C)",
    "sum(rowSums(cumprod(A)) * u)",
    "sum(t(cumsum(t(A))) * C)",
    "sum(cumsum(cumsum(u)) * u)",
    "sum(seq(1, 4) * u)",
    "sum(rand(rows=4, cols=3, seed=3) * A)",
    "sum(round(A) * C + floor(A * 3))",
    "sum((A > C) * A)",
    "sum(nrow(A) * A)",
    /* many uses of one node */
    "x = A * C; y = exp(x); sum(x * y) + sum(y / x) + max(x)",
    "x = A; x = x * x + A; x = x * x + A; x = x * x + A; sum(x)",
    "sum(A * A * A) + sum(A) * sum(A^2)",
    "(sum(A) + mean(A)) / var(A)",
};
enum { PROGRAMS = sizeof programs / sizeof *programs };

static grad_seen seen;

static void test_programs(void) {
    clf_ctx *c = open_host();
    grad_var v[VARS];
    int n = variables(v);
    for (int i = 0; i < PROGRAMS; i++) {
        size_t mark = clf_epoch_begin(c);
        long before = seen.other_than_zero;
        CU_ASSERT(grad_check_text(c, programs[i], n, v, &seen));
        CU_ASSERT(seen.other_than_zero > before);
        clf_epoch_end(c, mark);
    }
    net_figure("clf_grad: derivatives of programs against differences", "%ld in %d programs, worst error %.2g of its tolerance",
               seen.compared, (int)PROGRAMS, seen.worst);
    clf_close(c);
}

/* Zeros among what is multiplied: cells are 1 and 2 and, one in each column and two in the first, 0. */
static void test_products_with_zeros(void) {
    clf_ctx *c = open_host();
    grad_var v[2] = {{.name = "A", .rows = 4, .cols = 3, .v = {1, 0, 2, 0, 2, 1, 2, 1, 2, 0, 1, 0}},
                     {.name = "C", .rows = 4, .cols = 3, .v = {.5, .7, 1.1, 1.3, 1.7, 1.9, 2.3, 2.9, 3.1, .3, .4, .6}}};
    static const char *const texts[] = {"sum(cumprod(A) * C)",
                                        "sum(colProds(A) * colSums(C))",
                                        "sum(rowProds(A) * rowSums(C))",
                                        "prod(A + (C < 1))",
                                        "prod(A)",
                                        "prod(A[, 2]) + prod(A[, 1])",
                                        "sum(A^2 * C)",
                                        "sum(abs(A + 1))"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) CU_ASSERT(grad_check_text(c, texts[i], 2, v, &seen));
    clf_close(c);
}

/* ---- by hand ---- */

/* A loss, and for each variable its derivative as the books have it. */
typedef struct known {
    const char *loss, *by, *derivative;
} known;
static const known by_hand[] = {
    {"sum((X %*% w - y)^2) / 2 + lambda / 2 * sum(w^2)", "w", "t(X) %*% (X %*% w - y) + lambda * w"},
    {"sum((X %*% w + o - y)^2) / 2", "o", "sum(X %*% w + o - y)"},
    {"mean((X %*% w - y)^2)", "w", "2 / nrow(X) * t(X) %*% (X %*% w - y)"},
    {"sum(log(1 + exp(-z * (X %*% w))))", "w", "-t(X) %*% (z * sigmoid(-z * (X %*% w)))"},
    {"p = sigmoid(X %*% w); -sum(y * log(p) + (1 - y) * log(1 - p))", "w", "t(X) %*% (sigmoid(X %*% w) - y)"},
    {"E = X %*% W; -sum(Y * E) + sum(log(rowSums(exp(E))))", "W", "E = exp(X %*% W); t(X) %*% (E / rowSums(E) - Y)"},
    {"E = X %*% W; m = rowMaxs(E); -sum(Y * (E - m - log(rowSums(exp(E - m)))))", "W",
     "E = exp(X %*% W); t(X) %*% (E / rowSums(E) * rowSums(Y) - Y)"},
    {"h = max(0, 1 - z * (X %*% w)); sum(h^2) / 2 + lambda / 2 * sum(w^2)", "w",
     "h = max(0, 1 - z * (X %*% w)); -t(X) %*% (z * h) + lambda * w"},
    {"h = 1 - z * (X %*% w); sum(h * (h > 0))", "w", "-t(X) %*% (z * (1 - z * (X %*% w) > 0))"},
    {"sum((X - U %*% t(V))^2) + lambda * (sum(U^2) + sum(V^2))", "U", "-2 * (X - U %*% t(V)) %*% V + 2 * lambda * U"},
    {"sum((X - U %*% t(V))^2) + lambda * (sum(U^2) + sum(V^2))", "V", "-2 * t(X - U %*% t(V)) %*% U + 2 * lambda * V"},
    {"sum((X > 0.8) * (X - U %*% t(V))^2)", "U", "(-2 * (X > 0.8) * (X - U %*% t(V))) %*% V"},
    {"sum(exp(X %*% w)) - sum(y * (X %*% w))", "w", "t(X) %*% (exp(X %*% w) - y)"},
    {"P = U %*% t(V); sum(P) - sum(X * log(P))", "U", "(1 - X / (U %*% t(V))) %*% V"},
    {"P = U %*% t(V); sum(P) - sum(X * log(P))", "V", "t(1 - X / (U %*% t(V))) %*% U"},
    {"sum((sigmoid(sigmoid(X %*% W + b) %*% t(W) + r) - X)^2) / 2", "W",
     "H = sigmoid(X %*% W + b); R = sigmoid(H %*% t(W) + r); D = (R - X) * R * (1 - R); E = (D %*% W) * H * (1 - H); t(D) %*% H + t(X) %*% "
     "E"},
    {"sum((sigmoid(sigmoid(X %*% W + b) %*% t(W) + r) - X)^2) / 2", "b",
     "H = sigmoid(X %*% W + b); R = sigmoid(H %*% t(W) + r); D = (R - X) * R * (1 - R); colSums((D %*% W) * H * (1 - H))"},
    {"D = rowSums(X^2) - 2 * (X %*% W) + colSums(W^2); sum(rowMins(D))", "W",
     "D = rowSums(X^2) - 2 * (X %*% W) + colSums(W^2); Z = D == rowMins(D); 2 * W * colSums(Z) - 2 * t(X) %*% Z"},
    {"sqrt(sum(X^2))", "X", "X / sqrt(sum(X^2))"},
    {"S = t(X) %*% X; as.scalar(t(w) %*% S %*% w) / sum(w^2)", "w",
     "S = t(X) %*% X; n = sum(w^2); q = as.scalar(t(w) %*% S %*% w); 2 * (S %*% w) / n - 2 * q / n^2 * w"},
    {"sum(max(X %*% W, 0))", "W", "t(X) %*% (X %*% W > 0)"},
    {"T = (X - colMeans(X)) / sqrt(colVars(X)); sum(T^3)", "lambda", "0 * lambda"},
};

/* Sums of at most 500 products, one after the other: to within the roundings of both ways of writing them. */
static void compare_by_hand(clf_ctx *c, const clf_binding *b, size_t n, const known *k) {
    clf_mat *x = NULL, *g = NULL, *loss = clf_expr(c, k->loss, b, n), *want = clf_expr(c, k->derivative, b, n);
    int64_t rows = 0, cols = 0;
    double got[64], hand[64], most = 0;
    for (size_t i = 0; i < n; i++)
        if (!strcmp(b[i].name, k->by)) x = b[i].value;
    CU_ASSERT_EQUAL(clf_grad(loss, 1, &x, &g), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_info(x, &rows, &cols, NULL, NULL), CLF_OK);
    size_t cells = (size_t)(rows * cols);
    CU_ASSERT_EQUAL(clf_read(g, got, cells * sizeof *got), CLF_OK);
    CU_ASSERT_EQUAL(clf_read(want, hand, cells * sizeof *hand), CLF_OK);
    for (size_t i = 0; i < cells; i++) most = fmax(most, fabs(hand[i]));
    for (size_t i = 0; i < cells; i++) {
        bool good = fabs(got[i] - hand[i]) <= 500 * DBL_EPSILON * (1 + most);
        if (!good) printf("\n    %s by %s: [%zu] %.17g, by hand %.17g", k->loss, k->by, i, got[i], hand[i]);
        CU_ASSERT(good);
    }
}

static void test_by_hand(void) {
    clf_ctx *c = open_host();
    clf_mat *half = clf_fill(c, CLF_F64, 10, 1, 0.5), *picks = clf_rand(c, CLF_F64, 10, 1, 0, 1, 1, 4), *y = clf_gt(picks, half);
    clf_mat *first = clf_gt(clf_rand(c, CLF_F64, 10, 1, 0, 1, 1, 9), half);
    clf_binding b[] = {{"X", clf_rand(c, CLF_F64, 10, 6, 0.3, 1.3, 1, 1)},
                       {"w", clf_rand(c, CLF_F64, 6, 1, -1, 1, 1, 2)},
                       {"W", clf_rand(c, CLF_F64, 6, 3, -1, 1, 1, 3)},
                       {"y", clf_cast(y, CLF_F64)},
                       {"z", clf_sub(clf_mul(clf_num(c, 2), y), clf_num(c, 1))},
                       {"Y", clf_cbind(clf_cbind(clf_cast(first, CLF_F64), clf_sub(clf_num(c, 1), first)), clf_fill(c, CLF_F64, 10, 1, 0))},
                       {"U", clf_rand(c, CLF_F64, 10, 2, 0.2, 1, 1, 5)},
                       {"V", clf_rand(c, CLF_F64, 6, 2, 0.2, 1, 1, 6)},
                       {"b", clf_rand(c, CLF_F64, 1, 3, -1, 1, 1, 7)},
                       {"r", clf_rand(c, CLF_F64, 1, 6, -1, 1, 1, 8)},
                       {"lambda", clf_as_matrix(clf_num(c, 0.3))},
                       {"o", clf_as_matrix(clf_num(c, 0.2))}};
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) compare_by_hand(c, b, sizeof b / sizeof *b, &by_hand[i]);
    net_figure("clf_grad: losses with derivatives by hand", "%zu", sizeof by_hand / sizeof *by_hand);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {
        {"programs against differences", test_programs}, {"products with zeros", test_products_with_zeros}, {"by hand", test_by_hand}};
    return run_suite("derivatives of programs", tests, sizeof tests / sizeof *tests);
}
