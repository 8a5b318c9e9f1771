/* SPDX-License-Identifier: Apache-2.0
 * The operator table as data, and its type rules. Everything comes from ops.def; op.h says what the rules mean. */
#include "core/op.h"

#include <ctype.h>
#include <string.h>

#include "core/dtype.h"

#define ADD CLF_CLASS_ADD
#define CMP CLF_CLASS_CMP
#define DIV CLF_CLASS_DIV
#define SQRT CLF_CLASS_SQRT
#define EXP CLF_CLASS_EXP
#define LOG CLF_CLASS_LOG
#define POW CLF_CLASS_POW
#define TRIG CLF_CLASS_TRIG

const clf_op_row clf_ops[CLF_NALLOPS] = {
#define CLF_OP(ID, name, arity, class_, flags, type_rule, shape_rule, flops, grad, text) \
    {#ID, name, arity, class_, flags, CLF_TYPE_##type_rule, flops, grad, #text},
#define CLF_FORM(ID, name, doc) {#ID, name, 0, ADD, 0, CLF_TYPE_FIRST, 0, NULL, NULL},
#include "core/ops.def"
};

/* "ADD" against "add". */
static bool is_lower_id(const char *id, const char *name) {
    while (*id && tolower((unsigned char)*id) == *name) id++, name++;
    return *id == '\0' && *name == '\0';
}

int clf_op_find(const char *name) {
    for (int i = 0; i < CLF_NALLOPS; i++)
        if (strcmp(clf_ops[i].name, name) == 0) return i;
    for (int i = 0; i < CLF_NALLOPS; i++)
        if (is_lower_id(clf_ops[i].id, name)) return i;
    return -1;
}

/* Common type of operands [from, n): of the matrices among them, or of all when none is a matrix. A real scalar makes integers f64:
 * that is a change of kind, not of width, and (X > 0) * 0.5 would lose its meaning otherwise. */
static clf_dtype common_type(int from, int n, const clf_dtype *in, const bool *is_scalar) {
    bool any_matrix = false, have = false;
    clf_dtype t = CLF_F64;
    for (int i = from; i < n; i++) any_matrix |= !is_scalar[i];
    for (int i = from; i < n; i++) {
        if (any_matrix && is_scalar[i]) continue;
        t = have ? clf_dtype_promote(t, in[i]) : in[i];
        have = true;
    }
    for (int i = from; i < n && any_matrix && !clf_dtype_float(t); i++)
        if (is_scalar[i] && clf_dtype_float(in[i])) t = CLF_F64;
    return t;
}

clf_dtype clf_op_type(clf_op op, int n, const clf_dtype *in, const bool *is_scalar, clf_dtype *result) {
    clf_type_rule rule = clf_ops[op].type;
    clf_dtype t = rule == CLF_TYPE_FIRST ? in[0] : common_type(rule == CLF_TYPE_SELECT ? 1 : 0, n, in, is_scalar);
    if (rule == CLF_TYPE_ARITH && t == CLF_U8) t = CLF_I32;
    if (rule == CLF_TYPE_FLOAT && !clf_dtype_float(t)) t = CLF_F64;
    *result = rule == CLF_TYPE_CMP ? CLF_U8 : t;
    return t;
}
