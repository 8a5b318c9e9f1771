/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target: the csv reader over any bytes. */
#include "tests/fuzz/reader.h"

clf_status fuzz_one(const uint8_t *p, size_t n) {
    fuzz_reader f;
    fuzz_reader_init(&f);
    static const char *const labels[] = {NULL, "1", "y", "2"};
    /* A byte 1 and one more at the end choose the options; plain files are read with the default. */
    bool chosen = n >= 2 && p[n - 2] == 1;
    unsigned pick = chosen ? p[n - 1] : 0;
    if (chosen) n -= 2;
    clf_read_opts o = {.dtype = pick & 1 ? CLF_F32 : CLF_F64, .na = (clf_na)(pick / 2 % 3), .label = labels[pick / 8 % 4]};
    return fuzz_reader_end(&f, clf_read_csv("fuzz", p, n, &o, &f.mem, &f.x.dense, o.label ? &f.y : NULL, &f.err));
}
