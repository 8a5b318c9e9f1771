/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target: the Matrix Market reader over any bytes, and what conversions make of its sparse results. */
#include "tests/fuzz/reader.h"

clf_status fuzz_one(const uint8_t *p, size_t n) {
    fuzz_reader f;
    fuzz_reader_init(&f);
    clf_read_opts o = {.dtype = n & 1 ? CLF_F32 : CLF_F64};
    return fuzz_reader_end(&f, clf_read_mtx("fuzz", p, n, &o, &f.mem, &f.x, &f.err));
}
