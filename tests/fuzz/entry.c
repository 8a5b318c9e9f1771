/* SPDX-License-Identifier: Apache-2.0
 * A fuzz target as a libFuzzer program. Counts what was executed and accepted: a fuzzer whose inputs are all refused tests little. */
#include "tests/fuzz/fuzz.h"
#include "tests/support/net.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);

static unsigned long long executions, accepted;

static void note(void) {
    net_figure("fuzz executions", "%llu", executions);
    net_figure("of these accepted as valid", "%llu", accepted);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    return atexit(note);
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n) {
    executions++;
    accepted += fuzz_one(p, n) == CLF_OK;
    return 0;
}
