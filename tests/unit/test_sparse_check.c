/* SPDX-License-Identifier: Apache-2.0
 * CSR arrays of a caller: what is accepted in place, every way they can be wrong and what is said about it. */
#include "tests/unit/sparse_testing.h"

static uint64_t seed = 1;

static void test_import(void) {
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    EVERY_NAIVE(m, &seed) {
        arrays a = arrays_new(&m);
        for (int way = 0; way < 4; way++) {
            bool wide = way & 1, trusted = way & 2;
            clf_sparse s = {.ptr = NULL};
            clf_err err = {.code = CLF_OK};
            clf_status st = clf_csr_import(m.rows, m.cols, a.nnz, wide ? (void *)a.ptr : a.ptr32, wide ? 8 : 4, a.idx, a.val, m.t, trusted,
                                           &mem, &s, &err);
            ASSERT_NAIVE(st == CLF_OK && err.code == CLF_OK);
            ASSERT_NAIVE(naive_is(&m, &s.m));
            ASSERT_NAIVE(s.m.idx == a.idx && s.m.val == a.val && !s.idx && !s.val); /* in place */
            ASSERT_NAIVE(wide ? s.m.ptr == a.ptr && !s.ptr : s.m.ptr == s.ptr && s.ptr);
            ASSERT_NAIVE(mem.data_bytes == (wide ? 0 : ((size_t)m.rows + 1) * 8));
            clf_sparse_release(&s, &mem);
            ASSERT_NAIVE(mem.now_bytes == 0 && !s.m.ptr);
        }
        arrays_free(&a);
    }
}

/* Without entries there need be no arrays for them. */
static void test_import_none(void) {
    const int64_t ptr[4] = {0};
    clf_mem mem;
    clf_sparse s;
    clf_mem_init(&mem, NULL, NULL);
    CU_ASSERT_EQUAL(clf_csr_import(3, INT32_MAX, 0, ptr, 8, NULL, NULL, CLF_F64, false, &mem, &s, NULL), CLF_OK);
    CU_ASSERT(s.m.nnz == 0 && s.m.cols == INT32_MAX && s.m.ptr == ptr);
    clf_sparse_release(&s, &mem);
    CU_ASSERT_EQUAL(clf_csr_import(0, 0, 0, ptr, 8, NULL, NULL, CLF_U8, false, &mem, &s, NULL), CLF_OK);
}

static void test_arguments(void) {
    static const int64_t ptr[3] = {0, 1, 2};
    static const int32_t idx[2] = {0, 1};
    static const double val[2] = {1, 2};
    static const struct {
        int64_t rows, cols, nnz;
        const void *ptr;
        int bytes;
        const int32_t *idx;
        const double *val;
        int t;
        const char *part;
    } cases[] = {{-1, 2, 2, ptr, 8, idx, val, CLF_F64, "-1 x 2 with 2 entries: sizes below 0"},
                 {2, -2, 2, ptr, 8, idx, val, CLF_F64, "2 x -2"},
                 {2, 2, INT64_MIN, ptr, 8, idx, val, CLF_F64, "sizes below 0"},
                 {2, (int64_t)INT32_MAX + 1, 2, ptr, 8, idx, val, CLF_F64, "at most 2147483647 columns, not 2147483648"},
                 {2, 2, 2, NULL, 8, idx, val, CLF_F64, "without offsets"},
                 {2, 2, 2, NULL, 4, idx, val, CLF_F64, "without offsets"},
                 {2, 2, 2, ptr, 8, NULL, val, CLF_F64, "without indices"},
                 {2, 2, 2, ptr, 8, idx, NULL, CLF_F64, "without values"},
                 {2, 2, 2, ptr, 5, idx, val, CLF_F64, "4 or 8 bytes, not 5"},
                 {2, 2, 2, ptr, 0, idx, val, CLF_F64, "4 or 8 bytes, not 0"},
                 {2, 2, 2, ptr, 8, idx, val, 5, "element type 5"}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        clf_mem mem;
        clf_err err = {.code = CLF_OK};
        clf_sparse s = {.m = {.nnz = 77}};
        clf_mem_init(&mem, NULL, NULL);
        size_t k = i / 2;
        CU_ASSERT_EQUAL(clf_csr_import(cases[k].rows, cases[k].cols, cases[k].nnz, cases[k].ptr, cases[k].bytes, cases[k].idx, cases[k].val,
                                       (clf_dtype)cases[k].t, i % 2, &mem, &s, &err),
                        CLF_E_ARG);
        if (!strstr(err.text, cases[k].part)) fprintf(stderr, "\n    '%s' for '%s'\n", err.text, cases[k].part);
        CU_ASSERT(strstr(err.text, cases[k].part) != NULL);
        CU_ASSERT(s.m.nnz == 77 && mem.peak_bytes == 0); /* untouched */
    }
    const clf_csr none = {.rows = 1, .cols = 1};
    CU_ASSERT_EQUAL(clf_csr_check(&none, NULL), CLF_E_ARG);
}

/* A good 4 x 5 matrix with 6 entries, one number of which is replaced. */
static void test_damage(void) {
    static const int64_t good_ptr[5] = {0, 2, 2, 5, 6};
    static const int32_t good_idx[6] = {1, 4, 0, 2, 3, 0};
    static const double val[6] = {1, 2, 3, 4, 5, 6};
    static const struct {
        bool in_ptr;
        int at;
        int64_t value;
        const char *part;
    } cases[] = {{true, 0, 1, "row 1: offsets begin at 1, not at 0"},
                 {true, 0, -1, "row 1: offsets begin at -1"},
                 {true, 0, INT64_MIN, "row 1: offsets begin at -9223372036854775808"},
                 {true, 1, 3, "row 1, entry 3: column 0 after column 4, they must ascend"},
                 {true, 2, 1, "row 2: its offsets decrease, from 2 to 1"},
                 {true, 1, -1, "row 1: its offsets decrease, from 0 to -1"},
                 {true, 2, 7, "row 2: its offsets end at 7, beyond the 6 entries"},
                 {true, 2, INT64_MAX, "row 2: its offsets end at 9223372036854775807, beyond"},
                 {true, 4, 5, "row 4: offsets end at 5, there are 6 entries"},
                 {true, 4, 7, "row 4: its offsets end at 7, beyond the 6 entries"},
                 {true, 3, 6, "row 3, entry 6: column 0 after column 3, they must ascend"},
                 {false, 0, -1, "row 1, entry 1: column -1 is outside 0 to 4"},
                 {false, 0, INT32_MIN, "row 1, entry 1: column -2147483648 is outside"},
                 {false, 0, 0x7fc00000, "row 1, entry 1: column 2143289344 is outside 0 to 4"}, /* a float's NaN taken for an index */
                 {false, 1, 5, "row 1, entry 2: column 5 is outside 0 to 4"},
                 {false, 1, 1, "row 1, entry 2: column 1 stands twice"},
                 {false, 1, 0, "row 1, entry 2: column 0 after column 1, they must ascend"},
                 {false, 3, 0, "row 3, entry 4: column 0 stands twice"},
                 {false, 3, 3, "row 3, entry 5: column 3 stands twice"},
                 {false, 3, 4, "row 3, entry 5: column 3 after column 4"},
                 {false, 3, INT32_MAX, "row 3, entry 4: column 2147483647 is outside 0 to 4"},
                 {false, 5, 5, "row 4, entry 6: column 5 is outside 0 to 4"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ptr[5];
        int32_t idx[6];
        memcpy(ptr, good_ptr, sizeof ptr);
        memcpy(idx, good_idx, sizeof idx);
        const clf_csr m = {.ptr = ptr, .idx = idx, .val = val, .rows = 4, .cols = 5, .nnz = 6, .dtype = CLF_F64};
        clf_err err = {.code = CLF_OK};
        CU_ASSERT_EQUAL(clf_csr_check(&m, &err), CLF_OK);
        if (cases[i].in_ptr)
            ptr[cases[i].at] = cases[i].value;
        else
            idx[cases[i].at] = (int32_t)cases[i].value;
        CU_ASSERT_EQUAL(clf_csr_check(&m, &err), CLF_E_FORMAT);
        if (!strstr(err.text, cases[i].part)) fprintf(stderr, "\n    '%s' for '%s'\n", err.text, cases[i].part);
        CU_ASSERT(strstr(err.text, cases[i].part) != NULL);
    }
}

/* The 32-bit offsets of the same, widened before they are looked at: a failure gives nothing and frees them. */
static void test_damage_narrow(void) {
    static const int32_t ptr[3][3] = {{0, 2, 1}, {0, -5, 2}, {0, INT32_MIN, INT32_MAX}};
    static const int32_t idx[2] = {0, 1};
    static const float val[2] = {1, 2};
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    for (int i = 0; i < 3; i++) {
        clf_sparse s = {.m = {.nnz = 77}};
        CU_ASSERT_EQUAL(clf_csr_import(2, 2, 2, ptr[i], 4, idx, val, CLF_F32, false, &mem, &s, NULL), CLF_E_FORMAT);
        CU_ASSERT(s.m.nnz == 77 && mem.now_bytes == 0 && mem.peak_bytes == 24);
    }
}

static bool is_csr(const clf_csr *m) {
    if (m->ptr[0] != 0 || m->ptr[m->rows] != m->nnz) return false;
    for (int64_t r = 0; r < m->rows; r++)
        if (m->ptr[r] > m->ptr[r + 1]) return false;
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t k = m->ptr[r]; k < m->ptr[r + 1]; k++)
            if (m->idx[k] < 0 || m->idx[k] >= m->cols || (k > m->ptr[r] && m->idx[k] <= m->idx[k - 1])) return false;
    return true;
}

/* Numbers replaced at random, by neighbours, by limits, by anything: the check says the same as its definition, and reads no further. */
static void test_hostile(void) {
    static const int64_t limits[] = {0, -1, 1, INT64_MAX, INT64_MIN, INT32_MAX, INT32_MIN, 0x7fc00000, (int64_t)1 << 32};
    long good = 0, bad = 0;
    for (int round = 0; round < 6; round++) EVERY_NAIVE(m, &seed) {
            if (m.t != CLF_U8) continue;
            arrays a = arrays_new(&m);
            for (int n = (int)random_below(&seed, 3); n >= 0; n--) {
                int64_t x = random_below(&seed, 2) ? limits[random_below(&seed, 9)] : random_below(&seed, m.cols + m.rows + 3) - 1;
                bool in_ptr = a.nnz == 0 || random_below(&seed, 2);
                if (in_ptr)
                    a.ptr[random_below(&seed, m.rows + 1)] = x;
                else
                    a.idx[random_below(&seed, a.nnz)] = (int32_t)x;
            }
            const clf_csr c = arrays_csr(&a, &m);
            clf_err err = {.code = CLF_OK};
            clf_status st = clf_csr_check(&c, &err);
            ASSERT_NAIVE(st == (is_csr(&c) ? CLF_OK : CLF_E_FORMAT) && err.code == st);
            ASSERT_NAIVE(st == CLF_OK || strstr(err.text, "row "));
            good += st == CLF_OK;
            bad += st != CLF_OK;
            arrays_free(&a);
        }
    CU_ASSERT(good > 50 && bad > 200);
}

static clf_status import_narrow(void *with, clf_mem *mem, clf_err *err) {
    static const int32_t ptr[3] = {0, 1, 1};
    static const int32_t idx[1] = {0};
    clf_sparse s;
    clf_status st = clf_csr_import(2, 2, 1, ptr, 4, idx, "x", CLF_U8, with != NULL, mem, &s, err);
    if (st == CLF_OK) clf_sparse_release(&s, mem);
    return st;
}

static void test_memory(void) {
    CU_ASSERT_EQUAL(every_allocation(import_narrow, NULL), 1);
    CU_ASSERT_EQUAL(every_allocation(import_narrow, &seed), 1);
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    atomic_store(&mem.limit_bytes, 16);
    clf_err err = {.code = CLF_OK};
    CU_ASSERT_EQUAL(import_narrow(NULL, &mem, &err), CLF_E_NOMEM); /* the budget */
    CU_ASSERT(strstr(err.text, "no memory for 3 offsets of a sparse matrix, 16 bytes are available") != NULL);
}

int main(void) {
    static const CU_TestInfo tests[] = {{"import in place", test_import},
                                        {"import without entries", test_import_none},
                                        {"arguments", test_arguments},
                                        {"damage by name", test_damage},
                                        {"damaged 32-bit offsets", test_damage_narrow},
                                        {"hostile numbers", test_hostile},
                                        {"memory out", test_memory},
                                        CU_TEST_INFO_NULL};
    return run_suite("sparse: check and import", tests);
}
