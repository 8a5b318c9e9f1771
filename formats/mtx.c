/* SPDX-License-Identifier: Apache-2.0
 * Read Matrix Market files into a dense matrix.
 *
 * A file is a banner, comments, a size line and the entries: all cells column by column (array) or "row column value" lines
 * (coordinate; entries met twice add up). Symmetric and skew-symmetric files hold the lower triangle only.
 * Invariant: the entries promised fit the bytes that follow (an entry has a least length), and the dense size fits the memory
 * available, before anything is allocated; so a size line of 2^64 - 1 entries is refused by arithmetic. */
#include <string.h>

#include "formats/dense.h"
#include "formats/text.h"

typedef enum mtx_symmetry { MTX_GENERAL, MTX_SYMMETRIC, MTX_SKEW } mtx_symmetry;
typedef enum mtx_field { MTX_REAL, MTX_INTEGER, MTX_PATTERN } mtx_field;

typedef struct mtx {
    clf_cursor c;
    bool coordinate;
    mtx_field field;
    mtx_symmetry symmetry;
    int64_t rows, cols, entries;
} mtx;

typedef struct word {
    const char *text;
    int value;
} word; /* value -1: known, not supported */
static const word objects[] = {{"matrix", 0}, {"vector", -1}, {NULL, 0}};
static const word layouts[] = {{"coordinate", 1}, {"array", 0}, {NULL, 0}};
static const word fields[] = {{"real", MTX_REAL},       {"double", MTX_REAL}, {"integer", MTX_INTEGER},
                              {"pattern", MTX_PATTERN}, {"complex", -1},      {NULL, 0}};
static const word symmetries[] = {
    {"general", MTX_GENERAL}, {"symmetric", MTX_SYMMETRIC}, {"skew-symmetric", MTX_SKEW}, {"hermitian", -1}, {NULL, 0}};

/* Does the field at hand read text (lower case), in any case? */
static bool field_is(const clf_cursor *c, const char *text) {
    size_t n = clf_cursor_length(c);
    if (n != strlen(text)) return false;
    for (size_t i = 0; i < n; i++) {
        char ch = c->at[i];
        if ((ch >= 'A' && ch <= 'Z' ? (char)(ch | 0x20) : ch) != text[i]) return false;
    }
    return true;
}

static clf_status banner_word(clf_cursor *c, const char *what, const word *words, int *value) {
    char shown[CLF_TEXT_SHOWN];
    bool missing = clf_cursor_eol(c);
    c->field++;
    if (missing) return CLF_CURSOR_FAIL(c, "the banner has no %s", what);
    while (words->text && !field_is(c, words->text)) words++;
    size_t n = clf_cursor_length(c);
    if (!words->text) return CLF_CURSOR_FAIL(c, "unknown %s %s", what, clf_text_show(shown, c->at, n));
    if (words->value < 0) return CLF_CURSOR_FAIL(c, "%s %s is not supported", what, clf_text_show(shown, c->at, n));
    c->at += n;
    *value = words->value;
    return CLF_OK;
}

static clf_status read_banner(mtx *f) {
    static const char magic[] = "%%MatrixMarket";
    clf_cursor *c = &f->c;
    int object, layout, field, symmetry;
    size_t n = sizeof magic - 1;
    if ((size_t)(c->t->end - c->at) < n || memcmp(c->at, magic, n) != 0)
        return CLF_CURSOR_FAIL(c, "no Matrix Market file: the banner %s is missing", magic);
    c->at += n;
    c->field = 1;
    CLF_TRY(banner_word(c, "object", objects, &object));
    CLF_TRY(banner_word(c, "layout", layouts, &layout));
    CLF_TRY(banner_word(c, "field", fields, &field));
    CLF_TRY(banner_word(c, "symmetry", symmetries, &symmetry));
    CLF_TRY(clf_cursor_end_line(c));
    f->coordinate = layout;
    f->field = (mtx_field)field;
    f->symmetry = (mtx_symmetry)symmetry;
    if (f->field == MTX_PATTERN && (!f->coordinate || f->symmetry == MTX_SKEW))
        return CLF_CURSOR_FAIL(c, "a pattern is coordinate and not skew-symmetric");
    return CLF_OK;
}

/* Cells of an array file: all, or a triangle with or without the diagonal. False when they overflow. */
static bool array_entries(mtx *f) {
    int64_t n = f->rows;
    if (f->symmetry == MTX_GENERAL) return !__builtin_mul_overflow(f->rows, f->cols, &f->entries);
    if (n == 0) {
        f->entries = 0;
        return true;
    }
    __int128 cells = (__int128)n * (f->symmetry == MTX_SYMMETRIC ? (__int128)n + 1 : (__int128)n - 1) / 2;
    f->entries = (int64_t)cells;
    return cells <= INT64_MAX;
}

/* The shortest entry with its line end: "1\n", "1 1\n", "1 1 1\n". The last line may lack its end. */
static bool entries_fit(const mtx *f) {
    int64_t least = !f->coordinate ? 2 : f->field == MTX_PATTERN ? 4 : 6;
    int64_t left = f->c.t->end - f->c.at;
    return f->entries <= (left + 1) / least;
}

static clf_status read_size(mtx *f) {
    clf_cursor *c = &f->c;
    bool fits = true;
    clf_cursor_find(c);
    CLF_TRY(clf_cursor_count(c, "the number of rows", 0, INT64_MAX, 0, &f->rows));
    CLF_TRY(clf_cursor_count(c, "the number of columns", 0, INT64_MAX, 0, &f->cols));
    if (f->coordinate)
        CLF_TRY(clf_cursor_count(c, "the number of entries", 0, INT64_MAX, 0, &f->entries));
    else
        fits = array_entries(f);
    if (f->symmetry != MTX_GENERAL && f->rows != f->cols) return CLF_CURSOR_FAIL(c, "a symmetric matrix that is not square");
    if (!fits || !entries_fit(f)) return CLF_CURSOR_FAIL(c, "more entries promised than the rest of the file can hold");
    return clf_cursor_end_line(c);
}

/* The next number, wherever in its line. */
static clf_status read_value(mtx *f, clf_dtype t, double *v) {
    int64_t whole;
    clf_cursor *c = &f->c;
    clf_cursor before = *c;
    CLF_TRY(clf_cursor_number(c, "a number", t, v));
    if (f->field != MTX_INTEGER) return CLF_OK;
    before.at += before.at < c->at && (*before.at == '-' || *before.at == '+');
    return clf_cursor_count(&before, "a whole number", 0, INT64_MAX, 0, &whole);
}

/* Put v at (row, col), 0-based, and at the mirrored place; entries of a coordinate file add to what is there. */
static void store(const mtx *f, clf_dense *d, int64_t row, int64_t col, double v) {
    size_t a = (size_t)(row * d->cols + col), b = (size_t)(col * d->cols + row);
    if (f->coordinate) v += clf_dense_get(d, a);
    clf_dense_set(d, a, v);
    if (f->symmetry != MTX_GENERAL && a != b) clf_dense_set(d, b, f->symmetry == MTX_SKEW ? -v : v);
}

static clf_status read_coordinate(mtx *f, clf_dense *d, int64_t done) {
    clf_cursor *c = &f->c;
    int64_t row, col;
    double v = 1;
    if (!clf_cursor_find(c)) return CLF_CURSOR_FAIL(c, "the file ends after %lld of %lld entries", (long long)done, (long long)f->entries);
    CLF_TRY(clf_cursor_count(c, "a row", 1, f->rows, 0, &row));
    CLF_TRY(clf_cursor_count(c, "a column", 1, f->cols, 0, &col));
    if (f->field != MTX_PATTERN) {
        clf_cursor_eol(c);
        CLF_TRY(read_value(f, d->dtype, &v));
    }
    if (f->symmetry != MTX_GENERAL && (row < col || (row == col && f->symmetry == MTX_SKEW)))
        return CLF_CURSOR_FAIL(c, "entry (%lld, %lld) is not in the lower triangle", (long long)row, (long long)col);
    CLF_TRY(clf_cursor_end_line(c));
    store(f, d, row - 1, col - 1, v);
    return CLF_OK;
}

static clf_status read_array(mtx *f, clf_dense *d) {
    clf_cursor *c = &f->c;
    double v;
    for (int64_t col = 0; col < f->cols; col++) {
        int64_t first = f->symmetry == MTX_GENERAL ? 0 : f->symmetry == MTX_SYMMETRIC ? col : col + 1;
        for (int64_t row = first; row < f->rows; row++) {
            if (!clf_cursor_find(c))
                return CLF_CURSOR_FAIL(c, "the file ends before cell (%lld, %lld)", (long long)row + 1, (long long)col + 1);
            CLF_TRY(read_value(f, d->dtype, &v));
            store(f, d, row, col, v);
        }
    }
    return CLF_OK;
}

static clf_status read_entries(mtx *f, clf_dense *d) {
    char shown[CLF_TEXT_SHOWN];
    clf_cursor *c = &f->c;
    if (!f->coordinate && f->entries > 0) CLF_TRY(read_array(f, d)); /* 0 x 2^62 is no loop */
    for (int64_t i = 0; f->coordinate && i < f->entries; i++) CLF_TRY(read_coordinate(f, d, i));
    if (!clf_cursor_find(c)) return CLF_OK;
    c->field++;
    return CLF_CURSOR_FAIL(c, "%s follows the last entry", clf_text_show(shown, c->at, clf_cursor_length(c)));
}

clf_status clf_read_mtx(const char *name, const void *p, size_t n, const clf_read_opts *o, clf_mem *mem, clf_dense *out, bool *densified,
                        clf_err *err) {
    clf_read_opts opts;
    clf_text t;
    clf_dense d;
    mtx f = {.coordinate = false};
    CLF_TRY(clf_read_opts_check(name, o, &opts, err));
    CLF_TRY(clf_text_init(&t, name, p, n, err));
    CLF_TRY(clf_text_check_nul(&t, " \t"));
    clf_cursor_init(&f.c, &t, '%');
    CLF_TRY(read_banner(&f));
    CLF_TRY(read_size(&f));
    CLF_TRY(clf_dense_new(mem, name, opts.dtype, f.rows, f.cols, true, &d, err));
    clf_status st = read_entries(&f, &d);
    if (st != CLF_OK) {
        clf_dense_release(&d, mem);
        return st;
    }
    *out = d;
    if (densified) *densified = f.coordinate;
    return CLF_OK;
}
