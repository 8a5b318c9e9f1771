/* SPDX-License-Identifier: Apache-2.0
 * Where programs start: matrices copied or borrowed, numbers, generators, parameters. No operands, so the context is given. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "host/graph/sparse_buf.h"

static clf_mat *record_source(clf_ctx *c, clf_op op, const int64_t *attr, clf_node *in) {
    clf_err err = {CLF_OK, ""};
    clf_node *out = NULL;
    clf_status st = clf_record_form(c, op, attr, in ? 1 : 0, in ? &in : NULL, &out, &err);
    return st == CLF_OK ? clf_handle_new(c, out) : clf_handle_error(c, &err);
}

static clf_status number(clf_ctx *c, clf_scalar s, clf_node **out) {
    clf_node w;
    memset(&w, 0, sizeof w);
    w.g.op = CLF_OP_CONST;
    w.g.dtype = (uint8_t)s.dtype;
    w.g.scalar = 1;
    w.g.in[0] = w.g.in[1] = w.g.in[2] = -1;
    clf_gnode_shape(&w.g, 1, 1);
    w.g.nnz = 1;
    w.num = s;
    *out = clf_node_get(&c->nodes, &w);
    return *out ? CLF_OK : CLF_E_NOMEM;
}

static clf_mat *number_handle(clf_ctx *c, clf_scalar s) {
    if (!c) return NULL;
    clf_ctx_lock(c);
    clf_node *n;
    clf_mat *m = number(c, s, &n) == CLF_OK ? clf_handle_new(c, n) : clf_handle_oom(c);
    clf_ctx_unlock(c);
    return m;
}

clf_mat *clf_num(clf_ctx *c, double value) { return number_handle(c, clf_scalar_f64(value)); }
clf_mat *clf_int(clf_ctx *c, int64_t value) { return number_handle(c, clf_scalar_i64(value)); }

static clf_status leaf_args(const char *fn, clf_dtype t, int64_t rows, int64_t cols, const void *data, size_t *bytes, clf_err *err) {
    size_t cells;
    if (!clf_dtype_ok((int)t)) return clf_fail(err, CLF_E_TYPE, "%s: no element type %d", fn, (int)t);
    if (rows < 0 || cols < 0) return clf_fail(err, CLF_E_SHAPE, "%s: %" PRId64 "x%" PRId64 " has a negative extent", fn, rows, cols);
    if (!clf_mul_ok((size_t)rows, (size_t)cols, &cells) || !clf_mul_ok(cells, clf_dtype_bytes(t), bytes) || *bytes > PTRDIFF_MAX)
        return clf_fail(err, CLF_E_LIMIT, "%s: %" PRId64 "x%" PRId64 " has too many cells", fn, rows, cols);
    if (!data && *bytes) return clf_fail(err, CLF_E_ARG, "%s: data is NULL", fn);
    return CLF_OK;
}

/* Takes over one reference on buf (NULL: out of memory). */
static clf_mat *leaf_handle(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, clf_buf *buf) {
    clf_node *n = buf ? clf_leaf_node(c, t, false, rows, cols, buf) : NULL;
    clf_buf_unref(buf);
    return n ? clf_handle_new(c, n) : clf_handle_oom(c);
}

clf_mat *clf_matrix(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, const void *data) {
    if (!c) return NULL;
    clf_err err = {CLF_OK, ""};
    size_t bytes = 0;
    if (leaf_args("clf_matrix", t, rows, cols, data, &bytes, &err) != CLF_OK) return clf_handle_fail(c, &err);
    clf_ctx_lock(c);
    clf_buf *b = clf_buf_new(&c->mem, ++c->next_buf, bytes);
    if (b && bytes) memcpy(b->host, data, bytes);
    if (!b) clf_fail(&err, CLF_E_NOMEM, "clf_matrix: %zu bytes are not available", bytes);
    clf_mat *m = b ? leaf_handle(c, t, rows, cols, b) : clf_handle_error(c, &err);
    clf_ctx_unlock(c);
    return m;
}

clf_mat *clf_borrow(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, const void *data, clf_release_fn release, void *user) {
    if (!c) return NULL;
    clf_err err = {CLF_OK, ""};
    size_t bytes = 0;
    if (leaf_args("clf_borrow", t, rows, cols, data, &bytes, &err) != CLF_OK) return clf_handle_fail(c, &err);
    if ((uintptr_t)data % clf_dtype_bytes(t)) {
        clf_fail(&err, CLF_E_ARG, "clf_borrow: data is not aligned to its element size");
        return clf_handle_fail(c, &err);
    }
    clf_ctx_lock(c);
    clf_buf *b = clf_buf_borrow(&c->mem, ++c->next_buf, (void *)(uintptr_t)data, bytes, release, user);
    if (b && c->knobs.checksum) clf_buf_seal(b);
    clf_mat *m = leaf_handle(c, t, rows, cols, b);
    clf_ctx_unlock(c);
    return m;
}

/* The handle moves to a leaf of the next version, name included. */
static clf_status change_locked(clf_ctx *c, clf_mat *x, clf_err *err) {
    clf_node *n = x->node;
    CLF_TRY(clf_node_sticky(n, err));
    if (n->g.op != CLF_OP_LEAF || !n->value || !n->value->borrowed) return clf_fail(err, CLF_E_ARG, "clf_changed: not a borrowed leaf");
    clf_buf_change(n->value);
    if (clf_buf_is_csr(n->value)) CLF_TRY(clf_csr_buf_reload(c, n->value, err));
    clf_node *fresh = clf_leaf_like(c, &n->g, n->value);
    if (!fresh) return clf_fail(err, CLF_E_NOMEM, "clf_changed: out of memory");
    clf_status st = n->text ? clf_node_name(c, fresh, n->text, err) : CLF_OK;
    if (st == CLF_OK) x->node = fresh;
    clf_node_unref(&c->nodes, st == CLF_OK ? n : fresh);
    if (st == CLF_OK && c->knobs.checksum) clf_buf_seal(x->node->value);
    return st;
}

clf_status clf_changed(clf_mat *x) {
    if (!x || !x->ctx) return CLF_E_ARG;
    clf_ctx *c = x->ctx;
    clf_err err = {CLF_OK, ""};
    clf_ctx_lock(c);
    clf_status st = change_locked(c, x, &err);
    if (st != CLF_OK) clf_ctx_fail(c, &err);
    clf_ctx_unlock(c);
    return st;
}

clf_mat *clf_fill(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, double value) {
    if (!c) return NULL;
    clf_err err = {CLF_OK, ""};
    size_t bytes = 0;
    if (leaf_args("clf_fill", t, rows, cols, &err, &bytes, &err) != CLF_OK) return clf_handle_fail(c, &err);
    clf_ctx_lock(c);
    clf_node *v;
    bool good = number(c, clf_scalar_f64(value), &v) == CLF_OK;
    clf_mat *m = good ? record_source(c, CLF_OP_FILL, (int64_t[]){rows, cols, t}, v) : clf_handle_oom(c);
    if (good) clf_node_unref(&c->nodes, v);
    clf_ctx_unlock(c);
    return m;
}

/* Number of terms of a sequence, with a rounding allowance of 1e-10 steps as R and DML have it. */
static clf_status seq_terms(double from, double to, double *by, int64_t *n, clf_err *err) {
    if (*by == 0) *by = from <= to ? 1 : -1;
    double steps = (to - from) / *by;
    if (!isfinite(from) || !isfinite(to) || !isfinite(*by) || !(steps >= 0))
        return clf_fail(err, CLF_E_ARG, "seq(%.17g, %.17g, %.17g) does not end", from, to, *by);
    if (steps > 9e15) return clf_fail(err, CLF_E_LIMIT, "seq(%.17g, %.17g, %.17g) is too long", from, to, *by);
    *n = (int64_t)floor(steps + 1e-10) + 1;
    return CLF_OK;
}

clf_mat *clf_seq(clf_ctx *c, double from, double to, double by) {
    if (!c) return NULL;
    clf_err err = {CLF_OK, ""};
    int64_t n = 0;
    if (seq_terms(from, to, &by, &n, &err) != CLF_OK) return clf_handle_fail(c, &err);
    clf_ctx_lock(c);
    clf_mat *m = record_source(c, CLF_OP_SEQ, (int64_t[]){n, clf_attr_of(from), clf_attr_of(by)}, NULL);
    clf_ctx_unlock(c);
    return m;
}

clf_mat *clf_rand(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, double min, double max, double sparsity, uint64_t seed) {
    if (!c) return NULL;
    clf_err err = {CLF_OK, ""};
    if (!clf_dtype_float(t))
        clf_fail(&err, CLF_E_TYPE, "rand: %s is not a floating type", clf_dtype_name(t));
    else if (!isfinite(min) || !isfinite(max) || min > max)
        clf_fail(&err, CLF_E_ARG, "rand: min %.17g and max %.17g", min, max);
    else if (!(sparsity >= 0 && sparsity <= 1))
        clf_fail(&err, CLF_E_ARG, "rand: sparsity %.17g is not in [0, 1]", sparsity);
    if (err.code != CLF_OK) return clf_handle_fail(c, &err);
    clf_ctx_lock(c);
    clf_mat *m = record_source(c, CLF_OP_RAND,
                               (int64_t[]){rows, cols, t, clf_attr_of(min), clf_attr_of(max), clf_attr_of(sparsity), (int64_t)seed}, NULL);
    clf_ctx_unlock(c);
    return m;
}

/* A parameter that g describes. */
static clf_mat *param_handle(clf_ctx *c, const clf_gnode *g) {
    clf_node w;
    memset(&w, 0, sizeof w);
    memcpy(&w.g, g, sizeof *g);
    w.g.op = CLF_OP_PARAM;
    w.g.rank = g->scalar ? 0 : 2;
    w.g.in[0] = w.g.in[1] = w.g.in[2] = -1;
    clf_ctx_lock(c);
    clf_node *n = clf_node_fresh(&c->nodes, &w);
    clf_mat *m = n ? clf_handle_new(c, n) : clf_handle_oom(c);
    clf_ctx_unlock(c);
    return m;
}

clf_mat *clf_param(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, bool scalar) {
    if (!c) return NULL;
    clf_err err = {CLF_OK, ""};
    clf_gnode g;
    size_t bytes = 0;
    if (scalar) rows = cols = 1;
    if (leaf_args("clf_param", t, rows, cols, &err, &bytes, &err) != CLF_OK) return clf_handle_fail(c, &err);
    memset(&g, 0, sizeof g);
    g.dtype = (uint8_t)t;
    g.scalar = scalar;
    g.nnz = rows * cols;
    clf_gnode_shape(&g, rows, cols);
    return param_handle(c, &g);
}

clf_mat *clf_param_sparse(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, int64_t nnz) {
    if (!c) return NULL;
    clf_err err = {CLF_OK, ""};
    clf_gnode g;
    if (clf_sparse_args("clf_param_sparse", t, rows, cols, nnz, &err) != CLF_OK) return clf_handle_fail(c, &err);
    memset(&g, 0, sizeof g);
    g.dtype = (uint8_t)t;
    g.format = CLF_CSR;
    g.zeros = CLF_ZEROS_STRUCTURAL;
    g.nnz = nnz;
    clf_gnode_shape(&g, rows, cols);
    return param_handle(c, &g);
}
