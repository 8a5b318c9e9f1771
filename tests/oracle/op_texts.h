/* SPDX-License-Identifier: Apache-2.0
 * The texts of ops.def as C functions: op_texts[type][operator](inputs), through the C element prelude. This is the side that is
 * checked; the oracle stands beside it and shares nothing with it. */
#ifndef CLF_TESTS_OP_TEXTS_H
#define CLF_TESTS_OP_TEXTS_H
#include "core/dtype.h"
#include "core/op.h"
#include "kernels-cl/elem_c.h"

#define TEXT_IO(type, TAG, member, as)                                                                            \
    static inline ELEM_C_##type text_in_##type(clf_scalar s) { return (ELEM_C_##type)s.u.member; }                \
    static inline clf_scalar text_out_##type(ELEM_C_##type x) { return (clf_scalar){.dtype = TAG, .u.member = (as)x}; }
TEXT_IO(f32, CLF_F32, f, double)
TEXT_IO(f64, CLF_F64, f, double)
TEXT_IO(i32, CLF_I32, i, int64_t)
TEXT_IO(i64, CLF_I64, i, int64_t)
TEXT_IO(u8, CLF_U8, i, int64_t)
#undef TEXT_IO

#define ELEM_T f32
#include "tests/oracle/op_texts_type.h"
#undef ELEM_T
#define ELEM_T f64
#include "tests/oracle/op_texts_type.h"
#undef ELEM_T
#define ELEM_T i32
#include "tests/oracle/op_texts_type.h"
#undef ELEM_T
#define ELEM_T i64
#include "tests/oracle/op_texts_type.h"
#undef ELEM_T
#define ELEM_T u8
#include "tests/oracle/op_texts_type.h"
#undef ELEM_T

typedef clf_scalar op_text_fn(const clf_scalar in[3]);
typedef struct op_text_row {
    op_text_fn *fn[CLF_NDTYPES]; /* by clf_dtype */
} op_text_row;
static const op_text_row op_texts[CLF_NOPS] = {
#define CLF_OP(ID, ...) {{text_##ID##_f32, text_##ID##_f64, text_##ID##_i32, text_##ID##_i64, text_##ID##_u8}},
#include "core/ops.def"
};
#endif
