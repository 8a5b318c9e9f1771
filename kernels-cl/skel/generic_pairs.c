/* SPDX-License-Identifier: Apache-2.0
 * Which two operators are one instruction of cell.generic (see generic_plan.h): those that long formulas are made of. A sum and a product
 * have the same bits either way round. Two roundings, as always. */
#include "kernels-cl/skel/generic_plan.h"

const clf_generic_outer clf_generic_outers[CLF_GEN_OUTER] = {{CLF_OP_ADD, 0}, {CLF_OP_SUB, 0}, {CLF_OP_SUB, 1}, {CLF_OP_MUL, 0}};
const clf_op clf_generic_inners[CLF_GEN_INNER] = {CLF_OP_ADD, CLF_OP_SUB, CLF_OP_MUL, CLF_OP_DIV,  CLF_OP_MIN, CLF_OP_MAX,
                                                  CLF_OP_LT,  CLF_OP_GT,  CLF_OP_SQR, CLF_OP_SQRT, CLF_OP_ABS};

static int outer_of(int op, int acc) {
    for (int k = 0; k < CLF_GEN_OUTER; k++)
        if ((int)clf_generic_outers[k].op == op && (clf_generic_outers[k].acc == acc || clf_ops[op].flags & F_COMM)) return k;
    return -1;
}

int clf_generic_pair(int outer, int acc, int inner) {
    int k = outer_of(outer, acc);
    for (int i = 0; i < CLF_GEN_INNER && k >= 0; i++)
        if ((int)clf_generic_inners[i] == inner) return CLF_GEN_PAIR0 + k * CLF_GEN_INNER + i;
    return -1;
}
