/* SPDX-License-Identifier: Apache-2.0
 * Sparse matrices in the public interface: leaves from compressed rows, compressed columns and triples; and how values are stored.
 *
 * Every leaf is CSR. Compressed columns are the CSR of the transpose: they are turned once, and what was given becomes the twin.
 * Nothing is used before it is checked, unless the caller vouches for it. */
#include <inttypes.h>
#include <string.h>

#include "host/graph/facts.h"
#include "host/graph/sparse_buf.h"
#include "host/run/run.h"

/* A call's arguments: of CSR as given, of CSC with rows and columns exchanged. */
typedef struct request {
    const char *fn;
    clf_dtype t;
    int64_t rows, cols, nnz;
    const void *offsets;
    const int32_t *idx;
    const void *val;
    clf_sparse_options opt;
} request;

/* ---- arguments ---- */

clf_status clf_sparse_args(const char *fn, clf_dtype t, int64_t rows, int64_t cols, int64_t nnz, clf_err *err) {
    size_t cells = 0, bytes;
    if (!clf_dtype_ok((int)t)) return clf_fail(err, CLF_E_TYPE, "%s: no element type %d", fn, (int)t);
    if (rows < 0 || cols < 0) return clf_fail(err, CLF_E_SHAPE, "%s: %" PRId64 "x%" PRId64 " has a negative extent", fn, rows, cols);
    if (cols > INT32_MAX || rows >= PTRDIFF_MAX / 8 || !clf_mul_ok((size_t)rows, (size_t)cols, &cells) || !clf_mul_ok(cells, 8, &bytes) ||
        bytes > INT64_MAX / 2)
        return clf_fail(err, CLF_E_LIMIT, "%s: %" PRId64 "x%" PRId64 " is too large for a sparse matrix", fn, rows, cols);
    if (nnz < 0 || (size_t)nnz > cells)
        return clf_fail(err, CLF_E_ARG, "%s: %" PRId64 " entries in %" PRId64 "x%" PRId64 " cells", fn, nnz, rows, cols);
    return CLF_OK;
}

static clf_status take_options(const char *fn, const clf_sparse_options *given, clf_sparse_options *o, clf_err *err) {
    memset(o, 0, sizeof *o);
    if (given && given->struct_size < sizeof given->struct_size)
        return clf_fail(err, CLF_E_ARG, "%s: clf_sparse_options.struct_size is not set", fn);
    if (given) memcpy(o, given, given->struct_size < sizeof *o ? given->struct_size : sizeof *o);
    if (!o->offset_bytes) o->offset_bytes = 8;
    if (!o->index_bytes) o->index_bytes = 4;
    if ((o->offset_bytes != 4 && o->offset_bytes != 8) || (o->index_bytes != 4 && o->index_bytes != 8))
        return clf_fail(err, CLF_E_ARG, "%s: offsets of %d and indices of %d bytes; 4 and 8 are possible", fn, o->offset_bytes,
                        o->index_bytes);
    return CLF_OK;
}

/* An array of n elements: there, and readable as such. */
static clf_status array_ok(const char *fn, const char *what, const void *p, int64_t n, size_t each, clf_err *err) {
    if (n && !p) return clf_fail(err, CLF_E_ARG, "%s: %s is NULL", fn, what);
    if ((uintptr_t)p % each) return clf_fail(err, CLF_E_ARG, "%s: %s is not aligned to its %zu bytes", fn, what, each);
    return CLF_OK;
}

static clf_status request_ok(const request *r, bool turned, clf_err *err) {
    CLF_TRY(turned ? clf_sparse_args(r->fn, r->t, r->cols, r->rows, r->nnz, err)
                   : clf_sparse_args(r->fn, r->t, r->rows, r->cols, r->nnz, err));
    if (turned && r->cols > INT32_MAX)
        return clf_fail(err, CLF_E_LIMIT, "%s: %" PRId64 "x%" PRId64 " is too large for a sparse matrix", r->fn, r->cols, r->rows);
    CLF_TRY(array_ok(r->fn, "offsets", r->offsets, r->rows + 1, (size_t)r->opt.offset_bytes, err));
    CLF_TRY(array_ok(r->fn, "indices", r->idx, r->nnz, sizeof *r->idx, err));
    return array_ok(r->fn, "values", r->val, r->nnz, clf_dtype_bytes(r->t), err);
}

/* ---- buffers ---- */

/* The matrix as given, checked, in a buffer: borrowed or copied. */
static clf_status import(clf_ctx *c, const request *r, bool turned, clf_buf **out, clf_err *err) {
    clf_sparse s;
    clf_err why = {CLF_OK, ""};
    memset(&s, 0, sizeof s);
    clf_status st =
        clf_csr_import(r->rows, r->cols, r->nnz, r->offsets, r->opt.offset_bytes, r->idx, r->val, r->t, r->opt.trusted, &c->mem, &s, &why);
    if (st != CLF_OK) return clf_fail(err, st, "%s: %s%s", r->fn, turned ? "in compressed columns, rows being columns: " : "", why.text);
    clf_csr_given given = {r->offsets, r->opt.offset_bytes, r->opt.trusted, r->opt.release, r->opt.user};
    *out = r->opt.borrow ? clf_csr_buf_borrow(c, &s, &given) : clf_csr_buf_copy(c, &s.m);
    clf_sparse_release(&s, &c->mem);
    if (*out) return CLF_OK;
    return clf_fail(err, CLF_E_NOMEM, "%s: no memory for %" PRId64 " entries in %" PRId64 " rows", r->fn, r->nnz, r->rows);
}

/* A failed call leaves the arrays with the caller: release is not for them. */
static void give_up(clf_buf *b) {
    b->release = NULL;
    clf_buf_unref(b);
}

/* The matrix whose transpose is in `twin`, which it keeps. */
static clf_status turn(clf_ctx *c, clf_buf *twin, clf_buf **out, clf_err *err) {
    clf_sparse s;
    memset(&s, 0, sizeof s);
    CLF_TRY(clf_csr_transpose(clf_buf_csr(twin), &c->mem, &s, err));
    clf_buf *b = clf_csr_buf_adopt(c, &s);
    clf_sparse_release(&s, &c->mem);
    if (!b) return clf_fail(err, CLF_E_NOMEM, "clf_sparse_csc: out of memory");
    clf_buf_derive(b, CLF_DERIVED_TWIN, twin);
    *out = b;
    return CLF_OK;
}

/* What a failure leaves of a leaf's buffers is the caller's again; what success makes holds the only reference. */
static clf_mat *leaf(clf_ctx *c, clf_buf *b, clf_buf *callers) {
    const clf_csr *m = clf_buf_csr(b);
    clf_node *n = clf_leaf_node(c, (clf_dtype)m->dtype, false, m->rows, m->cols, b);
    clf_mat *h = n ? clf_handle_new(c, n) : clf_handle_oom(c);
    if (h == &c->oom) callers->release = NULL;
    clf_buf_unref(b);
    return h;
}

static clf_mat *compressed(clf_ctx *c, request *r, const clf_sparse_options *opt, bool turned) {
    clf_err err = {CLF_OK, ""};
    clf_buf *given = NULL, *b = NULL;
    clf_status st = take_options(r->fn, opt, &r->opt, &err);
    if (st == CLF_OK) st = request_ok(r, turned, &err);
    if (st != CLF_OK) return clf_handle_fail(c, &err);
    clf_ctx_lock(c);
    st = import(c, r, turned, &given, &err);
    if (st == CLF_OK && turned && (st = turn(c, given, &b, &err)) != CLF_OK) give_up(given);
    if (st == CLF_OK && !turned && given->borrowed && c->knobs.checksum) clf_buf_seal(given);
    clf_mat *m = st == CLF_OK ? leaf(c, turned ? b : given, given) : clf_handle_error(c, &err);
    clf_ctx_unlock(c);
    return m;
}

clf_mat *clf_sparse_csr(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, int64_t nnz, const void *offsets, const int32_t *indices,
                        const void *values, const clf_sparse_options *opt) {
    if (!c) return NULL;
    request r = {.fn = "clf_sparse_csr", .t = t, .rows = rows, .cols = cols, .nnz = nnz, .offsets = offsets, .idx = indices, .val = values};
    return compressed(c, &r, opt, false);
}

clf_mat *clf_sparse_csc(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, int64_t nnz, const void *offsets, const int32_t *indices,
                        const void *values, const clf_sparse_options *opt) {
    if (!c) return NULL;
    request r = {.fn = "clf_sparse_csc", .t = t, .rows = cols, .cols = rows, .nnz = nnz, .offsets = offsets, .idx = indices, .val = values};
    return compressed(c, &r, opt, true);
}

static clf_status triples_ok(const request *r, const void *row, const void *col, clf_err *err) {
    CLF_TRY(clf_sparse_args(r->fn, r->t, r->rows, r->cols, r->opt.add ? 0 : r->nnz, err));
    if (r->nnz < 0) return clf_fail(err, CLF_E_ARG, "%s: %" PRId64 " entries", r->fn, r->nnz);
    CLF_TRY(array_ok(r->fn, "row", row, r->nnz, (size_t)r->opt.index_bytes, err));
    CLF_TRY(array_ok(r->fn, "col", col, r->nnz, (size_t)r->opt.index_bytes, err));
    return array_ok(r->fn, "values", r->val, r->nnz, clf_dtype_bytes(r->t), err);
}

static clf_status sort_triples(clf_ctx *c, const request *r, const void *row, const void *col, clf_buf **out, clf_err *err) {
    clf_sparse s;
    clf_err why = {CLF_OK, ""};
    memset(&s, 0, sizeof s);
    clf_status st = clf_csr_from_coo(r->rows, r->cols, r->nnz, row, col, r->opt.index_bytes, r->val, r->t, r->opt.add, &c->mem, &s, &why);
    if (st != CLF_OK) return clf_fail(err, st, "%s: %s", r->fn, why.text);
    *out = clf_csr_buf_adopt(c, &s);
    clf_sparse_release(&s, &c->mem);
    return *out ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "%s: out of memory", r->fn);
}

clf_mat *clf_sparse_coo(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, int64_t nnz, const void *row, const void *col,
                        const void *values, const clf_sparse_options *opt) {
    if (!c) return NULL;
    clf_err err = {CLF_OK, ""};
    clf_buf *b = NULL;
    request r = {.fn = "clf_sparse_coo", .t = t, .rows = rows, .cols = cols, .nnz = nnz, .val = values};
    clf_status st = take_options(r.fn, opt, &r.opt, &err);
    if (st == CLF_OK && r.opt.borrow) st = clf_fail(&err, CLF_E_ARG, "clf_sparse_coo: triples are sorted, not used in place");
    if (st == CLF_OK) st = triples_ok(&r, row, col, &err);
    if (st != CLF_OK) return clf_handle_fail(c, &err);
    clf_ctx_lock(c);
    st = sort_triples(c, &r, row, col, &b, &err);
    clf_mat *m = st == CLF_OK ? leaf(c, b, b) : clf_handle_error(c, &err);
    clf_ctx_unlock(c);
    return m;
}

/* ---- how values are stored ---- */

/* Random numbers on their way into a sparse value need no cells. */
static clf_status evaluate(clf_ctx *c, clf_mat *x, bool sparse, clf_buf **made, clf_err *err) {
    clf_node *n = x->node;
    *made = NULL;
    if (sparse && !n->value && n->g.op == CLF_OP_RAND) return clf_rand_sparse(c, &n->g, made, err);
    CLF_TRY(clf_node_sticky(n, err));
    return clf_eval_in_lock(c, 1, &x, err);
}

/* The value of x in the other format as a leaf with x's facts. */
static clf_status store(clf_ctx *c, clf_mat *x, bool sparse, clf_node **out, clf_err *err) {
    clf_buf *made = NULL, *b = NULL;
    CLF_TRY(evaluate(c, x, sparse, &made, err));
    const clf_gnode *g = &x->node->g;
    clf_status st = CLF_OK;
    if (made)
        b = made;
    else {
        CLF_TRY(clf_leaves_check(c, 1, &x->node, err));
        st = sparse ? clf_buf_entries(c, x->node->value, clf_rows(g), clf_cols(g), (clf_dtype)g->dtype, &b, err)
                    : clf_buf_cells(c, x->node->value, &b, err);
    }
    if (st == CLF_OK) *out = b == x->node->value ? clf_node_ref(x->node) : clf_leaf_like(c, g, b);
    clf_buf_unref(made);
    if (st == CLF_OK && !*out) st = clf_fail(err, CLF_E_NOMEM, "out of memory while storing a value");
    return st;
}

static clf_mat *store_handle(clf_mat *x, bool sparse) {
    if (!x || !x->ctx) return NULL;
    clf_ctx *c = x->ctx;
    clf_err err = {CLF_OK, ""};
    clf_node *n = NULL;
    clf_ctx_lock(c);
    clf_status st = CLF_OK;
    if (sparse && x->node->g.scalar) st = clf_fail(&err, CLF_E_SHAPE, "clf_to_sparse: a scalar is no matrix");
    if (st == CLF_OK) st = store(c, x, sparse, &n, &err);
    clf_mat *m = st == CLF_OK ? clf_handle_new(c, n) : clf_handle_error(c, &err);
    clf_ctx_unlock(c);
    return m;
}

clf_mat *clf_to_dense(clf_mat *x) { return store_handle(x, false); }
clf_mat *clf_to_sparse(clf_mat *x) { return store_handle(x, true); }

static void look(const clf_node *n, bool ieee, clf_storage *out) {
    out->format = n->value ? clf_formats[clf_buf_is_csr(n->value) ? CLF_CSR : CLF_DENSE].name : "none";
    out->nnz = n->g.nnz;
    out->structural = !ieee && n->g.zeros == CLF_ZEROS_STRUCTURAL;
    out->borrowed = n->value && n->value->borrowed;
    out->bytes = n->value ? clf_buf_value_bytes(n->value) : 0;
}

clf_status clf_storage_of(const clf_mat *x, clf_storage *out) {
    if (!x || !x->ctx || !out || out->struct_size < sizeof out->struct_size) return CLF_E_ARG;
    clf_storage s;
    memset(&s, 0, sizeof s);
    clf_ctx_lock(x->ctx);
    clf_status st = x->node->status;
    if (x->node->g.op != CLF_OP_ERROR) {
        st = CLF_OK;
        look(x->node, !strcmp(x->ctx->knobs.sparse, "ieee"), &s);
    }
    clf_ctx_unlock(x->ctx);
    if (st != CLF_OK) return st;
    s.struct_size = out->struct_size;
    memcpy(out, &s, s.struct_size < sizeof s ? s.struct_size : sizeof s);
    return CLF_OK;
}
