/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target: the npy reader over any bytes. */
#include "tests/fuzz/reader.h"

clf_status fuzz_one(const uint8_t *p, size_t n) {
    fuzz_reader f;
    fuzz_reader_init(&f);
    return fuzz_reader_end(&f, clf_read_npy("fuzz", p, n, &f.mem, &f.x.dense, &f.err));
}
