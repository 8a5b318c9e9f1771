/* SPDX-License-Identifier: Apache-2.0
 * Matrix products against a naive loop, bitwise: inputs are small integers, so no order of summation rounds. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/dtype.h"
#include "device/device_internal.h"
#include "tests/unit/heap_testing.h"

static clf_mem mem;
enum { PAD = 3 };

typedef struct operand {
    int64_t rows, cols, ld;
    void *at;
} operand;

static operand make(clf_dtype t, int64_t rows, int64_t cols, unsigned seed) {
    operand o = {rows, cols, cols + PAD, NULL};
    size_t n = (size_t)(rows * o.ld) + 1;
    o.at = calloc(n, clf_dtype_bytes(t));
    CU_ASSERT_PTR_NOT_NULL_FATAL(o.at);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        double x = (double)(seed >> 16) - 32768, v = (double)((long)x % 32);
        if (t == CLF_F64)
            ((double *)o.at)[i] = v;
        else
            ((float *)o.at)[i] = (float)v;
    }
    return o;
}

static double at(clf_dtype t, const operand *o, bool trans, int64_t i, int64_t j) {
    size_t k = (size_t)(trans ? j * o->ld + i : i * o->ld + j);
    return t == CLF_F64 ? ((const double *)o->at)[k] : (double)((const float *)o->at)[k];
}

/* C is right, and the padding to the right of each row untouched. */
static bool right(clf_dtype t, bool ta, bool tb, int64_t k, const operand *A, const operand *B, const operand *C, const operand *before) {
    for (int64_t i = 0; i < C->rows; i++) {
        for (int64_t j = 0; j < C->cols; j++) {
            double sum = 0;
            for (int64_t p = 0; p < k; p++) sum += at(t, A, ta, i, p) * at(t, B, tb, p, j);
            if (at(t, C, false, i, j) != sum) return false;
        }
        for (int64_t j = C->cols; j < C->ld; j++)
            if (at(t, C, false, i, j) != at(t, before, false, i, j)) return false;
    }
    return true;
}

static bool product(clf_blas *b, clf_dtype t, bool ta, bool tb, int64_t m, int64_t n, int64_t k) {
    operand A = make(t, ta ? k : m, ta ? m : k, 1), B = make(t, tb ? n : k, tb ? k : n, 2), C = make(t, m, n, 3), before = make(t, m, n, 3);
    clf_status st = clf_blas_gemm(b, t, ta, tb, m, n, k, A.at, A.ld, B.at, B.ld, C.at, C.ld, NULL);
    bool ok = st == CLF_OK && right(t, ta, tb, k, &A, &B, &C, &before);
    free(A.at);
    free(B.at);
    free(C.at);
    free(before.at);
    return ok;
}

static void all_cases(clf_blas *b) {
    static const int64_t sizes[][3] = {{1, 1, 1},     {1, 5, 3},    {7, 1, 9}, {6, 16, 4}, {5, 33, 17}, {13, 31, 300}, {70, 47, 90},
                                       {33, 300, 29}, {64, 64, 64}, {3, 2, 0}, {0, 4, 4},  {4, 0, 4},   {0, 0, 0}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int c = 0; c < 8; c++)
            CU_ASSERT_TRUE(product(b, c & 4 ? CLF_F32 : CLF_F64, c & 1, c & 2, sizes[s][0], sizes[s][1], sizes[s][2]));
}

static void test_library(void) {
    clf_blas *b = clf_blas_open(&mem, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    CU_ASSERT_TRUE(!strcmp(clf_blas_name(b), "openblas") || !strcmp(clf_blas_name(b), "own"));
    all_cases(b);
    clf_blas_close(b);
}

static void test_own(void) {
    clf_blas *b = clf_blas_open(&mem, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    clf_blas_restrict(b, 1, true);
    CU_ASSERT_STRING_EQUAL(clf_blas_name(b), "own");
    all_cases(b);
    clf_blas_close(b);
}

/* Sizes over the limit of a call, here 20, are cut along every axis. */
static void test_split(void) {
    clf_blas *b = clf_blas_open(&mem, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    clf_blas_restrict(b, 20, false);
    all_cases(b);
    clf_blas_close(b);
}

static void test_refused(void) {
    double x[16] = {0};
    clf_blas *b = clf_blas_open(&mem, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    CU_ASSERT_EQUAL(clf_blas_gemm(b, CLF_I32, 0, 0, 1, 1, 1, x, 1, x, 1, x, 1, NULL), CLF_E_TYPE);
    CU_ASSERT_EQUAL(clf_blas_gemm(b, CLF_F64, 0, 0, -1, 1, 1, x, 1, x, 1, x, 1, NULL), CLF_E_SHAPE);
    CU_ASSERT_EQUAL(clf_blas_gemm(b, CLF_F64, 0, 0, 2, 2, 2, x, 1, x, 2, x, 2, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_blas_gemm(b, CLF_F64, 0, 0, 2, 2, 2, x, 2, x, 1, x, 2, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_blas_gemm(b, CLF_F64, 0, 0, 2, 2, 2, x, 2, x, 2, x, 1, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_blas_gemm(b, CLF_F64, 0, 0, INT64_MAX, 2, 2, x, 2, x, 2, x, 2, NULL), CLF_E_ARG);
    CU_ASSERT_EQUAL(clf_blas_gemm(NULL, CLF_F64, 0, 0, 2, 2, 2, x, 2, x, 2, x, 2, NULL), CLF_E_ARG);
    clf_blas_close(b);
    clf_blas_close(NULL);
    CU_ASSERT_STRING_EQUAL(clf_blas_name(NULL), "own");
}

/* NaN and infinity pass through as the sum says, in every tile. */
static void test_special(void) {
    enum { N = 40 };
    static double A[N * N], B[N * N], C[N * N];
    for (int own = 0; own < 2; own++) {
        clf_blas *b = clf_blas_open(&mem, 1);
        CU_ASSERT_PTR_NOT_NULL_FATAL(b);
        if (own) clf_blas_restrict(b, 1, true);
        for (int i = 0; i < N * N; i++) A[i] = B[i] = 1;
        A[5 * N + 7] = INFINITY;
        A[9 * N + 3] = NAN;
        CU_ASSERT_EQUAL(clf_blas_gemm(b, CLF_F64, 0, 0, N, N, N, A, N, B, N, C, N, NULL), CLF_OK);
        for (int j = 0; j < N; j++) CU_ASSERT_TRUE(isinf(C[5 * N + j]) && isnan(C[9 * N + j]) && C[j] == N && C[(N - 1) * N + j] == N);
        clf_blas_close(b);
    }
}

static void test_out_of_memory(void) {
    double x[4] = {1, 2, 3, 4}, y[4];
    for (int n = 0; n < 3; n++) {
        counting_heap heap = heap_of(n);
        clf_mem m;
        clf_err err = {0};
        clf_mem_init(&m, counting_alloc, &heap);
        clf_blas *b = clf_blas_open(&m, 1);
        CU_ASSERT_EQUAL(b != NULL, n > 0);
        if (b) clf_blas_restrict(b, 1, true);
        clf_status st = clf_blas_gemm(b, CLF_F64, 0, 0, 2, 2, 2, x, 2, x, 2, y, 2, &err);
        CU_ASSERT_EQUAL(st, n == 0 ? CLF_E_ARG : n == 1 ? CLF_E_NOMEM : CLF_OK);
        clf_blas_close(b);
        CU_ASSERT_EQUAL(atomic_load(&m.now_bytes), 0);
    }
    CU_ASSERT_EQUAL(y[3], 22);
}

int main(void) {
    static CU_TestInfo tests[] = {
        {"library", test_library}, {"own", test_own},         {"split", test_split},
        {"refused", test_refused}, {"special", test_special}, {"out of memory", test_out_of_memory},
        CU_TEST_INFO_NULL,
    };
    CU_SuiteInfo suites[] = {{"blas", NULL, NULL, NULL, NULL, tests}, CU_SUITE_INFO_NULL};
    clf_mem_init(&mem, NULL, NULL);
    if (CU_initialize_registry() != CUE_SUCCESS || CU_register_suites(suites) != CUE_SUCCESS) return 1;
    CU_basic_run_tests();
    int rc = CU_get_number_of_failures() > 0;
    CU_cleanup_registry();
    return rc;
}
