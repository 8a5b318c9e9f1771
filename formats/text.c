/* SPDX-License-Identifier: Apache-2.0
 * Texts, positions in messages, and the field cursor of the line-oriented formats.
 *
 * Lines are not counted while reading: a failure counts the line ends before its place once. So positions cost nothing when all is
 * well, and one pass when not.
 * Invariant: no function here reads a byte outside [start, end); no text is assumed to end in NUL. */
#include "formats/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/number.h"

clf_status clf_text_init(clf_text *t, const char *name, const void *p, size_t n, clf_err *err) {
    if (n > (size_t)PTRDIFF_MAX) return clf_fail(err, CLF_E_LIMIT, "%s: too long", name);
    const char *start = p ? p : "";
    if (n >= 3 && memcmp(start, "\xef\xbb\xbf", 3) == 0) {
        start += 3;
        n -= 3;
    }
    *t = (clf_text){.name = name, .start = start, .end = start + n, .err = err, .asked = start};
    return CLF_OK;
}

clf_status clf_text_ask(clf_text *t, const char *at) {
    t->asked = at;
    return clf_ask_on(t->ask, CLF_STAGE_LOAD, t->name, (uint64_t)(at - t->start), (uint64_t)(t->end - t->start), t->err);
}

static int64_t line_of(const clf_text *t, const char *at) {
    int64_t line = 1;
    for (const char *p = t->start; p < at && (p = memchr(p, '\n', (size_t)(at - p))); p++) line++;
    return line;
}

clf_status clf_text_fail(const clf_text *t, const char *at, int64_t field, const char *fmt, ...) {
    char what[CLF_ERR_TEXT / 2], column[32] = "";
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    if (field > 0) snprintf(column, sizeof column, ", column %lld", (long long)field);
    return clf_fail(t->err, CLF_E_FORMAT, "%s: line %lld%s: %s", t->name, (long long)line_of(t, at), column, what);
}

clf_status clf_text_check_nul(const clf_text *t, const char *separators) {
    const char *nul = t->end == t->start ? NULL : memchr(t->start, 0, (size_t)(t->end - t->start));
    if (!nul) return CLF_OK;
    int64_t field = 1;
    for (const char *p = nul; p > t->start && p[-1] != '\n'; p--) field += strchr(separators, p[-1]) != NULL;
    return clf_text_fail(t, nul, field, "a NUL byte (this is no text file)");
}

const char *clf_text_show(char out[CLF_TEXT_SHOWN], const char *p, size_t n) {
    size_t k = 0, shown = n > CLF_TEXT_SHOWN - 8 ? CLF_TEXT_SHOWN - 8 : n;
    out[k++] = '\'';
    for (size_t i = 0; i < shown; i++) out[k++] = p[i] >= 0x20 && p[i] < 0x7f ? p[i] : '?';
    if (shown < n) {
        memcpy(out + k, "...", 3);
        k += 3;
    }
    out[k++] = '\'';
    out[k] = '\0';
    return out;
}

void clf_cursor_init(clf_cursor *c, const clf_text *t, char comment) { *c = (clf_cursor){.t = t, .at = t->start, .comment = comment}; }

static inline bool is_blank(char ch) { return ch == ' ' || ch == '\t' || ch == '\r'; }

bool clf_cursor_eol(clf_cursor *c) {
    const char *end = c->t->end;
    while (c->at < end && is_blank(*c->at)) c->at++;
    return c->at == end || *c->at == '\n' || *c->at == c->comment;
}

bool clf_cursor_find(clf_cursor *c) {
    const char *end = c->t->end;
    while (clf_cursor_eol(c)) {
        const char *nl = c->at < end ? memchr(c->at, '\n', (size_t)(end - c->at)) : NULL;
        c->field = 0;
        c->at = nl ? nl + 1 : end;
        if (!nl) return false;
    }
    return true;
}

static inline bool field_ends(const clf_cursor *c, const char *p) {
    return p == c->t->end || is_blank(*p) || *p == '\n' || *p == c->comment;
}

size_t clf_cursor_length(const clf_cursor *c) {
    const char *p = c->at;
    while (!field_ends(c, p)) p++;
    return (size_t)(p - c->at);
}

static clf_status wrong_field(clf_cursor *c, const char *what) {
    char shown[CLF_TEXT_SHOWN];
    size_t n = clf_cursor_length(c);
    if (n == 0) return CLF_CURSOR_FAIL(c, "%s is missing", what);
    return CLF_CURSOR_FAIL(c, "%s stands where %s belongs", clf_text_show(shown, c->at, n), what);
}

clf_status clf_cursor_count(clf_cursor *c, const char *what, int64_t min, int64_t max, char stop, int64_t *out) {
    int64_t v;
    clf_cursor_eol(c);
    c->field++;
    const char *p = clf_number_parse_count(c->at, c->t->end, &v);
    if (!p || !(field_ends(c, p) || (stop && *p == stop))) return wrong_field(c, what);
    if (v < min || v > max)
        return CLF_CURSOR_FAIL(c, "%s is %lld, outside %lld to %lld", what, (long long)v, (long long)min, (long long)max);
    c->at = p;
    *out = v;
    return CLF_OK;
}

clf_status clf_cursor_number(clf_cursor *c, const char *what, clf_dtype t, double *out) {
    clf_cursor_eol(c);
    c->field++;
    const char *p = clf_number_parse(c->at, c->t->end, t, out);
    if (!p || !field_ends(c, p)) return wrong_field(c, what);
    c->at = p;
    return CLF_OK;
}

clf_status clf_cursor_end_line(clf_cursor *c) {
    char shown[CLF_TEXT_SHOWN];
    if (clf_cursor_eol(c)) return CLF_OK;
    c->field++;
    return CLF_CURSOR_FAIL(c, "%s is one field too many", clf_text_show(shown, c->at, clf_cursor_length(c)));
}
