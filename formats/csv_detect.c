/* SPDX-License-Identifier: Apache-2.0
 * What a csv file's first records say about it: separator, header, columns, label column.
 *
 * Separator: of tab, semicolon and comma the first that stands equally often (and at all) in every record of the sample, quoted
 * text apart; else semicolon or comma, whichever is more frequent in the first record; else runs of blanks, tabs among them.
 * Header: the first record is one when it has text and no unquoted number, and a later record has a number where it has text or
 * an unquoted cell where all its cells are quoted; or when one of its cells is the name asked for as label. A first record
 * that mixes text and numbers is data: refusing the text is better than losing a row.
 * Invariant: detection looks at the first 17 records only (for separators, at the first MiB), and stores nothing per column. */
#include <string.h>

#include "formats/csv.h"
#include "formats/number.h"

enum { SAMPLE = 16, SAMPLE_BYTES = 1 << 20, NSEPARATORS = 3 };
static const char separators[NSEPARATORS] = {'\t', ';', ','};

/* Count the separators of the record at p outside quotations; gives the record's end, or the sample's. */
static const char *count_separators(const char *p, const char *end, int64_t count[NSEPARATORS]) {
    bool inside = false;
    memset(count, 0, NSEPARATORS * sizeof *count);
    for (; p < end && (inside || *p != '\n'); p++) {
        inside ^= *p == '"';
        for (int i = 0; i < NSEPARATORS; i++) count[i] += !inside && *p == separators[i];
    }
    return p;
}

static char detect_separator(clf_csv *c) {
    int64_t first[NSEPARATORS] = {0}, count[NSEPARATORS];
    bool equal[NSEPARATORS] = {true, true, true};
    c->sep = ' ';
    const char *p = clf_csv_find(c, c->t.start);
    const char *limit = c->t.end - c->t.start > SAMPLE_BYTES ? c->t.start + SAMPLE_BYTES : c->t.end;
    for (int k = 0; k <= SAMPLE && p && p < limit; k++) {
        const char *end = count_separators(p, limit, count);
        if (k == 0)
            memcpy(first, count, sizeof first);
        else if (end == limit && limit != c->t.end)
            break; /* a record cut off by the sample says nothing */
        for (int i = 0; i < NSEPARATORS; i++) equal[i] &= count[i] == first[i];
        p = clf_csv_find(c, clf_csv_behind(c, end));
    }
    int most = NSEPARATORS - 1;
    for (int i = 0; i < NSEPARATORS; i++) {
        if (first[i] > 0 && equal[i]) return separators[i];
        if (separators[i] != '\t' && first[i] > first[most]) most = i;
    }
    return first[most] > 0 ? separators[most] : ' ';
}

static clf_status broken_quotation(const clf_csv *c, const clf_cell *cell, int64_t field) {
    return clf_text_fail(&c->t, cell->at, field, "a quotation that does not end, or text behind its end");
}

/* What the cells of the first record are. */
typedef struct first_record {
    bool any_text, any_bare_number, all_quoted;
    int64_t cells;
} first_record;

static clf_status look_at_first(const clf_csv *c, const char *p, first_record *f) {
    clf_cell cell;
    double v;
    *f = (first_record){.all_quoted = true};
    for (;; p++) {
        const char *from = p;
        f->cells++;
        p = clf_csv_cut(c, from, &cell);
        if (!p) return broken_quotation(c, &cell, f->cells);
        bool number = clf_cell_number(&cell, CLF_F64, &v);
        f->any_text |= !number && !clf_cell_missing(&cell);
        f->any_bare_number |= number && !cell.quoted;
        f->all_quoted &= cell.quoted;
        if (p == c->t.end || *p == '\n') return CLF_OK;
    }
}

/* Does the record at b show that the one at a holds names? */
static bool shows_names(const clf_csv *c, const char *a, const char *b, const first_record *f) {
    clf_cell name, cell;
    double v;
    for (;; a++, b++) {
        a = clf_csv_cut(c, a, &name);
        b = clf_csv_cut(c, b, &cell);
        if (!a || !b) return false;
        bool number = clf_cell_number(&cell, CLF_F64, &v);
        if (number && !clf_cell_missing(&name) && !clf_cell_number(&name, CLF_F64, &v)) return true;
        if (f->all_quoted && !cell.quoted && !clf_cell_missing(&cell)) return true;
        if (a == c->t.end || *a == '\n' || b == c->t.end || *b == '\n') return false;
    }
}

static bool detect_header(const clf_csv *c, const char *first, const first_record *f) {
    if (f->any_bare_number || !(f->any_text || f->all_quoted)) return false;
    const char *p = clf_csv_record_end(c, first);
    for (int k = 0; k < SAMPLE && p; k++) {
        p = clf_csv_find(c, clf_csv_behind(c, p));
        if (!p) return false;
        if (shows_names(c, first, p, f)) return true;
        p = clf_csv_record_end(c, p);
    }
    return false;
}

/* Is the cell this name? Doubled quotation marks in a quoted cell count as one. */
static bool is_named(const clf_cell *cell, const char *name) {
    for (size_t i = 0; i < cell->n; i++, name++) {
        if (*name != cell->at[i] || *name == '\0') return false;
        if (cell->quoted && cell->at[i] == '"') i++;
    }
    return *name == '\0';
}

/* 1-based column whose cell in the first record is the name; 0 if none. */
static int64_t find_name(const clf_csv *c, const char *first, const char *name) {
    clf_cell cell;
    for (int64_t field = 1;; field++, first++) {
        first = clf_csv_cut(c, first, &cell);
        if (!first) return 0;
        if (is_named(&cell, name)) return field;
        if (first == c->t.end || *first == '\n') return 0;
    }
}

static clf_status detect_label(clf_csv *c, const char *label, int64_t named) {
    char shown[CLF_TEXT_SHOWN];
    int64_t column;
    size_t n = strlen(label);
    c->label = named;
    if (named) return CLF_OK;
    if (clf_number_parse_count(label, label + n, &column) == label + n && n > 0 && column >= 1 && column <= c->cols) {
        c->label = column;
        return CLF_OK;
    }
    return clf_fail(c->t.err, CLF_E_NAME, "%s: no label column %s: %s, and it is no number from 1 to %lld", c->t.name,
                    clf_text_show(shown, label, n), c->header ? "the header does not name it" : "the file has no header",
                    (long long)c->cols);
}

clf_status clf_csv_detect(clf_csv *c, const char *label) {
    first_record f;
    char seps[] = {detect_separator(c), 0};
    c->sep = seps[0];
    CLF_TRY(clf_text_check_nul(&c->t, seps));
    const char *first = clf_csv_find(c, c->t.start);
    if (!first) return clf_fail(c->t.err, CLF_E_FORMAT, "%s: the file is empty", c->t.name);
    CLF_TRY(look_at_first(c, first, &f));
    int64_t named = label && !f.any_bare_number ? find_name(c, first, label) : 0;
    c->header = named > 0 || detect_header(c, first, &f);
    c->cols = f.cells;
    if (label) CLF_TRY(detect_label(c, label, c->header ? named : 0));
    c->body = first;
    if (c->header) c->body = clf_csv_behind(c, clf_csv_record_end(c, first));
    if (clf_csv_find(c, c->body)) return CLF_OK;
    return clf_text_fail(&c->t, first, 0, "a header and no data");
}
