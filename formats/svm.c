/* SPDX-License-Identifier: Apache-2.0
 * Read svmlight files ("label index:value ...", 1-based ascending indices, '#' starts a comment) into a dense matrix and labels.
 *
 * Two passes with the same code: the first checks every line and finds rows and columns, the second stores.
 * Invariant: the size allocated comes from what the file holds, never from what it claims; a huge index fails the memory check. */
#include "formats/dense.h"
#include "formats/text.h"

typedef struct svm {
    clf_text t;
    int64_t rows, cols; /* found so far */
    clf_dense x, y;     /* data NULL in the first pass; y may stay so */
} svm;

static clf_status read_pair(svm *f, clf_cursor *c, int64_t least, int64_t *index) {
    double v;
    CLF_TRY(clf_cursor_count(c, "index:value with ascending indices: an index", least, INT64_MAX, ':', index));
    if (c->at == c->t->end || *c->at != ':') return CLF_CURSOR_FAIL(c, "index %lld has no ':value'", (long long)*index);
    c->at++;
    c->field--; /* index and value are one field */
    if (clf_cursor_length(c) == 0) {
        c->field++;
        return CLF_CURSOR_FAIL(c, "index %lld has no value", (long long)*index);
    }
    CLF_TRY(clf_cursor_number(c, "a number", f->x.dtype, &v));
    if (f->x.data) clf_dense_set(&f->x, (size_t)(f->rows * f->x.cols + *index - 1), v);
    return CLF_OK;
}

static clf_status read_row(svm *f, clf_cursor *c) {
    double label;
    int64_t index = 0;
    CLF_TRY(clf_cursor_number(c, "a numeric label", f->x.dtype, &label));
    if (f->y.data) clf_dense_set(&f->y, (size_t)f->rows, label);
    while (!clf_cursor_eol(c)) {
        if (index == INT64_MAX) return CLF_CURSOR_FAIL(c, "no index can follow %lld", (long long)index);
        CLF_TRY(read_pair(f, c, index + 1, &index));
    }
    if (index > f->cols) f->cols = index;
    f->rows++;
    return CLF_OK;
}

static clf_status read_rows(svm *f) {
    clf_cursor c;
    clf_cursor_init(&c, &f->t, '#');
    f->rows = 0;
    while (clf_cursor_find(&c)) CLF_TRY(read_row(f, &c));
    return f->rows > 0 ? CLF_OK : clf_fail(f->t.err, CLF_E_FORMAT, "%s: the file is empty", f->t.name);
}

static clf_status read_all(svm *f, clf_mem *mem, clf_dtype t, bool want_labels) {
    CLF_TRY(read_rows(f));
    CLF_TRY(clf_dense_new(mem, f->t.name, t, f->rows, f->cols, true, &f->x, f->t.err));
    if (want_labels) CLF_TRY(clf_dense_new(mem, f->t.name, t, f->rows, 1, false, &f->y, f->t.err));
    return read_rows(f);
}

clf_status clf_read_svm(const char *name, const void *p, size_t n, const clf_read_opts *o, clf_mem *mem, clf_dense *out, clf_dense *labels,
                        clf_err *err) {
    clf_read_opts opts;
    svm f = {.rows = 0};
    CLF_TRY(clf_read_opts_check(name, o, &opts, err));
    CLF_TRY(clf_text_init(&f.t, name, p, n, err));
    CLF_TRY(clf_text_check_nul(&f.t, " \t"));
    f.x.dtype = opts.dtype;
    clf_status st = read_all(&f, mem, opts.dtype, labels != NULL);
    if (st != CLF_OK) {
        clf_dense_release(&f.x, mem);
        clf_dense_release(&f.y, mem);
        return st;
    }
    *out = f.x;
    if (labels) *labels = f.y;
    return CLF_OK;
}
