/* SPDX-License-Identifier: Apache-2.0
 * Fuzz target: entries of the disk cache of kernels.
 * Promised: a refusal has a message and gives nothing; what is accepted is what writing it again gives, its key has all fields, and a
 * holder's payload is not empty. The digest keeps random bytes out, so they are tried once more with lengths and digest made right. */
#include "core/little.h"
#include "device/entry_file.h"
#include "tests/fuzz/fuzz.h"

static clf_status read_checked(const char *p, size_t n) {
    clf_saved_entry e = {.kind = 77}, was = e;
    clf_err err = {.code = CLF_OK};
    clf_bytes field;
    clf_mem mem;
    clf_str again;
    clf_status st = clf_saved_entry_read(p, n, &e, &err);
    if (st != CLF_OK) {
        FUZZ_MUST(st == CLF_E_FORMAT && err.code == st && err.text[0] && memcmp(&e, &was, sizeof e) == 0);
        return st;
    }
    for (int f = 0; f < CLF_NSAVED_FIELDS; f++) {
        FUZZ_MUST(clf_saved_entry_field_of(e.key, (clf_saved_entry_field)f, &field));
        FUZZ_MUST(field.n <= e.key.n && field.at >= e.key.at && field.at + field.n <= e.key.at + e.key.n);
    }
    FUZZ_MUST(e.payload.n > 0);
    FUZZ_MUST(e.kind == CLF_SAVED_BINARY || e.kind == CLF_SAVED_COVER || clf_saved_entry_is_name(e.payload.at, e.payload.n));
    clf_mem_init(&mem, NULL, NULL);
    clf_str_init(&again, &mem);
    clf_saved_entry_write(&e, &again);
    FUZZ_MUST(again.len == n && memcmp(again.at, p, n) == 0);
    clf_str_release(&again);
    return CLF_OK;
}

clf_status fuzz_one(const uint8_t *p, size_t n) {
    enum { FILE_AT = 16, HEADER = 40, DIGEST = 16 };
    char *text = fuzz_text(p, n);
    clf_status st = read_checked(text, n);
    if (n >= HEADER + DIGEST) {
        clf_little_put(text + FILE_AT, n, 8);
        clf_hash h = clf_hash_bytes(text, n - DIGEST);
        clf_little_put(text + n - DIGEST, h.lo, 8);
        clf_little_put(text + n - DIGEST + 8, h.hi, 8);
        (void)read_checked(text, n);
    }
    free(text);
    return st;
}
