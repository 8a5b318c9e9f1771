/* SPDX-License-Identifier: Apache-2.0
 * The entries of a Matrix Market file of layout coordinate: a list of triples, the mirrored ones among them, that becomes CSR.
 *
 * Entries met twice add up in the order of the file, as the format's users expect of assembled matrices.
 * Invariant: the list goes with the entries promised, which the reader of the size line has compared with the bytes that follow. */
#include "formats/block.h"
#include "formats/dense.h"
#include "formats/mtx.h"

typedef struct triples {
    void *row, *col, *val;
    size_t row_bytes, col_bytes, val_bytes;
    int64_t n;
    int index_bytes;
} triples;

static void triples_release(triples *l, clf_mem *mem) {
    clf_mem_data_free(mem, l->row, l->row_bytes);
    clf_mem_data_free(mem, l->col, l->col_bytes);
    clf_mem_data_free(mem, l->val, l->val_bytes);
}

static clf_status triples_new(const mtx *f, clf_mem *mem, triples *out) {
    triples l = {.index_bytes = f->rows > INT32_MAX ? 8 : 4};
    size_t most = (size_t)f->entries * (f->symmetry == MTX_GENERAL ? 1 : 2);
    l.row = clf_block_new(mem, most, (size_t)l.index_bytes, &l.row_bytes);
    if (l.row) l.col = clf_block_new(mem, most, (size_t)l.index_bytes, &l.col_bytes);
    if (l.col) l.val = clf_block_new(mem, most, clf_dtype_bytes(f->dtype), &l.val_bytes);
    if (l.val) {
        *out = l;
        return CLF_OK;
    }
    triples_release(&l, mem);
    return clf_fail(f->c.t->err, CLF_E_NOMEM, "%s: no memory for %zu entries, %zu bytes are available", f->c.t->name, most,
                    clf_block_available(mem));
}

static void index_store(void *to, int bytes, int64_t at, int64_t index) {
    if (bytes == 4)
        ((int32_t *)to)[at] = (int32_t)index;
    else
        ((int64_t *)to)[at] = index;
}

static void push(triples *l, clf_dtype t, int64_t row, int64_t col, double v) {
    index_store(l->row, l->index_bytes, l->n, row);
    index_store(l->col, l->index_bytes, l->n, col);
    clf_value_store(l->val, t, (size_t)l->n++, v);
}

static clf_status read_entry(mtx *f, triples *l, int64_t done) {
    clf_cursor *c = &f->c;
    int64_t row, col;
    double v = 1;
    if (!clf_cursor_find(c)) return CLF_CURSOR_FAIL(c, "the file ends after %lld of %lld entries", (long long)done, (long long)f->entries);
    CLF_TRY(clf_cursor_count(c, "a row", 1, f->rows, 0, &row));
    CLF_TRY(clf_cursor_count(c, "a column", 1, f->cols, 0, &col));
    if (f->field != MTX_PATTERN) {
        clf_cursor_eol(c);
        CLF_TRY(clf_mtx_value(f, &v));
    }
    if (f->symmetry != MTX_GENERAL && (row < col || (row == col && f->symmetry == MTX_SKEW)))
        return CLF_CURSOR_FAIL(c, "entry (%lld, %lld) is not in the lower triangle", (long long)row, (long long)col);
    CLF_TRY(clf_cursor_end_line(c));
    push(l, f->dtype, row - 1, col - 1, v);
    if (f->symmetry != MTX_GENERAL && row != col) push(l, f->dtype, col - 1, row - 1, f->symmetry == MTX_SKEW ? -v : v);
    return CLF_OK;
}

clf_status clf_mtx_read_entries(mtx *f, clf_mem *mem, clf_sparse *out) {
    triples l = {.n = 0};
    clf_err why = {.code = CLF_OK};
    clf_status st = CLF_OK;
    CLF_TRY(triples_new(f, mem, &l));
    for (int64_t i = 0; i < f->entries && st == CLF_OK; i++) {
        st = clf_text_go_on(f->t, f->c.at);
        if (st == CLF_OK) st = read_entry(f, &l, i);
    }
    if (st == CLF_OK) {
        st = clf_csr_from_coo(f->rows, f->cols, l.n, l.row, l.col, l.index_bytes, l.val, f->dtype, true, mem, out, &why);
        if (st != CLF_OK) clf_read_failed(f->c.t->err, f->c.t->name, &why);
    }
    triples_release(&l, mem);
    return st;
}
