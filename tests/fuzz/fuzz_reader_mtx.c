/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer target: the mtx reader over any bytes. Seeds: tests/corpus/mtx.
 * Build: clang -fsanitize=fuzzer,address,undefined with the sources of core/ and formats/.
 * Checked besides the sanitizers: a failure has a message and gives nothing, a success is consistent, no byte stays allocated. */
#include "tests/fuzz/fuzz_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
    fuzz f;
    fuzz_init(&f);
    bool densified;
    clf_read_opts o = {.dtype = n & 1 ? CLF_F32 : CLF_F64};
    clf_status st = clf_read_mtx("fuzz", p, n, &o, &f.mem, &f.x, &densified, &f.err);
    fuzz_end(&f, st);
    return 0;
}
