/* SPDX-License-Identifier: Apache-2.0
 * Included once per element type with ELEM_T set: a function text_<ID>_<type> for the text of every row of ops.def. */
#define CLF_OP(ID, name, arity, class_, flags, type_rule, shape_rule, flops, grad, text)   \
    static clf_scalar ELEM_PASTE4(text_, ID, _, ELEM_T)(const clf_scalar in[3])            \
    {                                                                                      \
        E_T a = ELEM_PASTE(text_in_, ELEM_T)(in[0]), b = ELEM_PASTE(text_in_, ELEM_T)(in[1]), \
            c = ELEM_PASTE(text_in_, ELEM_T)(in[2]);                                       \
        (void)b, (void)c;                                                                  \
        return ELEM_PASTE(text_out_, ELEM_T)(text);                                        \
    }
#include "core/ops.def"
