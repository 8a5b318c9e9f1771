/* SPDX-License-Identifier: Apache-2.0
 * Operators between values, and the small evaluation that runs beside the recording: arithmetic of numbers known when the program
 * is read, for index bounds and shapes. It replaces nothing that is recorded, except that a whole number beside an integer matrix is
 * recorded as an integer. */
#include "host/lang/lang.h"

#include <math.h>

static double modulo(double a, double b) { return b == 0 ? NAN : a - b * floor(a / b); }

static bool known2(int op, double a, double b, double *r) {
    switch (op) {
    case CLF_OP_ADD: *r = a + b; return true;
    case CLF_OP_SUB: *r = a - b; return true;
    case CLF_OP_MUL: *r = a * b; return true;
    case CLF_OP_DIV: *r = a / b; return true;
    case CLF_OP_POW: *r = pow(a, b); return true;
    case CLF_OP_MOD: *r = modulo(a, b); return true;
    case CLF_OP_IDIV: *r = floor(a / b); return true;
    case CLF_OP_MIN: *r = isnan(a) || a < b ? a : b; return true;
    case CLF_OP_MAX: *r = isnan(a) || a > b ? a : b; return true;
    default: return false;
    }
}

static bool known1(int op, double a, double *r) {
    switch (op) {
    case CLF_OP_NEG: *r = -a; return true;
    case CLF_OP_ABS: *r = fabs(a); return true;
    case CLF_OP_ROUND: *r = floor(a + 0.5); return true;
    case CLF_OP_FLOOR: *r = floor(a); return true;
    case CLF_OP_CEIL: *r = ceil(a); return true;
    case CLF_OP_SQRT: *r = sqrt(a); return true;
    default: return false;
    }
}

bool clf_lang_known(int op, int n, const clf_term *in, double *out) {
    if (n == 1) return in[0].known && known1(op, in[0].num, out);
    return n == 2 && in[0].known && in[1].known && known2(op, in[0].num, in[1].num, out);
}

/* x^2 is a product, unless x holds integers: their powers are f64. */
static bool is_square(int op, const clf_term *in) {
    clf_dtype t;
    return op == CLF_OP_POW && in[1].known && in[1].num == 2 && clf_info(in[0].mat, NULL, NULL, &t, NULL) == CLF_OK &&
           (t == CLF_F64 || t == CLF_F32);
}

static bool is_integer_matrix(const clf_term *v) {
    clf_dtype t;
    bool scalar;
    return clf_info(v->mat, NULL, NULL, &t, &scalar) == CLF_OK && !scalar && t != CLF_F64 && t != CLF_F32;
}

/* A whole number is an integer beside an integer matrix, which keeps its type; elsewhere numbers are real. The test of ifelse is no
 * neighbour of its branches. */
static bool is_integer_here(int op, int n, const clf_term *in, int i) {
    const double most = 9007199254740992.0;
    bool beside = false;
    if (clf_ops[op].type == CLF_TYPE_FLOAT || !in[i].known || !(fabs(in[i].num) <= most && in[i].num == floor(in[i].num))) return false;
    for (int k = clf_ops[op].type == CLF_TYPE_SELECT; k < n; k++) beside = beside || is_integer_matrix(&in[k]);
    return beside;
}

clf_mat *clf_lang_apply(clf_lang *l, int op, int n, const clf_term *in) {
    clf_mat *arg[3] = {NULL, NULL, NULL}, *made[3] = {NULL, NULL, NULL};
    if (op == CLF_LANG_MATMUL) return clf_matmul(in[0].mat, in[1].mat);
    if (is_square(op, in)) return clf_sqr(in[0].mat);
    for (int i = 0; i < n; i++) {
        if (is_integer_here(op, n, in, i)) made[i] = clf_int(l->c, (int64_t)in[i].num);
        arg[i] = made[i] ? made[i] : in[i].mat;
    }
    clf_mat *r = clf_apply((clf_op_code)op, arg[0], arg[1], arg[2]);
    for (int i = 0; i < n; i++) clf_free(made[i]);
    return r;
}

clf_status clf_lang_operate(clf_lang *l, int op, clf_place at, int n, const clf_term *in, clf_term *out) {
    const char *why = "out of memory";
    for (int i = 0; i < n; i++)
        if (!in[i].mat) return clf_place_fail(l->err, CLF_E_TYPE, in[i].at, "%s takes numbers, not a string", clf_ops[op].name);
    clf_term r = {.mat = clf_lang_apply(l, op, n, in), .owned = true, .at = at};
    clf_status st = clf_status_of(r.mat, &why);
    if (st != CLF_OK) {
        st = clf_place_fail(l->err, st, at, "%s", why);
        clf_term_release(&r);
        return st;
    }
    r.known = clf_lang_known(op, n, in, &r.num);
    *out = r;
    return CLF_OK;
}
