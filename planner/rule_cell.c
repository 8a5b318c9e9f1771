/* SPDX-License-Identifier: Apache-2.0
 * Rewrites of cell operators: squares, masks, and operands that change nothing. Each is kept to where all bits stay: X + 0 is not X where
 * X is -0, and 0 * X is not 0 where X is NaN, so neither is a rule.
 *
 * Measure, where no other is named: the number of cell operators below what stands for a node. */
#include <string.h>

#include "planner/rules.h"

/* Kind: EXACT, recording has evaluated the operator by its own text. */
int32_t clf_rule_constant(clf_rewriter *w, int32_t n) {
    clf_gnode x;
    memcpy(&x, &w->g.node[n], sizeof x);
    if (!clf_op_is_cell(x.op) || !x.scalar || x.attr[1] == CLF_NUMBER_UNKNOWN) return -1;
    x.op = CLF_OP_CONST;
    x.nin = 0;
    return clf_rewriter_put(w, &x);
}

/* The number in all cells of operand q, a fill of this shape or a scalar, as a scalar of type t; -1. */
static int32_t filling(clf_rewriter *w, int32_t q, const clf_gnode *like, clf_dtype t) {
    const clf_gnode *x = &w->g.node[q];
    if ((clf_dtype)x->dtype != t || (!x->scalar && (x->op != CLF_OP_FILL || !clf_rule_same_shape(x, like)))) return -1;
    return x->scalar ? q : clf_rewriter_cast(w, x->in[0], t, true);
}

/* matrix(a, n, m) + matrix(b, n, m) = matrix(a + b, n, m). Kind: EXACT; operands have one type, so that scalars give what matrices give.
 * Operators whose bits hang on a mathematical library stay where they are. Measure: cell operators over fills. */
int32_t clf_rule_filled(clf_rewriter *w, int32_t n) {
    clf_gnode x = w->g.node[n], fill;
    if (!clf_op_is_cell(x.op) || x.scalar || (clf_ops[x.op].flags & F_ELEM)) return -1;
    int32_t in[3], like = -1;
    for (int k = 0; k < x.nin; k++) {
        if (!w->g.node[x.in[k]].scalar) like = x.in[k];
        in[k] = filling(w, x.in[k], &x, (clf_dtype)w->g.node[x.in[0]].dtype);
        if (in[k] < 0) return -1;
    }
    int32_t number = like < 0 ? -1 : clf_rewriter_cell(w, (clf_op)x.op, x.nin, in);
    if (number < 0 || w->g.node[number].dtype != x.dtype) return -1;
    memcpy(&fill, &w->g.node[like], sizeof fill);
    fill.dtype = x.dtype;
    fill.in[0] = number;
    return clf_rewriter_put(w, &fill);
}

/* Kind: EXACT, the square operator is that product. Measure: multiplications of a node with itself. */
int32_t clf_rule_square(clf_rewriter *w, int32_t n) {
    clf_gnode x = w->g.node[n];
    if (x.op != CLF_OP_MUL || x.in[0] != x.in[1]) return -1;
    return clf_rewriter_cell(w, CLF_OP_SQR, 1, x.in);
}

/* Kind: ROUNDING, the power function may miss the nearest number. Integers are powers in f64. Measure: powers. */
int32_t clf_rule_power(clf_rewriter *w, int32_t n) {
    clf_gnode x = w->g.node[n];
    if (x.op != CLF_OP_POW) return -1;
    clf_number k = clf_rule_number(&w->g, x.in[1]);
    if ((k != CLF_NUMBER_TWO && k != CLF_NUMBER_ONE) || !clf_rule_same_shape(&w->g.node[x.in[0]], &x)) return -1;
    int32_t q = clf_rewriter_cast(w, x.in[0], (clf_dtype)x.dtype, x.scalar);
    return k == CLF_NUMBER_ONE ? q : clf_rewriter_cell(w, CLF_OP_SQR, 1, &q);
}

/* X != 0, or 0 != X: X; else -1. */
static int32_t mask_of(const clf_graph *g, int32_t n) {
    const clf_gnode *x = &g->node[n];
    for (int k = 0; k < 2 && x->op == CLF_OP_NE; k++) {
        clf_number c = clf_rule_number(g, x->in[k]);
        if (c == CLF_NUMBER_ZERO || c == CLF_NUMBER_MINUS_ZERO) return x->in[1 - k];
    }
    return -1;
}

/* Kind: EXACT. The factor is 1, or it is 0 and meets a zero, whose sign stays. */
int32_t clf_rule_masked_self(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    for (int k = 0; k < 2 && x->op == CLF_OP_MUL; k++)
        if (mask_of(&w->g, x->in[k]) == x->in[1 - k] && clf_same_form(x, &w->g.node[x->in[1 - k]])) return x->in[1 - k];
    return -1;
}

/* Kind: EXACT. x * 1, x / 1, x - 0 and x + -0 are x; x + 0 is where there is no -0. */
int32_t clf_rule_neutral(clf_rewriter *w, int32_t n) {
    static const struct {
        clf_op op;
        int operand;
        clf_number number;
        bool whole;
    } way[] = {
        {CLF_OP_MUL, 0, CLF_NUMBER_ONE, false},        {CLF_OP_MUL, 1, CLF_NUMBER_ONE, false},
        {CLF_OP_DIV, 1, CLF_NUMBER_ONE, false},        {CLF_OP_SUB, 1, CLF_NUMBER_ZERO, false},
        {CLF_OP_ADD, 0, CLF_NUMBER_MINUS_ZERO, false}, {CLF_OP_ADD, 1, CLF_NUMBER_MINUS_ZERO, false},
        {CLF_OP_ADD, 0, CLF_NUMBER_ZERO, true},        {CLF_OP_ADD, 1, CLF_NUMBER_ZERO, true},
    };
    const clf_gnode *x = &w->g.node[n];
    for (size_t i = 0; i < sizeof way / sizeof *way; i++) {
        if (x->op != way[i].op || clf_rule_number(&w->g, x->in[way[i].operand]) != way[i].number) continue;
        int32_t other = x->in[1 - way[i].operand];
        if (clf_same_form(x, &w->g.node[other]) && !(way[i].whole && clf_dtype_float((clf_dtype)x->dtype))) return other;
    }
    return -1;
}

/* Kind: EXACT. Measure: multiplications. */
int32_t clf_rule_minus_one(clf_rewriter *w, int32_t n) {
    clf_gnode x = w->g.node[n];
    for (int k = 0; k < 2 && x.op == CLF_OP_MUL; k++)
        if (clf_rule_number(&w->g, x.in[k]) == CLF_NUMBER_MINUS_ONE && clf_same_form(&x, &w->g.node[x.in[1 - k]]))
            return clf_rewriter_cell(w, CLF_OP_NEG, 1, &x.in[1 - k]);
    return -1;
}

static bool truth(const clf_gnode *x) { return clf_op_is_cell(x->op) && (clf_ops[x->op].flags & F_BOOL); }

/* Kind: EXACT. Integers wrap back; !!x of what is no truth value is x != 0. */
int32_t clf_rule_twice(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if ((x->op != CLF_OP_NEG && x->op != CLF_OP_NOT) || w->g.node[x->in[0]].op != x->op) return -1;
    const clf_gnode *q = &w->g.node[w->g.node[x->in[0]].in[0]];
    if (!clf_same_form(x, q) || (x->op == CLF_OP_NOT && !truth(q))) return -1;
    return w->g.node[x->in[0]].in[0];
}

/* Kind: EXACT. */
int32_t clf_rule_both_equal(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    bool extreme = x->op == CLF_OP_MIN || x->op == CLF_OP_MAX, logic = x->op == CLF_OP_AND || x->op == CLF_OP_OR;
    if ((!extreme && !logic) || x->in[0] != x->in[1] || (logic && !truth(&w->g.node[x->in[0]]))) return -1;
    return clf_same_form(x, &w->g.node[x->in[0]]) ? x->in[0] : -1;
}

/* Kind: EXACT. The condition is a constant, or both choices are one. */
int32_t clf_rule_ifelse(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op != CLF_OP_IFELSE) return -1;
    clf_number k = clf_rule_number(&w->g, x->in[0]);
    bool no = k == CLF_NUMBER_ZERO || k == CLF_NUMBER_MINUS_ZERO, unknown = k == CLF_NUMBER_UNKNOWN || k == CLF_NUMBER_NO_NUMBER;
    if (unknown && x->in[1] != x->in[2]) return -1;
    int32_t q = x->in[!unknown && no ? 2 : 1];
    return clf_same_form(x, &w->g.node[q]) ? q : -1;
}
