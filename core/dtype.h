/* SPDX-License-Identifier: Apache-2.0
 * Element types: facts and promotion, as spec'd by the language contract. A scalar of any type as one value. */
#ifndef CLF_CORE_DTYPE_H
#define CLF_CORE_DTYPE_H
#include <stdbool.h>
#include "clfuse/types.h"
enum { CLF_NDTYPES = 5 };
/* One number: floats in f, integers (i32 i64 u8) in i. */
typedef struct clf_scalar {
    clf_dtype dtype;
    union { double f; int64_t i; } u;
} clf_scalar;
static inline bool clf_dtype_ok(int t) { return t >= 0 && t < CLF_NDTYPES; }
static inline bool clf_dtype_float(clf_dtype t) { return t == CLF_F32 || t == CLF_F64; }
/** Common type of two matrix operands before the operator's own rule: f32 with f64 gives f64, i64 with f32 gives f64, i32 or u8 with f32 gives f32. */
clf_dtype clf_dtype_promote(clf_dtype a, clf_dtype b);
clf_scalar clf_scalar_f64(double x);
clf_scalar clf_scalar_i64(int64_t x);
/** Convert: float to integer truncates toward zero and saturates (NaN gives 0); to u8 likewise; narrowing integers wrap. */
clf_scalar clf_scalar_to(clf_scalar s, clf_dtype t);
double clf_scalar_as_f64(clf_scalar s);
/** Load and store one element of memory. */
clf_scalar clf_scalar_load(const void *base, size_t index, clf_dtype t);
void clf_scalar_store(void *base, size_t index, clf_scalar s); /* at s.dtype */
/** Bitwise equality (NaN equals itself, -0 differs from 0). */
bool clf_scalar_same(clf_scalar a, clf_scalar b);
#endif
