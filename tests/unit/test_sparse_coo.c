/* SPDX-License-Identifier: Apache-2.0
 * Triples that become CSR: any order, entries met twice, indices of both widths, everything that is refused. */
#include "tests/unit/sparse_testing.h"

static uint64_t seed = 2;

typedef struct coo {
    int64_t rows, cols, n;
    clf_dtype t;
    int bytes;
    void *row, *col, *val; /* exactly n */
} coo;

static void index_put(const coo *c, void *to, int64_t at, int64_t index) {
    if (c->bytes == 4)
        ((int32_t *)to)[at] = (int32_t)index;
    else
        ((int64_t *)to)[at] = index;
}
static int64_t index_get(const coo *c, const void *from, int64_t at) {
    return c->bytes == 4 ? ((const int32_t *)from)[at] : ((const int64_t *)from)[at];
}

static coo coo_new(int64_t rows, int64_t cols, int64_t n, clf_dtype t, int bytes) {
    coo c = {.rows = rows, .cols = cols, .n = n, .t = t, .bytes = bytes};
    c.row = malloc((size_t)(n * bytes) + (n == 0));
    c.col = malloc((size_t)(n * bytes) + (n == 0));
    c.val = malloc((size_t)n * clf_dtype_bytes(t) + (n == 0));
    CU_ASSERT_FATAL(c.row && c.col && c.val);
    return c;
}
static void coo_free(coo *c) {
    free(c->row);
    free(c->col);
    free(c->val);
}
static void coo_put(coo *c, int64_t at, int64_t row, int64_t col, clf_scalar v) {
    index_put(c, c->row, at, row);
    index_put(c, c->col, at, col);
    clf_scalar_store(c->val, (size_t)at, v);
}
static void coo_swap(coo *c, int64_t a, int64_t b) {
    int64_t row = index_get(c, c->row, a), col = index_get(c, c->col, a);
    clf_scalar v = clf_scalar_load(c->val, (size_t)a, c->t);
    coo_put(c, a, index_get(c, c->row, b), index_get(c, c->col, b), clf_scalar_load(c->val, (size_t)b, c->t));
    coo_put(c, b, row, col, v);
}
static clf_status coo_convert(const coo *c, bool add, clf_mem *mem, clf_sparse *s, clf_err *err) {
    return clf_csr_from_coo(c->rows, c->cols, c->n, c->row, c->col, c->bytes, c->val, c->t, add, mem, s, err);
}

/* The entries of m by rows (0), by columns (1), backwards (2), shuffled (3). */
static coo coo_of(const naive *m, int order, int bytes) {
    coo c = coo_new(m->rows, m->cols, naive_nnz(m), m->t, bytes);
    int64_t k = 0, cells = (int64_t)cells_of(m);
    for (int64_t i = 0; i < cells; i++) {
        int64_t row = order == 1 ? i % m->rows : i / m->cols, col = order == 1 ? i / m->rows : i % m->cols, at = row * m->cols + col;
        if (m->stored[at]) coo_put(&c, k++, row, col, m->v[at]);
    }
    for (int64_t i = 0; order == 2 && i < c.n / 2; i++) coo_swap(&c, i, c.n - 1 - i);
    for (int64_t i = c.n - 1; order == 3 && i > 0; i--) coo_swap(&c, i, random_below(&seed, i + 1));
    return c;
}

static void test_orders(void) {
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    EVERY_NAIVE(m, &seed)
    for (int order = 0; order < 4; order++)
        for (int bytes = 4; bytes <= 8; bytes += 4)
            for (int add = 0; add < 2; add++) {
                coo c = coo_of(&m, order, bytes);
                clf_sparse s = {.ptr = NULL};
                clf_err err = {.code = CLF_OK};
                ASSERT_NAIVE(coo_convert(&c, add, &mem, &s, &err) == CLF_OK);
                coo_free(&c); /* nothing of it is borrowed */
                ASSERT_NAIVE(naive_is(&m, &s.m));
                clf_sparse_release(&s, &mem);
                ASSERT_NAIVE(mem.now_bytes == 0);
            }
}

static clf_scalar sum(clf_scalar a, clf_scalar b) {
    if (a.dtype == CLF_F32) return clf_scalar_to(clf_scalar_f64((double)((float)a.u.f + (float)b.u.f)), CLF_F32);
    if (a.dtype == CLF_F64) return clf_scalar_f64(a.u.f + b.u.f);
    return clf_scalar_to(clf_scalar_i64((int64_t)((uint64_t)a.u.i + (uint64_t)b.u.i)), a.dtype);
}

/* Many entries for few cells: sums in the order given, to the bit. */
static void test_twice(void) {
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    for (int round = 0; round < 400; round++) {
        clf_dtype t = (clf_dtype)(round % CLF_NDTYPES);
        int64_t cols = 1 + random_below(&seed, 6), rows = 1 + random_below(&seed, 6);
        naive m = naive_new(rows, cols, t);
        coo c = coo_new(m.rows, m.cols, random_below(&seed, 80), t, round % 2 ? 4 : 8);
        bool twice = false;
        for (int64_t i = 0; i < c.n; i++) {
            int64_t row = random_below(&seed, m.rows), col = random_below(&seed, m.cols), at = row * m.cols + col;
            clf_scalar v = random_value(&seed, t);
            coo_put(&c, i, row, col, v);
            m.v[at] = m.stored[at] ? sum(m.v[at], v) : v;
            twice |= m.stored[at];
            m.stored[at] = true;
        }
        clf_sparse s = {.ptr = NULL};
        clf_err err = {.code = CLF_OK};
        CU_ASSERT_EQUAL(coo_convert(&c, true, &mem, &s, &err), CLF_OK);
        if (!naive_is(&m, &s.m)) fprintf(stderr, "\n    round %d\n", round);
        CU_ASSERT(naive_is(&m, &s.m));
        clf_sparse_release(&s, &mem);
        CU_ASSERT_EQUAL(coo_convert(&c, false, &mem, &s, &err), twice ? CLF_E_FORMAT : CLF_OK);
        CU_ASSERT(!twice || strstr(err.text, "stands twice"));
        clf_sparse_release(&s, &mem);
        CU_ASSERT_EQUAL(mem.now_bytes, 0);
        coo_free(&c);
        naive_free(&m);
    }
}

static void test_refused(void) {
    static const struct {
        int64_t row, col;
        const char *part;
    } cases[] = {{3, 0, "entry 2: row 3 is outside 0 to 2"},       {-1, 0, "entry 2: row -1 is outside"},
                 {0, 4, "entry 2: column 4 is outside 0 to 3"},    {2, -1, "entry 2: column -1 is outside"},
                 {INT32_MIN, 0, "entry 2: row -2147483648"},       {0, INT32_MAX, "entry 2: column 2147483647"},
                 {0, 0x7fc00000, "entry 2: column 2143289344 is"}, {1, 2, "row 2: column 2 stands twice"}};
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        clf_mem mem;
        clf_err err = {.code = CLF_OK};
        clf_sparse s = {.m = {.nnz = 77}};
        clf_mem_init(&mem, NULL, NULL);
        coo c = coo_new(3, 4, 2, CLF_F64, i % 2 ? 4 : 8);
        coo_put(&c, 0, 1, 2, clf_scalar_f64(5));
        coo_put(&c, 1, cases[i / 2].row, cases[i / 2].col, clf_scalar_f64(6));
        CU_ASSERT_EQUAL(coo_convert(&c, false, &mem, &s, &err), CLF_E_FORMAT);
        if (!strstr(err.text, cases[i / 2].part)) fprintf(stderr, "\n    '%s' for '%s'\n", err.text, cases[i / 2].part);
        CU_ASSERT(strstr(err.text, cases[i / 2].part) != NULL);
        CU_ASSERT(s.m.nnz == 77 && mem.now_bytes == 0);
        coo_free(&c);
    }
}

static void test_wide_refused(void) {
    clf_mem mem;
    clf_sparse s;
    clf_err err = {.code = CLF_OK};
    clf_mem_init(&mem, NULL, NULL);
    coo c = coo_new(3, 4, 1, CLF_F64, 8);
    coo_put(&c, 0, (int64_t)1 << 32, 0, clf_scalar_f64(1)); /* 0 if it were cut to 32 bits */
    CU_ASSERT_EQUAL(coo_convert(&c, true, &mem, &s, &err), CLF_E_FORMAT);
    coo_put(&c, 0, 0, (int64_t)1 << 32, clf_scalar_f64(1));
    CU_ASSERT_EQUAL(coo_convert(&c, true, &mem, &s, NULL), CLF_E_FORMAT);
    CU_ASSERT(strstr(err.text, "row 4294967296 is outside 0 to 2") != NULL);
    coo_free(&c);
}

/* There are no floating-point indices: an array of them given as one of 8-byte indices is refused, whole numbers too. */
static void test_real_numbers_refused(void) {
    static const double index[] = {NAN, INFINITY, -INFINITY, 1.5, 1, 2, -1};
    for (size_t i = 0; i < 2 * sizeof index / sizeof *index; i++) {
        clf_mem mem;
        clf_err err = {.code = CLF_OK};
        clf_sparse s = {.m = {.nnz = 77}};
        int64_t bits;
        memcpy(&bits, &index[i / 2], sizeof bits);
        clf_mem_init(&mem, NULL, NULL);
        coo c = coo_new(3, 4, 2, CLF_F64, 8);
        coo_put(&c, 0, 1, 2, clf_scalar_f64(5));
        coo_put(&c, 1, i % 2 ? bits : 0, i % 2 ? 0 : bits, clf_scalar_f64(6));
        CU_ASSERT_EQUAL(coo_convert(&c, false, &mem, &s, &err), CLF_E_FORMAT);
        CU_ASSERT(strstr(err.text, i % 2 ? "entry 2: row " : "entry 2: column ") && strstr(err.text, "is outside"));
        CU_ASSERT(s.m.nnz == 77 && mem.now_bytes == 0);
        coo_free(&c);
    }
}

static void test_arguments(void) {
    static const int32_t index[1] = {0};
    static const double val[1] = {1};
    static const struct {
        int64_t rows, cols, n;
        const void *row, *col;
        int bytes;
        const void *val;
        int t;
        const char *part;
    } cases[] = {{-1, 1, 1, index, index, 4, val, CLF_F64, "sizes below 0"},
                 {1, -1, 1, index, index, 4, val, CLF_F64, "sizes below 0"},
                 {1, 1, -1, index, index, 4, val, CLF_F64, "sizes below 0"},
                 {1, (int64_t)1 << 31, 1, index, index, 4, val, CLF_F64, "at most 2147483647 columns"},
                 {1, 1, 1, NULL, index, 4, val, CLF_F64, "triples without rows"},
                 {1, 1, 1, index, NULL, 4, val, CLF_F64, "triples without columns"},
                 {1, 1, 1, index, index, 4, NULL, CLF_F64, "without values"},
                 {1, 1, 1, index, index, 2, val, CLF_F64, "4 or 8 bytes, not 2"},
                 {1, 1, 1, index, index, 4, val, 9, "element type 9"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clf_mem mem;
        clf_err err = {.code = CLF_OK};
        clf_sparse s = {.m = {.nnz = 77}};
        clf_mem_init(&mem, NULL, NULL);
        CU_ASSERT_EQUAL(clf_csr_from_coo(cases[i].rows, cases[i].cols, cases[i].n, cases[i].row, cases[i].col, cases[i].bytes, cases[i].val,
                                         (clf_dtype)cases[i].t, true, &mem, &s, &err),
                        CLF_E_ARG);
        if (!strstr(err.text, cases[i].part)) fprintf(stderr, "\n    '%s' for '%s'\n", err.text, cases[i].part);
        CU_ASSERT(strstr(err.text, cases[i].part) != NULL);
        CU_ASSERT(s.m.nnz == 77 && mem.peak_bytes == 0);
    }
}

/* Half of all entries in one row, among 20,000 others, in no order; and a matrix of all columns there are. */
static void test_large(void) {
    enum { N = 200000, ROWS = 20000 };
    clf_mem mem;
    clf_sparse s;
    clf_mem_init(&mem, NULL, NULL);
    coo c = coo_new(ROWS, INT32_MAX, N, CLF_I32, 4);
    for (int64_t i = 0; i < N; i++) {
        int64_t row = i % 2 ? 77 : random_below(&seed, ROWS);
        coo_put(&c, i, row, i % 2 ? (i * 7919) % N * 10000 : i, clf_scalar_to(clf_scalar_i64(i), CLF_I32));
    }
    CU_ASSERT_EQUAL_FATAL(coo_convert(&c, false, &mem, &s, NULL), CLF_OK);
    CU_ASSERT_EQUAL(clf_csr_check(&s.m, NULL), CLF_OK);
    CU_ASSERT(s.m.nnz == N && s.m.ptr[78] - s.m.ptr[77] >= N / 2);
    CU_ASSERT(mem.peak_bytes < (size_t)N * (4 + 4) + (ROWS + 1) * 8 + (size_t)N / 2 * 40); /* no memory for columns */
    bool right = true;
    for (int64_t r = 0; r < ROWS; r++)
        for (int64_t k = s.m.ptr[r]; k < s.m.ptr[r + 1]; k++) {
            int32_t i = ((const int32_t *)s.m.val)[k];
            right &= index_get(&c, c.row, i) == r && index_get(&c, c.col, i) == s.m.idx[k];
        }
    CU_ASSERT(right);
    clf_sparse_release(&s, &mem);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
    coo_free(&c);
}

static clf_status convert(void *with, clf_mem *mem, clf_err *err) {
    clf_sparse s;
    clf_status st = coo_convert(with, true, mem, &s, err);
    if (st == CLF_OK) clf_sparse_release(&s, mem);
    return st;
}

static void test_memory(void) {
    coo c = coo_new(2, 3, 2, CLF_F32, 4);
    coo_put(&c, 0, 1, 2, (clf_scalar){.dtype = CLF_F32, .u.f = 1});
    coo_put(&c, 1, 1, 1, (clf_scalar){.dtype = CLF_F32, .u.f = 2});
    CU_ASSERT_EQUAL(every_allocation(convert, &c), 3 + 2); /* the row is sorted */
    coo_swap(&c, 0, 1);
    CU_ASSERT_EQUAL(every_allocation(convert, &c), 3);
    clf_mem mem;
    clf_err err = {.code = CLF_OK}, none = {.code = CLF_OK};
    clf_mem_init(&mem, NULL, NULL);
    atomic_store(&mem.limit_bytes, 39);
    CU_ASSERT_EQUAL(convert(&c, &mem, &err), CLF_E_NOMEM);
    CU_ASSERT(strstr(err.text, "a sparse 2 x 3 matrix with 2 entries of f32 needs 40 bytes, 39 are available") != NULL);
    atomic_store(&mem.limit_bytes, 40);
    CU_ASSERT_EQUAL(convert(&c, &mem, &none), CLF_OK);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
    c.n = INT64_MAX; /* refused by arithmetic before an entry is read */
    CU_ASSERT_EQUAL(convert(&c, &mem, &none), CLF_E_NOMEM);
    c.n = 2;
    c.rows = INT64_MAX;
    CU_ASSERT_EQUAL(convert(&c, &mem, &err), CLF_E_NOMEM);
    coo_free(&c);
}

int main(void) {
    static const CU_TestInfo tests[] = {{"every order", test_orders},
                                        {"met twice", test_twice},
                                        {"refused", test_refused},
                                        {"64-bit indices", test_wide_refused},
                                        {"real numbers as indices", test_real_numbers_refused},
                                        {"arguments", test_arguments},
                                        {"large", test_large},
                                        {"memory out", test_memory},
                                        CU_TEST_INFO_NULL};
    return run_suite("sparse: triples", tests);
}
