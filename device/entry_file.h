/* SPDX-License-Identifier: Apache-2.0
 * One entry of the disk cache as bytes: what it is called, what it holds, and how it is known to be whole. No file is touched here.
 *
 *   magic[8] version kind (u32 each) file_bytes key_bytes payload_bytes (u64 each) key payload digest[16]      all little-endian
 *
 * The key is the whole question, not a hash of it: kernel, text, options, device, driver, library, each behind its length; of a cover, whose
 * kernel is "", the text is what the search was asked. The digest, XXH3-128 over everything in front of it, finds damage; against malice
 * stands who may write to the directory (disk.h). */
#ifndef CLF_DEVICE_ENTRY_FILE_H
#define CLF_DEVICE_ENTRY_FILE_H
#include "core/err.h"
#include "core/hash.h"
#include "core/str.h"

typedef enum clf_saved_entry_kind {
    CLF_SAVED_BINARY = 1, /* payload: what the driver gave for the program */
    CLF_SAVED_SHARED = 2, /* payload: the name of the BINARY entry of a program of many kernels, this one among them */
    CLF_SAVED_COVER = 3   /* payload: what a search chose (host/run/covers.c) */
} clf_saved_entry_kind;

typedef enum clf_saved_entry_field {
    CLF_SAVED_KERNEL,     /* its name in the program; "" for a program of many */
    CLF_SAVED_TEXT,       /* the program; for one of many kernels the names of their entries, each with a line end */
    CLF_SAVED_OPTIONS,
    CLF_SAVED_DEVICE,
    CLF_SAVED_DRIVER,
    CLF_SAVED_LIBRARY,
    CLF_NSAVED_FIELDS
} clf_saved_entry_field;

enum { CLF_SAVED_NAME = 32 + 1 }; /* an entry's name: the hash of its key in hexadecimal digits */

typedef struct clf_saved_entry { uint32_t kind; clf_bytes key, payload; } clf_saved_entry;

/** Append the key of these fields. errors: out->failed. */
void clf_saved_entry_key(const clf_bytes field[CLF_NSAVED_FIELDS], clf_str *out);
/** The name of a key. */
void clf_saved_entry_name(clf_bytes key, char out[CLF_SAVED_NAME]);
/** Is this such a name? */
bool clf_saved_entry_is_name(const char *text, size_t n);
/** A field of the key; false when the key is not made of fields. */
bool clf_saved_entry_field_of(clf_bytes key, clf_saved_entry_field f, clf_bytes *out);
/** Append the entry's bytes. errors: out->failed. */
void clf_saved_entry_write(const clf_saved_entry *e, clf_str *out);
/** Look at n bytes. *out points into them. errors: CLF_E_FORMAT for everything that clf_saved_entry_write did not write. */
clf_status clf_saved_entry_read(const void *p, size_t n, clf_saved_entry *out, clf_err *err);
#endif
