/* SPDX-License-Identifier: Apache-2.0
 * Recording rules: from operator and inputs to the description of a node (type, shape, attributes), or the first error.
 * One function per structural operator, reached through a table. */
#include <inttypes.h>
#include <string.h>

#include "host/graph/facts.h"

static clf_status intern(clf_ctx *c, const clf_node *want, clf_node **out, clf_err *err) {
    clf_node *n = clf_node_get(&c->nodes, want);
    if (!n) return clf_fail(err, CLF_E_NOMEM, "%s: out of memory while recording", clf_ops[want->g.op].name);
    *out = n;
    return CLF_OK;
}

static void describe(clf_node *w, clf_op op, int n, clf_node *const *in) {
    memset(w, 0, sizeof *w);
    w->g.op = (uint16_t)op;
    w->g.nin = (uint8_t)n;
    for (int i = 0; i < n; i++) w->in[i] = in[i];
    for (int i = 0; i < 3; i++) w->g.in[i] = -1;
    clf_gnode_shape(&w->g, 1, 1);
}

static void shape(clf_node *w, int64_t rows, int64_t cols) {
    w->g.rank = 2;
    w->g.scalar = 0;
    clf_gnode_shape(&w->g, rows, cols);
}

/* Cells of any matrix must be countable, and addressable as f64. */
static clf_status size_ok(const clf_node *w, clf_err *err) {
    size_t cells, bytes;
    if (clf_mul_ok((size_t)clf_rows(&w->g), (size_t)clf_cols(&w->g), &cells) && clf_mul_ok(cells, 8, &bytes) && bytes <= INT64_MAX / 2)
        return CLF_OK;
    return clf_fail(err, CLF_E_LIMIT, "%s: %" PRId64 "x%" PRId64 " has too many cells", clf_ops[w->g.op].name, clf_rows(&w->g),
                    clf_cols(&w->g));
}

clf_status clf_record_cell(clf_ctx *c, clf_op op, bool outer, int n, clf_node *const *in, clf_node **out, clf_err *err) {
    clf_node w;
    const clf_gnode *g[3] = {NULL, NULL, NULL};
    clf_dtype t[3] = {CLF_F64, CLF_F64, CLF_F64};
    bool scalar[3] = {true, true, true}, all = true;
    describe(&w, op, n, in);
    for (int i = 0; i < n; i++) {
        g[i] = &in[i]->g;
        t[i] = (clf_dtype)g[i]->dtype;
        scalar[i] = g[i]->scalar;
        all = all && scalar[i];
    }
    CLF_TRY(clf_shape_cell(clf_ops[op].name, n, g, outer, w.g.dim, err));
    clf_dtype result;
    clf_dtype runs = clf_op_type(op, n, t, scalar, &result);
    w.g.dtype = (uint8_t)result;
    w.g.scalar = all;
    w.g.rank = all ? 0 : 2;
    CLF_TRY(size_ok(&w, err));
    clf_facts_cell(&w, runs);
    return intern(c, &w, out, err);
}

/* One rule per structural operator: fills type, shape and attributes of w. */
typedef clf_status rule(clf_node *w, const int64_t *attr, clf_err *err);

static clf_status rule_cast(clf_node *w, const int64_t *attr, clf_err *err) {
    (void)err;
    bool scalar = attr[1] != 0; /* [0] dtype [1] scalar wanted */
    const clf_gnode *x = &w->in[0]->g;
    if (scalar && !clf_gnode_single(x))
        return clf_fail(err, CLF_E_SHAPE, "as.scalar: %" PRId64 "x%" PRId64 " is not 1x1", clf_rows(x), clf_cols(x));
    shape(w, clf_rows(x), clf_cols(x));
    w->g.scalar = scalar;
    w->g.rank = scalar ? 0 : 2;
    w->g.dtype = (uint8_t)attr[0];
    return CLF_OK;
}

static clf_status rule_fold(clf_node *w, const int64_t *attr, clf_err *err) {
    (void)err;
    const clf_gnode *x = &w->in[0]->g;
    clf_fold_id f = (clf_fold_id)attr[0];
    int64_t rows = attr[1] == CLF_WAY_ROWS ? clf_rows(x) : 1, cols = attr[1] == CLF_WAY_COLS ? clf_cols(x) : 1;
    shape(w, rows, cols);
    w->g.scalar = attr[1] == CLF_WAY_ALL;
    w->g.rank = w->g.scalar ? 0 : 2;
    w->g.dtype = (uint8_t)clf_fold_result_type(f, clf_fold_value_type(f, (clf_dtype)x->dtype));
    w->g.attr[0] = attr[0];
    w->g.attr[1] = attr[1];
    return CLF_OK;
}

static clf_status rule_cum(clf_node *w, const int64_t *attr, clf_err *err) {
    clf_fold_id f = (clf_fold_id)attr[0];
    const clf_gnode *x = &w->in[0]->g;
    if (f != CLF_FOLD_SUM && f != CLF_FOLD_PROD && f != CLF_FOLD_MIN && f != CLF_FOLD_MAX)
        return clf_fail(err, CLF_E_ARG, "cum: %s does not cumulate", clf_folds[f].name);
    shape(w, clf_rows(x), clf_cols(x));
    w->g.dtype = (uint8_t)clf_fold_result_type(f, clf_fold_value_type(f, (clf_dtype)x->dtype));
    w->g.attr[0] = attr[0];
    return CLF_OK;
}

static clf_status rule_t(clf_node *w, const int64_t *attr, clf_err *err) {
    (void)attr, (void)err;
    const clf_gnode *x = &w->in[0]->g;
    shape(w, clf_cols(x), clf_rows(x));
    w->g.dtype = x->dtype;
    return CLF_OK;
}

static clf_status rule_matmul(clf_node *w, const int64_t *attr, clf_err *err) {
    (void)attr;
    const clf_gnode *a = &w->in[0]->g, *b = &w->in[1]->g;
    if (clf_cols(a) != clf_rows(b)) {
        const char *hint = clf_rows(a) == clf_rows(b)   ? "; did you mean t(A) %*% B?"
                           : clf_cols(a) == clf_cols(b) ? "; did you mean A %*% t(B)?"
                                                        : "";
        return clf_fail(err, CLF_E_SHAPE, "%%*%%: %" PRId64 "x%" PRId64 " and %" PRId64 "x%" PRId64 " do not fit%s", clf_rows(a),
                        clf_cols(a), clf_rows(b), clf_cols(b), hint);
    }
    shape(w, clf_rows(a), clf_cols(b));
    clf_dtype t = clf_dtype_promote((clf_dtype)a->dtype, (clf_dtype)b->dtype);
    w->g.dtype = (uint8_t)(clf_dtype_float(t) ? t : CLF_F64); /* products of integers run in f64, as functions on integers do */
    return CLF_OK;
}

static clf_status rule_index(clf_node *w, const int64_t *attr, clf_err *err) {
    const clf_gnode *x = &w->in[0]->g;
    int64_t r0 = attr[0], r1 = attr[1] ? attr[1] : clf_rows(x), c0 = attr[2], c1 = attr[3] ? attr[3] : clf_cols(x);
    if (r0 < 1 || r1 < r0 - 1 || r1 > clf_rows(x) || c0 < 1 || c1 < c0 - 1 || c1 > clf_cols(x))
        return clf_fail(err, CLF_E_SHAPE, "index [%" PRId64 ":%" PRId64 ", %" PRId64 ":%" PRId64 "] is outside %" PRId64 "x%" PRId64, r0,
                        r1, c0, c1, clf_rows(x), clf_cols(x));
    shape(w, r1 - r0 + 1, c1 - c0 + 1);
    w->g.dtype = x->dtype;
    w->g.attr[0] = r0 - 1;
    w->g.attr[1] = c0 - 1;
    return CLF_OK;
}

static clf_status rule_bind(clf_node *w, const int64_t *attr, clf_err *err) {
    (void)attr;
    const clf_gnode *a = &w->in[0]->g, *b = &w->in[1]->g;
    bool side = w->g.op == CLF_OP_CBIND;
    if (side ? clf_rows(a) != clf_rows(b) : clf_cols(a) != clf_cols(b))
        return clf_fail(err, CLF_E_SHAPE, "%s: %" PRId64 "x%" PRId64 " and %" PRId64 "x%" PRId64 " do not fit", clf_ops[w->g.op].name,
                        clf_rows(a), clf_cols(a), clf_rows(b), clf_cols(b));
    int64_t sum;
    if (__builtin_add_overflow(side ? clf_cols(a) : clf_rows(a), side ? clf_cols(b) : clf_rows(b), &sum))
        return clf_fail(err, CLF_E_LIMIT, "%s: too many cells", clf_ops[w->g.op].name);
    shape(w, side ? clf_rows(a) : sum, side ? sum : clf_cols(a));
    w->g.dtype = (uint8_t)clf_dtype_promote((clf_dtype)a->dtype, (clf_dtype)b->dtype);
    return CLF_OK;
}

static clf_status rule_diag(clf_node *w, const int64_t *attr, clf_err *err) {
    (void)attr;
    const clf_gnode *x = &w->in[0]->g;
    if (clf_cols(x) != 1 && clf_rows(x) != clf_cols(x))
        return clf_fail(err, CLF_E_SHAPE, "diag: %" PRId64 "x%" PRId64 " is neither a column nor square", clf_rows(x), clf_cols(x));
    w->g.attr[0] = clf_cols(x) == 1;
    shape(w, clf_rows(x), clf_cols(x) == 1 ? clf_rows(x) : 1);
    w->g.dtype = x->dtype;
    return CLF_OK;
}

static clf_status rule_reshape(clf_node *w, const int64_t *attr, clf_err *err) {
    const clf_gnode *x = &w->in[0]->g;
    size_t cells;
    if (attr[0] < 0 || attr[1] < 0 || !clf_mul_ok((size_t)attr[0], (size_t)attr[1], &cells) ||
        cells != (size_t)clf_rows(x) * (size_t)clf_cols(x))
        return clf_fail(err, CLF_E_SHAPE, "matrix: %" PRId64 "x%" PRId64 " cells cannot become %" PRId64 "x%" PRId64, clf_rows(x),
                        clf_cols(x), attr[0], attr[1]);
    shape(w, attr[0], attr[1]);
    w->g.dtype = x->dtype;
    return CLF_OK;
}

static clf_status rule_same(clf_node *w, const int64_t *attr, clf_err *err) {
    (void)attr, (void)err;
    const clf_gnode *x = &w->in[0]->g;
    shape(w, clf_rows(x), clf_cols(x));
    w->g.dtype = x->dtype;
    return CLF_OK;
}

static clf_status rule_order(clf_node *w, const int64_t *attr, clf_err *err) {
    const clf_gnode *x = &w->in[0]->g;
    if (attr[0] < 1 || attr[0] > clf_cols(x))
        return clf_fail(err, CLF_E_SHAPE, "order: column %" PRId64 " of %" PRId64, attr[0], clf_cols(x));
    shape(w, clf_rows(x), attr[2] ? 1 : clf_cols(x));
    w->g.dtype = attr[2] ? CLF_I64 : x->dtype;
    w->g.attr[0] = attr[0] - 1;
    w->g.attr[1] = attr[1];
    w->g.attr[2] = attr[2];
    return CLF_OK;
}

/* Sources: attr = rows, cols, dtype, then the operator's own. clf_fill looked at the extents. */
static clf_status rule_fill(clf_node *w, const int64_t *attr, clf_err *err) {
    (void)err;
    shape(w, attr[0], attr[1]);
    w->g.dtype = (uint8_t)attr[2];
    return CLF_OK;
}

static clf_status rule_seq(clf_node *w, const int64_t *attr, clf_err *err) {
    (void)err;
    shape(w, attr[0], 1);
    w->g.dtype = CLF_F64;
    w->g.attr[0] = attr[1];
    w->g.attr[1] = attr[2];
    return CLF_OK;
}

static clf_status rule_rand(clf_node *w, const int64_t *attr, clf_err *err) {
    if (attr[0] < 0 || attr[1] < 0) return clf_fail(err, CLF_E_SHAPE, "rand: negative extent");
    shape(w, attr[0], attr[1]);
    w->g.dtype = (uint8_t)attr[2];
    memcpy(w->g.attr, attr + 3, sizeof w->g.attr);
    return CLF_OK;
}

static rule *const rules[CLF_NALLOPS] = {
    [CLF_OP_CAST] = rule_cast,     [CLF_OP_FOLD] = rule_fold,   [CLF_OP_CUM] = rule_cum,     [CLF_OP_TRANSPOSE] = rule_t,
    [CLF_OP_MATMUL] = rule_matmul, [CLF_OP_INDEX] = rule_index, [CLF_OP_CBIND] = rule_bind,  [CLF_OP_RBIND] = rule_bind,
    [CLF_OP_DIAG] = rule_diag,     [CLF_OP_REV] = rule_same,    [CLF_OP_ORDER] = rule_order, [CLF_OP_RESHAPE] = rule_reshape,
    [CLF_OP_FILL] = rule_fill,     [CLF_OP_SEQ] = rule_seq,     [CLF_OP_RAND] = rule_rand,
};

clf_status clf_record_form(clf_ctx *c, clf_op op, const int64_t *attr, int n, clf_node *const *in, clf_node **out, clf_err *err) {
    static const int64_t none[8];
    clf_node w;
    describe(&w, op, n, in);
    if (!rules[op]) return clf_fail(err, CLF_E_INTERNAL, "%s is not recorded this way", clf_ops[op].name);
    CLF_TRY(rules[op](&w, attr ? attr : none, err));
    CLF_TRY(size_ok(&w, err));
    clf_facts_form(c, &w);
    return intern(c, &w, out, err);
}
