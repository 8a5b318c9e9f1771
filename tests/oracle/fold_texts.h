/* SPDX-License-Identifier: Apache-2.0
 * The texts of folds.def as C functions over a state of three numbers: fold_texts[fold].of[type].step(...). Lane and wide states
 * share one storage (double or i64 a component), so that widening is free; the functions compute in the lane's or the wide type. */
#ifndef CLF_TESTS_FOLD_TEXTS_H
#define CLF_TESTS_FOLD_TEXTS_H
#include "core/fold.h"
#include "kernels-cl/elem_c.h"

typedef struct fold_state {
    clf_scalar c[3]; /* f of float components, i of integer ones; dtype f64 or i64 */
} fold_state;

static inline clf_scalar fold_put_f(double x) { return (clf_scalar){.dtype = CLF_F64, .u.f = x}; }
static inline clf_scalar fold_put_i(int64_t x) { return (clf_scalar){.dtype = CLF_I64, .u.i = x}; }
#define FOLD_PUT(x) _Generic((x), float: fold_put_f, double: fold_put_f, default: fold_put_i)(x)
#define FOLD_GET(T, s) ((T)_Generic((T)0, float: (s).u.f, double: (s).u.f, default: (s).u.i))

/* The state column as a type per component (T: the lane's value type or the wide one). test_folds compares it with the table. */
#define FOLD_STATE_SUM V
#define FOLD_STATE_SUMSQ V
#define FOLD_STATE_MIN V
#define FOLD_STATE_MAX V
#define FOLD_STATE_PROD V
#define FOLD_STATE_MEAN VN
#define FOLD_STATE_VAR NVV
#define FOLD_STATE_ARGMIN VN
#define FOLD_STATE_ARGMAX VN
#define FOLD_STATE_ANY N
#define FOLD_STATE_ALL N
#define FOLD_STATE_NNZ N
#define FOLD_T0_V(T) T
#define FOLD_T1_V(T) int64_t
#define FOLD_T2_V(T) int64_t
#define FOLD_T0_VN(T) T
#define FOLD_T1_VN(T) int64_t
#define FOLD_T2_VN(T) int64_t
#define FOLD_T0_NVV(T) int64_t
#define FOLD_T1_NVV(T) T
#define FOLD_T2_NVV(T) T
#define FOLD_T0_N(T) int64_t
#define FOLD_T1_N(T) int64_t
#define FOLD_T2_N(T) int64_t
/* The result column as a type: V and W are computed wide. */
#define FOLD_RESULT_SUM W_T
#define FOLD_RESULT_SUMSQ W_T
#define FOLD_RESULT_MIN W_T
#define FOLD_RESULT_MAX W_T
#define FOLD_RESULT_PROD W_T
#define FOLD_RESULT_MEAN W_T
#define FOLD_RESULT_VAR W_T
#define FOLD_RESULT_ARGMIN N_T
#define FOLD_RESULT_ARGMAX N_T
#define FOLD_RESULT_ANY N_T
#define FOLD_RESULT_ALL N_T
#define FOLD_RESULT_NNZ N_T

#define ELEM_T f32
#include "tests/oracle/fold_texts_type.h"
#undef ELEM_T
#define ELEM_T f64
#include "tests/oracle/fold_texts_type.h"
#undef ELEM_T
#define ELEM_T i32
#include "tests/oracle/fold_texts_type.h"
#undef ELEM_T
#define ELEM_T i64
#include "tests/oracle/fold_texts_type.h"
#undef ELEM_T
#define ELEM_T u8
#include "tests/oracle/fold_texts_type.h"
#undef ELEM_T

typedef struct fold_text {
    void (*init)(fold_state *s);
    void (*step)(fold_state *s, clf_scalar v, int64_t k);
    void (*merge)(fold_state *s, const fold_state *later);
    clf_scalar (*finish)(const fold_state *s);
    void (*repeat)(fold_state *t, clf_scalar v, int64_t n, int64_t k);
} fold_text;
typedef struct fold_text_row {
    const char *state;
    fold_text of[CLF_NDTYPES];
} fold_text_row;

#define FOLD_STR_(x) #x
#define FOLD_STR(x) FOLD_STR_(x)
#define FOLD_FNS(ID, T) \
    {fold_init_##ID##_##T, fold_step_##ID##_##T, fold_merge_##ID##_##T, fold_finish_##ID##_##T, fold_repeat_##ID##_##T}
static const fold_text_row fold_texts[CLF_NFOLDS] = {
#define CLF_FOLD(ID, ...) \
    {FOLD_STR(FOLD_STATE_##ID), {FOLD_FNS(ID, f32), FOLD_FNS(ID, f64), FOLD_FNS(ID, i32), FOLD_FNS(ID, i64), FOLD_FNS(ID, u8)}},
#include "core/folds.def"
};
#endif
