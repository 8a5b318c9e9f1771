/* SPDX-License-Identifier: Apache-2.0
 * Growing text. A failed allocation sets `failed` and turns later appends into no-ops, so that writers check once, at the end. */
#ifndef CLF_CORE_STR_H
#define CLF_CORE_STR_H
#include "core/mem.h"
/* Bytes that somebody else has. */
typedef struct clf_bytes { const char *at; size_t n; } clf_bytes;

typedef struct clf_str {
    clf_mem *mem;
    char *at;        /* always NUL-terminated once anything was appended; see clf_str_c */
    size_t len, cap;
    bool failed;
} clf_str;
void clf_str_init(clf_str *s, clf_mem *mem);
/** Room for n more characters and a little beyond, at once: what is known to become long does not grow by doubling. */
void clf_str_room(clf_str *s, size_t n);
/** Append n characters that the caller writes there before anything else; NULL: it has failed. */
char *clf_str_space(clf_str *s, size_t n);
void clf_str_put(clf_str *s, const char *text);
void clf_str_putn(clf_str *s, const char *text, size_t n);
void clf_str_fmt(clf_str *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** The text; "" when empty or failed. */
const char *clf_str_c(const clf_str *s);
/** Empty again, with its room; what has failed stays so. */
void clf_str_clear(clf_str *s);
void clf_str_release(clf_str *s);
#endif
