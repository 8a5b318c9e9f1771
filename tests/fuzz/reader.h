/* SPDX-License-Identifier: Apache-2.0
 * What the fuzz targets of the readers share: memory with a budget, and what must hold after every run. */
#ifndef CLF_TESTS_FUZZ_READER_H
#define CLF_TESTS_FUZZ_READER_H
#include "formats/fmt.h"
#include "tests/fuzz/fuzz.h"

typedef struct fuzz_reader {
    clf_mem mem;
    clf_dense x, y;
    clf_err err;
} fuzz_reader;

/* Sizes that a small file may claim stay far below what the sanitizer would take for an attack. */
static inline void fuzz_reader_init(fuzz_reader *f) {
    *f = (fuzz_reader){.err = {.code = CLF_OK}};
    clf_mem_init(&f->mem, NULL, NULL);
    atomic_store(&f->mem.limit_bytes, (size_t)16 << 20);
}

/* A failure has a message and gives nothing, a success is consistent, no byte stays allocated. */
static inline clf_status fuzz_reader_end(fuzz_reader *f, clf_status st) {
    if (st == CLF_OK) {
        FUZZ_MUST(f->x.data && f->x.rows >= 0 && f->x.cols >= 0);
        FUZZ_MUST(f->x.bytes == (size_t)f->x.rows * (size_t)f->x.cols * clf_dtype_bytes(f->x.dtype));
        FUZZ_MUST(!f->y.data || (f->y.rows == f->x.rows && f->y.cols == 1));
    } else {
        FUZZ_MUST(!f->x.data && !f->y.data && f->err.code == st && f->err.text[0]);
    }
    clf_dense_release(&f->x, &f->mem);
    clf_dense_release(&f->y, &f->mem);
    FUZZ_MUST(atomic_load(&f->mem.now_bytes) == 0 && atomic_load(&f->mem.data_bytes) == 0);
    return st;
}
#endif
