/* SPDX-License-Identifier: Apache-2.0
 * Shared by the suites of sparse matrices: a naive model, all cells with a mark for those that are stored, in shapes that are unkind;
 * and how often a thing is tried while one allocation after the other fails. */
#ifndef CLF_TESTS_SPARSE_TESTING_H
#define CLF_TESTS_SPARSE_TESTING_H
#include "formats/sparse.h"
#include "tests/unit/formats_testing.h"

typedef struct naive {
    int64_t rows, cols;
    clf_dtype t;
    bool *stored;    /* rows x cols */
    clf_scalar *v;   /* of type t; 0 where nothing is stored */
} naive;

static inline uint64_t random_next(uint64_t *s) {
    uint64_t z = (*s += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static inline int64_t random_below(uint64_t *s, int64_t n) { return (int64_t)(random_next(s) % (uint64_t)n); }

/* Any value a matrix may store: zeros of both signs, NaN, infinities, integers that wrap. */
static inline clf_scalar random_value(uint64_t *s, clf_dtype t) {
    static const double odd[] = {0, -0.0, NAN, INFINITY, -INFINITY, 0.1, 1e300, -1};
    clf_scalar x = clf_scalar_i64((int64_t)random_next(s));
    if (clf_dtype_float(t)) x = clf_scalar_f64(random_below(s, 3) ? (double)(random_below(s, 2001) - 1000) / 8 : odd[random_below(s, 8)]);
    return clf_scalar_to(x, t);
}

static inline size_t cells_of(const naive *m) { return (size_t)(m->rows * m->cols); }
static inline clf_scalar zero_of(clf_dtype t) { return clf_scalar_to(clf_scalar_i64(0), t); }

static inline naive naive_new(int64_t rows, int64_t cols, clf_dtype t) {
    naive m = {.rows = rows, .cols = cols, .t = t};
    m.stored = calloc(cells_of(&m) + 1, sizeof *m.stored);
    m.v = calloc(cells_of(&m) + 1, sizeof *m.v);
    CU_ASSERT_FATAL(m.stored && m.v);
    for (size_t i = 0; i < cells_of(&m); i++) m.v[i] = zero_of(t);
    return m;
}
static inline void naive_free(naive *m) {
    free(m->stored);
    free(m->v);
}
static inline int64_t naive_nnz(const naive *m) {
    int64_t n = 0;
    for (size_t i = 0; i < cells_of(m); i++) n += m->stored[i];
    return n;
}

enum { NAIVE_KINDS = 10 };
/* Is the cell stored, in a matrix of this kind? */
static inline bool naive_stores(const naive *m, int kind, int64_t r, int64_t c, uint64_t *s) {
    switch (kind) {
    case 0: return false;
    case 1: return true;
    case 2: return random_below(s, 2) == 0;
    case 3: return random_below(s, 10) == 0;
    case 4: return r >= m->rows / 3 && r < m->rows - m->rows / 3 && random_below(s, 3) == 0; /* empty rows at both ends */
    case 5: return r == m->rows / 2;                                                         /* all in one row */
    case 6: return c == m->cols / 2;                                                         /* all in one column */
    case 7: return r == m->rows - 1 || random_below(s, 12) == 0;                             /* about half in the last row */
    case 8: return random_below(s, r + 1) == 0;                                              /* rows become rarer */
    default: return r == 0 && c == 0;
    }
}

static const int64_t naive_shapes[][2] = {{0, 0}, {0, 5}, {5, 0}, {1, 1}, {1, 17}, {17, 1}, {2, 3}, {12, 9}, {33, 40}, {5, 300}};
enum { NAIVE_SHAPES = sizeof naive_shapes / sizeof *naive_shapes };

static inline naive naive_random(int shape, int kind, clf_dtype t, uint64_t *s) {
    naive m = naive_new(naive_shapes[shape][0], naive_shapes[shape][1], t);
    for (size_t i = 0; i < cells_of(&m); i++) {
        m.stored[i] = naive_stores(&m, kind, (int64_t)i / m.cols, (int64_t)i % m.cols, s);
        if (m.stored[i]) m.v[i] = random_value(s, t);
    }
    return m;
}

/* Every stored cell of the model stands in m where it must, and nothing else does. */
static inline bool naive_is(const naive *a, const clf_csr *m) {
    if (m->rows != a->rows || m->cols != a->cols || m->dtype != a->t || m->nnz != naive_nnz(a)) return false;
    if (clf_csr_check(m, NULL) != CLF_OK) return false;
    int64_t k = 0;
    for (int64_t r = 0; r < a->rows; r++) {
        if (m->ptr[r] != k) return false;
        for (int64_t c = 0; c < a->cols; c++) {
            size_t at = (size_t)(r * a->cols + c);
            if (!a->stored[at]) continue;
            if (m->idx[k] != c || !clf_scalar_same(clf_scalar_load(m->val, (size_t)k, a->t), a->v[at])) return false;
            k++;
        }
    }
    return m->ptr[a->rows] == k;
}

/* The model as arrays of a caller, each of exactly its length, so that a sanitizer sees any look beyond. */
typedef struct arrays {
    int64_t *ptr;
    int32_t *ptr32, *idx;
    void *val;
    int64_t nnz;
} arrays;

static inline arrays arrays_new(const naive *m) {
    arrays a = {.nnz = naive_nnz(m)};
    int64_t k = 0;
    a.ptr = malloc(((size_t)m->rows + 1) * sizeof *a.ptr);
    a.ptr32 = malloc(((size_t)m->rows + 1) * sizeof *a.ptr32);
    a.idx = malloc((size_t)a.nnz * sizeof *a.idx + (a.nnz == 0));
    a.val = malloc((size_t)a.nnz * clf_dtype_bytes(m->t) + (a.nnz == 0));
    CU_ASSERT_FATAL(a.ptr && a.ptr32 && a.idx && a.val);
    for (int64_t r = 0; r <= m->rows; r++) {
        a.ptr[r] = k;
        a.ptr32[r] = (int32_t)k;
        for (int64_t c = 0; r < m->rows && c < m->cols; c++) {
            if (!m->stored[r * m->cols + c]) continue;
            a.idx[k] = (int32_t)c;
            clf_scalar_store(a.val, (size_t)k++, m->v[r * m->cols + c]);
        }
    }
    return a;
}
static inline void arrays_free(arrays *a) {
    free(a->ptr);
    free(a->ptr32);
    free(a->idx);
    free(a->val);
}
static inline clf_csr arrays_csr(const arrays *a, const naive *m) {
    return (clf_csr){.ptr = a->ptr, .idx = a->idx, .val = a->val, .rows = m->rows, .cols = m->cols, .nnz = a->nnz, .dtype = (uint8_t)m->t};
}

/* Run `act` with every allocation failing in turn, from there on: it says CLF_E_NOMEM with a message and leaves nothing, until none fails
 * any more. act releases what it was given. The number of allocations is returned. */
static inline int every_allocation(clf_status (*act)(void *with, clf_mem *mem, clf_err *err), void *with) {
    for (int n = 0;; n++) {
        failing heap = {.fail_at = n};
        clf_mem mem;
        clf_err err = {.code = CLF_OK};
        clf_mem_init(&mem, failing_alloc, &heap);
        clf_status st = act(with, &mem, &err);
        CU_ASSERT(st == CLF_OK || st == CLF_E_NOMEM);
        CU_ASSERT(err.code == st && (st == CLF_OK || err.text[0]));
        CU_ASSERT(heap.live == 0 && mem.now_bytes == 0 && mem.data_bytes == 0);
        if (st != CLF_E_NOMEM || n > 100) return n;
    }
}

#define EVERY_NAIVE(m, seed)                                                          \
    for (int shape_ = 0; shape_ < NAIVE_SHAPES; shape_++)                             \
        for (int kind_ = 0; kind_ < NAIVE_KINDS; kind_++)                             \
            for (int type_ = 0; type_ < CLF_NDTYPES; type_++)                         \
                for (naive m = naive_random(shape_, kind_, (clf_dtype)type_, seed), *m##_ = &m; m##_; naive_free(&m), m##_ = NULL)
/* Says which one it was. */
#define ASSERT_NAIVE(x)                                                                                                        \
    do {                                                                                                                       \
        bool holds_ = (x);                                                                                                     \
        if (!holds_) fprintf(stderr, "\n    shape %d kind %d type %s: %s\n", shape_, kind_, clf_dtype_name((clf_dtype)type_), #x); \
        CU_ASSERT(holds_);                                                                                                     \
    } while (0)
#endif
