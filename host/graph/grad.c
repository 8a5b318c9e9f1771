/* SPDX-License-Identifier: Apache-2.0
 * clf_grad: derivatives by reverse accumulation (Griewank and Walther, Evaluating Derivatives, 2nd edition, SIAM 2008, section 3.2), as
 * recorded nodes: one sweep over the loss's graph, from the loss to what it is computed from, whatever the number of derivatives.
 * What evaluates them sees an ordinary program and fuses it with the loss. */
#include <inttypes.h>

#include "host/graph/grad.h"

static clf_status check_loss(const clf_mat *loss, clf_err *err) {
    const clf_gnode *g = &loss->node->g;
    CLF_TRY(clf_node_sticky(loss->node, err));
    if (!clf_gnode_single(g))
        return clf_fail(err, CLF_E_SHAPE, "grad: the loss is %" PRId64 "x%" PRId64 "; derivatives are of a scalar, as sum(...)",
                        clf_rows(g), clf_cols(g));
    if (!clf_dtype_float((clf_dtype)g->dtype))
        return clf_fail(err, CLF_E_TYPE, "grad: the loss is %s; derivatives are of f32 and f64", clf_dtype_name((clf_dtype)g->dtype));
    return CLF_OK;
}

static clf_status check_wrt(const clf_mat *loss, size_t i, const clf_mat *x, clf_err *err) {
    if (!x || x->ctx != loss->ctx) return clf_fail(err, CLF_E_ARG, "grad: variable %zu is missing or of another context", i + 1);
    CLF_TRY(clf_node_sticky(x->node, err));
    if (!clf_dtype_float((clf_dtype)x->node->g.dtype))
        return clf_fail(err, CLF_E_TYPE, "grad: variable %zu is %s; derivatives are by f32 and f64", i + 1,
                        clf_dtype_name((clf_dtype)x->node->g.dtype));
    if (x->node->g.op == CLF_OP_CONST)
        return clf_fail(err, CLF_E_ARG, "grad: variable %zu is a number, which is the same wherever it occurs; a 1x1 matrix would do",
                        i + 1);
    return CLF_OK;
}

/* A value has no history: what was evaluated depends on nothing. */
static clf_status check_history(const clf_mat *loss, size_t n, clf_mat *const *wrt, clf_err *err) {
    bool same = loss->node->g.op != CLF_OP_LEAF;
    for (size_t i = 0; i < n; i++) same = same || wrt[i]->node == loss->node;
    if (same) return CLF_OK;
    return clf_fail(err, CLF_E_STATE,
                    "grad: the loss is a value already; derivatives are taken of what is recorded, before it is evaluated");
}

static clf_status begin(clf_sweep *w, clf_mat *loss, size_t n, clf_mat *const *wrt, int32_t *place) {
    CLF_TRY(check_loss(loss, w->err));
    for (size_t i = 0; i < n; i++) CLF_TRY(check_wrt(loss, i, wrt[i], w->err));
    CLF_TRY(check_history(loss, n, wrt, w->err));
    return clf_grad_walk(w, loss->node, n, wrt, place);
}

/* From the loss down: when a node's turn comes, all it is used by have been. Only wanted adjoints are kept. */
static clf_status sweep(clf_sweep *w) {
    CLF_TRY(clf_grad_add(w, (int32_t)w->n - 1, clf_grad_temp(w, clf_num(w->c, 1))));
    for (size_t i = w->n; i-- > 0;) {
        clf_grad_node *n = &w->node[i];
        if (n->live) CLF_TRY(clf_grad_backward(w, (int32_t)i));
        clf_grad_drop_temps(w);
        for (int p = 0; p < CLF_PARTS && !n->wanted; p++) {
            clf_free(n->part[p]);
            n->part[p] = NULL;
        }
    }
    return CLF_OK;
}

/* A new handle of the derivative by x, of its shape and type. */
static clf_status result(clf_sweep *w, int32_t place, const clf_mat *x, clf_mat **out) {
    clf_gnode g = clf_grad_look(x);
    clf_dtype t = (clf_dtype)g.dtype;
    clf_mat *sum = place < 0 ? NULL : clf_grad_sum(w, &w->node[place], (1U << CLF_PARTS) - 1);
    if (!sum) sum = clf_grad_temp(w, clf_num(w->c, 0));
    if (!g.scalar) sum = clf_grad_spread(w, sum, t, clf_rows(&g), clf_cols(&g));
    *out = clf_grad_look(sum).dtype == t ? clf_grad_again(sum) : clf_cast(sum, t);
    clf_grad_drop_temps(w);
    const char *why = "";
    clf_status st = clf_status_of(*out, &why);
    return st == CLF_OK ? st : clf_fail(w->err, st, "grad: %s", why);
}

static clf_status differentiate(clf_sweep *w, clf_mat *loss, size_t n, clf_mat *const *wrt, int32_t *place, clf_mat **out) {
    clf_ctx_lock(w->c);
    clf_status st = begin(w, loss, n, wrt, place);
    clf_ctx_unlock(w->c);
    if (st == CLF_OK) st = sweep(w);
    for (size_t i = 0; i < n && st == CLF_OK; i++) st = result(w, place[i], wrt[i], &out[i]);
    return st;
}

/* All derivatives, or as many handles of the failure. */
static clf_status give_failure(clf_ctx *c, const clf_err *err, size_t n, clf_mat **out) {
    for (size_t i = 0; i < n; i++) {
        clf_free(out[i]);
        out[i] = clf_handle_fail(c, err);
    }
    return err->code;
}

clf_status clf_grad(clf_mat *loss, size_t n, clf_mat *const *wrt, clf_mat **out) {
    if (n == 0) return CLF_OK;
    if (!out) return CLF_E_ARG;
    for (size_t i = 0; i < n; i++) out[i] = NULL;
    if (!loss || !loss->ctx || !wrt) return CLF_E_ARG;
    clf_ctx *c = loss->ctx;
    clf_err err = {CLF_OK, ""};
    clf_sweep w = {.c = c, .err = &err};
    int32_t *place = clf_mem_new(&c->mem, n, sizeof *place);
    clf_status st = place ? differentiate(&w, loss, n, wrt, place, out) : clf_fail(&err, CLF_E_NOMEM, "grad: out of memory");
    clf_grad_release(&w);
    clf_mem_free(&c->mem, place, n, sizeof *place);
    return st == CLF_OK ? st : give_failure(c, &err, n, out);
}
