/* SPDX-License-Identifier: Apache-2.0
 * Sparse matrices through the public interface: made from rows, columns and triples, copied and in place; read back in every format;
 * ownership, changes, refusals, memory running out at every allocation. */
#include <math.h>
#include <unistd.h>

#include "host/graph/sparse_buf.h"
#include "tests/unit/api_testing.h"

/* 1 0 0 2 / 0 0 0 0 / 0 3 0 4, by rows and by columns. */
enum { ROWS = 3, COLS = 4, NNZ = 4 };
static const double cells[ROWS * COLS] = {1, 0, 0, 2, 0, 0, 0, 0, 0, 3, 0, 4};
static const int64_t row_ptr[ROWS + 1] = {0, 2, 2, 4}, col_ptr[COLS + 1] = {0, 1, 2, 2, 4};
static const int32_t row_ptr4[ROWS + 1] = {0, 2, 2, 4}, col_ptr4[COLS + 1] = {0, 1, 2, 2, 4};
static const int32_t row_idx[NNZ] = {0, 3, 1, 3}, col_idx[NNZ] = {0, 2, 0, 2};
static const double row_val[NNZ] = {1, 2, 3, 4}, col_val[NNZ] = {1, 3, 2, 4};

static clf_mat *by_rows(clf_ctx *c) { return clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, row_idx, row_val, NULL); }

static bool good(const clf_mat *m) {
    const char *why = "";
    clf_status st = clf_status_of(m, &why);
    if (st != CLF_OK) printf("\n    %s: %s\n", clf_status_name(st), why);
    CU_ASSERT_EQUAL(st, CLF_OK);
    return st == CLF_OK;
}

/* All cells of m, in f64. */
static void expect_cells(clf_mat *m, const double *want, size_t n) {
    clf_dtype t = CLF_F64;
    char got[8 * 64];
    if (!good(m)) return;
    CU_ASSERT_FATAL(clf_info(m, NULL, NULL, &t, NULL) == CLF_OK && n <= 64);
    memset(got, 77, sizeof got);
    clf_status st = clf_read(m, got, n * clf_dtype_bytes(t));
    if (st != CLF_OK) printf("\n    %s\n", clf_last_error(clf_ctx_of(m)));
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    for (size_t i = 0; i < n; i++) {
        double x = clf_scalar_as_f64(clf_scalar_load(got, i, t));
        if (!(x == want[i] || (isnan(x) && isnan(want[i])))) printf("\n    cell %zu: %g, wanted %g\n", i, x, want[i]);
        CU_ASSERT(x == want[i] || (isnan(x) && isnan(want[i])));
    }
}

static void expect_stored(const clf_mat *m, const char *format, int64_t nnz, bool structural) {
    clf_storage s = {.struct_size = sizeof s};
    CU_ASSERT_EQUAL(clf_storage_of(m, &s), CLF_OK);
    CU_ASSERT_STRING_EQUAL(s.format, format);
    CU_ASSERT_EQUAL(s.nnz, nnz);
    CU_ASSERT_EQUAL(s.structural, structural);
}

static void test_three_ways(void) {
    clf_ctx *c = open_host();
    const int32_t i[NNZ] = {2, 0, 2, 0}, j[NNZ] = {3, 3, 1, 0};
    const int64_t i8[NNZ] = {2, 0, 2, 0}, j8[NNZ] = {3, 3, 1, 0};
    const double v[NNZ] = {4, 2, 3, 1};
    const clf_sparse_options narrow = {.struct_size = sizeof narrow, .offset_bytes = 4},
                             wide = {.struct_size = sizeof wide, .index_bytes = 8}, trust = {.struct_size = sizeof trust, .trusted = true};
    clf_mat *m[] = {
        by_rows(c),
        clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr4, row_idx, row_val, &narrow),
        clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, row_idx, row_val, &trust),
        clf_sparse_csc(c, CLF_F64, ROWS, COLS, NNZ, col_ptr, col_idx, col_val, NULL),
        clf_sparse_csc(c, CLF_F64, ROWS, COLS, NNZ, col_ptr4, col_idx, col_val, &narrow),
        clf_sparse_coo(c, CLF_F64, ROWS, COLS, NNZ, i, j, v, NULL),
        clf_sparse_coo(c, CLF_F64, ROWS, COLS, NNZ, i8, j8, v, &wide),
    };
    for (size_t k = 0; k < sizeof m / sizeof *m; k++) {
        int64_t nnz = 0, count = 0;
        const int64_t *ptr;
        const int32_t *idx;
        const void *val, *dense;
        expect_cells(m[k], cells, ROWS * COLS);
        expect_stored(m[k], "csr", NNZ, true);
        CU_ASSERT_EQUAL_FATAL(clf_data_csr(m[k], &nnz, &ptr, &idx, &val), CLF_OK);
        CU_ASSERT_EQUAL(nnz, NNZ);
        CU_ASSERT(!memcmp(ptr, row_ptr, sizeof row_ptr) && !memcmp(idx, row_idx, sizeof row_idx) && !memcmp(val, row_val, sizeof row_val));
        CU_ASSERT(clf_data(m[k], &dense) == CLF_OK && !memcmp(dense, cells, sizeof cells));
        CU_ASSERT(clf_nnz(m[k], &count) == CLF_OK && count == NNZ);
    }
    clf_close(c);
}

static void test_types(void) {
    clf_ctx *c = open_host();
    for (int t = 0; t < 5; t++) {
        char val[NNZ * 8];
        for (size_t i = 0; i < NNZ; i++) clf_scalar_store(val, i, clf_scalar_to(clf_scalar_f64(row_val[i]), (clf_dtype)t));
        clf_mat *m = clf_sparse_csr(c, (clf_dtype)t, ROWS, COLS, NNZ, row_ptr, row_idx, val, NULL);
        expect_cells(m, cells, ROWS * COLS);
        int64_t n = 0;
        CU_ASSERT(clf_nnz(m, &n) == CLF_OK && n == NNZ);
        expect_cells(clf_to_sparse(clf_to_dense(m)), cells, ROWS * COLS);
    }
    clf_close(c);
}

static void test_empty(void) {
    clf_ctx *c = open_host();
    const int64_t zeros[4] = {0, 0, 0, 0};
    static const int64_t shape[][2] = {{0, 0}, {0, 3}, {3, 0}, {3, 3}, {1, 1}};
    for (size_t k = 0; k < sizeof shape / sizeof *shape; k++) {
        int64_t r = shape[k][0], n = shape[k][1], nnz = -1;
        double nothing[9] = {0};
        clf_mat *m[] = {clf_sparse_csr(c, CLF_F64, r, n, 0, zeros, NULL, NULL, NULL),
                        clf_sparse_csc(c, CLF_F64, r, n, 0, zeros, NULL, NULL, NULL),
                        clf_sparse_coo(c, CLF_F64, r, n, 0, NULL, NULL, NULL, NULL)};
        for (size_t i = 0; i < 3; i++) {
            expect_cells(m[i], nothing, (size_t)(r * n));
            CU_ASSERT(clf_nnz(m[i], &nnz) == CLF_OK && nnz == 0);
        }
    }
    CU_ASSERT_EQUAL(read_f64(clf_sparse_csr(c, CLF_F64, 1, 1, 0, zeros, NULL, NULL, NULL)), 0);
    CU_ASSERT_EQUAL(read_f64(clf_sparse_coo(c, CLF_F64, 1, 1, 1, (int32_t[]){0}, (int32_t[]){0}, (double[]){5}, NULL)), 5);
    clf_close(c);
}

static void test_count(void) {
    clf_ctx *c = open_host();
    int64_t n = -1;
    const double v[NNZ] = {0, -0.0, NAN, 1};
    CU_ASSERT(clf_nnz(clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, row_idx, v, NULL), &n) == CLF_OK && n == 2);
    CU_ASSERT(clf_nnz(clf_matrix(c, CLF_F64, 2, 2, v), &n) == CLF_OK && n == 2);
    CU_ASSERT(clf_nnz(clf_matrix(c, CLF_U8, 1, 3, "\0a\0"), &n) == CLF_OK && n == 1);
    CU_ASSERT(clf_nnz(clf_num(c, 3), &n) == CLF_OK && n == 1);
    expect_error(c, clf_nnz(clf_num(c, 3), NULL), CLF_E_ARG, "clf_nnz");
    CU_ASSERT_EQUAL(clf_nnz(NULL, &n), CLF_E_ARG);
    clf_close(c);
}

/* ---- in place ---- */

static int released;
static void *released_data;
static void on_release(void *user, void *data) {
    released += *(int *)user;
    released_data = data;
}

static clf_mem_stats memory(clf_ctx *c) {
    clf_mem_stats s = {.struct_size = sizeof s};
    CU_ASSERT_EQUAL(clf_get_mem_stats(c, &s), CLF_OK);
    return s;
}

static void test_in_place(void) {
    int one = 1;
    for (int narrow = 0; narrow < 2; narrow++) {
        clf_ctx *c = open_host();
        clf_sparse_options o = {
            .struct_size = sizeof o, .offset_bytes = narrow ? 4 : 8, .borrow = true, .release = on_release, .user = &one};
        clf_mem_stats before = memory(c);
        released = 0;
        clf_mat *m = clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, narrow ? (const void *)row_ptr4 : row_ptr, row_idx, row_val, &o);
        clf_mem_stats with = memory(c);
        const int64_t *ptr;
        const int32_t *idx;
        const void *val;
        CU_ASSERT_EQUAL(with.borrowed - before.borrowed, sizeof row_idx + sizeof row_val + (narrow ? 0 : sizeof row_ptr));
        CU_ASSERT_EQUAL(with.data - before.data, narrow ? sizeof row_ptr : 0);
        CU_ASSERT(clf_data_csr(m, NULL, &ptr, &idx, &val) == CLF_OK && idx == row_idx && val == row_val && (narrow || ptr == row_ptr));
        clf_storage s = {.struct_size = sizeof s};
        CU_ASSERT(clf_storage_of(m, &s) == CLF_OK && s.borrowed && s.bytes == sizeof row_ptr + sizeof row_idx + sizeof row_val);
        expect_cells(m, cells, ROWS * COLS);
        CU_ASSERT_EQUAL(released, 0);
        clf_free(m);
        CU_ASSERT(released == 1 && released_data == row_val);
        CU_ASSERT_EQUAL(memory(c).borrowed, before.borrowed);
        CU_ASSERT_EQUAL(memory(c).data, before.data);
        clf_close(c);
        CU_ASSERT_EQUAL(released, 1);
    }
}

/* What is given by columns is the twin, in place or copied. */
static void test_columns_stay(void) {
    int one = 1;
    clf_ctx *c = open_host();
    clf_err err = {CLF_OK, ""};
    clf_sparse_options o = {.struct_size = sizeof o, .borrow = true, .release = on_release, .user = &one};
    const clf_csr *twin = NULL, *again = NULL;
    released = 0;
    clf_mat *m = clf_sparse_csc(c, CLF_F64, ROWS, COLS, NNZ, col_ptr, col_idx, col_val, &o);
    CU_ASSERT(good(m) && clf_buf_twin(c, m->node->value, &twin, &err) == CLF_OK);
    CU_ASSERT(twin->ptr == col_ptr && twin->idx == col_idx && twin->val == col_val && twin->rows == COLS && twin->cols == ROWS);
    expect_error(c, clf_changed(m), CLF_E_ARG, "borrowed");
    clf_free(m);
    CU_ASSERT(released == 1 && released_data == col_val);
    m = clf_sparse_csc(c, CLF_F64, ROWS, COLS, NNZ, col_ptr, col_idx, col_val, NULL);
    CU_ASSERT(good(m) && clf_buf_twin(c, m->node->value, &twin, &err) == CLF_OK && !memcmp(twin->idx, col_idx, sizeof col_idx));
    m = by_rows(c);
    CU_ASSERT(clf_buf_twin(c, m->node->value, &twin, &err) == CLF_OK && clf_buf_twin(c, m->node->value, &again, &err) == CLF_OK);
    CU_ASSERT(twin == again && !memcmp(twin->ptr, col_ptr, sizeof col_ptr) && !memcmp(twin->val, col_val, sizeof col_val));
    clf_close(c);
    CU_ASSERT_EQUAL(released, 1);
}

static void test_changes(void) {
    clf_ctx *c = open_host();
    clf_err err = {CLF_OK, ""};
    for (int narrow = 0; narrow < 2; narrow++) {
        int64_t ptr[ROWS + 1];
        int32_t ptr4[ROWS + 1], idx[NNZ];
        double val[NNZ], want[ROWS * COLS] = {0, 5, 0, 0, 2, 0, 0, 0, 0, 3, 0, 4};
        const clf_csr *twin = NULL;
        const void *old, *new;
        memcpy(ptr, row_ptr, sizeof ptr), memcpy(ptr4, row_ptr4, sizeof ptr4), memcpy(idx, row_idx, sizeof idx),
            memcpy(val, row_val, sizeof val);
        clf_sparse_options o = {.struct_size = sizeof o, .offset_bytes = narrow ? 4 : 8, .borrow = true};
        clf_mat *m = clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, narrow ? (void *)ptr4 : (void *)ptr, idx, val, &o);
        CU_ASSERT(good(m) && clf_buf_twin(c, m->node->value, &twin, &err) == CLF_OK);
        CU_ASSERT_EQUAL(clf_data(m, &old), CLF_OK);
        CU_ASSERT_EQUAL(clf_label(m, "M"), CLF_OK);
        ptr[1] = ptr4[1] = 1, idx[0] = 1, val[0] = 5, idx[1] = 0;
        CU_ASSERT_EQUAL(clf_changed(m), CLF_OK);
        expect_cells(m, want, ROWS * COLS);
        CU_ASSERT(clf_data(m, &new) == CLF_OK && !memcmp(new, want, sizeof want));
        CU_ASSERT(clf_buf_twin(c, m->node->value, &twin, &err) == CLF_OK && twin->ptr[1] == 1 && twin->idx[0] == 1);
        idx[0] = COLS; /* out of range: nothing reads it */
        expect_error(c, clf_changed(m), CLF_E_FORMAT, "");
        double out[ROWS * COLS];
        const int64_t *p;
        int64_t n;
        expect_error(c, clf_read(m, out, sizeof out), CLF_E_STATE, "M (3x4 f64) is no CSR matrix since clf_changed");
        expect_error(c, clf_data(m, &new), CLF_E_STATE, "clf_changed");
        expect_error(c, clf_data_csr(m, &n, &p, NULL, NULL), CLF_E_STATE, "clf_changed");
        expect_error(c, clf_nnz(m, &n), CLF_E_STATE, "clf_changed");
        expect_sticky(clf_to_dense(m), CLF_E_STATE, "clf_changed");
        expect_error(c, clf_read_f64(clf_sum(clf_mul(m, m)), out), CLF_E_STATE, "clf_changed");
        CU_ASSERT(clf_matmul(m, clf_t(m))->node->g.nnz >= 0);
        idx[0] = 1;
        CU_ASSERT_EQUAL(clf_changed(m), CLF_OK);
        expect_cells(m, want, ROWS * COLS);
        clf_free(m);
    }
    clf_close(c);
}

/* The debug setting sees what was not declared. */
static void test_checksum(void) {
    clf_ctx *c = open_host();
    double val[NNZ] = {1, 2, 3, 4}, x;
    clf_sparse_options o = {.struct_size = sizeof o, .borrow = true};
    CU_ASSERT_EQUAL(clf_set(c, "checksum", "on"), CLF_OK);
    clf_mat *m = clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, row_idx, val, &o);
    val[2] = 9;
    expect_error(c, clf_read_f64(clf_sum(m), &x), CLF_E_STATE, "without clf_changed");
    CU_ASSERT_EQUAL(clf_changed(m), CLF_OK);
    expect_error(c, clf_read_f64(clf_as_scalar(m), &x), CLF_E_SHAPE, "1x1");
    clf_close(c);
}

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
        snprintf(path, sizeof path, "test_sparse_api.%d.%s", (int)getpid(), ending[k]);
        CU_ASSERT_EQUAL(clf_save(by_rows(c), path, NULL), CLF_OK);
        clf_mat *m = clf_load(c, path);
        expect_cells(m, cells, ROWS * COLS);
        expect_stored(m, "csr", NNZ, true);
        remove(path);
    }
    snprintf(path, sizeof path, "test_sparse_api.%d.csv", (int)getpid());
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

/* ---- refusals ---- */

static clf_mat *try_csr(clf_ctx *c, int64_t rows, int64_t cols, int64_t nnz, const int64_t *ptr, const int32_t *idx) {
    static const double val[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    return clf_sparse_csr(c, CLF_F64, rows, cols, nnz, ptr, idx, val, NULL);
}

static void test_bad_arrays(void) {
    clf_ctx *c = open_host();
    const int64_t p[4] = {0, 2, 2, 4};
    expect_sticky(try_csr(c, 3, 4, 4, (int64_t[]){1, 2, 2, 4}, row_idx), CLF_E_FORMAT, "clf_sparse_csr");
    expect_sticky(try_csr(c, 3, 4, 4, (int64_t[]){0, 3, 2, 4}, row_idx), CLF_E_FORMAT, "row");
    expect_sticky(try_csr(c, 3, 4, 4, (int64_t[]){0, 2, INT64_MAX, 4}, row_idx), CLF_E_FORMAT, "row");
    expect_sticky(try_csr(c, 3, 4, 4, (int64_t[]){0, -9, 2, 4}, row_idx), CLF_E_FORMAT, "row");
    expect_sticky(try_csr(c, 3, 4, 4, (int64_t[]){0, 2, 2, 3}, row_idx), CLF_E_FORMAT, "");
    expect_sticky(try_csr(c, 3, 4, 4, (int64_t[]){0, 2, 2, 5}, row_idx), CLF_E_FORMAT, "");
    expect_sticky(try_csr(c, 3, 4, 4, p, (int32_t[]){0, 3, 3, 1}), CLF_E_FORMAT, "row 3");
    expect_sticky(try_csr(c, 3, 4, 4, p, (int32_t[]){0, 3, 1, 1}), CLF_E_FORMAT, "row 3");
    expect_sticky(try_csr(c, 3, 4, 4, p, (int32_t[]){0, 4, 1, 3}), CLF_E_FORMAT, "row 1");
    expect_sticky(try_csr(c, 3, 4, 4, p, (int32_t[]){-1, 3, 1, 3}), CLF_E_FORMAT, "row 1");
    expect_sticky(clf_sparse_csc(c, CLF_F64, 3, 4, 4, col_ptr, (int32_t[]){0, 3, 0, 2}, col_val, NULL), CLF_E_FORMAT, "clf_sparse_csc");
    expect_sticky(clf_sparse_coo(c, CLF_F64, 3, 4, 1, (int32_t[]){3}, (int32_t[]){0}, col_val, NULL), CLF_E_FORMAT, "clf_sparse_coo");
    expect_sticky(clf_sparse_coo(c, CLF_F64, 3, 4, 1, (int32_t[]){0}, (int32_t[]){-1}, col_val, NULL), CLF_E_FORMAT, "clf_sparse_coo");
    expect_sticky(clf_sparse_coo(c, CLF_F64, 3, 4, 2, (int32_t[]){1, 1}, (int32_t[]){2, 2}, col_val, NULL), CLF_E_FORMAT, "clf_sparse_coo");
    const clf_sparse_options add = {.struct_size = sizeof add, .add = true};
    clf_mat *sum = clf_sparse_coo(c, CLF_F64, 1, 1, 3, (int32_t[]){0, 0, 0}, (int32_t[]){0, 0, 0}, (double[]){1, 2, 4}, &add);
    CU_ASSERT_EQUAL(read_f64(sum), 7);
    expect_stored(sum, "csr", 1, true);
    clf_close(c);
}

static void test_bad_arguments(void) {
    clf_ctx *c = open_host();
    clf_sparse_options o = {.struct_size = sizeof o, .offset_bytes = 2};
    const clf_dtype none = (clf_dtype)9;
    CU_ASSERT_PTR_NULL(clf_sparse_csr(NULL, CLF_F64, 0, 0, 0, row_ptr, NULL, NULL, NULL));
    CU_ASSERT_PTR_NULL(clf_sparse_csc(NULL, CLF_F64, 0, 0, 0, row_ptr, NULL, NULL, NULL));
    CU_ASSERT_PTR_NULL(clf_sparse_coo(NULL, CLF_F64, 0, 0, 0, NULL, NULL, NULL, NULL));
    expect_sticky(clf_sparse_csr(c, none, ROWS, COLS, NNZ, row_ptr, row_idx, row_val, NULL), CLF_E_TYPE, "element type 9");
    expect_sticky(clf_sparse_csr(c, CLF_F64, -1, COLS, NNZ, row_ptr, row_idx, row_val, NULL), CLF_E_SHAPE, "negative");
    expect_sticky(clf_sparse_csc(c, CLF_F64, ROWS, -1, NNZ, row_ptr, row_idx, row_val, NULL), CLF_E_SHAPE, "negative");
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, -1, row_ptr, row_idx, row_val, NULL), CLF_E_ARG, "-1 entries");
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, 13, row_ptr, row_idx, row_val, NULL), CLF_E_ARG, "13 entries in 3x4");
    expect_sticky(clf_sparse_coo(c, CLF_F64, ROWS, COLS, -1, row_idx, row_idx, row_val, NULL), CLF_E_ARG, "-1 entries");
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, NULL, row_idx, row_val, NULL), CLF_E_ARG, "offsets is NULL");
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, NULL, row_val, NULL), CLF_E_ARG, "indices is NULL");
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, row_idx, NULL, NULL), CLF_E_ARG, "values is NULL");
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, (const char *)row_ptr + 4, row_idx, row_val, NULL), CLF_E_ARG, "aligned");
    expect_sticky(clf_sparse_coo(c, CLF_F64, ROWS, COLS, NNZ, NULL, row_idx, row_val, NULL), CLF_E_ARG, "row is NULL");
    expect_sticky(clf_sparse_coo(c, CLF_F64, ROWS, COLS, NNZ, row_idx, NULL, row_val, NULL), CLF_E_ARG, "col is NULL");
    expect_sticky(clf_sparse_csr(c, CLF_F64, INT64_MAX, COLS, NNZ, row_ptr, row_idx, row_val, NULL), CLF_E_LIMIT, "too large");
    expect_sticky(clf_sparse_csc(c, CLF_F64, INT64_C(1) << 31, 1, 0, row_ptr, row_idx, row_val, NULL), CLF_E_LIMIT, "too large");
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, row_idx, row_val, &o), CLF_E_ARG, "4 and 8");
    o = (clf_sparse_options){.struct_size = sizeof o, .index_bytes = 3};
    expect_sticky(clf_sparse_coo(c, CLF_F64, ROWS, COLS, NNZ, row_idx, row_idx, row_val, &o), CLF_E_ARG, "4 and 8");
    o = (clf_sparse_options){.struct_size = sizeof o, .borrow = true};
    expect_sticky(clf_sparse_coo(c, CLF_F64, ROWS, COLS, NNZ, row_idx, row_idx, row_val, &o), CLF_E_ARG, "in place");
    o.struct_size = 0;
    expect_sticky(clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr, row_idx, row_val, &o), CLF_E_ARG, "struct_size");
    clf_close(c);
}

/* ---- memory ---- */

/* Everything a sparse handle can be asked for without a program. */
static clf_status exercise(clf_ctx *c, int way) {
    static int one = 1;
    const int32_t i[NNZ] = {2, 0, 2, 0}, j[NNZ] = {3, 3, 1, 0};
    const void *address;
    const clf_csr *twin;
    const clf_sparse_options o = {.struct_size = sizeof o, .offset_bytes = 4, .borrow = true, .release = on_release, .user = &one};
    clf_err err = {CLF_OK, ""};
    clf_mat *m;
    switch (way) {
    case 0: m = by_rows(c); break;
    case 1: m = clf_sparse_csc(c, CLF_F64, ROWS, COLS, NNZ, col_ptr, col_idx, col_val, NULL); break;
    case 2: m = clf_sparse_coo(c, CLF_F64, ROWS, COLS, NNZ, i, j, row_val, NULL); break;
    case 3: m = clf_sparse_csr(c, CLF_F64, ROWS, COLS, NNZ, row_ptr4, row_idx, row_val, &o); break;
    case 4: m = clf_sparse_csc(c, CLF_F64, ROWS, COLS, NNZ, col_ptr4, col_idx, col_val, &o); break;
    case 5: m = clf_to_sparse(clf_rand(c, CLF_F64, 20, 20, 0, 1, 0.5, 1)); break;
    default: m = clf_to_sparse(clf_matrix(c, CLF_F64, ROWS, COLS, cells));
    }
    clf_status st = clf_status_of(m, NULL);
    if (st == CLF_OK && (way == 3 || way == 4)) released = -1; /* taken: release is due */
    if (st == CLF_OK) st = clf_data(m, &address);
    if (st == CLF_OK) st = clf_status_of(clf_to_dense(m), NULL);
    if (st == CLF_OK) st = clf_buf_twin(c, m->node->value, &twin, &err);
    if (st == CLF_OK) st = clf_status_of(clf_matmul(m, clf_t(m)), NULL);
    return st;
}

static void test_out_of_memory(void) {
    for (int way = 0; way < 7; way++) {
        bool done = false;
        for (long long at = 1; !done; at++) {
            counting_heap h = {.fail_at = 0};
            clf_options o = {.struct_size = sizeof o, .device = "host", .alloc = counting_alloc, .alloc_user = &h};
            clf_ctx *c = NULL;
            CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
            released = 0;
            long long base = atomic_load(&h.count);
            h.fail_at = base + at;
            clf_status st = exercise(c, way);
            done = atomic_load(&h.count) < h.fail_at;
            CU_ASSERT(done ? st == CLF_OK : st == CLF_E_NOMEM || st == CLF_OK); /* a recorded estimate can do without */
            clf_close(c);
            CU_ASSERT_EQUAL(released, 0); /* never before it was taken, once after */
            CU_ASSERT_EQUAL(atomic_load(&h.live), 0);
            CU_ASSERT_FATAL(at < 500);
        }
    }
}

/* A budget refuses with the bytes, and what was there goes on. */
static void test_budget(void) {
    clf_ctx *c = open_host();
    clf_mat *m = clf_sparse_coo(c, CLF_F64, 1000, 1000, 1, (int32_t[]){5}, (int32_t[]){6}, (double[]){7}, NULL);
    const void *out;
    CU_ASSERT_EQUAL(clf_set(c, "mem_limit", "1M"), CLF_OK);
    expect_error(c, clf_data(m, &out), CLF_E_NOMEM, "1000x1000");
    expect_sticky(clf_to_dense(m), CLF_E_NOMEM, "1000x1000");
    int64_t n = 0;
    CU_ASSERT(clf_nnz(m, &n) == CLF_OK && n == 1);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {
        {"rows, columns and triples", test_three_ways},
        {"element types", test_types},
        {"nothing stored", test_empty},
        {"counting", test_count},
        {"arrays used in place", test_in_place},
        {"columns stay as the twin", test_columns_stay},
        {"arrays that change", test_changes},
        {"checksum", test_checksum},
        {"conversions", test_conversions},
        {"random numbers without cells", test_random},
        {"files", test_files},
        {"functions", test_functions},
        {"programs", test_programs},
        {"bad arrays", test_bad_arrays},
        {"bad arguments", test_bad_arguments},
        {"out of memory anywhere", test_out_of_memory},
        {"budget", test_budget},
    };
    return run_suite("sparse api", tests, sizeof tests / sizeof *tests);
}
