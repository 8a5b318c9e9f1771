/* SPDX-License-Identifier: Apache-2.0
 * Read svmlight files ("label index:value ...", 1-based ascending indices, '#' starts a comment) into a CSR matrix and labels.
 *
 * Two passes with the same code: the first checks every line and counts rows, columns and entries, the second stores.
 * Invariant: memory goes with what the file holds, never with what it claims; the largest index is a number and nothing more. */
#include "formats/dense.h"
#include "formats/sparse_make.h"
#include "formats/text.h"

typedef struct svm {
    clf_text t;
    clf_dtype dtype;
    int64_t rows, cols, entries; /* found so far */
    clf_sparse x;                /* without arrays in the first pass */
    clf_dense y;                 /* so is this, and may stay so */
} svm;

static void store_entry(svm *f, int64_t index, double v) {
    ((int32_t *)f->x.idx)[f->entries] = (int32_t)(index - 1);
    clf_value_store(f->x.val, f->dtype, (size_t)f->entries, v);
}

static clf_status read_pair(svm *f, clf_cursor *c, int64_t least, int64_t *index) {
    double v;
    CLF_TRY(clf_cursor_count(c, "index:value with ascending indices: an index", least, INT32_MAX, ':', index));
    if (c->at == c->t->end || *c->at != ':') return CLF_CURSOR_FAIL(c, "index %lld has no ':value'", (long long)*index);
    c->at++;
    c->field--; /* index and value are one field */
    if (clf_cursor_length(c) == 0) {
        c->field++;
        return CLF_CURSOR_FAIL(c, "index %lld has no value", (long long)*index);
    }
    CLF_TRY(clf_cursor_number(c, "a number", f->dtype, &v));
    if (f->x.idx) store_entry(f, *index, v);
    f->entries++;
    return CLF_OK;
}

static clf_status read_row(svm *f, clf_cursor *c) {
    double label;
    int64_t index = 0;
    CLF_TRY(clf_cursor_number(c, "a numeric label", f->dtype, &label));
    if (f->y.data) clf_dense_set(&f->y, (size_t)f->rows, label);
    while (!clf_cursor_eol(c)) CLF_TRY(read_pair(f, c, index + 1, &index));
    if (index > f->cols) f->cols = index;
    f->rows++;
    if (f->x.ptr) ((int64_t *)f->x.ptr)[f->rows] = f->entries;
    return CLF_OK;
}

static clf_status read_rows(svm *f) {
    clf_cursor c;
    clf_cursor_init(&c, &f->t, '#');
    f->rows = f->entries = 0;
    while (clf_cursor_find(&c)) {
        CLF_TRY(clf_text_go_on(&f->t, c.at));
        CLF_TRY(read_row(f, &c));
    }
    return f->rows > 0 ? CLF_OK : clf_fail(f->t.err, CLF_E_FORMAT, "%s: the file is empty", f->t.name);
}

static clf_status read_all(svm *f, clf_mem *mem, bool want_labels) {
    clf_err why = {.code = CLF_OK};
    CLF_TRY(read_rows(f));
    if (clf_sparse_new(f->rows, f->cols, f->entries, f->dtype, mem, &f->x, &why) != CLF_OK)
        return clf_read_failed(f->t.err, f->t.name, &why);
    if (want_labels) CLF_TRY(clf_dense_new(mem, f->t.name, f->dtype, f->rows, 1, false, &f->y, f->t.err));
    *(int64_t *)f->x.ptr = 0;
    return read_rows(f);
}

clf_status clf_read_svm(const char *name, const void *p, size_t n, const clf_read_opts *o, clf_mem *mem, clf_sparse *out, clf_dense *labels,
                        clf_err *err) {
    clf_read_opts opts;
    svm f = {.rows = 0};
    CLF_TRY(clf_read_opts_check(name, o, &opts, err));
    CLF_TRY(clf_text_init(&f.t, name, p, n, err));
    CLF_TRY(clf_text_check_nul(&f.t, " \t"));
    f.t.ask = opts.ask;
    f.dtype = f.y.dtype = opts.dtype;
    clf_status st = read_all(&f, mem, labels != NULL);
    if (st != CLF_OK) {
        clf_sparse_release(&f.x, mem);
        clf_dense_release(&f.y, mem);
        return st;
    }
    *out = f.x;
    if (labels) *labels = f.y;
    return CLF_OK;
}
