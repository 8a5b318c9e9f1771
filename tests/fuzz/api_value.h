/* SPDX-License-Identifier: Apache-2.0
 * What cells of leaves are given, and how far the result of an operator or fold is determined, from what its operands are; see api.h. */
#ifndef CLF_TESTS_FUZZ_API_VALUE_H
#define CLF_TESTS_FUZZ_API_VALUE_H
#include "tests/fuzz/api.h"

/* Element i of an array of type t becomes x. */
static inline void api_store(void *p, int64_t i, clf_dtype t, int x) {
    switch (t) {
    case CLF_F32: ((float *)p)[i] = (float)x; break;
    case CLF_F64: ((double *)p)[i] = x; break;
    case CLF_I32: ((int32_t *)p)[i] = x; break;
    case CLF_I64: ((int64_t *)p)[i] = x; break;
    case CLF_U8: ((uint8_t *)p)[i] = (uint8_t)x; break;
    }
}

static inline double api_larger(double a, double b) { return a > b ? a : b; }
static inline api_kind api_worse(api_kind a, api_kind b) { return a > b ? a : b; }

/* Bound of an operator that keeps integers; 0: it does not, but has the same bits in every plan; -1: bits of a mathematical library. */
static inline double api_cell_bound(int op, const double *x) {
    switch (op) {
    case CLF_ADD:
    case CLF_SUB: return x[0] + x[1];
    case CLF_MUL: return x[0] * x[1];
    case CLF_MIN:
    case CLF_MAX: return api_larger(x[0], x[1]);
    case CLF_BITAND:
    case CLF_BITOR: return 2 * api_larger(x[0], x[1]) + 1;
    case CLF_NEG:
    case CLF_ABS:
    case CLF_ROUND:
    case CLF_FLOOR:
    case CLF_CEIL: return x[0];
    case CLF_SQR: return x[0] * x[0];
    case CLF_IFELSE: return api_larger(x[1], x[2]);
    case CLF_REPLACE: return api_larger(x[0], x[2]);
    case CLF_SIGN:
    case CLF_LT:
    case CLF_LE:
    case CLF_GT:
    case CLF_GE:
    case CLF_EQ:
    case CLF_NE:
    case CLF_AND:
    case CLF_OR:
    case CLF_XOR:
    case CLF_NOT:
    case CLF_ISNAN:
    case CLF_ISINF: return 1;
    case CLF_DIV:
    case CLF_MOD:
    case CLF_IDIV:
    case CLF_SQRT: return 0;
    default: return -1;
    }
}

static inline api_kind api_cell_kind(int op, const api_value *const *x, double *bound) {
    double b[3] = {x[0]->bound, x[1]->bound, x[2]->bound};
    api_kind kind = api_worse(x[0]->kind, api_worse(x[1]->kind, x[2]->kind));
    *bound = api_cell_bound(op, b) + 1;
    if (*bound == 0) return API_FREE;
    return *bound == 1 ? api_worse(kind, API_CELLS) : kind;
}

/* Plans may skip what would have made a structural zero negative: what divides by such zeros has no settled sign. */
static inline api_kind api_signs_kind(const api_player *s, int op, api_kind kind) {
    return s->sparse && (op == CLF_DIV || op == CLF_MOD || op == CLF_IDIV) ? API_FREE : kind;
}

/* A fold over n cells at a time. */
static inline api_kind api_fold_kind(int fold, const api_value *x, double n, double *bound) {
    *bound = n * x->bound;
    switch (fold) {
    case CLF_FOLD_CODE_SUM: break;
    case CLF_FOLD_CODE_SUMSQ: *bound *= x->bound; break;
    case CLF_FOLD_CODE_ARGMIN:
    case CLF_FOLD_CODE_ARGMAX:
    case CLF_FOLD_CODE_ANY:
    case CLF_FOLD_CODE_ALL:
    case CLF_FOLD_CODE_NNZ: *bound = n + 1; return x->kind;
    case CLF_FOLD_CODE_MIN:
    case CLF_FOLD_CODE_MAX: *bound = x->bound; return n > 0 ? x->kind : api_worse(x->kind, API_CELLS);
    default: return API_FREE;
    }
    return x->kind == API_EXACT ? API_EXACT : API_FREE;
}
#endif
