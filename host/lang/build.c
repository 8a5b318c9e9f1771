/* SPDX-License-Identifier: Apache-2.0
 * What functions of cells, aggregates and joins record. Each builder sets out->mat to a handle of its own (possibly a sticky error,
 * which the caller reports); derived functions compose primitives, so the planner sees nothing new. */
#include "host/lang/lang.h"

#include <string.h>

/* r is a new handle; the operand it was made from goes. */
static clf_mat *then(clf_mat *r, clf_mat *operand) {
    clf_free(operand);
    return r;
}

clf_status clf_lang_cell(const clf_lang_call *k, clf_term *out) {
    clf_term in[3];
    for (int i = 0; i < k->n; i++) in[i] = *k->arg[i];
    out->mat = clf_lang_apply(k->l, k->fn->code, k->n, in);
    out->known = clf_lang_known(k->fn->code, k->n, in, &out->num);
    return CLF_OK;
}

clf_status clf_lang_fold(const clf_lang_call *k, clf_term *out) {
    out->mat = clf_fold((clf_fold_code)k->fn->code, (clf_dir)k->fn->dir, k->list[0].mat);
    return CLF_OK;
}

clf_status clf_lang_cum(const clf_lang_call *k, clf_term *out) {
    out->mat = clf_cum((clf_fold_code)k->fn->code, k->list[0].mat);
    return CLF_OK;
}

clf_status clf_lang_sd(const clf_lang_call *k, clf_term *out) {
    clf_mat *var = clf_fold(CLF_FOLD_CODE_VAR, CLF_ALL, k->list[0].mat);
    out->mat = then(clf_sqrt(var), var);
    return CLF_OK;
}

/* min(X) aggregates, min(X, Y, ...) is cell-wise. */
clf_status clf_lang_extreme(const clf_lang_call *k, clf_term *out) {
    if (k->n == 1) {
        out->mat = clf_fold((clf_fold_code)k->fn->dir, CLF_ALL, k->list[0].mat);
        return CLF_OK;
    }
    out->mat = clf_lang_apply(k->l, k->fn->code, 2, k->list);
    for (int i = 2; i < k->n; i++) {
        clf_term pair[2] = {{.mat = out->mat}, k->list[i]};
        out->mat = then(clf_lang_apply(k->l, k->fn->code, 2, pair), out->mat);
    }
    out->known = clf_lang_known(k->fn->code, k->n, k->list, &out->num);
    return CLF_OK;
}

/* Bases 2 and 10 have functions that are exact at their powers; the quotient of two logarithms is not. */
clf_status clf_lang_log(const clf_lang_call *k, clf_term *out) {
    const clf_term *base = k->arg[1];
    clf_mat *x = k->arg[0]->mat;
    if (!base)
        out->mat = clf_log(x);
    else if (base->known && base->num == 2)
        out->mat = clf_log2(x);
    else if (base->known && base->num == 10)
        out->mat = clf_log10(x);
    else
        out->mat = clf_logb(x, base->mat);
    return CLF_OK;
}

clf_status clf_lang_one(const clf_lang_call *k, clf_term *out) {
    out->mat = k->fn->one(k->list[0].mat);
    return CLF_OK;
}

/* Neighbours are joined pairwise, level by level (an odd one joins the last pair), so that many operands are copied log2(n) times
 * and not n/2 times. */
static void join_level(const clf_lang_call *k, clf_mat **part, size_t n, bool inputs) {
    for (size_t i = 0; i < n / 2; i++) {
        clf_mat *a = part[2 * i], *b = part[2 * i + 1];
        part[i] = k->fn->two(a, b);
        if (!inputs) clf_free(a);
        if (!inputs) clf_free(b);
    }
    if (n % 2 == 0) return;
    clf_mat *last = part[n - 1];
    part[n / 2 - 1] = then(k->fn->two(part[n / 2 - 1], last), part[n / 2 - 1]);
    if (!inputs) clf_free(last);
}

clf_status clf_lang_chain(const clf_lang_call *k, clf_term *out) {
    size_t cap = (size_t)k->n;
    if (cap == 1) {
        out->mat = clf_as_matrix(k->list[0].mat);
        return CLF_OK;
    }
    clf_mat **part = clf_mem_new(k->l->mem, cap, sizeof *part);
    if (!part) return clf_call_fail(k, CLF_E_NOMEM, "out of memory");
    for (size_t i = 0; i < cap; i++) part[i] = k->list[i].mat;
    for (size_t n = cap; n > 1; n /= 2) join_level(k, part, n, n == cap);
    out->mat = part[0];
    clf_mem_free(k->l->mem, part, cap, sizeof *part);
    return CLF_OK;
}

static int binary_op(const clf_token *name) {
    for (int i = 0; i < CLF_NOPS; i++)
        if (clf_ops[i].arity == 2 && strlen(clf_ops[i].name) == name->len && memcmp(clf_ops[i].name, name->text, name->len) == 0) return i;
    return -1;
}

clf_status clf_lang_outer(const clf_lang_call *k, clf_term *out) {
    char shown[64];
    int op = CLF_OP_MUL;
    if (k->arg[2] && k->arg[2]->mat) return clf_call_fail(k, CLF_E_TYPE, "the operator is a string, as in outer(u, v, \"+\")");
    if (k->arg[2] && (op = binary_op(&k->arg[2]->text)) < 0)
        return clf_place_fail(k->l->err, CLF_E_NAME, k->arg[2]->at, "outer: no operator %s",
                              clf_token_show(&k->arg[2]->text, shown, sizeof shown));
    out->mat = clf_outer((clf_op_code)op, k->arg[0]->mat, k->arg[1]->mat);
    return CLF_OK;
}

clf_status clf_lang_grad(const clf_lang_call *k, clf_term *out) {
    clf_grad(k->arg[0]->mat, 1, &k->arg[1]->mat, &out->mat); /* a failure sticks to the handle */
    return CLF_OK;
}
