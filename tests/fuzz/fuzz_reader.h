/* SPDX-License-Identifier: Apache-2.0
 * What the fuzz targets of the readers share: memory with a budget, and what must hold after every run. */
#ifndef CLF_TESTS_FUZZ_READER_H
#define CLF_TESTS_FUZZ_READER_H
#include <stdint.h>
#include <stdlib.h>

#include "formats/fmt.h"

typedef struct fuzz {
    clf_mem mem;
    clf_dense x, y;
    clf_err err;
} fuzz;

static inline void fuzz_init(fuzz *f) {
    *f = (fuzz){.err = {.code = CLF_OK}};
    clf_mem_init(&f->mem, NULL, NULL);
    atomic_store(&f->mem.limit_bytes, (size_t)64 << 20);
}

static inline void fuzz_check(bool ok) {
    if (!ok) abort();
}

static inline void fuzz_end(fuzz *f, clf_status st) {
    if (st == CLF_OK) {
        fuzz_check(f->x.data && f->x.rows >= 0 && f->x.cols >= 0);
        fuzz_check(f->x.bytes == (size_t)f->x.rows * (size_t)f->x.cols * clf_dtype_bytes(f->x.dtype));
        fuzz_check(!f->y.data || (f->y.rows == f->x.rows && f->y.cols == 1));
    } else {
        fuzz_check(!f->x.data && !f->y.data && f->err.code == st && f->err.text[0]);
    }
    clf_dense_release(&f->x, &f->mem);
    clf_dense_release(&f->y, &f->mem);
    fuzz_check(atomic_load(&f->mem.now_bytes) == 0 && atomic_load(&f->mem.data_bytes) == 0);
}
#endif
