/* SPDX-License-Identifier: Apache-2.0
 * Read .csv: count the records, allocate once, read the numbers straight from the text.
 *
 * A cell is first tried as a bare number that ends at a separator; only what is not one is cut properly (quotes, blanks, missing
 * cells, labels). When rows with missing cells are dropped the count is a full pass of its own that stores nothing, so that the
 * result has exactly the rows that stay. When a label column turns out to hold text, the pass starts over once, coding.
 * Invariant: stores are bounded by the allocated cells whatever the passes find; every record takes at least `cols` bytes, so a
 * count beyond the file's length means that some record is short, and is refused before anything is allocated. */
#include "formats/csv.h"

#include <string.h>

#include "formats/dense.h"
#include "formats/labels.h"
#include "formats/number.h"

typedef struct reader {
    clf_csv c;
    clf_read_opts o;
    clf_mem *mem;
    clf_labels codes;
    bool coded;   /* labels are text */
    int64_t room; /* rows that may be stored; 0 when counting */
    int64_t rows, dropped;
    clf_dense x, y;
} reader;

enum { CELL_VALUE, CELL_MISSING, CELL_RESTART };

/* The fast way: a bare number up to a separator or line end. */
static inline const char *bare_number(const reader *r, const char *at, double *v) {
    const clf_csv *c = &r->c;
    const char *p = clf_number_parse(at, c->t.end, r->o.dtype, v);
    if (!p) return NULL;
    if (c->sep != ' ' && (p == c->t.end || *p == c->sep || *p == '\n')) return p;
    return clf_csv_gap(c, p);
}

static clf_status label_code(reader *r, const clf_cell *cell, double *v) {
    int64_t code = 0;
    if (r->room == 0) return CLF_OK;
    if (clf_labels_code(&r->codes, cell->at, cell->n, &code) != CLF_OK)
        return clf_fail(r->c.t.err, CLF_E_NOMEM, "%s: no memory for the label column's words", r->c.t.name);
    *v = (double)code;
    return CLF_OK;
}

/* Anything but a bare number. */
static clf_status careful_cell(reader *r, const char **at, int64_t field, double *v, int *kind) {
    char shown[CLF_TEXT_SHOWN];
    clf_cell cell;
    const char *p = clf_csv_cut(&r->c, *at, &cell);
    if (!p) return clf_text_fail(&r->c.t, cell.at, field, "a quotation that does not end, or text behind its end");
    *at = p;
    *kind = CELL_VALUE;
    if (clf_cell_missing(&cell)) {
        if (r->o.na == CLF_NA_ERROR) return clf_text_fail(&r->c.t, cell.at, field, "the cell is missing (na: drop or nan accepts it)");
        *kind = CELL_MISSING;
        *v = (double)__builtin_nanf("");
        return CLF_OK;
    }
    bool label = field == r->c.label;
    if (label && r->coded) return label_code(r, &cell, v);
    if (clf_cell_number(&cell, r->o.dtype, v)) return CLF_OK;
    if (!label) return clf_text_fail(&r->c.t, cell.at, field, "%s is not a number", clf_text_show(shown, cell.at, cell.n));
    *kind = CELL_RESTART;
    return CLF_OK;
}

static inline void store(reader *r, int64_t field, double v) {
    if (r->rows >= r->room) return;
    if (field == r->c.label) {
        if (r->y.data) clf_dense_set(&r->y, (size_t)r->rows, v);
    } else {
        int64_t col = field - 1 - (r->c.label && field > r->c.label);
        clf_dense_set(&r->x, (size_t)(r->rows * r->x.cols + col), v);
    }
}

static clf_status wrong_cells(const reader *r, const char *at, int64_t field) {
    return clf_text_fail(&r->c.t, at, field, "%s cells than the %lld of the first row", field > r->c.cols ? "more" : "fewer",
                         (long long)r->c.cols);
}

/* One record; *at moves to its end. */
static clf_status read_record(reader *r, const char **at, int *kind) {
    const char *end = r->c.t.end;
    bool missing = false;
    for (int64_t field = 1;; field++) {
        double v = 0;
        if (field > r->c.cols) return wrong_cells(r, *at, field);
        const char *p = r->coded && field == r->c.label ? NULL : bare_number(r, *at, &v);
        if (p) {
            *at = p;
        } else {
            CLF_TRY(careful_cell(r, at, field, &v, kind));
            if (*kind == CELL_RESTART) return CLF_OK;
            missing |= *kind == CELL_MISSING;
        }
        store(r, field, v);
        if (*at == end || **at == '\n') {
            *kind = missing ? CELL_MISSING : CELL_VALUE;
            return field == r->c.cols ? CLF_OK : wrong_cells(r, *at, field);
        }
        ++*at;
    }
}

/* Read every record, storing up to r->room rows. */
static clf_status read_records(reader *r) {
    const char *at = r->c.body;
    r->rows = r->dropped = 0;
    while ((at = clf_csv_find(&r->c, at))) {
        int kind = CELL_VALUE;
        CLF_TRY(clf_text_go_on(&r->c.t, at));
        CLF_TRY(read_record(r, &at, &kind));
        if (kind == CELL_RESTART) {
            r->coded = true;
            r->rows = r->dropped = 0;
            at = r->c.body;
            continue;
        }
        if (kind == CELL_MISSING && r->o.na == CLF_NA_DROP)
            r->dropped++;
        else
            r->rows++;
        at = clf_csv_behind(&r->c, at);
    }
    return CLF_OK;
}

/* The cheap count, enough when no row will be dropped. */
static int64_t count_records(const reader *r) {
    int64_t n = 0;
    for (const char *p = r->c.body; (p = clf_csv_find(&r->c, p)); n++) {
        p = clf_csv_record_end(&r->c, p);
        if (!p) return n; /* reading will find the broken quotation */
        p = clf_csv_behind(&r->c, p);
    }
    return n;
}

static clf_status count_rows(reader *r) {
    size_t cells, bytes = (size_t)(r->c.t.end - r->c.body) + 1;
    r->rows = count_records(r);
    bool plausible = clf_mul_ok((size_t)r->rows, (size_t)r->c.cols, &cells) && cells <= bytes;
    return plausible && r->o.na != CLF_NA_DROP ? CLF_OK : read_records(r);
}

/* The first record, without storing: what is wrong there is found before any memory is taken. */
static clf_status try_first(reader *r) {
    const char *at = clf_csv_find(&r->c, r->c.body);
    int kind = CELL_VALUE;
    CLF_TRY(read_record(r, &at, &kind));
    r->coded = kind == CELL_RESTART;
    return CLF_OK;
}

static clf_status read_body(reader *r, bool want_labels) {
    const char *name = r->c.t.name;
    clf_err *err = r->c.t.err;
    int64_t features = r->c.cols - (r->c.label > 0);
    CLF_TRY(try_first(r));
    CLF_TRY(count_rows(r));
    CLF_TRY(clf_dense_new(r->mem, name, r->o.dtype, r->rows, features, false, &r->x, err));
    if (want_labels && r->c.label) CLF_TRY(clf_dense_new(r->mem, name, r->o.dtype, r->rows, 1, false, &r->y, err));
    r->room = r->rows;
    return read_records(r);
}

/* The text without a byte order mark and without the line ends that close it. */
static clf_status open_text(clf_csv *c, const char *name, const void *p, size_t n, clf_err *err) {
    CLF_TRY(clf_text_init(&c->t, name, p, n, err));
    while (c->t.end > c->t.start && (c->t.end[-1] == '\n' || c->t.end[-1] == '\r')) c->t.end--;
    size_t left = (size_t)(c->t.end - c->t.start);
    c->quotes = left > 0 && memchr(c->t.start, '"', left) != NULL;
    return CLF_OK;
}

clf_status clf_csv_read(const char *name, const void *p, size_t n, const clf_read_opts *o, clf_mem *mem, clf_dense *out, clf_dense *labels,
                        int64_t *dropped, clf_err *err) {
    reader r = {.mem = mem};
    CLF_TRY(clf_read_opts_check(name, o, &r.o, err));
    CLF_TRY(open_text(&r.c, name, p, n, err));
    r.c.t.ask = r.o.ask;
    CLF_TRY(clf_csv_detect(&r.c, r.o.label));
    clf_labels_init(&r.codes, mem);
    clf_status st = read_body(&r, labels != NULL);
    clf_labels_release(&r.codes);
    if (st != CLF_OK) {
        clf_dense_release(&r.x, mem);
        clf_dense_release(&r.y, mem);
        return st;
    }
    CLF_TRACE(r.o.log, io, "%s: csv, separator '%c', %s, %lld x %lld, %lld rows dropped", name, r.c.sep,
              r.c.header ? "header" : "no header", (long long)r.x.rows, (long long)r.x.cols, (long long)r.dropped);
    *out = r.x;
    if (labels) *labels = r.y;
    *dropped = r.dropped;
    return CLF_OK;
}

clf_status clf_read_csv(const char *name, const void *p, size_t n, const clf_read_opts *o, clf_mem *mem, clf_dense *out, clf_dense *labels,
                        clf_err *err) {
    int64_t dropped;
    return clf_csv_read(name, p, n, o, mem, out, labels, &dropped, err);
}
