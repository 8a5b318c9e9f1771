/* SPDX-License-Identifier: Apache-2.0
 * What the fuzz targets of the readers share: memory with a budget, and what must hold after every run. */
#ifndef CLF_TESTS_FUZZ_READER_H
#define CLF_TESTS_FUZZ_READER_H
#include "formats/fmt.h"
#include "tests/fuzz/fuzz.h"

typedef struct fuzz_reader {
    clf_mem mem;
    clf_loaded x;
    clf_dense y;
    clf_err err;
} fuzz_reader;

/* Sizes that a small file may claim stay far below what the sanitizer would take for an attack. */
static inline void fuzz_reader_init(fuzz_reader *f) {
    *f = (fuzz_reader){.err = {.code = CLF_OK}};
    clf_mem_init(&f->mem, NULL, NULL);
    atomic_store(&f->mem.limit_bytes, (size_t)16 << 20);
}

/* Bits, since NaN differs from itself. */
static inline bool fuzz_csr_same(const clf_csr *a, const clf_csr *b) {
    size_t n = (size_t)a->nnz;
    return a->rows == b->rows && a->cols == b->cols && a->nnz == b->nnz && a->dtype == b->dtype &&
           memcmp(a->ptr, b->ptr, ((size_t)a->rows + 1) * sizeof *a->ptr) == 0 && memcmp(a->idx, b->idx, n * sizeof *a->idx) == 0 &&
           memcmp(a->val, b->val, n * clf_dtype_bytes((clf_dtype)a->dtype)) == 0;
}

/* A sparse result is one, and its transpose's transpose is it again; where memory lasts. */
static inline void fuzz_csr_consistent(fuzz_reader *f) {
    const clf_csr *m = &f->x.csr.m;
    clf_sparse t = {.ptr = NULL}, again = {.ptr = NULL};
    FUZZ_MUST(clf_csr_check(m, NULL) == CLF_OK);
    if (clf_csr_transpose(m, &f->mem, &t, NULL) == CLF_OK) {
        FUZZ_MUST(clf_csr_check(&t.m, NULL) == CLF_OK);
        if (clf_csr_transpose(&t.m, &f->mem, &again, NULL) == CLF_OK) FUZZ_MUST(fuzz_csr_same(m, &again.m));
    }
    clf_sparse_release(&t, &f->mem);
    clf_sparse_release(&again, &f->mem);
}

/* A failure has a message and gives nothing, a success is consistent, no byte stays allocated. */
static inline clf_status fuzz_reader_end(fuzz_reader *f, clf_status st) {
    const clf_dense *x = &f->x.dense;
    if (st == CLF_OK) {
        int64_t rows = f->x.sparse ? f->x.csr.m.rows : x->rows;
        FUZZ_MUST(f->x.sparse ? f->x.csr.ptr && !x->data : x->data && !f->x.csr.ptr);
        FUZZ_MUST(f->x.sparse || (x->rows >= 0 && x->cols >= 0));
        FUZZ_MUST(f->x.sparse || x->bytes == (size_t)x->rows * (size_t)x->cols * clf_dtype_bytes(x->dtype));
        FUZZ_MUST(!f->y.data || (f->y.rows == rows && f->y.cols == 1));
        if (f->x.sparse) fuzz_csr_consistent(f);
        clf_dense cells;
        if (clf_loaded_dense(&f->x, "fuzz", &f->mem, &cells, NULL) == CLF_OK) clf_dense_release(&cells, &f->mem);
    } else {
        FUZZ_MUST(!x->data && !f->x.csr.ptr && !f->y.data && f->err.code == st && f->err.text[0]);
    }
    clf_loaded_release(&f->x, &f->mem);
    clf_dense_release(&f->y, &f->mem);
    FUZZ_MUST(atomic_load(&f->mem.now_bytes) == 0 && atomic_load(&f->mem.data_bytes) == 0);
    return st;
}
#endif
