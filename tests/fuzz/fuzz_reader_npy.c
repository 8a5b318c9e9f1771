/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer target: the npy reader over any bytes. Seeds: tests/corpus/npy.
 * Build: clang -fsanitize=fuzzer,address,undefined with the sources of core/ and formats/.
 * Checked besides the sanitizers: a failure has a message and gives nothing, a success is consistent, no byte stays allocated. */
#include "tests/fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
    fuzz f;
    fuzz_init(&f);
    clf_status st = clf_read_npy("fuzz", p, n, &f.mem, &f.x, &f.err);
    fuzz_end(&f, st);
    return 0;
}
