/* SPDX-License-Identifier: Apache-2.0
 * The recording half of the public API: each function checks its handles, records one node and gives a handle. Cell constructors
 * come from ops.def. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "host/graph/ctx.h"

/* The context behind a call's operands: the first handle that has one. */
static clf_ctx *ctx_of(int n, clf_mat *const *in) {
    for (int i = 0; i < n; i++)
        if (in[i] && in[i]->ctx) return in[i]->ctx;
    return NULL;
}

/* Operands of one call: all present, of one context, none an error. *sticky receives the first error operand. */
static clf_status operands(const char *op, int n, clf_mat *const *in, clf_node **node, clf_mat **sticky, clf_err *err) {
    *sticky = NULL;
    for (int i = 0; i < n; i++) {
        if (!in[i] || !in[i]->ctx) return clf_fail(err, CLF_E_ARG, "%s: operand %d is missing", op, i + 1);
        if (in[i]->ctx != in[0]->ctx) return clf_fail(err, CLF_E_ARG, "%s: operands belong to different contexts", op);
        if (in[i]->node->g.op == CLF_OP_ERROR) {
            *sticky = in[i];
            return in[i]->node->status;
        }
        node[i] = in[i]->node;
    }
    return CLF_OK;
}

/* What to record: a cell operator (attr unused) or a structural one. */
typedef struct request {
    clf_op op;
    bool outer;
    const int64_t *attr;
} request;

static clf_mat *record(request r, int n, clf_mat *const *in) {
    clf_ctx *c = ctx_of(n, in);
    if (!c) return NULL;
    clf_ctx_lock(c);
    clf_err err = {CLF_OK, ""};
    clf_node *node[3], *out = NULL;
    clf_mat *sticky, *result;
    clf_status st = operands(clf_ops[r.op].name, n, in, node, &sticky, &err);
    if (st == CLF_OK)
        st = clf_op_is_cell(r.op) ? clf_record_cell(c, r.op, r.outer, n, node, &out, &err) : clf_record_form(c, r.op, r.attr, n, node, &out, &err);
    if (st == CLF_OK) result = clf_handle_new(c, out);
    else if (sticky) result = sticky == &c->oom ? &c->oom : clf_handle_new(c, clf_node_ref(sticky->node));
    else result = clf_handle_error(c, &err);
    clf_ctx_unlock(c);
    return result;
}

clf_mat *clf_apply(clf_op_code op, clf_mat *a, clf_mat *b, clf_mat *x) {
    clf_mat *in[3] = {a, b, x};
    if ((int)op < 0 || (int)op >= CLF_NOPS) {
        clf_err err = {CLF_OK, ""};
        clf_fail(&err, CLF_E_ARG, "clf_apply: no operator %d", (int)op);
        return ctx_of(3, in) ? clf_handle_error(ctx_of(3, in), &err) : NULL;
    }
    return record((request){(clf_op)op, false, NULL}, clf_ops[op].arity, in);
}

#define IN1 clf_mat *a
#define IN2 clf_mat *a, clf_mat *b
#define IN3 clf_mat *a, clf_mat *b, clf_mat *c
#define USE1 a, NULL, NULL
#define USE2 a, b, NULL
#define USE3 a, b, c
#define JOIN_(x, y) x##y
#define JOIN(x, y) JOIN_(x, y)
#define DEFINE(fn, ID, arity) \
    clf_mat *fn(JOIN(IN, arity)) { return clf_apply((clf_op_code)CLF_OP_##ID, JOIN(USE, arity)); }
#include "constructors.inc" /* generated: one DEFINE(clf_add, ADD, 2) a row */

/* A broadcasting column and row; a column given for v is transposed on the way. */
clf_mat *clf_outer(clf_op_code op, clf_mat *u, clf_mat *v) {
    clf_mat *in[2] = {u, v};
    if (!ctx_of(2, in)) return NULL;
    if (!v || !v->ctx || !u || !u->ctx || (int)op < 0 || (int)op >= CLF_NOPS || clf_ops[op].arity != 2) {
        clf_err err = {CLF_OK, ""};
        clf_fail(&err, CLF_E_ARG, "outer: needs two handles and a binary operator");
        return clf_handle_error(ctx_of(2, in), &err);
    }
    bool turn = v->node->g.op != CLF_OP_ERROR && clf_rows(&v->node->g) != 1 && clf_cols(&v->node->g) == 1;
    in[1] = turn ? clf_t(v) : v;
    clf_mat *r = record((request){(clf_op)op, true, NULL}, 2, in);
    if (turn) clf_free(in[1]);
    return r;
}

static clf_mat *form1(clf_op op, clf_mat *x, const int64_t *attr) { return record((request){op, false, attr}, 1, &x); }

clf_mat *clf_cast(clf_mat *x, clf_dtype t) {
    if (!x || !x->ctx) return NULL;
    if (!clf_dtype_ok((int)t)) {
        clf_err err = {CLF_OK, ""};
        clf_fail(&err, CLF_E_TYPE, "cast: no element type %d", (int)t);
        return clf_handle_error(x->ctx, &err);
    }
    return form1(CLF_OP_CAST, x, (int64_t[]){t, x->node->g.scalar});
}

/* Both operands in one type first: that of the result. */
static clf_mat *form2(clf_op op, clf_mat *a, clf_mat *b) {
    bool good = a && b && a->ctx && b->ctx && a->node->g.op != CLF_OP_ERROR && b->node->g.op != CLF_OP_ERROR;
    if (!good) return record((request){op, false, NULL}, 2, (clf_mat *[]){a, b});
    clf_dtype have[2] = {(clf_dtype)a->node->g.dtype, (clf_dtype)b->node->g.dtype}, t = clf_dtype_promote(have[0], have[1]);
    if (op == CLF_OP_MATMUL && !clf_dtype_float(t)) t = CLF_F64; /* products of integers run in f64, as functions on integers do */
    clf_mat *in[2] = {have[0] == t ? a : clf_cast(a, t), have[1] == t ? b : clf_cast(b, t)};
    clf_mat *r = record((request){op, false, NULL}, 2, in);
    if (in[0] != a) clf_free(in[0]);
    if (in[1] != b) clf_free(in[1]);
    return r;
}

clf_mat *clf_as_scalar(clf_mat *x) { return x && x->ctx ? form1(CLF_OP_CAST, x, (int64_t[]){x->node->g.dtype, 1}) : NULL; }
clf_mat *clf_as_matrix(clf_mat *x) { return x && x->ctx ? form1(CLF_OP_CAST, x, (int64_t[]){x->node->g.dtype, 0}) : NULL; }
clf_mat *clf_t(clf_mat *x) { return form1(CLF_OP_TRANSPOSE, x, NULL); }
clf_mat *clf_matmul(clf_mat *a, clf_mat *b) { return form2(CLF_OP_MATMUL, a, b); }
clf_mat *clf_cbind(clf_mat *a, clf_mat *b) { return form2(CLF_OP_CBIND, a, b); }
clf_mat *clf_rbind(clf_mat *a, clf_mat *b) { return form2(CLF_OP_RBIND, a, b); }
clf_mat *clf_diag(clf_mat *x) { return form1(CLF_OP_DIAG, x, NULL); }
clf_mat *clf_rev(clf_mat *x) { return form1(CLF_OP_REV, x, NULL); }

clf_mat *clf_fold(clf_fold_code f, clf_dir dir, clf_mat *x) {
    if (!x || !x->ctx) return NULL;
    if ((int)f < 0 || (int)f >= CLF_NFOLDS || (int)dir < 0 || (int)dir > CLF_COLS) {
        clf_err err = {CLF_OK, ""};
        clf_fail(&err, CLF_E_ARG, "clf_fold: no fold %d or direction %d", (int)f, (int)dir);
        return clf_handle_error(x->ctx, &err);
    }
    return form1(CLF_OP_FOLD, x, (int64_t[]){f, dir});
}
clf_mat *clf_sum(clf_mat *x) { return clf_fold(CLF_FOLD_CODE_SUM, CLF_ALL, x); }
clf_mat *clf_mean(clf_mat *x) { return clf_fold(CLF_FOLD_CODE_MEAN, CLF_ALL, x); }
clf_mat *clf_row_sums(clf_mat *x) { return clf_fold(CLF_FOLD_CODE_SUM, CLF_ROWS, x); }
clf_mat *clf_col_sums(clf_mat *x) { return clf_fold(CLF_FOLD_CODE_SUM, CLF_COLS, x); }

clf_mat *clf_cum(clf_fold_code f, clf_mat *x) { return form1(CLF_OP_CUM, x, (int64_t[]){(int)f >= 0 && (int)f < CLF_NFOLDS ? (int64_t)f : CLF_FOLD_VAR}); }
clf_mat *clf_index(clf_mat *x, int64_t r0, int64_t r1, int64_t c0, int64_t c1) { return form1(CLF_OP_INDEX, x, (int64_t[]){r0, r1, c0, c1}); }
clf_mat *clf_reshape(clf_mat *x, int64_t rows, int64_t cols) { return form1(CLF_OP_RESHAPE, x, (int64_t[]){rows, cols}); }
clf_mat *clf_order(clf_mat *x, int64_t by, bool decreasing, bool index) { return form1(CLF_OP_ORDER, x, (int64_t[]){by, decreasing, index}); }

/* ---- sources: no operands, the context is given ---- */

static clf_mat *fail_handle(clf_ctx *c, const clf_err *err) {
    clf_ctx_lock(c);
    clf_mat *m = clf_handle_error(c, err);
    clf_ctx_unlock(c);
    return m;
}

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
    w.g.dim[0] = w.g.dim[1] = (clf_dim){1, -1};
    w.num = s;
    *out = clf_node_get(&c->nodes, &w);
    return *out ? CLF_OK : CLF_E_NOMEM;
}

static clf_mat *number_handle(clf_ctx *c, clf_scalar s) {
    if (!c) return NULL;
    clf_ctx_lock(c);
    clf_node *n;
    clf_mat *m = number(c, s, &n) == CLF_OK ? clf_handle_new(c, n) : &c->oom;
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
    return n ? clf_handle_new(c, n) : &c->oom;
}

clf_mat *clf_matrix(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, const void *data) {
    if (!c) return NULL;
    clf_err err = {CLF_OK, ""};
    size_t bytes = 0;
    if (leaf_args("clf_matrix", t, rows, cols, data, &bytes, &err) != CLF_OK) return fail_handle(c, &err);
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
    if (leaf_args("clf_borrow", t, rows, cols, data, &bytes, &err) != CLF_OK) return fail_handle(c, &err);
    if ((uintptr_t)data % clf_dtype_bytes(t)) {
        clf_fail(&err, CLF_E_ARG, "clf_borrow: data is not aligned to its element size");
        return fail_handle(c, &err);
    }
    clf_ctx_lock(c);
    clf_buf *b = clf_buf_borrow(&c->mem, ++c->next_buf, (void *)(uintptr_t)data, bytes, release, user);
    clf_mat *m = leaf_handle(c, t, rows, cols, b);
    clf_ctx_unlock(c);
    return m;
}

clf_status clf_changed(clf_mat *x) {
    if (!x || !x->ctx) return CLF_E_ARG;
    clf_ctx *c = x->ctx;
    clf_ctx_lock(c);
    clf_err err = {CLF_OK, ""};
    clf_node *n = x->node, *fresh = NULL;
    if (n->g.op != CLF_OP_LEAF || !n->value || !n->value->borrowed) clf_fail(&err, CLF_E_ARG, "clf_changed: not a borrowed leaf");
    else {
        atomic_fetch_add(&n->value->version, 1);
        fresh = clf_leaf_node(c, (clf_dtype)n->g.dtype, n->g.scalar, clf_rows(&n->g), clf_cols(&n->g), n->value);
        if (!fresh) clf_fail(&err, CLF_E_NOMEM, "clf_changed: out of memory");
    }
    if (fresh) {
        clf_node_unref(&c->nodes, n);
        x->node = fresh;
    }
    clf_status st = err.code == CLF_OK ? CLF_OK : clf_ctx_fail(c, &err);
    clf_ctx_unlock(c);
    return st;
}

clf_mat *clf_fill(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, double value) {
    if (!c) return NULL;
    clf_err err = {CLF_OK, ""};
    size_t bytes = 0;
    if (leaf_args("clf_fill", t, rows, cols, &err, &bytes, &err) != CLF_OK) return fail_handle(c, &err);
    clf_ctx_lock(c);
    clf_node *v;
    clf_mat *m = &c->oom;
    if (number(c, clf_scalar_f64(value), &v) == CLF_OK) {
        m = record_source(c, CLF_OP_FILL, (int64_t[]){rows, cols, t}, v);
        clf_node_unref(&c->nodes, v);
    }
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
    if (seq_terms(from, to, &by, &n, &err) != CLF_OK) return fail_handle(c, &err);
    clf_ctx_lock(c);
    clf_mat *m = record_source(c, CLF_OP_SEQ, (int64_t[]){n, clf_attr_of(from), clf_attr_of(by)}, NULL);
    clf_ctx_unlock(c);
    return m;
}

clf_mat *clf_rand(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, double min, double max, double sparsity, uint64_t seed) {
    if (!c) return NULL;
    clf_err err = {CLF_OK, ""};
    if (!clf_dtype_float(t)) clf_fail(&err, CLF_E_TYPE, "rand: %s is not a floating type", clf_dtype_name(t));
    else if (!isfinite(min) || !isfinite(max) || min > max) clf_fail(&err, CLF_E_ARG, "rand: min %.17g and max %.17g", min, max);
    else if (!(sparsity >= 0 && sparsity <= 1)) clf_fail(&err, CLF_E_ARG, "rand: sparsity %.17g is not in [0, 1]", sparsity);
    if (err.code != CLF_OK) return fail_handle(c, &err);
    clf_ctx_lock(c);
    clf_mat *m = record_source(c, CLF_OP_RAND, (int64_t[]){rows, cols, t, clf_attr_of(min), clf_attr_of(max), clf_attr_of(sparsity), (int64_t)seed}, NULL);
    clf_ctx_unlock(c);
    return m;
}

clf_mat *clf_param(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, bool scalar) {
    if (!c) return NULL;
    clf_err err = {CLF_OK, ""};
    size_t bytes = 0;
    if (scalar) rows = cols = 1;
    if (leaf_args("clf_param", t, rows, cols, &err, &bytes, &err) != CLF_OK) return fail_handle(c, &err);
    clf_node w;
    memset(&w, 0, sizeof w);
    w.g.op = CLF_OP_PARAM;
    w.g.dtype = (uint8_t)t;
    w.g.scalar = scalar;
    w.g.rank = scalar ? 0 : 2;
    w.g.in[0] = w.g.in[1] = w.g.in[2] = -1;
    w.g.dim[0] = (clf_dim){rows, -1};
    w.g.dim[1] = (clf_dim){cols, -1};
    clf_ctx_lock(c);
    clf_node *n = clf_node_fresh(&c->nodes, &w);
    clf_mat *m = n ? clf_handle_new(c, n) : &c->oom;
    clf_ctx_unlock(c);
    return m;
}
