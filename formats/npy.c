/* SPDX-License-Identifier: Apache-2.0
 * Read .npy (versions 1.0 to 3.0).
 *
 * A file is the magic, a version, the header's length, a Python dict literal with exactly the keys descr, fortran_order and shape,
 * and the cells. The literal is read by a grammar of its own; nothing is evaluated and nothing else is let through:
 *     header = { key : value , ... }   value = string | True | False | ( count , ... )   then blanks only
 * Invariant: the file's length equals header + product of the shape * element size before a byte is allocated. */
#include <string.h>

#include "formats/dense.h"
#include "formats/number.h"

enum { MAX_DIMS = 32, MAGIC_BYTES = 8, TRANSPOSE_TILE = 32 };

typedef struct npy {
    const char *name;
    const char *at, *end; /* header text not yet read */
    const char *descr;    /* within quotes */
    size_t descr_n;
    int64_t dims[2];
    int ndims;
    bool fortran, seen[3];
    const char *cells;
    size_t cells_n;
    clf_err *err;
} npy;

#define NPY_FAIL(f, ...) clf_fail((f)->err, CLF_E_FORMAT, __VA_ARGS__)

static void skip_blanks(npy *f) {
    while (f->at < f->end && (*f->at == ' ' || *f->at == '\n' || *f->at == '\t' || *f->at == '\r')) f->at++;
}

/* Take one character if it comes next. */
static bool take(npy *f, char ch) {
    skip_blanks(f);
    if (f->at == f->end || *f->at != ch) return false;
    f->at++;
    return true;
}

static clf_status expect(npy *f, char ch) {
    if (take(f, ch)) return CLF_OK;
    return NPY_FAIL(f, "%s: damaged .npy header: '%c' is missing", f->name, ch);
}

/* A quoted string without escapes. */
static clf_status take_string(npy *f, const char **s, size_t *n) {
    skip_blanks(f);
    char quote = f->at < f->end ? *f->at : 0;
    const char *close = quote == '\'' || quote == '"' ? memchr(f->at + 1, quote, (size_t)(f->end - f->at - 1)) : NULL;
    if (!close) return NPY_FAIL(f, "%s: damaged .npy header: a quoted string is missing", f->name);
    *s = f->at + 1;
    *n = (size_t)(close - *s);
    f->at = close + 1;
    return CLF_OK;
}

static bool same(const char *s, size_t n, const char *word) { return n == strlen(word) && memcmp(s, word, n) == 0; }

static clf_status take_descr(npy *f) {
    skip_blanks(f);
    if (f->at < f->end && *f->at == '[') return NPY_FAIL(f, "%s: structured .npy records are not supported", f->name);
    return take_string(f, &f->descr, &f->descr_n);
}

static clf_status take_order(npy *f) {
    static const struct {
        const char *word;
        size_t n;
        bool value;
    } words[] = {{"True", 4, true}, {"False", 5, false}};
    skip_blanks(f);
    for (size_t i = 0; i < 2; i++) {
        if ((size_t)(f->end - f->at) < words[i].n || memcmp(f->at, words[i].word, words[i].n) != 0) continue;
        f->at += words[i].n;
        f->fortran = words[i].value;
        return CLF_OK;
    }
    return NPY_FAIL(f, "%s: damaged .npy header: fortran_order is neither True nor False", f->name);
}

static clf_status take_shape(npy *f) {
    CLF_TRY(expect(f, '('));
    bool comma = true;
    while (!take(f, ')')) {
        int64_t n;
        skip_blanks(f);
        const char *p = comma ? clf_number_parse_count(f->at, f->end, &n) : NULL;
        if (!p) return NPY_FAIL(f, "%s: damaged .npy header: the shape is no list of sizes below 2^63", f->name);
        f->at = p;
        if (f->ndims < 2) f->dims[f->ndims] = n;
        if (++f->ndims > MAX_DIMS) return NPY_FAIL(f, "%s: more than %d dimensions", f->name, MAX_DIMS);
        comma = take(f, ',');
    }
    if (f->ndims == 1 && !comma) return NPY_FAIL(f, "%s: damaged .npy header: the shape is no tuple", f->name);
    if (f->ndims > 2) return NPY_FAIL(f, "%s: %d dimensions, at most 2 are read", f->name, f->ndims);
    return CLF_OK;
}

static const struct {
    const char *name;
    clf_status (*take)(npy *f);
} keys[] = {{"descr", take_descr}, {"fortran_order", take_order}, {"shape", take_shape}};

static clf_status take_pair(npy *f) {
    const char *key;
    size_t n, i = 0;
    CLF_TRY(take_string(f, &key, &n));
    while (i < 3 && !same(key, n, keys[i].name)) i++;
    if (i == 3 || f->seen[i]) return NPY_FAIL(f, "%s: damaged .npy header: an unknown or repeated key", f->name);
    f->seen[i] = true;
    CLF_TRY(expect(f, ':'));
    return keys[i].take(f);
}

static clf_status take_dict(npy *f) {
    CLF_TRY(expect(f, '{'));
    bool comma = true;
    while (!take(f, '}')) {
        if (!comma) return expect(f, ',');
        CLF_TRY(take_pair(f));
        comma = take(f, ',');
    }
    for (size_t i = 0; i < 3; i++)
        if (!f->seen[i]) return NPY_FAIL(f, "%s: damaged .npy header: no key '%s'", f->name, keys[i].name);
    skip_blanks(f);
    return f->at == f->end ? CLF_OK : NPY_FAIL(f, "%s: damaged .npy header: text after the closing brace", f->name);
}

/* Magic, version and lengths: where the header's text and the cells are. */
static clf_status find_header(npy *f, const unsigned char *p, size_t n) {
    if (n == 0) return NPY_FAIL(f, "%s: the file is empty: no .npy file", f->name);
    if (n < MAGIC_BYTES + 2 || memcmp(p, "\x93NUMPY", 6) != 0) return NPY_FAIL(f, "%s: no .npy file", f->name);
    if (p[6] < 1 || p[6] > 3 || p[7] != 0) return NPY_FAIL(f, "%s: .npy version %d.%d, only 1.0 to 3.0 are read", f->name, p[6], p[7]);
    size_t start = p[6] == 1 ? MAGIC_BYTES + 2 : MAGIC_BYTES + 4;
    if (n < start) return NPY_FAIL(f, "%s: the .npy header is cut off", f->name);
    size_t length = (size_t)p[8] | (size_t)p[9] << 8;
    if (p[6] > 1) length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (length > n - start) return NPY_FAIL(f, "%s: the .npy header claims %zu bytes, the file has %zu left", f->name, length, n - start);
    f->at = (const char *)p + start;
    f->end = f->at + length;
    f->cells = f->end;
    f->cells_n = n - start - length;
    return CLF_OK;
}

/* Element types we read. truth: any byte but 0 becomes 1. */
static const struct {
    const char *descr;
    clf_dtype dtype;
    bool truth;
} descrs[] = {{"<f4", CLF_F32, false}, {"<f8", CLF_F64, false}, {"<i4", CLF_I32, false},
              {"<i8", CLF_I64, false}, {"|u1", CLF_U8, false},  {"|b1", CLF_U8, true}};

static clf_status find_dtype(npy *f, clf_dtype *t, bool *truth) {
    for (size_t i = 0; i < sizeof descrs / sizeof *descrs; i++) {
        if (!same(f->descr, f->descr_n, descrs[i].descr)) continue;
        *t = descrs[i].dtype;
        *truth = descrs[i].truth;
        return CLF_OK;
    }
    bool plain = f->descr_n <= 16;
    for (size_t i = 0; plain && i < f->descr_n; i++) plain = f->descr[i] >= 0x20 && f->descr[i] < 0x7f;
    const char *why = f->descr_n && *f->descr == '>' ? " (big-endian)" : f->descr_n > 1 && f->descr[1] == 'O' ? " (objects)" : "";
    return NPY_FAIL(f, "%s: .npy element type '%.*s'%s is not supported, only <f4 <f8 <i4 <i8 |u1 |b1", f->name,
                    plain ? (int)f->descr_n : 1, plain ? f->descr : "?", why);
}

static clf_status check_length(npy *f, int64_t rows, int64_t cols, clf_dtype t) {
    size_t cells, bytes;
    if (!clf_mul_ok((size_t)rows, (size_t)cols, &cells) || !clf_mul_ok(cells, clf_dtype_bytes(t), &bytes))
        return NPY_FAIL(f, "%s: the .npy header promises %lld x %lld cells, more than any memory holds", f->name, (long long)rows,
                        (long long)cols);
    if (bytes == f->cells_n) return CLF_OK;
    return NPY_FAIL(f, "%s: %lld x %lld cells of %s take %zu bytes, the file has %zu: %s", f->name, (long long)rows, (long long)cols,
                    clf_dtype_name(t), bytes, f->cells_n, bytes > f->cells_n ? "it is cut off" : "something follows the data");
}

/* Column-major to row-major, tile by tile so that both sides stay in cache. */
static void transpose(char *to, const char *from, int64_t rows, int64_t cols, size_t each) {
    for (int64_t r0 = 0; r0 < rows; r0 += TRANSPOSE_TILE) {
        for (int64_t c0 = 0; c0 < cols; c0 += TRANSPOSE_TILE) {
            int64_t r1 = rows - r0 < TRANSPOSE_TILE ? rows : r0 + TRANSPOSE_TILE;
            int64_t c1 = cols - c0 < TRANSPOSE_TILE ? cols : c0 + TRANSPOSE_TILE;
            for (int64_t r = r0; r < r1; r++)
                for (int64_t c = c0; c < c1; c++) memcpy(to + (size_t)(r * cols + c) * each, from + (size_t)(c * rows + r) * each, each);
        }
    }
}

static void fill(const npy *f, clf_dense *d, bool truth) {
    unsigned char *b = d->data;
    if (f->fortran && d->rows > 1 && d->cols > 1)
        transpose(d->data, f->cells, d->rows, d->cols, clf_dtype_bytes(d->dtype));
    else if (d->bytes)
        memcpy(d->data, f->cells, d->bytes);
    for (size_t i = 0; truth && i < d->bytes; i++) b[i] = b[i] != 0;
}

clf_status clf_read_npy(const char *name, const void *p, size_t n, clf_mem *mem, clf_dense *out, clf_err *err) {
    npy f = {.name = name, .dims = {1, 1}, .err = err};
    clf_dtype t = CLF_F64;
    bool truth = false;
    clf_dense d;
    CLF_TRY(find_header(&f, p, n));
    CLF_TRY(take_dict(&f));
    CLF_TRY(find_dtype(&f, &t, &truth));
    CLF_TRY(check_length(&f, f.dims[0], f.dims[1], t));
    CLF_TRY(clf_dense_new(mem, name, t, f.dims[0], f.dims[1], false, &d, err));
    d.scalar = f.ndims == 0;
    fill(&f, &d, truth);
    *out = d;
    return CLF_OK;
}
