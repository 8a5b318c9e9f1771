/* SPDX-License-Identifier: Apache-2.0
 * Buffers that hold a sparse matrix; see sparse_buf.h.
 * Invariant: whatever arrays m points at outlive the buffer: its own, the caller's until release, or those of `pattern`. */
#include "host/graph/sparse_buf.h"

#include <inttypes.h>
#include <string.h>

#include "core/hash.h"
#include "formats/fmt.h"
#include "host/run/run.h"

/* First member: host is the address of a clf_csr. */
typedef struct csr_home {
    clf_sparse s;
    clf_buf *pattern; /* whose offsets and columns m borrows */
    clf_blocks *pool; /* where the values came from, if not from s */
    clf_block *block;
    clf_csr_given given;
    bool from_caller, broken;
    int64_t *col_count; /* cols numbers, once counted */
} csr_home;

static csr_home *home_of(const clf_buf *b) { return b->host; }

static void forget_counts(clf_mem *mem, csr_home *h) {
    clf_mem_free(mem, h->col_count, (size_t)h->s.m.cols, sizeof *h->col_count);
    h->col_count = NULL;
}

static void csr_drop(clf_buf *b) {
    csr_home *h = b->host;
    forget_counts(b->mem, h);
    b->host = (void *)(uintptr_t)h->s.m.val;
    clf_sparse_release(&h->s, b->mem);
    if (h->pool) clf_block_give(h->pool, h->block);
    clf_buf_unref(h->pattern);
    clf_mem_free(b->mem, h, 1, sizeof *h);
}

static uint64_t csr_hash(const clf_buf *b) {
    const clf_csr *m = clf_buf_csr(b);
    uint64_t h = clf_hash64(m->ptr, ((size_t)m->rows + 1) * sizeof *m->ptr, 0);
    if (!m->nnz) return h;
    h = clf_hash64(m->idx, (size_t)m->nnz * sizeof *m->idx, h);
    return clf_hash64(m->val, (size_t)m->nnz * clf_dtype_bytes((clf_dtype)m->dtype), h);
}

static const clf_buf_kind csr_kind = {csr_drop, csr_hash};

bool clf_buf_is_csr(const clf_buf *b) { return b->kind == &csr_kind; }

size_t clf_buf_value_bytes(const clf_buf *b) {
    if (!clf_buf_is_csr(b)) return b->bytes;
    const clf_csr *m = clf_buf_csr(b);
    return (size_t)clf_csr_bytes(m->rows, m->nnz, (clf_dtype)m->dtype);
}

/* A buffer over an empty home; bytes: of the caller's memory. */
static clf_buf *new_buf(clf_ctx *c, bool borrowed, size_t bytes, const clf_csr_given *given) {
    csr_home *h = clf_mem_new(&c->mem, 1, sizeof *h);
    if (!h) return NULL;
    clf_buf *b = borrowed ? clf_buf_borrow(&c->mem, ++c->next_buf, h, bytes, given->release, given->user)
                          : clf_buf_adopt(&c->mem, ++c->next_buf, h, bytes);
    if (!b) {
        clf_mem_free(&c->mem, h, 1, sizeof *h);
        return NULL;
    }
    b->kind = &csr_kind;
    return b;
}

clf_buf *clf_csr_buf_adopt(clf_ctx *c, clf_sparse *s) {
    clf_buf *b = new_buf(c, false, s->ptr_bytes + s->idx_bytes + s->val_bytes, NULL);
    if (!b) return NULL;
    home_of(b)->s = *s;
    memset(s, 0, sizeof *s);
    return b;
}

clf_buf *clf_csr_buf_borrow(clf_ctx *c, clf_sparse *s, const clf_csr_given *given) {
    size_t all = (size_t)clf_csr_bytes(s->m.rows, s->m.nnz, (clf_dtype)s->m.dtype);
    clf_buf *b = new_buf(c, true, all - s->ptr_bytes - s->idx_bytes - s->val_bytes, given);
    if (!b) return NULL;
    home_of(b)->s = *s;
    home_of(b)->given = *given;
    home_of(b)->from_caller = true;
    memset(s, 0, sizeof *s);
    return b;
}

/* Patterns never chain. */
clf_buf *clf_csr_buf_pattern(clf_buf *b) { return home_of(b)->pattern ? home_of(b)->pattern : b; }

clf_buf *clf_csr_buf_like(clf_ctx *c, clf_buf *pattern, clf_dtype t) {
    while (home_of(pattern)->pattern) pattern = home_of(pattern)->pattern; /* whose arrays they are: patterns never chain */
    const clf_csr *m = clf_buf_csr(pattern);
    size_t bytes = (size_t)m->nnz * clf_dtype_bytes(t);
    clf_block *block = clf_block_take(&c->run->blocks, bytes);
    clf_buf *b = block ? new_buf(c, false, bytes, NULL) : NULL;
    if (!b) {
        if (block) clf_block_give(&c->run->blocks, block);
        return NULL;
    }
    csr_home *h = home_of(b);
    h->s.m = *m;
    h->s.m.val = block->data;
    h->s.m.dtype = (uint8_t)t;
    h->pool = &c->run->blocks;
    h->block = block;
    h->pattern = clf_buf_ref(pattern);
    return b;
}

/* One array of ours with the contents of another; NULL stays NULL only when memory is out. */
static void *copy_array(clf_mem *mem, const void *from, size_t n, size_t each, size_t *bytes) {
    if (!clf_mul_ok(n, each, bytes)) return NULL;
    void *to = clf_mem_data(mem, *bytes);
    if (to && *bytes) memcpy(to, from, *bytes);
    return to;
}

static bool copy_arrays(clf_mem *mem, const clf_csr *m, clf_sparse *out) {
    memset(out, 0, sizeof *out);
    out->ptr = copy_array(mem, m->ptr, (size_t)m->rows + 1, sizeof *m->ptr, &out->ptr_bytes);
    out->idx = out->ptr ? copy_array(mem, m->idx, (size_t)m->nnz, sizeof *m->idx, &out->idx_bytes) : NULL;
    out->val = out->idx ? copy_array(mem, m->val, (size_t)m->nnz, clf_dtype_bytes((clf_dtype)m->dtype), &out->val_bytes) : NULL;
    out->m = *m;
    out->m.ptr = out->ptr;
    out->m.idx = out->idx;
    out->m.val = out->val;
    return out->val != NULL;
}

clf_buf *clf_csr_buf_copy(clf_ctx *c, const clf_csr *m) {
    clf_sparse s;
    clf_buf *b = copy_arrays(&c->mem, m, &s) ? clf_csr_buf_adopt(c, &s) : NULL;
    clf_sparse_release(&s, &c->mem);
    return b;
}

/* A pattern's pattern is another intermediate at most as deep as the chain of steps; it is followed, not recursed into. */
bool clf_buf_stays(const clf_buf *b) {
    while (!b->borrowed && clf_buf_is_csr(b) && home_of(b)->pattern) b = home_of(b)->pattern;
    return !b->borrowed;
}

/* ---- what is derived from a value ---- */

static clf_status no_memory(clf_err *err, const char *what, const clf_csr *m) {
    return clf_fail(err, CLF_E_NOMEM, "out of memory: %s of a sparse %" PRId64 "x%" PRId64 " matrix with %" PRId64 " entries", what,
                    m->rows, m->cols, m->nnz);
}

/* Keep what was made in *s with b. */
static clf_status derive(clf_ctx *c, clf_buf *b, clf_derived what, clf_sparse *s, clf_err *err) {
    clf_buf *d = clf_csr_buf_adopt(c, s);
    if (!d) {
        clf_status st = no_memory(err, "a copy", &s->m);
        clf_sparse_release(s, &c->mem);
        return st;
    }
    clf_buf_derive(b, what, d);
    return CLF_OK;
}

clf_status clf_buf_twin(clf_ctx *c, clf_buf *b, const clf_csr **out, clf_err *err) {
    if (!clf_buf_derived(b, CLF_DERIVED_TWIN)) {
        clf_sparse s;
        memset(&s, 0, sizeof s);
        CLF_TRY(clf_csr_transpose(clf_buf_csr(b), &c->mem, &s, err));
        CLF_TRY(derive(c, b, CLF_DERIVED_TWIN, &s, err));
    }
    *out = clf_buf_csr(clf_buf_derived(b, CLF_DERIVED_TWIN));
    return CLF_OK;
}

static clf_status make_cells(clf_ctx *c, clf_buf *b, clf_err *err) {
    const clf_csr *m = clf_buf_csr(b);
    size_t cells, bytes;
    bool fits = clf_mul_ok((size_t)m->rows, (size_t)m->cols, &cells) && clf_mul_ok(cells, clf_dtype_bytes((clf_dtype)m->dtype), &bytes) &&
                bytes <= PTRDIFF_MAX;
    clf_buf *d = fits ? clf_buf_new(&c->mem, ++c->next_buf, bytes) : NULL;
    if (!d) return no_memory(err, "the dense cells", m);
    if (bytes) clf_csr_to_dense(m, d->host);
    clf_buf_derive(b, CLF_DERIVED_OTHER, d);
    return CLF_OK;
}

clf_status clf_buf_cells(clf_ctx *c, clf_buf *b, clf_buf **out, clf_err *err) {
    bool sparse = clf_buf_is_csr(b);
    if (sparse && !clf_buf_derived(b, CLF_DERIVED_OTHER)) CLF_TRY(make_cells(c, b, err));
    *out = sparse ? clf_buf_derived(b, CLF_DERIVED_OTHER) : b;
    return CLF_OK;
}

clf_status clf_buf_entries(clf_ctx *c, clf_buf *b, int64_t rows, int64_t cols, clf_dtype t, clf_buf **out, clf_err *err) {
    bool sparse = clf_buf_is_csr(b);
    if (!sparse && !clf_buf_derived(b, CLF_DERIVED_OTHER)) {
        clf_sparse s;
        memset(&s, 0, sizeof s);
        CLF_TRY(clf_run_fetch(c, b, err));
        CLF_TRY(clf_csr_from_dense(b->host, rows, cols, t, &c->mem, &s, err));
        CLF_TRY(derive(c, b, CLF_DERIVED_OTHER, &s, err));
    }
    *out = sparse ? b : clf_buf_derived(b, CLF_DERIVED_OTHER);
    return CLF_OK;
}

const int64_t *clf_csr_buf_col_counts(clf_ctx *c, clf_buf *b) {
    csr_home *h = home_of(b);
    if (!h->col_count) {
        h->col_count = clf_mem_new(&c->mem, (size_t)h->s.m.cols, sizeof *h->col_count);
        if (h->col_count) clf_csr_col_counts(&h->s.m, h->col_count);
    }
    return h->col_count;
}

/* ---- memory of the caller's that changed ---- */

bool clf_buf_broken(const clf_buf *b) { return clf_buf_is_csr(b) && home_of(b)->broken; }

clf_status clf_csr_buf_reload(clf_ctx *c, clf_buf *b, clf_err *err) {
    csr_home *h = home_of(b);
    clf_sparse fresh;
    const clf_csr m = h->s.m;
    if (!h->from_caller) return CLF_OK;
    h->broken = true;
    forget_counts(&c->mem, h);
    memset(&fresh, 0, sizeof fresh);
    CLF_TRY(clf_csr_import(m.rows, m.cols, m.nnz, h->given.offsets, h->given.offset_bytes, m.idx, m.val, (clf_dtype)m.dtype,
                           h->given.trusted, &c->mem, &fresh, err));
    clf_sparse_release(&h->s, &c->mem);
    h->s = fresh;
    h->broken = false;
    return CLF_OK;
}
