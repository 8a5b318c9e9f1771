/* SPDX-License-Identifier: Apache-2.0
 * What a sparse value can become: other formats, random numbers, files, arguments of functions, operands of programs. */
#include <unistd.h>

#include "tests/unit/sparse_api_testing.h"

/* ---- other formats of a value ---- */

static void test_conversions(void) {
    clf_ctx *c = open_host();
    clf_mat *S = by_rows(c), *D = clf_matrix(c, CLF_F64, ROWS, COLS, cells);
    clf_mat *d = clf_to_dense(S), *s = clf_to_sparse(D);
    expect_stored(d, "dense", NNZ, true); /* what is known stays known */
    expect_stored(s, "csr", NNZ, false);  /* the zeros of D are numbers */
    expect_cells(d, cells, ROWS * COLS);
    expect_cells(s, cells, ROWS * COLS);
    CU_ASSERT_PTR_EQUAL(clf_to_sparse(S)->node, S->node);
    CU_ASSERT_PTR_EQUAL(clf_to_dense(D)->node, D->node);
    const void *a, *b;
    CU_ASSERT(clf_data(S, &a) == CLF_OK && clf_data(d, &b) == CLF_OK && a == b); /* made once */
    const int32_t *i;
    CU_ASSERT(clf_data_csr(D, NULL, NULL, &i, NULL) == CLF_OK && !memcmp(i, row_idx, sizeof row_idx));
    expect_stored(clf_to_dense(clf_num(c, 4)), "dense", 1, false);
    expect_sticky(clf_to_sparse(clf_num(c, 4)), CLF_E_SHAPE, "scalar");
    expect_sticky(clf_to_sparse(clf_add(S, clf_matrix(c, CLF_F64, 2, 2, cells))), CLF_E_SHAPE, "do not fit");
    CU_ASSERT_PTR_NULL(clf_to_sparse(NULL));
    expect_stored(clf_mul(S, D), "none", NNZ, true);
    clf_storage bad = {0};
    CU_ASSERT_EQUAL(clf_storage_of(S, &bad), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_storage_of(S, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_data_csr(S, NULL, NULL, NULL, NULL), CLF_OK);
    clf_close(c);
}

static void test_random(void) {
    clf_ctx *c = open_host();
    static double a[300 * 70], b[300 * 70];
    for (int k = 0; k < 3; k++) {
        double share = k == 0 ? 0.05 : k == 1 ? 0 : 1;
        clf_mat *r = clf_rand(c, CLF_F64, 300, 70, -1, 1, share, 5), *s = clf_to_sparse(r);
        clf_storage how = {.struct_size = sizeof how};
        CU_ASSERT(good(s) && clf_storage_of(r, &how) == CLF_OK && !strcmp(how.format, "none")); /* the cells were never made */
        CU_ASSERT(clf_storage_of(s, &how) == CLF_OK && !strcmp(how.format, "csr") && !how.structural);
        CU_ASSERT(clf_read(r, a, sizeof a) == CLF_OK && clf_read(s, b, sizeof b) == CLF_OK && !memcmp(a, b, sizeof a));
    }
    clf_mat *f = clf_to_sparse(clf_rand(c, CLF_F32, 7, 5, 1, 2, 0.5, 1));
    const void *x, *y;
    CU_ASSERT(clf_data(f, &x) == CLF_OK && clf_data(clf_rand(c, CLF_F32, 7, 5, 1, 2, 0.5, 1), &y) == CLF_OK && !memcmp(x, y, 7 * 5 * 4));
    expect_cells(clf_to_sparse(clf_rand(c, CLF_F64, 0, 5, 0, 1, 0.5, 1)), cells, 0);
    expect_cells(clf_to_sparse(clf_rand(c, CLF_F64, 5, 0, 0, 1, 0.5, 1)), cells, 0);
    clf_close(c);
}

static void test_files(void) {
    clf_ctx *c = open_host();
    char path[64];
    static const char *const ending[] = {"mtx", "svm"};
    for (size_t k = 0; k < 2; k++) {
        snprintf(path, sizeof path, "test_sparse_values.%d.%s", (int)getpid(), ending[k]);
        CU_ASSERT_EQUAL(clf_save(by_rows(c), path, NULL), CLF_OK);
        clf_mat *m = clf_load(c, path);
        expect_cells(m, cells, ROWS * COLS);
        expect_stored(m, "csr", NNZ, true);
        remove(path);
    }
    snprintf(path, sizeof path, "test_sparse_values.%d.csv", (int)getpid());
    CU_ASSERT_EQUAL(clf_save(by_rows(c), path, NULL), CLF_OK);
    expect_cells(clf_load(c, path), cells, ROWS * COLS);
    remove(path);
    clf_close(c);
}

/* ---- functions ---- */

static void test_functions(void) {
    clf_ctx *c = open_host();
    clf_fn *f = NULL;
    clf_mat *S = by_rows(c), *D = clf_matrix(c, CLF_F64, ROWS, COLS, cells);
    double twice[ROWS * COLS];
    for (int i = 0; i < ROWS * COLS; i++) twice[i] = cells[i] + cells[i];
    for (int sparse = 0; sparse < 2; sparse++) {
        clf_mat *p = sparse ? clf_param_sparse(c, CLF_F64, ROWS, COLS, 1) : clf_param(c, CLF_F64, ROWS, COLS, false), *y = clf_add(p, p),
                *out = NULL;
        expect_stored(p, "none", sparse ? 1 : ROWS * COLS, sparse);
        CU_ASSERT_EQUAL_FATAL(clf_fn_new(c, 1, &p, 1, &y, &f), CLF_OK);
        for (int k = 0; k < 4; k++) {
            clf_mat *arg = k % 2 ? S : D;
            clf_status st = clf_call(f, 1, &arg, 1, &out);
            if (st != CLF_OK) printf("\n    %s\n", clf_last_error(c));
            CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
            expect_cells(out, twice, ROWS * COLS);
        }
        clf_mat *narrow = clf_cast(S, CLF_F32);
        expect_error(c, clf_call(f, 1, &narrow, 1, &out), CLF_E_TYPE, "argument 1 is f32, the parameter f64");
        clf_fn_free(f);
    }
    expect_sticky(clf_param_sparse(c, CLF_F64, 2, 2, 5), CLF_E_ARG, "5 entries");
    expect_sticky(clf_param_sparse(c, CLF_F64, -2, 2, 0), CLF_E_SHAPE, "negative");
    CU_ASSERT_PTR_NULL(clf_param_sparse(NULL, CLF_F64, 2, 2, 0));
    clf_close(c);
}

/* ---- programs ---- */

typedef struct computation {
    const char *text;
    double want;
} computation;

/* D is 1 everywhere but NaN at (1, 2) and Inf at (2, 1), where S has no entry. */
static const computation computations[] = {
    {"sum(S)", 10},
    {"sum(S * D)", 10},
    {"sum(D * S * D)", 10},
    {"sum(S / D)", 10},
    {"sum(abs(S * D) ^ 2)", 30},
    {"sum(S != 0)", 4},
    {"max(S)", 4},
    {"min(S)", 0},
    {"mean(S)", 10.0 / 12},
    {"sum(t(S) * t(D))", 10},
    {"sum(S %*% v)", 31},
    {"sum(t(S) %*% w)", 24},
    {"sum(S + 1)", 22},
    {"sum(ifelse(S, D, 0))", 4},
    {"sum(S[1, ] * D[1, ])", 3},
    {"sum(cbind(S, S))", 20},
    {"sum(rowSums(S) * w)", 24},
    {"sum(exp(S) * 0 + S * S)", 30},
};

static void test_programs(void) {
    for (int tier = 0; tier < 2; tier++) {
        clf_ctx *c = open_host();
        double d[ROWS * COLS], v[COLS] = {1, 2, 3, 4}, w[ROWS] = {1, 2, 3};
        CU_ASSERT_EQUAL(clf_set(c, "tier", tier ? "ref" : "auto"), CLF_OK);
        for (int i = 0; i < ROWS * COLS; i++) d[i] = i == 1 ? NAN : i == 4 ? INFINITY : 1;
        clf_binding b[] = {{"S", by_rows(c)},
                           {"D", clf_matrix(c, CLF_F64, ROWS, COLS, d)},
                           {"v", clf_matrix(c, CLF_F64, COLS, 1, v)},
                           {"w", clf_matrix(c, CLF_F64, ROWS, 1, w)}};
        for (size_t i = 0; i < sizeof computations / sizeof *computations; i++) {
            clf_mat *m = clf_expr(c, computations[i].text, b, 4);
            double got = good(m) ? read_f64(m) : NAN;
            if (fabs(got - computations[i].want) > 1e-12)
                printf("\n    %s = %.17g, wanted %.17g\n", computations[i].text, got, computations[i].want);
            CU_ASSERT(fabs(got - computations[i].want) <= 1e-12);
        }
        CU_ASSERT_EQUAL(clf_set(c, "sparse", "ieee"), CLF_OK);
        CU_ASSERT(isnan(read_f64(clf_expr(c, "sum(S * D)", b, 4))));
        clf_close(c);
    }
}

int main(void) {
    static const test_case tests[] = {
        {"conversions", test_conversions},
        {"random numbers without cells", test_random},
        {"files", test_files},
        {"functions", test_functions},
        {"programs", test_programs},
    };
    return run_suite("sparse values", tests, sizeof tests / sizeof *tests);
}
