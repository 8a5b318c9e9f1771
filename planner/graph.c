/* SPDX-License-Identifier: Apache-2.0
 * The planning graph: printer, checker, key, and the one broadcasting rule. */
#include "planner/graph.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

double clf_attr_f64(int64_t a) {
    double x;
    memcpy(&x, &a, sizeof x);
    return x;
}

int64_t clf_attr_of(double x) {
    int64_t a;
    memcpy(&a, &x, sizeof a);
    return a;
}

clf_number clf_number_of(double x) {
    if (!isfinite(x)) return CLF_NUMBER_NO_NUMBER;
    if (x == 0) return signbit(x) ? CLF_NUMBER_MINUS_ZERO : CLF_NUMBER_ZERO;
    return x == 1 ? CLF_NUMBER_ONE : x == 2 ? CLF_NUMBER_TWO : x == -1 ? CLF_NUMBER_MINUS_ONE : CLF_NUMBER_FINITE;
}

void clf_graph_print(const clf_graph *g, clf_str *out) {
    for (int32_t i = 0; i < g->n; i++) {
        const clf_gnode *n = &g->node[i];
        clf_str_fmt(out, "%%%d = %s %s", i, clf_ops[n->op].id, clf_dtype_name((clf_dtype)n->dtype));
        if (n->scalar)
            clf_str_put(out, " scalar");
        else
            clf_str_fmt(out, " %" PRId64 "x%" PRId64, clf_rows(n), clf_cols(n));
        if (n->op == CLF_OP_FOLD || n->op == CLF_OP_CUM) {
            static const char *const way[] = {"all", "rows", "cols"};
            clf_str_fmt(out, " %s", clf_folds[n->attr[0]].name);
            if (n->op == CLF_OP_FOLD || n->attr[1] == CLF_WAY_ROWS) clf_str_fmt(out, " %s", way[n->attr[1]]);
        } else if (n->op == CLF_OP_INDEX)
            clf_str_fmt(out, " [%" PRId64 ", %" PRId64 "]", n->attr[0], n->attr[1]);
        else if (n->nin == 0 && n->op != CLF_OP_SEQ && n->op != CLF_OP_RAND)
            clf_str_fmt(out, " slot %" PRId64, n->attr[0]);
        for (int k = 0; k < n->nin; k++) clf_str_fmt(out, "%s%%%d", k ? " " : " (", n->in[k]);
        clf_str_put(out, n->nin ? ")\n" : "\n");
    }
    clf_str_put(out, "roots");
    for (int32_t r = 0; r < g->nroot; r++) clf_str_fmt(out, " %%%d", g->root[r]);
    clf_str_put(out, "\n");
}

static clf_status check_node(const clf_graph *g, int32_t i, clf_err *err) {
    const clf_gnode *n = &g->node[i];
    if (n->op >= CLF_NALLOPS || n->op == CLF_OP_ERROR || !clf_dtype_ok(n->dtype))
        return clf_fail(err, CLF_E_INTERNAL, "graph node %d: operator or type out of range", i);
    if (clf_op_is_cell(n->op) && n->nin != clf_ops[n->op].arity)
        return clf_fail(err, CLF_E_INTERNAL, "graph node %d: %s with %d inputs", i, clf_ops[n->op].id, n->nin);
    for (int k = 0; k < n->nin; k++)
        if (n->in[k] < 0 || n->in[k] >= i) return clf_fail(err, CLF_E_INTERNAL, "graph node %d: input %d is not earlier", i, n->in[k]);
    if (clf_rows(n) < 0 || clf_cols(n) < 0) return clf_fail(err, CLF_E_INTERNAL, "graph node %d: negative extent", i);
    return CLF_OK;
}

clf_status clf_graph_check(const clf_graph *g, clf_err *err) {
    for (int32_t i = 0; i < g->n; i++) CLF_TRY(check_node(g, i, err));
    for (int32_t r = 0; r < g->nroot; r++)
        if (g->root[r] < 0 || g->root[r] >= g->n) return clf_fail(err, CLF_E_INTERNAL, "graph root %d out of range", r);
    return CLF_OK;
}

/* Quarter octaves: 2^(1/4), 2^(1/2), 2^(3/4) as doubles, so that equal numbers fall into equal classes everywhere. */
int64_t clf_nnz_class(int64_t nnz, double cells) {
    static const double quarter[] = {1.189207115002721, 1.4142135623730951, 1.681792830507429};
    if (nnz <= 0 || (double)nnz >= cells) return nnz <= 0 ? 0 : -1;
    int octave;
    double m = 2 * frexp((double)nnz, &octave);
    int part = 0;
    while (part < 3 && m > quarter[part]) part++;
    return 1 + 4 * (int64_t)octave + part;
}

static void node_key(const clf_gnode *n, clf_str *key) {
    clf_gnode k;
    memcpy(&k, n, sizeof k); /* clf_gnode is zeroed before it is filled, padding included, so its bytes are its value */
    k.nnz = clf_nnz_class(n->nnz, (double)clf_rows(n) * (double)clf_cols(n));
    clf_str_putn(key, (const char *)&k, sizeof k);
}

void clf_graph_key(const clf_graph *g, clf_str *key) {
    clf_str_room(key, (size_t)g->n * sizeof *g->node + (size_t)g->nroot * sizeof *g->root + 2 * sizeof(int32_t));
    clf_str_putn(key, (const char *)&g->n, sizeof g->n);
    clf_str_putn(key, (const char *)&g->nroot, sizeof g->nroot);
    for (int32_t i = 0; i < g->n; i++) node_key(&g->node[i], key);
    clf_str_putn(key, (const char *)g->root, (size_t)g->nroot * sizeof *g->root);
}

static bool fits(int64_t have, int64_t want) { return have == want || have == 1; }

static clf_status mismatch(const char *op, const clf_gnode *a, const clf_gnode *b, clf_err *err) {
    const char *hint = "";
    if (clf_rows(a) == clf_cols(b) && clf_cols(a) == clf_rows(b))
        hint = "; did you mean t() of one of them?";
    else if (clf_cols(a) == 1 && clf_rows(b) == 1)
        hint = "; a column with a row needs outer(u, v, op)";
    else if (clf_rows(a) == 1 && clf_cols(b) == 1)
        hint = "; a column with a row needs outer(u, v, op)";
    return clf_fail(err, CLF_E_SHAPE, "%s: shapes %" PRId64 "x%" PRId64 " and %" PRId64 "x%" PRId64 " do not fit%s", op, clf_rows(a),
                    clf_cols(a), clf_rows(b), clf_cols(b), hint);
}

/* The result's shape is that of the operand every other one broadcasts to; only outer makes a shape no operand has. */
clf_status clf_shape_cell(const char *op, int n, const clf_gnode *const *in, bool outer, clf_dim out[2], clf_err *err) {
    const clf_gnode *big = in[0];
    for (int k = 1; k < n; k++) {
        bool grows = fits(clf_rows(big), clf_rows(in[k])) && fits(clf_cols(big), clf_cols(in[k]));
        if (grows) big = in[k];
    }
    if (outer && n == 2 && clf_cols(in[0]) == 1 && clf_rows(in[1]) == 1) {
        out[0] = in[0]->dim[0];
        out[1] = in[1]->dim[1];
        return CLF_OK;
    }
    for (int k = 0; k < n; k++)
        if (!fits(clf_rows(in[k]), clf_rows(big)) || !fits(clf_cols(in[k]), clf_cols(big))) return mismatch(op, in[0], in[k ? k : 1], err);
    out[0] = big->dim[0];
    out[1] = big->dim[1];
    return CLF_OK;
}
