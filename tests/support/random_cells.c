/* SPDX-License-Identifier: Apache-2.0
 * What the cell operators mean on integers held as doubles, written from the language contract: those without a function leave the
 * integers. An operator without a row here is the steps of its text, over those that have one. */
#include <math.h>

#include "core/op.h"
#include "tests/support/op_steps.h"
#include "tests/support/random_make.h"

#define INTEGER(name, expr) \
    static double o_##name(const double *x, clf_dtype t) { \
        (void)t; \
        return (expr); \
    }
INTEGER(add, x[0] + x[1])
INTEGER(sub, x[0] - x[1])
INTEGER(mul, x[0] * x[1])
INTEGER(min, x[0] < x[1] ? x[0] : x[1])
INTEGER(max, x[0] > x[1] ? x[0] : x[1])
INTEGER(lt, x[0] < x[1])
INTEGER(le, x[0] <= x[1])
INTEGER(gt, x[0] > x[1])
INTEGER(ge, x[0] >= x[1])
INTEGER(eq, x[0] == x[1])
INTEGER(ne, x[0] != x[1])
INTEGER(and, x[0] != 0 && x[1] != 0)
INTEGER(or, x[0] != 0 || x[1] != 0)
INTEGER(xor, (x[0] != 0) != (x[1] != 0))
INTEGER(bitand, (double)((int64_t)x[0] & (int64_t)x[1]))
INTEGER(bitor, (double)((int64_t)x[0] | (int64_t)x[1]))
INTEGER(neg, -x[0])
INTEGER(not, x[0] == 0)
INTEGER(abs, x[0] < 0 ? -x[0] : x[0])
INTEGER(sign, x[0] > 0 ? 1 : x[0] < 0 ? -1 : 0)
INTEGER(self, x[0])
INTEGER(sqr, x[0] * x[0])
INTEGER(never, 0 * x[0])
INTEGER(ifelse, x[0] != 0 ? x[1] : x[2])
INTEGER(replace, x[0] == x[1] ? x[2] : x[0])

/* Floor division of whole numbers; by 0 integers give 0, reals leave the domain. */
static double o_idiv(const double *x, clf_dtype t) {
    int64_t a = (int64_t)x[0], b = (int64_t)x[1];
    if (b == 0) return rp_real(t) ? NAN : 0;
    return (double)(a / b - (a % b != 0 && (a < 0) != (b < 0)));
}

/* The remainder has the divisor's sign. */
static double o_mod(const double *x, clf_dtype t) {
    int64_t a = (int64_t)x[0], b = (int64_t)x[1];
    if (b == 0) return rp_real(t) ? NAN : 0;
    return (double)(a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0));
}

/* clang-format off */
/* f: in operator type t; NAN: outside the domain. NULL: does not stay among integers */
typedef struct rp_cell {
    int arity;
    rp_rule type;
    double (*f)(const double *x, clf_dtype t);
} rp_cell;
static const rp_cell cells[CLF_OP_CODES] = {
    [CLF_ADD] = {2, RP_ARITH, o_add},         [CLF_SUB] = {2, RP_ARITH, o_sub},         [CLF_MUL] = {2, RP_ARITH, o_mul},
    [CLF_DIV] = {2, RP_FLOAT, NULL},          [CLF_POW] = {2, RP_FLOAT, NULL},          [CLF_MOD] = {2, RP_ARITH, o_mod},
    [CLF_IDIV] = {2, RP_ARITH, o_idiv},       [CLF_MIN] = {2, RP_ARITH, o_min},         [CLF_MAX] = {2, RP_ARITH, o_max},
    [CLF_LT] = {2, RP_COMPARE, o_lt},         [CLF_LE] = {2, RP_COMPARE, o_le},         [CLF_GT] = {2, RP_COMPARE, o_gt},
    [CLF_GE] = {2, RP_COMPARE, o_ge},         [CLF_EQ] = {2, RP_COMPARE, o_eq},         [CLF_NE] = {2, RP_COMPARE, o_ne},
    [CLF_AND] = {2, RP_COMPARE, o_and},       [CLF_OR] = {2, RP_COMPARE, o_or},         [CLF_XOR] = {2, RP_COMPARE, o_xor},
    [CLF_BITAND] = {2, RP_ARITH, o_bitand},   [CLF_BITOR] = {2, RP_ARITH, o_bitor},     [CLF_ATAN2] = {2, RP_FLOAT, NULL},
    [CLF_LOGB] = {2, RP_FLOAT, NULL},         [CLF_NEG] = {1, RP_ARITH, o_neg},         [CLF_NOT] = {1, RP_COMPARE, o_not},
    [CLF_ABS] = {1, RP_ARITH, o_abs},         [CLF_SIGN] = {1, RP_ARITH, o_sign},       [CLF_ROUND] = {1, RP_ARITH, o_self},
    [CLF_FLOOR] = {1, RP_ARITH, o_self},      [CLF_CEIL] = {1, RP_ARITH, o_self},       [CLF_SQR] = {1, RP_ARITH, o_sqr},
    [CLF_SQRT] = {1, RP_FLOAT, NULL},         [CLF_EXP] = {1, RP_FLOAT, NULL},          [CLF_EXPM1] = {1, RP_FLOAT, NULL},
    [CLF_LOG] = {1, RP_FLOAT, NULL},          [CLF_LOG1P] = {1, RP_FLOAT, NULL},        [CLF_LOG2] = {1, RP_FLOAT, NULL},
    [CLF_LOG10] = {1, RP_FLOAT, NULL},        [CLF_SIN] = {1, RP_FLOAT, NULL},          [CLF_COS] = {1, RP_FLOAT, NULL},
    [CLF_TAN] = {1, RP_FLOAT, NULL},          [CLF_ASIN] = {1, RP_FLOAT, NULL},         [CLF_ACOS] = {1, RP_FLOAT, NULL},
    [CLF_ATAN] = {1, RP_FLOAT, NULL},         [CLF_SINH] = {1, RP_FLOAT, NULL},         [CLF_COSH] = {1, RP_FLOAT, NULL},
    [CLF_TANH] = {1, RP_FLOAT, NULL},         [CLF_SIGMOID] = {1, RP_FLOAT, NULL},      [CLF_ERF] = {1, RP_FLOAT, NULL},
    [CLF_PNORM] = {1, RP_FLOAT, NULL},        [CLF_ISNAN] = {1, RP_COMPARE, o_never},   [CLF_ISINF] = {1, RP_COMPARE, o_never},
    [CLF_IFELSE] = {3, RP_SELECT, o_ifelse},  [CLF_REPLACE] = {3, RP_FIRST, o_replace},
};
/* clang-format on */

static bool has_row(int op) { return cells[op].arity > 0; }

/* The steps of an operator without row; false: they leave the integers. */
static bool steps_of(op_steps *steps, int op) {
    bool good = op_steps_of(steps, op);
    for (int i = 0; i < steps->n; i++) {
        const op_step *s = &steps->step[i];
        good = good && (s->kind != OP_CALL || cells[s->which].f) && s->number == floor(s->number);
    }
    return good;
}

bool rp_stays_whole(int op) {
    op_steps steps;
    return has_row(op) ? cells[op].f != NULL : steps_of(&steps, op);
}

int rp_arity(int op) { return has_row(op) ? cells[op].arity : clf_ops[op].arity; }

rp_rule rp_rule_of(int op) {
    static const rp_rule of[] = {[CLF_TYPE_ARITH] = RP_ARITH,
                                 [CLF_TYPE_FLOAT] = RP_FLOAT,
                                 [CLF_TYPE_CMP] = RP_COMPARE,
                                 [CLF_TYPE_SELECT] = RP_SELECT,
                                 [CLF_TYPE_FIRST] = RP_FIRST};
    return has_row(op) ? cells[op].type : of[clf_ops[op].type];
}

static double by_steps(const op_steps *steps, const double *x, clf_dtype t) {
    double stack[OP_STACK + 3] = {0};
    int depth = 0;
    for (int i = 0; i < steps->n; i++) {
        const op_step *s = &steps->step[i];
        double r = s->kind == OP_OPERAND ? x[s->which] : s->number;
        if (s->kind == OP_CALL) r = cells[s->which].f(&stack[depth -= s->arity], t);
        if (!(fabs(r) <= rp_limit(t))) return NAN; /* one step outside the domain is enough */
        stack[depth++] = r;
    }
    return stack[0];
}

double rp_whole(int op, const double *x, clf_dtype t) {
    op_steps steps;
    if (has_row(op)) return cells[op].f(x, t);
    return steps_of(&steps, op) ? by_steps(&steps, x, t) : NAN;
}
