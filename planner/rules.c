/* SPDX-License-Identifier: Apache-2.0
 * The table of rewrite rules, and those that take away operators which do nothing. Measure of the latter: the number of operators below
 * what stands for a node. A rule larger than these has a file of its own, planner/rule_*.c. */
#include "planner/rules.h"

#include <string.h>

static int32_t double_transpose(clf_rewriter *w, int32_t n) {
    const clf_gnode *x = &w->g.node[n];
    if (x->op != CLF_OP_TRANSPOSE || w->g.node[x->in[0]].op != CLF_OP_TRANSPOSE) return -1;
    int32_t m = w->g.node[x->in[0]].in[0];
    return clf_same_form(x, &w->g.node[m]) ? m : -1; /* t(t(s)) of a scalar is a 1x1 matrix */
}

/* The input of an operator that leaves its form, and with it all cells, as they are. */
static int32_t input_if(const clf_rewriter *w, int32_t n, clf_op op) {
    const clf_gnode *x = &w->g.node[n];
    return x->op == op && clf_same_form(x, &w->g.node[x->in[0]]) ? x->in[0] : -1;
}

static int32_t no_cast(clf_rewriter *w, int32_t n) { return input_if(w, n, CLF_OP_CAST); }

static int32_t whole_index(clf_rewriter *w, int32_t n) { return input_if(w, n, CLF_OP_INDEX); }

static int32_t same_reshape(clf_rewriter *w, int32_t n) { return input_if(w, n, CLF_OP_RESHAPE); }

static int32_t transpose_of_single(clf_rewriter *w, int32_t n) {
    return clf_gnode_single(&w->g.node[n]) ? input_if(w, n, CLF_OP_TRANSPOSE) : -1;
}

/* ---- what rules share ---- */

static bool holds(clf_dtype t, clf_number k) {
    if (t == CLF_F64) return true;
    if (k == CLF_NUMBER_ONE || k == CLF_NUMBER_TWO || k == CLF_NUMBER_ZERO) return true;
    return k == CLF_NUMBER_MINUS_ONE ? t != CLF_U8 : clf_dtype_float(t) && k != CLF_NUMBER_FINITE;
}

clf_number clf_rule_number(const clf_graph *g, int32_t q) {
    const clf_gnode *x = &g->node[q];
    const clf_gnode *c = x->op == CLF_OP_FILL ? &g->node[x->in[0]] : x;
    clf_number k = c->op == CLF_OP_CONST ? (clf_number)c->attr[1] : CLF_NUMBER_UNKNOWN;
    return c == x || holds((clf_dtype)x->dtype, k) ? k : CLF_NUMBER_UNKNOWN;
}

/* ---- the table ---- */

#define CELLS CLF_AT_CELLS
#define FOLD CLF_AT_FOLD
#define PRODUCT CLF_AT_PRODUCT
#define TRANSPOSE CLF_AT_TRANSPOSE
#define MOVED CLF_AT_MOVED
#define CPUS CLF_AT_CPUS

const clf_rule clf_rules[] = {
    {"double-t", "t(t(X)) = X", CLF_RULE_EXACT, TRANSPOSE, double_transpose},
    {"cast-none", "cast to own type", CLF_RULE_EXACT, MOVED, no_cast},
    {"index-whole", "X[1:n, 1:m] = X", CLF_RULE_EXACT, MOVED, whole_index},
    {"reshape-none", "reshape to own shape", CLF_RULE_EXACT, MOVED, same_reshape},
    {"t-single", "t of 1x1", CLF_RULE_EXACT, TRANSPOSE, transpose_of_single},
    {"index-index", "index of an index", CLF_RULE_EXACT, MOVED, clf_rule_index_index},
    {"index-t", "t(X)[i, j] = t(X[j, i])", CLF_RULE_EXACT, MOVED, clf_rule_index_t},
    {"cast-cast", "cast of a cast that loses nothing", CLF_RULE_EXACT, MOVED, clf_rule_casts},
    {"reshape-reshape", "reshape of a reshape", CLF_RULE_EXACT, MOVED, clf_rule_reshapes},
    {"reshape-vector", "reshape of a vector = t", CLF_RULE_EXACT, MOVED, clf_rule_reshape_vector},
    {"fill-moved", "cells of matrix(c, n, m), moved", CLF_RULE_EXACT, TRANSPOSE | MOVED, clf_rule_moved_fill},
    {"t-diag", "t(diag(v)) = diag(v)", CLF_RULE_EXACT, TRANSPOSE, clf_rule_t_diag},
    {"empty-cells", "0 of an empty sparse matrix annihilates", CLF_RULE_EXACT, CELLS, clf_rule_empty_cells},
    {"empty-product", "product with nothing = 0", CLF_RULE_EXACT, PRODUCT, clf_rule_empty_product},
    {"empty-fold", "aggregate of nothing = 0", CLF_RULE_EXACT, FOLD, clf_rule_empty_fold},
    {"constant", "operator of constants", CLF_RULE_EXACT, CELLS, clf_rule_constant},
    {"fill-cells", "operator of matrix(c, n, m)", CLF_RULE_EXACT, CELLS, clf_rule_filled},
    {"masked-self", "(X != 0) * X = X", CLF_RULE_EXACT, CELLS, clf_rule_masked_self},
    {"square", "X * X = X^2", CLF_RULE_EXACT, CELLS, clf_rule_square},
    {"neutral", "X * 1, X / 1, X - 0 = X", CLF_RULE_EXACT, CELLS, clf_rule_neutral},
    {"minus-one", "-1 * X = -X", CLF_RULE_EXACT, CELLS, clf_rule_minus_one},
    {"twice", "-(-X) = X, !!B = B", CLF_RULE_EXACT, CELLS, clf_rule_twice},
    {"both-equal", "min(X, X) = X", CLF_RULE_EXACT, CELLS, clf_rule_both_equal},
    {"ifelse-known", "ifelse of a known condition", CLF_RULE_EXACT, CELLS, clf_rule_ifelse},
    {"power", "X^2 = X * X, X^1 = X", CLF_RULE_ROUNDING, CELLS, clf_rule_power},
    {"fold-single-exact", "rowMaxs(X) = X of one column", CLF_RULE_EXACT, FOLD, clf_rule_fold_single_exact},
    {"fold-single", "rowSums(X) = X of one column", CLF_RULE_ROUNDING, FOLD, clf_rule_fold_single},
    {"sumsq", "sum(X^2) = sumsq(X)", CLF_RULE_EXACT, FOLD, clf_rule_sumsq},
    {"sumsq-f32", "sum(X^2) = sumsq(X) of f32", CLF_RULE_ROUNDING, FOLD, clf_rule_sumsq_f32},
    {"nnz", "sum(X != 0) = nnz(X)", CLF_RULE_EXACT, FOLD, clf_rule_nnz},
    {"sum-scaled", "sum(a * X) = a * sum(X)", CLF_RULE_ROUNDING, FOLD, clf_rule_sum_scaled},
    {"sum-negated", "sum(-X) = 0 - sum(X)", CLF_RULE_EXACT, FOLD, clf_rule_sum_negated},
    {"fold-t-exact", "aggregate of t(X), order-free", CLF_RULE_EXACT, FOLD, clf_rule_fold_of_t_exact},
    {"fold-t", "sum(t(X)) = sum(X), rowSums(t(X)) = t(colSums(X))", CLF_RULE_ROUNDING, FOLD, clf_rule_fold_of_t},
    {"fold-fold-exact", "aggregate of row aggregates, order-free", CLF_RULE_EXACT, FOLD, clf_rule_fold_of_fold_exact},
    {"fold-fold", "sum(rowSums(X)) = sum(X)", CLF_RULE_ROUNDING, FOLD, clf_rule_fold_of_fold},
    {"diag-sparse", "diag(v) %*% X = v * X, v sparse", CLF_RULE_ROUNDING, PRODUCT, clf_rule_diag_sparse},
    {"diag", "diag(v) %*% X = v * X", CLF_RULE_NANLOSS, PRODUCT, clf_rule_diag},
    {"product-fill", "X %*% matrix(c, m, k) = c * rowSums(X)", CLF_RULE_ROUNDING, PRODUCT, clf_rule_product_fill},
    {"gram", "sum((U %*% V)^2) = sum((t(U) %*% U) * (V %*% t(V)))", CLF_RULE_ROUNDING, FOLD, clf_rule_gram},
    {"cast-t", "t(B) %*% X, B cast before t", CLF_RULE_EXACT, PRODUCT, clf_rule_cast_t},
    {"t-product", "t(t(A) %*% B) = t(B) %*% A", CLF_RULE_ROUNDING, TRANSPOSE, clf_rule_t_product},
    {"t-cells", "t(t(X) * v) = X * t(v)", CLF_RULE_EXACT, TRANSPOSE, clf_rule_t_cells},
    {"product-t-cells", "(t(X) * v) %*% B = t(X * t(v)) %*% B", CLF_RULE_ROUNDING, PRODUCT, clf_rule_product_t_cells},
    {"fold-product", "rowSums(A %*% B) = A %*% rowSums(B)", CLF_RULE_ROUNDING, FOLD, clf_rule_fold_product},
    {"diag-product", "diag(A %*% B) = rowSums(A * t(B))", CLF_RULE_ROUNDING, MOVED, clf_rule_diag_product},
    {"chain", "A %*% B %*% v by cost", CLF_RULE_ROUNDING, PRODUCT, clf_rule_chain},
    {"chain-sparse", "A %*% B %*% v by cost, sparse", CLF_RULE_NANLOSS, PRODUCT, clf_rule_chain_sparse},
    {"cum-rows", "t(cum(t(X))) along rows", CLF_RULE_EXACT, TRANSPOSE, clf_rule_cum},
    {"left-twin", "left product on the twin", CLF_RULE_EXACT, PRODUCT, clf_rule_left},
    {"turned-side", "X %*% t(C), t(C) in memory, X sparse", CLF_RULE_EXACT, PRODUCT | CPUS, clf_rule_turned_side},
    {"turned-result", "t(P) %*% X = t(t(X) %*% P), X sparse", CLF_RULE_EXACT, PRODUCT | CPUS, clf_rule_turned_result},
    {NULL, NULL, CLF_RULE_EXACT, 0, NULL},
};

_Static_assert(sizeof clf_rules / sizeof *clf_rules <= CLF_MOST_RULES, "notes, counts and gates have room for every rule");

int clf_rule_at(int op) {
    if (clf_op_is_cell(op)) return 0;
    switch (op) {
    case CLF_OP_FOLD: return 1;
    case CLF_OP_MATMUL: return 2;
    case CLF_OP_TRANSPOSE: return 3;
    case CLF_OP_LEAF:
    case CLF_OP_CONST:
    case CLF_OP_PARAM: return -1;
    default: return 4;
    }
}

const char *clf_rule_kind_name(clf_rule_kind k) {
    static const char *const name[] = {"exact", "rounding", "nanloss"};
    return name[k];
}

/* ---- which are used ---- */

static int find_rule(const char *id, size_t len) {
    for (int r = 0; clf_rules[r].id; r++)
        if (strlen(clf_rules[r].id) == len && !memcmp(clf_rules[r].id, id, len)) return r;
    return -1;
}

static clf_status take_off(clf_gate *gate, const char *list, clf_err *err) {
    for (const char *at = list; *at;) {
        size_t len = strcspn(at, ",");
        int r = find_rule(at, len);
        if (r < 0) return clf_fail(err, CLF_E_NAME, "rules_off (CLF_RULES_OFF): no rule '%.*s'", (int)(len < 64 ? len : 64), at);
        gate->off |= UINT64_C(1) << r;
        at += len + (at[len] == ',');
    }
    return CLF_OK;
}

clf_status clf_gate_set(clf_gate *gate, const char *math, const char *off, clf_err *err) {
    static const char *const mode[] = {"strict", "reassociate", "fast"};
    clf_gate g = {0};
    while (g.math <= CLF_MATH_FAST && strcmp(mode[g.math], math)) g.math++;
    if (g.math > CLF_MATH_FAST) return clf_fail(err, CLF_E_NAME, "math: no mode '%.64s', expected one of strict|reassociate|fast", math);
    CLF_TRY(take_off(&g, off, err));
    *gate = g;
    return CLF_OK;
}
