/* SPDX-License-Identifier: Apache-2.0
 * Growing text: capacity doubles, the text is NUL-terminated after every append.
 * Invariant: once `failed` is set the text no longer changes, so a half-written document is never taken for a whole one. */
#include "core/str.h"

#include <string.h>

#include "core/print.h"

enum { FIRST_CAP = 64 };

void clf_str_init(clf_str *s, clf_mem *mem) {
    memset(s, 0, sizeof *s);
    s->mem = mem;
}

static bool grow(clf_str *s, size_t cap) {
    char *at = clf_mem_plain(s->mem, cap); /* not cleared */
    s->failed = at == NULL;
    if (s->failed) return false;
    at[0] = '\0';
    if (s->at) memcpy(at, s->at, s->len + 1);
    clf_mem_free(s->mem, s->at, s->cap, 1);
    s->at = at;
    s->cap = cap;
    return true;
}

/* Room for n more characters and the NUL. */
static bool reserve(clf_str *s, size_t n) {
    size_t need, cap = s->cap ? s->cap : FIRST_CAP;
    if (s->failed) return false;
    s->failed = !clf_add_ok(s->len, n, &need) || !clf_add_ok(need, 1, &need);
    while (!s->failed && cap < need) s->failed = !clf_mul_ok(cap, 2, &cap);
    return !s->failed && (cap == s->cap || grow(s, cap));
}

void clf_str_room(clf_str *s, size_t n) {
    size_t need;
    if (s->failed) return;
    s->failed = !clf_add_ok(s->len, n, &need) || !clf_add_ok(need, 1, &need);
    if (s->failed || need <= s->cap) return;
    s->failed = !clf_add_ok(need, need / 8, &need);
    if (!s->failed) (void)grow(s, need);
}

void clf_str_putn(clf_str *s, const char *text, size_t n) {
    if (n == 0 || !reserve(s, n)) return;
    memcpy(s->at + s->len, text, n);
    s->len += n;
    s->at[s->len] = '\0';
}

char *clf_str_space(clf_str *s, size_t n) {
    clf_str_room(s, n);
    if (s->failed) return NULL;
    char *at = s->at + s->len;
    s->len += n;
    s->at[s->len] = '\0';
    return at;
}

void clf_str_put(clf_str *s, const char *text) { clf_str_putn(s, text, strlen(text)); }

/* Into the room there is; once more where that is too little. */
void clf_str_fmt(clf_str *s, const char *fmt, ...) {
    va_list ap;
    size_t left = s->cap - s->len;
    if (s->failed) return;
    va_start(ap, fmt);
    int n = clf_vprint(left ? s->at + s->len : NULL, left, fmt, ap);
    va_end(ap);
    if (n >= 0 && (size_t)n < left) {
        s->len += (size_t)n;
        return;
    }
    if (left) s->at[s->len] = '\0';
    if (n < 0 || !reserve(s, (size_t)n)) {
        s->failed = true;
        return;
    }
    va_start(ap, fmt);
    (void)clf_vprint(s->at + s->len, (size_t)n + 1, fmt, ap);
    va_end(ap);
    s->len += (size_t)n;
}

const char *clf_str_c(const clf_str *s) { return s->failed || !s->at ? "" : s->at; }

void clf_str_clear(clf_str *s) {
    s->len = 0;
    if (s->at) s->at[0] = '\0';
}

void clf_str_release(clf_str *s) {
    clf_mem_free(s->mem, s->at, s->cap, 1);
    clf_str_init(s, s->mem);
}
