/* SPDX-License-Identifier: Apache-2.0
 * Conversions of sparse matrices against a naive model, and the way round through all forms. */
#include <stdint.h>

#include "tests/unit/sparse_testing.h"

static uint64_t seed = 3;

static naive naive_transpose(const naive *m) {
    naive t = naive_new(m->cols, m->rows, m->t);
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t c = 0; c < m->cols; c++) {
            t.stored[c * m->rows + r] = m->stored[r * m->cols + c];
            t.v[c * m->rows + r] = m->v[r * m->cols + c];
        }
    return t;
}

static void test_transpose(void) {
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    EVERY_NAIVE(m, &seed) {
        arrays a = arrays_new(&m);
        clf_csr c = arrays_csr(&a, &m);
        naive t = naive_transpose(&m);
        clf_sparse s = {.ptr = NULL}, again = {.ptr = NULL};
        ASSERT_NAIVE(clf_csr_transpose(&c, &mem, &s, NULL) == CLF_OK && naive_is(&t, &s.m));
        ASSERT_NAIVE(clf_csr_transpose(&s.m, &mem, &again, NULL) == CLF_OK && naive_is(&m, &again.m));
        clf_sparse_release(&s, &mem);
        clf_sparse_release(&again, &mem);
        ASSERT_NAIVE(mem.now_bytes == 0);
        naive_free(&t);
        arrays_free(&a);
    }
}

static void test_col_counts(void) {
    EVERY_NAIVE(m, &seed) {
        arrays a = arrays_new(&m);
        clf_csr c = arrays_csr(&a, &m);
        int64_t *count = malloc((size_t)m.cols * sizeof *count + 1);
        CU_ASSERT_FATAL(count != NULL);
        memset(count, 0xa5, (size_t)m.cols * sizeof *count);
        clf_csr_col_counts(&c, count);
        for (int64_t j = 0; j < m.cols; j++) {
            int64_t n = 0;
            for (int64_t r = 0; r < m.rows; r++) n += m.stored[r * m.cols + j];
            ASSERT_NAIVE(count[j] == n);
        }
        free(count);
        arrays_free(&a);
    }
}

/* All cells, bits of stored ones included; and back without stored zeros. */
static void test_dense(void) {
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    EVERY_NAIVE(m, &seed) {
        arrays a = arrays_new(&m);
        clf_csr c = arrays_csr(&a, &m);
        size_t bytes = cells_of(&m) * clf_dtype_bytes(m.t);
        void *cells = malloc(bytes + (bytes == 0));
        CU_ASSERT_FATAL(cells != NULL);
        memset(cells, 0xa5, bytes);
        clf_csr_to_dense(&c, cells);
        bool right = true;
        for (size_t i = 0; i < cells_of(&m); i++) {
            right &= clf_scalar_same(clf_scalar_load(cells, i, m.t), m.v[i]);
            m.stored[i] = clf_scalar_as_f64(m.v[i]) != 0;
        }
        ASSERT_NAIVE(right);
        clf_sparse s = {.ptr = NULL};
        ASSERT_NAIVE(clf_csr_from_dense(cells, m.rows, m.cols, m.t, &mem, &s, NULL) == CLF_OK && naive_is(&m, &s.m));
        ASSERT_NAIVE(mem.data_bytes == (size_t)clf_csr_bytes(m.rows, naive_nnz(&m), m.t));
        clf_sparse_release(&s, &mem);
        ASSERT_NAIVE(mem.now_bytes == 0);
        free(cells);
        arrays_free(&a);
    }
}

static void test_cast(void) {
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    EVERY_NAIVE(m, &seed) {
        arrays a = arrays_new(&m);
        clf_csr c = arrays_csr(&a, &m);
        for (int t = 0; t < CLF_NDTYPES; t++) {
            naive to = naive_new(m.rows, m.cols, (clf_dtype)t);
            for (size_t i = 0; i < cells_of(&m); i++) {
                to.stored[i] = m.stored[i];
                to.v[i] = clf_scalar_to(m.v[i], to.t);
            }
            clf_sparse s = {.ptr = NULL};
            ASSERT_NAIVE(clf_csr_cast(&c, to.t, &mem, &s, NULL) == CLF_OK && naive_is(&to, &s.m));
            ASSERT_NAIVE(s.m.ptr == a.ptr && s.m.idx == a.idx && !s.ptr && !s.idx);
            ASSERT_NAIVE(to.t == m.t ? s.m.val == a.val && !s.val : s.m.val == s.val);
            clf_sparse_release(&s, &mem);
            ASSERT_NAIVE(mem.now_bytes == 0);
            naive_free(&to);
        }
        arrays_free(&a);
    }
}

/* Triples, CSR, CSC, CSR, cells, CSR, triples again. */
static void test_round(void) {
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    EVERY_NAIVE(m, &seed) {
        for (size_t i = 0; i < cells_of(&m); i++)
            m.stored[i] = m.stored[i] && clf_scalar_as_f64(m.v[i]) != 0; /* stored zeros do not survive cells */
        for (size_t i = 0; i < cells_of(&m); i++)
            if (!m.stored[i]) m.v[i] = zero_of(m.t);
        arrays a = arrays_new(&m);
        int64_t *row = malloc((size_t)a.nnz * 8 + 1), *col = malloc((size_t)a.nnz * 8 + 1);
        void *cells = malloc(cells_of(&m) * 8 + 1);
        CU_ASSERT_FATAL(row && col && cells);
        for (int64_t r = 0; r < m.rows; r++)
            for (int64_t k = a.ptr[r]; k < a.ptr[r + 1]; k++) row[k] = r, col[k] = a.idx[k];
        clf_sparse s[4] = {{.ptr = NULL}};
        ASSERT_NAIVE(clf_csr_from_coo(m.rows, m.cols, a.nnz, row, col, 8, a.val, m.t, false, &mem, &s[0], NULL) == CLF_OK);
        ASSERT_NAIVE(clf_csr_transpose(&s[0].m, &mem, &s[1], NULL) == CLF_OK);
        ASSERT_NAIVE(clf_csr_transpose(&s[1].m, &mem, &s[2], NULL) == CLF_OK);
        clf_csr_to_dense(&s[2].m, cells);
        ASSERT_NAIVE(clf_csr_from_dense(cells, m.rows, m.cols, m.t, &mem, &s[3], NULL) == CLF_OK);
        ASSERT_NAIVE(naive_is(&m, &s[0].m) && naive_is(&m, &s[2].m) && naive_is(&m, &s[3].m));
        for (int i = 0; i < 4; i++) clf_sparse_release(&s[i], &mem);
        ASSERT_NAIVE(mem.now_bytes == 0);
        free(row), free(col), free(cells);
        arrays_free(&a);
    }
}

static clf_status transpose(void *with, clf_mem *mem, clf_err *err) {
    clf_sparse s;
    clf_status st = clf_csr_transpose(with, mem, &s, err);
    if (st == CLF_OK) clf_sparse_release(&s, mem);
    return st;
}
static clf_status cast(void *with, clf_mem *mem, clf_err *err) {
    clf_sparse s;
    clf_status st = clf_csr_cast(with, CLF_I64, mem, &s, err);
    if (st == CLF_OK) clf_sparse_release(&s, mem);
    return st;
}
static clf_status sieve(void *with, clf_mem *mem, clf_err *err) {
    clf_sparse s;
    clf_status st = clf_csr_from_dense(with, 2, 2, CLF_U8, mem, &s, err);
    if (st == CLF_OK) clf_sparse_release(&s, mem);
    return st;
}

static void test_memory(void) {
    static const int64_t ptr[3] = {0, 1, 2};
    static const int32_t idx[2] = {1, 0};
    unsigned char cells[4] = {0, 1, 2, 0};
    clf_csr m = {.ptr = ptr, .idx = idx, .val = "ab", .rows = 2, .cols = 2, .nnz = 2, .dtype = CLF_U8};
    CU_ASSERT_EQUAL(every_allocation(transpose, &m), 3);
    CU_ASSERT_EQUAL(every_allocation(cast, &m), 1);
    CU_ASSERT_EQUAL(every_allocation(sieve, cells), 3);
}

/* Sizes that CSR does not hold are refused by number, before anything is read or asked for. */
static void test_limits(void) {
    static const int64_t none[1] = {0};
    clf_mem mem;
    clf_sparse s;
    clf_err err = {.code = CLF_OK}, wide = {.code = CLF_OK};
    clf_mem_init(&mem, NULL, NULL);
    const clf_csr tall = {.ptr = none, .rows = (int64_t)INT32_MAX + 1, .cols = 2, .dtype = CLF_F64};
    CU_ASSERT_EQUAL(clf_csr_transpose(&tall, &mem, &s, &err), CLF_E_LIMIT);
    CU_ASSERT(strstr(err.text, "at most 2147483647 columns, not 2147483648") != NULL);
    CU_ASSERT_EQUAL(clf_csr_from_dense("", 0, (int64_t)1 << 40, CLF_F64, &mem, &s, &wide), CLF_E_LIMIT);
    CU_ASSERT_EQUAL(mem.peak_bytes, 0);
    clf_sparse nothing = {.ptr = NULL};
    clf_sparse_release(&nothing, &mem);
    clf_sparse_release(NULL, &mem);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
}

int main(void) {
    static const CU_TestInfo tests[] = {
        {"transpose", test_transpose}, {"column counts", test_col_counts}, {"cells", test_dense},   {"cast", test_cast},
        {"the way round", test_round}, {"memory out", test_memory},        {"limits", test_limits}, CU_TEST_INFO_NULL};
    return run_suite("sparse: conversions", tests);
}
