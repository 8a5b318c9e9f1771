/* SPDX-License-Identifier: Apache-2.0
 * About how many cells of an expression are not zero, as recording says; and that plans are shared by what is alike in that. */
#include <math.h>

#include "tests/unit/zeros_testing.h"

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

int main(void) {
    static const test_case tests[] = {
        {"estimates of non-zeros", test_estimates},
        {"products of leaves by their counts", test_product_counts},
        {"more cells than 32 bits", test_large},
        {"plan keys know classes of non-zeros", test_keys},
    };
    return run_suite("estimates of non-zeros", tests, sizeof tests / sizeof *tests);
}
