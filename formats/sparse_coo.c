/* SPDX-License-Identifier: Apache-2.0
 * CSR from triples in any order.
 *
 * A stable counting sort by rows leaves triples that came in order of rows, or of columns, in their final places; only rows that do not
 * ascend then are sorted, by merging. So no memory goes with the number of columns, and a matrix of 2^31 columns with one entry is small.
 * Invariant: both sorts are stable, hence entries met twice lie side by side in the order given, and are added in that order. */
#include "formats/block.h"
#include "formats/sparse_make.h"

typedef struct triples {
    int64_t rows, cols, n;
    const void *row, *col;
    int index_bytes;
    const void *val;
    clf_dtype t;
} triples;

static inline int64_t index_at(const void *p, int bytes, int64_t i) {
    return bytes == 4 ? ((const int32_t *)p)[i] : ((const int64_t *)p)[i];
}

static clf_status check_args(const triples *c, clf_err *err) {
    if (c->index_bytes != 4 && c->index_bytes != 8)
        return clf_fail(err, CLF_E_ARG, "indices of triples have 4 or 8 bytes, not %d", c->index_bytes);
    if (c->n > 0 && (!c->row || !c->col)) return clf_fail(err, CLF_E_ARG, "triples without %s", c->row ? "columns" : "rows");
    const int64_t none = 0;
    const int32_t any = 0;
    const clf_csr shape = {.ptr = &none, .idx = &any, .val = c->val, .rows = c->rows, .cols = c->cols, .nnz = c->n, .dtype = (uint8_t)c->t};
    return clf_csr_check_shape(&shape, err);
}

static clf_status out_of_range(const char *what, int64_t entry, int64_t index, int64_t n, clf_err *err) {
    return clf_fail(err, CLF_E_FORMAT, "entry %lld: %s %lld is outside 0 to %lld", (long long)entry + 1, what, (long long)index,
                    (long long)n - 1);
}

static clf_status count_rows(const triples *c, int64_t *ptr, clf_err *err) {
    memset(ptr, 0, ((size_t)c->rows + 1) * sizeof *ptr);
    for (int64_t i = 0; i < c->n; i++) {
        int64_t row = index_at(c->row, c->index_bytes, i), col = index_at(c->col, c->index_bytes, i);
        if (row < 0 || row >= c->rows) return out_of_range("row", i, row, c->rows, err);
        if (col < 0 || col >= c->cols) return out_of_range("column", i, col, c->cols, err);
        ptr[row]++;
    }
    return CLF_OK;
}

static void place(const triples *c, clf_sparse *s) {
    int64_t *ptr = s->ptr;
    int32_t *idx = s->idx;
    size_t each = clf_dtype_bytes(c->t);
    clf_offsets_start(ptr, c->rows);
    for (int64_t i = 0; i < c->n; i++) {
        int64_t at = ptr[index_at(c->row, c->index_bytes, i)]++;
        idx[at] = (int32_t)index_at(c->col, c->index_bytes, i);
        clf_element_move(s->val, at, c->val, i, each);
    }
    clf_offsets_end(ptr, c->rows);
}

/* ---- rows that do not ascend ---- */

typedef struct key {
    int64_t at;
    int32_t col;
} key;

/* Memory for the longest row to sort. */
typedef struct bench {
    key *from, *to;
    void *val;
    size_t key_bytes, val_bytes;
} bench;

static bool descends(const clf_csr *m, int64_t r) {
    bool bad = false;
    for (int64_t k = m->ptr[r] + 1; k < m->ptr[r + 1]; k++) bad |= m->idx[k] < m->idx[k - 1];
    return bad;
}

/* Two neighbouring runs of `width` become one; the last may be short. */
static void merge(const key *from, key *to, int64_t start, int64_t width, int64_t n) {
    int64_t a = start, a_end = n - start < width ? n : start + width, b = a_end, b_end = n - a_end < width ? n : a_end + width;
    for (int64_t k = start; k < b_end; k++) to[k] = b == b_end || (a < a_end && from[a].col <= from[b].col) ? from[a++] : from[b++];
}

static void sort_row(int32_t *idx, char *val, int64_t n, size_t each, bench *w) {
    for (int64_t k = 0; k < n; k++) w->from[k] = (key){.at = k, .col = idx[k]};
    for (int64_t width = 1; width < n; width *= 2) {
        for (int64_t start = 0; start < n; start += 2 * width) merge(w->from, w->to, start, width, n);
        key *swap = w->from;
        w->from = w->to;
        w->to = swap;
    }
    memcpy(w->val, val, (size_t)n * each);
    for (int64_t k = 0; k < n; k++) {
        idx[k] = w->from[k].col;
        clf_element_move(val, k, w->val, w->from[k].at, each);
    }
}

static clf_status sort_rows(clf_sparse *s, clf_mem *mem, clf_err *err) {
    int64_t *ptr = s->ptr, longest = 0;
    size_t each = clf_dtype_bytes((clf_dtype)s->m.dtype);
    for (int64_t r = 0; r < s->m.rows; r++)
        if (ptr[r + 1] - ptr[r] > longest && descends(&s->m, r)) longest = ptr[r + 1] - ptr[r];
    if (longest == 0) return CLF_OK;
    bench w = {.val = clf_block_new(mem, (size_t)longest, each, &w.val_bytes)};
    key *keys = w.val ? clf_block_new(mem, (size_t)longest, 2 * sizeof *keys, &w.key_bytes) : NULL;
    w.from = keys;
    w.to = keys ? keys + longest : NULL;
    for (int64_t r = 0; keys && r < s->m.rows; r++)
        if (descends(&s->m, r)) sort_row((int32_t *)s->idx + ptr[r], (char *)s->val + (size_t)ptr[r] * each, ptr[r + 1] - ptr[r], each, &w);
    clf_mem_data_free(mem, keys, w.key_bytes);
    clf_mem_data_free(mem, w.val, w.val_bytes);
    return keys ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "no memory to sort a sparse row of %lld entries", (long long)longest);
}

/* ---- entries met twice ---- */

static clf_status refuse_twice(const clf_csr *m, clf_err *err) {
    for (int64_t r = 0; r < m->rows; r++)
        for (int64_t k = m->ptr[r] + 1; k < m->ptr[r + 1]; k++)
            if (m->idx[k] == m->idx[k - 1])
                return clf_fail(err, CLF_E_FORMAT, "row %lld: column %d stands twice", (long long)r + 1, m->idx[k]);
    return CLF_OK;
}

static void add_element(void *val, int64_t to, int64_t from, clf_dtype t) {
    clf_scalar a = clf_scalar_load(val, (size_t)to, t), b = clf_scalar_load(val, (size_t)from, t);
    if (clf_dtype_float(t))
        a.u.f += b.u.f; /* of two floats: rounded to double, then to float, is rounded once */
    else
        a.u.i = (int64_t)((uint64_t)a.u.i + (uint64_t)b.u.i);
    clf_scalar_store(val, (size_t)to, a);
}

static void add_twice(clf_sparse *s) {
    int64_t *ptr = s->ptr, at = 0, begin = 0;
    int32_t *idx = s->idx;
    clf_dtype t = (clf_dtype)s->m.dtype;
    for (int64_t r = 0; r < s->m.rows; r++) {
        int64_t first = at, end = ptr[r + 1];
        for (int64_t k = begin; k < end; k++) {
            if (at > first && idx[at - 1] == idx[k]) {
                add_element(s->val, at - 1, k, t);
                continue;
            }
            idx[at] = idx[k];
            clf_element_move(s->val, at++, s->val, k, clf_dtype_bytes(t));
        }
        begin = end;
        ptr[r + 1] = at;
    }
    s->m.nnz = at;
}

clf_status clf_csr_from_coo(int64_t rows, int64_t cols, int64_t nnz, const void *row, const void *col, int index_bytes, const void *val,
                            clf_dtype t, bool add, clf_mem *mem, clf_sparse *out, clf_err *err) {
    const triples c = {.rows = rows, .cols = cols, .n = nnz, .row = row, .col = col, .index_bytes = index_bytes, .val = val, .t = t};
    clf_sparse s;
    CLF_TRY(check_args(&c, err));
    CLF_TRY(clf_sparse_new(rows, cols, nnz, t, mem, &s, err));
    clf_status st = count_rows(&c, s.ptr, err);
    if (st == CLF_OK) place(&c, &s);
    if (st == CLF_OK) st = sort_rows(&s, mem, err);
    if (st == CLF_OK && !add) st = refuse_twice(&s.m, err);
    if (st != CLF_OK) {
        clf_sparse_release(&s, mem);
        return st;
    }
    if (add) add_twice(&s);
    *out = s;
    return CLF_OK;
}
