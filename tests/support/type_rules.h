/* SPDX-License-Identifier: Apache-2.0
 * How types meet, written from the language contract: for the interpreters of random and of small programs. */
#ifndef CLF_TESTS_TYPE_RULES_H
#define CLF_TESTS_TYPE_RULES_H
#include "clfuse/clfuse.h"

enum { RULE_OPERANDS = 3 };
typedef struct rule_operand {
    clf_dtype t;
    bool scalar;
} rule_operand;

static inline bool rule_real(clf_dtype t) { return t == CLF_F32 || t == CLF_F64; }

static inline clf_dtype rule_wider(clf_dtype a, clf_dtype b) {
    if (a == CLF_F64 || b == CLF_F64) return CLF_F64;
    if (a == CLF_F32 || b == CLF_F32) return a == CLF_I64 || b == CLF_I64 ? CLF_F64 : CLF_F32;
    if (a == CLF_I64 || b == CLF_I64) return CLF_I64;
    return a == CLF_I32 || b == CLF_I32 ? CLF_I32 : CLF_U8;
}

/* The type in which n operands meet. Scalars never widen matrices, except that a real one makes integers f64. */
static inline clf_dtype rule_common(const rule_operand *x, int n) {
    bool matrix = false, have = false;
    clf_dtype t = CLF_F64;
    for (int k = 0; k < n; k++) matrix = matrix || !x[k].scalar;
    for (int k = 0; k < n; k++) {
        if (matrix && x[k].scalar) continue;
        t = have ? rule_wider(t, x[k].t) : x[k].t;
        have = true;
    }
    for (int k = 0; k < n; k++)
        if (matrix && x[k].scalar && rule_real(x[k].t) && !rule_real(t)) t = CLF_F64;
    return t;
}
#endif
