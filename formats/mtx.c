/* SPDX-License-Identifier: Apache-2.0
 * Read Matrix Market files.
 *
 * A file is a banner, comments, a size line and the entries: all cells column by column (array, which gives a dense matrix) or
 * "row column value" lines (coordinate, which gives a CSR matrix). Symmetric and skew-symmetric files hold the lower triangle only.
 * Invariant: the entries promised fit the bytes that follow (an entry has a least length), and the size fits the memory available,
 * before anything is allocated; so a size line of 2^64 - 1 entries is refused by arithmetic, and a short file never takes much. */
#include "formats/mtx.h"

#include <math.h>
#include <string.h>

#include "formats/dense.h"

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

/* Offsets take memory for each row, said or not. So some rows are free, and more only in proportion to the file. */
static bool rows_fit(const mtx *f) {
    enum { ROWS_FREE = 1 << 24, ROWS_PER_BYTE = 16 };
    int64_t bytes = f->c.t->end - f->c.t->start;
    return !f->coordinate || f->rows <= ROWS_FREE || f->rows / ROWS_PER_BYTE <= bytes;
}

static clf_status read_size(mtx *f) {
    clf_cursor *c = &f->c;
    bool fits = true;
    clf_cursor_find(c);
    CLF_TRY(clf_cursor_count(c, "the number of rows", 0, INT64_MAX, 0, &f->rows));
    CLF_TRY(clf_cursor_count(c, "the number of columns", 0, f->coordinate ? INT32_MAX : INT64_MAX, 0, &f->cols));
    if (f->coordinate)
        CLF_TRY(clf_cursor_count(c, "the number of entries", 0, INT64_MAX, 0, &f->entries));
    else
        fits = array_entries(f);
    if (f->symmetry != MTX_GENERAL && f->rows != f->cols) return CLF_CURSOR_FAIL(c, "a symmetric matrix that is not square");
    if (!rows_fit(f)) return CLF_CURSOR_FAIL(c, "%lld rows are too many for so short a file", (long long)f->rows);
    if (!fits || !entries_fit(f)) return CLF_CURSOR_FAIL(c, "more entries promised than the rest of the file can hold");
    return clf_cursor_end_line(c);
}

/* Digits alone, within 64 bits. */
static bool is_whole(const char *at, const char *end, double v) {
    const char *p = at + (*at == '-' || *at == '+');
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p == end && fabs(v) <= 0x1p63;
}

clf_status clf_mtx_value(mtx *f, double *v) {
    clf_cursor *c = &f->c;
    const clf_cursor before = *c;
    CLF_TRY(clf_cursor_number(c, "a number", f->dtype, v));
    if (f->field != MTX_INTEGER || is_whole(before.at, c->at, *v)) return CLF_OK;
    char shown[CLF_TEXT_SHOWN];
    return CLF_CURSOR_FAIL(c, "%s stands where a whole number belongs", clf_text_show(shown, before.at, (size_t)(c->at - before.at)));
}

static clf_status end_file(clf_cursor *c) {
    char shown[CLF_TEXT_SHOWN];
    if (!clf_cursor_find(c)) return CLF_OK;
    c->field++;
    return CLF_CURSOR_FAIL(c, "%s follows the last entry", clf_text_show(shown, c->at, clf_cursor_length(c)));
}

clf_status clf_read_mtx(const char *name, const void *p, size_t n, const clf_read_opts *o, clf_mem *mem, clf_loaded *out, clf_err *err) {
    clf_read_opts opts;
    clf_text t;
    mtx f = {.coordinate = false};
    CLF_TRY(clf_read_opts_check(name, o, &opts, err));
    CLF_TRY(clf_text_init(&t, name, p, n, err));
    CLF_TRY(clf_text_check_nul(&t, " \t"));
    clf_cursor_init(&f.c, &t, '%');
    f.t = &t;
    t.ask = opts.ask;
    f.dtype = opts.dtype;
    CLF_TRY(read_banner(&f));
    CLF_TRY(read_size(&f));
    clf_loaded l = {.sparse = f.coordinate};
    CLF_TRY(f.coordinate ? clf_mtx_read_entries(&f, mem, &l.csr) : clf_mtx_read_cells(&f, mem, &l.dense));
    clf_status st = end_file(&f.c);
    if (st == CLF_OK)
        *out = l;
    else
        clf_loaded_release(&l, mem);
    return st;
}
