/* SPDX-License-Identifier: Apache-2.0
 * Entries of the disk cache as files: read whole, and given other answers to the same questions. */
#ifndef CLF_TESTS_ENTRY_TESTING_H
#define CLF_TESTS_ENTRY_TESTING_H
#include "device/entry_file.h"
#include "tests/unit/folder_testing.h"

/** *e points into `file`, which is the caller's. */
static inline void read_entry(const char *path, clf_str *file, clf_saved_entry *e) {
    FILE *f = fopen(path, "rb");
    char part[4096];
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) clf_str_putn(file, part, n);
    fclose(f);
    CU_ASSERT_EQUAL_FATAL(clf_saved_entry_read(file->at, file->len, e, NULL), CLF_OK);
}

/** The file of this entry with another payload, and the digest that goes with it. */
static inline void answer_entry(const char *path, const clf_saved_entry *e, clf_bytes payload) {
    clf_mem mem;
    clf_str bytes;
    clf_mem_init(&mem, NULL, NULL);
    clf_str_init(&bytes, &mem);
    clf_saved_entry_write(&(clf_saved_entry){e->kind, e->key, payload}, &bytes);
    put_file(path, bytes.at, bytes.len);
    clf_str_release(&bytes);
}
#endif
