/* SPDX-License-Identifier: Apache-2.0
 * The recording half of the public API: each function checks its handles, records one node and gives a handle. Cell constructors
 * come from ops.def. */
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
        st = clf_op_is_cell(r.op) ? clf_record_cell(c, r.op, r.outer, n, node, &out, &err)
                                  : clf_record_form(c, r.op, r.attr, n, node, &out, &err);
    if (st == CLF_OK)
        result = clf_handle_new(c, out);
    else if (sticky)
        result = sticky == &c->oom ? &c->oom : clf_handle_new(c, clf_node_ref(sticky->node));
    else
        result = clf_handle_error(c, &err);
    clf_ctx_unlock(c);
    return result;
}

/* What a handle stands for now: another thread may be evaluating it. */
static clf_gnode look(const clf_mat *m) {
    clf_ctx_lock(m->ctx);
    clf_gnode g = m->node->g;
    clf_ctx_unlock(m->ctx);
    return g;
}

clf_mat *clf_apply(clf_op_code op, clf_mat *a, clf_mat *b, clf_mat *x) {
    clf_mat *in[3] = {a, b, x};
    if ((int)op < 0 || (int)op >= CLF_NOPS) {
        clf_err err = {CLF_OK, ""};
        clf_fail(&err, CLF_E_ARG, "clf_apply: no operator %d", (int)op);
        return ctx_of(3, in) ? clf_handle_fail(ctx_of(3, in), &err) : NULL;
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
        return clf_handle_fail(ctx_of(2, in), &err);
    }
    clf_gnode g = look(v);
    bool turn = g.op != CLF_OP_ERROR && clf_rows(&g) != 1 && clf_cols(&g) == 1;
    in[1] = turn ? clf_t(v) : v;
    clf_mat *r = record((request){(clf_op)op, true, NULL}, 2, in);
    if (turn) clf_free(in[1]);
    return r;
}

static clf_mat *form1(clf_op op, clf_mat *x, const int64_t *attr) { return record((request){op, false, attr}, 1, &x); }

/* Another handle of the same value. */
static clf_mat *again(clf_mat *x) {
    clf_ctx_lock(x->ctx);
    clf_mat *r = clf_handle_new(x->ctx, clf_node_ref(x->node));
    clf_ctx_unlock(x->ctx);
    return r;
}

/* A leaf that is so already is no new value: evaluated, it would be a copy, for a result is no window on the caller's memory. Of what is
 * yet to be computed the planner takes such casts out. */
static clf_mat *cast(clf_mat *x, clf_dtype t, bool scalar) {
    clf_gnode g = look(x);
    bool so = g.op == CLF_OP_LEAF && g.dtype == t && (g.scalar != 0) == scalar;
    return so ? again(x) : form1(CLF_OP_CAST, x, (int64_t[]){t, scalar});
}

clf_mat *clf_cast(clf_mat *x, clf_dtype t) {
    if (!x || !x->ctx) return NULL;
    if (!clf_dtype_ok((int)t)) {
        clf_err err = {CLF_OK, ""};
        clf_fail(&err, CLF_E_TYPE, "cast: no element type %d", (int)t);
        return clf_handle_fail(x->ctx, &err);
    }
    return cast(x, t, look(x).scalar);
}

/* Both operands in one type first: that of the result. */
static clf_mat *form2(clf_op op, clf_mat *a, clf_mat *b) {
    if (!a || !b || !a->ctx || !b->ctx) return record((request){op, false, NULL}, 2, (clf_mat *[]){a, b});
    clf_gnode ga = look(a), gb = look(b);
    if (ga.op == CLF_OP_ERROR || gb.op == CLF_OP_ERROR) return record((request){op, false, NULL}, 2, (clf_mat *[]){a, b});
    clf_dtype have[2] = {(clf_dtype)ga.dtype, (clf_dtype)gb.dtype}, t = clf_dtype_promote(have[0], have[1]);
    if (op == CLF_OP_MATMUL && !clf_dtype_float(t)) t = CLF_F64; /* products of integers run in f64, as functions on integers do */
    clf_mat *in[2] = {have[0] == t ? a : clf_cast(a, t), have[1] == t ? b : clf_cast(b, t)};
    clf_mat *r = record((request){op, false, NULL}, 2, in);
    if (in[0] != a) clf_free(in[0]);
    if (in[1] != b) clf_free(in[1]);
    return r;
}

clf_mat *clf_as_scalar(clf_mat *x) { return x && x->ctx ? cast(x, (clf_dtype)look(x).dtype, true) : NULL; }
clf_mat *clf_as_matrix(clf_mat *x) { return x && x->ctx ? cast(x, (clf_dtype)look(x).dtype, false) : NULL; }
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
        return clf_handle_fail(x->ctx, &err);
    }
    return form1(CLF_OP_FOLD, x, (int64_t[]){f, dir});
}
clf_mat *clf_sum(clf_mat *x) { return clf_fold(CLF_FOLD_CODE_SUM, CLF_ALL, x); }
clf_mat *clf_mean(clf_mat *x) { return clf_fold(CLF_FOLD_CODE_MEAN, CLF_ALL, x); }
clf_mat *clf_row_sums(clf_mat *x) { return clf_fold(CLF_FOLD_CODE_SUM, CLF_ROWS, x); }
clf_mat *clf_col_sums(clf_mat *x) { return clf_fold(CLF_FOLD_CODE_SUM, CLF_COLS, x); }

/* The step runs in one type: that of its result. */
clf_mat *clf_cum(clf_fold_code f, clf_mat *x) {
    if (!x || !x->ctx) return NULL;
    if ((int)f < 0 || (int)f >= CLF_NFOLDS) {
        clf_err err = {CLF_OK, ""};
        clf_fail(&err, CLF_E_ARG, "clf_cum: no fold %d", (int)f);
        return clf_handle_fail(x->ctx, &err);
    }
    clf_dtype have = (clf_dtype)look(x).dtype, t = clf_fold_value_type((clf_fold_id)f, have);
    clf_mat *in = have == t ? x : clf_cast(x, t), *r = form1(CLF_OP_CUM, in, (int64_t[]){f});
    if (in != x) clf_free(in);
    return r;
}
clf_mat *clf_index(clf_mat *x, int64_t r0, int64_t r1, int64_t c0, int64_t c1) {
    return form1(CLF_OP_INDEX, x, (int64_t[]){r0, r1, c0, c1});
}
clf_mat *clf_reshape(clf_mat *x, int64_t rows, int64_t cols) { return form1(CLF_OP_RESHAPE, x, (int64_t[]){rows, cols}); }
clf_mat *clf_order(clf_mat *x, int64_t by, bool decreasing, bool index) {
    return form1(CLF_OP_ORDER, x, (int64_t[]){by, decreasing, index});
}
