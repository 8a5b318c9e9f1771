/* SPDX-License-Identifier: Apache-2.0
 * Cutting csv text into records and cells (RFC 4180, with blanks allowed around cells and quotations).
 *
 * Every pass over a file (counting, detection, reading) cuts with these functions, so they cannot disagree on where a row ends.
 * Invariant: one look at each byte; a broken quotation is found once, at the end of the text, and ends the reading. */
#include <string.h>

#include "formats/csv.h"
#include "formats/number.h"

static inline bool is_blank(const clf_csv *c, char ch) { return ch == ' ' || ch == '\r' || (ch == '\t' && c->sep != '\t'); }

static inline const char *skip_blanks(const clf_csv *c, const char *p) {
    while (p < c->t.end && is_blank(c, *p)) p++;
    return p;
}

static inline bool line_ends(const clf_csv *c, const char *p) { return p == c->t.end || *p == '\n'; }

const char *clf_csv_gap(const clf_csv *c, const char *at) {
    const char *p = skip_blanks(c, at);
    if (line_ends(c, p)) return p;
    if (c->sep == ' ') return p > at ? p - 1 : NULL; /* the last of the blanks is the separator */
    return *p == c->sep ? p : NULL;
}

/* The closing mark of the quotation that opens at `at`; NULL if there is none. */
static const char *closing(const clf_csv *c, const char *at) {
    const char *p = at + 1;
    while (p < c->t.end) {
        if (*p != '"' && !(p = memchr(p, '"', (size_t)(c->t.end - p)))) break;
        if (p + 1 == c->t.end || p[1] != '"') return p;
        p += 2;
    }
    return NULL;
}

static const char *cut_quoted(const clf_csv *c, const char *at, clf_cell *cell) {
    const char *close = closing(c, at), *next = close ? clf_csv_gap(c, close + 1) : NULL;
    *cell = next ? (clf_cell){at + 1, (size_t)(close - at - 1), true} : (clf_cell){at, 1, true};
    return next;
}

const char *clf_csv_cut(const clf_csv *c, const char *at, clf_cell *cell) {
    const char *p = skip_blanks(c, at), *end = c->t.end;
    if (p < end && *p == '"') return cut_quoted(c, p, cell);
    const char *start = p;
    if (c->sep == ' ')
        while (p < end && *p != '\n' && !is_blank(c, *p)) p++;
    else
        while (p < end && *p != '\n' && *p != c->sep) p++;
    const char *stop = p;
    while (stop > start && is_blank(c, stop[-1])) stop--;
    *cell = (clf_cell){start, (size_t)(stop - start), false};
    return clf_csv_gap(c, p);
}

const char *clf_csv_find(const clf_csv *c, const char *at) {
    if (at >= c->t.end) return NULL;
    for (const char *p = at; c->cols != 1;) {
        p = skip_blanks(c, p);
        if (!line_ends(c, p)) break;
        if (p == c->t.end) return NULL;
        at = ++p;
    }
    return at;
}

const char *clf_csv_record_end(const clf_csv *c, const char *at) {
    if (!c->quotes) {
        const char *nl = memchr(at, '\n', (size_t)(c->t.end - at));
        return nl ? nl : c->t.end;
    }
    clf_cell cell;
    while ((at = clf_csv_cut(c, at, &cell)) && !line_ends(c, at)) at++;
    return at;
}

bool clf_cell_missing(const clf_cell *cell) { return cell->n == 0 || (cell->n == 2 && cell->at[0] == 'N' && cell->at[1] == 'A'); }

bool clf_cell_number(const clf_cell *cell, clf_dtype t, double *out) {
    const char *at = cell->at, *end = at + cell->n; /* blanks may stand inside quotation marks */
    while (at < end && *at == ' ') at++;
    while (end > at && end[-1] == ' ') end--;
    return clf_number_parse(at, end, t, out) == end;
}
