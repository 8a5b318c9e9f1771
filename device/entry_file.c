/* SPDX-License-Identifier: Apache-2.0
 * Entries of the disk cache: writing them as bytes and believing bytes. Every length is compared with what is there before it is used,
 * and the digest before anything else is said of the contents: nothing that fails here is ever shown to a driver. */
#include "device/entry_file.h"

#include <stdio.h>
#include <string.h>

#include "core/little.h"

enum { VERSION = 1, AT_VERSION = 8, AT_KIND = 12, AT_FILE = 16, AT_KEY = 24, AT_PAYLOAD = 32, HEADER = 40, DIGEST = 16 };

static const char magic[8] = {'c', 'l', 'f', 'u', 's', 'e', 'K', '\n'};

static void digest_of(const char *p, size_t n, char out[DIGEST]) {
    clf_hash h = clf_hash_bytes(p, n);
    clf_little_put(out, h.lo, 8);
    clf_little_put(out + 8, h.hi, 8);
}

/* ---- keys and names ---- */

void clf_saved_entry_key(const clf_bytes field[CLF_NSAVED_FIELDS], clf_str *out) {
    for (int f = 0; f < CLF_NSAVED_FIELDS; f++) {
        char len[8];
        clf_little_put(len, field[f].n, 8);
        clf_str_putn(out, len, sizeof len);
        clf_str_putn(out, field[f].at, field[f].n);
    }
}

/* Step over one field; false when the key ends inside it. */
static bool next_field(clf_bytes *rest, clf_bytes *out) {
    if (rest->n < 8) return false;
    uint64_t n = clf_little_get(rest->at, 8);
    if (n > rest->n - 8) return false;
    *out = (clf_bytes){rest->at + 8, (size_t)n};
    *rest = (clf_bytes){rest->at + 8 + n, rest->n - 8 - (size_t)n};
    return true;
}

bool clf_saved_entry_field_of(clf_bytes key, clf_saved_entry_field want, clf_bytes *out) {
    clf_bytes field = {NULL, 0}, found = field;
    for (int f = 0; f < CLF_NSAVED_FIELDS; f++) {
        if (!next_field(&key, &field)) return false;
        if (f == (int)want) found = field;
    }
    if (key.n) return false;
    *out = found;
    return true;
}

void clf_saved_entry_name(clf_bytes key, char out[CLF_SAVED_NAME]) {
    clf_hash h = clf_hash_bytes(key.at, key.n);
    snprintf(out, CLF_SAVED_NAME, "%016llx%016llx", (unsigned long long)h.hi, (unsigned long long)h.lo);
}

bool clf_saved_entry_is_name(const char *text, size_t n) {
    if (n != CLF_SAVED_NAME - 1) return false;
    for (size_t i = 0; i < n; i++)
        if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f'))) return false;
    return true;
}

/* ---- entries ---- */

void clf_saved_entry_write(const clf_saved_entry *e, clf_str *out) {
    char head[HEADER], digest[DIGEST];
    size_t start = out->len, total;
    if (!clf_add_ok(e->key.n, e->payload.n, &total) || !clf_add_ok(total, HEADER + DIGEST, &total)) {
        out->failed = true;
        return;
    }
    memcpy(head, magic, sizeof magic);
    clf_little_put(head + AT_VERSION, VERSION, 4);
    clf_little_put(head + AT_KIND, e->kind, 4);
    clf_little_put(head + AT_FILE, total, 8);
    clf_little_put(head + AT_KEY, e->key.n, 8);
    clf_little_put(head + AT_PAYLOAD, e->payload.n, 8);
    clf_str_putn(out, head, sizeof head);
    clf_str_putn(out, e->key.at, e->key.n);
    clf_str_putn(out, e->payload.at, e->payload.n);
    if (out->failed) return;
    digest_of(out->at + start, out->len - start, digest);
    clf_str_putn(out, digest, sizeof digest);
}

static bool lengths_right(const char *p, size_t n) {
    size_t key = (size_t)clf_little_get(p + AT_KEY, 8), payload = (size_t)clf_little_get(p + AT_PAYLOAD, 8), rest = n - HEADER - DIGEST;
    return clf_little_get(p + AT_FILE, 8) == n && key <= rest && payload == rest - key;
}

clf_status clf_saved_entry_read(const void *bytes, size_t n, clf_saved_entry *out, clf_err *err) {
    const char *p = bytes;
    char digest[DIGEST];
    clf_bytes text;
    if (n < HEADER + DIGEST) return clf_fail(err, CLF_E_FORMAT, "%zu bytes are no entry", n);
    if (memcmp(p, magic, sizeof magic)) return clf_fail(err, CLF_E_FORMAT, "not an entry of the kernel cache");
    if (clf_little_get(p + AT_VERSION, 4) != VERSION) return clf_fail(err, CLF_E_FORMAT, "an entry of another version of the cache");
    if (!lengths_right(p, n)) return clf_fail(err, CLF_E_FORMAT, "an entry cut short, or with wrong lengths");
    digest_of(p, n - DIGEST, digest);
    if (memcmp(digest, p + n - DIGEST, DIGEST)) return clf_fail(err, CLF_E_FORMAT, "a damaged entry: its digest is another");
    clf_saved_entry e = {.kind = (uint32_t)clf_little_get(p + AT_KIND, 4), .key = {p + HEADER, (size_t)clf_little_get(p + AT_KEY, 8)}};
    e.payload = (clf_bytes){p + HEADER + e.key.n, n - HEADER - DIGEST - e.key.n};
    if (!clf_saved_entry_field_of(e.key, CLF_SAVED_TEXT, &text)) return clf_fail(err, CLF_E_FORMAT, "an entry whose key is none");
    bool named = e.kind == CLF_SAVED_SHARED && clf_saved_entry_is_name(e.payload.at, e.payload.n);
    bool holds = (e.kind == CLF_SAVED_BINARY || e.kind == CLF_SAVED_COVER) && e.payload.n > 0;
    if (!named && !holds) return clf_fail(err, CLF_E_FORMAT, "an entry without a program");
    *out = e;
    return CLF_OK;
}
