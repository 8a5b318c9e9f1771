/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target: the svm reader over any bytes, and what conversions make of its results. */
#include "tests/fuzz/reader.h"

clf_status fuzz_one(const uint8_t *p, size_t n) {
    fuzz_reader f;
    fuzz_reader_init(&f);
    clf_read_opts o = {.dtype = n & 1 ? CLF_F32 : CLF_F64};
    clf_status st = clf_read_svm("fuzz", p, n, &o, &f.mem, &f.x.csr, &f.y, &f.err);
    f.x.sparse = st == CLF_OK;
    return fuzz_reader_end(&f, st);
}
