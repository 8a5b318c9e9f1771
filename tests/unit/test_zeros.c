/* SPDX-License-Identifier: Apache-2.0
 * What recording says of zeros: which expressions keep them structural, about how many cells are left, and that plans are shared by
 * what is alike. Expectations come from f(0) worked out by hand. */
#include <math.h>

#include "host/graph/facts.h"
#include "host/run/run.h"
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"

enum { ROWS = 8, COLS = 6, ENTRIES = 12 };

/* ENTRIES cells of a ROWS x COLS matrix, spread by `step`. */
static clf_mat *sparse(clf_ctx *c, clf_dtype t, int step) {
    int32_t row[ENTRIES], col[ENTRIES];
    char val[ENTRIES * 8];
    for (int i = 0; i < ENTRIES; i++) {
        int cell = i * step % (ROWS * COLS);
        row[i] = cell / COLS;
        col[i] = cell % COLS;
        clf_scalar_store(val, (size_t)i, clf_scalar_to(clf_scalar_i64(i + 1), t));
    }
    return clf_sparse_coo(c, t, ROWS, COLS, ENTRIES, row, col, val, NULL);
}

/* Names of the expressions: S T sparse, D dense, u an unknown number, s a sparse column, I J like S and D of integers. */
static size_t bindings(clf_ctx *c, clf_binding *b) {
    static double cells[ROWS * COLS];
    static int32_t whole[ROWS * COLS];
    size_t n = 0;
    b[n++] = (clf_binding){"S", sparse(c, CLF_F64, 4 * 7 + 1)};
    b[n++] = (clf_binding){"T", sparse(c, CLF_F64, 11)};
    b[n++] = (clf_binding){"D", clf_matrix(c, CLF_F64, ROWS, COLS, cells)};
    b[n++] = (clf_binding){"u", clf_param(c, CLF_F64, 1, 1, true)};
    b[n++] = (clf_binding){"s", clf_sparse_coo(c, CLF_F64, ROWS, 1, 1, (int32_t[]){3}, (int32_t[]){0}, (double[]){2}, NULL)};
    b[n++] = (clf_binding){"I", sparse(c, CLF_I32, 5)};
    b[n++] = (clf_binding){"J", clf_matrix(c, CLF_I32, ROWS, COLS, whole)};
    b[n++] = (clf_binding){"F", sparse(c, CLF_F32, 13)};
    return n;
}

static clf_mat *expression(clf_ctx *c, const char *text) {
    clf_binding b[8];
    size_t n = bindings(c, b);
    clf_mat *m = clf_expr(c, text, b, n);
    const char *why = "";
    if (clf_status_of(m, &why) != CLF_OK) printf("\n    %s: %s\n", text, why);
    CU_ASSERT_EQUAL_FATAL(clf_status_of(m, NULL), CLF_OK);
    return m;
}

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

typedef struct estimate {
    const char *text;
    double least, most;
} estimate;

/* S, T, I, F have 12 of 48 cells: a quarter. */
static const estimate estimates[] = {
    {"S", 12, 12},
    {"D", 48, 48},
    {"s", 1, 1},
    {"t(S)", 12, 12},
    {"-S", 12, 12},
    {"S * D", 12, 12},
    {"S * S", 12, 12},
    {"S * (S > 0)", 12, 12},
    {"S * (S + 2) * (S + 3)", 12, 12},
    {"(S != 0) * D", 12, 12},
    {"S * T", 3, 3},
    {"S + T", 21, 21},
    {"S * T + S", 12, 15},
    {"exp(S)", 48, 48},
    {"S / D", 12, 12},
    {"D / S", 48, 48},
    {"ifelse(S, T, 0)", 3, 3},
    {"cbind(S, T)", 24, 24},
    {"rbind(S, D)", 60, 60},
    {"S[1:4, ]", 6, 6},
    {"S[1:4, 1:3]", 3, 3},
    {"S[1, 1]", 1, 1},
    {"rev(S)", 12, 12},
    {"diag(s)", 1, 1},
    {"sum(S)", 1, 1},
    {"rowSums(S)", 8, 8},
    {"cumsum(S)", 48, 48},
    {"matrix(0, rows=5, cols=5)", 0, 0},
    {"matrix(2, rows=5, cols=5)", 25, 25},
    {"seq(1, 9)", 9, 9},
    {"rand(rows=10, cols=10, sparsity=0.25)", 25, 25},
    {"matrix(S, rows=6, cols=8)", 12, 12},
    {"S %*% t(D)", 50, 64},
    {"S %*% t(T)", 15, 30},
    {"(S * 1) %*% t(T * 1)", 15, 30},
    {"t(s) %*% s", 1, 1},
    {"D %*% matrix(0, rows=6, cols=2)", 0, 0},
    {"matrix(0, rows=0, cols=3) * 2", 0, 0},
    {"D * s", 6, 6},
};

static void test_estimates(void) {
    clf_ctx *c = open_host();
    for (size_t i = 0; i < sizeof estimates / sizeof *estimates; i++) {
        const estimate *e = &estimates[i];
        clf_mat *m = expression(c, e->text);
        clf_storage s = {.struct_size = sizeof s};
        CU_ASSERT_EQUAL(clf_storage_of(m, &s), CLF_OK);
        if ((double)s.nnz < e->least || (double)s.nnz > e->most) printf("\n    %s: %lld\n", e->text, (long long)s.nnz);
        CU_ASSERT((double)s.nnz >= e->least && (double)s.nnz <= e->most);
    }
    clf_close(c);
}

/* Row and column counts of leaves: a diagonal times itself is a diagonal, an arrow times itself is full. */
static void test_product_counts(void) {
    enum { N = 1000 };
    static int64_t ptr[N + 1];
    static int32_t idx[N];
    static double val[N];
    clf_ctx *c = open_host();
    for (int i = 0; i < N; i++) {
        ptr[i + 1] = i + 1;
        idx[i] = i;
        val[i] = 1;
    }
    clf_mat *d = clf_sparse_csr(c, CLF_F64, N, N, N, ptr, idx, val, NULL);
    int64_t diagonal = clf_matmul(clf_t(d), d)->node->g.nnz;
    CU_ASSERT(diagonal >= N * 9 / 10 && diagonal <= N);
    for (int i = 0; i < N; i++) idx[i] = 0;
    clf_mat *column = clf_sparse_csr(c, CLF_F64, N, N, N, ptr, idx, val, NULL);
    int64_t full = clf_matmul(column, clf_t(column))->node->g.nnz, one = clf_matmul(clf_t(column), column)->node->g.nnz;
    CU_ASSERT(full > N * (int64_t)N / 2);
    CU_ASSERT(one <= N);
    clf_close(c);
}

/* More cells than 32 bits count. */
static void test_large(void) {
    clf_ctx *c = open_host();
    clf_mat *X = clf_sparse_coo(c, CLF_F64, 100000, 100000, 2, (int32_t[]){7, 99999}, (int32_t[]){99999, 0}, (double[]){1, 2}, NULL);
    CU_ASSERT_EQUAL(clf_mul(X, clf_num(c, 2))->node->g.nnz, 2);
    CU_ASSERT_EQUAL(clf_mul(X, clf_add(X, clf_num(c, 2)))->node->g.nnz, 2);
    CU_ASSERT_EQUAL(clf_exp(X)->node->g.nnz, INT64_C(10000000000));
    CU_ASSERT(clf_mul(X, clf_t(X))->node->g.nnz == 1);
    expect_sticky(clf_sparse_coo(c, CLF_F64, INT64_C(1) << 40, INT32_MAX, 0, NULL, NULL, NULL, NULL), CLF_E_LIMIT, "too large");
    expect_sticky(clf_sparse_coo(c, CLF_F64, 1, INT64_C(1) << 31, 0, NULL, NULL, NULL, NULL), CLF_E_LIMIT, "too large");
    clf_close(c);
}

/* ---- plans ---- */

static void key_of(clf_mat *m, clf_str *key) {
    clf_frozen f;
    clf_err err = {CLF_OK, ""};
    clf_str_init(key, &m->ctx->mem);
    CU_ASSERT_EQUAL_FATAL(clf_freeze(m->ctx, 1, &m->node, 0, NULL, &f, &err), CLF_OK);
    clf_graph_key(&f.g, key);
    clf_frozen_release(&f);
}

static bool same_plan(clf_mat *a, clf_mat *b) {
    clf_str x, y;
    key_of(a, &x);
    key_of(b, &y);
    bool same = x.len == y.len && !memcmp(x.at, y.at, x.len);
    clf_str_release(&x);
    clf_str_release(&y);
    return same;
}

/* n entries in a column of 4000. */
static clf_mat *column(clf_ctx *c, int32_t n) {
    static int32_t row[4000], zero[4000];
    static double val[4000];
    for (int32_t i = 0; i < n; i++) row[i] = i;
    return clf_mul(clf_sparse_coo(c, CLF_F64, 4000, 1, n, row, zero, val, NULL), clf_num(c, 2));
}

static void test_keys(void) {
    clf_ctx *c = open_host();
    static double cells[4000];
    CU_ASSERT(same_plan(column(c, 1000), column(c, 1000)));
    CU_ASSERT(same_plan(column(c, 1000), column(c, 1010))); /* 2^9.75 = 861 < both <= 1024 */
    CU_ASSERT_FALSE(same_plan(column(c, 1000), column(c, 1030)));
    CU_ASSERT_FALSE(same_plan(column(c, 1000), column(c, 500)));
    CU_ASSERT_FALSE(same_plan(column(c, 0), column(c, 1)));
    CU_ASSERT_FALSE(same_plan(column(c, 3999), column(c, 4000)));
    CU_ASSERT_FALSE(same_plan(column(c, 4000), clf_mul(clf_matrix(c, CLF_F64, 4000, 1, cells), clf_num(c, 2))));
    CU_ASSERT_EQUAL(clf_nnz_class(0, 100), 0);
    CU_ASSERT_EQUAL(clf_nnz_class(100, 100), -1);
    for (int64_t n = 1; n < 100000; n++) CU_ASSERT_FATAL(clf_nnz_class(n, 1e9) <= clf_nnz_class(n + 1, 1e9));
    CU_ASSERT_EQUAL(clf_nnz_class(2048, 1e9) - clf_nnz_class(1024, 1e9), 4);
    clf_close(c);
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
        {"estimates of non-zeros", test_estimates},
        {"products of leaves by their counts", test_product_counts},
        {"more cells than 32 bits", test_large},
        {"plan keys know classes of non-zeros", test_keys},
        {"ieee", test_ieee},
        {"hash-consing with facts", test_same_nodes},
    };
    return run_suite("zeros", tests, sizeof tests / sizeof *tests);
}
