/* SPDX-License-Identifier: Apache-2.0
 * What an operator means that no table of the tests has a row for: the text of its row in core/ops.def, read as steps over operators
 * that have one. Each table (oracle of operators, bounds, integers) takes the steps with its own meaning of them, so that the macros
 * of the executors stand beside something else. Texts of elementary functions, whose error only a row can tell, have no steps. */
#ifndef CLF_TESTS_OP_STEPS_H
#define CLF_TESTS_OP_STEPS_H
#include <stdbool.h>

enum { OP_STEPS = 24, OP_STACK = 8 };
typedef struct op_step {
    enum { OP_OPERAND, OP_NUMBER, OP_CALL } kind;
    int which;     /* the operand 0..2, or the operator (clf_op_code) with its arity below */
    int arity;
    double number;
} op_step;
/* In postfix order; the stack never holds more than OP_STACK values. */
typedef struct op_steps {
    int n;
    op_step step[OP_STEPS];
} op_steps;

/** E_MAX(a, E_C(0)) as a; 0; MAX of two. False, with n = 0: the text is longer, or has more in it than operands, numbers and exact
 *  operators. */
bool op_steps_parse(op_steps *out, const char *text);
/** The steps of operator op. */
bool op_steps_of(op_steps *out, int op);
#endif
