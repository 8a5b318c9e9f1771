/* SPDX-License-Identifier: Apache-2.0
 * Element types: facts, promotion, conversion of one number. Conversions are total: every float has an integer image
 * (truncated, saturated, NaN to 0) and integers wrap when narrowed. */
#include "core/dtype.h"

#include <math.h>
#include <string.h>

static const struct {
    const char *name;
    size_t bytes;
} facts[CLF_NDTYPES] = {
    [CLF_F32] = {"f32", 4}, [CLF_F64] = {"f64", 8}, [CLF_I32] = {"i32", 4}, [CLF_I64] = {"i64", 8}, [CLF_U8] = {"u8", 1},
};

const char *clf_dtype_name(clf_dtype t) { return clf_dtype_ok((int)t) ? facts[t].name : "?"; }
size_t clf_dtype_bytes(clf_dtype t) { return clf_dtype_ok((int)t) ? facts[t].bytes : 0; }

clf_dtype clf_dtype_promote(clf_dtype a, clf_dtype b) {
    static const unsigned char common[CLF_NDTYPES][CLF_NDTYPES] = {
        /* clang-format off */
        /*           f32      f64      i32      i64      u8 */
        [CLF_F32] = {CLF_F32, CLF_F64, CLF_F32, CLF_F64, CLF_F32},
        [CLF_F64] = {CLF_F64, CLF_F64, CLF_F64, CLF_F64, CLF_F64},
        [CLF_I32] = {CLF_F32, CLF_F64, CLF_I32, CLF_I64, CLF_I32},
        [CLF_I64] = {CLF_F64, CLF_F64, CLF_I64, CLF_I64, CLF_I64},
        [CLF_U8]  = {CLF_F32, CLF_F64, CLF_I32, CLF_I64, CLF_U8},
        /* clang-format on */
    };
    return (clf_dtype)common[a][b];
}

clf_scalar clf_scalar_f64(double x) { return (clf_scalar){.dtype = CLF_F64, .u.f = x}; }
clf_scalar clf_scalar_i64(int64_t x) { return (clf_scalar){.dtype = CLF_I64, .u.i = x}; }

static int64_t saturate(double x, clf_dtype t) {
    static const struct {
        double below, above; /* first values out of range: exact as doubles */
        int64_t min, max;
    } range[CLF_NDTYPES] = {
        [CLF_I32] = {-2147483649.0, 2147483648.0, INT32_MIN, INT32_MAX},
        [CLF_I64] = {-9223372036854777856.0, 9223372036854775808.0, INT64_MIN, INT64_MAX},
        [CLF_U8] = {-1.0, 256.0, 0, 255},
    };
    if (isnan(x)) return 0;
    if (x >= range[t].above) return range[t].max;
    if (x <= range[t].below) return range[t].min;
    return (int64_t)x;
}

static int64_t wrap(int64_t x, clf_dtype t) {
    return t == CLF_I32 ? (int64_t)(int32_t)(uint32_t)(uint64_t)x : t == CLF_U8 ? (int64_t)(uint8_t)x : x;
}

clf_scalar clf_scalar_to(clf_scalar s, clf_dtype t) {
    clf_scalar r = {.dtype = t};
    bool from_float = clf_dtype_float(s.dtype);
    if (t == CLF_F32)
        r.u.f = from_float ? (float)s.u.f : (float)s.u.i; /* one rounding, also from i64 */
    else if (t == CLF_F64)
        r.u.f = from_float ? s.u.f : (double)s.u.i;
    else
        r.u.i = from_float ? saturate(s.u.f, t) : wrap(s.u.i, t);
    return r;
}

double clf_scalar_as_f64(clf_scalar s) { return clf_dtype_float(s.dtype) ? s.u.f : (double)s.u.i; }

clf_scalar clf_scalar_load(const void *base, size_t index, clf_dtype t) {
    clf_scalar r = {.dtype = t};
    switch (t) {
    case CLF_F32: r.u.f = ((const float *)base)[index]; break;
    case CLF_F64: r.u.f = ((const double *)base)[index]; break;
    case CLF_I32: r.u.i = ((const int32_t *)base)[index]; break;
    case CLF_I64: r.u.i = ((const int64_t *)base)[index]; break;
    case CLF_U8: r.u.i = ((const uint8_t *)base)[index]; break;
    }
    return r;
}

void clf_scalar_store(void *base, size_t index, clf_scalar s) {
    switch (s.dtype) {
    case CLF_F32: ((float *)base)[index] = (float)s.u.f; break;
    case CLF_F64: ((double *)base)[index] = s.u.f; break;
    case CLF_I32: ((int32_t *)base)[index] = (int32_t)(uint32_t)(uint64_t)s.u.i; break;
    case CLF_I64: ((int64_t *)base)[index] = s.u.i; break;
    case CLF_U8: ((uint8_t *)base)[index] = (uint8_t)s.u.i; break;
    }
}

bool clf_scalar_same(clf_scalar a, clf_scalar b) {
    if (a.dtype != b.dtype) return false;
    if (!clf_dtype_float(a.dtype)) return a.u.i == b.u.i;
    if (isnan(a.u.f) || isnan(b.u.f)) return isnan(a.u.f) && isnan(b.u.f);
    return memcmp(&a.u.f, &b.u.f, sizeof a.u.f) == 0;
}
