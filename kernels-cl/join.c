/* SPDX-License-Identifier: Apache-2.0
 * One program from the pieces of many sources; see join.h. Invariant: behind each kernel no hole is defined, and every file and
 * instantiation that a source needs stands in front of its own text, in the source's order. */
#include "kernels-cl/join.h"

#include <string.h>

void clf_join_init(clf_join *j, clf_mem *mem) {
    memset(j, 0, sizeof *j);
    clf_str_init(&j->text, mem);
    clf_str_init(&j->families, mem);
}

void clf_join_release(clf_join *j) {
    clf_mem *mem = j->text.mem;
    clf_str_release(&j->families);
    clf_str_release(&j->text);
    clf_join_init(j, mem);
}

/* ---- may it come in ---- */

static bool unfit(const clf_join *j, const clf_source *src) {
    if (src->npieces < 1 || src->text_len > CLF_JOIN_BYTES) return true;
    for (int i = 0; i < j->n; i++)
        if (strcmp(j->src[i]->entry, src->entry) == 0 || strcmp(j->src[i]->options, src->options) != 0) return true;
    return false;
}

static bool full(const clf_join *j, const clf_source *src) {
    return j->n == CLF_JOIN_KERNELS || j->text.len + src->text_len > CLF_JOIN_BYTES || j->nfiles + src->npieces > CLF_JOIN_FILES;
}

/* ---- pieces ---- */

/* Calls put for every line of n bytes of text, its newline with it. */
typedef void line_sink(clf_join *j, const char *line, size_t n);
static void each_line(clf_join *j, const char *s, size_t n, line_sink *put) {
    for (const char *end = s + n; s < end;) {
        const char *stop = memchr(s, '\n', (size_t)(end - s));
        size_t len = stop ? (size_t)(stop - s) + 1 : (size_t)(end - s);
        put(j, s, len);
        s += len;
    }
}

static bool has_line(const clf_str *lines, const char *line, size_t n) {
    const char *s = clf_str_c(lines);
    while (*s && strncmp(s, line, n) != 0) {
        s += strcspn(s, "\n");
        s += *s == '\n';
    }
    return *s != 0;
}

static void put_family(clf_join *j, const char *line, size_t n) {
    if (has_line(&j->families, line, n)) return;
    clf_str_putn(&j->families, line, n);
    clf_str_putn(&j->text, line, n);
}

static void put_file(clf_join *j, const char *text, size_t len) {
    for (int f = 0; f < j->nfiles; f++)
        if (j->file[f].len == len && memcmp(j->file[f].text, text, len) == 0) return;
    j->file[j->nfiles].text = text;
    j->file[j->nfiles++].len = len;
    clf_str_putn(&j->text, text, len);
}

static void put_undef(clf_join *j, const char *line, size_t n) {
    static const char head[] = "#define ";
    const size_t h = sizeof head - 1;
    if (n <= h || memcmp(line, head, h) != 0) return;
    clf_str_fmt(&j->text, "#undef %.*s\n", (int)strcspn(line + h, " (\n"), line + h);
}

static void put_piece(clf_join *j, const clf_source *src, const clf_text_piece *p) {
    const char *text = src->text + p->at;
    switch (p->kind) {
    case CLF_TEXT_FILE: put_file(j, text, p->len); break;
    case CLF_TEXT_FAMILIES: each_line(j, text, p->len, put_family); break;
    default: clf_str_putn(&j->text, text, p->len);
    }
}

clf_join_verdict clf_join_add(clf_join *j, const clf_source *src) {
    if (unfit(j, src)) return CLF_JOIN_UNFIT;
    if (full(j, src)) return CLF_JOIN_FULL;
    for (int i = 0; i < src->npieces; i++) put_piece(j, src, &src->piece[i]);
    for (int i = 0; i < src->npieces; i++)
        if (src->piece[i].kind == CLF_TEXT_HOLES) each_line(j, src->text + src->piece[i].at, src->piece[i].len, put_undef);
    j->src[j->n++] = src;
    j->text.failed = j->text.failed || j->families.failed;
    return CLF_JOIN_TAKEN;
}
