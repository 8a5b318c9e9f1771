/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer target: the csv reader over any bytes. Seeds: tests/corpus/csv.
 * Build: clang -fsanitize=fuzzer,address,undefined with the sources of core/ and formats/.
 * Checked besides the sanitizers: a failure has a message and gives nothing, a success is consistent, no byte stays allocated. */
#include "tests/fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
    fuzz f;
    fuzz_init(&f);
    /* The last byte chooses the options, so that seeds stay plain files. */
    static const char *const labels[] = {NULL, "1", "y", "2"};
    unsigned pick = n ? p[n - 1] : 0;
    clf_read_opts o = {.dtype = pick & 1 ? CLF_F32 : CLF_F64, .na = (clf_na)(pick / 2 % 3), .label = labels[pick / 8 % 4]};
    clf_status st = clf_read_csv("fuzz", p, n, &o, &f.mem, &f.x, o.label ? &f.y : NULL, &f.err);
    fuzz_end(&f, st);
    return 0;
}
