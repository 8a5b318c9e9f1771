/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target: sparse arrays of a caller with any contents, as CSR or as triples. Each array has exactly the length it claims.
 *
 * Bytes: options, rows, columns, entries; then offsets and columns of CSR, or rows and columns of triples. Numbers up to 239 stand for
 * themselves, the rest for limits; bytes that are missing are 0. */
#include "tests/fuzz/reader.h"

typedef struct caller {
    const uint8_t *at, *end;
    clf_mem mem;
    int64_t rows, cols, nnz;
    clf_dtype t;
    bool narrow, triples, add;
    void *a, *b, *val; /* offsets and columns, or rows and columns */
} caller;

static unsigned take(caller *c) { return c->at < c->end ? *c->at++ : 0; }

static int64_t number(caller *c) {
    static const int64_t limits[16] = {
        -1,         -2,         INT32_MAX,        INT32_MIN,        INT64_MAX,        INT64_MIN,     1 << 16,       1 << 24,
        1000000000, 0x7fc00000, (int64_t)1 << 31, (int64_t)1 << 32, (int64_t)1 << 62, INT64_MAX - 1, INT32_MAX - 1, 240};
    unsigned byte = take(c);
    return byte < 240 ? (int64_t)byte : limits[byte - 240];
}

static int64_t at(const void *p, bool narrow, int64_t i) { return narrow ? ((const int32_t *)p)[i] : ((const int64_t *)p)[i]; }

/* n numbers of 4 or 8 bytes, in a block of that length. */
static void *numbers(caller *c, int64_t n, bool narrow) {
    void *p = malloc(n > 0 ? (size_t)n * (narrow ? 4 : 8) : 1);
    FUZZ_MUST(p);
    for (int64_t i = 0; i < n; i++) {
        int64_t v = number(c);
        if (narrow)
            ((int32_t *)p)[i] = (int32_t)v;
        else
            ((int64_t *)p)[i] = v;
    }
    return p;
}

/* By the definition. */
static bool csr_right(const caller *c) {
    const int32_t *idx = c->b;
    if (at(c->a, c->narrow, 0) != 0 || at(c->a, c->narrow, c->rows) != c->nnz) return false;
    for (int64_t r = 0; r < c->rows; r++)
        if (at(c->a, c->narrow, r) > at(c->a, c->narrow, r + 1)) return false;
    for (int64_t r = 0; r < c->rows; r++)
        for (int64_t k = at(c->a, c->narrow, r); k < at(c->a, c->narrow, r + 1); k++)
            if (idx[k] < 0 || idx[k] >= c->cols || (k > at(c->a, c->narrow, r) && idx[k - 1] >= idx[k])) return false;
    return true;
}

static bool triples_right(const caller *c) {
    for (int64_t i = 0; i < c->nnz; i++) {
        int64_t row = at(c->a, c->narrow, i), col = at(c->b, c->narrow, i);
        if (row < 0 || row >= c->rows || col < 0 || col >= c->cols) return false;
        for (int64_t k = 0; k < i && !c->add; k++)
            if (at(c->a, c->narrow, k) == row && at(c->b, c->narrow, k) == col) return false;
    }
    return true;
}

static clf_status convert(caller *c, clf_sparse *s, clf_err *err) {
    if (c->triples) return clf_csr_from_coo(c->rows, c->cols, c->nnz, c->a, c->b, c->narrow ? 4 : 8, c->val, c->t, c->add, &c->mem, s, err);
    return clf_csr_import(c->rows, c->cols, c->nnz, c->a, c->narrow ? 4 : 8, c->b, c->val, c->t, false, &c->mem, s, err);
}

/* There and back, where memory lasts: the transpose's transpose, and the cells of both types' way. */
static void round_trips(caller *c, const clf_csr *m) {
    clf_sparse t = {.ptr = NULL}, again = {.ptr = NULL}, cast = {.ptr = NULL};
    FUZZ_MUST(clf_csr_check(m, NULL) == CLF_OK);
    if (clf_csr_transpose(m, &c->mem, &t, NULL) == CLF_OK) {
        FUZZ_MUST(clf_csr_check(&t.m, NULL) == CLF_OK);
        if (clf_csr_transpose(&t.m, &c->mem, &again, NULL) == CLF_OK) FUZZ_MUST(fuzz_csr_same(m, &again.m));
    }
    if (clf_csr_cast(m, CLF_F32, &c->mem, &cast, NULL) == CLF_OK && m->cols <= 256 && m->rows <= 256) {
        float *cells = malloc((size_t)(m->rows * m->cols) * sizeof *cells + 1);
        FUZZ_MUST(cells);
        clf_csr_to_dense(&cast.m, cells);
        clf_sparse_release(&again, &c->mem);
        if (clf_csr_from_dense(cells, m->rows, m->cols, CLF_F32, &c->mem, &again, NULL) == CLF_OK)
            FUZZ_MUST(clf_csr_check(&again.m, NULL) == CLF_OK && again.m.nnz <= m->nnz);
        free(cells);
    }
    clf_sparse_release(&t, &c->mem);
    clf_sparse_release(&again, &c->mem);
    clf_sparse_release(&cast, &c->mem);
}

static void fill(caller *c) {
    unsigned options = take(c);
    c->narrow = options & 1;
    c->triples = options & 2;
    c->add = options & 4;
    c->t = (clf_dtype)(options / 8 % CLF_NDTYPES);
    c->rows = take(c);
    c->cols = number(c);
    c->nnz = take(c);
    c->a = numbers(c, c->triples ? c->nnz : c->rows + 1, c->narrow);
    c->b = numbers(c, c->nnz, c->narrow || !c->triples);
    c->val = numbers(c, c->nnz, clf_dtype_bytes(c->t) < 8);
}

clf_status fuzz_one(const uint8_t *p, size_t n) {
    caller c = {.at = p, .end = p + n};
    clf_sparse s = {.ptr = NULL};
    clf_err err = {.code = CLF_OK};
    clf_mem_init(&c.mem, NULL, NULL);
    atomic_store(&c.mem.limit_bytes, (size_t)16 << 20);
    fill(&c);
    clf_status st = convert(&c, &s, &err);
    bool shape = c.cols >= 0 && c.cols <= INT32_MAX;
    FUZZ_MUST(st == (!shape ? CLF_E_ARG : (c.triples ? triples_right(&c) : csr_right(&c)) ? CLF_OK : CLF_E_FORMAT));
    FUZZ_MUST(err.code == st && (st == CLF_OK) == !err.text[0]);
    FUZZ_MUST(st == CLF_OK || !s.m.ptr);
    if (st == CLF_OK) round_trips(&c, &s.m);
    clf_sparse_release(&s, &c.mem);
    free(c.a), free(c.b), free(c.val);
    FUZZ_MUST(atomic_load(&c.mem.now_bytes) == 0 && atomic_load(&c.mem.data_bytes) == 0);
    return st;
}
