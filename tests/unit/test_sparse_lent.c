/* SPDX-License-Identifier: Apache-2.0
 * Arrays of a caller used in place: who owns them, what becomes of changes; memory running out at every allocation, and a budget. */
#include "tests/unit/sparse_api_testing.h"

static int released;
static void *released_data;
static void on_release(void *user, void *data) {
    released += *(int *)user;
    released_data = data;
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
        {"arrays used in place", test_in_place},        {"columns stay as the twin", test_columns_stay},
        {"arrays that change", test_changes},           {"checksum", test_checksum},
        {"out of memory anywhere", test_out_of_memory}, {"budget", test_budget},
    };
    return run_suite("sparse arrays in place", tests, sizeof tests / sizeof *tests);
}
